import { isatty } from 'node:tty';
import { RobotsFilterError } from '../errors.js';
import { kernelModule, loadKernelBy } from '../kernel/module.js';
import { clashOf } from '../pipeline/added-members.js';
import { describeBadRecord } from '../pipeline/bad-record.js';
import type { Filter, FilterSettings } from '../pipeline/filter.js';
import type { OpenInput } from '../pipeline/input/open.js';
import { type PipeStart, takePipeStart } from '../pipeline/input/pipe-start.js';
import type { ReplacementFile } from '../pipeline/replacement-file.js';
import type { RunEnd } from '../pipeline/run.js';
import type { Agent } from '../protocol/agent.js';
import { moduleOf } from '../start/kept-module.js';
import type { Table } from '../table.js';
import type { Executor } from '../workers/executor.js';
import { neededTokens, parseAgents } from './agents.js';
import { Diagnostics } from './diagnostics.js';
import { type InputSurvey, surveyInputs } from './input-survey.js';
import { Interruption } from './interruption.js';
import { counted } from './numbers.js';
import type { FilterOptions } from './options.js';
import type { NamedSource } from './output-place.js';
import type { ProgressState } from './progress.js';
import { checkRobotsSource } from './robots-source.js';
import { STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_OUTPUT_DESCRIPTOR } from './standard-streams.js';
import { countsOf, leftOut, statisticsJson, statisticsText } from './statistics.js';
import { checkUrlField, checkUrlFieldOf } from './url-field.js';
import { describeUselessRun } from './useless-run.js';

const COMPLETED = 0;

/** Bad records that are named on standard error. */
const NAMED_RECORDS = 10;

/**
 * Octets of input, perhaps compressed, times agents, up to which it is judged on the main thread
 * alone: a thread beside it, which costs 23 ms until it is at work and has ended, has not quite
 * made up for that at 24 million octets.
 */
const MAIN_THREAD_OCTETS = 24 * 1024 * 1024;

/** The same, up to which the kernel is compiled sooner than what is kept of it is loaded. */
const COMPILED_KERNEL_OCTETS = 10 * 1024;

/** Octets that are taken of a pipe to see whether they are all. */
const PIPE_START_OCTETS = 1024 * 1024;

/**
 * Sees that no record that is written has two members of one name.
 *
 * @throws RobotsFilterError `usage`
 */
function checkAddedMembers(options: FilterOptions): void {
  const { input, urlField, verdictField, explain = false, strict = false } = options;
  const passes = options.allowed === true || options.denied === true;
  const clash = clashOf({ urlField, verdictField, explain, strict }, passes ? undefined : input);
  switch (clash?.with) {
    case 'explanation':
      throw usage(
        `--verdict-field ${clash.member} is the name of a member that --explain adds. Choose another`,
      );
    case 'bad line':
      throw usage(
        `--verdict-field ${clash.member} is the name of a member that is added for records that are no objects. Choose another`,
      );
    case 'url':
      throw usage(
        `${clash.member} is a member that is added, and the one that the URL is read from. Choose another (--verdict-field, --url-field)`,
      );
  }
}

function usage(message: string): RobotsFilterError {
  return new RobotsFilterError('usage', message);
}

/**
 * Sees that the options fit each other and the files, before anything is done that takes long.
 *
 * @returns the agents; undefined where there is a table, by whose own profile they are read
 * @throws RobotsFilterError `usage`
 */
export async function checkUsage(
  files: readonly string[],
  options: FilterOptions,
): Promise<readonly Agent[] | undefined> {
  await checkRobotsSource(files, options);
  checkUrlField(options);
  checkAddedMembers(options);
  if (isReplaced(options.output)) {
    const { refuseSourceAsOutput } = await import('./output-place.js');
    await refuseSourceAsOutput(options.output, sourcesOf(options));
  }
  const { table, profile = 'rfc9309' } = options;
  return table === undefined ? parseAgents(options.agent, profile) : undefined;
}

function isReplaced(output: string | undefined): output is string {
  return output !== undefined && output !== STANDARD_OUTPUT;
}

/**
 * `robots-filter`: filters files or standard input.
 *
 * @param cores threads, unless the options say how many
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function filter(
  files: readonly string[],
  options: FilterOptions,
  cores: number,
): Promise<number> {
  const agents = await checkUsage(files, options);
  const paths = files.length === 0 ? [STANDARD_INPUT] : files;
  const replaces = isReplaced(options.output);
  const survey = await surveyInputs(paths, replaces ? undefined : STANDARD_OUTPUT_DESCRIPTOR);
  const { octets: totalOctets, isPipe } = survey;
  const diagnostics = new Diagnostics(options.quiet ?? false);
  if (paths.includes(STANDARD_INPUT) && isatty(0)) {
    diagnostics.note('waiting for URLs on standard input, one a line; end them with Ctrl-D');
  }
  const interruption = new Interruption();
  let output: ReplacementFile | undefined;
  let pool: Executor | undefined;
  let run: FilterRun | undefined;
  try {
    if (replaces) {
      const { ReplacementFile } = await import('../pipeline/replacement-file.js');
      output = await ReplacementFile.create(options.output);
    }
    const taken = isPipe ? takePipeStart(0, PIPE_START_OCTETS) : undefined;
    const octets = taken?.ended ? taken.octets.length : totalOctets;
    const work = (octets ?? Number.POSITIVE_INFINITY) * (options.agent?.length ?? 1);
    if (work > COMPILED_KERNEL_OCTETS) {
      loadKernelBy(moduleOf);
      // Now, since V8's flags are other ones meanwhile: a thread that starts then does not take the
      // code that is kept of its files.
      kernelModule();
    }
    // The threads start while the rest of the program and the table are loaded.
    pool = await executorFor(work, { ...survey, octets }, options, cores);
    const { Filter } = await import('../pipeline/filter.js');
    const opened = await openTable(options, agents, diagnostics, interruption);
    interruption.signal.throwIfAborted();
    const asked = agents ?? parseAgents(options.agent, opened.profile);
    run = new FilterRun({
      filter: new Filter({
        table: opened,
        pool,
        settings: settingsOf(options, asked),
        onBadRecord: (record, unit) => diagnostics.note(describeBadRecord(record, unit)),
      }),
      table: opened,
      agents: asked,
      paths,
      totalOctets,
      taken,
      output,
      options,
      diagnostics,
      interruption,
    });
    await run.carryOut();
    if (interruption.exitCode === undefined) await output?.commit(false);
    return interruption.exitCode ?? COMPLETED;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    await output?.discard();
    await run?.close();
    await pool?.close();
    interruption.end();
  }
}

/** What the verdicts are made by. */
function sourcesOf({ table, robotsDir = [] }: FilterOptions): NamedSource[] {
  if (table !== undefined) return [{ option: '--table', path: table }];
  return robotsDir.map((path) => ({ option: '--robots-dir', path }));
}

/**
 * Who judges: the main thread if there is little to do, else threads.
 *
 * @param work octets of input, times agents
 */
async function executorFor(
  work: number,
  { octets, outputTakesAtOnce }: InputSurvey,
  options: FilterOptions,
  cores: number,
): Promise<Executor> {
  if (options.threads === undefined && work <= MAIN_THREAD_OCTETS) {
    const { MainThread } = await import('../workers/main-thread.js');
    return new MainThread();
  }
  const { JointPool } = await import('../workers/joint-pool.js');
  const { Pool } = await import('../workers/pool.js');
  const threads = options.threads ?? cores;
  // See Flow for who reads what.
  if (octets !== undefined && outputTakesAtOnce) return new JointPool({ threads });
  const reader = octets === undefined && (threads === 1 || !outputTakesAtOnce);
  return new Pool({ threads, reader });
}

/**
 * The table that is named, or the one that the caches make.
 *
 * @param agents all that will be asked for, where they are known
 */
async function openTable(
  options: FilterOptions,
  agents: readonly Agent[] | undefined,
  diagnostics: Diagnostics,
  interruption: Interruption,
): Promise<Table> {
  const { allocateTable, Table } = await import('../table.js');
  const { table: path, robotsDir = [], profile } = options;
  if (path === undefined) {
    const { compileCaches } = await import('./compile.js');
    const tokens = agents === undefined ? undefined : neededTokens(agents);
    const compiled = await compileCaches(robotsDir, options, tokens, diagnostics, interruption);
    return Table.from(compiled.layout.table(allocateTable), robotsDir.join(', '));
  }
  const table = await Table.open(path);
  if (profile !== undefined && profile !== table.profile) {
    throw new RobotsFilterError(
      'table',
      `${path} was compiled for the profile ${table.profile} and cannot be asked under ${profile}. ` +
        `Leave --profile out, or compile it again with --profile ${profile}`,
    );
  }
  return table;
}

function settingsOf(options: FilterOptions, agents: readonly Agent[]): FilterSettings {
  return {
    agents,
    output: options.allowed === true ? 'allowed' : options.denied === true ? 'denied' : 'annotate',
    unknown: options.unknown,
    explain: options.explain ?? false,
    strict: options.strict ?? false,
    urlField: options.urlField,
    verdictField: options.verdictField,
    maxLineOctets: options.maxLineBytes,
    countHosts: options.stats !== undefined,
  };
}

/** What a run is made of. */
interface FilterRunParts {
  readonly filter: Filter;
  readonly table: Table;
  readonly agents: readonly Agent[];
  readonly paths: readonly string[];
  /** Octets of all inputs on the disk, where that is known. */
  readonly totalOctets: number | undefined;
  /** What has been taken of standard input. */
  readonly taken: PipeStart | undefined;
  /** Undefined for standard output. */
  readonly output: ReplacementFile | undefined;
  readonly options: FilterOptions;
  readonly diagnostics: Diagnostics;
  readonly interruption: Interruption;
}

/** A run over all inputs, with what it says of itself on standard error. */
class FilterRun {
  readonly #parts: FilterRunParts;
  /** When the first record could be judged, in seconds since the process began. */
  readonly #ready = process.uptime();
  /** The input at hand, and the octets that the filter had read before it. */
  #input: { readonly open: OpenInput; readonly octetsBefore: number } | undefined;
  /** Octets on the disk of the inputs that have been read. */
  #finishedOctets = 0;
  #lastFormat: OpenInput['format'] = 'text';

  constructor(parts: FilterRunParts) {
    this.#parts = parts;
  }

  /** Filters all inputs, until they end, nobody reads the output any more, or a signal comes. */
  async carryOut(): Promise<void> {
    const { options, diagnostics, interruption, totalOctets } = this.#parts;
    const { stats, quiet, progress: wanted = diagnostics.isTerminal && quiet !== true } = options;
    let progress: { end(): void } | undefined;
    if (wanted) {
      const { Progress } = await import('./progress.js');
      progress = new Progress(diagnostics, () => this.#progress(), totalOctets);
    }
    let end: RunEnd | undefined;
    try {
      end = await this.#filterInputs();
    } finally {
      progress?.end();
      if (end !== 'closed') this.#sumUp();
      if (stats !== undefined || (interruption.exitCode !== undefined && quiet !== true)) {
        this.#printStatistics(end === 'done');
      }
    }
  }

  async close(): Promise<void> {
    await this.#parts.filter.close();
  }

  /** Filters the inputs in their order. */
  async #filterInputs(): Promise<RunEnd> {
    const { filter, options, output, interruption, paths, taken } = this.#parts;
    const { openInput } = await import('../pipeline/input/open.js');
    const { input: format, maxLineBytes: maxRecordBytes } = options;
    const descriptor = output?.descriptor ?? STANDARD_OUTPUT_DESCRIPTOR;
    const interrupted = new Promise<undefined>((resolve) => {
      interruption.signal.addEventListener('abort', () => {
        filter.cancel();
        resolve(undefined);
      });
    });
    for (const path of paths) {
      // A pipe that stays silent must not keep an interrupt waiting.
      const open = await Promise.race([
        openInput(path, { format, maxRecordBytes, taken }),
        interrupted,
      ]);
      if (open === undefined) return 'cancelled';
      this.#input = { open, octetsBefore: filter.progress().octets };
      this.#lastFormat = open.format;
      try {
        checkUrlFieldOf(open, options, paths.length);
        const end = await filter.run(open, descriptor, output?.path ?? 'standard output');
        if (end !== 'done') return end;
      } finally {
        this.#finishedOctets += open.size ?? 0;
        this.#input = undefined;
        await open.close();
      }
    }
    return 'done';
  }

  #progress(): ProgressState {
    const { filter, totalOctets } = this.#parts;
    const { octets, records } = filter.progress();
    return {
      records,
      allowed: countsOf(filter.tally().outcomes[0] ?? []).verdicts.allow,
      octets:
        totalOctets === undefined ? octets : this.#finishedOctets + this.#octetsOfInput(octets),
    };
  }

  /**
   * Octets read of the input at hand, counted as they lie on the disk, when the filter has read so
   * many in all.
   */
  #octetsOfInput(octets: number): number {
    if (this.#input === undefined) return 0;
    const { open, octetsBefore } = this.#input;
    return open.kind === 'stream' ? open.consumed() : octets - octetsBefore;
  }

  /**
   * Says what the user would not learn otherwise: how many records were bad, how many are in
   * neither pile, and that hardly any was judged.
   */
  #sumUp(): void {
    const { filter, options, diagnostics } = this.#parts;
    const tally = filter.tally();
    if (tally.bad > NAMED_RECORDS) {
      diagnostics.note(
        `${counted(tally.bad, 'bad record')} in all; the first ${NAMED_RECORDS} are named above`,
      );
    }
    if (options.allowed === true || options.denied === true) {
      const sentence = leftOut(tally);
      if (sentence !== undefined) diagnostics.note(sentence);
    }
    const warning = describeUselessRun(tally, {
      hosts: this.#parts.table.hosts,
      source: sourcesOf(options)
        .map(({ option, path }) => `${option} ${path}`)
        .join(' '),
      urlField: options.urlField.join('.'),
      isText: this.#lastFormat === 'text',
    });
    if (warning !== undefined) diagnostics.note(warning);
  }

  #printStatistics(complete: boolean): void {
    const { filter, table, agents, options, diagnostics } = this.#parts;
    const usage = process.resourceUsage();
    const statistics = {
      complete,
      agents: agents.map(({ name }) => name),
      tally: filter.tally(),
      inputOctets: filter.progress().octets,
      hosts: { table: table.hosts, seen: options.stats && filter.hostsSeen() },
      seconds: {
        setup: this.#ready,
        filter: process.uptime() - this.#ready,
        user: usage.userCPUTime / 1e6,
        system: usage.systemCPUTime / 1e6,
      },
      peakOctets: usage.maxRSS * 1024,
    };
    diagnostics.print(
      options.stats === 'json' ? statisticsJson(statistics) : statisticsText(statistics),
    );
  }
}
