import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from '../src/protocol/verdict.js';
import { guarded, quoted, type Run, type RunOptions, runProgram, runShell } from './measure.js';

const COMMAND_LINE = join(import.meta.dirname, '..', 'dist', 'cli', 'main.js');

/** What `--stats=json` writes, as far as the benchmarks look at it. */
export interface Statistics {
  readonly complete: boolean;
  readonly records: number;
  readonly passed: number;
  readonly agents: readonly { agent: string; verdicts: Record<Verdict, number> }[];
}

/** A run of the filter, with what it said of itself. */
export interface FilterRun extends Run {
  readonly statistics: Statistics;
}

/** How the filter gets its input and where its output goes. */
export type Way = 'file' | 'cat |' | 'cat | … | cat';

/**
 * The words that run the command line, for `runProgram` and, quoted, for a shell.
 *
 * @throws Error when the project is not built
 */
export function commandLine(...args: string[]): [string, string[]] {
  if (!existsSync(COMMAND_LINE)) throw new Error(`${COMMAND_LINE} is missing: run "npm run build"`);
  return [process.execPath, [COMMAND_LINE, ...args]];
}

/**
 * Runs the filter over a file, or several one after another, to /dev/null unless `output` says
 * otherwise, with `--stats=json`: every such run gives its counts.
 */
export async function runFilter(
  args: readonly string[],
  path: string | readonly string[],
  way: Way = 'file',
  output?: RunOptions['output'],
): Promise<FilterRun> {
  const options: RunOptions =
    output === undefined ? { mayComplain: true } : { mayComplain: true, output };
  const run = await carryOut([...args, '--stats=json'], path, way, options);
  return { ...run, statistics: statisticsOf(run.errors) };
}

/**
 * Runs it without `--stats`, to /dev/null, and leaves it alone with the machine: its memory is not
 * looked at.
 */
export async function runFilterAlone(
  args: readonly string[],
  path: string,
  way: Way = 'file',
): Promise<Run> {
  return await carryOut(args, path, way, { watched: false });
}

async function carryOut(
  args: readonly string[],
  path: string | readonly string[],
  way: Way,
  options: RunOptions,
): Promise<Run> {
  const [node, words] = commandLine(...args, '--quiet');
  const paths = typeof path === 'string' ? [path] : path;
  if (way === 'file') return await runProgram(node, [...words, ...paths], options);
  const piped = `cat ${paths.map(quoted).join(' ')} | ${guarded([node, ...words, '-'])}`;
  return await runShell(way === 'cat |' ? piped : `${piped} | cat`, options);
}

function statisticsOf(errors: string): Statistics {
  try {
    const statistics: Statistics = JSON.parse(errors);
    if (statistics.complete) return statistics;
  } catch {
    // Anything else on standard error is a failure, and is shown.
  }
  throw new Error(`the filter said: ${errors.slice(0, 2000)}`);
}
