import { statSync } from 'node:fs';
import type { Verdict } from '../../src/protocol/verdict.js';
import {
  guarded,
  quoted,
  type Run,
  type RunOptions,
  runProgram,
  runShell,
} from '../measure/process.js';
import type { InstalledPackage } from './installed-package.js';

/** The part of `--stats=json` that the benchmarks read. */
export interface Statistics {
  readonly complete: boolean;
  readonly records: number;
  readonly passed: number;
  readonly agents: readonly { agent: string; verdicts: Record<Verdict, number> }[];
}

/** A run of the filter with its own statistics. */
export interface FilterRun extends Run {
  readonly statistics: Statistics;
}

/** The input and output of the filter. */
export type Route = 'file' | 'cat |' | 'cat | … | cat';

/** The input of the filter. */
export interface FilterInput {
  /** Files, one after another. */
  readonly paths: readonly string[];
  /** Default: `file`. */
  readonly route?: Route;
}

/** The filter of one installed package. */
export class Filter {
  /** The program that npm linked. */
  readonly program: string;

  constructor({ program }: InstalledPackage) {
    this.program = program;
  }

  /**
   * Runs the filter with `--stats=json`.
   *
   * @param output default: /dev/null
   * @throws Error if the filter fails or its statistics are incomplete
   */
  async runCounted(
    args: readonly string[],
    input: FilterInput,
    output?: RunOptions['output'],
  ): Promise<FilterRun> {
    const options: RunOptions = { mayComplain: true, ...(output === undefined ? {} : { output }) };
    const run = await this.#run([...args, '--stats=json'], input, options);
    return { ...run, statistics: statisticsOf(run.errors) };
  }

  /** Runs the filter as a user does, to /dev/null, with an otherwise idle machine. */
  async runAlone(args: readonly string[], input: FilterInput): Promise<Run> {
    return await this.#run(args, input, { watched: false });
  }

  /**
   * Compiles robots.txt files to a table.
   *
   * @returns the run, and the table's size in bytes
   */
  async compile(robots: string, table: string): Promise<Run & { tableBytes: number }> {
    const words = ['compile', '--robots-dir', robots, '-o', table, '--quiet'];
    const run = await runProgram(this.program, words);
    return { ...run, tableBytes: statSync(table).size };
  }

  async #run(
    args: readonly string[],
    { paths, route = 'file' }: FilterInput,
    options: RunOptions,
  ): Promise<Run> {
    const words = [...args, '--quiet'];
    if (route === 'file') return await runProgram(this.program, [...words, ...paths], options);
    const files = paths.map(quoted).join(' ');
    const piped = `cat ${files} | ${guarded([this.program, ...words, '-'])}`;
    return await runShell(route === 'cat |' ? piped : `${piped} | cat`, options);
  }
}

function statisticsOf(errors: string): Statistics {
  try {
    const statistics: Statistics = JSON.parse(errors);
    if (statistics.complete) return statistics;
  } catch {
    // Anything else on standard error is a failure: show it.
  }
  throw new Error(`the filter wrote: ${errors.slice(0, 2000)}`);
}
