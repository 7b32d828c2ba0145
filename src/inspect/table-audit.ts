import { PairCache } from '../base/pair-cache.js';
import { type AgentLists, ANY, agentLists, type Link, linksOf } from '../judge/host-records.js';
import { movedGroup } from '../judge/open-shards.js';
import { type RuleSummary, summarise } from '../patterns/reach.js';
import type { Agent } from '../protocol/agent.js';
import type { AccessResult } from '../protocol/verdict.js';
import { MAX_GROUP_RULES } from '../table/format.js';
import { AutomatonView } from '../view/automaton-view.js';
import type { TableGroup, TablePattern, TableReader } from '../view/table-content.js';
import { type GroupLists, SHARD_SPAN, type TableView } from '../view/table-view.js';

/** What a robots.txt says to an agent. */
export interface AgentSummary extends RuleSummary {
  /**
   * The product tokens whose groups decide, in lower case: one of the agent's chain, or `*`; in the
   * google profile all of the chain that a group names. Empty if no group is for the agent.
   */
  readonly tokens: readonly string[];
}

/** A shard, and the agents' product tokens in it. */
interface AuditedPart {
  readonly reader: TableReader;
  readonly lists: GroupLists;
  readonly agents: readonly (readonly Link[])[];
}

const NO_RULES = { rules: 0, rootAllowed: true, rootLine: undefined } as const;
const EVERYTHING: AgentSummary = { ...NO_RULES, reach: 'all', tokens: [] };
const NOTHING: AgentSummary = { ...NO_RULES, reach: 'none', rootAllowed: false, tokens: [] };

/** Binary logarithm of the number of automata whose summaries are kept. */
const KEPT_BITS = 16;

/** Summarises the robots.txt files of a table for some agents. */
export class TableAudit {
  /** By shard. */
  readonly #parts: readonly AuditedPart[];
  readonly #google: boolean;
  /** Summaries by the automaton of a list with one group; lines count from 0. */
  readonly #byAutomaton = new PairCache<RuleSummary>(KEPT_BITS);

  /** @param google whether the table is for the google profile */
  constructor(view: TableView, agents: readonly Agent[], google: boolean) {
    this.#google = google;
    this.#parts = view.parts.map((part) => ({
      reader: part.reader,
      lists: part.groupLists,
      agents: agents.map((agent) => linksOf(part, agent)),
    }));
  }

  /**
   * What the robots record says to each agent.
   *
   * @param robots offset of the record
   * @throws RobotsFilterError `table` if the table is damaged
   */
  summaries(robots: number, access: AccessResult): readonly AgentSummary[] {
    const { agents } = this.#partOf(robots);
    if (access === 'unavailable') return agents.map(() => EVERYTHING);
    if (access === 'unreachable') return agents.map(() => NOTHING);
    // Most agents have the groups of *, and share their summary.
    let ofAny: AgentSummary | undefined;
    return agents.map((links) => {
      const { tokens, lists } = this.#listsOf(robots, links);
      if (tokens.length === 0) return EVERYTHING;
      if (tokens !== ANY) return { ...this.#summaryOf(lists), tokens };
      ofAny ??= { ...this.#summaryOf(lists), tokens };
      return ofAny;
    });
  }

  /**
   * The offsets of the lists of groups whose rules decide for an agent.
   *
   * @param agent index of the agent
   */
  listsFor(robots: number, agent: number): readonly number[] {
    return this.#listsOf(robots, this.#partOf(robots).agents[agent] ?? []).lists;
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
      const view = this.#automaton(automaton);
      if (patterns.length + view.ruleCount > MAX_GROUP_RULES) {
        throw this.#partOf(automaton).reader.damaged('a group has more rules than a file can hold');
      }
      for (const pattern of view.patterns()) {
        patterns.push({ ...pattern, line: firstLine + pattern.line });
      }
    }
    return patterns;
  }

  /** The bytes of an automaton, in the table. Equal bytes in two tables mean equal rules. */
  automatonBytes(automaton: number): Uint8Array {
    const { bytes } = this.#automaton(automaton);
    const start = automaton % SHARD_SPAN;
    return this.#partOf(automaton).reader.bytes.subarray(start, start + bytes);
  }

  /** The shard that an offset lies in. */
  #partOf(at: number): AuditedPart {
    return this.#parts[Math.floor(at / SHARD_SPAN)] as AuditedPart;
  }

  #groups(list: number): TableGroup[] {
    const start = list % SHARD_SPAN;
    const groups = this.#partOf(list).lists.groups(start);
    return start === list ? groups : groups.map((group) => movedGroup(group, list - start));
  }

  #automaton(at: number): AutomatonView {
    return new AutomatonView(this.#partOf(at).reader, at % SHARD_SPAN);
  }

  #listsOf(robots: number, links: readonly Link[]): AgentLists {
    const start = robots % SHARD_SPAN;
    const found = agentLists(this.#partOf(robots).lists, start, links, this.#google);
    if (start === robots) return found;
    return { ...found, lists: found.lists.map((list) => list + robots - start) };
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
      summarise(this.#automaton(automaton).patterns(), this.#google),
    );
  }
}
