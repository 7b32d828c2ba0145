import { closeSync, existsSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { isatty } from 'node:tty';
import { docsPage } from '../../base/errors.js';
import type { ReplacementFile } from '../../files/replacement.js';
import { emptyTable, type TableMemory } from '../../judge/table-memory.js';
import type { ByteSink } from '../../parquet/chunk-writer.js';
import { describeBadRecord } from '../../pipeline/bad-record.js';
import { Filter, type FilterSettings } from '../../pipeline/filter.js';
import { type InputStart, takePipeStart, takeSocketStart } from '../../pipeline/input/raw-input.js';
import type { CompressedFile } from '../../pipeline/output/compressed-file.js';
import { OutputSink, openOutput } from '../../pipeline/output/output.js';
import type { ParquetOutput } from '../../pipeline/output/parquet-output.js';
import type { RecordPreferences } from '../../pipeline/output/record-preferences.js';
import type { Agent } from '../../protocol/agent.js';
import type { Executor } from '../../workers/messages.js';
import { isDigits } from '../definition.js';
import { parseAgents } from '../options/agents.js';
import type { FilterOptions, ShardOptions } from '../options/command-options.js';
import { checkFilterUsage, checkShardUsage } from '../options/filter-usage.js';
import {
  outputCompressor,
  outputFile,
  outputFormat,
  outputMode,
} from '../options/output-options.js';
import { checkSpreadsheet } from '../options/report-options.js';
import { Interruption, STANDARD_OUTPUT_DESCRIPTOR } from '../process.js';
import { Diagnostics } from '../report/diagnostics.js';
import type { CountsLayout } from '../report/run-counts.js';
import { SUCCESS, shellWords, usageError } from '../usage-error.js';
import type { FilterReport } from './filter-report.js';
import { FilterDisplay, FilterRun, startExecutor } from './filter-run.js';
import { openTable } from './filter-table.js';
import {
  type InputSurvey,
  inputPaths,
  KeptInputs,
  noteTerminalInput,
  surveyInputs,
} from './inputs.js';

/** Bytes that are read from a pipe or socket to find out whether it has more. */
const START_BYTES = 1024 * 1024;
/** Standard output as messages name it. */
const STANDARD_OUTPUT_NAME = 'standard output';

/**
 * `robots-filter`: filters files or standard input.
 *
 * @param cores number of threads, unless the options name another
 * @param shards if given, the number of shards; the shard of each host comes out, and no verdict
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function filter(
  files: readonly string[],
  given: FilterOptions,
  cores: number,
  shards?: number,
): Promise<number> {
  const counts = countsLayout(given);
  // Verdicts alone are the shortest output; nobody reads it.
  const options: FilterOptions = counts === undefined ? given : { ...given, format: 'verdicts' };
  const agents =
    shards === undefined ? await checkFilterUsage(files, options) : checkShardUsage(options);
  const paths = await inputPaths(files);
  const outputPath = outputFile(options);
  const isParquet = outputFormat(options) === 'parquet';
  if (isParquet && outputPath === undefined && isatty(STANDARD_OUTPUT_DESCRIPTOR)) {
    throw usageError('Parquet is not for terminals. Write it to a file: -o FILE.parquet');
  }
  const survey = await surveyInputs(
    paths,
    outputPath === undefined ? STANDARD_OUTPUT_DESCRIPTOR : undefined,
  );
  const diagnostics = new Diagnostics(options.quiet ?? false);
  noteTerminalInput(paths, diagnostics);
  const interruption = new Interruption();
  let output: ReplacementFile | undefined;
  let compressed: CompressedFile | undefined;
  let sink: OutputSink | undefined;
  let pool: Executor | undefined;
  let run: FilterRun | undefined;
  let nowhere: number | undefined;
  let report: FilterReport | undefined;
  try {
    if (options.report !== undefined) {
      const { FilterReport } = await import('./filter-report.js');
      report = await FilterReport.create(options.report);
    }
    if (counts !== undefined) nowhere = openSync(devNull, 'w');
    if (outputPath !== undefined) {
      const { ReplacementFile } = await import('../../files/replacement.js');
      const compressor = await outputCompressor(outputPath);
      output = await ReplacementFile.create(outputPath);
      compressed = compressor?.(output);
    }
    const taken = await takeStart(survey);
    const inputs = new KeptInputs(paths, survey, taken);
    // The threads start while the rest of the program and the table are loaded.
    pool = await startExecutor({
      bytes: taken?.ended ? taken.bytes.length : survey.contentBytes,
      agents: options.agent?.length ?? 1,
      // The main thread writes Parquet.
      isOutputNonBlocking: survey.isOutputNonBlocking && !isParquet,
      hasPipe: survey.hasPipe,
      threads: options.threads,
      cores,
    });
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
    const asked = agents ?? parseAgents(options.agent, table.header.profile);
    const settings = {
      ...settingsOf(options, asked),
      addedShards: shards,
      preferences: await preferencesOf(options, table, asked),
    };
    let parquet: ParquetOutput | undefined;
    if (isParquet) {
      const { ParquetOutput } = await import('../../pipeline/output/parquet-output.js');
      if (output === undefined) {
        sink = new OutputSink(openOutput(STANDARD_OUTPUT_DESCRIPTOR, STANDARD_OUTPUT_NAME));
      }
      parquet = new ParquetOutput((output ?? sink) as ByteSink, settings);
    }
    const filter = new Filter({
      table,
      pool,
      settings,
      onBadRecord: (record, unit) => diagnostics.note(describeBadRecord(record, unit)),
    });
    const isFile = outputPath !== undefined || survey.isOutputNonBlocking;
    // Counts come out when the progress has been removed.
    const isFree = isFile || (counts !== undefined && isatty(STANDARD_OUTPUT_DESCRIPTOR));
    run = new FilterRun({
      filter,
      table,
      agents: asked,
      paths,
      totalBytes: survey.bytes,
      inputs,
      target: nowhere ?? compressed?.stream ?? output?.descriptor ?? STANDARD_OUTPUT_DESCRIPTOR,
      outputName: output?.path ?? STANDARD_OUTPUT_NAME,
      isReplacement: output?.isSeekable ?? false,
      parquet,
      display:
        shards === undefined
          ? FilterDisplay.of(options, asked.length, STANDARD_OUTPUT_NAME)
          : undefined,
      showsProgress: diagnostics.isTerminal && isFree,
      hasVerdicts: shards === undefined,
      report,
      options,
      diagnostics,
      interruption,
    });
    const end = await run.carryOut();
    // A short run may not have turned the event loop.
    await interruption.hear();
    if (interruption.exitCode === undefined) {
      // Standard output may lose its reader, as in `| head`; an output that was named is wanted.
      if (end === 'closed' && output !== undefined) throw output.cutShort();
      await compressed?.finish();
      await output?.commit(false);
      if (counts !== undefined) {
        const { writeCounts } = await import('../report/run-counts.js');
        writeCounts({ filter, view: table.view, agents: asked, diagnostics }, counts);
      }
    }
    return interruption.exitCode ?? SUCCESS;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    await run?.close();
    await compressed?.abandon();
    sink?.close();
    if (nowhere !== undefined) closeSync(nowhere);
    await output?.discard();
    await report?.discard();
    await pool?.close();
    interruption.end();
  }
}

/**
 * How counts are written in place of the records; undefined if the records are wanted.
 *
 * @throws RobotsFilterError `usage` for a format that counts do not have
 */
function countsLayout({
  statsBy,
  top,
  format,
  spreadsheet = false,
}: FilterOptions): CountsLayout | undefined {
  if (statsBy === undefined) {
    if (spreadsheet) {
      throw usageError(
        '--spreadsheet is for the counts of --stats-by: records keep their bytes. Leave it out, and import the records as text',
      );
    }
    if (top === undefined) return undefined;
    throw usageError(
      `--top has no effect without --stats-by. Add --stats-by host, or leave it out`,
    );
  }
  if (format !== undefined && format !== 'csv' && format !== 'ndjson') {
    throw usageError(
      `--stats-by cannot write ${format}. Use --format csv or --format ndjson, or leave it out for a table`,
    );
  }
  checkSpreadsheet({ spreadsheet, format });
  return { by: statsBy, top, format: format ?? 'table', spreadsheet };
}

/** @throws RobotsFilterError `usage` if preferences are asked for, and the table has no records */
async function preferencesOf(
  { preferences = false, table: path }: FilterOptions,
  table: TableMemory,
  agents: readonly Agent[],
): Promise<RecordPreferences | undefined> {
  if (!preferences) return undefined;
  const { RecordPreferences } = await import('../../pipeline/output/record-preferences.js');
  if (path !== undefined && !table.view.hasRecords) {
    throw usageError(
      `${path} keeps no preferences. Compile it with --records, or leave --preferences out`,
    );
  }
  return new RecordPreferences(table, agents, path ?? 'the table');
}

/** Reads the first bytes of standard input if it is the only input, and a pipe or socket. */
async function takeStart({ soleStream }: InputSurvey): Promise<InputStart | undefined> {
  switch (soleStream) {
    case 'pipe':
      return takePipeStart(0, START_BYTES);
    case 'socket':
      return takeSocketStart(0, START_BYTES);
    case undefined:
      return undefined;
  }
}

function settingsOf(options: FilterOptions, agents: readonly Agent[]): FilterSettings {
  return {
    agents,
    output: outputMode(options),
    outputFormat: outputFormat(options),
    outputHeader: options.outputHeader ?? false,
    unknown: options.unknown,
    explain: options.explain ?? false,
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
  { of: shards, field, ...options }: ShardOptions,
  cores: number,
): Promise<number> {
  if (shards === undefined) {
    // It may have come as an argument.
    const [first = ''] = files;
    const isNumber = isDigits(first) && !existsSync(first);
    const lists = isNumber ? files.slice(1) : files;
    const named = lists.length === 0 ? 'urls.txt' : shellWords(lists);
    throw usageError(
      `shard needs the number of shards. Type: robots-filter shard --of ${isNumber ? first : 64} ${named}`,
    );
  }
  if (outputFormat(options) === 'parquet') {
    throw usageError(
      `shard does not write Parquet. Name another output, or compute the shard where the data is: ${docsPage('shards.md')}`,
    );
  }
  // No verdict comes out. As allowed, unknown hosts are nothing to warn of.
  return filter(files, { ...options, verdictField: field, unknown: 'allow' }, cores, shards);
}
