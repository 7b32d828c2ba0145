import type { Readable } from 'node:stream';
import type { RecordFormat } from '../../kernel/query.js';
import type { ParquetFile } from '../../parquet/parquet-file.js';
import type { Chunks } from './raw-input.js';

/**
 * What an input holds.
 *
 * - `text`: one URL per line.
 * - `ndjson`: one JSON object per line.
 * - `csv`, `tsv`: one row per record, with a URL in one column (RFC 4180).
 * - `json`: an array of objects or strings, or such values one after another.
 * - `parquet`: rows, with the URL in a column.
 */
export type InputFormat = RecordFormat;

/** Options for turning an input into lines. */
export interface LinesOptions {
  /** The name of the input in messages. */
  readonly name: string;
  /** The longest record, in bytes. Default 16 MiB. */
  readonly maxRecordBytes?: number | undefined;
  /** How deep brackets and braces of JSON may nest. Default 1,000. */
  readonly maxDepth?: number | undefined;
}

/** Options for turning an input into rows. */
export interface RowsOptions extends LinesOptions {
  /** The column of URLs: its name, or its number from 1. Default: found by name. */
  readonly column?: string | undefined;
  /** Whether the first row is a header. Default: whether it holds no URL. */
  readonly header?: boolean | undefined;
}

/** An input of rows, one per line. */
export interface Rows {
  readonly stream: Readable;
  /** The column of URLs, from 0. */
  readonly column: number;
  /** The number of fields of a row: that of the first row. A row with more is invalid. */
  readonly rowFields: number;
  /** The header with its line end, which is not in the stream; `undefined` if there is none. */
  readonly header: Buffer | undefined;
}

/** Options for opening a file that is read by position. */
export interface FileOptions {
  /** The name of the input in messages. */
  readonly name: string;
  /** The names that lead to the column with the URL. */
  readonly urlField: readonly string[];
}

/** An open file that is read by position. */
export interface PositionedFile {
  /** One record per line. It fails with a `RobotsFilterError` `input`. */
  readonly stream: Readable;
  /** Returns the share of the file that has been read, from 0 to 1. */
  progress(): number;
  /** The file, for outputs that keep its columns. */
  readonly parquet: ParquetFile;
  /** The path of the column with the URL, which is that of the member in the lines. */
  readonly urlField: readonly string[];
}

/** A format that is read. `formats.ts` lists all of them. */
export interface Format {
  readonly name: InputFormat;
  /**
   * Whether an input that begins with `head` is of this format; `undefined` if later bytes can
   * change the answer. Called only if all formats before this one in the list have said no.
   */
  recognise(head: Uint8Array): boolean | undefined;
  /**
   * Turns the bytes of the input into one record per line. The bytes are uncompressed and have no
   * byte order mark. Absent if the lines of the input are its records: the threads then read files
   * and pipes themselves.
   *
   * The stream fails with a `RobotsFilterError` `input`.
   */
  readonly toLines?: (chunks: Chunks, options: LinesOptions) => Promise<Readable>;
  /** As `toLines`, for a format of rows. */
  readonly toRows?: (chunks: Chunks, options: RowsOptions) => Promise<Rows>;
  /**
   * Opens a regular file whose metadata are at its end. Present if the format cannot be read from a
   * pipe. The descriptor stays open.
   *
   * @throws RobotsFilterError `input`
   */
  readonly openFile?: (descriptor: number, options: FileOptions) => Promise<PositionedFile>;
}

/** The facts by which a format is recognised. */
export interface Recognition {
  /** The first bytes, uncompressed. */
  readonly head: Uint8Array;
  /** Whether `head` is the whole input. */
  readonly isWhole: boolean;
  /** The format of `head`, unless a refusal applies; `undefined` if too few bytes have come. */
  readonly format: InputFormat | undefined;
  /** The name of the compression that was undone; `undefined` if there was none. */
  readonly compression: string | undefined;
}
