import type { Case, Result } from '../measure/runs.js';
import { type Figure, figureOf, median } from '../measure/statistics.js';
import { inEachRun } from './ratios.js';

const BEFORE = ' (before)';

/** One case in two versions. */
export interface VersionRow extends Figure {
  readonly id: string;
  /** Median seconds. */
  readonly before: number;
  readonly after: number;
}

/** Two versions' cases, each case beside its counterpart. */
export function interleaved(after: readonly Case[], before: readonly Case[]): Case[] {
  return after.flatMap((each) => {
    const counterpart = before.find(({ id }) => id === each.id);
    if (counterpart === undefined) return [each];
    return [each, { ...counterpart, id: `${each.id}${BEFORE}`, kind: 'before' as const }];
  });
}

/** The ratio of each case's time to its counterpart's, computed in each run. */
export function versionRows(results: readonly Result[]): VersionRow[] {
  const ids = new Set(results.map((result) => result.case.id));
  const pairs = results.filter((result) => ids.has(result.case.id + BEFORE));
  return pairs.map(({ case: { id }, seconds }) => {
    const times = inEachRun(results, (run) => run.seconds(id + BEFORE));
    const ratios = inEachRun(results, (run) => run.seconds(id) / run.seconds(id + BEFORE));
    return { id, before: median(times), after: median(seconds), ...figureOf(ratios) };
  });
}
