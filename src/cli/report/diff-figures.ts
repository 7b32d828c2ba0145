/** What a diff counts: for the lines after its rows, and for its report. */

import { DistinctRobots } from '../../inspect/distinct-robots.js';
import type { Direction } from '../../inspect/table-diff.js';
import type { Reach } from '../../patterns/reach.js';
import type { UseExtent } from '../../patterns/use-answers.js';
import type { Verdict } from '../../protocol/verdict.js';
import type { TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
import { formatNumber } from '../text.js';
import { type AgentInfo, type ReportAbout, zeros } from './figures.js';

/** What a row of a diff says: the host has come or gone, or what was allowed before and after. */
export type Difference =
  | 'added'
  | 'removed'
  /** A part before and after, but not the same one. */
  | 'rules'
  | readonly [old: Reach, next: Reach]
  | readonly [old: Verdict, next: Verdict]
  | UseDifference;

/** What was said about a use before and after, where the agent may fetch something. */
export interface UseDifference {
  readonly use: string;
  readonly said: readonly [old: UseExtent | undefined, next: UseExtent | undefined];
  /** Present if the host has come or gone: then one side says nothing. */
  readonly only?: 'added' | 'removed';
}

/** The rows of a diff for one agent, by what they say, in words. */
export interface AgentDifferences {
  readonly agent: string;
  /** By descending number. */
  readonly counts: readonly (readonly [difference: Difference, rows: number])[];
  /** Hosts whose rules were too many to compare on every path: they may differ, unnoticed. */
  readonly undecided: number;
}

/** Counts the rows of a diff. */
export class DiffTally {
  /** Hosts or URLs that were compared. */
  compared = 0;
  /** Rows. */
  differences = 0;
  readonly #agents: readonly string[];
  readonly #undecided: number[];
  readonly #counts: readonly Map<string, { readonly difference: Difference; rows: number }>[];

  constructor(agents: readonly string[]) {
    this.#agents = agents;
    this.#undecided = agents.map(() => 0);
    this.#counts = agents.map(() => new Map());
  }

  /** @param agent index of the agent */
  add(agent: number, difference: Difference): void {
    this.differences++;
    const counts = this.#counts[agent];
    const key = differenceText(difference);
    const count = counts?.get(key);
    if (count === undefined) counts?.set(key, { difference, rows: 1 });
    else count.rows++;
  }

  /** Counts a host that may differ. */
  addUndecided(agent: number): void {
    this.#undecided[agent] = (this.#undecided[agent] ?? 0) + 1;
  }

  get agents(): AgentDifferences[] {
    return this.#agents.map((agent, index) => {
      const counts = Array.from(
        this.#counts[index]?.values() ?? [],
        ({ difference, rows }) => [difference, rows] as const,
      );
      const undecided = this.#undecided[index] ?? 0;
      return { agent, counts: counts.sort(([, a], [, b]) => b - a), undecided };
    });
  }
}

/** A difference in words. */
export function differenceText(difference: Difference): string {
  if (typeof difference === 'string') return difference === 'rules' ? 'by other rules' : difference;
  if (!isOfUse(difference)) return difference.join(ARROW);
  const { use, said, only } = difference;
  if (only !== undefined) return `${use} ${said[0] ?? said[1]} (${only})`;
  if (said[0] === said[1]) return `${use} by other signals`;
  return `${use} ${said.map((each) => each ?? 'nothing').join(ARROW)}`;
}

const ARROW = ' \u2192 ';

export function isOfUse(difference: Difference): difference is UseDifference {
  return typeof difference === 'object' && 'use' in difference;
}

/** What is said if no difference was found. */
export function noDifference(undecided: number): string {
  return undecided === 0 ? 'no difference' : 'no difference found';
}

/** The differences of an agent in words, with those that may have been missed. */
export function differencesText(
  { counts, undecided }: AgentDifferences,
  rowsText: (difference: Difference, rows: number) => string,
): string {
  const parts = counts.map(([difference, rows]) => rowsText(difference, rows));
  if (parts.length === 0) parts.push(noDifference(undecided));
  if (undecided > 0) parts.push(`${formatNumber(undecided)} not fully compared`);
  return parts.join(', ');
}

// ---- The figures of a report

/**
 * What a change does to an agent at a host: it may fetch nothing any more; less; less here and more
 * there, or neither is proven; more; something where it might fetch nothing; or the host has come
 * or gone.
 */
export const EFFECTS = [
  'shutOut',
  'narrower',
  'other',
  'wider',
  'letIn',
  'added',
  'removed',
] as const;
export type Effect = (typeof EFFECTS)[number];

/** The effect of a change from one extent to another, or between parts. */
export function effectOf(old: Reach, next: Reach, direction: Direction | undefined): Effect {
  if (old === next) return direction ?? 'other';
  if (next === 'none') return 'shutOut';
  if (old === 'none') return 'letIn';
  return next === 'part' ? 'narrower' : 'wider';
}

/** A change that several agents see alike. */
export interface SeenChange {
  readonly agents: readonly string[];
  readonly effect: Effect | 'denied' | 'allowed' | 'moved';
  readonly path: string | null;
  readonly oldRule: string | null;
  readonly newRule: string | null;
}

/** A change from one robots.txt to another, and the hosts that have made it and no other. */
export interface ChangeFigures {
  /** The first of these hosts, or a URL. */
  readonly of: string;
  readonly hosts: number;
  readonly changes: readonly SeenChange[];
}

/** The counts for one agent. */
export interface AgentChanges extends AgentInfo {
  /** Hosts by what the change does to the agent. */
  readonly hosts?: Record<Effect, number>;
  /** Hosts whose rules were too many to compare on every path. */
  readonly undecided?: number;
  /** Changes by what they do, each change from one robots.txt to another once. */
  readonly files?: Record<Effect, number>;
  /** Of the hosts with each effect, those that made the change which most of them made. */
  readonly largest?: Readonly<
    Record<Effect, { readonly of: string; readonly hosts: number } | null>
  >;
  /** URLs that are denied or allowed now, or whose verdict was or is another one. */
  readonly urls?: Readonly<Record<'denied' | 'allowed' | 'moved', number>>;
}

/** Every figure of a comparison. docs/formats.md describes the JSON. */
export interface DiffFigures extends Omit<ReportAbout, 'source'> {
  readonly schema: 'robots-filter/diff/1';
  readonly old: string;
  readonly new: string;
  readonly what: 'host' | 'URL';
  /** Hosts or URLs that were compared, and those of them with a change for some agent. */
  readonly compared: number;
  readonly changed: number;
  readonly agents: readonly AgentChanges[];
  /** Rows about uses: absent if no use was asked about. */
  readonly uses?: readonly {
    readonly agent: string;
    readonly use: string;
    readonly old: UseExtent | null;
    readonly new: UseExtent | null;
    readonly rows: number;
  }[];
  /** The changes with most hosts and agents. */
  readonly changes: readonly ChangeFigures[];
}

/** Changes in a report. */
export const MOST_CHANGES = 30;

/** The robots.txt of a scheme and port on both sides, and what the change does to each agent. */
export interface ChangedPart {
  readonly old: TableAuthority | undefined;
  readonly new: TableAuthority | undefined;
  readonly effects: readonly (Effect | undefined)[];
}

/** A change from one robots.txt to another. */
interface CountedChange extends ChangedPart {
  readonly of: string;
  /** Hosts that have made it and no other. */
  hosts: number;
}

/** Counts changed hosts for a report. Memory grows with the distinct changes alone. */
export class ChangeTally {
  /** Hosts with a change for some agent. */
  changed = 0;
  readonly #agents: readonly AgentInfo[];
  readonly #hosts: readonly Record<Effect, number>[];
  readonly #files: readonly Record<Effect, number>[];
  readonly #undecided: number[];
  readonly #old: DistinctRobots;
  readonly #new: DistinctRobots;
  readonly #changes = new Map<string, CountedChange>();

  constructor(old: TableView, next: TableView, agents: readonly AgentInfo[]) {
    this.#agents = agents;
    this.#hosts = agents.map(() => zeros(EFFECTS));
    this.#files = agents.map(() => zeros(EFFECTS));
    this.#undecided = agents.map(() => 0);
    this.#old = new DistinctRobots(old);
    this.#new = new DistinctRobots(next);
  }

  /**
   * Counts a host.
   *
   * @param parts what has changed at its schemes and ports
   * @param undecided indices of the agents for which it may have changed, unnoticed
   */
  add(host: string, parts: readonly ChangedPart[], undecided: ReadonlySet<number>): void {
    const some = parts.filter(({ effects }) => effects.some((effect) => effect !== undefined));
    for (const agent of this.#agents.keys()) {
      const effects = new Set(some.flatMap(({ effects: own }) => own[agent] ?? []));
      const [one] = effects;
      const effect = effects.size > 1 ? 'other' : one;
      if (effect !== undefined) this.#count(this.#hosts, agent, effect);
      else if (undecided.has(agent)) this.#undecided[agent] = (this.#undecided[agent] ?? 0) + 1;
    }
    if (some.length === 0) return;
    this.changed++;
    for (const part of some) {
      const key = `${numberOf(this.#old, part.old)} ${numberOf(this.#new, part.new)}`;
      let change = this.#changes.get(key);
      if (change === undefined) {
        change = { ...part, of: host, hosts: 0 };
        this.#changes.set(key, change);
        part.effects.forEach((effect, agent) => {
          if (effect !== undefined) this.#count(this.#files, agent, effect);
        });
      }
      if (some.length === 1) change.hosts++;
    }
  }

  #count(counts: readonly Record<Effect, number>[], agent: number, effect: Effect): void {
    const own = counts[agent];
    if (own !== undefined) own[effect]++;
  }

  /** @param describe tells what the agents see of a change */
  figures(
    describe: (part: ChangedPart, host: string) => readonly SeenChange[],
  ): Pick<DiffFigures, 'changed' | 'agents' | 'changes'> {
    const changes = [...this.#changes.values()];
    const weightOf = ({ hosts, effects }: CountedChange): number =>
      Math.max(1, hosts) * effects.filter((effect) => effect !== undefined).length;
    const most = changes
      .toSorted((a, b) => weightOf(b) - weightOf(a) || (a.of < b.of ? -1 : 1))
      .slice(0, MOST_CHANGES);
    return {
      changed: this.changed,
      agents: this.#agents.map((agent, index) => ({
        ...agent,
        hosts: this.#hosts[index] ?? zeros(EFFECTS),
        files: this.#files[index] ?? zeros(EFFECTS),
        undecided: this.#undecided[index] ?? 0,
        largest: largestOf(changes, index),
      })),
      changes: most.map((change) => ({
        of: change.of,
        hosts: change.hosts,
        changes: describe(change, change.of),
      })),
    };
  }
}

/** The number of a distinct robots.txt; or what there is in place of one. */
function numberOf(distinct: DistinctRobots, authority: TableAuthority | undefined): string {
  if (authority === undefined) return '-';
  return String(distinct.numberOf(authority) ?? authority.accessResult);
}

function largestOf(
  changes: readonly CountedChange[],
  agent: number,
): NonNullable<AgentChanges['largest']> {
  const found = Object.fromEntries(EFFECTS.map((effect) => [effect, null])) as Record<
    Effect,
    { of: string; hosts: number } | null
  >;
  for (const { of, hosts, effects } of changes) {
    const effect = effects[agent];
    if (effect !== undefined && hosts > (found[effect]?.hosts ?? 0)) found[effect] = { of, hosts };
  }
  return found;
}

/** What several agents see alike of a change, from what each of them sees. */
export function seenAlike(
  seen: Iterable<Omit<SeenChange, 'agents'> & { agent: string }>,
): SeenChange[] {
  const groups = new Map<string, SeenChange & { agents: string[] }>();
  for (const { agent, ...change } of seen) {
    const key = JSON.stringify(change);
    const group = groups.get(key) ?? { agents: [], ...change };
    groups.set(key, group);
    group.agents.push(agent);
  }
  return [...groups.values()];
}

/** The rows about uses. */
export function useChanges(tally: DiffTally): NonNullable<DiffFigures['uses']> {
  return tally.agents.flatMap(({ agent, counts }) =>
    counts.flatMap(([difference, rows]) => {
      if (!isOfUse(difference)) return [];
      const [old, next] = difference.said;
      return [{ agent, use: difference.use, old: old ?? null, new: next ?? null, rows }];
    }),
  );
}

/** Counts changed URLs for a report. */
export class UrlChanges {
  #changed = 0;
  readonly #agents: readonly AgentInfo[];
  readonly #urls: readonly Record<'denied' | 'allowed' | 'moved', number>[];
  readonly #first: ChangeFigures[] = [];

  constructor(agents: readonly AgentInfo[]) {
    this.#agents = agents;
    this.#urls = agents.map(() => zeros(['denied', 'allowed', 'moved']));
  }

  /** Counts a URL whose verdict differs for some agents. */
  add(
    url: string,
    seen: readonly {
      readonly agent: number;
      readonly old: Verdict;
      readonly next: Verdict;
      readonly oldRule: string;
      readonly newRule: string;
    }[],
  ): void {
    if (seen.length === 0) return;
    this.#changed++;
    const changes = seen.map(({ agent, old, next, oldRule, newRule }) => {
      const isDecided = [old, next].every((verdict) => verdict === 'allow' || verdict === 'deny');
      const effect = isDecided ? (next === 'deny' ? 'denied' : 'allowed') : 'moved';
      const counts = this.#urls[agent];
      if (counts !== undefined) counts[effect]++;
      const name = this.#agents[agent]?.agent ?? '';
      return { agent: name, effect, path: null, oldRule, newRule } as const;
    });
    if (this.#first.length === MOST_CHANGES) return;
    this.#first.push({ of: url, hosts: 1, changes: seenAlike(changes) });
  }

  get figures(): Pick<DiffFigures, 'changed' | 'agents' | 'changes'> {
    return {
      changed: this.#changed,
      agents: this.#agents.map((agent, index) => ({
        ...agent,
        urls: this.#urls[index] ?? zeros(['denied', 'allowed', 'moved']),
      })),
      changes: this.#first,
    };
  }
}
