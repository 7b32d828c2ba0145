import { STANDARD_INPUT } from '../../files/openings.js';
import { emptyTable, ONE_BANK, type PartRange } from '../../judge/table-memory.js';
import { serve } from '../../serve/serve.js';
import { parseAgents } from '../agents.js';
import { Diagnostics, interruptible, reportFailure, SUCCESS, usageError } from '../console.js';
import type { RobotsOptions } from '../options.js';
import { withPaths } from './arguments.js';
import { openTable } from './filter-table.js';
import {
  agentWords,
  checkChoices,
  checkRobotsSource,
  givenOf,
  readingOptionsIn,
  refuseSingleRobots,
} from './robots-source.js';

export interface ServeOptions extends RobotsOptions {
  readonly table?: string;
  readonly threads?: number;
  /** Number of shards, to answer the shards of hosts. */
  readonly shards?: number;
  readonly parts?: PartRange;
}

/** Threads that judge by default: one reads and one writes at a time, so more gain little. */
const MOST_THREADS = 4;

/**
 * `robots-filter serve`: answers frames on standard input.
 *
 * @param paths the arguments, which name robots.txt files or a table
 * @param cores number of threads, unless the options name another
 * @param version the version of the program, for the greeting
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function serveTable(
  paths: readonly string[],
  given: ServeOptions,
  cores: number,
  version: string,
): Promise<number> {
  const options = await withPaths('serve', paths, given);
  await checkUsage(options);
  const { shards } = options;
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const { agent, profile = 'rfc9309', threads = Math.min(cores, MOST_THREADS) } = options;
  const kept = agent === undefined ? undefined : parseAgents(agent, profile);
  const table = await interruptible(async (interruption) => {
    const opened =
      shards === undefined
        ? await openTable(
            { ...options, bankBytes: ONE_BANK, signals: true },
            kept,
            diagnostics,
            interruption,
          )
        : emptyTable('rfc9309');
    return interruption.exitCode ?? opened;
  });
  if (typeof table === 'number') return table;
  const agents = parseAgents(agent, table.header.profile).map(({ name }) => name);
  const { error, isBlocked } = await serve(table, {
    version,
    agents,
    threads,
    addedShards: shards,
  });
  const code = error === undefined ? SUCCESS : reportFailure(error);
  // A thread that is blocked in a read would keep the process alive.
  if (isBlocked) process.kill(process.pid, code === SUCCESS ? 'SIGTERM' : 'SIGKILL');
  return code;
}

/** @throws RobotsFilterError `usage`, with the command to type */
async function checkUsage(options: ServeOptions): Promise<void> {
  if (options.shards !== undefined) {
    if (options.table !== undefined || options.robotsDir !== undefined) {
      throw usageError(
        'serve --shards answers the shards of hosts and needs no table. Leave --table and --robots-dir out',
      );
    }
    const [idle] = [
      ...givenOf([
        ['--agent', options.agent],
        ['--profile', options.profile],
        ['--parts', options.parts],
        ['--allow-empty', options.allowEmpty],
      ]),
      ...readingOptionsIn(options),
    ];
    if (idle === undefined) return;
    throw usageError(
      `${idle} has no effect with --shards, which answers the shards of hosts and no verdicts. Leave it out`,
    );
  }
  if (options.parts !== undefined && options.table === undefined) {
    throw usageError(
      '--parts has no effect without --table: it chooses shards of a compiled table. Leave it out',
    );
  }
  if (options.table === undefined && options.robotsDir === undefined) {
    throw usageError('serve needs a table. Type: robots-filter serve FILE');
  }
  if (options.robotsDir?.includes(STANDARD_INPUT) === true) {
    throw usageError(
      'serve reads its questions from standard input, so --robots-dir - cannot. Name a file, or --robots-dir <(command)',
    );
  }
  refuseSingleRobots(options.robotsDir ?? [], ['serve', ...agentWords(options)]);
  checkRobotsSource([], options);
  await checkChoices(options.robotsDir, options);
}
