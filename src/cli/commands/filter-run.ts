/** Runs the filter: inputs, threads, output, progress, and the closing line. */

import { formatFieldPath } from '../../base/arguments.js';
import { inputName } from '../../files/openings.js';
import type { ReplacementFile } from '../../files/replacement.js';
import type { TableMemory } from '../../judge/table-memory.js';
import { MAX_BAD } from '../../kernel/layout.js';
import { isUseless } from '../../pipeline/counts.js';
import type { Filter } from '../../pipeline/filter.js';
import { type OpenInput, openInput } from '../../pipeline/input/open.js';
import type { SampledInput } from '../../pipeline/input/url-places.js';
import type { RunEnd } from '../../pipeline/run.js';
import type { Agent } from '../../protocol/agent.js';
import { useQuestions } from '../../protocol/uses.js';
import { describeAgents } from '../agents.js';
import { type Diagnostics, type Interruption, type ProgressLine, peakMemory } from '../console.js';
import { type FilterOptions, usesOf } from '../options.js';
import type { FilterFigures } from '../report/filter-figures.js';
import type { RunStatistics } from '../report/statistics.js';
import { formatCount, formatNumber } from '../text.js';
import type { RecordOutput } from './filter-output.js';
import {
  checkServerOf,
  checkUrlFieldOf,
  type FilterInputs,
  noteDamage,
  noteDoubt,
  openOptions,
} from './inputs.js';
import {
  checkVerdictField,
  copiesRecords,
  outputMode,
  reportText,
  robotsSources,
} from './outputs.js';

/** Loads what is said of a run. A run into a pipe or a file usually says nothing. */
const loadStatistics = () => import('../report/statistics.js');

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The parts of a run. */
interface FilterRunParts {
  readonly filter: Filter;
  readonly table: TableMemory;
  readonly agents: readonly Agent[];
  readonly inputs: FilterInputs;
  readonly output: RecordOutput;
  /** Whether progress is shown, unless an option says so. */
  readonly showsProgress: boolean;
  /** Whether the records get verdicts, not shards. */
  readonly hasVerdicts: boolean;
  /** Whether the robots.txt files that decide are those of times. */
  readonly byTime: boolean;
  /** The file of `--report`, which is replaced when the report is complete, or not at all. */
  readonly report: ReplacementFile | undefined;
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
  /** Paths of the inputs without records. */
  readonly #empty: string[] = [];
  /** The first records of the first input in which nothing was decided. */
  #sample: SampledInput | undefined;

  constructor(parts: FilterRunParts) {
    this.#parts = parts;
  }

  /** Filters all inputs until they end, the reader of the output goes away, or a signal comes. */
  async carryOut(): Promise<RunEnd> {
    const { options, showsProgress } = this.#parts;
    const { quiet, progress: wanted = showsProgress && quiet !== true } = options;
    const progress = wanted ? await this.#showProgress() : undefined;
    let end: RunEnd | undefined;
    try {
      end = await this.#filterInputs();
    } finally {
      progress?.end();
      if (end !== 'closed') await this.#sumUp(end === 'done');
      // The error follows.
      if (end === undefined) await this.#printStatistics(false);
    }
    const figures = await this.#writeReport(end === 'done');
    await this.#printStatistics(end === 'done', figures);
    if (end === 'done') await this.#printClosingLine();
    return end;
  }

  /** Filters the inputs in order. */
  async #filterInputs(): Promise<RunEnd> {
    try {
      return await this.#filterAll();
    } catch (error) {
      if (this.#parts.output.isReaderGone(error)) return 'closed';
      throw error;
    }
  }

  async #filterAll(): Promise<RunEnd> {
    const { filter, options, inputs, output, interruption, diagnostics } = this.#parts;
    const { paths } = inputs;
    const how = { ...openOptions(options), copies: copiesRecords(options) };
    const interrupted = new Promise<undefined>((resolve) => {
      interruption.signal.addEventListener('abort', () => {
        filter.cancel();
        resolve(undefined);
      });
    });
    for (const [index, path] of paths.entries()) {
      // A silent pipe must not delay an interrupt.
      const open = await Promise.race([
        openInput(path, {
          ...how,
          taken: inputs.startOf(index),
          onDamage: (place) => noteDamage(path, place, diagnostics),
        }),
        interrupted,
      ]);
      if (open === undefined) return 'cancelled';
      const { bytes: bytesBefore, records } = filter.progress();
      this.#input = { open, bytesBefore };
      this.#lastFormat = open.format;
      try {
        // With --fetch the input has been read once before.
        if (options.fetch !== true) noteDoubt(open, diagnostics);
        checkUrlFieldOf(open, options, paths.length);
        if (this.#parts.hasVerdicts) checkVerdictField(open, options, paths.length);
        checkServerOf(open, options);
        const end = await filter.run(open, await output.targetFor(open, index), output.name);
        if (end !== 'done') return end;
        await output.endInput();
        if (filter.progress().records === records) this.#empty.push(path);
        if (options.quiet !== true && isUseless(filter.tally())) {
          const { sampleInput } = await import('../../pipeline/input/url-places.js');
          this.#sample ??= await sampleInput(open);
        }
      } finally {
        this.#finishedBytes += open.size ?? 0;
        this.#convertedBytes += this.#bytesConverted();
        this.#input = undefined;
        await open.close();
      }
    }
    await output.endRecords();
    return 'done';
  }

  async #showProgress(): Promise<ProgressLine> {
    const { filter, inputs, diagnostics } = this.#parts;
    const { countsOf, showFilterProgress } = await loadStatistics();
    const isKnown = inputs.survey.bytes !== undefined;
    return showFilterProgress(
      diagnostics,
      () => {
        const { bytes, records } = filter.progress();
        return {
          records,
          allowed: countsOf(filter.tally().outcomes[0] ?? []).verdicts.allow,
          bytes: isKnown ? this.#finishedBytes + this.#bytesOfInput(bytes) : bytes,
        };
      },
      inputs.survey.bytes,
    );
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
  async #sumUp(isComplete: boolean): Promise<void> {
    const { filter, options, output, diagnostics } = this.#parts;
    const tally = filter.tally();
    const partial = isComplete ? undefined : output.describePartial();
    if (partial !== undefined) diagnostics.note(partial);
    if (tally.bad > MAX_BAD) {
      diagnostics.note(
        `${formatCount(tally.bad, 'invalid record')} in all; the first ${MAX_BAD} are named above`,
      );
    }
    if (options.allowed === true || options.denied === true) {
      const { leftOut } = await loadStatistics();
      const sentence = leftOut(tally);
      if (sentence !== undefined) diagnostics.note(sentence);
    }
    const empty = this.#empty.map(inputName);
    if (empty.length > 0) {
      const { namesOf } = await import('../report/story.js');
      const have = empty.length === 1 ? 'has' : 'have';
      diagnostics.note(`warning: ${namesOf(empty)} ${have} no records`);
    }
    const timeField = options.timeField && formatFieldPath(options.timeField);
    if (timeField !== undefined && tally.toCome > 0) {
      diagnostics.note(
        `warning: ${formatNumber(tally.toCome)} of ${formatCount(tally.records, 'record')} ${tally.toCome === 1 ? 'has' : 'have'} a time to come, for which the newest robots.txt counts. Are the times in "${timeField}" right?`,
      );
    }
    this.#noteUnnamed(tally.records);
    if (!isUseless(tally)) return;
    const { describeUselessRun } = await loadStatistics();
    diagnostics.note(
      describeUselessRun(tally, {
        view: this.#parts.table.view,
        hosts: this.#parts.table.hosts,
        source: robotsSources(options)
          .map(({ option, path }) => `${option} ${path}`)
          .join(' '),
        urlField: formatFieldPath(options.urlField),
        timeField,
        format: this.#lastFormat,
        sample: this.#sample,
      }),
    );
  }

  /** Says how many records name no crawler, or that there were too many to count each. */
  #noteUnnamed(records: number): void {
    const { filter, options, diagnostics } = this.#parts;
    const { agentField, statsBy } = options;
    if (agentField === undefined) return;
    const { agents, others } = filter.namedAgents();
    const unnamed = sumOf(agents.find(({ name }) => name === '*')?.verdicts ?? []);
    const named = agents.length - (unnamed > 0 ? 1 : 0);
    const field = formatFieldPath(agentField);
    if (unnamed > 0 && named === 0) {
      diagnostics.note(
        `warning: no record names a crawler in "${field}", so all were judged for *. Is the User-Agent there? If not, use --agent-field NAME`,
      );
    } else if (unnamed > 0) {
      const [names, were] = unnamed === 1 ? ['names', 'was'] : ['name', 'were'];
      diagnostics.note(
        `${formatNumber(unnamed)} of ${formatCount(records, 'record')} ${names} no crawler in "${field}", and ${were} judged for *`,
      );
    }
    const left = sumOf(others);
    if (statsBy === 'agent' && left > 0) {
      diagnostics.note(
        `warning: "${field}" names more agents, or longer names, than are counted apart: the row without an agent has ${formatCount(left, 'record')} of such agents`,
      );
    }
  }

  /** Writes the report, if one is wanted and no signal came; returns its figures. */
  async #writeReport(complete: boolean): Promise<FilterFigures | undefined> {
    const { filter, table, agents, options, byTime, report, interruption } = this.#parts;
    const { report: path } = options;
    if (report === undefined || path === undefined) return undefined;
    if (interruption.exitCode !== undefined) return undefined;
    const { filterFigures, mostDenied } = await import('../report/filter-figures.js');
    const { reportAbout } = await import('../report/figures.js');
    const sources = robotsSources(options).map(({ path }) => path);
    const now = options.asOf ?? Date.now();
    const named = options.agentField && mostDenied(filter.namedAgents());
    const figures = filterFigures({
      filter,
      view: table.view,
      agents,
      described: await describeAgents(agents, options),
      named: named && {
        ...named,
        described: await describeAgents(named.shown, options),
      },
      uses: useQuestions(agents, usesOf(options)),
      about: { ...reportAbout(sources, table.header.profile), complete },
      tableHosts: table.hosts,
      byTime,
      now: byTime ? undefined : now,
    });
    // The figures have the agents that records name, as far as a page has room for them.
    const { statisticsFigures } = await loadStatistics();
    const run = statisticsFigures({ ...this.#statistics(complete), named: undefined });
    const text = await reportText(path, { ...figures, run });
    await report.write(Buffer.from(text));
    await report.commit(false);
    return figures;
  }

  #statistics(complete: boolean): RunStatistics {
    const { filter, table, agents, options, output } = this.#parts;
    const tally = filter.tally();
    const usage = process.resourceUsage();
    return {
      complete,
      isDiscarded: !complete && output.isReplacement,
      agents: agents.map(({ name }) => name),
      uses: useQuestions(agents, usesOf(options)),
      tally: { ...tally, passed: output.rows ?? tally.passed },
      named: options.agentField && filter.namedAgents(),
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
  async #printStatistics(complete: boolean, figures?: FilterFigures): Promise<void> {
    const { options, diagnostics, interruption } = this.#parts;
    const { stats, quiet } = options;
    if (stats === undefined && (interruption.exitCode === undefined || quiet === true)) return;
    const { statisticsJson, statisticsText } = await loadStatistics();
    const statistics = this.#statistics(complete);
    diagnostics.print(
      stats === 'json' ? statisticsJson(statistics, figures) : statisticsText(statistics),
    );
  }

  /** Ends a run at a terminal with one line, unless statistics say more. */
  async #printClosingLine(): Promise<void> {
    const { filter, agents, options, diagnostics, hasVerdicts } = this.#parts;
    if (!diagnostics.isTerminal || options.stats !== undefined) return;
    const { closingLine } = await loadStatistics();
    diagnostics.note(
      closingLine({
        tally: filter.tally(),
        agents: hasVerdicts ? agents.map(({ name }) => name) : [],
        uses: useQuestions(agents, usesOf(options)),
        seconds: process.uptime(),
        isUnexplained: options.explain !== true && outputMode(options) === 'annotate',
      }),
    );
  }
}
