import type { Reach } from '../../inspect/reach.js';
import type { Verdict } from '../../protocol/verdict.js';

/** What a row of a diff says: the host has come or gone, or what was allowed before and after. */
export type Difference =
  | 'added'
  | 'removed'
  /** A part before and after, but not the same one. */
  | 'rules'
  | readonly [old: Reach, next: Reach]
  | readonly [old: Verdict, next: Verdict];

/** The rows of a diff for one agent, by what they say, in words. */
export interface AgentDifferences {
  readonly agent: string;
  /** By descending number. */
  readonly counts: readonly (readonly [difference: Difference, rows: number])[];
}

/** Counts the rows of a diff. */
export class DiffTally {
  /** Hosts or URLs that were compared. */
  compared = 0;
  /** Rows. */
  differences = 0;
  readonly #agents: readonly string[];
  readonly #counts: readonly Map<string, { readonly difference: Difference; rows: number }>[];

  constructor(agents: readonly string[]) {
    this.#agents = agents;
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

  get agents(): AgentDifferences[] {
    return this.#agents.map((agent, index) => {
      const counts = Array.from(
        this.#counts[index]?.values() ?? [],
        ({ difference, rows }) => [difference, rows] as const,
      );
      return { agent, counts: counts.sort(([, a], [, b]) => b - a) };
    });
  }
}

/** A difference in words. */
export function differenceText(difference: Difference): string {
  if (typeof difference === 'string') return difference === 'rules' ? 'by other rules' : difference;
  return difference.join(' \u2192 ');
}
