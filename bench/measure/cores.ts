import { join } from 'node:path';
import { runProgram } from './process.js';
import type { Case, Result } from './runs.js';
import { type Figure, figureOf } from './statistics.js';

const ONE = 'one-busy';
const TWO = 'two-busy';

/** The share of two cores that the machine gave during the benchmark. */
export interface Cores {
  /**
   * Ratio of the time of two busy threads to the time of one: 1 on two free cores, 2 on a shared
   * core.
   */
  readonly ratio: Figure;
  /** Seconds of one busy thread: more if neighbours share the cores. */
  readonly one: Figure;
}

/** Two additional cases of each run: one busy thread, and two at once. */
export function coreCases(): Case[] {
  const busy = (id: string, threads: number, name: string): Case => ({
    id,
    name,
    kind: 'floor',
    records: 0,
    bytes: 0,
    run: () => runBusyThreads(threads),
  });
  return [busy(ONE, 1, 'a busy thread'), busy(TWO, 2, 'two busy threads at once')];
}

async function runBusyThreads(threads: number) {
  const script = join(import.meta.dirname, 'busy-threads.mjs');
  const run = await runProgram(process.execPath, [script, String(threads)], { output: 'keep' });
  const { seconds } = JSON.parse(run.output) as { seconds: number };
  return { seconds, peakBytes: undefined };
}

/** @throws RangeError if the cases were not run */
export function coresOf(results: readonly Result[]): Cores {
  const timesOf = (id: string): readonly number[] => {
    const result = results.find((each) => each.case.id === id);
    if (result === undefined) throw new RangeError(`no case ${id} was run`);
    return result.seconds;
  };
  const one = timesOf(ONE);
  const ratios = timesOf(TWO).map((seconds, run) => seconds / (one[run] ?? Number.NaN));
  return { ratio: figureOf(ratios), one: figureOf(one) };
}

export function coresText({ ratio, one }: Cores): string {
  const text = (figure: Figure, digits: number) =>
    `${figure.median.toFixed(digits)} (${figure.least.toFixed(digits)}–${figure.greatest.toFixed(digits)})`;
  return (
    `Two busy threads took ${text(ratio, 2)} times as long as one; far above 1, they shared a core.\n` +
    `One busy thread took ${text(one, 3)} s; a wide range means that others used the machine.`
  );
}
