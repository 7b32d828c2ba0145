import type { LineBlock } from '../files/lines.js';
import type { EntryEvent, WarningEvent } from './entry.js';

/** Lines of a file of records. */
export interface RecordLines extends LineBlock {
  readonly kind: 'lines';
  /** The path of the file, for messages. */
  readonly path: string;
  /** The beginning of the sources of the entries: `FILE.ndjson`. */
  readonly source: string;
}

/** A row of a file of records: its members, in the form of a JSON record. */
export interface RecordRow {
  readonly host?: string;
  readonly url?: string;
  readonly robots?: Uint8Array;
  readonly robots_base64?: string;
  readonly status?: number | string;
}

/** Rows of a file of records. */
export interface RecordRows {
  readonly kind: 'rows';
  readonly rows: readonly RecordRow[];
  /** Number of the first row in the file, from 1. */
  readonly first: number;
  readonly path: string;
  readonly source: string;
}

/** A part of a file of records, plain data that any thread can read. */
export type RecordPart = RecordLines | RecordRows;

/**
 * The columns of Parquet files that hold robots.txt files, each a key for each level. Default:
 * found by their names.
 */
export interface RecordColumns {
  /** The column of hosts; its values have the form of the member `host`. */
  readonly host?: readonly string[] | undefined;
  /** The column of bodies. */
  readonly robots?: readonly string[] | undefined;
  /** The column of status codes. */
  readonly status?: readonly string[] | undefined;
}

/** An open file of records. */
export interface OpenRecordFile {
  readonly descriptor: number;
  /** The path for messages. */
  readonly path: string;
  /** The beginning of the sources of its entries: `FILE.ndjson`. */
  readonly source: string;
  readonly columns: RecordColumns;
}

/** A kind of file that holds the robots.txt files of many hosts. */
export interface RecordFile {
  /** The `kind` of its parts. */
  readonly kind: RecordPart['kind'];
  /**
   * Endings of the names of such files, with their dots and without the ending of a compression.
   */
  readonly endings: readonly string[];
  /** Whether such files are read from their start to their end, so that they may be pipes. */
  readonly isSequential: boolean;
  /** Whether such files may be compressed as a whole, which adds an ending. */
  readonly isCompressible: boolean;
  /**
   * Splits an open file into parts. The descriptor stays open.
   *
   * @throws RobotsFilterError `input` if the file cannot be read to its end
   */
  parts(file: OpenRecordFile): AsyncGenerator<RecordPart>;
  /**
   * Yields the entries of a part, in order. A body has at most `maxBodyBytes + 1` bytes, and the
   * next body overwrites it.
   */
  read(part: RecordPart, maxBodyBytes: number): Iterable<EntryEvent | WarningEvent>;
}
