import { Buckets } from './buckets.js';
import {
  BLOCK_MASK_OCTETS,
  BLOCK_MASKS,
  MAX_BLOCK_RULES,
  WILDCARD_END,
  WILDCARD_TWO_FORMS,
} from './format.js';
import type { OrderedRules } from './ordered-rules.js';
import type { Pattern } from './pattern.js';
import { type RefWidth, writeRef } from './ref.js';
import { Windows } from './window.js';

/** Blocks of fewer rules have no masks: to try them costs no more than to look for their windows. */
export const MIN_MASKED_RULES = 4;

/** Where there are no masks any bit is found. */
const ALL_BUCKETS = 255;

/** Octets of a block besides its rules: two octets, two refs, masks. And of a rule besides its segments. */
const BLOCK_OCTETS = 2 + 2 * 4 + BLOCK_MASK_OCTETS;
const RULE_OCTETS = 3 * 4 + 2;

/** An upper bound on the octets of all blocks of an automaton; each segment may be there in two forms. */
export function maxBlockOctets(rules: OrderedRules): number {
  const refs = 4 * rules.segmentCount;
  return rules.wildcardCount * (BLOCK_OCTETS + RULE_OCTETS) + refs + rules.segmentOctets;
}

/** Writes the wildcard rules that hang at one node. */
export class BlockWriter {
  readonly #windows = new Windows();
  readonly #buckets = new Buckets();

  /** Writes the blocks of the rules whose orders, falling, are given, and their number; returns the offset behind them. */
  write(
    rules: OrderedRules,
    orders: Int32Array,
    count: number,
    out: Uint8Array,
    start: number,
    width: RefWidth,
  ): number {
    let at = writeRef(out, start, Math.ceil(count / MAX_BLOCK_RULES), width);
    for (let low = 0; low < count; low += MAX_BLOCK_RULES) {
      const high = Math.min(low + MAX_BLOCK_RULES, count);
      at = this.#writeBlock(rules, orders, low, high, out, at, width);
    }
    return at;
  }

  #writeBlock(
    rules: OrderedRules,
    orders: Int32Array,
    low: number,
    high: number,
    out: Uint8Array,
    start: number,
    width: RefWidth,
  ): number {
    const masked = high - low >= MIN_MASKED_RULES;
    out[start] = high - low;
    out[start + 1] = masked ? BLOCK_MASKS : 0;
    let at = writeRef(out, start + 2 + width, rankOf(rules, orders[low] as number), width);
    if (masked) {
      this.#dealBuckets(rules, orders, low, high);
      this.#buckets.writeMasks(out, at);
      at += BLOCK_MASK_OCTETS;
    }
    for (let index = low; index < high; index++) {
      const order = orders[index] as number;
      const pattern = rules.pattern(rules.byOrder[order - 1] as number);
      const record = at;
      at = writeRef(out, at, rankOf(rules, order), width) + width;
      out[at++] = masked ? 1 << (this.#buckets.bucketOf[index - low] as number) : ALL_BUCKETS;
      at = writeSegments(pattern, out, at, width);
      writeRef(out, record + width, at - record, width);
    }
    writeRef(out, start + 2, at - start, width);
    return at;
  }

  #dealBuckets(rules: OrderedRules, orders: Int32Array, low: number, high: number): void {
    const windows = this.#windows;
    this.#buckets.clear();
    for (let index = low; index < high; index++) {
      const order = orders[index] as number;
      windows.choose(rules.pattern(rules.byOrder[order - 1] as number).segments);
      this.#buckets.addRule();
      for (let window = 0; window < windows.count; window++) {
        this.#buckets.addWindow(windows.octets, 3 * window);
      }
    }
    this.#buckets.deal();
  }
}

/** `order << 1 | allow`. */
export function rankOf(rules: OrderedRules, order: number): number {
  return (order << 1) | (rules.rule(rules.byOrder[order - 1] as number).allow ? 1 : 0);
}

/** Writes a wildcard rule from its flags on. */
function writeSegments(pattern: Pattern, out: Uint8Array, start: number, width: RefWidth): number {
  const { segments, anchored, twoForms } = pattern;
  out[start] = (anchored ? WILDCARD_END : 0) | (twoForms ? WILDCARD_TWO_FORMS : 0);
  let at = writeRef(out, start + 1, segments.length, width);
  for (const { first, second } of segments) {
    at = writeOctets(first, out, at, width);
    if (twoForms) at = writeOctets(second ?? first, out, at, width);
  }
  return at;
}

function writeOctets(octets: Uint8Array, out: Uint8Array, start: number, width: RefWidth): number {
  const at = writeRef(out, start, octets.length, width);
  out.set(octets, at);
  return at + octets.length;
}
