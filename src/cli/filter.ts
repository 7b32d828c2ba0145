import { fstat, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { RobotsFilterError } from '../errors.js';
import type { Agent } from '../protocol/agent.js';
import type { Profile } from '../protocol/profile.js';
import { Filter, type FilterSettings } from '../pipeline/filter.js';
import { type OpenInput, openInput, STANDARD_INPUT } from '../pipeline/input/open.js';
import { describeBadRecord } from '../pipeline/bad-record.js';
import type { ReplacementFile } from '../pipeline/replacement-file.js';
import type { RunEnd } from '../pipeline/run.js';
import { Table } from '../table.js';
import { Pool } from '../workers/pool.js';
import { neededTokens, parseAgents } from './agents.js';
import { Diagnostics } from './diagnostics.js';
import { Interruption } from './interruption.js';
import { nearest } from './nearest.js';
import { counted } from './numbers.js';
import type { FilterOptions } from './options.js';
import { Progress } from './progress.js';
import { likelyPurpose, noRobotsError } from './robots-source.js';
import { countsOf, leftOut, type RunStatistics, statisticsJson, statisticsText } from './statistics.js';

const STANDARD_OUTPUT = '-';
const STANDARD_OUTPUT_DESCRIPTOR = 1;

const COMPLETED = 0;

const COMMANDS = ['compile', 'check', 'inspect', 'help'];

/**
 * `robots-filter`: filters files or standard input.
 *
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function filter(
  files: readonly string[],
  options: FilterOptions,
  cores: number,
): Promise<number> {
  await checkUsage(files, options);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const paths = files.length === 0 ? [STANDARD_INPUT] : files;
  const totalOctets = await surveyInputs(paths, options.output);
  if (paths.includes(STANDARD_INPUT) && isatty(0)) {
    diagnostics.note('waiting for URLs on standard input, one a line; end them with Ctrl-D');
  }
  return new FilterCommand(paths, options, diagnostics, totalOctets).run(options.threads ?? cores);
}

/** Sees that options go together. */
async function checkUsage(files: readonly string[], options: FilterOptions): Promise<void> {
  const { robotsDir, table, explain, verdictField } = options;
  if (table === undefined && robotsDir === undefined) throw await noRobotsError(files);
  if (table !== undefined && robotsDir !== undefined) {
    throw usage(
      `--table and --robots-dir cannot be combined. Compile them together: robots-filter compile --robots-dir ${robotsDir.join(' --robots-dir ')} -o FILE`,
    );
  }
  for (const [name, value] of [
    ['--max-robots-bytes', options.maxRobotsBytes],
    ['--follow-links', options.followLinks],
  ]) {
    if (table !== undefined && value !== undefined) {
      throw usage(`${name} goes with --robots-dir; a table is compiled already. Say it to robots-filter compile`);
    }
  }
  if (explain === true && ['reason', 'reasons', 'rule', 'rules'].includes(verdictField ?? '')) {
    throw usage(`--verdict-field ${verdictField} is the name of a member that --explain adds. Choose another`);
  }
  if (table !== undefined && (await likelyPurpose(table)) === 'robots-directory') {
    throw usage(`${table} is a directory. For robots.txt files say --robots-dir ${table}`);
  }
  for (const path of robotsDir ?? []) {
    if ((await likelyPurpose(path)) === 'table') {
      throw usage(`${path} is a table. Say --table ${path}`);
    }
  }
}

function usage(message: string): RobotsFilterError {
  return new RobotsFilterError('usage', message);
}

/**
 * Sees that all inputs are there before the first is read, and that none of them is the output.
 *
 * @returns the octets of all together; undefined if not all are regular files
 */
async function surveyInputs(
  paths: readonly string[],
  output: string | undefined,
): Promise<number | undefined> {
  const target =
    output === undefined || output === STANDARD_OUTPUT
      ? await statusOf(STANDARD_OUTPUT_DESCRIPTOR).catch(() => undefined)
      : undefined;
  let total: number | undefined = 0;
  for (const path of paths) {
    let status: Stats;
    try {
      status = path === STANDARD_INPUT ? await statusOf(0) : await stat(path);
    } catch (error) {
      await refuseMissing(path, error);
      throw error;
    }
    if (isSameFile(status, target)) {
      throw usage(`${path} is also the output, which would never end. Say -o ${path}`);
    }
    total = status.isFile() && total !== undefined ? total + status.size : undefined;
  }
  return total;
}

const statusOf = promisify(fstat);

function isSameFile(input: Stats, output: Stats | undefined): boolean {
  return (
    output?.isFile() === true &&
    input.isFile() &&
    input.size > 0 &&
    input.ino === output.ino &&
    input.dev === output.dev
  );
}

/** Has the error of an input that cannot be opened said as it is always said, with what may have been meant. */
async function refuseMissing(path: string, cause: unknown): Promise<void> {
  try {
    await (await openInput(path)).close();
  } catch (error) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const command = isMissing ? nearest(path, COMMANDS) : undefined;
    if (command === undefined || !(error instanceof RobotsFilterError)) throw error;
    throw new RobotsFilterError(error.code, `${error.message} Or was the command ${command} meant?`, {
      cause: error,
    });
  }
}

/** One run of the filter. */
class FilterCommand {
  readonly #paths: readonly string[];
  readonly #options: FilterOptions;
  readonly #diagnostics: Diagnostics;
  readonly #totalOctets: number | undefined;
  readonly #start = performance.now();
  /** When the first record could be judged, as `performance.now` has it. */
  #ready: number | undefined;
  #output: ReplacementFile | undefined;
  readonly #interruption = new Interruption(() => this.#output?.discardNow());

  constructor(
    paths: readonly string[],
    options: FilterOptions,
    diagnostics: Diagnostics,
    totalOctets: number | undefined,
  ) {
    this.#paths = paths;
    this.#options = options;
    this.#diagnostics = diagnostics;
    this.#totalOctets = totalOctets;
  }

  /** Carries it out; returns the exit code. */
  async run(threads: number): Promise<number> {
    const { output, table: tablePath, profile } = this.#options;
    // What is wrong with the agents should be said before anything is done, where the profile is known.
    const agents = tablePath === undefined ? this.#agents(profile ?? 'rfc9309') : undefined;
    if (output !== undefined && output !== STANDARD_OUTPUT) {
      const { ReplacementFile } = await import('../pipeline/replacement-file.js');
      this.#output = await ReplacementFile.create(output);
    }
    // The threads start while the table is loaded.
    const pool = new Pool({ threads, reader: this.#totalOctets === undefined });
    let filter: Filter | undefined;
    try {
      const table = await this.#table(agents);
      if (this.#interruption.exitCode !== undefined) return this.#interruption.exitCode;
      filter = new Filter({
        table,
        pool,
        settings: this.#settings(agents ?? this.#agents(table.profile)),
        onBadRecord: (record) => this.#diagnostics.note(describeBadRecord(record)),
      });
      return await this.#filterAll(filter, table);
    } catch (error) {
      if (this.#interruption.exitCode !== undefined) return this.#interruption.exitCode;
      throw error;
    } finally {
      await this.#output?.discard();
      await filter?.close();
      await pool.close();
      this.#interruption.end();
    }
  }

  #agents(profile: Profile): Agent[] {
    return parseAgents(this.#options.agent, profile);
  }

  /** The table that is named, or the one that the caches make. */
  async #table(agents: readonly Agent[] | undefined): Promise<Table> {
    const { table: path, robotsDir = [], profile } = this.#options;
    if (path === undefined) {
      const { compileCaches } = await import('./compile.js');
      const tokens = agents === undefined ? undefined : neededTokens(agents);
      const { table } = await compileCaches(
        robotsDir,
        this.#options,
        tokens,
        this.#diagnostics,
        this.#interruption,
      );
      return Table.from(table, robotsDir.join(', '));
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

  #settings(agents: readonly Agent[]): FilterSettings {
    const options = this.#options;
    return {
      agents,
      output: options.allowed === true ? 'allowed' : options.denied === true ? 'denied' : 'annotate',
      unknown: options.unknown,
      explain: options.explain ?? false,
      strict: options.strict ?? false,
      urlField: options.urlField,
      verdictField: options.verdictField,
      maxLineOctets: options.maxLineBytes,
      // Always, since an interrupt prints statistics, too; it costs next to nothing.
      countHosts: true,
    };
  }

  async #filterAll(filter: Filter, table: Table): Promise<number> {
    const { stats, progress: wanted = this.#diagnostics.isTerminal, quiet } = this.#options;
    const shown = wanted && (quiet !== true || this.#options.progress === true);
    this.#ready = performance.now();
    const progress = shown
      ? new Progress(this.#diagnostics, () => progressOf(filter), this.#totalOctets)
      : undefined;
    let end: RunEnd;
    try {
      end = await this.#filterInputs(filter);
    } finally {
      progress?.end();
      this.#sumUp(filter);
    }
    const interrupted = this.#interruption.exitCode;
    if (stats !== undefined || (interrupted !== undefined && quiet !== true)) {
      const statistics = this.#statistics(filter, table, end === 'done');
      this.#diagnostics.print(
        stats === 'json' ? statisticsJson(statistics) : statisticsText(statistics),
      );
    }
    if (interrupted !== undefined) return interrupted;
    await this.#output?.commit(false);
    return COMPLETED;
  }

  /** Filters the inputs in their order. */
  async #filterInputs(filter: Filter): Promise<RunEnd> {
    const { input: format, maxLineBytes: maxRecordBytes, output: name = STANDARD_OUTPUT } = this.#options;
    const { signal } = this.#interruption;
    const cancelled = new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => {
        filter.cancel();
        resolve(undefined);
      });
    });
    const output = this.#output?.descriptor ?? STANDARD_OUTPUT_DESCRIPTOR;
    for (const path of this.#paths) {
      // A pipe that stays silent must not keep an interrupt waiting.
      const opening = openInput(path, { format, maxRecordBytes });
      const input: OpenInput | undefined = await Promise.race([opening, cancelled]);
      if (input === undefined || signal.aborted) return 'cancelled';
      try {
        const outputName = name === STANDARD_OUTPUT ? 'standard output' : name;
        const end = await filter.run(input, output, outputName);
        if (end !== 'done') return end;
      } finally {
        await input.close();
      }
    }
    return 'done';
  }

  /** Says what the user would otherwise not learn: how many records were bad, and how many were left out unasked. */
  #sumUp(filter: Filter): void {
    const tally = filter.tally();
    if (tally.bad > NAMED_RECORDS) {
      this.#diagnostics.note(`${counted(tally.bad, 'bad record')} in all; the first ${NAMED_RECORDS} are named above`);
    }
    if (this.#options.allowed !== true && this.#options.denied !== true) return;
    const sentence = leftOut(tally);
    if (sentence !== undefined) this.#diagnostics.note(sentence);
  }

  #statistics(filter: Filter, table: Table, complete: boolean): RunStatistics {
    const now = performance.now();
    const ready = this.#ready ?? now;
    const usage = process.resourceUsage();
    const tally = filter.tally();
    return {
      complete,
      agents: this.#options.agent ?? ['*'],
      tally,
      inputOctets: filter.progress().octets,
      hosts: { table: table.hosts, seen: filter.hostsSeen() },
      seconds: {
        setup: (ready - this.#start) / 1000,
        filter: (now - ready) / 1000,
        user: usage.userCPUTime / 1e6,
        system: usage.systemCPUTime / 1e6,
      },
      peakOctets: usage.maxRSS * 1024,
    };
  }
}

/** Bad records that are named on standard error. */
const NAMED_RECORDS = 10;

function progressOf(filter: Filter): { records: number; allowed: number; octets: number } {
  const { outcomes } = filter.tally();
  const { octets, records } = filter.progress();
  return { records, octets, allowed: countsOf(outcomes[0] ?? []).verdicts.allow };
}
