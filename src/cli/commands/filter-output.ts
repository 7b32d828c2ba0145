import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import type { ReplacementFile } from '../../files/replacement.js';
import { NOTATIONS } from '../../kernel/query.js';
import type { FilterSettings } from '../../pipeline/filter.js';
import type { OpenInput } from '../../pipeline/input/open.js';
import type { CompressedFile } from '../../pipeline/output/compressed-file.js';
import {
  isClosed,
  type LineLayout,
  OutputSink,
  type OutputTarget,
  openDisplay,
  openOutput,
} from '../../pipeline/output/output.js';
import type { ParquetOutput } from '../../pipeline/output/parquet-output.js';
import { writtenFormat } from '../../pipeline/output/rows.js';
import type { RunEnd } from '../../pipeline/run.js';
import type { FilterOptions } from '../options.js';
import { STANDARD_OUTPUT_DESCRIPTOR, verdictLayout } from '../text.js';
import {
  outputCompressor,
  outputFile,
  outputFormat,
  outputMode,
  refuseParquetOnTerminal,
} from './outputs.js';

/** Columns of text that `--explain` adds for each agent: REASON, LINE, RULE, AGENT and SOURCE. */
const EXPLANATION_COLUMNS = 5;

/**
 * Where the records of all inputs go: to standard output, perhaps laid out for people; to a file
 * that is replaced when the run is complete, or not at all; or nowhere, if only counts are wanted.
 */
export class FilterOutput {
  readonly #options: FilterOptions;
  readonly #path: string | undefined;
  readonly #format: ReturnType<typeof outputFormat>;
  #file: ReplacementFile | undefined;
  #compressed: CompressedFile | undefined;
  #nowhere: number | undefined;
  /** Takes the records in place of the target. */
  #parquet: ParquetOutput | undefined;
  #sink: OutputSink | undefined;
  /** The layout of text for people. */
  #layout: LineLayout | undefined;

  /** @throws RobotsFilterError `usage` for Parquet on a terminal */
  constructor(options: FilterOptions) {
    this.#options = options;
    this.#path = outputFile(options);
    this.#format = outputFormat(options);
    if (this.isParquet && this.#path === undefined) refuseParquetOnTerminal('-o FILE.parquet');
  }

  get isParquet(): boolean {
    return this.#format === 'parquet';
  }

  /** The descriptor that the records go to; undefined if they go to a file. */
  get descriptor(): number | undefined {
    return this.#path === undefined ? STANDARD_OUTPUT_DESCRIPTOR : undefined;
  }

  /** The name in messages. */
  get name(): string {
    return this.#file?.path ?? 'standard output';
  }

  /** Whether the output is a file that is replaced when the run is complete, or not at all. */
  get isReplacement(): boolean {
    return this.#file?.isSeekable ?? false;
  }

  /** Number of rows of Parquet written; undefined for another format. */
  get rows(): number | undefined {
    return this.#parquet?.rows;
  }

  /**
   * Creates the file, if one is named.
   *
   * @param isWanted whether the records come out at all
   * @throws RobotsFilterError `output`
   */
  async open(isWanted: boolean): Promise<void> {
    if (!isWanted) this.#nowhere = openSync(devNull, 'w');
    if (this.#path === undefined) return;
    const { ReplacementFile } = await import('../../files/replacement.js');
    const compressor = await outputCompressor(this.#path);
    this.#file = await ReplacementFile.create(this.#path);
    this.#compressed = compressor?.(this.#file);
  }

  /** Decides how records are written. Call it before the first input. */
  async prepare(settings: FilterSettings): Promise<void> {
    if (settings.addedShards === undefined) this.#layout = this.#layoutFor(settings.agents.length);
    if (!this.isParquet) return;
    const { ParquetOutput } = await import('../../pipeline/output/parquet-output.js');
    if (this.#file === undefined) {
      this.#sink = new OutputSink(openOutput(STANDARD_OUTPUT_DESCRIPTOR, this.name));
    }
    const target = this.#file ?? this.#sink;
    if (target !== undefined) this.#parquet = new ParquetOutput(target, settings);
  }

  /**
   * Where the records of an input go.
   *
   * @throws RobotsFilterError `input` if they do not fit the columns of the inputs before
   */
  async targetFor(input: OpenInput): Promise<OutputTarget> {
    const { name, format } = input;
    const file = input.kind === 'stream' ? input.parquet : undefined;
    if (this.#parquet !== undefined) return this.#parquet.streamFor(name, file);
    const layout = this.#layout;
    if (layout !== undefined && NOTATIONS[writtenFormat(format, this.#format)] === 'text') {
      return () => openDisplay(STANDARD_OUTPUT_DESCRIPTOR, this.name, layout);
    }
    return (
      this.#nowhere ??
      this.#compressed?.stream ??
      this.#file?.descriptor ??
      STANDARD_OUTPUT_DESCRIPTOR
    );
  }

  /** Writes what follows the records of the last input. */
  async endRecords(): Promise<void> {
    await this.#parquet?.finish();
  }

  /** Whether an error means that nobody reads Parquet, which has bytes outside the records. */
  isReaderGone(error: unknown): boolean {
    return this.#parquet !== undefined && isClosed(error);
  }

  /**
   * Puts the file in its place.
   *
   * @throws RobotsFilterError `output`
   */
  async commit(end: RunEnd): Promise<void> {
    // Standard output may lose its reader, as in `| head`; an output that was named is wanted.
    if (end === 'closed' && this.#file !== undefined) throw this.#file.cutShort();
    await this.#compressed?.finish();
    await this.#file?.commit(false);
  }

  /** Gives up what was not committed. */
  async close(): Promise<void> {
    await this.#compressed?.abandon();
    this.#sink?.close();
    if (this.#nowhere !== undefined) closeSync(this.#nowhere);
    await this.#file?.discard();
  }

  /** The layout of lines of text for people; undefined if all records come out as they are. */
  #layoutFor(agents: number): LineLayout | undefined {
    if (this.#path !== undefined || outputMode(this.#options) !== 'annotate') return undefined;
    const { explain = false, preferences = false } = this.#options;
    if (!explain) return verdictLayout(0);
    return verdictLayout(agents * (EXPLANATION_COLUMNS + (preferences ? 1 : 0)));
  }
}
