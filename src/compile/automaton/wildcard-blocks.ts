import {
  BLOCK_FOLLOWED,
  BLOCK_MASK_BYTES,
  BLOCK_MASKS,
  BLOCK_WIDE,
  MAX_BLOCK_RULES,
  RULE_END,
  RULE_IN_BLOCK,
  RULE_SINGLE,
  RULE_TEXT,
  RULE_TWO_FORMS,
} from '../../table/format.js';
import { type Width, writeNumber } from '../../table/width.js';
import { copyAll, type OrderedRules } from './ordered-rules.js';
import type { Pattern, Segment } from './pattern.js';
import { type RuleTexts, textForm } from './rule-texts.js';
import { Buckets } from './teddy.js';
import { Windows } from './window.js';

/**
 * Minimum number of rules for masks: trying fewer rules costs no more than searching for windows.
 */
export const MIN_MASKED_RULES = 4;

/** The buckets of a rule without segments, and so without windows. */
const ALL_BUCKETS = 255;

/**
 * Maximum length of a block without its rules (first byte, masks, offset), and of a rule without
 * its segments, but with its bucket and place.
 */
const BLOCK_BYTES = 1 + BLOCK_MASK_BYTES + 4;
const RULE_BYTES = 1 + 4 + 4 + 4 + 1 + 4 + 4;

/** The fields that count towards a rule's size: form, line and offset of its text. */
const COUNTED_BYTES = 1 + 4 + 4;

/** The widths of an automaton's fields. */
export interface AutomatonWidths {
  line: Width;
  size: Width;
  offset: Width;
}

/** The memory for blocks and the texts of their rules. */
export interface BlockTarget {
  readonly blocks: Uint8Array;
  readonly texts: RuleTexts;
  readonly widths: Readonly<AutomatonWidths>;
}

/** An upper bound on the length of all blocks; each segment may have two forms. */
export function maxBlockBytes(rules: OrderedRules): number {
  const numbers = 4 * rules.segmentCount;
  return rules.blockCount * (BLOCK_BYTES + RULE_BYTES) + numbers + rules.segmentBytes;
}

/** The greatest `size` field of a rule: its rank, or its length in any width. */
export function greatestSize(pattern: Pattern, rank: number): number {
  let bytes = 0;
  let numbers = 0;
  for (const { first, second } of pattern.segments) {
    bytes += first.length + (pattern.twoForms ? (second ?? first).length : 0);
    numbers += pattern.twoForms ? 2 : 1;
  }
  bytes += COUNTED_BYTES;
  const narrow = bytes + numbers;
  const wide = narrow <= 0xff ? narrow : bytes + 2 * numbers;
  return Math.max(rank, wide);
}

/** Writes the blocks of a node: its rules other than the prefix rule. */
export class BlockWriter {
  readonly #windows = new Windows();
  readonly #buckets = new Buckets();
  /** Offsets of the rules of a block, from the first rule. */
  readonly #places = new Uint32Array(MAX_BLOCK_RULES);

  /**
   * Writes the blocks of items, by descending rank and ascending line; returns the offset after
   * them.
   */
  write(
    rules: OrderedRules,
    items: Int32Array,
    count: number,
    target: BlockTarget,
    start: number,
  ): number {
    const { blocks: out, widths } = target;
    let at = start;
    for (let low = 0; low < count; low += MAX_BLOCK_RULES) {
      const high = Math.min(low + MAX_BLOCK_RULES, count);
      const head = at++;
      out[head] = (high - low - 1) | (high < count ? BLOCK_FOLLOWED : 0);
      if (high - low < MIN_MASKED_RULES) {
        for (let index = low; index < high; index++) {
          at = writeRule(rules, items[index] as number, target, at);
        }
        continue;
      }
      out[head] |= BLOCK_MASKS;
      this.#dealBuckets(rules, items, low, high);
      this.#buckets.writeMasks(out, at);
      at += BLOCK_MASK_BYTES;
      for (let index = low; index < high; index++) {
        out[at++] = this.#bucketsOf(rules.pattern(items[index] as number), index - low);
      }
      const bytes = at;
      if (high < count) at += 1 << widths.offset;
      const rulesAt = at;
      // Rules are written after room for the widest places, then moved to where the places end.
      const firstRule = rulesAt + ((high - low) << 2);
      let rule = firstRule;
      for (let index = low; index < high; index++) {
        this.#places[index - low] = rule - firstRule;
        rule = writeRule(rules, items[index] as number, target, rule);
      }
      const isWide = (this.#places[high - low - 1] as number) > 0xff;
      if (isWide) out[head] |= BLOCK_WIDE;
      for (let index = low; index < high; index++) {
        at = writeNumber(out, at, this.#places[index - low] as number, isWide ? widths.offset : 0);
      }
      out.copyWithin(at, firstRule, rule);
      at += rule - firstRule;
      if (high < count) writeNumber(out, bytes, at - rulesAt, widths.offset);
    }
    return at;
  }

  #bucketsOf({ segments }: Pattern, place: number): number {
    return segments.length === 0 ? ALL_BUCKETS : 1 << (this.#buckets.bucketOf[place] as number);
  }

  #dealBuckets(rules: OrderedRules, items: Int32Array, low: number, high: number): void {
    const windows = this.#windows;
    this.#buckets.clear();
    for (let index = low; index < high; index++) {
      windows.choose(rules.pattern(items[index] as number).segments);
      this.#buckets.addRule();
      for (let window = 0; window < windows.count; window++) {
        this.#buckets.addWindow(windows.bytes, 3 * window);
      }
    }
    this.#buckets.deal();
  }
}

function writeRule(
  rules: OrderedRules,
  item: number,
  { blocks: out, widths, texts }: BlockTarget,
  start: number,
): number {
  const pattern = rules.pattern(item);
  const { segments, anchored, twoForms } = pattern;
  const rule = rules.rule(item);
  const text = textForm(pattern, rule.pattern);
  const single = segments.length === 1 && !twoForms;
  const size = writeNumber(out, start, rules.ranks[item] as number, widths.size);
  const form = size + (1 << widths.size);
  out[form] =
    RULE_IN_BLOCK |
    text |
    (anchored ? RULE_END : 0) |
    (twoForms ? RULE_TWO_FORMS : 0) |
    (single ? RULE_SINGLE : 0);
  let at = writeNumber(out, form + 1, rule.line - rules.firstLine, widths.line);
  if (text === RULE_TEXT) at = writeNumber(out, at, texts.add(rule.pattern), widths.offset);
  if (single) {
    at = copyAll((segments[0] as Segment).first, out, at);
  } else {
    for (const { first, second } of segments) {
      at = writeBytes(first, out, at, widths.size);
      if (twoForms) at = writeBytes(second ?? first, out, at, widths.size);
    }
  }
  writeNumber(out, size, at - form, widths.size);
  return at;
}

function writeBytes(bytes: Uint8Array, out: Uint8Array, start: number, width: Width): number {
  return copyAll(bytes, out, writeNumber(out, start, bytes.length, width));
}
