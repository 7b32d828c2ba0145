/**
 * Counts how often each rule decides. Site owners choose how many rules there are, so the counters
 * have a bound, beyond which the rarest are dropped.
 */

import type { Kernel } from './kernel.js';
import {
  HOST_COUNTS_LINE,
  QUERY_FIRST_USE,
  QUERY_FLAGS,
  QUERY_NAMES_AGENT,
  QUERY_RULE_ENTRIES,
  QUERY_RULES,
  REGISTER_MOST_NAMES,
  RULE_BYTES,
  RULE_COUNT,
  RULE_COUNT_BITS,
  RULE_LINE,
  RULE_VERSION,
  RULES_DOUBLINGS,
  RULES_ENTRIES,
  RULES_MISSED,
  RULES_USED,
} from './layout.js';

/** Least entries of the counters of rules for each agent, so that a line always finds room. */
export const RULE_ENTRIES_PER_AGENT = 4;

const ENTRY_WORDS = RULE_BYTES / 4;
const VERSION_WORD = RULE_VERSION / 4;
const LINE_WORD = RULE_LINE / 4;
const COUNT_WORD = RULE_COUNT / 4;
/** The upper half of a count. The agent is above its bits. */
const UPPER_WORD = COUNT_WORD + 1;
const UPPER_BITS = RULE_COUNT_BITS - 32;
const UPPER_MASK = (1 << UPPER_BITS) - 1;

/** Marks versions by their addresses. Few others share the mark of one. */
export class VersionMarks {
  readonly bits = new Uint8Array(MARKS);

  add(version: number): void {
    this.bits[bitOf(version)] = 1;
  }
}

const MARKS = 2 ** 16;

function bitOf(version: number): number {
  return version & (MARKS - 1);
}

/**
 * The counters of rules in a worker block, each for an agent. They are named by an index. Layout:
 * kernel/layout.ts, RULES_…
 */
export class RuleCounters {
  readonly #query: DataView;
  readonly #worker: number;
  readonly #head: DataView;
  readonly #words: Uint32Array;

  /**
   * @param query address of the query
   * @param worker address of the worker block
   */
  constructor(memory: ArrayBufferLike, query: number, worker: number) {
    this.#query = new DataView(memory, query);
    this.#worker = worker;
    const rules = worker + this.#query.getUint32(QUERY_RULES, true);
    this.#head = new DataView(memory, rules, RULES_ENTRIES);
    const first = this.#query.getUint32(QUERY_RULE_ENTRIES, true);
    const entries = first * 2 ** this.#head.getUint32(RULES_DOUBLINGS, true);
    this.#words = new Uint32Array(memory, rules + RULES_ENTRIES, entries * ENTRY_WORDS);
  }

  /** Number of rules that are counted. */
  get used(): number {
    return this.#head.getUint32(RULES_USED, true);
  }

  /** An upper bound of what the count of any rule may lack, a rule without a count included. */
  get missed(): number {
    return Number(this.#head.getBigUint64(RULES_MISSED, true));
  }

  /** Number of agents; the most that there may be if records name them. */
  get agents(): number {
    return this.isNamed ? REGISTER_MOST_NAMES : this.#query.getUint32(QUERY_FIRST_USE, true);
  }

  /** Whether records name their agents, which are numbered by the register of the worker block. */
  get isNamed(): boolean {
    return (this.#query.getUint32(QUERY_FLAGS, true) & QUERY_NAMES_AGENT) !== 0;
  }

  /**
   * The index of the next counter, in no order; -1 if there is none.
   *
   * @param from where the search begins: 0, or after a counter
   * @param least the least count that is wanted
   */
  next(from: number, least = 1): number {
    const words = this.#words;
    for (let at = from * ENTRY_WORDS; at < words.length; at += ENTRY_WORDS) {
      const count = countOf(words, at);
      if (count >= least && count > 0) return at / ENTRY_WORDS;
    }
    return -1;
  }

  /** As `next`, but the next counter of a version that is marked. */
  nextMarked(from: number, { bits }: VersionMarks): number {
    const words = this.#words;
    for (let at = from * ENTRY_WORDS; at < words.length; at += ENTRY_WORDS) {
      if (bits[bitOf(words[at + VERSION_WORD] as number)] === 0) continue;
      if (countOf(words, at) > 0) return at / ENTRY_WORDS;
    }
    return -1;
  }

  /** The address of the version of a robots.txt that has the rule. */
  version(index: number): number {
    return this.#words[index * ENTRY_WORDS + VERSION_WORD] as number;
  }

  /** Whether it counts the URLs of a host: the version is the address of the host's counters. */
  isOfHost(index: number): boolean {
    return this.line(index) === HOST_COUNTS_LINE;
  }

  /** The rule's line. */
  line(index: number): number {
    return this.#words[index * ENTRY_WORDS + LINE_WORD] as number;
  }

  agent(index: number): number {
    return agentOf(this.#words, index * ENTRY_WORDS) >>> 1;
  }

  /** Whether the rule is an allow rule, or the URLs of the host are allowed. */
  allows(index: number): boolean {
    return (agentOf(this.#words, index * ENTRY_WORDS) & 1) !== 0;
  }

  /** How many URLs the rule decided for the agent. */
  count(index: number): number {
    return countOf(this.#words, index * ENTRY_WORDS);
  }

  /**
   * Drops at least half of the counters, the smallest. A dropped rule may be counted again, from 0.
   * Its count then lacks at most the greatest count that was dropped; RULES_MISSED adds these up.
   * This is lossy counting (Manku and Motwani, 2002): frequent rules stay.
   */
  prune(kernel: Pick<Kernel, 'keepRules'>): void {
    const counts = new Float64Array(this.used);
    let found = 0;
    for (let at = this.next(0); at >= 0; at = this.next(at + 1)) counts[found++] = this.count(at);
    const greatest = counts.sort()[found >> 1] ?? 0;
    kernel.keepRules(this.#query.byteOffset, this.#worker, greatest);
    this.#head.setBigUint64(RULES_MISSED, BigInt(this.missed + greatest), true);
  }
}

function countOf(words: Uint32Array, at: number): number {
  const upper = (words[at + UPPER_WORD] as number) & UPPER_MASK;
  return (words[at + COUNT_WORD] as number) + upper * 2 ** 32;
}

function agentOf(words: Uint32Array, at: number): number {
  return (words[at + UPPER_WORD] as number) >>> UPPER_BITS;
}
