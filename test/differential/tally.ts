import type { Profile } from '../../src/protocol/profile.js';
import type { RobotsFile } from '../../src/protocol/robots-file.js';
import { isEscape } from '../naive/octets.js';
import type { NaiveVerdict } from '../naive/verdict.js';

/** What must occur, so that agreement says something. */
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
  /** A rule that won by a reading of note A other than its own canonical form. */
  readonly noteAWon: number;
  /** An allow of an index page that won for its directory, as in google alone. */
  readonly indexWon: number;
  /** A rule that won only since a pattern may part an encoded octet of the URL. */
  readonly parted: number;
  /**
   * Of these, one that ends in a part of it; has a part of it before a `*`; has digits of it behind
   * a `*`.
   */
  readonly partedByEnd: number;
  readonly partedBeforeStar: number;
  readonly partedBehindStar: number;
}

export const NOTHING: Counts = {
  ...{ allow: 0, deny: 0, invalid: 0, noRule: 0, tie: 0 },
  ...{ asteriskWon: 0, dollarWon: 0, noteAWon: 0, indexWon: 0 },
  ...{ parted: 0, partedByEnd: 0, partedBeforeStar: 0, partedBehindStar: 0 },
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
  ...{ parted: 0.01, partedByEnd: 0.005, partedBeforeStar: 0.001, partedBehindStar: 0.002 },
};

/** The least share of all cases on hostile files and URLs. */
export const LEAST_SHARES: Readonly<Record<Profile, Counts>> = {
  rfc9309: RFC_LEAST,
  'draft-koster-rep-00': RFC_LEAST,
  google: { ...RFC_LEAST, invalid: 0, noteAWon: 0, indexWon: 0.00125 },
};

/** What came of cases, counted. */
export class Tally {
  cases = 0;
  readonly counts: Record<keyof Counts, number> = { ...NOTHING };

  /** Counts a case, by what the naive matcher says of it. */
  add({ verdict, line, tie, reading, parted }: NaiveVerdict, file: RobotsFile): void {
    const { counts } = this;
    this.cases++;
    counts[verdict]++;
    if (line === 0) {
      if (verdict === 'allow') counts.noRule++;
      return;
    }
    const rule = file.groups.flatMap(({ rules }) => rules).find((rule) => rule.line === line);
    const pattern = String.fromCharCode(...(rule?.pattern ?? []));
    if (tie) counts.tie++;
    if (pattern.includes('*')) counts.asteriskWon++;
    if (pattern.endsWith('$')) counts.dollarWon++;
    if (reading === 'query') counts.noteAWon++;
    if (reading === 'directory') counts.indexWon++;
    if (!parted) return;
    const [first = '', ...behind] = pattern.split('*');
    counts.parted++;
    if (endsInPart(behind.at(-1) ?? first)) counts.partedByEnd++;
    if ([first, ...behind].slice(0, -1).some(endsInPart)) counts.partedBeforeStar++;
    if (behind.some((literal) => isEscape(`%0${literal}`, 0))) counts.partedBehindStar++;
  }

  addAll({ cases, counts }: { cases: number; counts: Counts }): void {
    this.cases += cases;
    for (const name of namesOf(counts)) this.counts[name] += counts[name];
  }

  /** What occurred less often than it should have. */
  shortfalls(least: Counts): string[] {
    return namesOf(least)
      .filter((name) => this.counts[name] < least[name])
      .map((name) => `${name}: ${this.counts[name]} of at least ${least[name]}`);
  }
}

/** The shares of so many cases. */
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
