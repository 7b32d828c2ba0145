import { warnOfMisspeltAgents } from './agents/unnamed-agents.js';
import type { JudgeTarget } from './kernel/agent-queries.js';
import { Judge, type Judgement } from './kernel/judge.js';
import { ListJudge } from './kernel/list-judge.js';
import type { Verdict } from './protocol/verdict.js';
import { type Bank, banksOf, queryTablesIn, type TableMemory } from './table-memory.js';

/** Number of agents about which warnings are given: a program may ask for any number. */
const MOST_WARNED = 64;

type CheckAgent = JudgeTarget['checkAgent'];

/** Judges URLs in one memory of a table. */
class BankJudge {
  readonly judge: Judge;
  readonly target: JudgeTarget;
  readonly #bank: Bank;
  #lists: ListJudge | undefined;

  constructor(bank: Bank, { header, table, view, shards }: TableMemory, checkAgent: CheckAgent) {
    this.#bank = bank;
    this.judge = new Judge(bank.arena);
    this.target = {
      profile: header.profile,
      table,
      anyHost: 0,
      tokenNumber: (token) => view.tokenNumber(token),
      shards: queryTablesIn(bank, shards),
      checkAgent,
    };
  }

  list(urls: readonly string[], agent: string | readonly string[]): Verdict[] {
    this.#lists ??= new ListJudge(this.#bank.arena, this.judge);
    return this.#lists.judge(urls, agent, this.target);
  }
}

/**
 * Judges URLs by a table, on the calling thread. If the table lies in several memories, they are
 * asked one after another: only that of the host's shard knows the host.
 */
export class TableJudge {
  readonly #first: BankJudge;
  readonly #others: readonly BankJudge[];

  /** @param name the table's name in warnings */
  constructor(memory: TableMemory, name = 'the table') {
    const { view, hosts } = memory;
    const warned = new Set<string>();
    const checkAgent: CheckAgent = (agent) => {
      view.checkAgent(agent);
      if (hosts === 0 || view.isReduced || warned.has(agent.name)) return;
      if (warned.size === MOST_WARNED) return;
      warned.add(agent.name);
      void warnOfMisspeltAgents([agent], view, name);
    };
    const [first, ...others] = banksOf(memory).map(
      (bank) => new BankJudge(bank, memory, checkAgent),
    );
    this.#first = first as BankJudge;
    this.#others = others;
  }

  /** @throws RobotsFilterError as `Judge.judge` */
  judge(url: string | Uint8Array, agent: string | readonly string[]): Judgement {
    const { judge, target } = this.#first;
    let judgement = judge.judge(url, agent, target);
    for (const other of this.#others) {
      if (judgement.verdict !== 'unknown') break;
      judgement = other.judge.judge(url, agent, other.target);
    }
    return judgement;
  }

  /** As `judge`; the verdict alone takes less time. */
  verdict(url: string | Uint8Array, agent: string | readonly string[]): Verdict {
    const { judge, target } = this.#first;
    const verdict = judge.verdict(url, agent, target);
    if (verdict !== 'unknown' || this.#others.length === 0) return verdict;
    return this.judge(url, agent).verdict;
  }

  /** The verdicts on many URLs, in their order. */
  verdicts(urls: readonly string[], agent: string | readonly string[]): Verdict[] {
    const verdicts = this.#first.list(urls, agent);
    for (const bank of this.#others) {
      const places = [...verdicts.keys()].filter((place) => verdicts[place] === 'unknown');
      const asked = places.map((place) => urls[place] as string);
      const found = bank.list(asked, agent);
      for (const [index, place] of places.entries()) verdicts[place] = found[index] as Verdict;
    }
    return verdicts;
  }
}
