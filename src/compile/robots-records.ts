import type { RobotsRecord } from './compiled-robots.js';
import { GROUP_LINE, GROUP_OCTETS, ROBOTS_WIDE } from './format.js';
import type { TokenNumbers } from './token-numbers.js';

/**
 * What a robots record with numbers of two octets can be, and how many product tokens there are at
 * most: none has the number 0xffff.
 */
const MAX_NARROW = 0xffff;

/** Writes robots records as a table has them, one at a time. */
export class RobotsRecords {
  /** Octets of the record. */
  octets = 0;
  readonly #tokens: TokenNumbers;
  #record: RobotsRecord | undefined;
  /** The places of the record's tokens, so that their numbers in the table rise. */
  #places: number[] = [];
  #isWide = false;
  /** For the lists of groups that were written where they start in the window. */
  readonly #listStarts = new Map<number, number>();

  constructor(tokens: TokenNumbers) {
    this.#tokens = tokens;
  }

  /** Takes the record that is next. */
  load(record: RobotsRecord): void {
    const tokens = this.#tokens;
    const places = this.#places;
    places.length = 0;
    let rises = true;
    let last = -1;
    for (let place = 0; place < record.tokenCount; place++) {
      places.push(place);
      const number = tokens.number(record.token(place));
      if (number < last) rises = false;
      last = number;
    }
    if (!rises) {
      const numberAt = (place: number): number => tokens.number(record.token(place));
      places.sort((a, b) => numberAt(a) - numberAt(b));
    }
    const narrow = octetsWith(2, record);
    this.#record = record;
    this.#isWide = tokens.count > MAX_NARROW || narrow > MAX_NARROW;
    this.octets = this.#isWide ? octetsWith(4, record) : narrow;
  }

  /**
   * Tells the automata that the record names, by their numbers, in its order; some of them maybe
   * more than once.
   */
  eachAutomaton(visit: (automaton: number) => void): void {
    const record = this.#record as RobotsRecord;
    let last = -1;
    for (const place of this.#places) {
      const list = record.list(place);
      if (list === last) continue;
      last = list;
      const groups = record.groupCount(list);
      for (let group = 0; group < groups; group++) {
        const automaton = record.automaton(list, group) - 1;
        if (automaton >= 0) visit(automaton);
      }
    }
  }

  /**
   * Writes the record.
   *
   * @param start where in the window
   * @param automatonStart where in the table an automaton lies, by its number
   */
  write(out: DataView, start: number, automatonStart: (automaton: number) => number): void {
    const record = this.#record as RobotsRecord;
    const { tokenCount } = record;
    const isWide = this.#isWide;
    const width = isWide ? 4 : 2;
    out.setUint8(start, record.access | (isWide ? ROBOTS_WIDE : 0));
    writeWord(out, isWide, start + 1, tokenCount);
    let number = start + 1 + width;
    let next = number + 2 * width * tokenCount;
    this.#listStarts.clear();
    for (const place of this.#places) {
      const list = record.list(place);
      let listStart = this.#listStarts.get(list);
      if (listStart === undefined) {
        listStart = next;
        this.#listStarts.set(list, next);
        next = writeGroups(record, list, out, next, automatonStart);
      }
      writeWord(out, isWide, number, this.#tokens.number(record.token(place)));
      writeWord(out, isWide, number + width * tokenCount, listStart - start);
      number += width;
    }
  }
}

/** Octets of a robots record whose numbers have so many. */
function octetsWith(width: number, record: RobotsRecord): number {
  return 1 + width + 2 * width * record.tokenCount + GROUP_OCTETS * record.allGroups;
}

function writeWord(out: DataView, isWide: boolean, at: number, word: number): void {
  if (isWide) out.setUint32(at, word, true);
  else out.setUint16(at, word, true);
}

/** Writes a list of groups; returns the offset behind it. */
function writeGroups(
  record: RobotsRecord,
  list: number,
  out: DataView,
  at: number,
  automatonStart: (automaton: number) => number,
): number {
  const groups = record.groupCount(list);
  for (let group = 0; group < groups; group++) {
    const automaton = record.automaton(list, group) - 1;
    if (automaton >= 0) out.setUint32(at, automatonStart(automaton), true);
    const more = group + 1 < groups ? 1 : 0;
    out.setUint32(at + GROUP_LINE, 2 * record.firstLine(list, group) + more, true);
    at += GROUP_OCTETS;
  }
  return at;
}
