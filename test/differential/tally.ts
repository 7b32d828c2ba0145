import { isEscape } from '../../oracle/bytes.js';
import { type OracleGroup, ruleOf } from '../../oracle/robots.js';
import type { OracleVerdict } from '../../oracle/verdict.js';
import type { Profile } from '../../src/protocol/verdict.js';

/** The situations that must occur; otherwise agreement proves nothing. */
export interface Counts {
  readonly allow: number;
  readonly deny: number;
  readonly invalid: number;
  /** No rule matched, or the file has no group for the crawler. */
  readonly noRule: number;
  /** An allow that won over a disallow of the same length. */
  readonly tie: number;
  readonly asteriskWon: number;
  readonly dollarWon: number;
  /** A rule that won by another reading of note A than its own canonical form. */
  readonly noteAWon: number;
  /** An allow of an index page that won for its directory, as only in google. */
  readonly indexWon: number;
  /** A rule that won only because a pattern may split an encoded byte of the URL. */
  readonly splitByte: number;
  /**
   * Among these: a rule that ends in a part of the byte; has a part of the byte before a `*`; has
   * digits of the byte after a `*`.
   */
  readonly splitByteAtEnd: number;
  readonly splitByteBeforeStar: number;
  readonly splitByteAfterStar: number;
}

export const NOTHING: Counts = {
  ...{ allow: 0, deny: 0, invalid: 0, noRule: 0, tie: 0 },
  ...{ asteriskWon: 0, dollarWon: 0, noteAWon: 0, indexWon: 0 },
  ...{ splitByte: 0, splitByteAtEnd: 0, splitByteBeforeStar: 0, splitByteAfterStar: 0 },
};

const RFC_LEAST: Counts = {
  allow: 0.5,
  deny: 0.15,
  invalid: 0.02,
  noRule: 0.25,
  tie: 0.025,
  asteriskWon: 0.2,
  dollarWon: 0.0375,
  noteAWon: 0.00875,
  indexWon: 0,
  ...{
    splitByte: 0.01,
    splitByteAtEnd: 0.005,
    splitByteBeforeStar: 0.001,
    splitByteAfterStar: 0.002,
  },
};

/** The minimum share of all cases on hostile files and URLs. */
export const LEAST_SHARES: Readonly<Record<Profile, Counts>> = {
  rfc9309: RFC_LEAST,
  'draft-koster-rep-00': RFC_LEAST,
  google: { ...RFC_LEAST, invalid: 0, noteAWon: 0, indexWon: 0.00125 },
};

/** The counted results of cases. */
export class Tally {
  cases = 0;
  readonly counts: Record<keyof Counts, number> = { ...NOTHING };

  /** Counts a case, by the answer of the naive matcher. */
  add(
    { verdict, line, tie, reading, splitByte }: OracleVerdict,
    groups: readonly OracleGroup[],
  ): void {
    const { counts } = this;
    this.cases++;
    counts[verdict]++;
    if (line === 0) {
      if (verdict === 'allow') counts.noRule++;
      return;
    }
    const pattern = ruleOf(groups, line)?.pattern ?? '';
    if (tie) counts.tie++;
    if (pattern.includes('*')) counts.asteriskWon++;
    if (pattern.endsWith('$')) counts.dollarWon++;
    if (reading === 'query') counts.noteAWon++;
    if (reading === 'directory') counts.indexWon++;
    if (!splitByte) return;
    const [first = '', ...after] = pattern.split('*');
    counts.splitByte++;
    if (endsInPart(after.at(-1) ?? first)) counts.splitByteAtEnd++;
    if ([first, ...after].slice(0, -1).some(endsInPart)) counts.splitByteBeforeStar++;
    if (after.some((literal) => isEscape(`%0${literal}`, 0))) counts.splitByteAfterStar++;
  }

  addAll({ cases, counts }: { cases: number; counts: Counts }): void {
    this.cases += cases;
    for (const name of namesOf(counts)) this.counts[name] += counts[name];
  }

  /** The situations that occurred too rarely. */
  shortfalls(least: Counts): string[] {
    return namesOf(least)
      .filter((name) => this.counts[name] < least[name])
      .map((name) => `${name}: ${this.counts[name]} of at least ${least[name]}`);
  }
}

/** The shares among this many cases. */
export function leastOf(profile: Profile, cases: number): Counts {
  const least: Record<keyof Counts, number> = { ...LEAST_SHARES[profile] };
  for (const name of namesOf(least)) least[name] = Math.floor(least[name] * cases);
  return least;
}

function namesOf(counts: Counts): (keyof Counts)[] {
  return Object.keys(counts) as (keyof Counts)[];
}

/** Whether a text ends in `%`, or in `%` and one digit. */
function endsInPart(text: string): boolean {
  return text.endsWith('%') || isEscape(`${text.slice(-2)}0`, 0);
}
