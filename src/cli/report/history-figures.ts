/** What agents may fetch through time: the figures of `audit --history`, by host and by URL. */

import { DistinctRobots } from '../../inspect/distinct-robots.js';
import { isoSeconds } from '../../inspect/host-report.js';
import { TableAudit } from '../../inspect/table-audit.js';
import { type Table, TableJudge, tableMemory } from '../../judge/table.js';
import type { Reach } from '../../patterns/reach.js';
import type { Agent } from '../../protocol/agent.js';
import { authorityOfUrl, formatAuthority } from '../../protocol/authority.js';
import { VERDICTS, type Verdict } from '../../protocol/verdict.js';
import { answersFor, type TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
import type { AgentInfo, ReportAbout } from './figures.js';
import type { Column } from './rows.js';

/** The distance between two times of the figures: calendar months, or a number of days. */
export type Period = 'month' | number;

/** Seconds of a day. */
const DAY = 86_400;
/** Times of the figures: one a day for more than two centuries. */
const MOST_TIMES = 100_000;

/** What a host allows an agent at a time; `unknown` before its first robots.txt. */
const EXTENTS = ['all', 'part', 'none', 'unknown'] as const;
type Extent = Reach | 'unknown';

const UNKNOWN_EXTENT = EXTENTS.indexOf('unknown');
const PART_EXTENT = EXTENTS.indexOf('part');
const READ_EXTENTS: readonly Reach[] = ['all', 'part', 'none'];

/** The columns of `audit --history`: how many hosts, or with `--urls` how many URLs. */
export const HISTORY_COLUMNS: readonly Column[] = columnsOf(EXTENTS);
export const URL_HISTORY_COLUMNS: readonly Column[] = columnsOf(VERDICTS);

function columnsOf(kinds: readonly string[]): Column[] {
  return [
    { name: 'time', width: 20, isRequired: true },
    { name: 'agent', width: 16, isRequired: true },
    ...kinds.map((name) => ({ name, width: 9, isNumber: true, isRequired: true })),
  ];
}

/** The figures of an agent at a time. */
interface TimeFigures<Kind extends string> {
  /** ISO 8601. */
  readonly time: string;
  readonly agent: string;
  readonly counts: Readonly<Record<Kind, number>>;
}

/**
 * Counts through time of what kind things are for each agent. A thing is counted where it
 * begins to be of a kind and counted off where it ends, and the sums from the first time on are the
 * figures. They are for midnights, so that no more changes are kept than days have passed.
 */
export class TimeCounts<Kind extends string> {
  readonly #kinds: readonly Kind[];
  readonly #agents: readonly string[];
  /** For each agent and kind the number of things before all changes. */
  readonly #before: Float64Array;
  /** By midnight, for each agent and kind how many more things there are from then on. */
  readonly #changes = new Map<number, Float64Array>();
  #first = Number.POSITIVE_INFINITY;
  #last = 0;

  constructor(kinds: readonly Kind[], agents: readonly Agent[]) {
    this.#kinds = kinds;
    this.#agents = agents.map(({ name }) => name);
    this.#before = new Float64Array(kinds.length * agents.length);
  }

  /** Counts a thing that is of a kind, given by its index, before all changes. */
  add(agent: number, kind: number): void {
    (this.#before[this.#kinds.length * agent + kind] as number)++;
  }

  /** Extends the span by a time, in seconds since 1970. */
  extend(time: number): void {
    this.#first = Math.min(this.#first, time);
    this.#last = Math.max(this.#last, time);
  }

  /** Lets a thing that was of a kind be of another one from a time on. */
  change(time: number, agent: number, from: number, to: number): void {
    const midnight = DAY * Math.ceil(time / DAY);
    let changes = this.#changes.get(midnight);
    if (changes === undefined) {
      changes = new Float64Array(this.#before.length);
      this.#changes.set(midnight, changes);
    }
    const first = this.#kinds.length * agent;
    (changes[first + from] as number)--;
    (changes[first + to] as number)++;
  }

  /** The first and the last time at which something may change; undefined if nothing does. */
  get span(): { readonly first: number; readonly last: number } | undefined {
    return this.#last === 0 ? undefined : { first: this.#first, last: this.#last };
  }

  /** The figures of each agent at each time of a period, in the order of the times. */
  *figures(period: Period): Generator<TimeFigures<Kind>> {
    const { span } = this;
    if (span === undefined) return;
    const changes = [...this.#changes].sort(([a], [b]) => a - b);
    const counts = this.#before.slice();
    let next = 0;
    for (const time of timesOf(span, period)) {
      for (; next < changes.length && (changes[next] as [number, unknown])[0] <= time; next++) {
        const [, deltas] = changes[next] as [number, Float64Array];
        deltas.forEach((delta, at) => {
          (counts[at] as number) += delta;
        });
      }
      for (const [index, agent] of this.#agents.entries()) {
        const first = this.#kinds.length * index;
        const own = this.#kinds.map((kind, at) => [kind, counts[first + at]] as const);
        const ofKinds = Object.fromEntries(own) as Record<Kind, number>;
        yield { time: isoSeconds(time), agent, counts: ofKinds };
      }
    }
  }
}

/** From a time on, what a host or an authority allows. */
interface Stretch {
  /** In seconds since 1970. */
  readonly since: number;
  /** For each agent the index in EXTENTS. */
  readonly extents: readonly number[];
}

/**
 * Counts what the hosts of a table with histories allow at regular times, and what their distinct
 * robots.txt files do that are in force then. Each version is looked at once.
 */
export class HistoryAudit {
  readonly counts: TimeCounts<Extent>;
  hosts = 0;
  readonly #view: TableView;
  readonly #agents: readonly Agent[];
  readonly #audit: TableAudit;
  readonly #distinct: DistinctRobots;
  readonly #files: { readonly extents: readonly number[]; readonly days: DaySpans }[] = [];

  /**
   * @param view with the authorities of which nothing is known any more
   * @param google whether the table is for the google profile
   */
  constructor(view: TableView, agents: readonly Agent[], google: boolean) {
    this.counts = new TimeCounts<Extent>(EXTENTS, agents);
    this.#view = view;
    this.#agents = agents;
    this.#audit = new TableAudit(view, agents, google);
    this.#distinct = new DistinctRobots(view);
  }

  /** Counts a host, by the versions of all its schemes and ports. */
  add(authorities: readonly TableAuthority[]): void {
    this.hosts++;
    let before: readonly number[] = this.#agents.map(() => UNKNOWN_EXTENT);
    for (const agent of this.#agents.keys()) this.counts.add(agent, UNKNOWN_EXTENT);
    for (const { since, extents } of combined(authorities.map((each) => this.#stretchesOf(each)))) {
      this.counts.extend(since);
      for (const [agent, extent] of extents.entries()) {
        this.counts.change(since, agent, before[agent] as number, extent);
      }
      before = extents;
    }
  }

  /** The counts of distinct robots.txt files. A file is `unknown` while no host has it. */
  fileCounts(): TimeCounts<Extent> {
    const counts = new TimeCounts<Extent>(EXTENTS, this.#agents);
    const { span } = this.counts;
    if (span === undefined) return counts;
    counts.extend(span.first);
    counts.extend(span.last);
    for (const { extents, days } of this.#files) {
      for (const [agent, extent] of extents.entries()) {
        counts.add(agent, UNKNOWN_EXTENT);
        for (const [from, to] of days.spans()) {
          counts.change(DAY * from, agent, UNKNOWN_EXTENT, extent);
          if (to !== Number.POSITIVE_INFINITY) {
            counts.change(DAY * to, agent, extent, UNKNOWN_EXTENT);
          }
        }
      }
    }
    return counts;
  }

  #stretchesOf(authority: TableAuthority): Stretch[] {
    const view = this.#view;
    const place = view.placeOfAuthority(authority.at);
    const times = view.timesOf(authority);
    return times.flatMap((since, index): Stretch[] => {
      const then = view.at(since).hostAt(place);
      const version = then.authorities.find(({ at }) => at === authority.at);
      if (version === undefined) return [];
      const { robots, accessResult } = version;
      const summaries = this.#audit.summaries(robots, accessResult);
      const extents = summaries.map(({ reach }): number =>
        EXTENTS.indexOf(accessResult === 'unknown' ? 'unknown' : reach),
      );
      const file = this.#distinct.numberOf(version);
      if (file !== undefined) {
        this.#files[file] ??= { extents, days: new DaySpans() };
        this.#files[file].days.add(since, times[index + 1]);
      }
      return [{ since, extents }];
    });
  }
}

/**
 * What a host allows through time, from what its schemes and ports do: what is the same at all that
 * are known, or a part.
 */
function combined(parts: readonly (readonly Stretch[])[]): readonly Stretch[] {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const now: (readonly number[] | undefined)[] = parts.map(() => undefined);
  return parts
    .flatMap((stretches, part) => stretches.map((stretch) => ({ ...stretch, part })))
    .sort((a, b) => a.since - b.since)
    .map(({ since, extents, part }) => {
      now[part] = extents;
      return { since, extents: extents.map((_, agent) => extentOf(now, agent)) };
    });
}

function extentOf(parts: readonly (readonly number[] | undefined)[], agent: number): number {
  let one: number | undefined;
  for (const part of parts) {
    const extent = part?.[agent] ?? UNKNOWN_EXTENT;
    if (extent === UNKNOWN_EXTENT) continue;
    if (one !== undefined && one !== extent) return PART_EXTENT;
    one = extent;
  }
  return one ?? UNKNOWN_EXTENT;
}

/** Spans that are kept before they are merged. */
const KEPT_SPANS = 64;

/** The days, counted from 1970, on which a file is in force somewhere at midnight. */
class DaySpans {
  #spans: [from: number, to: number][] = [];
  #most = KEPT_SPANS;

  /** @param until undefined if the file is still in force */
  add(since: number, until: number | undefined): void {
    const from = Math.ceil(since / DAY);
    const to = until === undefined ? Number.POSITIVE_INFINITY : Math.ceil(until / DAY);
    if (from === to) return;
    this.#spans.push([from, to]);
    // A file that thousands of hosts share is in force in a few spans.
    if (this.#spans.length >= this.#most) this.#most = Math.max(KEPT_SPANS, 2 * this.#merge());
  }

  /** The spans, ascending and apart from each other. */
  spans(): readonly (readonly [from: number, to: number])[] {
    this.#merge();
    return this.#spans;
  }

  #merge(): number {
    const merged: [number, number][] = [];
    for (const span of this.#spans.sort(([a], [b]) => a - b)) {
      const last = merged.at(-1);
      if (last === undefined || span[0] > last[1]) merged.push(span);
      else last[1] = Math.max(last[1], span[1]);
    }
    this.#spans = merged;
    return merged.length;
  }
}

// ---- The figures of a report

/** A list of counts for each kind, one for each time. */
type Series<Kind extends string> = Readonly<Record<Kind, readonly number[]>>;

/** Every figure of an audit through time. docs/formats.md describes the JSON. */
export interface HistoryFigures extends ReportAbout {
  readonly schema: 'robots-filter/history/1';
  readonly every: string;
  /** Hosts that were counted, or URLs. */
  readonly hosts?: number;
  readonly urls?: number;
  /** ISO 8601. */
  readonly times: readonly string[];
  readonly agents: readonly (AgentInfo & {
    readonly hosts?: Series<Extent>;
    /** Distinct robots.txt files that some host had at the time. */
    readonly files?: Series<Exclude<Extent, 'unknown'>>;
    readonly urls?: Series<Verdict>;
  })[];
}

/** Times of all agents in a report: more would make the page too long. */
const MOST_POINTS = 4_000;

/** Whether a report would have more figures than anybody reads. */
export function isTooLong(counts: TimeCounts<string>, period: Period, agents: number): boolean {
  return counts.span !== undefined && countTimes(counts.span, period) * agents > MOST_POINTS;
}

/** Gathers the figures through time of hosts, or of URLs. */
export function historyFigures(
  about: ReportAbout,
  agents: readonly AgentInfo[],
  period: Period,
  counted: HistoryAudit | UrlHistory,
): HistoryFigures {
  const every = typeof period === 'number' ? `${period}d` : period;
  const start = { schema: 'robots-filter/history/1', ...about, every } as const;
  if (counted instanceof UrlHistory) {
    const { times, series } = seriesOf(counted.counts, VERDICTS, period, agents.length);
    const ofAgents = agents.map((agent, index) => ({ ...agent, urls: series[index] as never }));
    return { ...start, urls: counted.urls, times, agents: ofAgents };
  }
  const hosts = seriesOf(counted.counts, EXTENTS, period, agents.length);
  const files = seriesOf(counted.fileCounts(), READ_EXTENTS, period, agents.length);
  const ofAgents = agents.map((agent, index) => ({
    ...agent,
    hosts: hosts.series[index] as Series<Extent>,
    files: files.series[index] as Series<Reach>,
  }));
  return { ...start, hosts: counted.hosts, times: hosts.times, agents: ofAgents };
}

function seriesOf<Kind extends string>(
  counts: TimeCounts<string>,
  kinds: readonly Kind[],
  period: Period,
  agents: number,
): { readonly times: string[]; readonly series: Record<Kind, number[]>[] } {
  const emptyLists = () =>
    Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Record<Kind, number[]>;
  const series = Array.from({ length: agents }, emptyLists);
  const times: string[] = [];
  let at = 0;
  for (const { time, counts: ofKinds } of counts.figures(period)) {
    if (at % agents === 0) times.push(time);
    const own = series[at++ % agents] as Record<Kind, number[]>;
    for (const kind of kinds) own[kind].push(ofKinds[kind] as number);
  }
  return { times, series };
}

// ---- URLs

/** Verdicts for each agent that are asked for at once. */
const BATCH = 8192;
/** Authorities whose times are kept. */
const KEPT = 2 ** 16;

/** The time before all versions, for which the verdict is that without a robots.txt. */
const BEFORE = 0;

/**
 * Counts the verdicts on URLs at regular times, by the robots.txt files of a table with histories.
 * Each URL is judged once by each version of its robots.txt, and not once for each time.
 */
export class UrlHistory {
  readonly counts: TimeCounts<Verdict>;
  /** URLs that were added. */
  urls = 0;
  readonly #view: TableView;
  readonly #agents: readonly Agent[];
  readonly #judge: TableJudge;
  /** By authority, when its versions begin. */
  readonly #timesOf = new Map<string, readonly number[]>();
  /** What is asked next: URLs, each first before all versions, then from each of them on. */
  #asked: string[] = [];
  #times: number[] = [];

  constructor(table: Table, agents: readonly Agent[]) {
    this.counts = new TimeCounts<Verdict>(VERDICTS, agents);
    this.#view = tableMemory(table).view.withUnknown();
    this.#agents = agents;
    this.#judge = new TableJudge(tableMemory(table));
  }

  /** Counts a URL, with all versions of its robots.txt. */
  add(url: string): void {
    this.urls++;
    this.#ask(url, BEFORE);
    for (const since of this.#timesFor(url)) {
      this.counts.extend(since);
      this.#ask(url, since);
    }
    if (this.#asked.length >= BATCH) this.count();
  }

  /** Counts what has been added. Called once more at the end. */
  count(): void {
    const times = Uint32Array.from(this.#times);
    for (const [agent, { chain }] of this.#agents.entries()) {
      let before = 0;
      for (const [index, verdict] of this.#judge.verdicts(this.#asked, chain, times).entries()) {
        const kind = VERDICTS.indexOf(verdict);
        const time = times[index] as number;
        if (time === BEFORE) this.counts.add(agent, kind);
        else if (kind !== before) this.counts.change(time, agent, before, kind);
        before = kind;
      }
    }
    this.#asked = [];
    this.#times = [];
  }

  #ask(url: string, time: number): void {
    this.#asked.push(url);
    this.#times.push(time);
  }

  #timesFor(url: string): readonly number[] {
    const asked = authorityOfUrl(url);
    if (asked === undefined) return [];
    const key = formatAuthority(asked);
    const known = this.#timesOf.get(key);
    if (known !== undefined) return known;
    const host = this.#view.find(asked.host);
    const authority = host?.authorities.find((each) => answersFor(each, asked));
    const times = authority === undefined ? [] : this.#view.timesOf(authority);
    if (this.#timesOf.size === KEPT) this.#timesOf.clear();
    this.#timesOf.set(key, times);
    return times;
  }
}

/** The number of times that `figures` would have. */
export function countTimes(
  { first, last }: { readonly first: number; readonly last: number },
  period: Period,
): number {
  return Math.ceil((last - first) / (period === 'month' ? 28 * DAY : period * DAY)) + 1;
}

/** Whether there are more times than anybody reads. */
export function isTooFine({ span }: Pick<TimeCounts<string>, 'span'>, period: Period): boolean {
  return span !== undefined && countTimes(span, period) > MOST_TIMES;
}

/**
 * The times from the first change to the first one that is not before the last change: the first
 * moments of months, or the first change's day and every so many days after it. The figures of a
 * time count what is in force at that moment. All are midnights.
 */
function* timesOf(
  { first, last }: { readonly first: number; readonly last: number },
  period: Period,
): Generator<number> {
  if (period === 'month') {
    const date = new Date(1000 * first);
    let month = 12 * date.getUTCFullYear() + date.getUTCMonth();
    for (let time = 0; time < last; month++) {
      time = Date.UTC(Math.floor(month / 12), (month % 12) + 1) / 1000;
      yield time;
    }
    return;
  }
  const day = first - (first % DAY);
  for (let at = 1, time = 0; time < last; at++) {
    time = day + at * period * DAY;
    yield time;
  }
}
