import { BlockWriter, maxBlockOctets, rankOf } from './blocks.js';
import { ESCAPE_GROWTH, writeDisplayText } from './display-text.js';
import {
  AUTOMATON_ROOT,
  AUTOMATON_RULE_COUNT,
  AUTOMATON_RULES,
  AUTOMATON_WIDTH,
  MAX_LABEL_OCTETS,
  NODE_END_RULE,
  NODE_FIXED_OCTETS,
  NODE_PREFIX_RULE,
  NODE_WILDCARDS,
  TEXT_LIMIT,
} from './format.js';
import { KIND_END, KIND_PREFIX, type OrderedRules } from './ordered-rules.js';
import { MAX_NARROW_REF, type RefWidth, writeRef } from './ref.js';

/** Octets of a node besides its label and its blocks, with the edge that leads to it: three refs, a count of blocks, an edge. */
const NODE_OCTETS = NODE_FIXED_OCTETS + 3 * 4 + 1 + 4;

/** A node has an edge for an octet at most; canonical octets are fewer than 255. */
const MAX_EDGES = 255;

/**
 * Writes automata, one after another into the same memory.
 *
 * The rules come sorted by prefix, so the rules below a node are one range of them. What their prefixes share is found
 * by comparing the first with the last from the node's depth on; ranges that wait are kept on a stack of our own, for a trie
 * may be as deep as a body is long. So each octet of a label is read once, and each rule once for each of the
 * nodes that it passes: linear in the octets of the rules.
 */
export class AutomatonWriter {
  #out = new Uint8Array(1 << 14);
  #texts = new Uint8Array(1 << 12);
  #textEnds = new Int32Array(64);
  #textOctets = 0;

  /** The ranges that wait: from which rule to which, at what depth, where the edge that leads there is and its node. */
  #low = new Int32Array(64);
  #high = new Int32Array(64);
  #depth = new Int32Array(64);
  #edge = new Int32Array(64);
  #parent = new Int32Array(64);

  readonly #edgeOctet = new Uint8Array(MAX_EDGES + 1);
  readonly #edgeLow = new Int32Array(MAX_EDGES + 2);
  #wildcards = new Int32Array(64);
  readonly #blocks = new BlockWriter();

  /** The automaton of the rules, at least one; its octets, a multiple of 4 with zeros at the end, are overwritten by the next. */
  write(rules: OrderedRules): Uint8Array {
    const { count } = rules;
    this.#reserve(rules);

    // An offset that does not fit is found out only when it is there.
    let width: RefWidth = this.#mayBeNarrow(rules) ? 2 : 4;
    let nodesEnd = this.#writeNodes(rules, width);
    if (nodesEnd < 0) {
      width = 4;
      nodesEnd = this.#writeNodes(rules, width);
    }

    const out = this.#out;
    writeRef(out, AUTOMATON_RULE_COUNT, count, 4);
    writeRef(out, AUTOMATON_WIDTH, width, 4);
    writeRef(out, AUTOMATON_RULES, nodesEnd, 4);
    let at = nodesEnd;
    for (let order = 1; order <= count; order++) {
      at = writeRef(out, at, this.#textEnds[order - 1] as number, width);
      at = writeRef(out, at, rules.pattern(rules.byOrder[order - 1] as number).octets, width);
    }
    out.set(this.#texts.subarray(0, this.#textOctets), at);
    at += this.#textOctets;
    writeRef(out, 0, at, 4);
    const end = (at + 3) & ~3;
    out.fill(0, at, end);
    return out.subarray(0, end);
  }

  #mayBeNarrow(rules: OrderedRules): boolean {
    if (this.#textOctets > MAX_NARROW_REF || rules.count > MAX_NARROW_REF >> 1) return false;
    const heaviest = rules.byOrder[rules.count - 1] as number;
    return rules.pattern(heaviest).octets <= MAX_NARROW_REF;
  }

  #writeTexts(rules: OrderedRules): void {
    let at = 0;
    for (let order = 1; order <= rules.count; order++) {
      const { pattern } = rules.rule(rules.byOrder[order - 1] as number);
      const need = at + ESCAPE_GROWTH * Math.min(pattern.length, TEXT_LIMIT);
      if (need > this.#texts.length) {
        const grown = new Uint8Array(Math.max(need, 2 * this.#texts.length));
        grown.set(this.#texts);
        this.#texts = grown;
      }
      at = writeDisplayText(pattern, this.#texts, at);
      this.#textEnds[order - 1] = at;
    }
    this.#textOctets = at;
  }

  /** Writes all nodes; returns where they end, or -1 if an offset among them may be too great for the width. */
  #writeNodes(rules: OrderedRules, width: RefWidth): number {
    const { sorted, start, prefixEnd, octets } = rules;
    const out = this.#out;
    let at = AUTOMATON_ROOT;
    let waiting = 0;
    this.#push(waiting++, 0, rules.count, 0, -1, 0);
    while (waiting > 0) {
      waiting--;
      const low = this.#low[waiting] as number;
      const high = this.#high[waiting] as number;
      let depth = this.#depth[waiting] as number;
      const edge = this.#edge[waiting] as number;
      let node = at;
      if (edge >= 0) writeRef(out, edge, node - (this.#parent[waiting] as number), width);

      const first = sorted[low] as number;
      const last = sorted[high - 1] as number;
      const from = start[first] as number;
      const shared = sharedEnd(rules, first, last, depth);
      for (; shared - depth > MAX_LABEL_OCTETS; depth += MAX_LABEL_OCTETS) {
        node = writeChainNode(octets, from + depth, out, node, width);
      }
      out[node + 1] = shared - depth;
      at = node + NODE_FIXED_OCTETS;
      for (let index = depth; index < shared; index++) out[at++] = octets[from + index] as number;

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
      out[node + 2] = edges;
      for (let index = 0; index < edges; index++) out[at++] = this.#edgeOctet[index] as number;
      for (let index = edges - 1; index >= 0; index--) {
        const below = this.#edgeLow[index] as number;
        const above = this.#edgeLow[index + 1] as number;
        this.#push(waiting++, below, above, shared, at + index * width, node);
      }
      at += edges * width;
      at = this.#writeRules(rules, low, deeper, node, at, width);
      if (width === 2 && at > MAX_NARROW_REF) return -1;
    }
    return at;
  }

  #push(
    place: number,
    low: number,
    high: number,
    depth: number,
    edge: number,
    parent: number,
  ): void {
    this.#low[place] = low;
    this.#high[place] = high;
    this.#depth[place] = depth;
    this.#edge[place] = edge;
    this.#parent[place] = parent;
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
      this.#edgeOctet[edges] = octet;
      this.#edgeLow[edges++] = index;
    }
    if (edges > MAX_EDGES) throw new RangeError(`a node of ${edges} edges`);
    this.#edgeLow[edges] = high;
    return edges;
  }

  /** Writes what ends in a node: the rules from `low` to `high`, which come sorted by kind. And the node's flags. */
  #writeRules(
    rules: OrderedRules,
    low: number,
    high: number,
    node: number,
    start: number,
    width: RefWidth,
  ): number {
    const { sorted, kind, orders } = rules;
    const out = this.#out;
    let at = start;
    let flags = 0;
    let index = low;
    if (index < high && kind[sorted[index] as number] === KIND_PREFIX) {
      flags |= NODE_PREFIX_RULE;
      at = writeRef(out, at, rankOf(rules, orders[sorted[index++] as number] as number), width);
    }
    if (index < high && kind[sorted[index] as number] === KIND_END) {
      flags |= NODE_END_RULE;
      at = writeRef(out, at, rankOf(rules, orders[sorted[index++] as number] as number), width);
    }
    if (index < high) {
      flags |= NODE_WILDCARDS;
      const count = high - index;
      const wildcards = this.#wildcards;
      for (let place = 0; place < count; place++) {
        wildcards[place] = orders[sorted[index + place] as number] as number;
      }
      sortFalling(wildcards, count);
      at = this.#blocks.write(rules, wildcards, count, out, at, width);
    }
    out[node] = flags;
    return at;
  }

  /** Makes room for all that the rules can need in either width, so that nothing after this need look at lengths. */
  #reserve(rules: OrderedRules): void {
    const { count, prefixOctets } = rules;
    if (count > this.#low.length) {
      const capacity = 2 * count;
      this.#textEnds = new Int32Array(capacity);
      this.#low = new Int32Array(capacity);
      this.#high = new Int32Array(capacity);
      this.#depth = new Int32Array(capacity);
      this.#edge = new Int32Array(capacity);
      this.#parent = new Int32Array(capacity);
      this.#wildcards = new Int32Array(capacity);
    }
    this.#writeTexts(rules);
    const nodes = 2 * count + 1 + Math.ceil(prefixOctets / MAX_LABEL_OCTETS);
    const nodeOctets = nodes * NODE_OCTETS + prefixOctets + maxBlockOctets(rules);
    const need = AUTOMATON_ROOT + nodeOctets + 8 * count + this.#textOctets + 4;
    if (need > this.#out.length) this.#out = new Uint8Array(Math.max(need, 2 * this.#out.length));
  }
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

/** Writes a node that has nothing but a label of full length and an edge to the node behind it; returns that one's place. */
function writeChainNode(
  octets: Uint8Array,
  from: number,
  out: Uint8Array,
  node: number,
  width: RefWidth,
): number {
  out[node] = 0;
  out[node + 1] = MAX_LABEL_OCTETS;
  out[node + 2] = 1;
  const label = node + NODE_FIXED_OCTETS;
  out.set(octets.subarray(from, from + MAX_LABEL_OCTETS), label);
  const edge = label + MAX_LABEL_OCTETS;
  out[edge] = octets[from + MAX_LABEL_OCTETS] as number;
  const next = edge + 1 + width;
  writeRef(out, edge + 1, next - node, width);
  return next;
}

/** Up to this many numbers are sorted by insertion, beyond by the engine, whose call costs more. */
const FEW = 24;

function sortFalling(numbers: Int32Array, count: number): void {
  if (count > FEW) {
    numbers.subarray(0, count).sort().reverse();
    return;
  }
  for (let next = 1; next < count; next++) {
    const number = numbers[next] as number;
    let at = next;
    for (; at > 0 && (numbers[at - 1] as number) < number; at--) {
      numbers[at] = numbers[at - 1] as number;
    }
    numbers[at] = number;
  }
}
