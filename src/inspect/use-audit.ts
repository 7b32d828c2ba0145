/** What the robots.txt files of a table say about uses to each agent, over all paths. */

import { type RankedRule, rankedRule } from '../patterns/rules.js';
import {
  NOTHING_SAID,
  summariseUse,
  type UseRules,
  type UseSummary,
} from '../patterns/use-answers.js';
import { lowerCaseAscii } from '../protocol/agent.js';
import {
  ANY_KEY,
  EVERYONE,
  type SignalKey,
  signalToken,
  type Use,
  VOCABULARIES,
} from '../protocol/uses.js';
import type { ShardView } from '../view/shard-view.js';
import type { TableAuthority } from '../view/table-content.js';
import type { TableView } from '../view/table-view.js';
import type { AgentSummary, TableAudit } from './table-audit.js';

/**
 * Offsets of lists of groups: of Content-Usage, of Content-Signal, of the policy token, and of the
 * lines of Content-Usage that leave keys out.
 */
type SignalLists = readonly [usage: number[], signal: number[], policy: number[], silent: number[]];

const NO_SIGNALS: SignalLists = [[], [], [], []];

/** Summarises what the robots.txt files of a table say about uses. */
export class UseAudit {
  readonly #view: TableView;
  readonly #audit: TableAudit;
  readonly #uses: readonly Use[];
  readonly #google: boolean;
  /** By shard, the numbers of texts among its product tokens. */
  readonly #numbers = new Map<number, Map<string, number>>();

  /**
   * @param audit that of the same table
   * @param google whether the table is for the google profile
   */
  constructor(view: TableView, audit: TableAudit, uses: readonly Use[], google: boolean) {
    this.#view = view;
    this.#audit = audit;
    this.#uses = uses;
    this.#google = google;
  }

  /**
   * What an authority says to each agent about each use.
   *
   * @param summaries what it allows to each agent
   * @throws RobotsFilterError `table` if the table is damaged
   */
  summaries(
    authority: TableAuthority,
    summaries: readonly AgentSummary[],
  ): readonly (readonly UseSummary[])[] {
    // Agents with the same groups are told the same.
    const known = new Map<string, readonly UseSummary[]>();
    return summaries.map(({ reach, tokens }, agent) => {
      if (reach === 'none') return this.#uses.map(() => NOTHING_SAID);
      const key = JSON.stringify(tokens);
      const said = known.get(key) ?? this.#uses.map((use) => this.summary(authority, agent, use));
      known.set(key, said);
      return said;
    });
  }

  /**
   * What an authority that the agent may fetch something of says about a use.
   *
   * @param agent index of the agent
   */
  summary(authority: TableAuthority, agent: number, use: Use): UseSummary {
    return summariseUse(this.rulesFor(authority, agent, use), this.#google);
  }

  /**
   * What decides about a use for an agent at an authority that can be fetched from.
   *
   * @param agent index of the agent
   */
  rulesFor(authority: TableAuthority, agent: number, use: Use): UseRules {
    const { robots, accessResult } = authority;
    const [usage, signal, policy, silent] = this.signalLists(authority, agent, use);
    const hasRules = accessResult === 'successful';
    return {
      access: () => (hasRules ? this.#rulesOf(this.#audit.decidersFor(robots, agent).lists) : []),
      lines: { 'content-usage': this.#rulesOf(usage), 'content-signal': this.#rulesOf(signal) },
      silent: this.#rulesOf(silent),
      policy: policy.length === 0 ? undefined : this.#rulesOf(policy),
    };
  }

  /**
   * The lists of groups that are signals about a use for an agent: of the lines of each kind, of
   * the policy token, and of lines that leave keys out.
   *
   * @param agent index of the agent
   */
  signalLists(
    { robots, accessResult }: TableAuthority,
    agent: number,
    { keys, policyToken }: Use,
  ): SignalLists {
    if (accessResult !== 'successful') return NO_SIGNALS;
    const shard = this.#view.shardAt(robots);
    const { tokens } = this.#audit.decidersFor(robots, agent);
    const listsOf = (key: SignalKey): number[] => {
      const names = [...tokens, EVERYONE].map((token) => signalToken(key, token));
      return this.#listsOf(shard, robots, names);
    };
    const [usage = [], signal = []] = VOCABULARIES.map((vocabulary) =>
      keys.filter((key) => key.vocabulary === vocabulary).flatMap(listsOf),
    );
    const silent = usage.length === 0 ? [] : listsOf({ vocabulary: 'content-usage', key: ANY_KEY });
    const policy =
      policyToken === undefined ? [] : this.#listsOf(shard, robots, [lowerCaseAscii(policyToken)]);
    return [usage, signal, policy, silent];
  }

  #rulesOf(lists: readonly number[]): RankedRule[] {
    if (lists.length === 0) return [];
    return this.#audit.patternsOf(this.#audit.groupsOf(lists)).map(rankedRule);
  }

  /** The lists of groups that a robots record has for some texts in the place of product tokens. */
  #listsOf(shard: ShardView, robots: number, names: readonly string[]): number[] {
    const lists = new Set<number>();
    for (const name of names) {
      const number = this.#numberOf(shard, name);
      const list = number < 0 ? 0 : shard.groupLists.find(robots, number);
      if (list !== 0) lists.add(list);
    }
    return [...lists];
  }

  #numberOf(shard: ShardView, name: string): number {
    let numbers = this.#numbers.get(shard.shard);
    if (numbers === undefined) {
      numbers = new Map();
      this.#numbers.set(shard.shard, numbers);
    }
    let number = numbers.get(name);
    if (number === undefined) {
      number = shard.tokenNumber(name);
      numbers.set(name, number);
    }
    return number;
  }
}
