import { type AutomatonWidths, BlockWriter, greatestSize, maxBlockOctets } from './blocks.js';
import {
  MAX_LABEL_OCTETS,
  NODE_FIXED_OCTETS,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_STAR,
  RULE_TEXT,
} from './format.js';
import { KIND_PREFIX, type OrderedRules } from './ordered-rules.js';
import { RuleTexts, textForm } from './rule-texts.js';
import { type Order, sortItems } from './sort.js';
import { type Width, widthOf } from './width.js';

/** A node has an edge for an octet at most; canonical octets are fewer than 255. */
const MAX_EDGES = 255;

/** Automata of more octets need four for their offsets. */
const MAX_NARROW_OCTETS = 0xffff;
const OFFSET_WIDTH = 1;
export const WIDE_OFFSET_WIDTH = 2;

export const SURPLUS_WIDTH = 2;

/** Room at first, in rules and nodes. */
const INITIAL_ROOM = 64;

/** No prefix rule, or no node above. */
export const NONE = -1;

/**
 * Words of a node: all that is known of it lies in 64 octets. A node is known by where they start.
 */
export const NODE_WORDS = 16;
/**
 * The node before it on the way from the root, its label in `rules.octets` and that one's length,
 * and its edges.
 */
export const PARENT = 0;
export const LABEL = 1;
export const LABEL_OCTETS = 2;
export const EDGES = 3;
/** The entry of its prefix rule, that one's form, and where its text is, if it is kept. */
export const RULE = 4;
export const FORM = 5;
export const TEXT = 6;
/** Where its blocks end in `blocks`; they start where those of the node before end. */
export const BLOCKS_END = 7;
/** Its octets and those of all nodes below. */
export const OCTETS = 8;
/**
 * What the nodes below it come to; and the greatest edge's share of that, which is written last,
 * until it gives way to the width of its distances.
 */
export const BELOW = 9;
export const GREATEST_BELOW = 10;
export const DISTANCE_WIDTH = 10;
/** The first node below it, and the next one below the same. */
export const FIRST_BELOW = 11;
export const NEXT = 12;
/**
 * As it is written: where the octets of its edges start, how many are written, and where the first
 * edge leads.
 */
export const EDGES_START = 13;
export const EDGES_WRITTEN = 14;
export const FIRST_TARGET = 15;

/**
 * What lies where in an automaton, one after another in the same memory.
 *
 * The rules come sorted by prefix, so the rules below a node are one range of them. What their
 * prefixes share is found by comparing the first with the last from the node's depth on; ranges
 * that wait are kept on a stack of our own, for a trie may be as deep as a body is long. So each
 * octet of a label is read once, and each rule once for each of the nodes that it passes: linear in
 * the octets of the rules.
 *
 * First the nodes are laid out in pre-order; then, from the last to the first, the octets of all
 * that follows from each are summed up, which says how wide its distances are.
 */
export class AutomatonPlan {
  readonly widths: AutomatonWidths = { line: 0, size: 0, offset: OFFSET_WIDTH };
  /** Octets of the automaton. */
  octets = 0;
  /** The words of all nodes, the root first. */
  words = new Int32Array(INITIAL_ROOM * NODE_WORDS);
  /** The blocks of all nodes, as they come. */
  blocks = new Uint8Array(1 << 12);
  readonly texts = new RuleTexts();

  #nodesEnd = 0;
  #blockOctets = 0;
  readonly #blockWriter = new BlockWriter();

  /**
   * The ranges that wait: from which rule to which, at what depth, and the node that leads there.
   */
  #low = new Int32Array(INITIAL_ROOM);
  #high = new Int32Array(INITIAL_ROOM);
  #depth = new Int32Array(INITIAL_ROOM);
  #above = new Int32Array(INITIAL_ROOM);

  readonly #edgeLow = new Int32Array(MAX_EDGES + 2);
  #blockEntries = new Int32Array(INITIAL_ROOM);
  #spare = new Int32Array(INITIAL_ROOM);

  /** Plans the automaton of the rules, at least one. */
  make(rules: OrderedRules): void {
    this.#reserve(rules);
    const { widths } = this;
    widths.line = widthOf(rules.lastLine - rules.firstLine);
    widths.size = sizeWidth(rules);
    widths.offset = OFFSET_WIDTH;
    this.octets = this.#plan(rules);
    if (this.octets <= MAX_NARROW_OCTETS) return;
    widths.offset = WIDE_OFFSET_WIDTH;
    this.octets = this.#plan(rules);
  }

  /** Where the blocks of a node start. */
  blocksStart(node: number): number {
    return node === 0 ? 0 : (this.words[node - NODE_WORDS + BLOCKS_END] as number);
  }

  /** Plans all nodes and writes blocks and texts; returns the octets of the automaton. */
  #plan(rules: OrderedRules): number {
    const { sorted, start, prefixEnd } = rules;
    this.#nodesEnd = 0;
    this.#blockOctets = 0;
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
      while (shared - depth > MAX_LABEL_OCTETS) {
        above = this.#addNode(above, from + depth, MAX_LABEL_OCTETS);
        this.#finishNode(rules, above, 1, NONE);
        depth += MAX_LABEL_OCTETS + 1;
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

  #addNode(parent: number, label: number, labelOctets: number): number {
    const words = this.words;
    const node = this.#nodesEnd;
    this.#nodesEnd = node + NODE_WORDS;
    words[node + PARENT] = parent;
    words[node + LABEL] = label;
    words[node + LABEL_OCTETS] = labelOctets;
    return node;
  }

  /** Enters what a node has besides its label; its blocks, if any, have just been written. */
  #finishNode(rules: OrderedRules, node: number, edges: number, rule: number): void {
    const words = this.words;
    words[node + EDGES] = edges;
    words[node + RULE] = rule;
    words[node + BLOCKS_END] = this.#blockOctets;
    words[node + BELOW] = 0;
    words[node + GREATEST_BELOW] = 0;
    words[node + FIRST_BELOW] = NONE;
    const blocks = this.#blockOctets - this.blocksStart(node);
    const { offset, line } = this.widths;
    let octets = NODE_FIXED_OCTETS + (words[node + LABEL_OCTETS] as number) + blocks;
    if (edges > 0) octets += 1 + edges + (blocks > 0 ? 1 << offset : 0);
    if (rule !== NONE) {
      const form = prefixForm(rules, rule);
      words[node + FORM] = form;
      octets += (1 << line) + ((form & ~RULE_ALLOW) === 0 ? 0 : 1);
      if ((form & RULE_LONGER) !== 0) octets += 1 << SURPLUS_WIDTH;
      if ((form & RULE_TEXT) !== 0) {
        octets += 1 << offset;
        words[node + TEXT] = this.texts.add(rules.rule(rule).pattern);
      }
    }
    words[node + OCTETS] = octets;
  }

  /**
   * Parts the rules from `low` to `high` by their octet at `depth`; returns how many octets there
   * are.
   */
  #findEdges(rules: OrderedRules, low: number, high: number, depth: number): number {
    const { sorted, start, octets } = rules;
    let edges = 0;
    let previous = -1;
    for (let index = low; index < high; index++) {
      const octet = octets[(start[sorted[index] as number] as number) + depth] as number;
      if (octet === previous) continue;
      previous = octet;
      this.#edgeLow[edges++] = index;
    }
    if (edges > MAX_EDGES) throw new RangeError(`a node of ${edges} edges`);
    this.#edgeLow[edges] = high;
    return edges;
  }

  /**
   * Writes the blocks of what ends in a node, the rules from `low` to `high`; returns its prefix
   * rule, which comes first.
   */
  #planRules(rules: OrderedRules, low: number, high: number): number {
    if (low === high) return NONE;
    const first = rules.sorted[low] as number;
    const isPrefix = rules.kind[first] === KIND_PREFIX;
    const from = isPrefix ? low + 1 : low;
    if (from < high) {
      const count = high - from;
      const entries = this.#blockEntries;
      for (let place = 0; place < count; place++) {
        entries[place] = rules.sorted[from + place] as number;
      }
      if (count > 1) sortItems(entries, this.#spare, count, new FallingRank(rules));
      this.#blockOctets = this.#blockWriter.write(
        rules,
        entries,
        count,
        this.blocks,
        this.#blockOctets,
        this.widths,
        this.texts,
      );
    }
    return isPrefix ? first : NONE;
  }

  /**
   * Adds to the octets of each node those of all below, and of its distances; returns the octets of
   * the automaton.
   */
  #sumUp(): number {
    const words = this.words;
    for (let node = this.#nodesEnd - NODE_WORDS; node >= 0; node -= NODE_WORDS) {
      const below = words[node + BELOW] as number;
      const edges = words[node + EDGES] as number;
      let octets = (words[node + OCTETS] as number) + below;
      if (edges > 1) {
        // Of the distances of its targets from the first, of which the last is the greatest.
        const width = widthOf(below - (words[node + GREATEST_BELOW] as number));
        words[node + DISTANCE_WIDTH] = width;
        octets += (edges - 1) << width;
      }
      words[node + OCTETS] = octets;
      const parent = words[node + PARENT] as number;
      if (parent === NONE) continue;
      words[parent + BELOW] = (words[parent + BELOW] as number) + octets;
      if (octets > (words[parent + GREATEST_BELOW] as number)) {
        words[parent + GREATEST_BELOW] = octets;
      }
      words[node + NEXT] = words[parent + FIRST_BELOW] as number;
      words[parent + FIRST_BELOW] = node;
    }
    const fields = this.texts.octets > 0 ? 3 : 2;
    const header = 1 + (fields << this.widths.offset);
    return header + (words[OCTETS] as number) + this.texts.octets;
  }

  /**
   * Makes room for all that the rules can need before their octets are known, so that nothing after
   * this need look at lengths.
   */
  #reserve(rules: OrderedRules): void {
    const { count, prefixOctets } = rules;
    if (count > this.#low.length) {
      const capacity = 2 * count;
      this.#low = new Int32Array(capacity);
      this.#high = new Int32Array(capacity);
      this.#depth = new Int32Array(capacity);
      this.#above = new Int32Array(capacity);
      this.#blockEntries = new Int32Array(capacity);
      this.#spare = new Int32Array(capacity);
    }
    const nodes = 2 * count + 1 + Math.ceil(prefixOctets / MAX_LABEL_OCTETS);
    if (nodes * NODE_WORDS > this.words.length) {
      this.words = new Int32Array(2 * nodes * NODE_WORDS);
    }
    const blocks = maxBlockOctets(rules);
    if (blocks > this.blocks.length) this.blocks = new Uint8Array(2 * blocks);
  }
}

/** What the `size` fields of an automaton must hold. */
function sizeWidth(rules: OrderedRules): Width {
  if (rules.blockCount === 0) return 0;
  let greatest = 0;
  for (let index = 0; index < rules.count; index++) {
    const entry = rules.sorted[index] as number;
    if (rules.kind[entry] === KIND_PREFIX) continue;
    const size = greatestSize(rules.pattern(entry), rules.ranks[entry] as number);
    if (size > greatest) greatest = size;
  }
  return widthOf(greatest);
}

/**
 * By how many octets the pattern of a prefix rule is longer than its prefix: stars, which count and
 * match anything.
 */
export function surplusOctets(rules: OrderedRules, entry: number): number {
  const { octets, prefix } = rules.pattern(entry);
  return octets - prefix.length;
}

/** The form of a prefix rule; RULE_ALLOW or 0 where its node says it all. */
function prefixForm(rules: OrderedRules, entry: number): number {
  const rule = rules.rule(entry);
  const text = textForm(rules.pattern(entry), rule.pattern);
  const form = text | (rule.allow ? RULE_ALLOW : 0);
  if (text !== RULE_TEXT) return form;
  const surplus = surplusOctets(rules, entry);
  if (surplus === 0) return form;
  return form | (surplus === 1 ? RULE_STAR : RULE_LONGER);
}

/** Up to which octet two prefixes that are equal up to `depth` are equal. */
function sharedEnd(rules: OrderedRules, first: number, last: number, depth: number): number {
  const { start, prefixEnd, octets } = rules;
  const from = start[first] as number;
  const other = start[last] as number;
  const firstEnd = (prefixEnd[first] as number) - from;
  if (first === last) return firstEnd;
  const end = Math.min(firstEnd, (prefixEnd[last] as number) - other);
  let at = depth;
  while (at < end && octets[from + at] === octets[other + at]) at++;
  return at;
}

/** Highest rank first, the first line first among equals: entries are in the order of the lines. */
class FallingRank implements Order {
  readonly #ranks: Int32Array;

  constructor({ ranks }: OrderedRules) {
    this.#ranks = ranks;
  }

  compare(a: number, b: number): number {
    return (this.#ranks[b] as number) - (this.#ranks[a] as number) || a - b;
  }
}
