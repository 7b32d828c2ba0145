/** What has changed between two tables, by what they allow. */

import { Buffer } from 'node:buffer';
import { PairCache } from '../base/maps.js';
import { differingPaths } from '../patterns/differing-paths.js';
import { type Reach, reachOf } from '../patterns/reach.js';
import { type RankedRule, rankedRule } from '../patterns/rules.js';
import { differingAnswers, type UseExtent } from '../patterns/use-answers.js';
import type { Agent } from '../protocol/agent.js';
import type { Scheme } from '../protocol/authority.js';
import type { Use } from '../protocol/uses.js';
import type { TableAuthority, TableGroup, TableHost, TablePattern } from '../view/table-content.js';
import type { TableView } from '../view/table-view.js';
import { sortedPlaces } from './host-order.js';
import { TableAudit } from './table-audit.js';
import { UseAudit } from './use-audit.js';

/** What has changed for an agent at a host, by effect. */
export interface AgentChange {
  /** Index of the agent. */
  readonly agent: number;
  readonly old: Reach;
  readonly new: Reach;
  /**
   * Some paths on which the rules disagree. Without any it is undecided whether anything has
   * changed: the rules are too many, or too entangled, to compare them on every path.
   */
  readonly paths: readonly string[];
  /** Which way it goes, if that was asked; `undefined` if nothing is proven. */
  readonly direction: Direction | undefined;
}

/**
 * Whether every path that may be fetched after a change could be fetched before, or the other way
 * round.
 */
export type Direction = 'narrower' | 'wider';

/** What has changed of what a host says about a use to an agent. */
export interface UseChange {
  /** Index of the agent. */
  readonly agent: number;
  readonly use: Use;
  /** What is said of all that the agent may fetch; `undefined` if that is nothing. */
  readonly old: UseExtent | undefined;
  readonly new: UseExtent | undefined;
  /** Paths that may be fetched on both sides, with other answers; as those of AgentChange. */
  readonly paths: readonly string[];
}

/** What has changed from some groups to others. */
type Change = Omit<AgentChange, 'agent'>;

/** Binary logarithm of the number of comparisons that are kept. */
const KEPT_BITS = 16;

const NO_CHANGES: readonly AgentChange[] = [];
const NO_USE_CHANGES: readonly UseChange[] = [];

/** Between groups that allow the same. */
const NO_CHANGE: Change = { old: 'part', new: 'part', paths: [], direction: undefined };

/** Stands for the groups of a host that is unreachable, which denies everything. */
const UNREACHABLE = -1;

/** A rule that denies everything, for a host that is unreachable. */
const DENY_ALL: TablePattern = {
  rank: 2,
  line: 0,
  prefix: Buffer.from('/'),
  first: [],
  second: undefined,
  isEnd: false,
};

/** The groups that decide, and a number that groups with the same rules may share. */
interface Deciders {
  /** `undefined` if the host is unreachable. */
  readonly groups: readonly TableGroup[] | undefined;
  /** `undefined` if they have none. */
  readonly number: number | undefined;
}

/** Compares the robots.txt files of two tables by what they allow. */
export class TableDiff {
  readonly #old: TableAudit;
  readonly #new: TableAudit;
  readonly #agents: number;
  readonly #google: boolean;
  readonly #directs: boolean;
  /** Many hosts share a robots.txt; many agents, and files, share groups. */
  readonly #known = new PairCache<readonly AgentChange[]>(KEPT_BITS);
  readonly #knownChanges = new PairCache<Change>(KEPT_BITS);
  readonly #oldUses: UseAudit;
  readonly #newUses: UseAudit;
  readonly #uses: readonly Use[];
  readonly #knownUses = new PairCache<readonly UseChange[]>(KEPT_BITS);

  /**
   * @param google whether the tables are for the google profile
   * @param uses the uses whose changes are found, too
   * @param directs whether it is found out which way changes go
   */
  constructor(
    old: TableView,
    next: TableView,
    agents: readonly Agent[],
    google: boolean,
    uses: readonly Use[] = [],
    directs = false,
  ) {
    this.#old = new TableAudit(old, agents, google);
    this.#new = new TableAudit(next, agents, google);
    this.#oldUses = new UseAudit(old, this.#old, uses, google);
    this.#newUses = new UseAudit(next, this.#new, uses, google);
    this.#agents = agents.length;
    this.#uses = uses;
    this.#google = google;
    this.#directs = directs;
  }

  /**
   * The changes between the robots.txt of an authority in the old table and in the new one.
   *
   * @throws RobotsFilterError `table` if a table is damaged
   */
  changes(old: TableAuthority, next: TableAuthority): readonly AgentChange[] {
    return this.#known.of(old.robots, next.robots, () => this.#compare(old, next));
  }

  /**
   * The changes of what an authority says about uses, on paths that may be fetched on both sides.
   *
   * @throws RobotsFilterError `table` if a table is damaged
   */
  useChanges(old: TableAuthority, next: TableAuthority): readonly UseChange[] {
    if (this.#uses.length === 0 || isClosed(old) || isClosed(next)) return NO_USE_CHANGES;
    return this.#knownUses.of(old.robots, next.robots, () => this.#compareUses(old, next));
  }

  #compareUses(old: TableAuthority, next: TableAuthority): readonly UseChange[] {
    let changes: UseChange[] | undefined;
    // Agents with the same groups on both sides have the same changes.
    const known = new Map<string, readonly Omit<UseChange, 'agent'>[]>();
    for (let agent = 0; agent < this.#agents; agent++) {
      const key = [tokensOf(this.#old, old, agent), tokensOf(this.#new, next, agent)].join();
      const own =
        known.get(key) ?? this.#uses.flatMap((use) => this.#useChange(old, next, agent, use));
      known.set(key, own);
      for (const change of own) {
        changes ??= [];
        changes.push({ agent, ...change });
      }
    }
    return changes ?? NO_USE_CHANGES;
  }

  #useChange(
    old: TableAuthority,
    next: TableAuthority,
    agent: number,
    use: Use,
  ): Omit<UseChange, 'agent'>[] {
    const oldLists = this.#oldUses.signalLists(old, agent, use);
    const newLists = this.#newUses.signalLists(next, agent, use);
    const isSame = oldLists.every((lists, index) =>
      this.#sameRules(this.#old.groupsOf(lists), this.#new.groupsOf(newLists[index] ?? [])),
    );
    if (isSame) return [];
    const before = this.#oldUses.rulesFor(old, agent, use);
    const after = this.#newUses.rulesFor(next, agent, use);
    const { paths, isComplete } = differingAnswers(before, after, this.#google);
    if (paths.length === 0 && isComplete) return [];
    const from = this.#oldUses.summary(old, agent, use).extent;
    const to = this.#newUses.summary(next, agent, use).extent;
    return [{ use, old: from, new: to, paths }];
  }

  /** How much each agent may fetch of a host that is only in the old or in the new table. */
  reaches(authority: TableAuthority, side: 'old' | 'new'): readonly Reach[] {
    const audit = side === 'old' ? this.#old : this.#new;
    return audit.summaries(authority.robots, authority.accessResult).map(({ reach }) => reach);
  }

  /** What a host that is only in the old or in the new table says to each agent about each use. */
  useExtents(
    authority: TableAuthority,
    side: 'old' | 'new',
  ): readonly (readonly (UseExtent | undefined)[])[] {
    const [audit, uses] = side === 'old' ? [this.#old, this.#oldUses] : [this.#new, this.#newUses];
    const summaries = audit.summaries(authority.robots, authority.accessResult);
    return uses.summaries(authority, summaries).map((said) => said.map(({ extent }) => extent));
  }

  #compare(old: TableAuthority, next: TableAuthority): readonly AgentChange[] {
    let changes: AgentChange[] | undefined;
    for (let agent = 0; agent < this.#agents; agent++) {
      const before = decidersOf(this.#old, old, agent);
      const after = decidersOf(this.#new, next, agent);
      const compute = (): Change => this.#changeOf(before.groups, after.groups);
      const change =
        before.number === undefined || after.number === undefined
          ? compute()
          : this.#knownChanges.of(before.number, after.number, compute);
      if (change === NO_CHANGE) continue;
      changes ??= [];
      changes.push({ agent, ...change });
    }
    return changes ?? NO_CHANGES;
  }

  #changeOf(
    before: readonly TableGroup[] | undefined,
    after: readonly TableGroup[] | undefined,
  ): Change {
    if (this.#sameRules(before, after)) return NO_CHANGE;
    const oldRules = patternsOf(this.#old, before).map(rankedRule);
    const newRules = patternsOf(this.#new, after).map(rankedRule);
    const { paths, isComplete } = differingPaths(oldRules, newRules, this.#google);
    if (paths.length === 0 && isComplete) return NO_CHANGE;
    const [from, to] = [reachOf(oldRules, this.#google), reachOf(newRules, this.#google)];
    const direction = this.#directs ? directionOf(oldRules, newRules, this.#google) : undefined;
    return { old: from, new: to, paths, direction };
  }

  #sameRules(
    before: readonly TableGroup[] | undefined,
    after: readonly TableGroup[] | undefined,
  ): boolean {
    if (before === undefined || after === undefined) return before === after;
    if (before.length !== after.length) return false;
    return before.every(({ automaton }, index) => {
      const other = after[index]?.automaton ?? 0;
      if (automaton === 0 || other === 0) return automaton === other;
      const [one, two] = [this.#old.automatonBytes(automaton), this.#new.automatonBytes(other)];
      return one.length === two.length && Buffer.compare(one, two) === 0;
    });
  }
}

function directionOf(
  before: readonly RankedRule[],
  after: readonly RankedRule[],
  google: boolean,
): Direction | undefined {
  const isNone = (allowing: 'one' | 'other'): boolean => {
    const { paths, isComplete } = differingPaths(before, after, google, allowing);
    return paths.length === 0 && isComplete;
  };
  if (isNone('other')) return 'narrower';
  return isNone('one') ? 'wider' : undefined;
}

/** Whether nothing may be fetched, whatever the rules. */
function isClosed({ accessResult }: TableAuthority): boolean {
  return accessResult === 'unreachable' || accessResult === 'unknown';
}

/** The product tokens whose groups decide, as a text. */
function tokensOf(
  audit: TableAudit,
  { robots, accessResult }: TableAuthority,
  agent: number,
): string {
  return accessResult !== 'successful'
    ? ''
    : JSON.stringify(audit.decidersFor(robots, agent).tokens);
}

function decidersOf(
  audit: TableAudit,
  { robots, accessResult }: TableAuthority,
  agent: number,
): Deciders {
  if (accessResult === 'unreachable') return { groups: undefined, number: UNREACHABLE };
  const lists = accessResult === 'unavailable' ? [] : audit.decidersFor(robots, agent).lists;
  const groups = audit.groupsOf(lists);
  // An automaton stands for its group wherever it is: lines have no effect.
  if (groups.length <= 1) return { groups, number: groups[0]?.automaton ?? 0 };
  return { groups, number: lists.length === 1 ? lists[0] : undefined };
}

function patternsOf(
  audit: TableAudit,
  groups: readonly TableGroup[] | undefined,
): readonly TablePattern[] {
  return groups === undefined ? [DENY_ALL] : audit.patternsOf(groups);
}

// ---- The hosts of two tables

/** An authority in one of the tables, or in both. */
export interface Sides {
  readonly scheme: Scheme;
  readonly port: number | undefined;
  readonly old: TableAuthority | undefined;
  readonly new: TableAuthority | undefined;
}

/** The hosts of two tables in the order of their names, each once; one side may lack a host. */
export function* pairedHosts(
  oldView: TableView,
  newView: TableView,
): Iterable<readonly [old: TableHost | undefined, next: TableHost | undefined]> {
  const old = new HostList(oldView);
  const next = new HostList(newView);
  for (;;) {
    const [before, after] = [old.name, next.name];
    if (before === undefined && after === undefined) return;
    if (after === undefined || (before !== undefined && before < after)) {
      yield [old.take(), undefined];
    } else if (before === undefined || after < before) {
      yield [undefined, next.take()];
    } else {
      yield [old.take(), next.take()];
    }
  }
}

/** The hosts of a table in the order of their names. */
class HostList {
  readonly #view: TableView;
  readonly #places: Float64Array;
  #next = 0;
  /** The name of the next host; `undefined` after the last one. */
  name: string | undefined;

  constructor(view: TableView) {
    this.#view = view;
    this.#places = sortedPlaces(view);
    this.#readName();
  }

  /**
   * Returns the next host, and moves on to its successor. `undefined` for a host of which nothing
   * is known at the time of the view.
   */
  take(): TableHost | undefined {
    const host = this.#view.hostAt(this.#places[this.#next++] as number);
    this.#readName();
    return host.authorities.length === 0 ? undefined : host;
  }

  #readName(): void {
    const at = this.#places[this.#next];
    this.name = at === undefined ? undefined : this.#view.nameAt(at);
  }
}

/** The authorities of a host, each scheme for itself, in both tables. */
export function sidesOf(old: TableHost | undefined, next: TableHost | undefined): Sides[] {
  const sides = new Map<string, Sides>();
  for (const [host, side] of [
    [old, 'old'],
    [next, 'new'],
  ] as const) {
    for (const authority of host?.authorities ?? []) {
      const { port } = authority;
      for (const scheme of authority.schemes) {
        const key = `${scheme} ${port ?? ''}`;
        const known = sides.get(key) ?? { scheme, port, old: undefined, new: undefined };
        sides.set(key, { ...known, [side]: authority });
      }
    }
  }
  return [...sides.values()];
}

/** Schemes that have the same robots.txt in each table, at the same port. */
export function alike(sides: readonly Sides[]): (readonly [Sides, ...Sides[]])[] {
  const groups: [Sides, ...Sides[]][] = [];
  for (const side of sides) {
    const group = groups.find(
      ([first]) => first.port === side.port && first.old === side.old && first.new === side.new,
    );
    if (group === undefined) groups.push([side]);
    else group.push(side);
  }
  return groups;
}
