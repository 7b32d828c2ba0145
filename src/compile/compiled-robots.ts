import { groupsByProductToken } from '../protocol/groups.js';
import type { Profile } from '../protocol/profile.js';
import type { Group, RobotsFile } from '../protocol/robots-file.js';
import { AutomatonWriter } from './automaton.js';
import { ACCESS_SUCCESSFUL } from './format.js';
import { OctetStore } from './octet-store.js';
import { OrderedRules } from './ordered-rules.js';

const ANY_TOKEN = '*';

/** In a record, the words before the product tokens, and those of a group in a list: automaton plus one or 0, first line. */
const RECORD_WORDS = 2;
const GROUP_WORDS = 2;

/**
 * Distinct robots.txt files and their automata, all known by numbers that no table sees: they
 * count in the order of arrival, and a table has an order of its own.
 */
export class CompiledRobots {
  /** Automata as the format has them. */
  readonly automata = new OctetStore();
  /**
   * What each distinct file says, in words of 32 bits: access result, number n of product tokens, n numbers of tokens (rising), n
   * lists of groups, as the word of the record at which each starts: number of groups, and GROUP_WORDS for each of them.
   */
  readonly records = new OctetStore();
  /** Product tokens in lower case, by their numbers. */
  readonly tokens: string[] = [];

  readonly #profile: Profile;
  readonly #kept: ReadonlySet<string> | undefined;
  readonly #numbers = new Map<string, number>();
  readonly #rules = new OrderedRules();
  readonly #writer = new AutomatonWriter();

  /** `kept` are the product tokens, besides `*`, whose groups count; all where it is `undefined`. */
  constructor(profile: Profile, kept: ReadonlySet<string> | undefined) {
    this.#profile = profile;
    this.#kept = kept;
  }

  /** The number of a record without groups. */
  addAccessResult(access: number): number {
    return this.#addRecord([access, 0]);
  }

  /** Compiles the groups of a file; returns the number of its record. */
  add(file: RobotsFile): number {
    const groupsByToken: [number, readonly Group[]][] = [];
    for (const [token, groups] of groupsByProductToken(file.groups, this.#profile)) {
      if (this.#kept === undefined || token === ANY_TOKEN || this.#kept.has(token)) {
        groupsByToken.push([this.#numberOf(token), groups]);
      }
    }
    groupsByToken.sort(([a], [b]) => a - b);

    const count = groupsByToken.length;
    const record: number[] = [ACCESS_SUCCESSFUL, count];
    for (const [token] of groupsByToken) record.push(token);
    for (let index = 0; index < count; index++) record.push(0);
    const compiled = new Map<Group, readonly [number, number]>();
    const lists = new Map<string, number>();
    for (let index = 0; index < count; index++) {
      const groups = (groupsByToken[index] as [number, readonly Group[]])[1];
      const list: number[] = [];
      for (const group of groups) {
        let pair = compiled.get(group);
        if (pair === undefined) {
          pair = this.#compile(group);
          compiled.set(group, pair);
        }
        list.push(...pair);
      }
      // Tokens of the same groups, the rule in files that name hundreds of crawlers, share a list.
      const key = list.join();
      let start = lists.get(key);
      if (start === undefined) {
        start = record.length;
        lists.set(key, start);
        record.push(groups.length);
        for (const word of list) record.push(word);
      }
      record[RECORD_WORDS + count + index] = start;
    }
    return this.#addRecord(record);
  }

  #addRecord(words: readonly number[]): number {
    return this.records.add(new Uint8Array(Uint32Array.from(words).buffer));
  }

  #numberOf(token: string): number {
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

  /** The line from which those of the group's rules count. */
  firstLine(list: number, group: number): number {
    return this.#words[list + 2 + GROUP_WORDS * group] as number;
  }
}
