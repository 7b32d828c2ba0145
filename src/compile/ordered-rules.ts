import type { Profile } from '../protocol/profile.js';
import type { Rule } from '../protocol/robots-file.js';
import { directoryPattern, type Pattern, parsePattern } from './pattern.js';
import { type Order, sortItems } from './sort.js';

/**
 * How a pattern goes on behind its prefix: not at all, with `$`, with segments, with segments and
 * `$`.
 */
export const KIND_PREFIX = 0;
export const KIND_END = 1;
export const KIND_WILDCARDS = 2;
export const KIND_WILDCARDS_END = 3;

const ASTERISK = 0x2a;

/**
 * Stands before a segment's second form. Only comparisons see it, and they know how many octets
 * there are.
 */
const SECOND_FORM = 0;

const INITIAL_ENTRIES = 64;
const INITIAL_OCTETS = 4096;

/** As many as a float64 holds exactly. */
const BEGINNING_OCTETS = 6;

/**
 * The rules of one group as an automaton needs them: each pattern once, sorted by its octets, and
 * with its place in the precedence of RFC 9309 section 2.2.2. Used again for group after group:
 * `load` forgets what was there.
 *
 * An entry is one pattern of a rule, known by its number. Of entries that match the same texts only
 * the one that decides is left: most octets, else allow, else the first line. No other could ever
 * be the greatest match.
 */
export class OrderedRules implements Order {
  /** How many entries are left; the arrays hold more. */
  count = 0;
  /** The entries that are left, by prefix, kind and what follows the prefix. */
  sorted = new Int32Array(INITIAL_ENTRIES);
  /** For each entry its rank, `octets << 1 | allow`. */
  ranks = new Int32Array(INITIAL_ENTRIES);
  /** For each entry where its prefix starts and ends in `octets`. */
  start = new Int32Array(INITIAL_ENTRIES);
  prefixEnd = new Int32Array(INITIAL_ENTRIES);
  /** For each entry its KIND_…. */
  kind = new Uint8Array(INITIAL_ENTRIES);
  octets = new Uint8Array(INITIAL_OCTETS);

  /** The lines of the entries that are left lie between these. */
  firstLine = 0;
  lastLine = 0;

  /** What all entries as loaded come to, those included that are not left. */
  prefixOctets = 0;
  segmentOctets = 0;
  segmentCount = 0;
  /** Of those that are more than a prefix. */
  blockCount = 0;

  /**
   * For each entry where in `octets` the rest ends that follows its prefix, spelt out for
   * comparisons.
   */
  #end = new Int32Array(INITIAL_ENTRIES);
  /** For each entry the first octets of its prefix as a number: most comparisons end there. */
  #beginnings = new Float64Array(INITIAL_ENTRIES);
  #spare = new Int32Array(INITIAL_ENTRIES);
  #patterns: Pattern[] = [];
  #rules: Rule[] = [];
  #loaded = 0;
  #used = 0;

  pattern(entry: number): Pattern {
    return this.#patterns[entry] as Pattern;
  }

  rule(entry: number): Rule {
    return this.#rules[entry] as Rule;
  }

  /** Takes the rules of a group, in the order of the file. What can match nothing is left out. */
  load(rules: readonly Rule[], profile: Profile): void {
    this.#loaded = 0;
    this.#used = 0;
    this.prefixOctets = 0;
    this.segmentOctets = 0;
    this.segmentCount = 0;
    this.blockCount = 0;
    this.#reserveEntries(profile === 'google' ? 2 * rules.length : rules.length);
    for (const rule of rules) {
      const pattern = parsePattern(rule.pattern, profile);
      if (pattern !== undefined) this.#add(pattern, rule);
      const directory = directoryPattern(rule, profile);
      if (directory !== undefined) this.#add(directory, rule);
    }
    this.#patterns.length = this.#loaded;
    this.#rules.length = this.#loaded;
    for (let entry = 0; entry < this.#loaded; entry++) this.sorted[entry] = entry;
    sortItems(this.sorted, this.#spare, this.#loaded, this);
    this.#dropDominated();
  }

  #add(pattern: Pattern, rule: Rule): void {
    const entry = this.#loaded++;
    const { prefix, segments, anchored } = pattern;
    let need = prefix.length;
    for (const { first, second } of segments) {
      const octets = first.length + (second === undefined ? first.length : second.length);
      this.segmentOctets += octets;
      need += octets + 2;
    }
    const start = this.#used;
    this.#reserveOctets(start + need);
    const { octets } = this;
    let at = copy(prefix, octets, start);
    this.prefixOctets += prefix.length;
    this.prefixEnd[entry] = at;
    this.#beginnings[entry] = beginningOf(prefix);
    if (segments.length > 0) {
      this.segmentCount += 2 * segments.length;
      for (const { first } of segments) {
        octets[at++] = ASTERISK;
        at = copy(first, octets, at);
      }
      if (pattern.twoForms) {
        for (const { second } of segments) {
          octets[at++] = SECOND_FORM;
          if (second !== undefined) at = copy(second, octets, at);
        }
      }
      this.kind[entry] = anchored ? KIND_WILDCARDS_END : KIND_WILDCARDS;
    } else {
      this.kind[entry] = anchored ? KIND_END : KIND_PREFIX;
    }
    if (this.kind[entry] !== KIND_PREFIX) this.blockCount++;
    this.start[entry] = start;
    this.#end[entry] = at;
    this.ranks[entry] = (pattern.octets << 1) | (rule.allow ? 1 : 0);
    this.#patterns[entry] = pattern;
    this.#rules[entry] = rule;
    this.#used = at;
  }

  /** By prefix, kind and rest; what matches the same texts comes by falling precedence. */
  compare(a: number, b: number): number {
    const beginnings = (this.#beginnings[a] as number) - (this.#beginnings[b] as number);
    if (beginnings !== 0) return beginnings;
    const { octets } = this;
    const startA = this.start[a] as number;
    const startB = this.start[b] as number;
    const prefixA = (this.prefixEnd[a] as number) - startA;
    const prefixB = (this.prefixEnd[b] as number) - startB;
    const prefix = Math.min(prefixA, prefixB);
    for (let at = 0; at < prefix; at++) {
      const difference = (octets[startA + at] as number) - (octets[startB + at] as number);
      if (difference !== 0) return difference;
    }
    if (prefixA !== prefixB) return prefixA - prefixB;
    const kind = (this.kind[a] as number) - (this.kind[b] as number);
    if (kind !== 0) return kind;
    const lengthA = (this.#end[a] as number) - startA;
    const lengthB = (this.#end[b] as number) - startB;
    if (lengthA !== lengthB) return lengthA - lengthB;
    for (let at = prefix; at < lengthA; at++) {
      const difference = (octets[startA + at] as number) - (octets[startB + at] as number);
      if (difference !== 0) return difference;
    }
    return (this.ranks[b] as number) - (this.ranks[a] as number) || a - b;
  }

  /**
   * Leaves of each run of `sorted` that matches the same texts the first, and finds the lines that
   * are left.
   */
  #dropDominated(): void {
    const { sorted } = this;
    let count = 0;
    let first = Number.POSITIVE_INFINITY;
    let last = 0;
    for (let at = 0; at < this.#loaded; at++) {
      const entry = sorted[at] as number;
      if (count > 0 && this.#matchesTheSame(sorted[count - 1] as number, entry)) continue;
      sorted[count++] = entry;
      const { line } = this.#rules[entry] as Rule;
      if (line < first) first = line;
      if (line > last) last = line;
    }
    this.count = count;
    this.firstLine = first;
    this.lastLine = last;
  }

  #matchesTheSame(a: number, b: number): boolean {
    if (this.kind[a] !== this.kind[b]) return false;
    const { octets } = this;
    const startA = this.start[a] as number;
    const startB = this.start[b] as number;
    const length = (this.#end[a] as number) - startA;
    if (length !== (this.#end[b] as number) - startB) return false;
    if ((this.prefixEnd[a] as number) - startA !== (this.prefixEnd[b] as number) - startB) {
      return false;
    }
    for (let at = length - 1; at >= 0; at--) {
      if (octets[startA + at] !== octets[startB + at]) return false;
    }
    return true;
  }

  #reserveEntries(count: number): void {
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

  #reserveOctets(count: number): void {
    if (count <= this.octets.length) return;
    const grown = new Uint8Array(Math.max(count, 2 * this.octets.length));
    grown.set(this.octets);
    this.octets = grown;
  }
}

/**
 * The first octets of a prefix as a number, zeros behind its end: in the order of the prefixes, as
 * far as it tells them apart.
 */
function beginningOf(prefix: Uint8Array): number {
  let beginning = 0;
  for (let at = 0; at < BEGINNING_OCTETS; at++) {
    beginning = 256 * beginning + (at < prefix.length ? (prefix[at] as number) : 0);
  }
  return beginning;
}

/**
 * Copies all of `from`; returns the offset behind it. Patterns are short: a loop beats a call of
 * `set`.
 */
function copy(from: Uint8Array, to: Uint8Array, start: number): number {
  const { length } = from;
  if (length > 64) {
    to.set(from, start);
  } else {
    for (let at = 0; at < length; at++) to[start + at] = from[at] as number;
  }
  return start + length;
}
