import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Writable } from 'node:stream';
import type { ReplacementFile } from '../../files/replacement.js';
import { NOTATIONS, outcomesOf } from '../../kernel/query-settings.js';
import type { ByteSink } from '../../parquet/chunk-writer.js';
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
import { writtenFormat } from '../../pipeline/output/rows.js';
import type { RunEnd } from '../../pipeline/run.js';
import type { ArchiveCompression } from '../../warc/archive.js';
import type { FilterOptions } from '../options.js';
import { STANDARD_OUTPUT_DESCRIPTOR, verdictLayout } from '../text.js';
import { sayingsOf } from './filter-usage.js';
import {
  outputCompressor,
  outputFile,
  outputFormat,
  outputMode,
  refuseOnTerminal,
} from './outputs.js';

/** Columns of text that `--explain` adds for each agent: REASON, LINE, RULE, AGENT and SOURCE. */
const EXPLANATION_COLUMNS = 5;

/** Where the filter's records go. The calls come in the order of the methods. */
export interface RecordOutput {
  /** Whether the main thread writes the records, as it does Parquet and WARC. */
  readonly isAssembled: boolean;
  /** The descriptor that the records go to; undefined if they go to files. */
  readonly descriptor: number | undefined;
  /** The name in messages. */
  readonly name: string;
  /** Whether all records come out when the run is complete, or none. */
  readonly isReplacement: boolean;
  /** Number of rows of Parquet, or records of WARC, that were written; undefined for lines. */
  readonly rows: number | undefined;
  /**
   * Creates what can be created before the table is read.
   *
   * @param isWanted whether the records come out at all
   * @throws RobotsFilterError `output`
   */
  open(isWanted: boolean): Promise<void>;
  /** Decides how records are written. */
  prepare(settings: FilterSettings): Promise<void>;
  /**
   * Where the records of an input go.
   *
   * @param index place of the input among all
   * @throws RobotsFilterError `output`; `input` if they do not fit the columns of the inputs before
   */
  targetFor(input: OpenInput, index: number): Promise<OutputTarget>;
  /** Writes what follows the records of an input. */
  endInput(): Promise<void>;
  /** Writes what follows the records of the last input. */
  endRecords(): Promise<void>;
  /** Whether an error means that nobody reads the output any longer. */
  isReaderGone(error: unknown): boolean;
  /**
   * Puts into place what is complete.
   *
   * @throws RobotsFilterError `output`
   */
  commit(end: RunEnd): Promise<void>;
  /** Says which outputs are in place after a run that is not complete; undefined if none is. */
  describePartial(): string | undefined;
  /** Gives up what was not committed. */
  close(): Promise<void>;
}

/**
 * One output for all inputs: standard output, perhaps laid out for people; a file that is replaced
 * when the run is complete, or not at all; or nowhere, if only counts are wanted.
 */
export class SingleOutput implements RecordOutput {
  readonly #options: FilterOptions;
  readonly #path: string | undefined;
  readonly #format: ReturnType<typeof outputFormat>;
  #file: RecordFile | undefined;
  #nowhere: number | undefined;
  /** Takes the records in place of the target. */
  #assembled: AssembledOutput | undefined;
  #sink: OutputSink | undefined;
  /** The layout of text for people. */
  #layout: LineLayout | undefined;

  /** @throws RobotsFilterError `usage` for Parquet or WARC on a terminal */
  constructor(options: FilterOptions) {
    this.#options = options;
    this.#path = outputFile(options);
    this.#format = outputFormat(options);
    if (this.#path !== undefined) return;
    if (this.#format === 'parquet') refuseOnTerminal('Parquet', '-o FILE.parquet');
    if (this.#format === 'warc') refuseOnTerminal('WARC', '-o FILE.warc.gz');
  }

  get isAssembled(): boolean {
    return isAssembledFormat(this.#format);
  }

  get descriptor(): number | undefined {
    return this.#path === undefined ? STANDARD_OUTPUT_DESCRIPTOR : undefined;
  }

  get name(): string {
    return this.#file?.file.path ?? 'standard output';
  }

  get isReplacement(): boolean {
    return this.#file?.file.isSeekable ?? false;
  }

  get rows(): number | undefined {
    return this.#assembled?.rows;
  }

  async open(isWanted: boolean): Promise<void> {
    if (!isWanted) this.#nowhere = openSync(devNull, 'w');
    if (this.#path !== undefined) this.#file = await RecordFile.create(this.#path, this.#format);
  }

  async prepare(settings: FilterSettings): Promise<void> {
    if (settings.addedShards === undefined) this.#layout = this.#layoutFor(settings);
    const format = this.#format;
    if (!isAssembledFormat(format)) return;
    if (this.#file === undefined) {
      this.#sink = new OutputSink(openOutput(STANDARD_OUTPUT_DESCRIPTOR, this.name));
    }
    const target = this.#file?.file ?? this.#sink;
    if (target === undefined) return;
    this.#assembled = await assembledOutput(
      format,
      target,
      settings,
      compressionOfName(this.#path),
    );
  }

  async targetFor(input: OpenInput): Promise<OutputTarget> {
    if (this.#assembled !== undefined) return this.#assembled.streamFor(input);
    const layout = this.#layout;
    if (layout !== undefined && NOTATIONS[writtenFormat(input.format, this.#format)] === 'text') {
      return () => openDisplay(STANDARD_OUTPUT_DESCRIPTOR, this.name, layout);
    }
    return this.#nowhere ?? this.#file?.target ?? STANDARD_OUTPUT_DESCRIPTOR;
  }

  async endInput(): Promise<void> {
    await this.#assembled?.endInput();
  }

  async endRecords(): Promise<void> {
    await this.#assembled?.finish();
  }

  isReaderGone(error: unknown): boolean {
    // Parquet has bytes outside the records, and those of WARC are copied one by one.
    return this.#assembled !== undefined && isClosed(error);
  }

  async commit(end: RunEnd): Promise<void> {
    await this.#file?.commit(end);
  }

  describePartial(): undefined {}

  async close(): Promise<void> {
    this.#sink?.close();
    if (this.#nowhere !== undefined) closeSync(this.#nowhere);
    await this.#file?.close();
  }

  /** The layout of lines of text for people; undefined if all records come out as they are. */
  #layoutFor(settings: FilterSettings): LineLayout | undefined {
    if (this.#path !== undefined || outputMode(this.#options) !== 'annotate') return undefined;
    const { explain = false } = this.#options;
    if (!explain) return verdictLayout(0);
    const { agents, uses = [], dated = false } = settings;
    const explained = outcomesOf(settings) * (EXPLANATION_COLUMNS + (dated ? 1 : 0));
    const said = sayingsOf(this.#options).length * agents.length;
    return verdictLayout(explained + said, uses.length > 0 ? 2 : 1);
  }
}

/** An output that the main thread makes of what the kernel writes about the records. */
export interface AssembledOutput {
  /** Rows of Parquet, or records of WARC, that were written so far. */
  readonly rows: number;
  /**
   * A stream for what the kernel writes about the records of an input.
   *
   * @throws RobotsFilterError `input` if they do not fit the inputs before
   */
  streamFor(input: OpenInput): Promise<Writable>;
  /** Writes what follows the records of an input. */
  endInput(): Promise<void>;
  /** Writes what follows the records of the last input. */
  finish(): Promise<void>;
}

type AssembledFormat = 'parquet' | 'warc';

/** Whether the main thread makes an output of this format. */
export function isAssembledFormat(format: string | undefined): format is AssembledFormat {
  return format === 'parquet' || format === 'warc';
}

/**
 * Makes an output that the main thread writes.
 *
 * @param compression what the name of a WARC output asks for; undefined for that of the input
 */
export async function assembledOutput(
  format: AssembledFormat,
  target: ByteSink,
  settings: FilterSettings,
  compression?: ArchiveCompression,
): Promise<AssembledOutput> {
  if (format === 'warc') {
    const { WarcOutput } = await import('../../pipeline/output/warc-output.js');
    return new WarcOutput(target, settings, compression);
  }
  const { ParquetOutput } = await import('../../pipeline/output/parquet-output.js');
  const parquet = new ParquetOutput(target, settings);
  return {
    get rows() {
      return parquet.rows;
    },
    streamFor: (input) =>
      parquet.streamFor(input.name, input.kind === 'stream' ? input.parquet : undefined),
    endInput: async () => {},
    finish: () => parquet.finish(),
  };
}

/** The compression that the name of a WARC output asks for. */
function compressionOfName(path: string | undefined): ArchiveCompression | undefined {
  const name = path?.toLowerCase() ?? '';
  if (name.endsWith('.gz')) return 'gzip';
  if (name.endsWith('.zst')) return 'zstd';
  return name.endsWith('.warc') ? 'none' : undefined;
}

/** A file of records, compressed or not, that is replaced when it is complete, or not at all. */
export class RecordFile {
  readonly file: ReplacementFile;
  readonly #compressed: CompressedFile | undefined;

  private constructor(file: ReplacementFile, compressed: CompressedFile | undefined) {
    this.file = file;
    this.#compressed = compressed;
  }

  /** @throws RobotsFilterError `output` */
  static async create(path: string, format: string | undefined): Promise<RecordFile> {
    const { ReplacementFile } = await import('../../files/replacement.js');
    // Records of WARC are copied with the compression that they have.
    const compressor = format === 'warc' ? undefined : await outputCompressor(path);
    const file = await ReplacementFile.create(path);
    return new RecordFile(file, compressor?.(file));
  }

  /** Takes the records. */
  get target(): Writable | number {
    return this.#compressed?.stream ?? this.file.descriptor;
  }

  /** @throws RobotsFilterError `output` */
  async commit(end: RunEnd): Promise<void> {
    // Standard output may lose its reader, as in `| head`; an output that was named is wanted.
    if (end === 'closed') throw this.file.cutShort();
    await this.#compressed?.finish();
    await this.file.commit(false);
  }

  /** Removes the file unless it has been committed. */
  async close(): Promise<void> {
    await this.#compressed?.abandon();
    await this.file.discard();
  }
}
