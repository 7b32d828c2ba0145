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

/** What has changed from some groups to others. */
type Change = Omit<AgentChange, 'agent'>;

const MOST_WITNESSES = 16;

/** Pairs of robots records whose changes are kept, since many hosts share a robots.txt. */
const KEPT_PAIRS = 1 << 17;

/** Pairs of lists of groups whose changes are kept, since many agents and files share them. */
const KEPT_CHANGES = 1 << 14;

const NO_CHANGES: readonly AgentChange[] = [];

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
  readonly #known = new KeptPairs<number, readonly AgentChange[]>(KEPT_PAIRS);
  readonly #knownChanges = new KeptPairs<string, Change | undefined>(KEPT_CHANGES);

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
    return this.#known.of(old.robots, next.robots, () => this.#compare(old, next));
  }

  /** How much each agent may fetch of a host that is only in the old or in the new table. */
  reaches(authority: TableAuthority, side: 'old' | 'new'): readonly Reach[] {
    const audit = side === 'old' ? this.#old : this.#new;
    return audit.summaries(authority.robots, authority.accessResult).map(({ reach }) => reach);
  }

  #compare(old: TableAuthority, next: TableAuthority): readonly AgentChange[] {
    const changes: AgentChange[] = [];
    for (let agent = 0; agent < this.#agents; agent++) {
      const before = groupsOf(this.#old, old, agent);
      const after = groupsOf(this.#new, next, agent);
      const change = this.#knownChanges.of(automataOf(before), automataOf(after), () =>
        this.#changeOf(before, after),
      );
      if (change !== undefined) changes.push({ agent, ...change });
    }
    return changes.length === 0 ? NO_CHANGES : changes;
  }

  #changeOf(
    before: readonly TableGroup[] | undefined,
    after: readonly TableGroup[] | undefined,
  ): Change | undefined {
    if (before !== undefined && after !== undefined && this.#sameRules(before, after)) return;
    const oldRules = rankedRules(patternsOf(this.#old, before));
    const newRules = rankedRules(patternsOf(this.#new, after));
    const witnesses = differingWitnesses(oldRules, newRules, MOST_WITNESSES);
    const [from, to] = [reachOf(oldRules, this.#google), reachOf(newRules, this.#google)];
    if (from === to && witnesses.length === 0) return;
    return { old: from, new: to, witnesses };
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

/** Remembers what was computed for pairs. If there are too many, it forgets all of them. */
class KeptPairs<Key, Value> {
  readonly #values = new Map<Key, Map<Key, Value>>();
  readonly #most: number;
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The value of a pair; computes it if it is not known. */
  of(one: Key, other: Key, compute: () => Value): Value {
    const known = this.#values.get(one);
    const value = known?.get(other);
    if (value !== undefined || known?.has(other)) return value as Value;
    const computed = compute();
    if (this.#size === this.#most) {
      this.#values.clear();
      this.#size = 0;
    }
    this.#size++;
    const values = this.#values.get(one);
    if (values === undefined) this.#values.set(one, new Map([[other, computed]]));
    else values.set(other, computed);
    return computed;
  }
}

/** The automata of groups, as a key: lines have no effect. */
function automataOf(groups: readonly TableGroup[] | undefined): string {
  return groups === undefined ? 'unreachable' : groups.map(({ automaton }) => automaton).join(' ');
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
