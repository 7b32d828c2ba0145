import {
  MAX_LABEL_BYTES,
  NODE_FIXED_BYTES,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_STAR,
  RULE_TEXT,
} from '../../table/format.js';
import { type Width, widthOf } from '../../table/width.js';
import {
  BELOW,
  BLOCKS_END,
  BYTES,
  DISTANCE_WIDTH,
  EDGES,
  FIRST_BELOW,
  FORM,
  GREATEST_BELOW,
  LABEL,
  LABEL_BYTES,
  NEXT,
  NODE_WORDS,
  NONE,
  PARENT,
  RULE,
  TEXT,
} from './node-words.js';
import { KIND_PREFIX, type OrderedRules } from './ordered-rules.js';
import { RuleTexts, textForm } from './rule-texts.js';
import { type Order, sortItems } from './sort.js';
import {
  type AutomatonWidths,
  BlockWriter,
  greatestSize,
  maxBlockBytes,
} from './wildcard-blocks.js';

/** Maximum number of edges of a node: one for each byte, and fewer than 255 bytes are canonical. */
const MAX_EDGES = 255;

/** Maximum length of an automaton with offsets of two bytes. */
const MAX_NARROW_BYTES = 0xffff;
const OFFSET_WIDTH = 1;
export const WIDE_OFFSET_WIDTH = 2;

export const SURPLUS_WIDTH = 2;

/** Initial capacity, in rules and nodes. */
const INITIAL_ROOM = 64;

/**
 * Lays out an automaton: the place of each of its parts. The memory is reused for the next
 * automaton.
 *
 * The rules are sorted by prefix, so the rules below a node are one range. All rules of a range
 * share the common prefix of the first and the last rule. An explicit stack holds the waiting
 * ranges, because a trie may be as deep as a body is long. Each byte of a label is read once, and
 * each rule once for each node on its path, so the time is linear in the bytes of the rules.
 *
 * The nodes are laid out in pre-order. Then the lengths of the subtrees are summed up from the last
 * node to the first, which gives the widths of the distances.
 */
export class AutomatonPlan {
  readonly widths: AutomatonWidths = { line: 0, size: 0, offset: OFFSET_WIDTH };
  /** Length of the automaton. */
  bytes = 0;
  /** NODE_WORDS for each node, the root first. */
  words = new Int32Array(INITIAL_ROOM * NODE_WORDS);
  /** The blocks of all nodes, in order. */
  blocks = new Uint8Array(1 << 12);
  readonly texts = new RuleTexts();

  #nodesEnd = 0;
  #blockBytes = 0;
  readonly #blockWriter = new BlockWriter();

  /** The waiting ranges: first rule, end, depth and parent node. */
  #low = new Int32Array(INITIAL_ROOM);
  #high = new Int32Array(INITIAL_ROOM);
  #depth = new Int32Array(INITIAL_ROOM);
  #above = new Int32Array(INITIAL_ROOM);

  readonly #edgeLow = new Int32Array(MAX_EDGES + 2);
  #blockItems = new Int32Array(INITIAL_ROOM);
  #spare = new Int32Array(INITIAL_ROOM);

  /** Plans an automaton. There must be at least one rule. */
  make(rules: OrderedRules): void {
    this.#reserve(rules);
    const { widths } = this;
    widths.line = widthOf(rules.lastLine - rules.firstLine);
    widths.size = sizeWidth(rules);
    widths.offset = OFFSET_WIDTH;
    this.bytes = this.#plan(rules);
    if (this.bytes <= MAX_NARROW_BYTES) return;
    widths.offset = WIDE_OFFSET_WIDTH;
    this.bytes = this.#plan(rules);
  }

  /** Start of a node's blocks. */
  blocksStart(node: number): number {
    return node === 0 ? 0 : (this.words[node - NODE_WORDS + BLOCKS_END] as number);
  }

  /** Plans all nodes, writes blocks and texts; returns the length of the automaton. */
  #plan(rules: OrderedRules): number {
    const { sorted, start, prefixEnd } = rules;
    this.#nodesEnd = 0;
    this.#blockBytes = 0;
    this.texts.clear();
    let waiting = 0;
    this.#push(waiting++, 0, rules.count, 0, NONE);
    while (waiting > 0) {
      waiting--;
      const low = this.#low[waiting] as number;
      const high = this.#high[waiting] as number;
      let depth = this.#depth[waiting] as number;
      let above = this.#above[waiting] as number;

      const first = sorted[low] as number;
      const from = start[first] as number;
      const shared = sharedEnd(rules, first, sorted[high - 1] as number, depth);
      while (shared - depth > MAX_LABEL_BYTES) {
        above = this.#addNode(above, from + depth, MAX_LABEL_BYTES);
        this.#finishNode(rules, above, 1, NONE);
        depth += MAX_LABEL_BYTES + 1;
      }
      const node = this.#addNode(above, from + depth, shared - depth);
      let deeper = low;
      while (
        deeper < high &&
        (prefixEnd[sorted[deeper] as number] as number) -
          (start[sorted[deeper] as number] as number) ===
          shared
      ) {
        deeper++;
      }
      const edges = deeper === high ? 0 : this.#findEdges(rules, deeper, high, shared);
      for (let edge = edges - 1; edge >= 0; edge--) {
        const below = this.#edgeLow[edge] as number;
        this.#push(waiting++, below, this.#edgeLow[edge + 1] as number, shared + 1, node);
      }
      this.#finishNode(rules, node, edges, this.#planRules(rules, low, deeper));
    }
    return this.#sumUp();
  }

  #push(place: number, low: number, high: number, depth: number, above: number): void {
    this.#low[place] = low;
    this.#high[place] = high;
    this.#depth[place] = depth;
    this.#above[place] = above;
  }

  #addNode(parent: number, label: number, labelBytes: number): number {
    const words = this.words;
    const node = this.#nodesEnd;
    this.#nodesEnd = node + NODE_WORDS;
    words[node + PARENT] = parent;
    words[node + LABEL] = label;
    words[node + LABEL_BYTES] = labelBytes;
    return node;
  }

  /** Completes a node, after its blocks have been written. */
  #finishNode(rules: OrderedRules, node: number, edges: number, rule: number): void {
    const words = this.words;
    words[node + EDGES] = edges;
    words[node + RULE] = rule;
    words[node + BLOCKS_END] = this.#blockBytes;
    words[node + BELOW] = 0;
    words[node + GREATEST_BELOW] = 0;
    words[node + FIRST_BELOW] = NONE;
    const blocks = this.#blockBytes - this.blocksStart(node);
    const { offset, line } = this.widths;
    let bytes = NODE_FIXED_BYTES + (words[node + LABEL_BYTES] as number) + blocks;
    if (edges > 0) bytes += 1 + edges + (blocks > 0 ? 1 << offset : 0);
    if (rule !== NONE) {
      const form = prefixForm(rules, rule);
      words[node + FORM] = form;
      bytes += (1 << line) + ((form & ~RULE_ALLOW) === 0 ? 0 : 1);
      if ((form & RULE_LONGER) !== 0) bytes += 1 << SURPLUS_WIDTH;
      if ((form & RULE_TEXT) !== 0) {
        bytes += 1 << offset;
        words[node + TEXT] = this.texts.add(rules.rule(rule).pattern);
      }
    }
    words[node + BYTES] = bytes;
  }

  /**
   * Splits the rules from `low` to `high` by their byte at `depth`; returns the number of edges.
   */
  #findEdges(rules: OrderedRules, low: number, high: number, depth: number): number {
    const { sorted, start, bytes } = rules;
    let edges = 0;
    let previous = -1;
    for (let index = low; index < high; index++) {
      const byte = bytes[(start[sorted[index] as number] as number) + depth] as number;
      if (byte === previous) continue;
      previous = byte;
      this.#edgeLow[edges++] = index;
    }
    if (edges > MAX_EDGES) throw new RangeError(`a node of ${edges} edges`);
    this.#edgeLow[edges] = high;
    return edges;
  }

  /** Writes the blocks of the rules from `low` to `high`; returns the prefix rule, or NONE. */
  #planRules(rules: OrderedRules, low: number, high: number): number {
    if (low === high) return NONE;
    const first = rules.sorted[low] as number;
    const isPrefix = rules.kind[first] === KIND_PREFIX;
    const from = isPrefix ? low + 1 : low;
    if (from < high) {
      const count = high - from;
      const items = this.#blockItems;
      for (let place = 0; place < count; place++) {
        items[place] = rules.sorted[from + place] as number;
      }
      if (count > 1) sortItems(items, this.#spare, count, new FallingRank(rules));
      this.#blockBytes = this.#blockWriter.write(rules, items, count, this, this.#blockBytes);
    }
    return isPrefix ? first : NONE;
  }

  /** Sums up the lengths of the subtrees; returns the length of the automaton. */
  #sumUp(): number {
    const words = this.words;
    for (let node = this.#nodesEnd - NODE_WORDS; node >= 0; node -= NODE_WORDS) {
      const below = words[node + BELOW] as number;
      const edges = words[node + EDGES] as number;
      let bytes = (words[node + BYTES] as number) + below;
      if (edges > 1) {
        // Distances count from the first target; the last one is the greatest.
        const width = widthOf(below - (words[node + GREATEST_BELOW] as number));
        words[node + DISTANCE_WIDTH] = width;
        bytes += (edges - 1) << width;
      }
      words[node + BYTES] = bytes;
      const parent = words[node + PARENT] as number;
      if (parent === NONE) continue;
      words[parent + BELOW] = (words[parent + BELOW] as number) + bytes;
      if (bytes > (words[parent + GREATEST_BELOW] as number)) {
        words[parent + GREATEST_BELOW] = bytes;
      }
      words[node + NEXT] = words[parent + FIRST_BELOW] as number;
      words[parent + FIRST_BELOW] = node;
    }
    const fields = this.texts.bytes > 0 ? 3 : 2;
    const header = 1 + (fields << this.widths.offset);
    return header + (words[BYTES] as number) + this.texts.bytes;
  }

  /** Reserves upper bounds for all memory, so that no other code checks capacities. */
  #reserve(rules: OrderedRules): void {
    const { count, prefixBytes } = rules;
    if (count > this.#low.length) {
      const capacity = 2 * count;
      this.#low = new Int32Array(capacity);
      this.#high = new Int32Array(capacity);
      this.#depth = new Int32Array(capacity);
      this.#above = new Int32Array(capacity);
      this.#blockItems = new Int32Array(capacity);
      this.#spare = new Int32Array(capacity);
    }
    const nodes = 2 * count + 1 + Math.ceil(prefixBytes / MAX_LABEL_BYTES);
    if (nodes * NODE_WORDS > this.words.length) {
      this.words = new Int32Array(2 * nodes * NODE_WORDS);
    }
    const blocks = maxBlockBytes(rules);
    if (blocks > this.blocks.length) this.blocks = new Uint8Array(2 * blocks);
  }
}

/** The width of the `size` fields of an automaton. */
function sizeWidth(rules: OrderedRules): Width {
  if (rules.blockCount === 0) return 0;
  let greatest = 0;
  for (let index = 0; index < rules.count; index++) {
    const item = rules.sorted[index] as number;
    if (rules.kind[item] === KIND_PREFIX) continue;
    const size = greatestSize(rules.pattern(item), rules.ranks[item] as number);
    if (size > greatest) greatest = size;
  }
  return widthOf(greatest);
}

/**
 * The number of bytes by which the pattern of a prefix rule is longer than its prefix: stars at its
 * end.
 */
export function surplusBytes(rules: OrderedRules, item: number): number {
  const { bytes, prefix } = rules.pattern(item);
  return bytes - prefix.length;
}

/** The form of a prefix rule; RULE_ALLOW or 0 if the flags of its node suffice. */
function prefixForm(rules: OrderedRules, item: number): number {
  const rule = rules.rule(item);
  const text = textForm(rules.pattern(item), rule.pattern);
  const form = text | (rule.allow ? RULE_ALLOW : 0);
  if (text !== RULE_TEXT) return form;
  const surplus = surplusBytes(rules, item);
  if (surplus === 0) return form;
  return form | (surplus === 1 ? RULE_STAR : RULE_LONGER);
}

/** Length of the common prefix of two rules that are equal up to `depth`. */
function sharedEnd(rules: OrderedRules, first: number, last: number, depth: number): number {
  const { start, prefixEnd, bytes } = rules;
  const from = start[first] as number;
  const other = start[last] as number;
  const firstEnd = (prefixEnd[first] as number) - from;
  if (first === last) return firstEnd;
  const end = Math.min(firstEnd, (prefixEnd[last] as number) - other);
  let at = depth;
  while (at < end && bytes[from + at] === bytes[other + at]) at++;
  return at;
}

/** By descending rank, then by ascending line: items are numbered in the order of lines. */
class FallingRank implements Order {
  readonly #ranks: Int32Array;

  constructor({ ranks }: OrderedRules) {
    this.#ranks = ranks;
  }

  compare(a: number, b: number): number {
    return (this.#ranks[b] as number) - (this.#ranks[a] as number) || a - b;
  }
}
