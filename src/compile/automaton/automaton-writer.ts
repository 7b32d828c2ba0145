import {
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_BYTES,
  NODE_RULE_ALLOW,
  NODE_RULE_DISALLOW,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_TEXT,
} from '../../table/format.js';
import { type Width, writeNumber } from '../../table/width.js';
import { AutomatonPlan, SURPLUS_WIDTH, surplusBytes, WIDE_OFFSET_WIDTH } from './automaton-plan.js';
import {
  BLOCKS_END,
  BYTES,
  DISTANCE_WIDTH,
  EDGES,
  EDGES_START,
  EDGES_WRITTEN,
  FIRST_BELOW,
  FIRST_TARGET,
  FORM,
  LABEL,
  LABEL_BYTES,
  NEXT,
  NONE,
  PARENT,
  RULE,
  TEXT,
} from './node-words.js';
import { copyBytes, type OrderedRules } from './ordered-rules.js';

/**
 * Writes automata, one after another into the same memory. Nodes are in pre-order, and the smallest
 * subtree of a node comes first. Most targets of edges are therefore close, often in the same cache
 * line.
 */
export class AutomatonWriter {
  #out = new Uint8Array(1 << 14);
  readonly #plan = new AutomatonPlan();
  /** Stack of nodes to write. */
  #waiting = new Int32Array(64);

  /** Writes the automaton of at least one rule. The next call overwrites the automaton. */
  write(rules: OrderedRules): Uint8Array {
    const plan = this.#plan;
    plan.make(rules);
    const { bytes, texts, widths } = plan;
    if (bytes > this.#out.length) {
      this.#out = new Uint8Array(Math.max(bytes, 2 * this.#out.length));
    }
    // Each waiting node leads to a different rule.
    if (rules.count > this.#waiting.length) this.#waiting = new Int32Array(2 * rules.count);

    const out = this.#out;
    const isWide = widths.offset === WIDE_OFFSET_WIDTH;
    out[0] =
      widths.line |
      (widths.size << AUTOMATON_SIZE_WIDTH_SHIFT) |
      (isWide ? AUTOMATON_WIDE : 0) |
      (texts.bytes > 0 ? AUTOMATON_TEXTS : 0);
    let at = writeNumber(out, 1, bytes, widths.offset);
    at = writeNumber(out, at, rules.count, widths.offset);
    if (texts.bytes > 0) at = writeNumber(out, at, bytes - texts.bytes, widths.offset);
    at = this.#writeNodes(rules, at);
    if (texts.bytes > 0) out.set(texts.all, at);
    return out.subarray(0, bytes);
  }

  /** Writes the nodes; returns the offset of their end. */
  #writeNodes(rules: OrderedRules, start: number): number {
    const { bytes } = rules;
    const out = this.#out;
    const plan = this.#plan;
    const { words, blocks } = plan;
    const { offset } = plan.widths;
    const waiting = this.#waiting;
    let at = start;
    let count = 1;
    waiting[0] = 0;
    while (count > 0) {
      const node = waiting[--count] as number;
      count = this.#pushBelow(node, waiting, count);
      const label = words[node + LABEL] as number;
      const parent = words[node + PARENT] as number;
      if (parent !== NONE) this.#writeEdge(parent, bytes[label - 1] as number, at);
      const flagsAt = at;
      let flags = 0;
      const end = label + (words[node + LABEL_BYTES] as number);
      out[at + 1] = end - label;
      at += NODE_FIXED_BYTES;
      for (let index = label; index < end; index++) out[at++] = bytes[index] as number;
      const edges = words[node + EDGES] as number;
      if (edges > 0) {
        flags |= NODE_EDGES;
        out[at++] = edges;
        words[node + EDGES_START] = at;
        words[node + EDGES_WRITTEN] = 0;
        at += edges;
        if (edges > 1) {
          const width = words[node + DISTANCE_WIDTH] as number;
          flags |= width << NODE_DISTANCE_WIDTH_SHIFT;
          at += (edges - 1) << width;
        }
      }
      const rule = words[node + RULE] as number;
      if (rule !== NONE) {
        const form = words[node + FORM] as number;
        if ((form & ~RULE_ALLOW) !== 0) flags |= NODE_RULE_OTHER;
        else flags |= form === 0 ? NODE_RULE_DISALLOW : NODE_RULE_ALLOW;
        at = this.#writePrefixRule(rules, rule, form, words[node + TEXT] as number, at);
      }
      const blocksStart = plan.blocksStart(node);
      const blocksEnd = words[node + BLOCKS_END] as number;
      if (blocksEnd > blocksStart) {
        flags |= NODE_BLOCKS;
        if (edges > 0) at = writeNumber(out, at, blocksEnd - blocksStart, offset);
        at = copyBytes(blocks, blocksStart, blocksEnd, out, at);
      }
      words[node + FIRST_TARGET] = at;
      out[flagsAt] = flags;
    }
    return at;
  }

  /** Pushes the nodes below a node, the smallest subtree last; returns the number of nodes. */
  #pushBelow(node: number, waiting: Int32Array, count: number): number {
    const { words } = this.#plan;
    let end = count;
    for (let below = words[node + FIRST_BELOW] as number; below !== NONE; ) {
      let at = end++;
      const own = words[below + BYTES] as number;
      // Insertion sort: a node has at most MAX_EDGES children.
      for (; at > count; at--) {
        const other = waiting[at - 1] as number;
        if ((words[other + BYTES] as number) > own) break;
        waiting[at] = other;
      }
      waiting[at] = below;
      below = words[below + NEXT] as number;
    }
    return end;
  }

  /** Writes the next edge of a node, to `target`. */
  #writeEdge(node: number, byte: number, target: number): void {
    const { words } = this.#plan;
    const edge = words[node + EDGES_WRITTEN] as number;
    const edgesStart = words[node + EDGES_START] as number;
    words[node + EDGES_WRITTEN] = edge + 1;
    this.#out[edgesStart + edge] = byte;
    if (edge === 0) return;
    const width = words[node + DISTANCE_WIDTH] as Width;
    const distances = edgesStart + (words[node + EDGES] as number);
    const at = distances + ((edge - 1) << width);
    writeNumber(this.#out, at, target - (words[node + FIRST_TARGET] as number), width);
  }

  /** Writes a prefix rule; `text` is the offset of a kept text. Returns the offset after it. */
  #writePrefixRule(
    rules: OrderedRules,
    item: number,
    form: number,
    text: number,
    start: number,
  ): number {
    const out = this.#out;
    const { line, offset } = this.#plan.widths;
    let at = start;
    if ((form & ~RULE_ALLOW) !== 0) out[at++] = form;
    at = writeNumber(out, at, rules.rule(item).line - rules.firstLine, line);
    if ((form & RULE_LONGER) !== 0) {
      at = writeNumber(out, at, surplusBytes(rules, item), SURPLUS_WIDTH);
    }
    if ((form & RULE_TEXT) !== 0) at = writeNumber(out, at, text, offset);
    return at;
  }
}
