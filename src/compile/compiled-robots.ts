import { groupsByProductToken } from '../protocol/groups.js';
import type { Profile } from '../protocol/profile.js';
import type { Group, RobotsFile } from '../protocol/robots-file.js';
import { AutomatonWriter } from './automaton.js';
import { ACCESS_SUCCESSFUL, ACCESS_UNREACHABLE } from './format.js';
import { drawKey, GROWTH_WORDS, OctetStore, type StoreGrowth, StoreMerger } from './octet-store.js';
import { OrderedRules } from './ordered-rules.js';

const ANY_TOKEN = '*';

/** In a record, the words before the product tokens, and those of a group in a list: automaton plus one or 0, first line. */
const RECORD_WORDS = 2;
const GROUP_WORDS = 2;

const INITIAL_WORDS = 256;

/** What was new in a CompiledRobots since it was asked last, for the thread that merges them. */
export interface CompiledGrowth {
  readonly automata: StoreGrowth;
  readonly records: StoreGrowth;
  readonly tokens: readonly string[];
}

/** A product token and its list of groups: GROUP_WORDS for each. */
type TokenList = readonly [token: number, list: readonly number[]];

/**
 * Distinct robots.txt files and their automata, all known by numbers that no table sees: they
 * count in the order of arrival, and a table has an order of its own.
 */
export class CompiledRobots {
  /** Automata as the format has them. */
  readonly automata: OctetStore;
  /**
   * What each distinct file says, in words of 32 bits: access result, number n of product tokens, n numbers of tokens (rising), n
   * lists of groups, as the word of the record at which each starts: number of groups, and GROUP_WORDS for each of them.
   */
  readonly records: OctetStore;
  /** Product tokens in lower case, by their numbers. */
  readonly tokens: string[] = [];

  readonly #profile: Profile;
  readonly #kept: ReadonlySet<string> | undefined;
  readonly #numbers = new Map<string, number>();
  readonly #rules = new OrderedRules();
  readonly #writer = new AutomatonWriter();
  #written = new Uint32Array(INITIAL_WORDS);
  #toldTokens = 0;

  /**
   * `kept` are the product tokens, besides `*`, whose groups count; all where it is `undefined`. For `key` and `shared` see
   * OctetStore.
   */
  constructor(
    profile: Profile,
    kept: ReadonlySet<string> | undefined,
    key = drawKey(),
    shared = false,
  ) {
    this.#profile = profile;
    this.#kept = kept;
    this.automata = new OctetStore(key, shared);
    this.records = new OctetStore(key, shared);
  }

  /** The number of a record without groups. */
  addAccessResult(access: number): number {
    return this.#addRecord([access, 0]);
  }

  /** Compiles the groups of a file; returns the number of its record. One that is over its budget denies, as nobody can tell. */
  add(file: RobotsFile): number {
    if (file.overBudget) return this.addAccessResult(ACCESS_UNREACHABLE);
    const compiled = new Map<Group, readonly [number, number]>();
    const lists: TokenList[] = [];
    for (const [token, groups] of groupsByProductToken(file.groups, this.#profile)) {
      if (this.#kept !== undefined && token !== ANY_TOKEN && !this.#kept.has(token)) continue;
      const list: number[] = [];
      for (const group of groups) {
        let pair = compiled.get(group);
        if (pair === undefined) {
          pair = this.#compile(group);
          compiled.set(group, pair);
        }
        list.push(pair[0], pair[1]);
      }
      lists.push([this.numberOf(token), list]);
    }
    return this.#addSuccessful(lists);
  }

  /** What is new since the last call. */
  growth(): CompiledGrowth {
    const tokens = this.tokens.slice(this.#toldTokens);
    this.#toldTokens = this.tokens.length;
    return {
      automata: this.automata.growth(),
      records: this.records.growth(),
      tokens,
    };
  }

  /** Adds a record of groups: `lists` by product token, in any order. */
  #addSuccessful(lists: TokenList[]): number {
    lists.sort(([a], [b]) => a - b);
    const count = lists.length;
    const record: number[] = [ACCESS_SUCCESSFUL, count];
    for (const [token] of lists) record.push(token);
    for (let index = 0; index < count; index++) record.push(0);
    const starts = new Map<string, number>();
    lists.forEach(([, list], index) => {
      // Tokens of the same groups, the rule in files that name hundreds of crawlers, share a list.
      const key = list.join();
      let start = starts.get(key);
      if (start === undefined) {
        start = record.length;
        starts.set(key, start);
        record.push(list.length / GROUP_WORDS);
        for (const word of list) record.push(word);
      }
      record[RECORD_WORDS + count + index] = start;
    });
    return this.#addRecord(record);
  }

  /** For CompiledMerger: adds a record of another CompiledRobots, given what its numbers are here. */
  addRenumbered(record: RobotsRecord, numbers: RobotsNumbers): number {
    if (record.access !== ACCESS_SUCCESSFUL) return this.addAccessResult(record.access);
    // What differs there differs here: where the tokens come in the same order, so do the lists.
    if (record.renumber(numbers, this.#room(record.wordCount))) {
      return this.#addWritten(record.wordCount);
    }
    const lists: TokenList[] = [];
    const renumbered = new Map<number, number[]>();
    for (let index = 0; index < record.tokenCount; index++) {
      const start = record.list(index);
      let list = renumbered.get(start);
      if (list === undefined) {
        list = [];
        const groups = record.groupCount(start);
        for (let group = 0; group < groups; group++) {
          const automaton = record.automaton(start, group) - 1;
          if (automaton < 0) list.push(0, 0);
          else {
            const firstLine = record.firstLine(start, group);
            list.push((numbers.automata[automaton] as number) + 1, firstLine);
          }
        }
        renumbered.set(start, list);
      }
      lists.push([numbers.tokens[record.token(index)] as number, list]);
    }
    return this.#addSuccessful(lists);
  }

  #addRecord(words: readonly number[]): number {
    const record = this.#room(words.length);
    for (let at = 0; at < words.length; at++) record[at] = words[at] as number;
    return this.#addWritten(words.length);
  }

  /** Room in which to write a record of so many words. */
  #room(words: number): Uint32Array {
    if (this.#written.length < words) this.#written = new Uint32Array(2 * words);
    return this.#written;
  }

  /** Adds the record that was written, of so many words. */
  #addWritten(words: number): number {
    return this.records.add(new Uint8Array(this.#written.buffer, 0, 4 * words));
  }

  /** The number of a product token in lower case. */
  numberOf(token: string): number {
    const known = this.#numbers.get(token);
    if (known !== undefined) return known;
    const number = this.tokens.push(token) - 1;
    this.#numbers.set(token, number);
    return number;
  }

  /** The automaton of a group, plus one, and the line from which those of its rules count; twice 0 where no rule can match. */
  #compile(group: Group): readonly [number, number] {
    const rules = this.#rules;
    rules.load(group.rules, this.#profile);
    if (rules.count === 0) return [0, 0];
    return [this.automata.add(this.#writer.write(rules)) + 1, rules.firstLine];
  }
}

/** For each number of one CompiledRobots the number that the same thing has in another. */
export interface RobotsNumbers {
  readonly automata: readonly number[];
  readonly tokens: readonly number[];
}

/** Takes in what another CompiledRobots compiles on another thread, as it grows. */
export class CompiledMerger {
  readonly #into: CompiledRobots;
  readonly #automata: StoreMerger;
  readonly #tokens: number[] = [];
  /** For each record of the other its number here. */
  readonly records: number[] = [];
  readonly #recordChunks: Uint8Array[] = [];

  constructor(into: CompiledRobots) {
    this.#into = into;
    this.#automata = new StoreMerger(into.automata);
  }

  /** Growths have to come in the order in which they were taken. */
  merge({ automata, records, tokens }: CompiledGrowth): void {
    this.#automata.merge(automata);
    for (const token of tokens) this.#tokens.push(this.#into.numberOf(token));
    this.#recordChunks.push(...records.chunks);
    const numbers = {
      automata: this.#automata.numbers,
      tokens: this.#tokens,
    };
    for (let at = 0; at < records.items.length; at += GROWTH_WORDS) {
      const [chunk = 0, start = 0, length = 0] = records.items.subarray(at, at + GROWTH_WORDS);
      const octets = (this.#recordChunks[chunk] as Uint8Array).subarray(start, start + length);
      this.records.push(this.#into.addRenumbered(new RobotsRecord(octets), numbers));
    }
  }
}

/** A record of CompiledRobots, read. */
export class RobotsRecord {
  readonly #words: Uint32Array;

  /** `octets` as `records` holds them: at a multiple of 4. */
  constructor(octets: Uint8Array) {
    this.#words = new Uint32Array(octets.buffer, octets.byteOffset, octets.length >> 2);
  }

  get access(): number {
    return this.#words[0] as number;
  }

  get tokenCount(): number {
    return this.#words[1] as number;
  }

  token(index: number): number {
    return this.#words[RECORD_WORDS + index] as number;
  }

  /** What names the list of a token: the same for tokens that share it. */
  list(index: number): number {
    return this.#words[RECORD_WORDS + this.tokenCount + index] as number;
  }

  /** Groups of all lists. */
  get allGroups(): number {
    let groups = 0;
    const end = this.#words.length;
    for (let list = RECORD_WORDS + 2 * this.tokenCount; list < end; ) {
      groups += this.groupCount(list);
      list += 1 + GROUP_WORDS * this.groupCount(list);
    }
    return groups;
  }

  groupCount(list: number): number {
    return this.#words[list] as number;
  }

  /** Automaton of a group of a list, plus one, or 0. */
  automaton(list: number, group: number): number {
    return this.#words[list + 1 + GROUP_WORDS * group] as number;
  }

  get wordCount(): number {
    return this.#words.length;
  }

  /** Writes the record with other numbers; returns whether those of its tokens rise still. */
  renumber({ tokens, automata }: RobotsNumbers, to: Uint32Array): boolean {
    const words = this.#words;
    to.set(words);
    const { tokenCount } = this;
    let last = -1;
    for (let index = 0; index < tokenCount; index++) {
      const number = tokens[this.token(index)] as number;
      if (number <= last) return false;
      last = number;
      to[RECORD_WORDS + index] = number;
    }
    for (let list = RECORD_WORDS + 2 * tokenCount; list < words.length; ) {
      const end = list + 1 + GROUP_WORDS * this.groupCount(list);
      for (let group = list + 1; group < end; group += GROUP_WORDS) {
        const automaton = (words[group] as number) - 1;
        if (automaton >= 0) to[group] = (automata[automaton] as number) + 1;
      }
      list = end;
    }
    return true;
  }

  /** The line from which those of the group's rules count. */
  firstLine(list: number, group: number): number {
    return this.#words[list + 2 + GROUP_WORDS * group] as number;
  }
}
