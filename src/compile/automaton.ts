import { type AutomatonWidths, BlockWriter, greatestSize, maxBlockOctets } from './blocks.js';
import {
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  MAX_LABEL_OCTETS,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_OCTETS,
  NODE_RULE_ALLOW,
  NODE_RULE_DISALLOW,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_STAR,
  RULE_TEXT,
} from './format.js';
import { KIND_PREFIX, type OrderedRules } from './ordered-rules.js';
import { RuleTexts, textForm } from './rule-texts.js';
import { type Order, sortItems } from './sort.js';
import { type Width, widthOf, writeNumber } from './width.js';

/** A node has an edge for an octet at most; canonical octets are fewer than 255. */
const MAX_EDGES = 255;

/** Automata of more octets need four for their offsets. */
const MAX_NARROW_OCTETS = 0xffff;
const OFFSET_WIDTH = 1;
const WIDE_OFFSET_WIDTH = 2;

const SURPLUS_WIDTH = 2;

/** No prefix rule, or no node above. */
const NONE = -1;

/**
 * Writes automata, one after another into the same memory.
 *
 * The rules come sorted by prefix, so the rules below a node are one range of them. What their prefixes share is found
 * by comparing the first with the last from the node's depth on; ranges that wait are kept on a stack of our own, for a trie
 * may be as deep as a body is long. So each octet of a label is read once, and each rule once for each of the
 * nodes that it passes: linear in the octets of the rules.
 *
 * First the nodes are planned, in pre-order; then, from the last to the first, the octets of all that follows from each are summed up, which
 * says how wide its distances are; then they are written, again in pre-order, but of the nodes below another those first from which
 * least follows: so most of them begin close to it, in a cache line that is there already.
 */
export class AutomatonWriter {
  #out = new Uint8Array(1 << 14);
  readonly #widths: AutomatonWidths = { line: 0, size: 0, offset: OFFSET_WIDTH };
  readonly #texts = new RuleTexts();
  readonly #blockWriter = new BlockWriter();

  /** The blocks of all nodes, as they come. */
  #blocks = new Uint8Array(1 << 12);
  #blockOctets = 0;

  /** The ranges that wait: from which rule to which, at what depth, and the node that leads there. */
  #low = new Int32Array(64);
  #high = new Int32Array(64);
  #depth = new Int32Array(64);
  #above = new Int32Array(64);

  /** For each node the node before it on the way from the root, its label in `rules.octets` and that one's length, and its edges. */
  #nodes = 0;
  #parent = new Int32Array(64);
  #label = new Int32Array(64);
  #labelOctets = new Int32Array(64);
  #edges = new Int32Array(64);
  /** The entry of its prefix rule, that one's form, and where its text is, if it is kept. */
  #rule = new Int32Array(64);
  #form = new Uint8Array(64);
  #text = new Int32Array(64);
  /** Where its blocks end in `#blocks`; they start where those of the node before end. */
  #blocksEnd = new Int32Array(64);
  /** Its octets and those of all nodes below. */
  #octets = new Int32Array(64);
  /** What the nodes below it come to, and the greatest edge's share of that, which is written last. */
  #below = new Int32Array(64);
  #greatestBelow = new Int32Array(64);
  /** The first node below it, and the next one below the same. */
  #firstBelow = new Int32Array(64);
  #next = new Int32Array(64);
  /** As it is written: where the octets of its edges start, how many are written, and where the first edge leads. */
  #edgesStart = new Int32Array(64);
  #edgesWritten = new Int32Array(64);
  #firstTarget = new Int32Array(64);

  readonly #edgeLow = new Int32Array(MAX_EDGES + 2);
  #blockEntries = new Int32Array(64);
  #spare = new Int32Array(64);

  /** The automaton of the rules, at least one; its octets are overwritten by the next. */
  write(rules: OrderedRules): Uint8Array {
    this.#reserve(rules);
    const widths = this.#widths;
    widths.line = widthOf(rules.lastLine - rules.firstLine);
    widths.size = sizeWidth(rules);
    widths.offset = OFFSET_WIDTH;
    let total = this.#plan(rules);
    if (total > MAX_NARROW_OCTETS) {
      widths.offset = WIDE_OFFSET_WIDTH;
      total = this.#plan(rules);
    }
    if (total > this.#out.length) this.#out = new Uint8Array(Math.max(total, 2 * this.#out.length));

    const out = this.#out;
    const texts = this.#texts;
    const isWide = widths.offset === WIDE_OFFSET_WIDTH;
    out[0] =
      widths.line |
      (widths.size << AUTOMATON_SIZE_WIDTH_SHIFT) |
      (isWide ? AUTOMATON_WIDE : 0) |
      (texts.octets > 0 ? AUTOMATON_TEXTS : 0);
    let at = writeNumber(out, 1, total, widths.offset);
    at = writeNumber(out, at, rules.count, widths.offset);
    if (texts.octets > 0) at = writeNumber(out, at, total - texts.octets, widths.offset);
    at = this.#writeNodes(rules, at);
    out.set(texts.all, at);
    return out.subarray(0, total);
  }

  /** Plans all nodes and writes blocks and texts; returns the octets of the automaton. */
  #plan(rules: OrderedRules): number {
    const { sorted, start, prefixEnd } = rules;
    this.#nodes = 0;
    this.#blockOctets = 0;
    this.#texts.clear();
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
    const node = this.#nodes++;
    this.#parent[node] = parent;
    this.#label[node] = label;
    this.#labelOctets[node] = labelOctets;
    return node;
  }

  /** Enters what a node has besides its label; its blocks, if any, have just been written. */
  #finishNode(rules: OrderedRules, node: number, edges: number, rule: number): void {
    this.#edges[node] = edges;
    this.#rule[node] = rule;
    this.#blocksEnd[node] = this.#blockOctets;
    this.#below[node] = 0;
    this.#greatestBelow[node] = 0;
    this.#firstBelow[node] = NONE;
    const blocksStart = node === 0 ? 0 : (this.#blocksEnd[node - 1] as number);
    const blocks = this.#blockOctets - blocksStart;
    const { offset, line } = this.#widths;
    let octets = NODE_FIXED_OCTETS + (this.#labelOctets[node] as number) + blocks;
    if (edges > 0) octets += 1 + edges + (blocks > 0 ? 1 << offset : 0);
    if (rule !== NONE) {
      const form = prefixForm(rules, rule);
      this.#form[node] = form;
      octets += (1 << line) + ((form & ~RULE_ALLOW) === 0 ? 0 : 1);
      if ((form & RULE_LONGER) !== 0) octets += 1 << SURPLUS_WIDTH;
      if ((form & RULE_TEXT) !== 0) {
        octets += 1 << offset;
        this.#text[node] = this.#texts.add(rules.rule(rule).pattern);
      }
    }
    this.#octets[node] = octets;
  }

  /** Parts the rules from `low` to `high` by their octet at `depth`; returns how many octets there are. */
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

  /** Writes the blocks of what ends in a node, the rules from `low` to `high`; returns its prefix rule, which comes first. */
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
        this.#blocks,
        this.#blockOctets,
        this.#widths,
        this.#texts,
      );
    }
    return isPrefix ? first : NONE;
  }

  /** Adds to the octets of each node those of all below, and of its distances; returns the octets of the automaton. */
  #sumUp(): number {
    for (let node = this.#nodes - 1; node >= 0; node--) {
      const below = this.#below[node] as number;
      const edges = this.#edges[node] as number;
      let octets = (this.#octets[node] as number) + below;
      if (edges > 1) octets += (edges - 1) << this.#distanceWidth(node);
      this.#octets[node] = octets;
      const parent = this.#parent[node] as number;
      if (parent === NONE) continue;
      this.#below[parent] = (this.#below[parent] as number) + octets;
      if (octets > (this.#greatestBelow[parent] as number)) this.#greatestBelow[parent] = octets;
      this.#next[node] = this.#firstBelow[parent] as number;
      this.#firstBelow[parent] = node;
    }
    const fields = this.#texts.octets > 0 ? 3 : 2;
    const header = 1 + (fields << this.#widths.offset);
    return header + (this.#octets[0] as number) + this.#texts.octets;
  }

  /** Of the distances of a node's targets from the first, of which the last is the greatest. */
  #distanceWidth(node: number): Width {
    return widthOf((this.#below[node] as number) - (this.#greatestBelow[node] as number));
  }

  /** Writes the nodes; returns where they end. */
  #writeNodes(rules: OrderedRules, start: number): number {
    const { octets } = rules;
    const out = this.#out;
    const { offset } = this.#widths;
    const waiting = this.#low;
    let at = start;
    let count = 1;
    waiting[0] = 0;
    while (count > 0) {
      const node = waiting[--count] as number;
      count = this.#pushBelow(node, waiting, count);
      const label = this.#label[node] as number;
      const parent = this.#parent[node] as number;
      if (parent !== NONE) this.#writeEdge(parent, octets[label - 1] as number, at);
      const flagsAt = at;
      let flags = 0;
      const end = label + (this.#labelOctets[node] as number);
      out[at + 1] = end - label;
      at += NODE_FIXED_OCTETS;
      for (let index = label; index < end; index++) out[at++] = octets[index] as number;
      const edges = this.#edges[node] as number;
      if (edges > 0) {
        flags |= NODE_EDGES;
        out[at++] = edges;
        this.#edgesStart[node] = at;
        this.#edgesWritten[node] = 0;
        at += edges;
        if (edges > 1) {
          const width = this.#distanceWidth(node);
          flags |= width << NODE_DISTANCE_WIDTH_SHIFT;
          at += (edges - 1) << width;
        }
      }
      const rule = this.#rule[node] as number;
      if (rule !== NONE) {
        const form = this.#form[node] as number;
        if ((form & ~RULE_ALLOW) !== 0) flags |= NODE_RULE_OTHER;
        else flags |= form === 0 ? NODE_RULE_DISALLOW : NODE_RULE_ALLOW;
        at = this.#writePrefixRule(rules, node, at);
      }
      const blocksStart = node === 0 ? 0 : (this.#blocksEnd[node - 1] as number);
      const blocksEnd = this.#blocksEnd[node] as number;
      if (blocksEnd > blocksStart) {
        flags |= NODE_BLOCKS;
        if (edges > 0) at = writeNumber(out, at, blocksEnd - blocksStart, offset);
        out.set(this.#blocks.subarray(blocksStart, blocksEnd), at);
        at += blocksEnd - blocksStart;
      }
      this.#firstTarget[node] = at;
      out[flagsAt] = flags;
    }
    return at;
  }

  /** Puts the nodes below a node behind those that wait, the one from which least follows last; returns how many wait. */
  #pushBelow(node: number, waiting: Int32Array, count: number): number {
    const octets = this.#octets;
    let end = count;
    for (let below = this.#firstBelow[node] as number; below !== NONE; ) {
      let at = end++;
      const own = octets[below] as number;
      // By insertion: a node has MAX_EDGES below it at most.
      for (; at > count && (octets[waiting[at - 1] as number] as number) <= own; at--) {
        waiting[at] = waiting[at - 1] as number;
      }
      waiting[at] = below;
      below = this.#next[below] as number;
    }
    return end;
  }

  /** Writes the next edge of a node, to `target`. */
  #writeEdge(node: number, octet: number, target: number): void {
    const edge = this.#edgesWritten[node] as number;
    const edgesStart = this.#edgesStart[node] as number;
    this.#edgesWritten[node] = edge + 1;
    this.#out[edgesStart + edge] = octet;
    if (edge === 0) return;
    const width = this.#distanceWidth(node);
    const distances = edgesStart + (this.#edges[node] as number);
    const at = distances + ((edge - 1) << width);
    writeNumber(this.#out, at, target - (this.#firstTarget[node] as number), width);
  }

  #writePrefixRule(rules: OrderedRules, node: number, start: number): number {
    const out = this.#out;
    const { line, offset } = this.#widths;
    const entry = this.#rule[node] as number;
    const form = this.#form[node] as number;
    let at = start;
    if ((form & ~RULE_ALLOW) !== 0) out[at++] = form;
    at = writeNumber(out, at, rules.rule(entry).line - rules.firstLine, line);
    if ((form & RULE_LONGER) !== 0) {
      at = writeNumber(out, at, surplusOctets(rules, entry), SURPLUS_WIDTH);
    }
    if ((form & RULE_TEXT) !== 0) at = writeNumber(out, at, this.#text[node] as number, offset);
    return at;
  }

  /** Makes room for all that the rules can need before their octets are known, so that nothing after this need look at lengths. */
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
    if (nodes > this.#parent.length) {
      const capacity = 2 * nodes;
      this.#parent = new Int32Array(capacity);
      this.#label = new Int32Array(capacity);
      this.#labelOctets = new Int32Array(capacity);
      this.#edges = new Int32Array(capacity);
      this.#rule = new Int32Array(capacity);
      this.#form = new Uint8Array(capacity);
      this.#text = new Int32Array(capacity);
      this.#blocksEnd = new Int32Array(capacity);
      this.#octets = new Int32Array(capacity);
      this.#below = new Int32Array(capacity);
      this.#greatestBelow = new Int32Array(capacity);
      this.#firstBelow = new Int32Array(capacity);
      this.#next = new Int32Array(capacity);
      this.#edgesStart = new Int32Array(capacity);
      this.#edgesWritten = new Int32Array(capacity);
      this.#firstTarget = new Int32Array(capacity);
    }
    const blocks = maxBlockOctets(rules);
    if (blocks > this.#blocks.length) this.#blocks = new Uint8Array(2 * blocks);
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

/** By how many octets the pattern of a prefix rule is longer than its prefix: stars, which count and match anything. */
function surplusOctets(rules: OrderedRules, entry: number): number {
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
