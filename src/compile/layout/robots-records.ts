import { GROUP_BYTES, GROUP_LINE, ROBOTS_WIDE } from '../../table/format.js';
import type { RobotsRecord } from '../robots-record.js';
import type { TokenNumbers } from './token-numbers.js';

/**
 * Greatest length of a robots record, and greatest number of product tokens, for numbers of two
 * bytes.
 */
const MAX_NARROW = 0xffff;

/** Writes robots records of a table, one at a time. */
export class RobotsRecords {
  /** Length of the current record. */
  bytes = 0;
  readonly #tokens: TokenNumbers;
  #record: RobotsRecord | undefined;
  /** Indices of the record's tokens, by ascending number in the table. */
  #indices: number[] = [];
  #isWide = false;
  /** Offset in the record of each written list of groups, by the number of the list; 0 if not. */
  #listStarts = new Uint32Array(0);

  constructor(tokens: TokenNumbers) {
    this.#tokens = tokens;
  }

  /** Begins a record. */
  load(record: RobotsRecord): void {
    const tokens = this.#tokens;
    const indices = this.#indices;
    indices.length = 0;
    let rises = true;
    let last = -1;
    for (let index = 0; index < record.tokenCount; index++) {
      indices.push(index);
      const number = tokens.number(record.token(index));
      if (number < last) rises = false;
      last = number;
    }
    if (!rises) {
      const numberAt = (index: number): number => tokens.number(record.token(index));
      indices.sort((a, b) => numberAt(a) - numberAt(b));
    }
    const narrow = bytesWith(2, record);
    this.#record = record;
    this.#isWide = tokens.count > MAX_NARROW || narrow > MAX_NARROW;
    this.bytes = this.#isWide ? bytesWith(4, record) : narrow;
  }

  /**
   * Calls `visit` for the automata of the record, in order; perhaps several times for one
   * automaton.
   */
  eachAutomaton(visit: (automaton: number) => void): void {
    const record = this.#record as RobotsRecord;
    let last = -1;
    for (const index of this.#indices) {
      const list = record.list(index);
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
   * @param start offset in the chunk
   * @param automatonStart offset in the table of an automaton
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
    const listStarts = this.#emptyListStarts(record.wordCount);
    for (const index of this.#indices) {
      const list = record.list(index);
      if (listStarts[list] === 0) {
        listStarts[list] = next - start;
        next = writeGroups(record, list, out, next, automatonStart);
      }
      writeWord(out, isWide, number, this.#tokens.number(record.token(index)));
      writeWord(out, isWide, number + width * tokenCount, listStarts[list] as number);
      number += width;
    }
  }

  /** Numbers of lists are less than `words`. */
  #emptyListStarts(words: number): Uint32Array {
    if (this.#listStarts.length < words) this.#listStarts = new Uint32Array(2 * words);
    else this.#listStarts.fill(0, 0, words);
    return this.#listStarts;
  }
}

/** Length of a robots record with numbers of `width` bytes. */
function bytesWith(width: number, record: RobotsRecord): number {
  return 1 + width + 2 * width * record.tokenCount + GROUP_BYTES * record.allGroups;
}

function writeWord(out: DataView, isWide: boolean, at: number, word: number): void {
  if (isWide) out.setUint32(at, word, true);
  else out.setUint16(at, word, true);
}

/** Writes a list of groups; returns the offset after it. */
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
    out.setUint32(at, automaton < 0 ? 0 : automatonStart(automaton), true);
    const more = group + 1 < groups ? 1 : 0;
    out.setUint32(at + GROUP_LINE, 2 * record.firstLine(list, group) + more, true);
    at += GROUP_BYTES;
  }
  return at;
}
