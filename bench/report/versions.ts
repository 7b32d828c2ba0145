import type { Case, Result } from '../measure/runs.js';
import { type Figure, figureOf, median } from '../measure/statistics.js';

const BEFORE = ' (before)';

/** One case in two versions, in CPU seconds: wall time also tells what else the machine did. */
export interface VersionRow extends Figure {
  readonly id: string;
  /** Median CPU seconds. */
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

/** The ratio of each case's CPU time to its counterpart's, computed in each run. */
export function versionRows(results: readonly Result[]): VersionRow[] {
  const counted = new Map(results.map(({ case: { id }, cpuSeconds }) => [id, cpuSeconds]));
  return results.flatMap(({ case: { id }, cpuSeconds }) => {
    const before = counted.get(id + BEFORE);
    if (before === undefined || before.length === 0) return [];
    const ratios = cpuSeconds.map((seconds, run) => seconds / (before[run] as number));
    return [{ id, before: median(before), after: median(cpuSeconds), ...figureOf(ratios) }];
  });
}

/** What a change may lose. */
const MOST_LOST = 1.03;

/** The cases that take more CPU time than a change may cost, in a sentence. */
export function lossText(rows: readonly VersionRow[]): string {
  const lost = rows.filter((row) => row.median > MOST_LOST);
  if (lost.length === 0) return 'no case takes more than 3 % more CPU time';
  const names = lost.map((row) => `${row.id} (${row.median.toFixed(3)})`);
  return `more than 3 % more CPU time: ${names.join(', ')}. Repeat, then mend it or say why in the commit`;
}
