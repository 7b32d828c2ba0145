import {
  AUTOMATON_LINE_WIDTH,
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_BYTES,
  NODE_RULE,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_STAR,
  RULE_TEXT,
  SURPLUS_BYTES,
  TEXT_LIMIT,
} from '../../table/format.js';
import { BlockCheck } from './blocks.js';
import { MAX_LINE, MAX_PATTERN_BYTES } from './limits.js';
import { OpenNodes } from './open-nodes.js';
import { arePlain } from './plain-bytes.js';
import type { TableBytes } from './table-bytes.js';
import { TextCheck } from './texts.js';

const MAX_WIDTH = 2;
const WIDTHS_BITS = 0x3f;
const NODE_BITS = 0x3f;
const PREFIX_FORM_BITS = RULE_ALLOW | RULE_STAR | RULE_TEXT | RULE_LONGER;

/** Checks automata: see verify-table.ts. */
export class AutomatonCheck {
  count = 0;
  nodes = 0;
  rules = 0;
  readonly #table: TableBytes;
  readonly #sectionEnd: number;
  readonly #texts: TextCheck;
  readonly #blocks: BlockCheck;
  readonly #open = new OpenNodes();
  /** For each byte the number of the last node with an edge for it. */
  readonly #nodeOfEdge = new Float64Array(256);

  // The current automaton.
  #nodesEnd = 0;
  #lineBytes = 1;
  #offsetBytes = 2;

  constructor(table: TableBytes, sectionEnd: number) {
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
    const offsetBytes = (widths & AUTOMATON_WIDE) !== 0 ? 4 : 2;
    const hasTexts = (widths & AUTOMATON_TEXTS) !== 0;
    // In bounds wherever the automaton starts: TAIL_BYTES follow the section.
    const bytes = table.number(at + 1, offsetBytes);
    const rules = table.number(at + 1 + offsetBytes, offsetBytes);
    const root = at + 1 + (hasTexts ? 3 : 2) * offsetBytes;
    const end = at + bytes;
    const nodesEnd = hasTexts ? at + table.number(at + 1 + 2 * offsetBytes, offsetBytes) : end;
    if (end > this.#sectionEnd) throw this.#fault(at + 1, 'the automaton ends beyond its section');
    if (root > nodesEnd || nodesEnd > end) {
      throw this.#fault(at + 1, 'the automaton ends before it begins');
    }
    this.#nodesEnd = nodesEnd;
    this.#lineBytes = 1 << lineWidth;
    this.#offsetBytes = offsetBytes;
    this.#texts.check(nodesEnd, end);
    this.#blocks.enter(this.#lineBytes, 1 << sizeWidth, offsetBytes, nodesEnd);
    const before = this.rules;
    this.#checkNodes(root);
    if (this.rules - before !== rules) {
      throw this.#fault(
        at + 1 + offsetBytes,
        `the automaton states ${rules} rules, and has ${this.rules - before}`,
      );
    }
    this.count++;
    return end;
  }

  /** Checks the nodes in their order: each node is followed by the subtrees of its edges. */
  #checkNodes(root: number): void {
    const open = this.#open;
    open.count = 0;
    let at = this.#checkNode(root, 0, true);
    while (open.count > 0) {
      const place = open.count - 1;
      const edge = open.next[place] as number;
      const edges = open.edges[place] as number;
      const edgesStart = open.edgesStart[place] as number;
      const byte = edgesStart + edge;
      if (edge > 0) {
        const distanceBytes = open.distanceBytes[place] as number;
        const distanceAt = edgesStart + edges + (edge - 1) * distanceBytes;
        const distance = this.#table.number(distanceAt, distanceBytes);
        if ((open.firstTarget[place] as number) + distance !== at) {
          throw this.#fault(distanceAt, `the edge does not lead to the node at ${at}`);
        }
      }
      const depth = (open.depth[place] as number) + 1;
      const isPlain = open.plain[place] === 1 && arePlain(this.#table.bytes, byte, byte + 1);
      if (edge + 1 === edges) open.count--;
      else open.next[place] = edge + 1;
      at = this.#checkNode(at, depth, isPlain);
    }
    if (at !== this.#nodesEnd) {
      throw this.#fault(at, `no edge leads here; the nodes should end at ${this.#nodesEnd}`);
    }
  }

  /** Checks a node at a depth in bytes; returns where the node ends. */
  #checkNode(node: number, depthBefore: number, isPlainBefore: boolean): number {
    const table = this.#table;
    this.nodes++;
    this.#need(node, NODE_FIXED_BYTES);
    const flags = table.u8(node);
    const distanceWidth = flags >> NODE_DISTANCE_WIDTH_SHIFT;
    if ((flags & ~NODE_BITS) !== 0 || distanceWidth > MAX_WIDTH) {
      throw this.#fault(node, `a node of flags ${flags}`);
    }
    const label = table.u8(node + 1);
    let at = node + NODE_FIXED_BYTES;
    this.#need(at, label);
    const depth = depthBefore + label;
    const isPlain = isPlainBefore && arePlain(table.bytes, at, at + label);
    at += label;
    if (depth > MAX_PATTERN_BYTES) throw this.#fault(node, 'the node is too deep');

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
        this.#need(at, this.#offsetBytes);
        at += this.#offsetBytes;
      }
      const end = this.#blocks.check(at, depth, isPlain);
      this.rules += this.#blocks.rulesOfNode;
      if (hasEdges && table.number(offset, this.#offsetBytes) !== end - at) {
        throw this.#fault(offset, `the blocks of the node do not end at ${end}`);
      }
      at = end;
    }
    if (hasEdges) this.#open.push(edgesStart, edges, 1 << distanceWidth, at, depth, isPlain);
    return at;
  }

  #checkEdges(start: number, count: number): void {
    for (let at = start; at < start + count; at++) {
      const byte = this.#table.u8(at);
      if (this.#nodeOfEdge[byte] === this.nodes) {
        throw this.#fault(at, `a second edge of ${byte}`);
      }
      this.#nodeOfEdge[byte] = this.nodes;
    }
  }

  /** Checks the prefix rule of a node, if the node has one; returns where the rule ends. */
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
    this.#need(lineAt, this.#lineBytes);
    if (table.number(lineAt, this.#lineBytes) > MAX_LINE) {
      throw this.#fault(lineAt, 'the line of the rule is too great');
    }
    at += this.#lineBytes;
    let bytes = depth + ((form & RULE_STAR) !== 0 ? 1 : 0);
    if (isLonger) {
      this.#need(at, SURPLUS_BYTES);
      bytes += table.u32(at);
      if (bytes > MAX_PATTERN_BYTES) throw this.#fault(at, 'the rule is too long');
      at += SURPLUS_BYTES;
    }
    if (bytes === 0) throw this.#fault(start, 'a rule without a pattern');
    if (hasText) {
      this.#need(at, this.#offsetBytes);
      if (!this.#texts.has(table.number(at, this.#offsetBytes))) {
        throw this.#fault(at, 'no text of the automaton starts there');
      }
      at += this.#offsetBytes;
    } else if (!isPlain || bytes > TEXT_LIMIT) {
      throw this.#fault(start, 'the rule has no text, and none can be derived');
    }
    this.rules++;
    return at;
  }

  #need(at: number, bytes: number): void {
    if (at + bytes > this.#nodesEnd) {
      throw this.#fault(at, 'the nodes of the automaton end within a node');
    }
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}
