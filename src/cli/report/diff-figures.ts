import type { Reach } from '../../patterns/reach.js';
import type { UseExtent } from '../../patterns/use-answers.js';
import type { Verdict } from '../../protocol/verdict.js';
import { formatNumber } from '../text.js';

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
