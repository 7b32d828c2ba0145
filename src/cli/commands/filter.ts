/** The filter and `shard`: checks the options, opens the output, runs. */

import { formatFieldPath } from '../../base/arguments.js';
import { inputName, isTerminal } from '../../files/openings.js';
import type { ReplacementFile } from '../../files/replacement.js';
import { hasWorkingDirectory } from '../../files/system-error.js';
import {
  emptyTable,
  hasHistories,
  secondsOfDays,
  secondsOfTime,
  type TableMemory,
} from '../../judge/table-memory.js';
import { ALLOW, REASON_BITS, UNKNOWN } from '../../kernel/layout.js';
import { describeBadRecord } from '../../pipeline/bad-record.js';
import type { Tally } from '../../pipeline/counts.js';
import { Filter, type FilterSettings } from '../../pipeline/filter.js';
import type { Agent } from '../../protocol/agent.js';
import { MainThread } from '../../workers/main-thread.js';
import type { Executor } from '../../workers/messages.js';
import { knownAgentsOf, parseAgents } from '../agents.js';
import {
  Diagnostics,
  Interruption,
  interruptible,
  NOT_ALLOWED,
  SUCCESS,
  usageError,
} from '../console.js';
import { type FilterOptions, type ShardOptions, usesOf } from '../options.js';
import { STANDARD_OUTPUT_DESCRIPTOR } from '../text.js';
import { type RecordOutput, SingleOutput } from './filter-output.js';
import { FilterRun } from './filter-run.js';
import { openTable } from './filter-table.js';
import {
  checkAddedMembers,
  checkFilterUsage,
  checkShardUsage,
  countsLayout,
  sayingOfATime,
  sayingOption,
  sayingsOf,
} from './filter-usage.js';
import { FilterInputs, type NamedInput, namedInputs, noteTerminalInput } from './inputs.js';
import {
  outputDirectory,
  outputFile,
  outputFormat,
  outputMode,
  refuseOutputInInputs,
} from './outputs.js';
import { tomorrow } from './robots-source.js';

/**
 * `robots-filter`: filters files or standard input.
 *
 * @param cores number of threads, unless the options name another
 * @param shards if given, the number of shards; the shard of each host comes out, and no verdict
 * @param named the inputs; those that the files mean unless they are given
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function filter(
  files: readonly string[],
  given: FilterOptions,
  cores: number,
  { shards, named }: { shards?: number; named?: readonly NamedInput[] } = {},
): Promise<number> {
  const counts = countsLayout(given);
  // Verdicts alone are the shortest output; nobody reads it.
  const options: FilterOptions = counts === undefined ? given : { ...given, format: 'verdicts' };
  const agents =
    shards === undefined ? await checkFilterUsage(files, options) : [{ name: '*', chain: ['*'] }];
  named ??= await namedInputs(files);
  const paths = named.map(({ path }) => path);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const output = await outputOf(named, options, diagnostics);
  const inputs = await FilterInputs.of(paths, output.descriptor);
  noteTerminalInput(paths, diagnostics);
  const interruption = new Interruption();
  let pool: Executor | undefined;
  let filter: Filter | undefined;
  let report: ReplacementFile | undefined;
  try {
    if (options.report !== undefined) {
      const { ReplacementFile } = await import('../../files/replacement.js');
      report = await ReplacementFile.create(options.report);
    }
    await output.open(counts === undefined);
    await inputs.takeStart();
    // The threads start while the rest of the program and the table are loaded.
    pool = await startExecutor(options, inputs, output, cores);
    const table =
      shards === undefined
        ? await openTable(
            { ...options, choose: (manifest) => inputs.shards(manifest, options) },
            agents,
            diagnostics,
            interruption,
          )
        : emptyTable('rfc9309');
    interruption.signal.throwIfAborted();
    // Without histories this was checked before the table was opened.
    if (hasHistories(table)) checkAddedMembers(options, undefined, true);
    const asked = agents ?? agentsOf(options, table);
    const byTime = asksForTimes(options, table);
    const settings = {
      ...settingsOf(options, asked, table),
      knownAgents: options.agentField && (await knownAgentsOf(options, diagnostics)),
      addedShards: shards,
      sayings: await openSayings(options, table, asked),
    };
    await output.prepare(settings);
    filter = new Filter({
      table,
      pool,
      settings,
      onBadRecord: (record, unit) => diagnostics.note(describeBadRecord(record, unit)),
    });
    const isFile = output.descriptor === undefined || inputs.survey.isOutputNonBlocking;
    // Counts come out when the progress has been removed.
    const isFree = isFile || (counts !== undefined && isTerminal(STANDARD_OUTPUT_DESCRIPTOR));
    const run = new FilterRun({
      filter,
      table,
      agents: asked,
      inputs,
      output,
      showsProgress: diagnostics.isTerminal && isFree,
      hasVerdicts: shards === undefined,
      byTime,
      report,
      options,
      diagnostics,
      interruption,
    });
    const end = await run.carryOut();
    // A short run may not have turned the event loop.
    await interruption.hear();
    if (interruption.exitCode === undefined) {
      await output.commit(end);
      if (counts !== undefined) {
        const { writeCounts } = await import('../report/run-counts.js');
        const uses = usesOf(options);
        const isNamed = options.agentField !== undefined;
        const { view } = table;
        const run = { filter, view, agents: asked, uses, diagnostics, isNamed, byTime };
        await writeCounts(run, counts);
      }
    }
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    // Whoever closed the output has seen enough.
    if (options.exitCode !== true || end === 'closed') return SUCCESS;
    const tally = filter.tally();
    const passed = output.rows ?? tally.passed;
    return areAllowed({ ...tally, passed }, settings) ? SUCCESS : NOT_ALLOWED;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    await filter?.close();
    await output.close();
    await report?.discard();
    await pool?.close();
    interruption.end();
  }
}

/**
 * `robots-filter`, where records of WARC inputs are copied after their verdicts: pipes are first
 * copied to temporary files.
 *
 * @param cores number of threads, unless the options name another
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function filterCopying(
  files: readonly string[],
  options: FilterOptions,
  cores: number,
): Promise<number> {
  await checkFilterUsage(files, options);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const named = await namedInputs(files);
  const { RereadableInputs } = await import('../../pipeline/input/rereadable.js');
  const inputs = new RereadableInputs(
    named.map(({ path }) => path),
    (input, copy) =>
      diagnostics.note(
        `copying ${inputName(input)} to ${copy}: records of WARC are read again after their verdicts`,
      ),
  );
  try {
    const paths = await interruptible(({ signal }) => inputs.paths(signal));
    if (typeof paths === 'number') return paths;
    const again = named.map((input, index) => ({ ...input, path: paths[index] ?? input.path }));
    return await filter(files, options, cores, { named: again });
  } finally {
    inputs.discard();
  }
}

/** @throws RobotsFilterError `usage` if the output is in the way of an input */
async function outputOf(
  named: readonly NamedInput[],
  options: FilterOptions,
  diagnostics: Diagnostics,
): Promise<RecordOutput> {
  const path = outputFile(options);
  if (path !== undefined) refuseOutputInInputs(path, named);
  const directory = outputDirectory(options);
  if (directory === undefined) return new SingleOutput(options);
  const { MirroredOutput } = await import('./mirrored-output.js');
  return MirroredOutput.of(directory, named, options, diagnostics);
}

/**
 * Greatest product of input bytes and agents for which the main thread judges
 * alone. Beyond that, threads save more time than they take to start and to end.
 */
const MAIN_THREAD_BYTES = 24 * 1024 * 1024;

/**
 * Starts the executor of a run: the main thread if there is little to do, or if no other thread can
 * start; otherwise threads.
 */
async function startExecutor(
  options: FilterOptions,
  inputs: FilterInputs,
  output: RecordOutput,
  cores: number,
): Promise<Executor> {
  const { contentBytes: bytes, survey } = inputs;
  const { threads = cores } = options;
  const isSmall = bytes !== undefined && bytes * (options.agent?.length ?? 1) <= MAIN_THREAD_BYTES;
  if ((options.threads === undefined && isSmall) || !hasWorkingDirectory()) {
    return new MainThread();
  }
  const { Pool } = await import('../../workers/pool.js');
  // Run describes who reads and writes in each case. The main thread writes Parquet and WARC.
  const isNonBlocking = survey.isOutputNonBlocking && !output.isAssembled;
  if (bytes !== undefined && isNonBlocking) return new Pool({ threads, joins: true });
  const reader = survey.hasPipe && bytes === undefined && (threads === 1 || !isNonBlocking);
  return new Pool({ threads, reader });
}

/**
 * The agents of a run. If records name their agents, it is one that stands for all.
 *
 * @throws RobotsFilterError `usage` as `parseAgents`, and for a table of some agents alone
 */
function agentsOf({ agent, agentField, table: path }: FilterOptions, table: TableMemory): Agent[] {
  if (agentField === undefined) return parseAgents(agent, table.header.profile);
  if (table.view.isReduced) {
    throw usageError(
      `${path} was compiled for some agents only, and --agent-field asks for any. Compile it again without --agent`,
    );
  }
  return [{ name: `field:${formatFieldPath(agentField)}`, chain: ['*'] }];
}

/** Whether the robots.txt files that decide are those of times, of which a table has histories. */
function asksForTimes({ timeField, inForce }: FilterOptions, table: TableMemory): boolean {
  if (!hasHistories(table)) return false;
  return timeField !== undefined || inForce === 'ever' || table.time !== undefined;
}

/** @throws RobotsFilterError `usage` if the table does not say what is asked for */
async function openSayings(options: FilterOptions, table: TableMemory, agents: readonly Agent[]) {
  const sayings = sayingsOf(options);
  const [first] = sayings;
  if (first === undefined) return undefined;
  const { RecordSayings } = await import('../../pipeline/output/record-sayings.js');
  const { table: path } = options;
  const option = sayingOption(first);
  const what = first === 'preferences' ? 'preferences' : 'crawl-delays';
  if (path === undefined && table.time !== undefined) {
    throw usageError(
      `${option} reads robots.txt files of whatever age. Leave ${option} or --max-age out`,
    );
  }
  if (path !== undefined && table.time !== undefined) {
    throw usageError(
      `${path} keeps the ${what} of the newest robots.txt alone. Leave ${option} or --as-of out, or ${sayingOfATime(first)}`,
    );
  }
  if (path !== undefined && !table.view.hasRecords) {
    throw usageError(`${path} keeps no ${what}. Compile it with --records, or leave ${option} out`);
  }
  return new RecordSayings(table, agents, sayings, path ?? 'the table');
}

/**
 * Whether some records came out that were chosen, or all records may be fetched, by all agents and
 * for all uses. There must be one.
 */
function areAllowed(
  { records, passed, outcomes }: Tally,
  { output, agents, requireGrant = false }: FilterSettings,
): boolean {
  if (output === 'allowed' || output === 'denied') return passed > 0;
  const isAllowed = (outcome: number, index: number): boolean => {
    const verdict = outcome >> REASON_BITS;
    if (verdict === ALLOW) return true;
    return index >= agents.length && verdict === UNKNOWN && !requireGrant;
  };
  return (
    records > 0 &&
    outcomes.every((counts, index) =>
      counts.every((count, outcome) => count === 0 || isAllowed(outcome, index)),
    )
  );
}

function settingsOf(
  options: FilterOptions,
  agents: readonly Agent[],
  table: TableMemory,
): FilterSettings {
  return {
    agents,
    agentField: options.agentField,
    server: options.host,
    uses: usesOf(options),
    requireGrant: options.requireGrant ?? false,
    output: outputMode(options),
    outputFormat: outputFormat(options),
    mirrors: outputDirectory(options) !== undefined,
    outputHeader: options.outputHeader ?? false,
    unknown: options.unknown,
    explain: options.explain ?? false,
    dated: options.explain === true && hasHistories(table),
    timeField: options.timeField,
    ever: options.inForce === 'ever',
    maxAge: options.maxAge && secondsOfDays(options.maxAge),
    now: options.timeField && secondsOfTime(tomorrow()),
    strict: options.strict ?? false,
    urlField: options.urlField,
    verdictField: options.verdictField,
    maxLineBytes: options.maxLineBytes,
    countHosts: options.stats !== undefined,
    countByHost: options.statsBy === 'host' || options.report !== undefined,
    countByRule: options.statsBy === 'rule' || options.report !== undefined,
  };
}

/**
 * `robots-filter shard`: adds the shard of the host to each record of files or standard input.
 *
 * @param cores number of threads, unless the options name another
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function shard(
  files: readonly string[],
  { of: shards, field, ...asked }: ShardOptions,
  cores: number,
): Promise<number> {
  // No verdict comes out. As allowed, unknown hosts are nothing to warn of.
  const options: FilterOptions = { ...asked, verdictField: field, unknown: 'allow' };
  return filter(files, options, cores, { shards: checkShardUsage(files, shards, options) });
}
