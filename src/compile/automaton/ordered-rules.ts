import { ASTERISK } from '../../ascii.js';
import type { Profile } from '../../protocol/profile.js';
import type { Rule } from '../../protocol/robots-file.js';
import { directoryPattern, type Pattern, parsePattern } from './pattern.js';
import { type Order, sortItems } from './sort.js';

/** Kinds of the part of a pattern after its prefix: nothing, `$`, segments, or segments and `$`. */
export const KIND_PREFIX = 0;
export const KIND_END = 1;
export const KIND_WILDCARDS = 2;
export const KIND_WILDCARDS_END = 3;

/** Precedes a segment's second form, for comparisons only. */
const SECOND_FORM = 0;

const INITIAL_ITEMS = 64;
const INITIAL_BYTES = 4096;

/** Number of bytes that a float64 holds exactly. */
const BEGINNING_BYTES = 6;

/**
 * The rules of a group in the order that an automaton needs: sorted by their patterns, with their
 * rank by RFC 9309 section 2.2.2. `load` replaces one group with the next.
 *
 * An item is a numbered pattern of a rule. Among items that match the same texts, only the deciding
 * one remains: most bytes, then allow, then the first line. The others could never decide.
 */
export class OrderedRules implements Order {
  /** Number of items that remain; the arrays hold more. */
  count = 0;
  /** The items that remain, by prefix, kind and the rest after the prefix. */
  sorted = new Int32Array(INITIAL_ITEMS);
  /** Rank of each item, `bytes << 1 | allow`. */
  ranks = new Int32Array(INITIAL_ITEMS);
  /** Start and end of each item's prefix in `bytes`. */
  start = new Int32Array(INITIAL_ITEMS);
  prefixEnd = new Int32Array(INITIAL_ITEMS);
  /** KIND_… of each item. */
  kind = new Uint8Array(INITIAL_ITEMS);
  bytes = new Uint8Array(INITIAL_BYTES);

  /** First and last line of the items that remain. */
  firstLine = 0;
  lastLine = 0;

  /** Totals of all loaded items, including those that do not remain. */
  prefixBytes = 0;
  segmentBytes = 0;
  segmentCount = 0;
  /** Number of items that have more than a prefix. */
  blockCount = 0;

  /** End in `bytes` of the rest after each item's prefix, spelt out for comparisons. */
  #end = new Int32Array(INITIAL_ITEMS);
  /** First bytes of each item's prefix as a number: most comparisons end there. */
  #beginnings = new Float64Array(INITIAL_ITEMS);
  #spare = new Int32Array(INITIAL_ITEMS);
  #patterns: Pattern[] = [];
  #rules: Rule[] = [];
  #loaded = 0;
  #used = 0;

  pattern(item: number): Pattern {
    return this.#patterns[item] as Pattern;
  }

  rule(item: number): Rule {
    return this.#rules[item] as Rule;
  }

  /** Loads the rules of a group, in the order of the file; omits rules that can match nothing. */
  load(rules: readonly Rule[], profile: Profile): void {
    this.#loaded = 0;
    this.#used = 0;
    this.prefixBytes = 0;
    this.segmentBytes = 0;
    this.segmentCount = 0;
    this.blockCount = 0;
    this.#reserveItems(profile === 'google' ? 2 * rules.length : rules.length);
    for (const rule of rules) {
      const pattern = parsePattern(rule.pattern, profile);
      if (pattern !== undefined) this.#add(pattern, rule);
      const directory = directoryPattern(rule, profile);
      if (directory !== undefined) this.#add(directory, rule);
    }
    this.#patterns.length = this.#loaded;
    this.#rules.length = this.#loaded;
    for (let item = 0; item < this.#loaded; item++) this.sorted[item] = item;
    sortItems(this.sorted, this.#spare, this.#loaded, this);
    this.#dropDominated();
  }

  #add(pattern: Pattern, rule: Rule): void {
    const item = this.#loaded++;
    const { prefix, segments, anchored } = pattern;
    let need = prefix.length;
    for (const { first, second } of segments) {
      const bytes = first.length + (second === undefined ? first.length : second.length);
      this.segmentBytes += bytes;
      need += bytes + 2;
    }
    const start = this.#used;
    this.#reserveBytes(start + need);
    const { bytes } = this;
    let at = copyAll(prefix, bytes, start);
    this.prefixBytes += prefix.length;
    this.prefixEnd[item] = at;
    this.#beginnings[item] = beginningOf(prefix);
    if (segments.length > 0) {
      this.segmentCount += 2 * segments.length;
      for (const { first } of segments) {
        bytes[at++] = ASTERISK;
        at = copyAll(first, bytes, at);
      }
      if (pattern.twoForms) {
        for (const { second } of segments) {
          bytes[at++] = SECOND_FORM;
          if (second !== undefined) at = copyAll(second, bytes, at);
        }
      }
      this.kind[item] = anchored ? KIND_WILDCARDS_END : KIND_WILDCARDS;
    } else {
      this.kind[item] = anchored ? KIND_END : KIND_PREFIX;
    }
    if (this.kind[item] !== KIND_PREFIX) this.blockCount++;
    this.start[item] = start;
    this.#end[item] = at;
    this.ranks[item] = (pattern.bytes << 1) | (rule.allow ? 1 : 0);
    this.#patterns[item] = pattern;
    this.#rules[item] = rule;
    this.#used = at;
  }

  /**
   * Compares by prefix, kind and rest. Items that match the same texts come by descending
   * precedence.
   */
  compare(a: number, b: number): number {
    const beginnings = (this.#beginnings[a] as number) - (this.#beginnings[b] as number);
    if (beginnings !== 0) return beginnings;
    const { bytes } = this;
    const startA = this.start[a] as number;
    const startB = this.start[b] as number;
    const prefixA = (this.prefixEnd[a] as number) - startA;
    const prefixB = (this.prefixEnd[b] as number) - startB;
    const prefix = Math.min(prefixA, prefixB);
    for (let at = 0; at < prefix; at++) {
      const difference = (bytes[startA + at] as number) - (bytes[startB + at] as number);
      if (difference !== 0) return difference;
    }
    if (prefixA !== prefixB) return prefixA - prefixB;
    const kind = (this.kind[a] as number) - (this.kind[b] as number);
    if (kind !== 0) return kind;
    const lengthA = (this.#end[a] as number) - startA;
    const lengthB = (this.#end[b] as number) - startB;
    if (lengthA !== lengthB) return lengthA - lengthB;
    for (let at = prefix; at < lengthA; at++) {
      const difference = (bytes[startA + at] as number) - (bytes[startB + at] as number);
      if (difference !== 0) return difference;
    }
    return (this.ranks[b] as number) - (this.ranks[a] as number) || a - b;
  }

  /**
   * Keeps the first item of each run in `sorted` that matches the same texts; finds the first and
   * last line.
   */
  #dropDominated(): void {
    const { sorted } = this;
    let count = 0;
    let first = Number.POSITIVE_INFINITY;
    let last = 0;
    for (let at = 0; at < this.#loaded; at++) {
      const item = sorted[at] as number;
      if (count > 0 && this.#matchesTheSame(sorted[count - 1] as number, item)) continue;
      sorted[count++] = item;
      const { line } = this.#rules[item] as Rule;
      if (line < first) first = line;
      if (line > last) last = line;
    }
    this.count = count;
    this.firstLine = first;
    this.lastLine = last;
  }

  #matchesTheSame(a: number, b: number): boolean {
    if (this.kind[a] !== this.kind[b]) return false;
    const { bytes } = this;
    const startA = this.start[a] as number;
    const startB = this.start[b] as number;
    const length = (this.#end[a] as number) - startA;
    if (length !== (this.#end[b] as number) - startB) return false;
    if ((this.prefixEnd[a] as number) - startA !== (this.prefixEnd[b] as number) - startB) {
      return false;
    }
    for (let at = length - 1; at >= 0; at--) {
      if (bytes[startA + at] !== bytes[startB + at]) return false;
    }
    return true;
  }

  #reserveItems(count: number): void {
    if (count <= this.sorted.length) return;
    const capacity = Math.max(count, 2 * this.sorted.length);
    this.sorted = new Int32Array(capacity);
    this.ranks = new Int32Array(capacity);
    this.start = new Int32Array(capacity);
    this.prefixEnd = new Int32Array(capacity);
    this.kind = new Uint8Array(capacity);
    this.#beginnings = new Float64Array(capacity);
    this.#end = new Int32Array(capacity);
    this.#spare = new Int32Array(capacity);
  }

  #reserveBytes(count: number): void {
    if (count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(count, 2 * this.bytes.length));
    grown.set(this.bytes);
    this.bytes = grown;
  }
}

/**
 * The first bytes of a prefix as a number, with zeros after the prefix's end. The numbers have the
 * order of the prefixes.
 */
function beginningOf(prefix: Uint8Array): number {
  let beginning = 0;
  for (let at = 0; at < BEGINNING_BYTES; at++) {
    beginning = 256 * beginning + (at < prefix.length ? (prefix[at] as number) : 0);
  }
  return beginning;
}

/** Copies all bytes; returns the offset after the copy. */
export function copyAll(from: Uint8Array, to: Uint8Array, at: number): number {
  return copyBytes(from, 0, from.length, to, at);
}

/**
 * Copies the bytes from `start` to `end`; returns the offset after the copy. For short patterns a
 * loop is faster than `set`.
 */
export function copyBytes(
  from: Uint8Array,
  start: number,
  end: number,
  to: Uint8Array,
  at: number,
): number {
  if (end - start > 64) to.set(from.subarray(start, end), at);
  else for (let index = start; index < end; index++) to[at + index - start] = from[index] as number;
  return at + end - start;
}
