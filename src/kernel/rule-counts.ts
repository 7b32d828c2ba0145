import {
  QUERY_RULE_ENTRIES,
  QUERY_RULES,
  RULE_AGENT,
  RULE_AUTHORITY,
  RULE_BYTES,
  RULE_COUNT,
  RULE_HASH,
  RULE_LINE,
  RULES_ENTRIES,
  RULES_MISSED,
  RULES_USED,
} from './layout.js';

/** Least entries of the counters of rules for each agent, so that a line always finds room. */
export const RULE_ENTRIES_PER_AGENT = 4;

const ENTRY_WORDS = RULE_BYTES / 4;
const COUNT_WORD = RULE_COUNT / 4;
const HASH_WORD = RULE_HASH / 4;

/** The counters of rules in a worker block. Layout: layout.ts, RULES_… */
export class RuleCounters {
  readonly #head: DataView;
  readonly #words: Uint32Array;
  readonly #entries: number;

  /**
   * @param query address of the query
   * @param worker address of the worker block
   */
  constructor(memory: ArrayBufferLike, query: number, worker: number) {
    const words = new DataView(memory, query);
    const rules = worker + words.getUint32(QUERY_RULES, true);
    this.#entries = words.getUint32(QUERY_RULE_ENTRIES, true);
    this.#head = new DataView(memory, rules, RULES_ENTRIES);
    this.#words = new Uint32Array(memory, rules + RULES_ENTRIES, this.#entries * ENTRY_WORDS);
  }

  /** Number of rules that are counted. */
  get used(): number {
    return this.#head.getUint32(RULES_USED, true);
  }

  /** An upper bound of what the count of any rule may lack, a rule without a count included. */
  get missed(): number {
    return Number(this.#head.getBigUint64(RULES_MISSED, true));
  }

  /**
   * Calls `take` for each counter, in no order.
   *
   * @param take gets the address of the authority, the rule's line, `agent << 1 | allow`, the count
   */
  each(take: (authority: number, line: number, agent: number, count: number) => void): void {
    const words = this.#words;
    for (let at = 0; at < words.length; at += ENTRY_WORDS) {
      const count = this.#count(at);
      if (count === 0) continue;
      take(
        words[at + RULE_AUTHORITY / 4] as number,
        words[at + RULE_LINE / 4] as number,
        words[at + RULE_AGENT / 4] as number,
        count,
      );
    }
  }

  /**
   * Drops at least half of the counters, the smallest. A dropped rule may be counted again, from 0.
   * Its count then lacks at most the greatest count that was dropped; RULES_MISSED adds these up.
   * This is lossy counting (Manku and Motwani, 2002): frequent rules stay.
   */
  prune(): void {
    const words = this.#words;
    const counts = new Float64Array(this.used);
    let found = 0;
    for (let at = 0; at < words.length; at += ENTRY_WORDS) {
      const count = this.#count(at);
      if (count > 0) counts[found++] = count;
    }
    const greatest = counts.sort()[found >> 1] ?? 0;
    const kept: Uint32Array[] = [];
    for (let at = 0; at < words.length; at += ENTRY_WORDS) {
      if (this.#count(at) > greatest) kept.push(words.slice(at, at + ENTRY_WORDS));
    }
    words.fill(0);
    for (const entry of kept) this.#insert(entry);
    this.#head.setUint32(RULES_USED, kept.length, true);
    this.#head.setBigUint64(RULES_MISSED, BigInt(this.missed + greatest), true);
  }

  /** Puts an entry where the kernel searches for it. */
  #insert(entry: Uint32Array): void {
    const mask = this.#entries - 1;
    let index = (entry[HASH_WORD] as number) & mask;
    while (this.#count(index * ENTRY_WORDS) !== 0) index = (index + 1) & mask;
    this.#words.set(entry, index * ENTRY_WORDS);
  }

  #count(at: number): number {
    const words = this.#words;
    return (words[at + COUNT_WORD] as number) + (words[at + COUNT_WORD + 1] as number) * 2 ** 32;
  }
}
