/** What the figures of all reports have in common. docs/formats.md describes their JSON. */

import { basename } from 'node:path';
import { version } from '../../files/package-file.js';
import { isoSeconds, ruleText } from '../../inspect/host-report.js';
import type { Reach } from '../../patterns/reach.js';
import { type Agent, lowerCaseAscii } from '../../protocol/agent.js';
import { rulesOf } from '../../view/automaton-view.js';
import type { TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';

/** What a report says of itself. */
export interface ReportAbout {
  /** The names of the table or of the caches, without their directories. */
  readonly source: string;
  readonly profile: string;
  /** The time of the report: ISO 8601. */
  readonly created: string;
  readonly program: string;
}

/** Describes a report that is made now. */
export function reportAbout(paths: readonly string[], profile: string): ReportAbout {
  return {
    source: paths.map(sourceName).join(', '),
    profile,
    created: new Date().toISOString(),
    program: `robots-filter ${version()}`,
  };
}

/** The last part of a path: a page is published, and a path tells about the machine. */
export function sourceName(path: string): string {
  return basename(path) || path;
}

/** An agent that was asked about, with what is known of it. */
export interface AgentInfo {
  readonly agent: string;
  readonly operator?: string;
  /** The name of the list that holds the agent, without `@`. */
  readonly list?: string;
  /** What the crawler does with what it fetches, in one sentence. */
  readonly purpose?: string;
  /** What the operator says about robots.txt: see KnownAgent. */
  readonly obeys?: string;
}

/** How much is allowed, from the least on. */
export const REACHES: readonly Reach[] = ['none', 'part', 'all'];

/** A count of 0 for each of some words. */
export function zeros<Word extends string>(words: readonly Word[]): Record<Word, number> {
  return Object.fromEntries(words.map((word) => [word, 0])) as Record<Word, number>;
}

/**
 * What a host says by all its robots.txt files: what all of them say, or `part`. `undefined` if it
 * has none.
 */
export function jointly<Said>(said: readonly Said[]): Said | 'part' | undefined {
  return said.every((each) => each === said[0]) ? said[0] : 'part';
}

/** How many hosts share something that is no other's, and one of them. */
export interface Largest {
  readonly of: string;
  readonly hosts: number;
}

/** For each kind the thing that most hosts share. */
export function largestOf<Kind extends string, Thing extends Largest>(
  kinds: readonly Kind[],
  things: readonly Thing[],
  kindOf: (thing: Thing) => Kind | undefined,
): Record<Kind, Largest | null> {
  const found = new Map<Kind, Largest>();
  for (const thing of things) {
    const kind = kindOf(thing);
    const { of, hosts } = thing;
    if (kind !== undefined && hosts > (found.get(kind)?.hosts ?? 0)) found.set(kind, { of, hosts });
  }
  return Object.fromEntries(kinds.map((kind) => [kind, found.get(kind) ?? null])) as Record<
    Kind,
    Largest | null
  >;
}

/** When the robots.txt files were captured. */
export interface CaptureDates {
  /** ISO 8601; `null` if no date is known. */
  readonly first: string | null;
  readonly last: string | null;
  /** Robots.txt files with a date, and without. */
  readonly dated: number;
  readonly undated: number;
}

/** Collects the dates of captures, in seconds since 1970. */
export class DateRange {
  #first = Number.POSITIVE_INFINITY;
  #last = 0;
  #dated = 0;
  #undated = 0;

  add(date: number | undefined): void {
    if (date === undefined) {
      this.#undated++;
      return;
    }
    this.#dated++;
    this.#first = Math.min(this.#first, date);
    this.#last = Math.max(this.#last, date);
  }

  get figures(): CaptureDates {
    const isKnown = this.#dated > 0;
    return {
      first: isKnown ? isoSeconds(this.#first) : null,
      last: isKnown ? isoSeconds(this.#last) : null,
      dated: this.#dated,
      undated: this.#undated,
    };
  }
}

// ---- A robots.txt as lines, from what a table keeps of it

/** Lines of a file, and product tokens of a group, that are shown. */
const MOST_LINES = 12;
const MOST_TOKENS = 3;
/** Characters of a line that are shown: site owners choose how long it is. */
const MOST_CHARACTERS = 120;

/** Writes out the groups of a robots.txt that decide for some agents, or for `*`. */
export class FileLines {
  readonly #view: TableView;
  readonly #tokens: ReadonlySet<string>;

  constructor(view: TableView, agents: readonly Agent[]) {
    this.#view = view;
    this.#tokens = new Set(['*', ...agents.flatMap(({ chain }) => chain.map(lowerCaseAscii))]);
  }

  of({ robots, accessResult }: TableAuthority): string[] {
    if (accessResult !== 'successful') return [];
    const lines: string[] = [];
    for (const group of this.#view.groups(robots)) {
      const own = group.productTokens.filter((token) => this.#tokens.has(token));
      if (own.length === 0) continue;
      for (const token of own.slice(0, MOST_TOKENS)) lines.push(`User-agent: ${token}`);
      const more = own.length - MOST_TOKENS;
      if (more > 0) lines.push(`# and ${more} more of the agents`);
      for (const rule of rulesOf(this.#view, group)) lines.push(ruleText(rule));
    }
    const left = lines.length - MOST_LINES;
    const shown = left > 1 ? [...lines.slice(0, MOST_LINES), `# and ${left} more lines`] : lines;
    return shown.map((line) =>
      line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}\u2026` : line,
    );
  }
}
