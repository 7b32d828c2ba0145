import type { Writable } from 'node:stream';
import { formatFieldPath } from '../../base/arguments.js';
import { inputName } from '../../files/openings.js';
import { hasWorkingDirectory } from '../../files/system-error.js';
import type { TableMemory } from '../../judge/table-memory.js';
import type { Tally } from '../../pipeline/counts.js';
import type { Filter } from '../../pipeline/filter.js';
import type { InputFormat } from '../../pipeline/input/format.js';
import { type OpenInput, openInput } from '../../pipeline/input/open.js';
import { type SampledInput, sampleInput } from '../../pipeline/input/url-places.js';
import {
  isClosed,
  type LineLayout,
  type OutputTarget,
  openDisplay,
} from '../../pipeline/output/output.js';
import type { ParquetOutput } from '../../pipeline/output/parquet-output.js';
import { writtenFormat } from '../../pipeline/output/rows.js';
import type { RunEnd } from '../../pipeline/run.js';
import type { Agent } from '../../protocol/agent.js';
import { VERDICTS, type Verdict } from '../../protocol/verdict.js';
import { MainThread } from '../../workers/main-thread.js';
import type { Executor } from '../../workers/messages.js';
import type { FilterOptions } from '../options/command-options.js';
import { robotsSources } from '../options/filter-usage.js';
import { checkUrlFieldOf, openOptions } from '../options/input-options.js';
import { outputFile, outputFormat, outputMode } from '../options/output-options.js';
import { type Interruption, peakMemory, STANDARD_OUTPUT_DESCRIPTOR } from '../process.js';
import { type Diagnostics, ProgressLine } from '../report/diagnostics.js';
import type { FilterFigures } from '../report/filter-figures.js';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatShare,
  formatTimeLeft,
} from '../report/numbers.js';
import {
  countsOf,
  leftOut,
  type RunStatistics,
  statisticsFigures,
  statisticsJson,
  statisticsText,
} from '../report/statistics.js';
import {
  alignedColumns,
  colouredVerdicts,
  isColoured,
  isForPeople,
  paintOf,
  RecordColumns,
  windowOfOutput,
} from '../report/terminal.js';
import { describeUselessRun, isUseless } from '../report/useless-run.js';
import type { FilterReport } from './filter-report.js';
import { type InputSurvey, type KeptInputs, noteDoubt } from './inputs.js';

/** Number of invalid records that are named on standard error. */
const NAMED_RECORDS = 10;

/** The parts of a run. */
interface FilterRunParts {
  readonly filter: Filter;
  readonly table: TableMemory;
  readonly agents: readonly Agent[];
  readonly paths: readonly string[];
  /** Bytes of all inputs on disk; undefined if unknown. */
  readonly totalBytes: number | undefined;
  /** The inputs, as far as they have been read. */
  readonly inputs: KeptInputs;
  /** A descriptor or stream. It is not closed. */
  readonly target: number | Writable;
  /** The name of the output in messages. */
  readonly outputName: string;
  /** Whether the output is a file that is replaced when the run is complete, or not at all. */
  readonly isReplacement: boolean;
  /** The Parquet output that takes the records in place of `target`. */
  readonly parquet: ParquetOutput | undefined;
  /** The layout of text for people, in place of `target`. */
  readonly display: FilterDisplay | undefined;
  /** Whether progress is shown, unless an option says so. */
  readonly showsProgress: boolean;
  /** Whether the records get verdicts, not shards. */
  readonly hasVerdicts: boolean;
  /** The report to write at the end. */
  readonly report: FilterReport | undefined;
  readonly options: FilterOptions;
  readonly diagnostics: Diagnostics;
  readonly interruption: Interruption;
}

/** A run over all inputs, with its messages on standard error. */
export class FilterRun {
  readonly #parts: FilterRunParts;
  /** Time at which the first record could be judged, in seconds after the start of the process. */
  readonly #ready = process.uptime();
  /** The current input, and the bytes that the filter had read before it. */
  #input: { readonly open: OpenInput; readonly bytesBefore: number } | undefined;
  /** Bytes on disk of the inputs that were read completely. */
  #finishedBytes = 0;
  /** By how much the inputs so far were longer than the lines into which they were converted. */
  #convertedBytes = 0;
  #lastFormat: OpenInput['format'] = 'text';
  /** The first records of the first input in which nothing was decided. */
  #sample: SampledInput | undefined;

  constructor(parts: FilterRunParts) {
    this.#parts = parts;
  }

  /** Filters all inputs until they end, the reader of the output goes away, or a signal comes. */
  async carryOut(): Promise<RunEnd> {
    const { options, diagnostics, totalBytes, showsProgress } = this.#parts;
    const { quiet, progress: wanted = showsProgress && quiet !== true } = options;
    let progress: { end(): void } | undefined;
    if (wanted) {
      progress = showFilterProgress(diagnostics, () => this.#progress(), totalBytes);
    }
    let end: RunEnd | undefined;
    try {
      end = await this.#filterInputs();
    } finally {
      progress?.end();
      if (end !== 'closed') this.#sumUp(end === 'done');
      // The error follows.
      if (end === undefined) this.#printStatistics(false);
    }
    const figures = await this.#writeReport(end === 'done');
    this.#printStatistics(end === 'done', figures);
    if (end === 'done') this.#printClosingLine();
    return end;
  }

  async close(): Promise<void> {
    await this.#parts.filter.close();
  }

  /** Filters the inputs in order. */
  async #filterInputs(): Promise<RunEnd> {
    try {
      return await this.#filterAll();
    } catch (error) {
      // Parquet has bytes before the records and after them.
      if (this.#parts.parquet !== undefined && isClosed(error)) return 'closed';
      throw error;
    }
  }

  async #filterAll(): Promise<RunEnd> {
    const { filter, options, parquet, display, outputName, paths, inputs } = this.#parts;
    const { interruption, diagnostics } = this.#parts;
    const how = openOptions(options);
    const interrupted = new Promise<undefined>((resolve) => {
      interruption.signal.addEventListener('abort', () => {
        filter.cancel();
        resolve(undefined);
      });
    });
    for (const [index, path] of paths.entries()) {
      // A silent pipe must not delay an interrupt.
      const open = await Promise.race([
        openInput(path, { ...how, taken: inputs.startOf(index) }),
        interrupted,
      ]);
      if (open === undefined) return 'cancelled';
      this.#input = { open, bytesBefore: filter.progress().bytes };
      this.#lastFormat = open.format;
      try {
        // With --fetch the input has been read once before.
        if (options.fetch !== true) noteDoubt(open, diagnostics);
        checkUrlFieldOf(open, options, paths.length);
        const file = open.kind === 'stream' ? open.parquet : undefined;
        const target =
          (await parquet?.streamFor(open.name, file)) ??
          display?.targetFor(open.format) ??
          this.#parts.target;
        const end = await filter.run(open, target, outputName);
        if (end !== 'done') return end;
        if (options.quiet !== true && isUseless(filter.tally())) {
          this.#sample ??= await sampleInput(open);
        }
      } finally {
        this.#finishedBytes += open.size ?? 0;
        this.#convertedBytes += this.#bytesConverted();
        this.#input = undefined;
        await open.close();
      }
    }
    await parquet?.finish();
    return 'done';
  }

  #progress(): FilterProgress {
    const { filter, totalBytes } = this.#parts;
    const { bytes, records } = filter.progress();
    return {
      records,
      allowed: countsOf(filter.tally().outcomes[0] ?? []).verdicts.allow,
      bytes: totalBytes === undefined ? bytes : this.#finishedBytes + this.#bytesOfInput(bytes),
    };
  }

  /**
   * The bytes read from the current input, counted on disk.
   *
   * @param bytes the bytes that the filter has read from all inputs, decompressed
   */
  #bytesOfInput(bytes: number): number {
    if (this.#input === undefined) return 0;
    const { open, bytesBefore } = this.#input;
    return open.kind === 'stream' ? open.consumed() : bytes - bytesBefore;
  }

  /** How many more bytes the current input had than the lines into which it was converted. */
  #bytesConverted(): number {
    if (this.#input === undefined) return 0;
    const { open, bytesBefore } = this.#input;
    if (open.kind !== 'stream' || open.contentBytes === undefined) return 0;
    return open.contentBytes() - (this.#parts.filter.progress().bytes - bytesBefore);
  }

  /** Reports how many records were invalid or left out. Warns if almost no record was decided. */
  #sumUp(isComplete: boolean): void {
    const { filter, options, paths, diagnostics } = this.#parts;
    const tally = filter.tally();
    if (tally.bad > NAMED_RECORDS) {
      diagnostics.note(
        `${formatCount(tally.bad, 'invalid record')} in all; the first ${NAMED_RECORDS} are named above`,
      );
    }
    if (options.allowed === true || options.denied === true) {
      const sentence = leftOut(tally);
      if (sentence !== undefined) diagnostics.note(sentence);
    }
    if (tally.records === 0 && isComplete) {
      diagnostics.note(
        `warning: ${paths.map(inputName).join(', ')} ${paths.length === 1 ? 'has' : 'have'} no records`,
      );
    }
    const warning = describeUselessRun(tally, {
      view: this.#parts.table.view,
      hosts: this.#parts.table.hosts,
      source: robotsSources(options)
        .map(({ option, path }) => `${option} ${path}`)
        .join(' '),
      urlField: formatFieldPath(options.urlField),
      isText: this.#lastFormat === 'text',
      sample: this.#sample,
    });
    if (warning !== undefined) diagnostics.note(warning);
  }

  /** Writes the report, if one is wanted and no signal came; returns its figures. */
  async #writeReport(complete: boolean): Promise<FilterFigures | undefined> {
    const { filter, table, agents, options, report, interruption } = this.#parts;
    if (report === undefined || interruption.exitCode !== undefined) return undefined;
    const { filterFigures } = await import('../report/filter-figures.js');
    const sources = robotsSources(options).map(({ path }) => path);
    const figures = filterFigures({
      filter,
      view: table.view,
      agents,
      about: { complete, source: sources.join(', '), profile: table.header.profile },
      tableHosts: table.hosts,
      now: options.asOf ?? Date.now(),
    });
    await report.write(figures, statisticsFigures(this.#statistics(complete)));
    return figures;
  }

  #statistics(complete: boolean): RunStatistics {
    const { filter, table, agents, options, parquet } = this.#parts;
    const tally = filter.tally();
    const usage = process.resourceUsage();
    return {
      complete,
      isDiscarded: !complete && this.#parts.isReplacement,
      agents: agents.map(({ name }) => name),
      tally: { ...tally, passed: parquet?.rows ?? tally.passed },
      inputBytes: filter.progress().bytes + this.#convertedBytes,
      hosts: { table: table.hosts, seen: options.stats && filter.hostsSeen() },
      seconds: {
        setup: this.#ready,
        filter: process.uptime() - this.#ready,
        user: usage.userCPUTime / 1e6,
        system: usage.systemCPUTime / 1e6,
      },
      peakBytes: peakMemory(),
    };
  }

  /** Prints statistics if they are wanted, or after a signal. */
  #printStatistics(complete: boolean, figures?: FilterFigures): void {
    const { options, diagnostics, interruption } = this.#parts;
    const { stats, quiet } = options;
    if (stats === undefined && (interruption.exitCode === undefined || quiet === true)) return;
    const statistics = this.#statistics(complete);
    diagnostics.print(
      stats === 'json' ? statisticsJson(statistics, figures) : statisticsText(statistics),
    );
  }

  /** Ends a run at a terminal with one line, unless statistics say more. */
  #printClosingLine(): void {
    const { filter, agents, options, diagnostics, hasVerdicts } = this.#parts;
    if (!diagnostics.isTerminal || options.stats !== undefined) return;
    diagnostics.note(
      closingLine({
        tally: filter.tally(),
        agents: hasVerdicts ? agents.map(({ name }) => name) : [],
        seconds: process.uptime(),
        isUnexplained: options.explain !== true && outputMode(options) === 'annotate',
      }),
    );
  }
}

/** Columns of text that `--explain` adds for each agent: REASON, LINE, RULE, AGENT and SOURCE. */
const EXPLANATION_COLUMNS = 5;

/** The layout of the filter's lines of text on standard output, for people. */
export class FilterDisplay {
  readonly #output: ReturnType<typeof outputFormat>;
  readonly #layOut: LineLayout;
  readonly #outputName: string;

  private constructor(
    output: ReturnType<typeof outputFormat>,
    layOut: LineLayout,
    outputName: string,
  ) {
    this.#output = output;
    this.#layOut = layOut;
    this.#outputName = outputName;
  }

  /**
   * @param agents number of agents
   * @param outputName the name of standard output in messages
   * @returns undefined if all records come out as they are
   */
  static of(options: FilterOptions, agents: number, outputName: string): FilterDisplay | undefined {
    if (outputFile(options) !== undefined || outputMode(options) !== 'annotate') return undefined;
    if (!isForPeople(STANDARD_OUTPUT_DESCRIPTOR)) return undefined;
    const { explain = false, preferences = false } = options;
    if (!explain && !isColoured(STANDARD_OUTPUT_DESCRIPTOR)) return undefined;
    const paint = paintOf(STANDARD_OUTPUT_DESCRIPTOR);
    const added = (explain ? EXPLANATION_COLUMNS : 0) + (preferences ? 1 : 0);
    const layOut = explain
      ? alignedColumns(new RecordColumns(paint, windowOfOutput), agents * added)
      : colouredVerdicts(paint);
    return new FilterDisplay(outputFormat(options), layOut, outputName);
  }

  /** Where the records of an input go; undefined if they do not come out as text. */
  targetFor(format: InputFormat): OutputTarget | undefined {
    if (writtenFormat(format, this.#output) !== 'text') return undefined;
    return () => openDisplay(STANDARD_OUTPUT_DESCRIPTOR, this.#outputName, this.#layOut);
  }
}

/**
 * Greatest product of input bytes and agents for which the main thread judges
 * alone. Beyond that, threads save more time than they take to start and to end.
 */
const MAIN_THREAD_BYTES = 24 * 1024 * 1024;

/** The facts that decide which threads judge. */
interface Workload {
  /** Bytes of all inputs, after decompression as far as can be estimated; undefined if unknown. */
  readonly bytes: number | undefined;
  readonly agents: number;
  readonly isOutputNonBlocking: InputSurvey['isOutputNonBlocking'];
  readonly hasPipe: InputSurvey['hasPipe'];
  /** The value of `--threads`. */
  readonly threads: number | undefined;
  readonly cores: number;
}

/**
 * Starts the executor of a run: the main thread if there is little to do, or if no other thread can
 * start; otherwise threads.
 */
export async function startExecutor(workload: Workload): Promise<Executor> {
  const { bytes, agents, isOutputNonBlocking, hasPipe, threads = workload.cores } = workload;
  const isSmall = bytes !== undefined && bytes * agents <= MAIN_THREAD_BYTES;
  if ((workload.threads === undefined && isSmall) || !hasWorkingDirectory()) {
    return new MainThread();
  }
  const { JointPool, Pool } = await import('../../workers/pool.js');
  // Run describes who reads and writes in each case.
  if (bytes !== undefined && isOutputNonBlocking) return new JointPool({ threads });
  const reader = hasPipe && bytes === undefined && (threads === 1 || !isOutputNonBlocking);
  return new Pool({ threads, reader });
}

/** Number of agents whose verdicts the line holds; of more, it names two. */
const MOST_AGENTS = 3;

/** A run that has ended. */
interface EndedRun {
  readonly tally: Tally;
  /** Names of the agents, in the order of the tally; none if no verdicts were asked for. */
  readonly agents: readonly string[];
  readonly seconds: number;
  /** Whether another run could explain the verdicts. */
  readonly isUnexplained: boolean;
}

/** `2,180,064 URLs in 0.60 s: 59.7 % allow, 40.3 % deny; --explain says why`. */
function closingLine({ tally, agents, seconds, isUnexplained }: EndedRun): string {
  const { records } = tally;
  const start = `${formatCount(records, 'URL')} in ${formatDuration(seconds)}`;
  if (records === 0 || agents.length === 0) return start;
  const counted = agents.map((agent, index) => {
    const { verdicts } = countsOf(tally.outcomes[index] ?? []);
    return { agent, verdicts };
  });
  const all = counted.map(({ agent, verdicts }) => {
    const shares = sharesOf(verdicts, records);
    return counted.length === 1 ? shares : `${agent} ${shares}`;
  });
  const isOther = counted.some(({ verdicts }) => verdicts.allow < records);
  const hint = isUnexplained && isOther ? '; --explain says why' : '';
  if (all.length <= MOST_AGENTS) return `${start}: ${all.join('; ')}${hint}`;
  const sorted = counted.toSorted((a, b) => a.verdicts.allow - b.verdicts.allow);
  const ends = [sorted[0], sorted.at(-1)].map((end) =>
    end === undefined ? '' : `${formatShare(end.verdicts.allow, records)} allow (${end.agent})`,
  );
  return `${start}: ${agents.length} agents, from ${ends.join(' to ')}${hint}`;
}

function sharesOf(verdicts: Readonly<Record<Verdict, number>>, records: number): string {
  return VERDICTS.filter(
    (verdict) => verdicts[verdict] > 0 || verdict === 'allow' || verdict === 'deny',
  )
    .map((verdict) => `${formatShare(verdicts[verdict], records)} ${verdict}`)
    .join(', ');
}

/** The progress of a run of the filter. */
interface FilterProgress {
  readonly records: number;
  /** Records that the first agent may fetch. */
  readonly allowed: number;
  /** Number of bytes of input that were read. */
  readonly bytes: number;
}

/** Milliseconds between two lines of a log. */
const LOG_INTERVAL = 2000;
/** Number of seconds over which rates are averaged. */
const RATE_SECONDS = 3;

/** Rates per second. */
interface Rates {
  readonly records: number;
  readonly bytes: number;
}

/**
 * Shows the progress of a run until `end` is called.
 *
 * @param totalBytes bytes of all inputs; undefined if unknown
 */
function showFilterProgress(
  diagnostics: Diagnostics,
  progress: () => FilterProgress,
  totalBytes: number | undefined,
): ProgressLine {
  const recent = new RecentProgress();
  const describe = (): string => {
    const now = progress();
    return describeFilterProgress(now, recent.rates(now), totalBytes);
  };
  return new ProgressLine(diagnostics, describe, LOG_INTERVAL);
}

/** Measures the rates of the last few seconds. */
class RecentProgress {
  readonly #samples = [{ time: performance.now(), records: 0, bytes: 0 }];

  /** Returns the rates, given the progress so far. */
  rates({ records, bytes }: FilterProgress): Rates {
    const samples = this.#samples;
    const now = performance.now();
    samples.push({ time: now, records, bytes });
    while (samples.length > 2 && now - (samples[1]?.time ?? now) > RATE_SECONDS * 1000) {
      samples.shift();
    }
    const [first] = samples;
    if (first === undefined || now <= first.time) return { records: 0, bytes: 0 };
    const seconds = (now - first.time) / 1000;
    return {
      records: (records - first.records) / seconds,
      bytes: (bytes - first.bytes) / seconds,
    };
  }
}

/** Formats `45.2 % of 1.10 GB, 3 s left, 1,200,000 records, 6,300,000/s, 73.4 % allowed`. */
export function describeFilterProgress(
  { records, allowed, bytes }: FilterProgress,
  rates: Rates,
  totalBytes: number | undefined,
): string {
  const parts = [
    `${formatNumber(records)} records`,
    `${formatNumber(rates.records)}/s`,
    `${formatPercent(allowed, records)} allowed`,
  ];
  if (totalBytes === undefined) return [formatBytes(bytes), ...parts].join(', ');
  const left = Math.max(0, totalBytes - bytes);
  const read = `${formatPercent(totalBytes - left, totalBytes)} of ${formatBytes(totalBytes)}`;
  const time = left > 0 && rates.bytes > 0 ? [formatTimeLeft(left / rates.bytes)] : [];
  return [read, ...time, ...parts].join(', ');
}
