import { rmSync } from 'node:fs';
import { makeScratch } from '../inputs/corpus-store.js';
import { coreCases, coresOf, coresText } from '../measure/cores.js';
import { describeMachine, machineText } from '../measure/machine.js';
import { type Case, type RunPlan, wholeRuns } from '../measure/runs.js';
import { Filter } from '../program/filter.js';
import { packageText, providePackage } from '../program/installed-package.js';
import { type Ratio, ratioRow } from './ratios.js';
import { type RecordKind, resultRecord, writeRecord } from './record.js';
import { say } from './say.js';
import { ratiosText, resultsText } from './tables.js';

/** What a benchmark measures. */
export interface Measured {
  readonly cases: readonly Case[];
  readonly ratios: readonly Ratio[];
  /** What this machine cannot measure, and why. */
  readonly notMeasured: readonly string[];
  /** The input, for the record. */
  readonly input: object;
}

/** How a benchmark is run. */
export interface BenchmarkOptions extends RunPlan {
  readonly kind: RecordKind;
  /** Where corpora are kept. */
  readonly store: string;
  readonly installed: string | undefined;
  readonly record: boolean;
}

/**
 * Runs a benchmark on the installed package: prepares its cases, runs them, and reports.
 *
 * @param prepare makes the cases; `scratch` is removed at the end
 */
export async function runBenchmark(
  { kind, store, installed, record, runs, timed }: BenchmarkOptions,
  prepare: (filter: Filter, scratch: string) => Promise<Measured>,
): Promise<void> {
  if (record && runs < 3) throw new Error('--record needs --runs 3 or more');
  const machine = describeMachine(`npm run bench:${kind} --`);
  say(machineText(machine));
  const scratch = makeScratch(store);
  try {
    const found = await providePackage(scratch, installed);
    say(packageText(found));
    const { cases, ratios, notMeasured, input } = await prepare(new Filter(found), scratch);
    const results = await wholeRuns(
      [...(timed ? coreCases() : []), ...cases],
      { runs, timed },
      say,
    );
    say(`\n${resultsText(results)}\n`);
    for (const line of notMeasured) say(`NOT MEASURED: ${line}`);
    if (!timed) {
      say('a quick run: its times are not meaningful');
      return;
    }
    const cores = coresOf(results);
    const known = new Set(cases.map(({ id }) => id));
    const rows = ratios
      .filter(({ needs }) => needs.every((id) => known.has(id)))
      .map((ratio) => ratioRow(ratio, results));
    say(`${coresText(cores)}\n\n${ratiosText(rows)}`);
    if (record) {
      const figures = { results: results.map(resultRecord), ratios: rows, notMeasured };
      const file = writeRecord(
        kind,
        { machine, package: found },
        { runs, input, cores, ...figures },
      );
      say(`recorded in ${file}`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
