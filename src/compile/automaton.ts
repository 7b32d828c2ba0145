import {
  AutomatonPlan,
  BLOCKS_END,
  DISTANCE_WIDTH,
  EDGES,
  EDGES_START,
  EDGES_WRITTEN,
  FIRST_BELOW,
  FIRST_TARGET,
  FORM,
  LABEL,
  LABEL_OCTETS,
  NEXT,
  NONE,
  OCTETS,
  PARENT,
  RULE,
  SURPLUS_WIDTH,
  surplusOctets,
  TEXT,
  WIDE_OFFSET_WIDTH,
} from './automaton-plan.js';
import {
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_OCTETS,
  NODE_RULE_ALLOW,
  NODE_RULE_DISALLOW,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_TEXT,
} from './format.js';
import type { OrderedRules } from './ordered-rules.js';
import { type Width, writeNumber } from './width.js';

/**
 * Writes automata, one after another into the same memory: as they are planned, in pre-order, but
 * of the nodes below another those first from which least follows, so that most of them begin close
 * to it, in a cache line that is there already.
 */
export class AutomatonWriter {
  #out = new Uint8Array(1 << 14);
  readonly #plan = new AutomatonPlan();
  /** The nodes that wait to be written. */
  #waiting = new Int32Array(64);

  /** The automaton of the rules, at least one; its octets are overwritten by the next. */
  write(rules: OrderedRules): Uint8Array {
    const plan = this.#plan;
    plan.make(rules);
    const { octets, texts, widths } = plan;
    if (octets > this.#out.length) {
      this.#out = new Uint8Array(Math.max(octets, 2 * this.#out.length));
    }
    // Each of those that wait leads to a rule of its own.
    if (rules.count > this.#waiting.length) this.#waiting = new Int32Array(2 * rules.count);

    const out = this.#out;
    const isWide = widths.offset === WIDE_OFFSET_WIDTH;
    out[0] =
      widths.line |
      (widths.size << AUTOMATON_SIZE_WIDTH_SHIFT) |
      (isWide ? AUTOMATON_WIDE : 0) |
      (texts.octets > 0 ? AUTOMATON_TEXTS : 0);
    let at = writeNumber(out, 1, octets, widths.offset);
    at = writeNumber(out, at, rules.count, widths.offset);
    if (texts.octets > 0) at = writeNumber(out, at, octets - texts.octets, widths.offset);
    at = this.#writeNodes(rules, at);
    out.set(texts.all, at);
    return out.subarray(0, octets);
  }

  /** Writes the nodes; returns where they end. */
  #writeNodes(rules: OrderedRules, start: number): number {
    const { octets } = rules;
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
      if (parent !== NONE) this.#writeEdge(parent, octets[label - 1] as number, at);
      const flagsAt = at;
      let flags = 0;
      const end = label + (words[node + LABEL_OCTETS] as number);
      out[at + 1] = end - label;
      at += NODE_FIXED_OCTETS;
      for (let index = label; index < end; index++) out[at++] = octets[index] as number;
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
        out.set(blocks.subarray(blocksStart, blocksEnd), at);
        at += blocksEnd - blocksStart;
      }
      words[node + FIRST_TARGET] = at;
      out[flagsAt] = flags;
    }
    return at;
  }

  /**
   * Puts the nodes below a node behind those that wait, the one from which least follows last;
   * returns how many wait.
   */
  #pushBelow(node: number, waiting: Int32Array, count: number): number {
    const { words } = this.#plan;
    let end = count;
    for (let below = words[node + FIRST_BELOW] as number; below !== NONE; ) {
      let at = end++;
      const own = words[below + OCTETS] as number;
      // By insertion: a node has MAX_EDGES below it at most.
      for (; at > count; at--) {
        const other = waiting[at - 1] as number;
        if ((words[other + OCTETS] as number) > own) break;
        waiting[at] = other;
      }
      waiting[at] = below;
      below = words[below + NEXT] as number;
    }
    return end;
  }

  /** Writes the next edge of a node, to `target`. */
  #writeEdge(node: number, octet: number, target: number): void {
    const { words } = this.#plan;
    const edge = words[node + EDGES_WRITTEN] as number;
    const edgesStart = words[node + EDGES_START] as number;
    words[node + EDGES_WRITTEN] = edge + 1;
    this.#out[edgesStart + edge] = octet;
    if (edge === 0) return;
    const width = words[node + DISTANCE_WIDTH] as Width;
    const distances = edgesStart + (words[node + EDGES] as number);
    const at = distances + ((edge - 1) << width);
    writeNumber(this.#out, at, target - (words[node + FIRST_TARGET] as number), width);
  }

  /** Writes a prefix rule, whose text is kept at `text` if it is; returns the offset behind it. */
  #writePrefixRule(
    rules: OrderedRules,
    entry: number,
    form: number,
    text: number,
    start: number,
  ): number {
    const out = this.#out;
    const { line, offset } = this.#plan.widths;
    let at = start;
    if ((form & ~RULE_ALLOW) !== 0) out[at++] = form;
    at = writeNumber(out, at, rules.rule(entry).line - rules.firstLine, line);
    if ((form & RULE_LONGER) !== 0) {
      at = writeNumber(out, at, surplusOctets(rules, entry), SURPLUS_WIDTH);
    }
    if ((form & RULE_TEXT) !== 0) at = writeNumber(out, at, text, offset);
    return at;
  }
}
