import {
  AUTOMATON_LINE_WIDTH,
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  BLOCK_FOLLOWED,
  BLOCK_MASK_OCTETS,
  BLOCK_MASKS,
  BLOCK_RULES,
  BLOCK_WIDE,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_OCTETS,
  NODE_RULE,
  NODE_RULE_ALLOW,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_END,
  RULE_LONGER,
  RULE_SINGLE,
  RULE_STAR,
  RULE_TEXT,
  RULE_TWO_FORMS,
  TEXT_LIMIT,
} from './format.js';
import type { TableReader } from './table-reader.js';

/** A rule as a table keeps it. */
export interface TableRule {
  readonly allow: boolean;
  /**
   * The pattern as written, cut to TEXT_LIMIT octets, escaped as in a JSON string: fit for a
   * terminal.
   */
  readonly text: string;
  /** Canonical length of the pattern: its specificity. */
  readonly octets: number;
  /** Number of its line in the file, from 1. */
  readonly line: number;
}

/** What an automaton is made of. */
export interface AutomatonCounts {
  readonly octets: number;
  readonly rules: number;
  readonly nodes: number;
  /** Nodes with rules of `*`, and those rules. */
  readonly wildcardNodes: number;
  readonly wildcardRules: number;
  readonly blocks: number;
}

/** What hangs at a node. */
interface NodeContent {
  readonly rules: readonly FoundRule[];
  readonly blocks: number;
}

/**
 * A rule as it lies in an automaton; of a plain prefix rule the form says only what is to be
 * allowed.
 */
interface FoundRule {
  readonly rank: number;
  readonly form: number;
  readonly line: number;
  /** Where its text is kept, if the form says so. */
  readonly keptText: number;
  /** What follows its prefix: `undefined` for a prefix rule, else from where to where. */
  readonly segments: { readonly start: number; readonly end: number } | undefined;
}

/** A node whose edges have not all been followed. */
interface OpenNode {
  /** The octets of its edges, and which is next. */
  readonly octets: Uint8Array;
  next: number;
  readonly depth: number;
  readonly distances: number;
  readonly distanceOctets: number;
  readonly firstTarget: number;
}

const ASTERISK = 0x2a;
const DOLLAR = 0x24;
const SURPLUS_OCTETS = 4;

/**
 * Octets that the segments of a rule can have whose text is derived: each octet of the text with
 * two numbers of four octets, at most.
 */
export const MAX_DERIVED_OCTETS = 8 * TEXT_LIMIT + 16;

/** Reads an automaton from one end to the other, as its nodes lie: linear whatever it says. */
export class AutomatonView {
  /** Octets of the automaton, and its rules. */
  readonly octets: number;
  readonly ruleCount: number;
  readonly #reader: TableReader;
  readonly #start: number;
  readonly #root: number;
  readonly #nodesEnd: number;
  readonly #lineOctets: number;
  readonly #sizeOctets: number;
  readonly #offsetOctets: number;
  /** The octets on the way from the root to the node that is being read. */
  #way = new Uint8Array(256);

  constructor(reader: TableReader, start: number) {
    this.#reader = reader;
    this.#start = start;
    const widths = reader.u8(start);
    this.#lineOctets = 1 << (widths & AUTOMATON_LINE_WIDTH);
    this.#sizeOctets = 1 << ((widths >> AUTOMATON_SIZE_WIDTH_SHIFT) & 3);
    this.#offsetOctets = (widths & AUTOMATON_WIDE) !== 0 ? 4 : 2;
    if (this.#lineOctets > 4 || this.#sizeOctets > 4) {
      throw reader.damaged(`the automaton at ${start} has numbers of more than 4 octets`);
    }
    let at = start + 1;
    this.octets = this.#offset(at);
    this.ruleCount = this.#offset(at + this.#offsetOctets);
    at += 2 * this.#offsetOctets;
    this.#nodesEnd = start + this.octets;
    if ((widths & AUTOMATON_TEXTS) !== 0) {
      this.#nodesEnd = start + this.#offset(at);
      at += this.#offsetOctets;
    }
    this.#root = at;
    reader.octets(start + this.octets, 0);
    if (this.#nodesEnd > start + this.octets || at > this.#nodesEnd) {
      throw reader.damaged(`the automaton at ${start} ends before it begins`);
    }
  }

  /** The rules by rising specificity, those of a line together; lines count from `firstLine`. */
  rules(firstLine: number): TableRule[] {
    const rules: (TableRule & { readonly rank: number })[] = [];
    this.#walk(({ rules: found }, depth) => {
      for (const rule of found) {
        rules.push({
          rank: rule.rank,
          allow: (rule.rank & 1) !== 0,
          text: this.#text(rule, depth),
          octets: rule.rank >>> 1,
          line: firstLine + rule.line,
        });
      }
    });
    if (rules.length !== this.ruleCount) {
      throw this.#reader.damaged(
        `the automaton at ${this.#start} has ${rules.length} rules of ${this.ruleCount}`,
      );
    }
    return rules
      .sort((a, b) => a.line - b.line || a.rank - b.rank)
      .map(({ allow, text, octets, line }) => ({ allow, text, octets, line }));
  }

  counts(): AutomatonCounts {
    const counts = { nodes: 0, wildcardNodes: 0, wildcardRules: 0, blocks: 0 };
    this.#walk(({ rules, blocks }) => {
      const wildcards = rules.filter(
        ({ segments }) => segments !== undefined && segments.start < segments.end,
      );
      counts.nodes++;
      counts.blocks += blocks;
      counts.wildcardRules += wildcards.length;
      if (wildcards.length > 0) counts.wildcardNodes++;
    });
    return { octets: this.octets, rules: this.ruleCount, ...counts };
  }

  /** Calls back for each node, when `#way` up to `depth` leads to it. */
  #walk(visit: (content: NodeContent, depth: number) => void): void {
    const reader = this.#reader;
    const open: OpenNode[] = [];
    let at = this.#root;
    let left = this.ruleCount;
    do {
      const node = at;
      let depth = 0;
      const parent = open.at(-1);
      if (parent !== undefined) {
        depth = this.#appendEdge(parent, node);
        if (parent.next === parent.octets.length) open.pop();
      }
      const flags = reader.u8(node);
      const label = reader.u8(node + 1);
      at += NODE_FIXED_OCTETS;
      depth = this.#append(reader.octets(at, label), depth);
      at += label;

      let edges = reader.octets(at, 0);
      let distances = at;
      const distanceOctets = 1 << ((flags >> NODE_DISTANCE_WIDTH_SHIFT) & 3);
      if ((flags & NODE_EDGES) !== 0) {
        edges = reader.octets(at + 1, reader.u8(at));
        distances = at + 1 + edges.length;
        at = distances + Math.max(edges.length - 1, 0) * distanceOctets;
      }
      const rules: FoundRule[] = [];
      at = this.#readPrefixRule(flags & NODE_RULE, at, depth, rules);
      let blocks = 0;
      if ((flags & NODE_BLOCKS) !== 0) {
        if ((flags & NODE_EDGES) !== 0) at += this.#offsetOctets;
        for (let followed = true; followed; blocks++) {
          followed = (reader.u8(at) & BLOCK_FOLLOWED) !== 0;
          at = this.#readBlock(at, rules);
        }
      }
      left -= rules.length;
      if (at > this.#nodesEnd || left < 0) break;
      visit({ rules, blocks }, depth);
      if (edges.length > 0) {
        const target = { octets: edges, next: 0, depth, distances, distanceOctets };
        open.push({ ...target, firstTarget: at });
      }
    } while (open.length > 0);
    if (at !== this.#nodesEnd) {
      throw reader.damaged(
        `the nodes of the automaton at ${this.#start} do not end where they should`,
      );
    }
  }

  /** Takes the next edge of a node, which must lead to `target`; returns the depth there. */
  #appendEdge(parent: OpenNode, target: number): number {
    const edge = parent.next++;
    const at = parent.distances + (edge - 1) * parent.distanceOctets;
    const distance = edge === 0 ? 0 : this.#number(at, parent.distanceOctets);
    if (parent.firstTarget + distance !== target) {
      throw this.#reader.damaged(`no node of the automaton at ${this.#start} begins at ${target}`);
    }
    return this.#append(parent.octets.subarray(edge, edge + 1), parent.depth);
  }

  #append(octets: Uint8Array, depth: number): number {
    const end = depth + octets.length;
    if (end > this.#way.length) {
      const longer = new Uint8Array(2 * end);
      longer.set(this.#way);
      this.#way = longer;
    }
    this.#way.set(octets, depth);
    return end;
  }

  #readPrefixRule(kind: number, start: number, depth: number, rules: FoundRule[]): number {
    if (kind === 0) return start;
    let at = start;
    let form = kind === NODE_RULE_ALLOW ? RULE_ALLOW : 0;
    if (kind === NODE_RULE_OTHER) form = this.#reader.u8(at++);
    const line = this.#number(at, this.#lineOctets);
    at += this.#lineOctets;
    let surplus = (form & RULE_STAR) !== 0 ? 1 : 0;
    if ((form & RULE_LONGER) !== 0) {
      surplus = this.#reader.u32(at);
      at += SURPLUS_OCTETS;
    }
    const keptText = at;
    if ((form & RULE_TEXT) !== 0) at += this.#offsetOctets;
    const rank = 2 * (depth + surplus) + (form & RULE_ALLOW);
    rules.push({ rank, form, line, keptText, segments: undefined });
    return at;
  }

  #readBlock(start: number, rules: FoundRule[]): number {
    const reader = this.#reader;
    const head = reader.u8(start);
    const count = (head & BLOCK_RULES) + 1;
    let at = start + 1;
    if ((head & BLOCK_MASKS) !== 0) {
      at += BLOCK_MASK_OCTETS + count;
      if ((head & BLOCK_FOLLOWED) !== 0) at += this.#offsetOctets;
      at += count * ((head & BLOCK_WIDE) !== 0 ? this.#offsetOctets : 1);
    }
    for (let left = count; left > 0; left--) {
      const rank = this.#number(at, this.#sizeOctets);
      const formAt = at + 2 * this.#sizeOctets;
      const form = reader.u8(formAt);
      const line = this.#number(formAt + 1, this.#lineOctets);
      const keptText = formAt + 1 + this.#lineOctets;
      const segments = keptText + ((form & RULE_TEXT) !== 0 ? this.#offsetOctets : 0);
      const end = formAt + this.#number(at + this.#sizeOctets, this.#sizeOctets);
      if (end < segments) throw reader.damaged(`the rule at ${at} ends before it begins`);
      rules.push({ rank, form, line, keptText, segments: { start: segments, end } });
      at = end;
    }
    return at;
  }

  /** The text of a rule that hangs at the node to which `#way` up to `depth` leads. */
  #text({ form, keptText, segments }: FoundRule, depth: number): string {
    const reader = this.#reader;
    if ((form & RULE_TEXT) !== 0) {
      const text = this.#nodesEnd + this.#offset(keptText);
      return reader.escapedText(text + 2, reader.u16(text));
    }
    if (depth > TEXT_LIMIT) throw this.#noText();
    const text: number[] = [...this.#way.subarray(0, depth)];
    if (segments !== undefined) {
      if (segments.end - segments.start > MAX_DERIVED_OCTETS) throw this.#noText();
      for (const segment of this.#segments(form, segments.start, segments.end)) {
        text.push(ASTERISK, ...segment);
      }
    }
    if ((form & RULE_END) !== 0) text.push(DOLLAR);
    if ((form & RULE_STAR) !== 0) text.push(ASTERISK);
    return reader.displayed(Uint8Array.from(text));
  }

  /** The first forms of the segments of a rule. */
  *#segments(form: number, start: number, end: number): Iterable<Uint8Array> {
    if ((form & RULE_SINGLE) !== 0) {
      yield this.#reader.octets(start, end - start);
      return;
    }
    const forms = (form & RULE_TWO_FORMS) !== 0 ? 2 : 1;
    let at = start;
    for (let index = 0; at < end; index++) {
      const octets = this.#number(at, this.#sizeOctets);
      at += this.#sizeOctets;
      if (octets > end - at) throw this.#noText();
      if (index % forms === 0) yield this.#reader.octets(at, octets);
      at += octets;
    }
  }

  #noText(): Error {
    return this.#reader.damaged(`a rule of the automaton at ${this.#start} has no text`);
  }

  #offset(at: number): number {
    return this.#number(at, this.#offsetOctets);
  }

  #number(at: number, octets: number): number {
    if (octets === 1) return this.#reader.u8(at);
    return octets === 2 ? this.#reader.u16(at) : this.#reader.u32(at);
  }
}
