import { join } from 'node:path';
import { median, runProgram } from './measure.js';
import type { Case, Result } from './rounds.js';

const ONE = 'one-busy';
const TWO = 'two-busy';

/**
 * Whether two of the machine's processors are two cores at this hour: what two busy threads take,
 * in times of one.
 */
export interface Cores {
  /** Of medians: 1 where they are, 2 where they are one. */
  readonly ratio: number;
  /** Of each round's times. */
  readonly least: number;
  readonly greatest: number;
  /**
   * Seconds that one took, of all rounds: more in one hour than in another where neighbours share
   * the cores.
   */
  readonly one: { readonly median: number; readonly least: number; readonly greatest: number };
}

/**
 * One busy thread, and two at once: run in each round, they say what the hour was like in which all
 * others ran.
 */
export function coreCases(): Case[] {
  const busy = (id: string, threads: number, name: string): Case => ({
    id,
    name,
    kind: 'floor',
    records: 0,
    octets: 0,
    run: () => runBusyThreads(threads),
  });
  return [busy(ONE, 1, 'a busy thread'), busy(TWO, 2, 'two busy threads at once')];
}

async function runBusyThreads(threads: number) {
  const script = join(import.meta.dirname, 'busy-threads.mjs');
  const run = await runProgram(process.execPath, [script, String(threads)], { output: 'keep' });
  const { seconds } = JSON.parse(run.output) as { seconds: number };
  return { seconds, peakOctets: undefined };
}

/** @throws RangeError if the cases were not run */
export function coresOf(results: readonly Result[]): Cores {
  const times = (id: string): readonly number[] => {
    const result = results.find((each) => each.case.id === id);
    if (result === undefined) throw new RangeError(`no case ${id} was run`);
    return result.seconds;
  };
  const [one, two] = [times(ONE), times(TWO)];
  const ratios = two.map((seconds, round) => seconds / (one[round] ?? Number.NaN));
  return {
    ratio: median(two) / median(one),
    least: Math.min(...ratios),
    greatest: Math.max(...ratios),
    one: { median: median(one), least: Math.min(...one), greatest: Math.max(...one) },
  };
}

export function describeCores({ ratio, least, greatest, one }: Cores): string {
  const range = `${least.toFixed(2)} to ${greatest.toFixed(2)} in single rounds`;
  const seconds = `${one.median.toFixed(3)} s (${one.least.toFixed(3)} to ${one.greatest.toFixed(3)})`;
  return (
    `two busy threads took ${ratio.toFixed(2)} times as long as one (${range}); where that is much more than 1, they share a core, and what uses both is slower by it than against a yardstick on one\n` +
    `one took ${seconds}; where its times differ much, or from those of another run, neighbours share the cores, and what keeps a core full is slower by it than a yardstick that waits`
  );
}
