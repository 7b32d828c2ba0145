import { Buckets } from './buckets.js';
import {
  BLOCK_FOLLOWED,
  BLOCK_MASK_OCTETS,
  BLOCK_MASKS,
  BLOCK_WIDE,
  MAX_BLOCK_RULES,
  RULE_END,
  RULE_IN_BLOCK,
  RULE_SINGLE,
  RULE_TEXT,
  RULE_TWO_FORMS,
} from './format.js';
import type { OrderedRules } from './ordered-rules.js';
import type { Pattern, Segment } from './pattern.js';
import { type RuleTexts, textForm } from './rule-texts.js';
import { type Width, writeNumber } from './width.js';
import { Windows } from './window.js';

/**
 * Blocks of fewer rules have no masks: to try them costs no more than to look for their windows.
 */
export const MIN_MASKED_RULES = 4;

/** Of a rule without segments, which has no windows. */
const ALL_BUCKETS = 255;

/**
 * Octets of a block besides its rules, at most: an octet, masks, an offset. And of a rule besides
 * its segments, its bucket and place included.
 */
const BLOCK_OCTETS = 1 + BLOCK_MASK_OCTETS + 4;
const RULE_OCTETS = 1 + 4 + 4 + 4 + 1 + 4 + 4;

/** Of these, what the number of a rule's octets counts: form, line and offset of its text. */
const COUNTED_OCTETS = 1 + 4 + 4;

/** The widths of an automaton's fields. */
export interface AutomatonWidths {
  line: Width;
  size: Width;
  offset: Width;
}

/**
 * An upper bound on the octets of all blocks of an automaton; each segment may be there in two
 * forms.
 */
export function maxBlockOctets(rules: OrderedRules): number {
  const numbers = 4 * rules.segmentCount;
  return rules.blockCount * (BLOCK_OCTETS + RULE_OCTETS) + numbers + rules.segmentOctets;
}

/**
 * The greatest number that a field marked `size` must hold for a rule: its rank, or its octets in
 * any width.
 */
export function greatestSize(pattern: Pattern, rank: number): number {
  let octets = 0;
  let numbers = 0;
  for (const { first, second } of pattern.segments) {
    octets += first.length + (pattern.twoForms ? (second ?? first).length : 0);
    numbers += pattern.twoForms ? 2 : 1;
  }
  octets += COUNTED_OCTETS;
  const narrow = octets + numbers;
  const wide = narrow <= 0xff ? narrow : octets + 2 * numbers;
  return Math.max(rank, wide);
}

/** Writes the rules that hang at one node besides its prefix rule. */
export class BlockWriter {
  readonly #windows = new Windows();
  readonly #buckets = new Buckets();
  /** Where the rules of a block begin, from the first one's start. */
  readonly #places = new Uint32Array(MAX_BLOCK_RULES);

  /**
   * Writes the blocks of these entries, by falling rank and rising line; returns the offset behind
   * them.
   */
  write(
    rules: OrderedRules,
    entries: Int32Array,
    count: number,
    out: Uint8Array,
    start: number,
    widths: AutomatonWidths,
    texts: RuleTexts,
  ): number {
    let at = start;
    for (let low = 0; low < count; low += MAX_BLOCK_RULES) {
      const high = Math.min(low + MAX_BLOCK_RULES, count);
      const head = at++;
      out[head] = (high - low - 1) | (high < count ? BLOCK_FOLLOWED : 0);
      if (high - low < MIN_MASKED_RULES) {
        for (let index = low; index < high; index++) {
          at = writeRule(rules, entries[index] as number, out, at, widths, texts);
        }
        continue;
      }
      out[head] |= BLOCK_MASKS;
      this.#dealBuckets(rules, entries, low, high);
      this.#buckets.writeMasks(out, at);
      at += BLOCK_MASK_OCTETS;
      for (let index = low; index < high; index++) {
        out[at++] = this.#bucketsOf(rules.pattern(entries[index] as number), index - low);
      }
      const octets = at;
      if (high < count) at += 1 << widths.offset;
      const rulesAt = at;
      // Written with room for places of any width, and moved to where the places end.
      const firstRule = rulesAt + ((high - low) << 2);
      let rule = firstRule;
      for (let index = low; index < high; index++) {
        this.#places[index - low] = rule - firstRule;
        rule = writeRule(rules, entries[index] as number, out, rule, widths, texts);
      }
      const isWide = (this.#places[high - low - 1] as number) > 0xff;
      if (isWide) out[head] |= BLOCK_WIDE;
      for (let index = low; index < high; index++) {
        at = writeNumber(out, at, this.#places[index - low] as number, isWide ? widths.offset : 0);
      }
      out.copyWithin(at, firstRule, rule);
      at += rule - firstRule;
      if (high < count) writeNumber(out, octets, at - rulesAt, widths.offset);
    }
    return at;
  }

  #bucketsOf({ segments }: Pattern, place: number): number {
    return segments.length === 0 ? ALL_BUCKETS : 1 << (this.#buckets.bucketOf[place] as number);
  }

  #dealBuckets(rules: OrderedRules, entries: Int32Array, low: number, high: number): void {
    const windows = this.#windows;
    this.#buckets.clear();
    for (let index = low; index < high; index++) {
      windows.choose(rules.pattern(entries[index] as number).segments);
      this.#buckets.addRule();
      for (let window = 0; window < windows.count; window++) {
        this.#buckets.addWindow(windows.octets, 3 * window);
      }
    }
    this.#buckets.deal();
  }
}

function writeRule(
  rules: OrderedRules,
  entry: number,
  out: Uint8Array,
  start: number,
  widths: AutomatonWidths,
  texts: RuleTexts,
): number {
  const pattern = rules.pattern(entry);
  const { segments, anchored, twoForms } = pattern;
  const rule = rules.rule(entry);
  const text = textForm(pattern, rule.pattern);
  const single = segments.length === 1 && !twoForms;
  const size = writeNumber(out, start, rules.ranks[entry] as number, widths.size);
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
    at = copy((segments[0] as Segment).first, out, at);
  } else {
    for (const { first, second } of segments) {
      at = writeOctets(first, out, at, widths.size);
      if (twoForms) at = writeOctets(second ?? first, out, at, widths.size);
    }
  }
  writeNumber(out, size, at - form, widths.size);
  return at;
}

function writeOctets(octets: Uint8Array, out: Uint8Array, start: number, width: Width): number {
  return copy(octets, out, writeNumber(out, start, octets.length, width));
}

function copy(octets: Uint8Array, out: Uint8Array, at: number): number {
  out.set(octets, at);
  return at + octets.length;
}
