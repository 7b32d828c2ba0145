/** What a diff counts: for the lines after its rows, and for its report. */

import { DistinctRobots } from '../../inspect/distinct-robots.js';
import type { Direction, TableDiff } from '../../inspect/table-diff.js';
import type { Reach } from '../../patterns/reach.js';
import type { UseExtent } from '../../patterns/use-answers.js';
import type { Use } from '../../protocol/uses.js';
import type { Verdict } from '../../protocol/verdict.js';
import type { TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
import { formatCount, formatNumber } from '../text.js';
import {
  type AgentInfo,
  jointly,
  type Largest,
  largestOf,
  type ReportAbout,
  zeros,
} from './figures.js';

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
  readonly effect: Effect | UrlEffect;
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
  readonly largest?: Readonly<Record<Effect, Largest | null>>;
  /** URLs that are denied or allowed now, or whose verdict was or is another one. */
  readonly urls?: Readonly<Record<UrlEffect, number>>;
}

/** Every figure of a comparison. docs/formats.md describes the JSON. */
export interface DiffFigures extends Omit<ReportAbout, 'source'> {
  readonly schema: 'robots-filter/diff/2';
  readonly old: string;
  readonly new: string;
  readonly what: 'host' | 'URL';
  /** Hosts, or URLs, with a robots.txt on one side at least; and those changed for some agent. */
  readonly compared: number;
  readonly changed: number;
  /** URLs without a robots.txt on either side, and those that are no URL of a crawler. */
  readonly unknown?: number;
  readonly invalid?: number;
  readonly agents: readonly AgentChanges[];
  /** Hosts, or URLs, with another answer about a use: absent if no use was asked about. */
  readonly uses?: readonly UseChanges[];
  /** The changes with most hosts and agents. */
  readonly changes: readonly ChangeFigures[];
}

/** How many hosts or URLs changed an answer; `null` on the side that lacks the host. */
interface UseChanges {
  readonly agent: string;
  readonly use: string;
  readonly old: UseExtent | null;
  readonly new: UseExtent | null;
  count: number;
}

/** Changes in a report. */
const MOST_CHANGES = 30;

const ARROW = ' \u2192 ';

/** Counts hosts or URLs that differ, for each agent, by what differs. */
class DiffTally {
  /** Those that were compared. */
  compared = 0;
  /** Those with a change for some agent. */
  changed = 0;
  protected readonly agents: readonly AgentInfo[];
  /** For each agent, in words, how many differ so; `undecided` may differ, unnoticed. */
  readonly #words: readonly Map<string, number>[];
  protected readonly undecided: number[];
  readonly #uses = new Map<string, UseChanges>();

  constructor(agents: readonly AgentInfo[]) {
    this.agents = agents;
    this.#words = agents.map(() => new Map());
    this.undecided = agents.map(() => 0);
  }

  /** @param agent index of the agent */
  protected count(agent: number, words: string): void {
    const counts = this.#words[agent] as Map<string, number>;
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }

  /** Counts what is said about a use before and after; `undefined` where the host is missing. */
  countUse(
    agent: number,
    use: string,
    before: UseExtent | undefined,
    after: UseExtent | undefined,
  ): void {
    const { agent: name = '' } = this.agents[agent] ?? {};
    const [old, next] = [before ?? null, after ?? null];
    const key = [agent, use, old, next].join();
    const changes = this.#uses.get(key) ?? { agent: name, use, old, new: next, count: 0 };
    changes.count++;
    this.#uses.set(key, changes);
    const only = old === null ? ' (added)' : next === null ? ' (removed)' : '';
    const words = [old, next].flatMap((each) => each ?? []).join(ARROW);
    this.count(agent, `${use} ${old === next ? 'by other signals' : words}${only}`);
  }

  /** The answers about uses that have changed: those of the first agent first. */
  get uses(): readonly UseChanges[] {
    const names = this.agents.map(({ agent }) => agent);
    return [...this.#uses.values()].sort(
      (a, b) => names.indexOf(a.agent) - names.indexOf(b.agent) || b.count - a.count,
    );
  }

  /** A line for each agent: how many of those that were compared differ, and how. */
  protected lines(compared: string): string[] {
    return this.agents.map(({ agent }, index) => {
      const counts = [...(this.#words[index] ?? [])].sort(([, a], [, b]) => b - a);
      const undecided = this.undecided[index] ?? 0;
      const parts = counts.map(([words, count]) => `${formatNumber(count)} ${words}`);
      if (parts.length === 0) parts.push(undecided === 0 ? 'no difference' : 'no difference found');
      if (undecided > 0) parts.push(`${formatNumber(undecided)} not fully compared`);
      return `${agent}: ${compared}${counts.length === 0 ? ',' : ':'} ${parts.join(', ')}`;
    });
  }
}

type Sides<Value> = readonly [old: Value, next: Value];

// ---- Hosts

/** The robots.txt of a scheme and port of a host on both sides, and what the change does. */
export interface ComparedPart {
  readonly old: TableAuthority | undefined;
  readonly new: TableAuthority | undefined;
  /** For each agent; `undefined` without a change, and where none is proven. */
  readonly effects: readonly (Effect | undefined)[];
  /** For each agent the uses about which another answer is given. */
  readonly uses: readonly ReadonlySet<Use>[];
  /** Indices of the agents for which something may have changed, unnoticed. */
  readonly undecided: ReadonlySet<number>;
}

/** A change from one robots.txt to another. */
interface CountedChange extends ComparedPart {
  readonly of: string;
  /** Hosts that have made it and no other. */
  hosts: number;
}

/** Counts changed hosts. Memory grows with the distinct changes alone. */
export class HostTally extends DiffTally {
  readonly #diff: TableDiff;
  readonly #asked: readonly Use[];
  readonly #hosts: readonly Record<Effect, number>[];
  readonly #files: readonly Record<Effect, number>[];
  /** `undefined` if no report is wanted. */
  readonly #distinct: Sides<DistinctRobots> | undefined;
  readonly #changes = new Map<string, CountedChange>();

  /** @param views the tables of both sides, if a report is wanted */
  constructor(
    agents: readonly AgentInfo[],
    diff: TableDiff,
    uses: readonly Use[],
    views: Sides<TableView> | undefined,
  ) {
    super(agents);
    this.#diff = diff;
    this.#asked = uses;
    this.#hosts = agents.map(() => zeros(EFFECTS));
    this.#files = agents.map(() => zeros(EFFECTS));
    this.#distinct = views && [new DistinctRobots(views[0]), new DistinctRobots(views[1])];
  }

  /** Counts a host, given all its schemes and ports. */
  add(host: string, parts: readonly ComparedPart[]): void {
    const reaches = askedOf(parts, (part, side) => this.#diff.reaches(part, side));
    const extents =
      this.#asked.length === 0
        ? undefined
        : askedOf(parts, (part, side) => this.#diff.useExtents(part, side));
    for (const agent of this.agents.keys()) {
      if (parts.some(({ effects }) => effects[agent] !== undefined)) {
        const [old, next] = reaches.map((side) => jointly(side.map((all) => all[agent] as Reach)));
        const [effect, words] = changeOf(parts, agent, old, next);
        this.count(agent, words);
        (this.#hosts[agent] as Record<Effect, number>)[effect]++;
      }
      for (const [index, use] of this.#asked.entries()) {
        if (extents === undefined || !parts.some(({ uses }) => uses[agent]?.has(use))) continue;
        const said = extents.map((side) =>
          jointly(side.flatMap((all) => all[agent]?.[index] ?? [])),
        );
        // Where one side lets the agent fetch nothing, its access has changed, and no answer.
        const isClosed = said.some(
          (each, side) => each === undefined && reaches[side]?.length !== 0,
        );
        if (!isClosed) this.countUse(agent, use.name, said[0], said[1]);
      }
      if (parts.some(({ undecided }) => undecided.has(agent))) {
        (this.undecided[agent] as number)++;
      }
    }
    this.#addFiles(host, parts);
  }

  #addFiles(host: string, parts: readonly ComparedPart[]): void {
    const changed = parts.filter(({ effects }) => effects.some((effect) => effect !== undefined));
    if (changed.length === 0) return;
    this.changed++;
    if (this.#distinct === undefined) return;
    const [old, next] = this.#distinct;
    const changes = changed.map((part): CountedChange => {
      const key = [numberOf(old, part.old), numberOf(next, part.new), ...part.effects].join();
      const known = this.#changes.get(key);
      if (known !== undefined) return known;
      const change = { ...part, of: host, hosts: 0 };
      this.#changes.set(key, change);
      for (const [agent, effect] of part.effects.entries()) {
        if (effect !== undefined) (this.#files[agent] as Record<Effect, number>)[effect]++;
      }
      return change;
    });
    const [one] = changes;
    const isOnly = changed.length === parts.length && changes.every((change) => change === one);
    if (one !== undefined && isOnly) one.hosts++;
  }

  /** @param describe tells what the agents see of a change */
  figures(describe: (part: ComparedPart, host: string) => readonly SeenChange[]) {
    const changes = [...this.#changes.values()];
    const weightOf = ({ hosts, effects }: CountedChange): number =>
      Math.max(1, hosts) * effects.filter((effect) => effect !== undefined).length;
    const most = changes
      .toSorted((a, b) => weightOf(b) - weightOf(a) || (a.of < b.of ? -1 : 1))
      .slice(0, MOST_CHANGES);
    return {
      compared: this.compared,
      changed: this.changed,
      agents: this.agents.map(
        (agent, index): AgentChanges => ({
          ...agent,
          hosts: this.#hosts[index] as Record<Effect, number>,
          files: this.#files[index] as Record<Effect, number>,
          undecided: this.undecided[index] as number,
          largest: largestOf(EFFECTS, changes, ({ effects }) => effects[index]),
        }),
      ),
      changes: most.map(
        (change): ChangeFigures => ({
          of: change.of,
          hosts: change.hosts,
          changes: describe(change, change.of),
        }),
      ),
    };
  }

  totals(): string[] {
    return this.lines(formatCount(this.compared, 'host'));
  }
}

/** What the robots.txt files of a host say, on the old side and on the new one. */
function askedOf<Said>(
  parts: readonly ComparedPart[],
  ask: (authority: TableAuthority, side: 'old' | 'new') => Said,
): readonly (readonly Said[])[] {
  return (['old', 'new'] as const).map((side) =>
    parts.flatMap(({ [side]: authority }) =>
      authority === undefined ? [] : [ask(authority, side)],
    ),
  );
}

/**
 * What a change does to an agent at a whole host, and how that is said. Where the host allows as
 * much as before, its schemes and ports must agree in the direction.
 */
function changeOf(
  parts: readonly ComparedPart[],
  agent: number,
  old: Reach | undefined,
  next: Reach | undefined,
): readonly [effect: Effect, words: string] {
  if (old === undefined) return ['added', 'added'];
  if (next === undefined) return ['removed', 'removed'];
  if (old !== next) return [effectOf(old, next, undefined), `${old}${ARROW}${next}`];
  const changed = parts.filter(({ effects }) => effects[agent] !== undefined);
  const areAll = (...wanted: readonly Effect[]): boolean =>
    changed.every(({ effects }) => wanted.includes(effects[agent] as Effect));
  if (changed.every((part) => part.old === undefined || part.new === undefined)) {
    return ['other', 'by other schemes or ports'];
  }
  const effect = areAll('shutOut', 'narrower') ? 'narrower' : 'other';
  return [areAll('letIn', 'wider') ? 'wider' : effect, 'by other rules'];
}

/** The number of a distinct robots.txt; or what there is in place of one. */
function numberOf(distinct: DistinctRobots, authority: TableAuthority | undefined): string {
  if (authority === undefined) return '-';
  return String(distinct.numberOf(authority) ?? authority.accessResult);
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

// ---- URLs

const URL_EFFECTS = ['denied', 'allowed', 'moved'] as const;
type UrlEffect = (typeof URL_EFFECTS)[number];

/** A URL whose verdict differs for an agent. */
interface SeenUrl {
  readonly agent: number;
  readonly old: Verdict;
  readonly next: Verdict;
  readonly oldRule: string;
  readonly newRule: string;
}

/** Counts changed URLs. */
export class UrlTally extends DiffTally {
  unknown = 0;
  invalid = 0;
  readonly #urls: readonly Record<UrlEffect, number>[];
  readonly #first: ChangeFigures[] = [];

  constructor(agents: readonly AgentInfo[]) {
    super(agents);
    this.#urls = agents.map(() => zeros(URL_EFFECTS));
  }

  /** How many URLs the list has. */
  get read(): number {
    return this.compared + this.unknown + this.invalid;
  }

  /** Counts a URL by its two verdicts for some agent: a robots.txt is known for all or for none. */
  compare(...verdicts: Sides<Verdict>): void {
    if (verdicts.some(isDecided)) this.compared++;
    else if (verdicts.includes('unknown')) this.unknown++;
    else this.invalid++;
  }

  /** Counts the agents for which the verdict on a URL differs. */
  add(url: string, seen: readonly SeenUrl[]): void {
    if (seen.length === 0) return;
    this.changed++;
    const changes = seen.map(({ agent, old, next, oldRule, newRule }) => {
      const decided = next === 'deny' ? 'denied' : 'allowed';
      const effect = isDecided(old) && isDecided(next) ? decided : 'moved';
      (this.#urls[agent] as Record<UrlEffect, number>)[effect]++;
      this.count(agent, `${old}${ARROW}${next}`);
      const { agent: name = '' } = this.agents[agent] ?? {};
      return { agent: name, effect, path: null, oldRule, newRule } as const;
    });
    if (this.#first.length === MOST_CHANGES) return;
    this.#first.push({ of: url, hosts: 1, changes: seenAlike(changes) });
  }

  figures() {
    const { compared, changed, unknown, invalid } = this;
    const agents = this.agents.map((agent, index): AgentChanges => {
      return { ...agent, urls: this.#urls[index] as Record<UrlEffect, number> };
    });
    return { compared, changed, unknown, invalid, agents, changes: this.#first };
  }

  totals(): string[] {
    const { unknown, invalid } = this;
    const rest = [
      ...(unknown > 0 ? [`${formatNumber(unknown)} unknown`] : []),
      ...(invalid > 0 ? [`${formatNumber(invalid)} invalid`] : []),
    ];
    const all = formatCount(this.read, 'URL');
    return this.lines(rest.length === 0 ? all : `${all} (${rest.join(', ')})`);
  }
}

const isDecided = (verdict: Verdict): boolean => verdict === 'allow' || verdict === 'deny';
