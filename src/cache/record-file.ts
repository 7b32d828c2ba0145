import type { LineBlock } from '../files/lines.js';
import type { EntryEvent, WarningEvent } from './entry.js';

/** Lines of a file of records. */
export interface RecordLines extends LineBlock {
  readonly kind: 'lines';
  /** The path of the file, for messages. */
  readonly path: string;
  /** What the sources of the entries begin with: `FILE.ndjson`. */
  readonly source: string;
}

/** A row of a file of records: its members, as those of a JSON record. */
export interface RecordRow {
  readonly host?: string;
  readonly url?: string;
  readonly robots?: Uint8Array;
  readonly status?: number;
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

/** The columns of Parquet files that hold robots.txt files. Default: found by their names. */
export interface RecordColumns {
  /** Its values are those of the member `host`. */
  readonly host?: string | undefined;
  /** Its values are bodies. */
  readonly robots?: string | undefined;
}

/** An open file of records. */
export interface OpenRecordFile {
  readonly descriptor: number;
  /** The path for messages. */
  readonly path: string;
  /** What the sources of its entries begin with: `FILE.ndjson`. */
  readonly source: string;
  readonly columns: RecordColumns;
}

/** A kind of file that holds the robots.txt files of many hosts. */
export interface RecordFile {
  /** The `kind` of its parts. */
  readonly kind: RecordPart['kind'];
  /** Endings of the names of such files, with their dots and without that of a compression. */
  readonly endings: readonly string[];
  /** Whether such files may be compressed as a whole, and have a further ending. */
  readonly isCompressible: boolean;
  /**
   * Splits an open file into parts. The descriptor stays open.
   *
   * @throws RobotsFilterError `input` if the file cannot be read to its end
   */
  parts(file: OpenRecordFile): AsyncGenerator<RecordPart>;
  /**
   * The entries of a part, in order. A body has at most `maxBodyBytes + 1` bytes, and the next one
   * overwrites it.
   */
  read(part: RecordPart, maxBodyBytes: number): Iterable<EntryEvent | WarningEvent>;
}
