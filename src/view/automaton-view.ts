/** Reads an automaton: its nodes and blocks, and the rules in it with their paths. */

import { Buffer } from 'node:buffer';
import { ASTERISK, DOLLAR } from '../base/ascii.js';
import {
  AUTOMATON_LINE_WIDTH,
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  BLOCK_FOLLOWED,
  BLOCK_MASK_BYTES,
  BLOCK_MASKS,
  BLOCK_RULES,
  BLOCK_WIDE,
  MAX_GROUP_RULES,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_BYTES,
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
  SURPLUS_BYTES,
  TEXT_LENGTH_BYTES,
  TEXT_LIMIT,
} from '../table/format.js';
import { SHARD_SPAN, type ShardView } from './shard-view.js';
import type { MergedGroup, TablePattern, TableReader, TableRule } from './table-content.js';

/** Counts of the parts of an automaton. */
interface AutomatonCounts {
  readonly bytes: number;
  readonly rules: number;
  readonly nodes: number;
  /** Number of nodes with wildcard rules, and number of those rules. */
  readonly wildcardNodes: number;
  readonly wildcardRules: number;
  readonly blocks: number;
}

/** Maximum bytes of the segments of a rule with a derived text: two u32 for each byte. */
export const MAX_DERIVED_BYTES = 8 * TEXT_LIMIT + 16;

const STAR = Uint8Array.of(ASTERISK);
const END = Uint8Array.of(DOLLAR);

const NO_SEGMENTS: readonly Uint8Array[] = [];

/** A table or a shard of it. */
interface Shards {
  shardAt(at: number): ShardView;
}

/** The automaton of a group, by its offset in the table. */
export function automatonAt(view: Shards, at: number): AutomatonView {
  return new AutomatonView(view.shardAt(at).reader, at % SHARD_SPAN);
}

/**
 * The rules of a group in the order of the file, without rules that other rules always override.
 *
 * @throws RobotsFilterError `table` if the group is damaged
 */
export function rulesOf(view: Shards, { groups }: MergedGroup): TableRule[] {
  const rules: TableRule[] = [];
  let count = 0;
  for (const { automaton, firstLine } of groups) {
    if (automaton === 0) continue;
    const own = automatonAt(view, automaton);
    count += own.ruleCount;
    if (count > MAX_GROUP_RULES) {
      throw view.shardAt(automaton).reader.damaged('a group has more rules than a file can hold');
    }
    for (const rule of own.rules(firstLine)) rules.push(rule);
  }
  return rules.sort((a, b) => a.line - b.line);
}

/** Reads an automaton from beginning to end, in the order of its nodes. Takes linear time. */
export class AutomatonView {
  readonly #reader: TableReader;
  readonly #start: number;
  readonly #walk: AutomatonWalk;

  constructor(reader: TableReader, start: number) {
    this.#reader = reader;
    this.#start = start;
    this.#walk = new AutomatonWalk(reader, start);
  }

  /** Length of the automaton. */
  get bytes(): number {
    return this.#walk.bytes;
  }

  get ruleCount(): number {
    return this.#walk.ruleCount;
  }

  /** Returns the rules by line, then by ascending specificity. Lines count from `firstLine`. */
  rules(firstLine: number): TableRule[] {
    const rules: (TableRule & { readonly rank: number })[] = [];
    this.#walk.each((found, depth) => {
      for (const rule of found) {
        rules.push({
          rank: rule.rank,
          allow: (rule.rank & 1) !== 0,
          text: this.#text(rule, depth),
          bytes: rule.rank >>> 1,
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
      .map(({ allow, text, bytes, line }) => ({ allow, text, bytes, line }));
  }

  /** The canonical patterns of the rules, in no defined order. Lines count from 0. */
  patterns(): TablePattern[] {
    const patterns: TablePattern[] = [];
    this.#walk.each((rules, depth) => {
      if (rules.length === 0) return;
      const prefix = walkedPath().slice(0, depth);
      for (const { rank, line, form, segments } of rules) {
        const isEnd = (form & RULE_END) !== 0;
        const all = segments === undefined ? NO_SEGMENTS : this.#forms(form, segments);
        const hasTwo = (form & RULE_TWO_FORMS) !== 0;
        const first = hasTwo ? all.filter((_, index) => index % 2 === 0) : all;
        const second = hasTwo ? all.filter((_, index) => index % 2 === 1) : undefined;
        patterns.push({ rank, line, prefix, first, second, isEnd });
      }
    });
    return patterns;
  }

  counts(): AutomatonCounts {
    const counts = { nodes: 0, wildcardNodes: 0, wildcardRules: 0, blocks: 0 };
    this.#walk.each((rules, _, blocks) => {
      const wildcards = rules.filter(
        ({ segments }) => segments !== undefined && segments.start < segments.end,
      );
      counts.nodes++;
      counts.blocks += blocks;
      counts.wildcardRules += wildcards.length;
      if (wildcards.length > 0) counts.wildcardNodes++;
    });
    return { bytes: this.bytes, rules: this.ruleCount, ...counts };
  }

  /** The text of a rule of the current node, whose path has `depth` bytes. */
  #text({ form, keptText, segments }: FoundRule, depth: number): string {
    const reader = this.#reader;
    if ((form & RULE_TEXT) !== 0) {
      const text = this.#walk.nodesEnd + this.#walk.offset(keptText);
      return reader.escapedText(text + TEXT_LENGTH_BYTES, reader.u16(text));
    }
    if (depth > TEXT_LIMIT) throw this.#noText();
    const parts: Uint8Array[] = [walkedPath().subarray(0, depth)];
    if (segments !== undefined) {
      if (segments.end - segments.start > MAX_DERIVED_BYTES) throw this.#noText();
      const forms = (form & RULE_TWO_FORMS) !== 0 ? 2 : 1;
      let index = 0;
      for (const segment of this.#forms(form, segments)) {
        if (index++ % forms === 0) parts.push(STAR, segment);
      }
    }
    if ((form & RULE_END) !== 0) parts.push(END);
    if ((form & RULE_STAR) !== 0) parts.push(STAR);
    return reader.displayed(Buffer.concat(parts));
  }

  /** The segments of a rule; with RULE_TWO_FORMS each is followed by its second form. */
  #forms(form: number, { start, end }: SegmentBounds): readonly Uint8Array[] {
    if ((form & RULE_SINGLE) !== 0) return [this.#reader.copy(start, end - start)];
    const { sizeBytes } = this.#walk;
    const forms: Uint8Array[] = [];
    for (let at = start; at < end; ) {
      const bytes = this.#walk.number(at, sizeBytes);
      at += sizeBytes;
      if (bytes > end - at) throw this.#noText();
      forms.push(this.#reader.copy(at, bytes));
      at += bytes;
    }
    return forms;
  }

  #noText(): Error {
    return this.#reader.damaged(`a rule of the automaton at ${this.#start} has no text`);
  }
}

/** A rule as stored in an automaton. A prefix rule without a form has form RULE_ALLOW or 0. */
interface FoundRule {
  readonly rank: number;
  readonly form: number;
  readonly line: number;
  /** Offset of the offset of its text, if the form has RULE_TEXT. */
  readonly keptText: number;
  /** `undefined` for a prefix rule. */
  readonly segments: SegmentBounds | undefined;
}

/** Start and end of the segments of a rule. */
interface SegmentBounds {
  readonly start: number;
  readonly end: number;
}

/**
 * Receives a node: its rules, the length of its path, and the number of its blocks. The path is
 * that of `walkedPath` until the call returns.
 */
type NodeVisitor = (rules: readonly FoundRule[], depth: number, blocks: number) => void;

/** A node with edges that have not been followed. */
interface OpenNode {
  /** Where its edges begin, their number, and the index of the next one. */
  edges: number;
  count: number;
  next: number;
  depth: number;
  distances: number;
  distanceBytes: number;
  firstTarget: number;
}

const NO_RULES: readonly FoundRule[] = [];

/** The path from the root to the current node, and its open nodes: one walk is under way. */
let path = new Uint8Array(256);
const open: OpenNode[] = [];

/** The path from the root to the current node of the walk that is under way. */
function walkedPath(): Uint8Array {
  return path;
}

/** Reads the nodes of an automaton, in their order. Takes linear time. */
class AutomatonWalk {
  /** Length of the automaton, and number of its rules. */
  readonly bytes: number;
  readonly ruleCount: number;
  readonly nodesEnd: number;
  readonly sizeBytes: number;
  readonly offsetBytes: number;
  readonly #reader: TableReader;
  readonly #start: number;
  readonly #root: number;
  readonly #lineBytes: number;

  constructor(reader: TableReader, start: number) {
    this.#reader = reader;
    this.#start = start;
    const widths = reader.u8(start);
    this.#lineBytes = 1 << (widths & AUTOMATON_LINE_WIDTH);
    this.sizeBytes = 1 << ((widths >> AUTOMATON_SIZE_WIDTH_SHIFT) & 3);
    this.offsetBytes = (widths & AUTOMATON_WIDE) !== 0 ? 4 : 2;
    if (this.#lineBytes > 4 || this.sizeBytes > 4) {
      throw reader.damaged(`the automaton at ${start} has numbers of more than 4 bytes`);
    }
    let at = start + 1;
    this.bytes = this.offset(at);
    this.ruleCount = this.offset(at + this.offsetBytes);
    at += 2 * this.offsetBytes;
    this.nodesEnd = start + this.bytes;
    if ((widths & AUTOMATON_TEXTS) !== 0) {
      this.nodesEnd = start + this.offset(at);
      at += this.offsetBytes;
    }
    this.#root = at;
    reader.within(start + this.bytes, 0);
    if (this.nodesEnd > start + this.bytes || at > this.nodesEnd) {
      throw reader.damaged(`the automaton at ${start} ends before it begins`);
    }
  }

  /** Calls `visit` for each node. */
  each(visit: NodeVisitor): void {
    const reader = this.#reader;
    let openCount = 0;
    let at = this.#root;
    let left = this.ruleCount;
    do {
      const node = at;
      let depth = 0;
      if (openCount > 0) {
        const parent = open[openCount - 1] as OpenNode;
        depth = this.#appendEdge(parent, node);
        if (parent.next === parent.count) openCount--;
      }
      const flags = reader.u8(node);
      const label = reader.u8(node + 1);
      at += NODE_FIXED_BYTES;
      depth = this.#append(at, label, depth);
      at += label;

      let count = 0;
      let edges = at;
      let distances = at;
      const distanceBytes = 1 << ((flags >> NODE_DISTANCE_WIDTH_SHIFT) & 3);
      if ((flags & NODE_EDGES) !== 0) {
        count = reader.u8(at);
        edges = reader.within(at + 1, count);
        distances = edges + count;
        at = distances + Math.max(count - 1, 0) * distanceBytes;
      }
      let rules = NO_RULES;
      let blocks = 0;
      if ((flags & (NODE_RULE | NODE_BLOCKS)) !== 0) {
        const found: FoundRule[] = [];
        at = this.#readPrefixRule(flags & NODE_RULE, at, depth, found);
        if ((flags & NODE_BLOCKS) !== 0) {
          if ((flags & NODE_EDGES) !== 0) at += this.offsetBytes;
          for (let followed = true; followed; blocks++) {
            followed = (reader.u8(at) & BLOCK_FOLLOWED) !== 0;
            at = this.#readBlock(at, found);
          }
        }
        rules = found;
      }
      left -= rules.length;
      if (at > this.nodesEnd || left < 0) break;
      visit(rules, depth, blocks);
      if (count > 0) {
        const entry = openNode(openCount++);
        entry.edges = edges;
        entry.count = count;
        entry.next = 0;
        entry.depth = depth;
        entry.distances = distances;
        entry.distanceBytes = distanceBytes;
        entry.firstTarget = at;
      }
    } while (openCount > 0);
    if (at !== this.nodesEnd) {
      throw reader.damaged(
        `the nodes of the automaton at ${this.#start} do not end where they should`,
      );
    }
  }

  /** The number in a field marked `offset`. */
  offset(at: number): number {
    return this.number(at, this.offsetBytes);
  }

  number(at: number, bytes: number): number {
    if (bytes === 1) return this.#reader.u8(at);
    return bytes === 2 ? this.#reader.u16(at) : this.#reader.u32(at);
  }

  /** Follows the next edge of a node, which must lead to `target`; returns the depth there. */
  #appendEdge(parent: OpenNode, target: number): number {
    const edge = parent.next++;
    const at = parent.distances + (edge - 1) * parent.distanceBytes;
    const distance = edge === 0 ? 0 : this.number(at, parent.distanceBytes);
    if (parent.firstTarget + distance !== target) {
      throw this.#reader.damaged(`no node of the automaton at ${this.#start} begins at ${target}`);
    }
    makeRoom(parent.depth + 1);
    path[parent.depth] = this.#reader.u8(parent.edges + edge);
    return parent.depth + 1;
  }

  /** Appends bytes of the table to the path; returns its new length. */
  #append(at: number, length: number, depth: number): number {
    const { bytes } = this.#reader;
    const start = this.#reader.within(at, length);
    makeRoom(depth + length);
    for (let index = 0; index < length; index++) {
      path[depth + index] = bytes[start + index] as number;
    }
    return depth + length;
  }

  #readPrefixRule(kind: number, start: number, depth: number, rules: FoundRule[]): number {
    if (kind === 0) return start;
    let at = start;
    let form = kind === NODE_RULE_ALLOW ? RULE_ALLOW : 0;
    if (kind === NODE_RULE_OTHER) form = this.#reader.u8(at++);
    const line = this.number(at, this.#lineBytes);
    at += this.#lineBytes;
    let surplus = (form & RULE_STAR) !== 0 ? 1 : 0;
    if ((form & RULE_LONGER) !== 0) {
      surplus = this.#reader.u32(at);
      at += SURPLUS_BYTES;
    }
    const keptText = at;
    if ((form & RULE_TEXT) !== 0) at += this.offsetBytes;
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
      at += BLOCK_MASK_BYTES + count;
      if ((head & BLOCK_FOLLOWED) !== 0) at += this.offsetBytes;
      at += count * ((head & BLOCK_WIDE) !== 0 ? this.offsetBytes : 1);
    }
    for (let left = count; left > 0; left--) {
      const rank = this.number(at, this.sizeBytes);
      const formAt = at + 2 * this.sizeBytes;
      const form = reader.u8(formAt);
      const line = this.number(formAt + 1, this.#lineBytes);
      const keptText = formAt + 1 + this.#lineBytes;
      const segments = keptText + ((form & RULE_TEXT) !== 0 ? this.offsetBytes : 0);
      const end = formAt + this.number(at + this.sizeBytes, this.sizeBytes);
      if (end < segments) throw reader.damaged(`the rule at ${at} ends before it begins`);
      rules.push({ rank, form, line, keptText, segments: { start: segments, end } });
      at = end;
    }
    return at;
  }
}

/** The object for the open node at a depth of the stack. Walks use these objects again. */
function openNode(index: number): OpenNode {
  let entry = open[index];
  if (entry === undefined) {
    entry = {
      edges: 0,
      count: 0,
      next: 0,
      depth: 0,
      distances: 0,
      distanceBytes: 0,
      firstTarget: 0,
    };
    open[index] = entry;
  }
  return entry;
}

function makeRoom(length: number): void {
  if (length <= path.length) return;
  const longer = new Uint8Array(2 * length);
  longer.set(path);
  path = longer;
}
