import { groupsByProductToken } from '../protocol/groups.js';
import type { Profile } from '../protocol/profile.js';
import type { Group, RobotsFile } from '../protocol/robots-file.js';
import { AutomatonWriter } from './automaton.js';
import { ACCESS_SUCCESSFUL, ACCESS_UNREACHABLE } from './format.js';
import { Numbers } from './numbers.js';
import { drawKey, GROWTH_WORDS, OctetStore, type StoreGrowth, StoreMerger } from './octet-store.js';
import { OrderedRules } from './ordered-rules.js';

const ANY_TOKEN = '*';

/**
 * In a record, the words before the product tokens, and those of a group in a list: automaton plus
 * one or 0, first line.
 */
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
   * What each distinct file says, in words of 32 bits: access result, number n of product tokens, n
   * numbers of tokens (rising), n lists of groups, as the word of the record at which each starts:
   * number of groups, and GROUP_WORDS for each of them.
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
   * `kept` are the product tokens, besides `*`, whose groups count; all where it is `undefined`.
   * For `key` and `shared` see OctetStore.
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

  /**
   * Compiles the groups of a file; returns the number of its record. One that is over its budget
   * denies, as nobody can tell.
   */
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

  /** What a file says, by the number of its record. */
  record(item: number): RobotsRecord {
    const { records } = this;
    return new RobotsRecord(
      records.words(item),
      records.firstWord(item),
      records.length(item) >> 2,
    );
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

  /**
   * For CompiledMerger: adds a record of another CompiledRobots, given what its numbers are here.
   */
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
            list.push(numbers.automata.get(automaton) + 1, firstLine);
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

  /**
   * The automaton of a group, plus one, and the line from which those of its rules count; twice 0
   * where no rule can match.
   */
  #compile(group: Group): readonly [number, number] {
    const rules = this.#rules;
    rules.load(group.rules, this.#profile);
    if (rules.count === 0) return [0, 0];
    return [this.automata.add(this.#writer.write(rules)) + 1, rules.firstLine];
  }
}

/** For each number of one CompiledRobots the number that the same thing has in another. */
export interface RobotsNumbers {
  readonly automata: Numbers;
  readonly tokens: readonly number[];
}

/** Takes in what another CompiledRobots compiles on another thread, as it grows. */
export class CompiledMerger {
  readonly #into: CompiledRobots;
  readonly #automata: StoreMerger;
  readonly #tokens: number[] = [];
  /** For each record of the other its number here. */
  readonly records = new Numbers();
  readonly #recordChunks: Uint32Array[] = [];

  constructor(into: CompiledRobots) {
    this.#into = into;
    this.#automata = new StoreMerger(into.automata);
  }

  /** Growths have to come in the order in which they were taken. */
  merge({ automata, records, tokens }: CompiledGrowth): void {
    this.#automata.merge(automata);
    for (const token of tokens) this.#tokens.push(this.#into.numberOf(token));
    for (const { buffer, byteOffset, length } of records.chunks) {
      this.#recordChunks.push(new Uint32Array(buffer, byteOffset, length >> 2));
    }
    const numbers = {
      automata: this.#automata.numbers,
      tokens: this.#tokens,
    };
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

/** A record of CompiledRobots, read. */
export class RobotsRecord {
  /** How many words it has. */
  readonly wordCount: number;
  readonly #words: Uint32Array;
  readonly #start: number;

  /** It lies in `words` from `start` on. */
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
    return this.#word(RECORD_WORDS + index);
  }

  /** What names the list of a token: the same for tokens that share it. */
  list(index: number): number {
    return this.#word(RECORD_WORDS + this.tokenCount + index);
  }

  /** Groups of all lists. */
  get allGroups(): number {
    let groups = 0;
    const end = this.wordCount;
    for (let list = RECORD_WORDS + 2 * this.tokenCount; list < end; ) {
      groups += this.groupCount(list);
      list += 1 + GROUP_WORDS * this.groupCount(list);
    }
    return groups;
  }

  groupCount(list: number): number {
    return this.#word(list);
  }

  /** Automaton of a group of a list, plus one, or 0. */
  automaton(list: number, group: number): number {
    return this.#word(list + 1 + GROUP_WORDS * group);
  }

  /** Writes the record with other numbers; returns whether those of its tokens rise still. */
  renumber({ tokens, automata }: RobotsNumbers, to: Uint32Array): boolean {
    const { tokenCount, wordCount } = this;
    for (let at = 0; at < wordCount; at++) to[at] = this.#word(at);
    let last = -1;
    for (let index = 0; index < tokenCount; index++) {
      const number = tokens[this.token(index)] as number;
      if (number <= last) return false;
      last = number;
      to[RECORD_WORDS + index] = number;
    }
    for (let list = RECORD_WORDS + 2 * tokenCount; list < wordCount; ) {
      const end = list + 1 + GROUP_WORDS * this.groupCount(list);
      for (let group = list + 1; group < end; group += GROUP_WORDS) {
        const automaton = this.#word(group) - 1;
        if (automaton >= 0) to[group] = automata.get(automaton) + 1;
      }
      list = end;
    }
    return true;
  }

  /** The line from which those of the group's rules count. */
  firstLine(list: number, group: number): number {
    return this.#word(list + 2 + GROUP_WORDS * group);
  }

  #word(at: number): number {
    return this.#words[this.#start + at] as number;
  }
}
