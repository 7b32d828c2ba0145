/** The versions of the robots.txt files of authorities, for tables with histories. */

import { Uint32List } from './byte-store.js';

/** Words of a version: the version added before it plus one, its date, body, source, number. */
const WORDS = 5;
const WORD_BEFORE = 0;
const WORD_DATE = 1;
const WORD_BODY = 2;
const WORD_SOURCE = 3;
const WORD_SOURCE_NUMBER = 4;

/** A version of the robots.txt of an authority. */
export interface Version {
  /** From when on it is in force, in seconds since 1970. */
  readonly date: number;
  /** When it was found for the last time: not before `date`, and before the next version. */
  readonly confirmed: number;
  /** The number of the body among those of the contents: BODY_… or FIRST_BODY and more. */
  readonly body: number;
  /** Template and number of the source: see SourceTemplates. */
  readonly source: number;
  readonly sourceNumber: number;
  /**
   * Whether its source found the same before, and another source found something else in between.
   * When the same was in force again is then not known: only when it was found for the last time.
   */
  readonly isInterrupted: boolean;
}

/** A robots.txt that was found. */
interface Found extends Omit<Version, 'confirmed' | 'isInterrupted'> {
  /** Whether its source found the same before, and does not say what it found in between. */
  readonly isAgain?: boolean | undefined;
}

/** Set in the word of a body that was found again. */
const AGAIN = 2 ** 31;

/**
 * All versions of all authorities, in the order in which they were added. They take 20 bytes each;
 * no version has an object.
 */
export class Histories {
  readonly #words = new Uint32List();
  /** For each authority the version that was added last, plus one. */
  readonly #last = new Uint32List();
  #count = 0;

  add(authority: number, { date, body, source, sourceNumber, isAgain }: Found): void {
    const words = this.#words;
    words.push(this.#last.get(authority));
    words.push(date);
    words.push(isAgain === true ? body + AGAIN : body);
    words.push(source);
    words.push(sourceNumber);
    this.#last.set(authority, ++this.#count);
  }

  /**
   * The versions of an authority by rising date. Of several with one date the last one counts;
   * neighbours with the same robots record are one version, from the first to the last.
   *
   * @param others other authorities whose versions count too
   * @param overrides whether the others count only until the authority has its first version
   * @param robotsOf the robots record of a body
   */
  of(
    authority: number,
    {
      others,
      overrides,
      robotsOf,
    }: {
      readonly others: readonly number[];
      readonly overrides: boolean;
      readonly robotsOf: (body: number) => number;
    },
  ): Version[] {
    const added = [...this.#added(authority)];
    const first = added.reduce((least, { date }) => Math.min(least, date), 0xffff_ffff);
    for (const other of others) {
      for (const version of this.#added(other)) {
        if (!overrides || version.date < first) added.push(version);
      }
    }
    added.sort((a, b) => a.date - b.date || b.order - a.order);
    const versions: (Found & { confirmed: number; isInterrupted: boolean })[] = [];
    let date: number | undefined;
    for (const version of added) {
      // Of one date, the version that was added last comes first.
      if (version.date === date) {
        const older = versions.at(-1)?.date === date ? versions.at(-2) : undefined;
        // The version before was found again in the second in which this one began.
        if (older && robotsOf(older.body) === robotsOf(version.body)) older.confirmed = date - 1;
        continue;
      }
      date = version.date;
      const before = versions.at(-1);
      if (before && robotsOf(before.body) === robotsOf(version.body)) before.confirmed = date;
      else versions.push({ ...version, confirmed: date, isInterrupted: version.isAgain === true });
    }
    return versions;
  }

  *#added(authority: number): Generator<Found & { readonly order: number }, undefined> {
    for (let next = this.#last.get(authority); next > 0; next = this.#word(next, WORD_BEFORE)) {
      const body = this.#word(next, WORD_BODY);
      yield {
        order: next,
        date: this.#word(next, WORD_DATE),
        body: body % AGAIN,
        isAgain: body >= AGAIN,
        source: this.#word(next, WORD_SOURCE),
        sourceNumber: this.#word(next, WORD_SOURCE_NUMBER),
      };
    }
  }

  /** A word of the version with this number, from 1 on. */
  #word(version: number, word: number): number {
    return this.#words.get(WORDS * (version - 1) + word);
  }
}
