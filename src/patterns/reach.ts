/**
 * Decides how much of a site some rules allow, by proof: everything, nothing or part of it.
 *
 * A rule is a language: the paths that it matches. In a witness of a rule, each `*` stands for one
 * byte that no pattern holds, and so does the free rest after a rule without `$`. A rule that
 * matches the witness of another rule must cover that byte with a `*`, so it matches whatever the
 * other rule matches. Hence:
 *
 * - Everything is allowed if an allow rule wins on the witness of each disallow rule. It wins on
 *   all paths of that disallow rule then, because it is at least as long.
 * - Nothing is allowed if a disallow rule wins on the witness of all paths, and on the witness of
 *   each allow rule.
 *
 * The reverse holds as well: the witness is a path like others to the rules, so if another rule
 * wins on it, there are paths where that rule wins. Such paths may not occur in URLs, if they need
 * a byte that no canonical path holds. So "all" and "none" are always true, and "part" is almost
 * always.
 */

import { Buffer } from 'node:buffer';
import { QUESTION_MARK, SLASH } from '../base/ascii.js';
import type { TablePattern } from '../view/table-content.js';

/** How much is allowed: everything, nothing but /robots.txt, or neither was proven. */
export type Reach = 'all' | 'part' | 'none';

/** What some rules say about a site. */
export interface RuleSummary {
  readonly reach: Reach;
  /** Number of rules that can decide. */
  readonly rules: number;
  /** The verdict on `/`. */
  readonly rootAllowed: boolean;
  /** The line of the rule that decides `/`; `undefined` if no rule matches it. */
  readonly rootLine: number | undefined;
}

/** Stands for any text in a witness. Canonical patterns are ASCII. */
export const ANYTHING = 0xff;

/** The summary looks at so many pairs of rules, for each rule; more prove nothing. */
export const PAIRS_PER_RULE = 1024;

/** Maximum segments of a rule whose readings in the query are told apart: see spec note A. */
const MAX_TWO_FORM_SEGMENTS = 32;

export const ROBOTS_TXT = Buffer.from('/robots.txt');
const ANY = Uint8Array.of(ANYTHING);
const ROOT = Buffer.from('/');
const ANY_PATH = Buffer.from([SLASH, ANYTHING]);
const NO_SEGMENTS: readonly Uint8Array[] = [];
const QUERY_START = Buffer.from([QUESTION_MARK]);

/** A reading of a pattern: literals that follow one another with any text between two. */
export interface Reading {
  readonly prefix: Uint8Array;
  readonly segments: readonly Uint8Array[];
  readonly isEnd: boolean;
}

/** A rule with the paths that it matches. */
export interface RankedRule {
  readonly rank: number;
  readonly line: number;
  readonly readings: readonly Reading[];
  /** Whether `readings` has all readings. */
  readonly isWhole: boolean;
}

/**
 * Summarises the rules of one group or of several.
 *
 * @param google whether the rules decide on /robots.txt too, as in the google profile
 */
export function summarise(patterns: readonly TablePattern[], google: boolean): RuleSummary {
  const rules = rankedRules(patterns);
  const root = rules.find((rule) => matches(rule, ROOT));
  return {
    reach: reachOf(rules, google),
    rules: rules.length - neverDeciding(rules, google),
    rootAllowed: root === undefined || isAllow(root),
    rootLine: root?.line,
  };
}

/** The rules, the one that wins first. */
export function rankedRules(patterns: readonly TablePattern[]): RankedRule[] {
  return patterns.map(ruleOf).sort((a, b) => b.rank - a.rank || a.line - b.line);
}

/**
 * Number of rules that never decide, because stronger rules match all of their witnesses. Literals
 * end before the free byte of a witness, so a stronger rule that matches it has a `*`; or it is
 * `/`, and the other one `*`. Only such rules are tried.
 *
 * @param rules the one that wins first
 * @param google whether the rules decide on /robots.txt too, as in the google profile
 */
function neverDeciding(rules: readonly RankedRule[], google: boolean): number {
  const pairs = { left: PAIRS_PER_RULE * rules.length };
  const stronger: RankedRule[] = [];
  let count = 0;
  for (const rule of rules) {
    const isNever = (path: Buffer): boolean =>
      (!google && path.equals(ROBOTS_TXT)) || winnerOn(stronger, path, pairs) !== undefined;
    if (rule.isWhole && rule.readings.flatMap(witnesses).every(isNever)) count++;
    if (mayCover(rule)) stronger.push(rule);
  }
  return count;
}

/** Whether a rule is longer than its literals, so that it holds a `*`, or is `/`. */
function mayCover({ rank, readings: [first] }: RankedRule): boolean {
  if (first === undefined) return false;
  const literals = first.prefix.length + (first.isEnd ? 1 : 0);
  return rank >>> 1 > literals || (literals === 1 && !first.isEnd);
}

/**
 * How much some rules allow.
 *
 * @param google whether the rules decide on /robots.txt too, as in the google profile
 */
export function reachOf(rules: readonly RankedRule[], google: boolean): Reach {
  const pairs = { left: PAIRS_PER_RULE * rules.length };
  /** Whether on each witness of `rule` a rule of the other kind wins. */
  const isOverridden = (rule: RankedRule, exempt: boolean): boolean => {
    if (!rule.isWhole) return false;
    return rule.readings.flatMap(witnesses).every((path) => {
      if (exempt && path.equals(ROBOTS_TXT)) return true;
      const winner = winnerOn(rules, path, pairs);
      return winner !== undefined && isAllow(winner) !== isAllow(rule);
    });
  };
  if (rules.every((rule) => isAllow(rule) || isOverridden(rule, !google))) return 'all';
  const ofAll = winnerOn(rules, ANY_PATH, pairs);
  if (ofAll === undefined || isAllow(ofAll)) return 'part';
  return rules.every((rule) => !isAllow(rule) || isOverridden(rule, true)) ? 'none' : 'part';
}

/** The rule that decides on a path; `undefined` if none matches, or too many pairs were tried. */
export function winnerOn(
  rules: readonly RankedRule[],
  path: Buffer,
  pairs: { left: number },
): RankedRule | undefined {
  for (const rule of rules) {
    if (pairs.left-- <= 0) return undefined;
    if (matches(rule, path)) return rule;
  }
  return undefined;
}

/** Whether a rule allows what it matches. */
export function isAllow({ rank }: RankedRule): boolean {
  return (rank & 1) !== 0;
}

function ruleOf({ rank, line, prefix, first, second, isEnd }: TablePattern): RankedRule {
  const readings: Reading[] = [{ prefix, segments: first, isEnd }];
  const others = second ?? NO_SEGMENTS;
  const isWhole = others.length <= MAX_TWO_FORM_SEGMENTS;
  for (let star = 0; isWhole && star < others.length; star++) {
    const inQuery = [...first.slice(0, star), QUERY_START, ...others.slice(star)];
    readings.push({ prefix, segments: inQuery, isEnd });
  }
  return { rank, line, readings, isWhole };
}

/** The witnesses of a reading: paths that stand for all paths that it matches. */
export function witnesses({ prefix, segments, isEnd }: Reading): Buffer[] {
  const rest: Uint8Array[] = segments.flatMap((segment) => [ANY, segment]);
  if (!isEnd) rest.push(ANY);
  if (prefix.length > 0) return [Buffer.concat([prefix, ...rest])];
  // A path begins with a slash, which the first `*` matches or the first literal holds.
  const afterSlash = Buffer.concat([ROOT, ...rest]);
  return segments[0]?.[0] === SLASH ? [afterSlash, Buffer.concat(rest.slice(1))] : [afterSlash];
}

function matches({ readings }: RankedRule, path: Buffer): boolean {
  for (const reading of readings) if (reads(reading, path)) return true;
  return false;
}

function reads({ prefix, segments, isEnd }: Reading, path: Buffer): boolean {
  if (path.length < prefix.length) return false;
  for (let at = 0; at < prefix.length; at++) if (path[at] !== prefix[at]) return false;
  let at = prefix.length;
  const last = segments.length - 1;
  for (let index = 0; index < segments.length; index++) {
    const segment = segments[index] as Uint8Array;
    if (isEnd && index === last) {
      const start = path.length - segment.length;
      return start >= at && path.compare(segment, 0, segment.length, start) === 0;
    }
    const found = path.indexOf(segment, at);
    if (found < 0) return false;
    at = found + segment.length;
  }
  return !isEnd || at === path.length;
} /**
 * Remembers a value for each of many pairs of whole numbers. Its memory is fixed: a pair takes the
 * place of another one with the same hash.
 *
 * A value is kept when its pair comes for the second time. Most pairs of many tables come once, and
 * values that are kept for a while cost the garbage collector more than those that are not.
 */
export class PairCache<Value> {
  readonly #mask: number;
  readonly #one: Float64Array;
  readonly #other: Float64Array;
  readonly #values: (Value | undefined)[];

  /** @param bits binary logarithm of the number of pairs that are kept, at most 16 */
  constructor(bits: number) {
    const places = 1 << bits;
    this.#mask = places - 1;
    this.#one = new Float64Array(places);
    this.#other = new Float64Array(places);
    this.#values = new Array(places).fill(undefined);
  }

  /**
   * The value of a pair; computes it if it is not known.
   *
   * @param keeps whether a value that was computed may be kept
   */
  of(
    one: number,
    other: number,
    compute: () => Value,
    keeps: (value: Value) => boolean = () => true,
  ): Value {
    const hash = Math.imul(one, 0x9e3779b1) ^ Math.imul(other, 0x85ebca6b);
    const place = (hash ^ (hash >>> 16)) & this.#mask;
    if (this.#one[place] !== one || this.#other[place] !== other) {
      this.#one[place] = one;
      this.#other[place] = other;
      this.#values[place] = undefined;
      return compute();
    }
    const known = this.#values[place];
    if (known !== undefined) return known;
    const value = compute();
    if (keeps(value)) this.#values[place] = value;
    return value;
  }
}
