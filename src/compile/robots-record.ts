import { ACCESS_SUCCESSFUL } from '../table/format.js';
import type { Uint32List } from './intern/uint32-list.js';

/** Words of a record before its product tokens: access result, number of product tokens. */
const HEAD_WORDS = 2;
/** Words of a group in a list: its automaton plus one, or 0; the line that its rules count from. */
const GROUP_WORDS = 2;

/** A product token and its list of groups, GROUP_WORDS for each group. */
export type TokenList = readonly [token: number, list: readonly number[]];

/**
 * The number, in another CompiledRobots, of each automaton and product token of one CompiledRobots.
 */
export interface RobotsNumbers {
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
export function wordsOfLists(lists: TokenList[]): number[] {
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
