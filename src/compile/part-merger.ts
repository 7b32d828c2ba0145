/**
 * Merges parts into a table. A part numbers its bodies, records and strings for itself, so each
 * number is translated here.
 */

import type { WarningCode } from '../protocol/robots-file.js';
import { GROWTH_WORDS, StoreMerger, Uint32List, WORD_HASH } from './byte-store.js';
import { type CompiledGrowth, type CompiledRobots, RobotsRecord } from './compiled-robots.js';
import type { FirstSource, TableContents } from './table-contents.js';
import {
  COMPILED_ELSEWHERE,
  countEntries,
  ENTRY_AGAIN,
  ENTRY_BODY,
  ENTRY_BODY_BYTES,
  ENTRY_DATE,
  ENTRY_GUESS,
  ENTRY_KEY,
  ENTRY_SOURCE,
  ENTRY_SOURCE_NUMBER,
  ENTRY_WORDS,
  FIRST_BODY,
  type TablePart,
} from './table-part.js';

/** Merges the parts of one PartBuilder into the contents of a table. */
export class PartMerger {
  readonly #contents: TableContents;
  readonly #robots: RobotsMerger;
  /** The place of the digest of each body of the parts, GROWTH_WORDS for each. */
  readonly #digests = new Uint32List();
  readonly #digestChunks: number[] = [];
  /** The robots record, among the contents, of each body; or COMPILED_ELSEWHERE. */
  readonly #robotsRecords = new Uint32List();
  /** The list of other records, among the contents, of each body, plus one; or 0. */
  readonly #recordLists = new Uint32List();
  readonly #warnings = new Map<number, readonly WarningCode[]>();
  /** The number, among the contents, of each body of the parts; 0 until an entry needs it. */
  readonly #bodies = new Uint32List();
  readonly #keyChunks: number[] = [];
  readonly #sourceChunks: number[] = [];

  constructor(contents: TableContents) {
    this.#contents = contents;
    this.#robots = new RobotsMerger(contents.compiled);
  }

  /**
   * Receives everything of a part except its entries. Parts must come in the order in which they
   * were taken; their entries may wait.
   */
  receive(part: TablePart): void {
    const { digests, authorities, sources } = this.#contents;
    this.#robots.merge(part.compiled);
    for (const chunk of part.digests.chunks) this.#digestChunks.push(digests.adopt(chunk));
    for (const word of part.digests.items) this.#digests.push(word);
    for (const record of part.robotsRecords) {
      this.#robotsRecords.push(
        record === COMPILED_ELSEWHERE ? COMPILED_ELSEWHERE : this.#robots.records.get(record),
      );
    }
    for (const list of part.recordLists) {
      this.#recordLists.push(list === 0 ? 0 : this.#robots.recordLists.get(list - 1) + 1);
    }
    for (const [body, codes] of part.warnings) this.#warnings.set(body, codes);
    for (const chunk of part.strings) {
      this.#keyChunks.push(authorities.keys.adopt(chunk));
      this.#sourceChunks.push(sources.adopt(chunk));
    }
    this.#contents.files += part.files;
    this.#contents.bytes += part.bytes;
  }

  /**
   * Adds the entries of a part from one index to another, by default all. If two entries count
   * for the same scheme and port, the later one wins, unless only the earlier one names the scheme.
   */
  add(part: TablePart, from = 0, to = countEntries(part)): void {
    const { entries } = part;
    const { authorities, digests, sources } = this.#contents;
    const [start, end] = [from * ENTRY_WORDS, to * ENTRY_WORDS];
    authorities.keys.prefetchSlots(entries, start + ENTRY_KEY + WORD_HASH, end, ENTRY_WORDS);
    if (from === 0 && to > 0) {
      const { items } = part.digests;
      digests.prefetchSlots(items, WORD_HASH, items.length, GROWTH_WORDS);
    }
    for (let at = start; at < end; at += ENTRY_WORDS) {
      const word = (index: number): number => entries[at + index] as number;
      if (this.#contents.keepsHistories && word(ENTRY_DATE) === 0) {
        this.#contents.undated++;
        continue;
      }
      const template = sources.addAt(
        this.#sourceChunks[word(ENTRY_SOURCE)] as number,
        word(ENTRY_SOURCE + 1),
        word(ENTRY_SOURCE + 2),
        word(ENTRY_SOURCE + 3) | 0,
      );
      const authority = authorities.keys.addAt(
        this.#keyChunks[word(ENTRY_KEY)] as number,
        word(ENTRY_KEY + 1),
        word(ENTRY_KEY + 2),
        word(ENTRY_KEY + 3) | 0,
      );
      const number = word(ENTRY_SOURCE_NUMBER);
      const body = word(ENTRY_BODY);
      const overrides = authorities.set(authority, {
        body: this.#body(body % ENTRY_GUESS, { template, number, authority }),
        isAgain: body >= ENTRY_AGAIN,
        isGuess: body % ENTRY_AGAIN >= ENTRY_GUESS,
        source: template,
        sourceNumber: number,
        bodyBytes: word(ENTRY_BODY_BYTES),
        date: word(ENTRY_DATE),
      });
      if (overrides) this.#contents.replaced++;
    }
  }

  /** The number among the contents of a body of the parts; notes its first source. */
  #body(body: number, source: FirstSource): number {
    const number = this.body(body);
    if (number >= FIRST_BODY) this.#contents.firstSources.note(number, source);
    return number;
  }

  /** The number among the contents of a body of the parts. */
  body(body: number): number {
    if (body < FIRST_BODY) return body;
    const known = this.#bodies.get(body);
    if (known !== 0) return known;
    const { digests, robotsRecords, recordLists, warnings } = this.#contents;
    const at = (body - FIRST_BODY) * GROWTH_WORDS;
    const number =
      FIRST_BODY +
      digests.addAt(
        this.#digestChunks[this.#digests.get(at)] as number,
        this.#digests.get(at + 1),
        this.#digests.get(at + 2),
        this.#digests.get(at + 3) | 0,
      );
    this.#bodies.set(body, number);
    const record = this.#robotsRecords.get(body - FIRST_BODY);
    if (robotsRecords[number] === undefined && record !== COMPILED_ELSEWHERE) {
      robotsRecords[number] = record;
      recordLists[number] = this.#recordLists.get(body - FIRST_BODY);
      const codes = this.#warnings.get(body);
      if (codes !== undefined) warnings.set(number, codes);
    }
    return number;
  }
}

/** Adds the additions to another CompiledRobots, as it grows. */
class RobotsMerger {
  /** The number here of each robots record of the other CompiledRobots. */
  readonly records = new Uint32List();
  readonly #into: CompiledRobots;
  readonly #automata: StoreMerger;
  readonly #recordLists: StoreMerger;
  readonly #tokens: StoreMerger;
  readonly #recordChunks: Uint32Array[] = [];

  constructor(into: CompiledRobots) {
    this.#into = into;
    this.#automata = new StoreMerger(into.automata);
    this.#recordLists = new StoreMerger(into.recordLists);
    this.#tokens = new StoreMerger(into.tokens);
  }

  /** The number here of each list of other records of the other CompiledRobots. */
  get recordLists(): Uint32List {
    return this.#recordLists.numbers;
  }

  /** Merges a growth. Growths must come in the order in which they were taken. */
  merge({ automata, records, recordLists, tokens }: CompiledGrowth): void {
    this.#automata.merge(automata);
    this.#recordLists.merge(recordLists);
    this.#tokens.merge(tokens);
    for (const { buffer, byteOffset, length } of records.chunks) {
      this.#recordChunks.push(new Uint32Array(buffer, byteOffset, length >> 2));
    }
    const numbers = { automata: this.#automata.numbers, tokens: this.#tokens.numbers };
    for (let at = 0; at < records.items.length; at += GROWTH_WORDS) {
      const chunk = records.items[at] as number;
      const start = records.items[at + 1] as number;
      const length = records.items[at + 2] as number;
      const words = this.#recordChunks[chunk] as Uint32Array;
      const record = new RobotsRecord(words, start >> 2, length >> 2);
      this.records.push(this.#into.addRenumbered(record, numbers));
    }
  }
}
