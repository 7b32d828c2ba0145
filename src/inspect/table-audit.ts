/**
 * Says what the robots.txt files of a table allow each agent: everything, nothing, or something.
 */

import { PairCache } from '../base/maps.js';
import {
  type AgentLinks,
  type AgentLists,
  ANY,
  agentLists,
  linksOf,
  NO_LISTS,
} from '../judge/host-records.js';
import { type RuleSummary, summarise } from '../patterns/reach.js';
import type { Agent } from '../protocol/agent.js';
import type { AccessResult } from '../protocol/verdict.js';
import { MAX_GROUP_RULES } from '../table/format.js';
import { automatonAt } from '../view/automaton-view.js';
import { SHARD_SPAN, type ShardView } from '../view/shard-view.js';
import type { TableGroup, TablePattern } from '../view/table-content.js';
import type { TableView } from '../view/table-view.js';

/** What a robots.txt says to an agent. */
export interface AgentSummary extends RuleSummary {
  /**
   * The product tokens whose groups decide, in lower case: one of the agent's chain, or `*`; in the
   * google profile all of the chain that a group names. Empty if no group is for the agent.
   */
  readonly tokens: readonly string[];
}

const NO_RULES = { rules: 0, rootAllowed: true, rootLine: undefined } as const;
const EVERYTHING: AgentSummary = { ...NO_RULES, reach: 'all', tokens: [] };
const NOTHING: AgentSummary = { ...NO_RULES, reach: 'none', rootAllowed: false, tokens: [] };

/** Binary logarithm of the number of automata whose summaries are kept. */
const KEPT_BITS = 16;

/** Summarises the robots.txt files of a table for some agents. */
export class TableAudit {
  readonly #view: TableView;
  /** The agents' product tokens in each shard; none for a shard that is not in memory. */
  readonly #agents: readonly (readonly AgentLinks[])[];
  readonly #google: boolean;
  /** Summaries by the automaton of a list with one group; lines count from 0. */
  readonly #byAutomaton = new PairCache<RuleSummary>(KEPT_BITS);

  /** @param google whether the table is for the google profile */
  constructor(view: TableView, agents: readonly Agent[], google: boolean) {
    this.#google = google;
    this.#view = view;
    this.#agents = view.shards.map((shard) =>
      shard === undefined ? [] : agents.map((agent) => linksOf(shard, agent)),
    );
  }

  /**
   * What the robots record says to each agent.
   *
   * @param robots offset of the record
   * @throws RobotsFilterError `table` if the table is damaged
   */
  summaries(robots: number, access: AccessResult | 'unknown'): readonly AgentSummary[] {
    const shard = this.#view.shardAt(robots);
    const agents = this.#agentsIn(shard);
    if (access === 'unavailable') return agents.map(() => EVERYTHING);
    if (access === 'unreachable' || access === 'unknown') return agents.map(() => NOTHING);
    // Most agents have the groups of *, and share their summary.
    let ofAny: AgentSummary | undefined;
    return agents.map((links) => {
      const { tokens, lists } = this.#listsOf(shard, robots, links);
      if (tokens.length === 0) return EVERYTHING;
      if (tokens !== ANY) return { ...this.#summaryOf(lists), tokens };
      ofAny ??= { ...this.#summaryOf(lists), tokens };
      return ofAny;
    });
  }

  /**
   * The offsets of the lists of groups whose rules decide for an agent, and the product tokens that
   * they name.
   *
   * @param agent index of the agent
   */
  decidersFor(robots: number, agent: number): AgentLists {
    const shard = this.#view.shardAt(robots);
    const links = this.#agentsIn(shard)[agent];
    return links === undefined ? NO_LISTS : this.#listsOf(shard, robots, links);
  }

  /** The groups of some lists. */
  groupsOf(lists: readonly number[]): readonly TableGroup[] {
    const [only] = lists;
    if (only !== undefined && lists.length === 1) return this.#groups(only);
    return lists.flatMap((list) => this.#groups(list));
  }

  /** The patterns of some groups, each group once. */
  patternsOf(groups: readonly TableGroup[]): TablePattern[] {
    const patterns: TablePattern[] = [];
    const seen = new Set<string>();
    for (const { automaton, firstLine } of groups) {
      const key = `${automaton} ${firstLine}`;
      if (automaton === 0 || seen.has(key)) continue;
      seen.add(key);
      const view = automatonAt(this.#view, automaton);
      if (patterns.length + view.ruleCount > MAX_GROUP_RULES) {
        throw this.#view
          .shardAt(automaton)
          .reader.damaged('a group has more rules than a file can hold');
      }
      for (const pattern of view.patterns()) {
        patterns.push({ ...pattern, line: firstLine + pattern.line });
      }
    }
    return patterns;
  }

  /** The bytes of an automaton, in the table. Equal bytes in two tables mean equal rules. */
  automatonBytes(automaton: number): Uint8Array {
    const shard = this.#view.shardAt(automaton);
    const start = automaton % SHARD_SPAN;
    return shard.reader.bytes.subarray(start, start + automatonAt(shard, automaton).bytes);
  }

  #agentsIn({ shard }: ShardView): readonly AgentLinks[] {
    return this.#agents[shard] ?? [];
  }

  #groups(list: number): TableGroup[] {
    return this.#view.shardAt(list).groupLists.groups(list);
  }

  #listsOf({ groupLists }: ShardView, robots: number, links: AgentLinks): AgentLists {
    return agentLists(groupLists, robots, links, this.#google);
  }

  #summaryOf(lists: readonly number[]): RuleSummary {
    const groups = this.groupsOf(lists);
    const [only, another] = groups;
    if (only !== undefined && another === undefined) {
      const { automaton, firstLine } = only;
      if (automaton === 0) return { ...NO_RULES, reach: 'all' };
      const summary = this.#summaryOfAutomaton(automaton);
      const { rootLine } = summary;
      return rootLine === undefined ? summary : { ...summary, rootLine: firstLine + rootLine };
    }
    return summarise(this.patternsOf(groups), this.#google);
  }

  #summaryOfAutomaton(automaton: number): RuleSummary {
    return this.#byAutomaton.of(automaton, 0, () =>
      summarise(automatonAt(this.#view, automaton).patterns(), this.#google),
    );
  }
}
