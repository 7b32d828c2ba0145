import { Buffer } from 'node:buffer';
import { ACCESS_SUCCESSFUL } from '../table/format.js';
import { ByteStore, type StoreGrowth } from './intern/byte-store.js';
import type { HashKey } from './intern/hash-bytes.js';
import { type RobotsNumbers, RobotsRecord, type TokenList, wordsOfLists } from './robots-record.js';

const INITIAL_WORDS = 256;

/** Number and length of the product tokens that are kept for a message only. */
const MOST_NOTED = 1 << 15;
const LONGEST_NOTED = 40;

/** The additions to a CompiledRobots since the last call of `growth`. */
export interface CompiledGrowth {
  readonly automata: StoreGrowth;
  readonly records: StoreGrowth;
  readonly recordLists: StoreGrowth;
  readonly tokens: StoreGrowth;
}

/**
 * The distinct robots.txt files of a table, compiled: automata, records and product tokens. Each
 * has a number in the order of arrival, and no table contains these numbers.
 */
export class CompiledRobots {
  /** Automata in the table's format. */
  readonly automata: ByteStore;
  /** The content of each distinct file: see RobotsRecord. */
  readonly records: ByteStore;
  /** The other records of the files, as record lists in the table's format. */
  readonly recordLists: ByteStore;
  /**
   * Product tokens in lower case. A Map would hold 16,777,216 of them at most, and site owners
   * choose how many there are.
   */
  readonly tokens: ByteStore;

  #written = new Uint32Array(INITIAL_WORDS);

  /** @param shared whether other threads read the memory */
  constructor(key: HashKey, shared = false) {
    this.automata = new ByteStore(key, shared);
    this.records = new ByteStore(key, shared);
    this.recordLists = new ByteStore(key, shared);
    this.tokens = new ByteStore(key, shared);
  }

  /** Adds a record without groups; returns its number. */
  addAccessResult(access: number): number {
    return this.#addRecord([access, 0]);
  }

  /**
   * Adds a record of groups; returns its number. `lists` has the groups by product token, in any
   * order.
   */
  addSuccessful(lists: TokenList[]): number {
    return this.#addRecord(wordsOfLists(lists));
  }

  /**
   * Adds a record of another CompiledRobots. The maps translate its numbers to the numbers here.
   */
  addRenumbered(record: RobotsRecord, numbers: RobotsNumbers): number {
    if (record.access !== ACCESS_SUCCESSFUL) return this.addAccessResult(record.access);
    // If the tokens come in the same order here, the lists do too: the record keeps its shape.
    if (record.renumber(numbers, this.#room(record.wordCount))) {
      return this.#addWritten(record.wordCount);
    }
    return this.addSuccessful(record.renumberedLists(numbers));
  }

  record(number: number): RobotsRecord {
    const { records } = this;
    return new RobotsRecord(
      records.words(number),
      records.firstWord(number),
      records.length(number) >> 2,
    );
  }

  /** The number of a product token in lower case. */
  numberOf(token: string): number {
    return this.tokens.add(Buffer.from(token));
  }

  /**
   * Keeps a token that no record names, because its groups are left out: a message about a misspelt
   * agent may name it. The table does not have it.
   */
  noteToken(token: string): void {
    if (token.length <= LONGEST_NOTED && this.tokens.count < MOST_NOTED) this.numberOf(token);
  }

  /** The additions since the last call. */
  growth(): CompiledGrowth {
    return {
      automata: this.automata.growth(),
      records: this.records.growth(),
      recordLists: this.recordLists.growth(),
      tokens: this.tokens.growth(),
    };
  }

  #addRecord(words: readonly number[]): number {
    const record = this.#room(words.length);
    for (let at = 0; at < words.length; at++) record[at] = words[at] as number;
    return this.#addWritten(words.length);
  }

  /** Memory for a record of this many words. */
  #room(words: number): Uint32Array {
    if (this.#written.length < words) this.#written = new Uint32Array(2 * words);
    return this.#written;
  }

  /** Adds the record of this many words in `#written`. */
  #addWritten(words: number): number {
    return this.records.add(new Uint8Array(this.#written.buffer, 0, 4 * words));
  }
}
