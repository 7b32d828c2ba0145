import { Buffer } from 'node:buffer';
import type { Agent } from '../protocol/agent.js';
import { differingWitnesses, type Reach, rankedRules, reachOf } from './reach.js';
import { TableAudit } from './table-audit.js';
import type { TableAuthority, TableGroup, TablePattern } from './table-content.js';
import type { TableView } from './table-view.js';

/** What has changed for an agent at a host, by effect. */
export interface AgentChange {
  /** Index of the agent. */
  readonly agent: number;
  readonly old: Reach;
  readonly new: Reach;
  /** Paths on which the rules disagree: see `pathOfWitness`. At most MOST_WITNESSES. */
  readonly witnesses: readonly Buffer[];
}

const MOST_WITNESSES = 16;

/** Pairs of robots records whose changes are kept, since many hosts share a robots.txt. */
const KEPT_PAIRS = 1 << 17;

/** A rule that denies everything, for a host that is unreachable. */
const DENY_ALL: TablePattern = {
  rank: 2,
  line: 0,
  prefix: Buffer.from('/'),
  first: [],
  second: undefined,
  isEnd: false,
};

/** Compares the robots.txt files of two tables by what they allow. */
export class TableDiff {
  readonly #old: TableAudit;
  readonly #new: TableAudit;
  readonly #agents: number;
  readonly #google: boolean;
  readonly #known = new Map<string, readonly AgentChange[]>();

  /** @param google whether the tables are for the google profile */
  constructor(old: TableView, next: TableView, agents: readonly Agent[], google: boolean) {
    this.#old = new TableAudit(old, agents, google);
    this.#new = new TableAudit(next, agents, google);
    this.#agents = agents.length;
    this.#google = google;
  }

  /**
   * The changes between the robots.txt of an authority in the old table and in the new one.
   *
   * @throws RobotsFilterError `table` if a table is damaged
   */
  changes(old: TableAuthority, next: TableAuthority): readonly AgentChange[] {
    const key = `${old.robots} ${next.robots}`;
    let changes = this.#known.get(key);
    if (changes === undefined) {
      changes = this.#compare(old, next);
      if (this.#known.size === KEPT_PAIRS) this.#known.clear();
      this.#known.set(key, changes);
    }
    return changes;
  }

  /** How much each agent may fetch of a host that is only in the old or in the new table. */
  reaches(authority: TableAuthority, side: 'old' | 'new'): readonly Reach[] {
    const audit = side === 'old' ? this.#old : this.#new;
    return audit.summaries(authority.robots, authority.accessResult).map(({ reach }) => reach);
  }

  #compare(old: TableAuthority, next: TableAuthority): AgentChange[] {
    const changes: AgentChange[] = [];
    for (let agent = 0; agent < this.#agents; agent++) {
      const before = groupsOf(this.#old, old, agent);
      const after = groupsOf(this.#new, next, agent);
      if (before !== undefined && after !== undefined && this.#sameRules(before, after)) continue;
      const oldRules = rankedRules(patternsOf(this.#old, before));
      const newRules = rankedRules(patternsOf(this.#new, after));
      const witnesses = differingWitnesses(oldRules, newRules, MOST_WITNESSES);
      const [from, to] = [reachOf(oldRules, this.#google), reachOf(newRules, this.#google)];
      if (from !== to || witnesses.length > 0) {
        changes.push({ agent, old: from, new: to, witnesses });
      }
    }
    return changes;
  }

  #sameRules(before: readonly TableGroup[], after: readonly TableGroup[]): boolean {
    if (before.length !== after.length) return false;
    return before.every(({ automaton }, index) => {
      const other = after[index]?.automaton ?? 0;
      if (automaton === 0 || other === 0) return automaton === other;
      const [one, two] = [this.#old.automatonBytes(automaton), this.#new.automatonBytes(other)];
      return one.length === two.length && Buffer.compare(one, two) === 0;
    });
  }
}

/** The groups that decide; `undefined` if the host is unreachable, which denies everything. */
function groupsOf(
  audit: TableAudit,
  { robots, accessResult }: TableAuthority,
  agent: number,
): readonly TableGroup[] | undefined {
  if (accessResult === 'unreachable') return undefined;
  return accessResult === 'unavailable' ? [] : audit.groupsFor(robots, agent);
}

function patternsOf(
  audit: TableAudit,
  groups: readonly TableGroup[] | undefined,
): readonly TablePattern[] {
  return groups === undefined ? [DENY_ALL] : audit.patternsOf(groups);
}
