/** What compiling keeps of robots.txt files: one robots record of each distinct content. */

import { Buffer } from 'node:buffer';
import { fitsTable } from '../kernel/times.js';
import { type AccessResult, accessResultOf, type Profile } from '../protocol/verdict.js';
import { ACCESS_SUCCESSFUL } from '../table/format.js';
import { ByteStore, type HashKey, type StoreGrowth, type Uint32List } from './byte-store.js';

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
 * The distinct robots.txt files of a table, compiled: automata, robots records and product tokens.
 * Each has a number in the order of arrival, and no table contains these numbers.
 */
export class CompiledRobots {
  /** Automata in the table's format. */
  readonly automata: ByteStore;
  /** Robots records: the content of each distinct file, see RobotsRecord. */
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

  /** Adds a robots record without groups; returns its number. */
  addAccessResult(access: number): number {
    return this.#addRecord([access, 0]);
  }

  /**
   * Adds a robots record of groups; returns its number. `lists` has the groups by product token, in
   * any order.
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

/** Words of a record before its product tokens: access result, number of product tokens. */
const HEAD_WORDS = 2;
/** Words of a group in a list: its automaton plus one, or 0; the line that its rules count from. */
const GROUP_WORDS = 2;

/** A product token and its list of groups, GROUP_WORDS for each group. */
export type TokenList = readonly [token: number, list: readonly number[]];

/**
 * The number, in another CompiledRobots, of each automaton and product token of one CompiledRobots.
 */
interface RobotsNumbers {
  readonly automata: Uint32List;
  readonly tokens: Uint32List;
}

/**
 * The content of one distinct robots.txt, read from words of 32 bits: access result; number n of
 * product tokens; the n numbers of the tokens, ascending; for each token, the word of the record at
 * which its list of groups starts; the lists. A list is a number of groups, then GROUP_WORDS for
 * each group.
 */
export class RobotsRecord {
  readonly wordCount: number;
  readonly #words: Uint32Array;
  readonly #start: number;

  /** @param start index in `words` of the record's first word */
  constructor(words: Uint32Array, start: number, wordCount: number) {
    this.#words = words;
    this.#start = start;
    this.wordCount = wordCount;
  }

  get access(): number {
    return this.#word(0);
  }

  get tokenCount(): number {
    return this.#word(1);
  }

  token(index: number): number {
    return this.#word(HEAD_WORDS + index);
  }

  /** The list of a token: a number that tokens with the same groups share. */
  list(index: number): number {
    return this.#word(HEAD_WORDS + this.tokenCount + index);
  }

  /** Number of groups in all lists. */
  get allGroups(): number {
    let groups = 0;
    const end = this.wordCount;
    for (let list = HEAD_WORDS + 2 * this.tokenCount; list < end; ) {
      groups += this.groupCount(list);
      list += 1 + GROUP_WORDS * this.groupCount(list);
    }
    return groups;
  }

  groupCount(list: number): number {
    return this.#word(list);
  }

  /** The automaton of a group plus one; 0 if no rule of the group can match. */
  automaton(list: number, group: number): number {
    return this.#word(list + 1 + GROUP_WORDS * group);
  }

  /** The line that the lines of the group's rules count from. */
  firstLine(list: number, group: number): number {
    return this.#word(list + 2 + GROUP_WORDS * group);
  }

  /** Writes the record with other numbers; returns whether its tokens still ascend. */
  renumber({ tokens, automata }: RobotsNumbers, to: Uint32Array): boolean {
    const { tokenCount, wordCount } = this;
    for (let at = 0; at < wordCount; at++) to[at] = this.#word(at);
    let last = -1;
    for (let index = 0; index < tokenCount; index++) {
      const number = tokens.get(this.token(index));
      if (number <= last) return false;
      last = number;
      to[HEAD_WORDS + index] = number;
    }
    for (let list = HEAD_WORDS + 2 * tokenCount; list < wordCount; ) {
      const end = list + 1 + GROUP_WORDS * this.groupCount(list);
      for (let group = list + 1; group < end; group += GROUP_WORDS) {
        const automaton = this.#word(group) - 1;
        if (automaton >= 0) to[group] = automata.get(automaton) + 1;
      }
      list = end;
    }
    return true;
  }

  /** The lists of the tokens with other numbers, for `wordsOfLists`. */
  renumberedLists({ tokens, automata }: RobotsNumbers): TokenList[] {
    const lists: TokenList[] = [];
    const renumbered = new Map<number, number[]>();
    for (let index = 0; index < this.tokenCount; index++) {
      const start = this.list(index);
      let list = renumbered.get(start);
      if (list === undefined) {
        list = [];
        const groups = this.groupCount(start);
        for (let group = 0; group < groups; group++) {
          const automaton = this.automaton(start, group) - 1;
          if (automaton < 0) list.push(0, 0);
          else list.push(automata.get(automaton) + 1, this.firstLine(start, group));
        }
        renumbered.set(start, list);
      }
      lists.push([tokens.get(this.token(index)), list]);
    }
    return lists;
  }

  #word(at: number): number {
    return this.#words[this.#start + at] as number;
  }
}

/** The words of a successful record: `lists` by product token, in any order. */
function wordsOfLists(lists: TokenList[]): number[] {
  lists.sort(([a], [b]) => a - b);
  const count = lists.length;
  const record: number[] = [ACCESS_SUCCESSFUL, count];
  for (const [token] of lists) record.push(token);
  for (let index = 0; index < count; index++) record.push(0);
  const starts = new Map<string, number>();
  lists.forEach(([, list], index) => {
    // Tokens with the same groups share a list, which is usual in files that name hundreds of
    // crawlers.
    const key = list.join();
    let start = starts.get(key);
    if (start === undefined) {
      start = record.length;
      starts.set(key, start);
      record.push(list.length / GROUP_WORDS);
      for (const word of list) record.push(word);
    }
    record[HEAD_WORDS + count + index] = start;
  });
  return record;
}

/** The data of a robots.txt in addition to its body. */
export interface RobotsDetails {
  /** Where the file came from, such as a path or a URL; shown as `rule.source`. */
  readonly source: string;
  /**
   * Status code of the response (RFC 9309 section 2.3.1). 2xx and `undefined` are successful, 3xx
   * and 4xx unavailable, all others unreachable. In the google profile 429 is unreachable.
   */
  readonly status?: number | undefined;
  /** Result of fetching the file, if more is known than a status code; wins over `status`. */
  readonly access?: AccessResult | undefined;
  /** When the file was fetched, in milliseconds since 1970; a table keeps whole seconds. */
  readonly date?: number | undefined;
}

/** The data of a version in a history. From one that is `unknown` on, nothing is known. */
export interface VersionDetails extends Omit<RobotsDetails, 'access'> {
  readonly access?: AccessResult | 'unknown' | undefined;
  /**
   * Of a compiled body (compiled-body.ts): the bytes of the robots.txt that it stands for. Default:
   * the body is that robots.txt.
   */
  readonly compiledFrom?: number | undefined;
  /** Whether its authority has a scheme only because a table does not say if it named one. */
  readonly isGuess?: boolean | undefined;
  /** Whether it only tells that the version before it was found again: it is no further file. */
  readonly isAgain?: boolean | undefined;
}

const SECOND = 1000;

/** A date in seconds since 1970; 0 if it is unknown, or before 1970 or after 2106. */
export function secondsOf(date = 0): number {
  return fitsTable(date) ? Math.floor(date / SECOND) : 0;
}

/** The access result of a robots.txt in a table for a profile. */
export function accessOf(
  { status, access }: VersionDetails,
  profile: Profile,
): AccessResult | 'unknown' {
  return access ?? accessResultOf(status, profile);
}
