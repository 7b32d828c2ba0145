/** How many hosts let each agent in, through time: the figures of `audit --history`. */

import { isoSeconds } from '../../inspect/host-report.js';
import { TableAudit } from '../../inspect/table-audit.js';
import type { Reach } from '../../patterns/reach.js';
import type { Agent } from '../../protocol/agent.js';
import type { TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
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

/** The columns of `audit --history`. */
export const HISTORY_COLUMNS: readonly Column[] = [
  { name: 'time', width: 20, isRequired: true },
  { name: 'agent', width: 16, isRequired: true },
  ...EXTENTS.map((name) => ({ name, width: 9, isNumber: true, isRequired: true })),
];

/** The figures of an agent at a time: hosts, each authority counted on its own. */
interface HistoryFigures {
  /** ISO 8601. */
  readonly time: string;
  readonly agent: string;
  readonly counts: Readonly<Record<Extent, number>>;
}

/** A stretch of time in which an authority has one robots.txt. */
interface Stretch {
  /** In seconds since 1970. */
  readonly since: number;
  /** For each agent the index in EXTENTS. */
  readonly extents: readonly number[];
}

/**
 * Counts what the authorities of a table with histories allow at regular times. Each version is
 * looked at once: it is counted where it begins and counted off where the next one begins, and the
 * sums from the first time on are the figures.
 */
export class HistoryAudit {
  /** Authorities that were added. */
  hosts = 0;
  readonly #view: TableView;
  readonly #agents: readonly Agent[];
  readonly #audit: TableAudit;
  /** By time, for each agent and extent how many more hosts there are from then on. */
  readonly #changes = new Map<number, Int32Array>();

  /**
   * @param view with the authorities of which nothing is known any more
   * @param google whether the table is for the google profile
   */
  constructor(view: TableView, agents: readonly Agent[], google: boolean) {
    this.#view = view;
    this.#agents = agents;
    this.#audit = new TableAudit(view, agents, google);
  }

  /** Counts an authority, with all its versions. */
  add(authority: TableAuthority): void {
    this.hosts++;
    let before: readonly number[] = this.#agents.map(() => EXTENTS.indexOf('unknown'));
    for (const { since, extents } of this.#stretchesOf(authority)) {
      const changes = this.#changesAt(since);
      extents.forEach((extent, agent) => {
        const from = EXTENTS.length * agent;
        (changes[from + (before[agent] as number)] as number)--;
        (changes[from + extent] as number)++;
      });
      before = extents;
    }
  }

  /** The first and the last time at which something changes; undefined without versions. */
  get span(): { readonly first: number; readonly last: number } | undefined {
    let first = Number.POSITIVE_INFINITY;
    let last = 0;
    for (const time of this.#changes.keys()) {
      first = Math.min(first, time);
      last = Math.max(last, time);
    }
    return last === 0 ? undefined : { first, last };
  }

  /** The figures of each agent at each time of a period, in the order of the times. */
  *figures(period: Period): Generator<HistoryFigures> {
    const { span } = this;
    if (span === undefined) return;
    const changes = [...this.#changes].sort(([a], [b]) => a - b);
    const counts = new Int32Array(EXTENTS.length * this.#agents.length);
    const unknown = EXTENTS.indexOf('unknown');
    for (let agent = 0; agent < this.#agents.length; agent++) {
      counts[EXTENTS.length * agent + unknown] = this.hosts;
    }
    let next = 0;
    for (const time of timesOf(span, period)) {
      for (; next < changes.length && (changes[next] as [number, unknown])[0] <= time; next++) {
        const [, deltas] = changes[next] as [number, Int32Array];
        deltas.forEach((delta, at) => {
          (counts[at] as number) += delta;
        });
      }
      for (const [agent, { name }] of this.#agents.entries()) {
        const at = EXTENTS.length * agent;
        const [all = 0, part = 0, none = 0, rest = 0] = counts.subarray(at, at + EXTENTS.length);
        yield { time: isoSeconds(time), agent: name, counts: { all, part, none, unknown: rest } };
      }
    }
  }

  #changesAt(time: number): Int32Array {
    let changes = this.#changes.get(time);
    if (changes === undefined) {
      changes = new Int32Array(EXTENTS.length * this.#agents.length);
      this.#changes.set(time, changes);
    }
    return changes;
  }

  #stretchesOf(authority: TableAuthority): Stretch[] {
    const view = this.#view;
    const place = view.placeOfAuthority(authority.at);
    return view.timesOf(authority).flatMap((since): Stretch[] => {
      const then = view.at(since).hostAt(place);
      const version = then.authorities.find(({ at }) => at === authority.at);
      if (version === undefined) return [];
      const { robots, accessResult } = version;
      const summaries = this.#audit.summaries(robots, accessResult);
      const extents = summaries.map(({ reach }): number =>
        EXTENTS.indexOf(accessResult === 'unknown' ? 'unknown' : reach),
      );
      return [{ since, extents }];
    });
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
export function isTooFine(audit: HistoryAudit, period: Period): boolean {
  return audit.span !== undefined && countTimes(audit.span, period) > MOST_TIMES;
}

/**
 * The times from the first change to the first one that is not before the last change: the first
 * moments of months, or the first change's day and every so many days after it. The figures of a
 * time count what is in force at that moment.
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
