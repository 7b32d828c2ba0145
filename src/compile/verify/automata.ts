import {
  AUTOMATON_LINE_WIDTH,
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_OCTETS,
  NODE_RULE,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_STAR,
  RULE_TEXT,
  TEXT_LIMIT,
} from '../format.js';
import { BlockCheck } from './blocks.js';
import { MAX_LINE, MAX_PATTERN_OCTETS } from './limits.js';
import { OpenNodes } from './open-nodes.js';
import { arePlain } from './plain-octets.js';
import type { TableOctets } from './table-octets.js';
import { TextCheck } from './texts.js';

const MAX_WIDTH = 2;
const WIDTHS_BITS = 0x3f;
const NODE_BITS = 0x3f;
const PREFIX_FORM_BITS = RULE_ALLOW | RULE_STAR | RULE_TEXT | RULE_LONGER;
const SURPLUS_OCTETS = 4;

/** Checks automata: see verify-table.ts. */
export class AutomatonCheck {
  count = 0;
  nodes = 0;
  rules = 0;
  readonly #table: TableOctets;
  readonly #sectionEnd: number;
  readonly #texts: TextCheck;
  readonly #blocks: BlockCheck;
  readonly #open = new OpenNodes();
  /** For each octet the number of the node that had an edge of it last. */
  readonly #nodeOfEdge = new Float64Array(256);

  // Of the automaton at hand.
  #nodesEnd = 0;
  #lineOctets = 1;
  #offsetOctets = 2;

  constructor(table: TableOctets, sectionEnd: number) {
    this.#table = table;
    this.#sectionEnd = sectionEnd;
    this.#texts = new TextCheck(table);
    this.#blocks = new BlockCheck(table, this.#texts);
  }

  get blocks(): number {
    return this.#blocks.count;
  }

  get texts(): number {
    return this.#texts.count;
  }

  /** Checks the automaton at `at`; returns where it ends. */
  check(at: number): number {
    const table = this.#table;
    const widths = table.u8(at);
    const lineWidth = widths & AUTOMATON_LINE_WIDTH;
    const sizeWidth = (widths >> AUTOMATON_SIZE_WIDTH_SHIFT) & 3;
    if (lineWidth > MAX_WIDTH || sizeWidth > MAX_WIDTH || (widths & ~WIDTHS_BITS) !== 0) {
      throw this.#fault(at, `an automaton of widths ${widths}`);
    }
    const offsetOctets = (widths & AUTOMATON_WIDE) !== 0 ? 4 : 2;
    const hasTexts = (widths & AUTOMATON_TEXTS) !== 0;
    // These numbers can be read wherever it starts: TAIL_OCTETS follow the section.
    const octets = table.number(at + 1, offsetOctets);
    const rules = table.number(at + 1 + offsetOctets, offsetOctets);
    const root = at + 1 + (hasTexts ? 3 : 2) * offsetOctets;
    const end = at + octets;
    const nodesEnd = hasTexts ? at + table.number(at + 1 + 2 * offsetOctets, offsetOctets) : end;
    if (end > this.#sectionEnd) throw this.#fault(at + 1, 'the automaton ends beyond its section');
    if (root > nodesEnd || nodesEnd > end) {
      throw this.#fault(at + 1, 'the automaton ends before it begins');
    }
    this.#nodesEnd = nodesEnd;
    this.#lineOctets = 1 << lineWidth;
    this.#offsetOctets = offsetOctets;
    this.#texts.check(nodesEnd, end);
    this.#blocks.enter(this.#lineOctets, 1 << sizeWidth, offsetOctets, nodesEnd);
    const before = this.rules;
    this.#checkNodes(root);
    if (this.rules - before !== rules) {
      throw this.#fault(
        at + 1 + offsetOctets,
        `the automaton says ${rules} rules, and has ${this.rules - before}`,
      );
    }
    this.count++;
    return end;
  }

  /**
   * Checks the nodes, as they lie: those below the first edge of a node follow it, then those below
   * the next.
   */
  #checkNodes(root: number): void {
    const open = this.#open;
    open.count = 0;
    let at = this.#checkNode(root, 0, true);
    while (open.count > 0) {
      const place = open.count - 1;
      const edge = open.next[place] as number;
      const edges = open.edges[place] as number;
      const edgesStart = open.edgesStart[place] as number;
      const octet = edgesStart + edge;
      if (edge > 0) {
        const distanceOctets = open.distanceOctets[place] as number;
        const distanceAt = edgesStart + edges + (edge - 1) * distanceOctets;
        const distance = this.#table.number(distanceAt, distanceOctets);
        if ((open.firstTarget[place] as number) + distance !== at) {
          throw this.#fault(distanceAt, `the edge does not lead to the node at ${at}`);
        }
      }
      const depth = (open.depth[place] as number) + 1;
      const isPlain = open.plain[place] === 1 && arePlain(this.#table.octets, octet, octet + 1);
      if (edge + 1 === edges) open.count--;
      else open.next[place] = edge + 1;
      at = this.#checkNode(at, depth, isPlain);
    }
    if (at !== this.#nodesEnd) {
      throw this.#fault(at, `no edge leads here; the nodes should end at ${this.#nodesEnd}`);
    }
  }

  /** Checks a node to which so many octets lead; returns where it ends. */
  #checkNode(node: number, depthBefore: number, isPlainBefore: boolean): number {
    const table = this.#table;
    this.nodes++;
    this.#need(node, NODE_FIXED_OCTETS);
    const flags = table.u8(node);
    const distanceWidth = flags >> NODE_DISTANCE_WIDTH_SHIFT;
    if ((flags & ~NODE_BITS) !== 0 || distanceWidth > MAX_WIDTH) {
      throw this.#fault(node, `a node of flags ${flags}`);
    }
    const label = table.u8(node + 1);
    let at = node + NODE_FIXED_OCTETS;
    this.#need(at, label);
    const depth = depthBefore + label;
    const isPlain = isPlainBefore && arePlain(table.octets, at, at + label);
    at += label;
    if (depth > MAX_PATTERN_OCTETS) throw this.#fault(node, 'the node is too deep');

    const hasEdges = (flags & NODE_EDGES) !== 0;
    const edgesStart = at + 1;
    let edges = 0;
    if (hasEdges) {
      this.#need(at, 1);
      edges = table.u8(at);
      if (edges === 0) throw this.#fault(at, 'a node of no edges');
      at = edgesStart + edges + ((edges - 1) << distanceWidth);
      this.#need(edgesStart, at - edgesStart);
      this.#checkEdges(edgesStart, edges);
    }
    at = this.#checkPrefixRule(flags & NODE_RULE, at, depth, isPlain);
    if ((flags & NODE_BLOCKS) !== 0) {
      const offset = at;
      if (hasEdges) {
        this.#need(at, this.#offsetOctets);
        at += this.#offsetOctets;
      }
      const end = this.#blocks.check(at, depth, isPlain);
      this.rules += this.#blocks.rulesOfNode;
      if (hasEdges && table.number(offset, this.#offsetOctets) !== end - at) {
        throw this.#fault(offset, `the blocks of the node do not end at ${end}`);
      }
      at = end;
    }
    if (hasEdges) this.#open.push(edgesStart, edges, 1 << distanceWidth, at, depth, isPlain);
    return at;
  }

  #checkEdges(start: number, count: number): void {
    for (let at = start; at < start + count; at++) {
      const octet = this.#table.u8(at);
      if (this.#nodeOfEdge[octet] === this.nodes) {
        throw this.#fault(at, `a second edge of ${octet}`);
      }
      this.#nodeOfEdge[octet] = this.nodes;
    }
  }

  /** Checks the prefix rule of a node, if it has one; returns where it ends. */
  #checkPrefixRule(kind: number, start: number, depth: number, isPlain: boolean): number {
    if (kind === 0) return start;
    const table = this.#table;
    let at = start;
    let form = 0;
    if (kind === NODE_RULE_OTHER) {
      this.#need(at, 1);
      form = table.u8(at++);
    }
    const isLonger = (form & RULE_LONGER) !== 0;
    const hasText = (form & RULE_TEXT) !== 0;
    if ((form & ~PREFIX_FORM_BITS) !== 0 || (isLonger && (!hasText || (form & RULE_STAR) !== 0))) {
      throw this.#fault(start, `a prefix rule of form ${form}`);
    }
    const lineAt = at;
    this.#need(lineAt, this.#lineOctets);
    if (table.number(lineAt, this.#lineOctets) > MAX_LINE) {
      throw this.#fault(lineAt, 'the line of the rule is too great');
    }
    at += this.#lineOctets;
    let octets = depth + ((form & RULE_STAR) !== 0 ? 1 : 0);
    if (isLonger) {
      this.#need(at, SURPLUS_OCTETS);
      octets += table.u32(at);
      if (octets > MAX_PATTERN_OCTETS) throw this.#fault(at, 'the rule is too long');
      at += SURPLUS_OCTETS;
    }
    if (octets === 0) throw this.#fault(start, 'a rule without a pattern');
    if (hasText) {
      this.#need(at, this.#offsetOctets);
      if (!this.#texts.has(table.number(at, this.#offsetOctets))) {
        throw this.#fault(at, 'no text of the automaton starts there');
      }
      at += this.#offsetOctets;
    } else if (!isPlain || octets > TEXT_LIMIT) {
      throw this.#fault(start, 'the rule has no text, and none can be derived');
    }
    this.rules++;
    return at;
  }

  #need(at: number, octets: number): void {
    if (at + octets > this.#nodesEnd) {
      throw this.#fault(at, 'the nodes of the automaton end within a node');
    }
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}
