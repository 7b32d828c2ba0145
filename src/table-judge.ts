import type { JudgeTarget } from './kernel/agent-queries.js';
import { Judge, type Judgement } from './kernel/judge.js';
import { ListJudge } from './kernel/list-judge.js';
import type { Verdict } from './protocol/verdict.js';
import {
  type Bank,
  banksOf,
  queryTableOf,
  queryTablesIn,
  type TableMemory,
} from './table-memory.js';

/** Judges URLs in one memory of a table. */
class BankJudge {
  readonly judge: Judge;
  readonly target: JudgeTarget;
  readonly #bank: Bank;
  #lists: ListJudge | undefined;

  constructor(bank: Bank, { header, table, view, shards }: TableMemory) {
    const isWhole = bank.shards.length === shards.length;
    this.#bank = bank;
    this.judge = new Judge(bank.arena);
    this.target = {
      profile: header.profile,
      table,
      anyHost: 0,
      tokenNumber: (token) => view.tokenNumber(token),
      shards: isWhole ? shards.map(queryTableOf) : queryTablesIn(bank, shards),
      checkAgent: (agent) => view.checkAgent(agent),
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
  readonly #banks: readonly [BankJudge, ...BankJudge[]];

  constructor(memory: TableMemory) {
    const banks = banksOf(memory).map((bank) => new BankJudge(bank, memory));
    this.#banks = banks as [BankJudge, ...BankJudge[]];
  }

  /** @throws RobotsFilterError as `Judge.judge` */
  judge(url: string | Uint8Array, agent: string | readonly string[]): Judgement {
    const [first, ...others] = this.#banks;
    let judgement = first.judge.judge(url, agent, first.target);
    for (const { judge, target } of others) {
      if (judgement.verdict !== 'unknown') break;
      judgement = judge.judge(url, agent, target);
    }
    return judgement;
  }

  /** As `judge`; the verdict alone takes less time. */
  verdict(url: string | Uint8Array, agent: string | readonly string[]): Verdict {
    let verdict: Verdict = 'unknown';
    for (const { judge, target } of this.#banks) {
      verdict = judge.verdict(url, agent, target);
      if (verdict !== 'unknown') break;
    }
    return verdict;
  }

  /** The verdicts on many URLs, in their order. */
  verdicts(urls: readonly string[], agent: string | readonly string[]): Verdict[] {
    const [first, ...others] = this.#banks;
    const verdicts = first.list(urls, agent);
    for (const bank of others) {
      const places = [...verdicts.keys()].filter((place) => verdicts[place] === 'unknown');
      const found = bank.list(
        places.map((place) => urls[place] as string),
        agent,
      );
      for (const [index, place] of places.entries()) verdicts[place] = found[index] as Verdict;
    }
    return verdicts;
  }
}
