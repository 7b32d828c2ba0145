/** Files of many robots.txt files, NDJSON and Parquet: their records in order. */

import { RobotsFilterError } from '../base/errors.js';
import {
  COMPRESSION_ENDINGS,
  COMPRESSIONS,
  compressionFault,
  compressionOf,
} from '../files/compression.js';
import { isBlankLine, type LineBlock, linesOf, splitBlocks } from '../files/lines.js';
import { describeSystemError, systemRemedy } from '../files/system-error.js';
import { describeUnsupported } from '../files/unsupported-formats.js';
import {
  ColumnCursor,
  isNumeric,
  isText,
  isTime,
  type Needed,
  namedColumn,
  nestedColumn,
  noColumn,
  numberOf,
  severalColumns,
  timeJson,
  unreadableColumn,
} from '../parquet/columns.js';
import type { ColumnChunk, Leaf } from '../parquet/footer.js';
import type { ParquetFile } from '../parquet/parquet-file.js';
import { beginsRecord } from '../warc/records.js';
import type { CacheOptions, EntryEvent, WarningEvent } from './entry.js';
import { decompress, joined, readChunks } from './file.js';
import { hasEnding } from './item.js';
import { DATE_NAMES, parseRecord, recordEvents, recordOf, STATUS_NAMES } from './record.js';

/** Maximum length of a line, in bytes. The largest known robots.txt files have 4 MB. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** Why the records of a WARC file are not read here, and what to do. */
const WARC =
  'is a WARC file, which is not read under this name. Give it a name that ends in .warc, .warc.gz or .warc.zst, or send it through a pipe.';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** NDJSON, one record per line (record.ts), plain or compressed. */
const ndjsonFile: RecordFile = {
  kind: 'lines',
  endings: ['.ndjson', '.jsonl'],
  isSequential: true,
  isCompressible: true,

  async *parts(file: OpenRecordFile): AsyncGenerator<RecordLines> {
    const { path, source } = file;
    const bytes = 'chunks' in file ? file.chunks : file.descriptor;
    for await (const block of splitBlocks(readText(bytes, path), LONGEST_LINE)) {
      yield { kind: 'lines', ...block, path, source };
    }
  },

  *read(lines, { maxBodyBytes, needsDates }): Generator<EntryEvent | WarningEvent> {
    if (lines.kind !== 'lines') throw new Error(`no lines in a part of ${lines.kind}`);
    const { path, source } = lines;
    for (const { number, bytes } of linesOf(lines, LONGEST_LINE)) {
      if (bytes === undefined) {
        const message = 'The line is longer than 64 MiB; skipped.';
        yield { kind: 'warning', warning: { code: 'bad-record', path, line: number, message } };
        continue;
      }
      const line = number === 1 ? withoutByteOrderMark(bytes) : bytes;
      if (isBlankLine(line)) continue;
      yield* recordEvents(parseRecord(line, maxBodyBytes), path, source, number, needsDates);
    }
  },
};

/** The columns that are read, by the names that data sets give them. */
const COLUMN_NAMES = {
  host: ['host', 'domain', 'hostname'],
  url: ['url', 'robots_url'],
  robots: ['robots', 'robots_txt', 'content', 'body'],
  robots_base64: ['robots_base64'],
  status: STATUS_NAMES,
  // Two columns, as two members of a record: one may be a duration.
  fetched: [DATE_NAMES[0]],
  fetch_time: [DATE_NAMES[1]],
} as const;

const COLUMNS = Object.keys(COLUMN_NAMES) as Column[];

/** The options that name a column. */
const OPTIONS = {
  host: '--host-column',
  robots: '--robots-column',
  status: '--status-column',
  fetched: '--date-column',
} as const;

/** The option after which a column is no longer read, or read from another place. */
const REMEDIES: Record<Column, string> = {
  ...OPTIONS,
  url: OPTIONS.host,
  robots_base64: OPTIONS.robots,
  fetch_time: OPTIONS.fetched,
};

/** The columns of dates. What they hold takes the date away, not the file. */
const DATES: readonly Column[] = DATE_NAMES;

/** Maximum rows of a part, and maximum bytes of their bodies. */
const PART_ROWS = 1024;
const PART_BYTES = 1024 * 1024;

/** Maximum length of a body that is read, in bytes. */
const LONGEST_BODY = 64 * 1024 * 1024;

/** Of several columns with a meaning, the one of the lowest rank is read. */
const RANKS: Record<ReadColumn['content'], number> = { time: 0, number: 0, text: 1, unreadable: 2 };

/** Parquet: a robots.txt in each row. */
const parquetRows: RecordFile = {
  kind: 'rows',
  endings: ['.parquet'],
  isSequential: false,
  isCompressible: false,

  async *parts(opened: OpenRecordFile): AsyncGenerator<RecordRows> {
    if ('chunks' in opened) throw new Error('a pipe has no Parquet');
    const { descriptor, path, source, columns } = opened;
    // Loaded on demand, together with the decompressors.
    const { ParquetFile } = await import('../parquet/parquet-file.js');
    const file = await ParquetFile.open(descriptor, path);
    const read = columnsOf(file, columns);
    let first = 1;
    for (const group of file.footer.rowGroups) {
      const { columns: chunks } = group.read();
      const cursors = new Map<Column, ColumnCursor>();
      for (const [column, { leaf }] of read) {
        const chunk = chunks[file.footer.leaves.indexOf(leaf)] as ColumnChunk;
        if (chunk.values !== group.rows) throw unevenRows(path, leaf);
        cursors.set(column, new ColumnCursor(file, chunk));
      }
      try {
        for (let row = 0; row < group.rows; ) {
          const rows: RecordRow[] = [];
          let bytes = 0;
          while (row < group.rows && rows.length < PART_ROWS && bytes < PART_BYTES) {
            const next = await rowOf(file, cursors, read);
            bytes += bodyBytes(next);
            rows.push(next);
            row++;
          }
          yield { kind: 'rows', rows, first, path, source };
          first += rows.length;
        }
      } finally {
        for (const cursor of cursors.values()) await cursor.close();
      }
    }
  },

  *read(part, { maxBodyBytes, needsDates }): Generator<EntryEvent | WarningEvent> {
    if (part.kind !== 'rows') throw new Error(`no rows in a part of ${part.kind}`);
    const { path, source, first } = part;
    let line = first;
    for (const row of part.rows) {
      const number = line++;
      const record =
        bodyBytes(row) > LONGEST_BODY
          ? ({ code: 'bad-record', message: 'The body is longer than 64 MiB; skipped.' } as const)
          : recordOf(row, maxBodyBytes);
      yield* recordEvents(record, path, source, number, needsDates);
    }
  },
};

/**
 * The kinds of files of records that are read. To add a kind, write a constant as `ndjsonFile` is,
 * add it here, and add its parts to `RecordPart`. A pipe has the first kind.
 */
export const RECORD_FILES: readonly [RecordFile, ...RecordFile[]] = [ndjsonFile, parquetRows];

/** The name endings of all files of records: `.ndjson`, `.ndjson.gz` and so on. */
export const RECORD_FILE_ENDINGS = RECORD_FILES.flatMap(endingsOf);

/** The kind of a file of records, by its name; `undefined` for the name of any other file. */
export function recordFileOf(name: string): RecordFile | undefined {
  return RECORD_FILES.find((kind) => endingsOf(kind).some((ending) => hasEnding(name, ending)));
}

/** The kind of file that a part is of. */
export function recordFileOfPart(part: RecordPart): RecordFile {
  const found = RECORD_FILES.find(({ kind }) => kind === part.kind);
  if (found === undefined) throw new Error(`no file of records has parts of ${part.kind}`);
  return found;
}

function endingsOf({ endings, isCompressible }: RecordFile): readonly string[] {
  if (!isCompressible) return endings;
  return endings.flatMap((ending) => COMPRESSION_ENDINGS.map((outer) => `${ending}${outer}`));
}

/** Lines of a file of records. */
interface RecordLines extends LineBlock {
  readonly kind: 'lines';
  /** The path of the file, for messages. */
  readonly path: string;
  /** The beginning of the sources of the entries: `FILE.ndjson`. */
  readonly source: string;
}

/** A row of a file of records: its members, in the form of a JSON record. */
interface RecordRow {
  readonly host?: string;
  readonly url?: string;
  readonly robots?: Uint8Array;
  readonly robots_base64?: string;
  readonly status?: number | string;
  readonly fetched?: number | string;
  readonly fetch_time?: number | string;
}

/** Rows of a file of records. */
interface RecordRows {
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
  /** The column of the times of the fetches. */
  readonly fetched?: readonly string[] | undefined;
  /** Whether the times of the fetches are read. Default false. */
  readonly hasDates?: boolean | undefined;
}

/** An open file of records. */
type OpenRecordFile = RecordFilePath &
  (
    | { readonly descriptor: number; readonly columns: RecordColumns }
    /** A pipe, which has come to a kind that is read from its start to its end. */
    | { readonly chunks: AsyncGenerator<Buffer> }
  );

interface RecordFilePath {
  /** The path for messages. */
  readonly path: string;
  /** The beginning of the sources of its entries: `FILE.ndjson`. */
  readonly source: string;
}

/** A kind of file that holds the robots.txt files of many hosts. */
interface RecordFile {
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
  read(part: RecordPart, options: CacheOptions): Iterable<EntryEvent | WarningEvent>;
}

function withoutByteOrderMark(line: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return line.subarray(0, length).equals(BYTE_ORDER_MARK) ? line.subarray(length) : line;
}

/**
 * The text of an open file, decompressed.
 *
 * @param source the descriptor, or the bytes as `readChunks` yields them
 * @param remedy for a file that cannot be read or is damaged
 * @throws RobotsFilterError `input` if it cannot be read, or is of an unsupported format
 */
export async function* readText(
  source: number | AsyncGenerator<Buffer>,
  path: string,
  remedy = 'Download the file again, or take it out of the directory',
): AsyncGenerator<Buffer> {
  try {
    const chunks = typeof source === 'number' ? readChunks(source) : source;
    const { value: first, done } = await chunks.next();
    if (done) return;
    const compression = compressionOf(first);
    yield* compression === undefined
      ? checked(joined(first, chunks), path, undefined)
      : checked(decompress(compression, first, chunks), path, compression.name);
  } catch (error) {
    throw readError(path, error, remedy);
  }
}

/** The chunks, unless the first one shows an unsupported format. */
async function* checked(
  chunks: AsyncGenerator<Buffer>,
  path: string,
  compression: string | undefined,
): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const refusal = isFirst ? describeUnsupported(chunk, compression) : undefined;
    if (isFirst && beginsRecord(chunk, 0)) throw new RobotsFilterError('input', `${path}: ${WARC}`);
    if (refusal !== undefined) throw new RobotsFilterError('input', `${path}: ${refusal}`);
    isFirst = false;
    yield chunk;
  }
}

function readError(path: string, cause: unknown, otherwise: string): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  const known = systemRemedy(cause, 'read');
  if (known !== undefined) return new RobotsFilterError('input', `${path}: ${known}.`, { cause });
  const compression = COMPRESSIONS.find((candidate) => candidate.isDamage(cause));
  const { what, remedy = otherwise } =
    compression === undefined
      ? { what: `reading failed: ${describeSystemError(cause)}` }
      : compressionFault(compression, cause);
  return new RobotsFilterError('input', `${path}: ${what}. ${remedy}.`, { cause });
}

type Column = keyof typeof COLUMN_NAMES;

/** A column that is read, and what is done with its values. */
interface ReadColumn {
  readonly leaf: Leaf;
  /** `unreadable`: the values are of another kind, so that only nulls are accepted. */
  readonly content: 'text' | 'number' | 'time' | 'unreadable';
}

type ReadColumns = ReadonlyMap<Column, ReadColumn>;

/**
 * Finds the columns of a file that are read.
 *
 * @throws RobotsFilterError `input` if a column is missing, if two have the same name, or if one
 *   that decides cannot be read
 */
function columnsOf(file: ParquetFile, named: RecordColumns): ReadColumns {
  const columns = new Map<Column, ReadColumn>();
  for (const [column, option] of Object.entries(OPTIONS) as [keyof typeof OPTIONS, string][]) {
    const name = named[column];
    if (name === undefined) continue;
    const leaf = namedColumn(file, name, option, neededIn(column));
    const content = contentOf(column, leaf);
    if (content === 'unreadable') throw unreadableColumn(file, leaf, neededIn(column), option);
    columns.set(column, { leaf, content });
  }
  // What the user chose takes the place of both columns: one of pages may be called url.
  const replaced: Column[] = [];
  if (columns.has('host')) replaced.push('url');
  if (columns.has('robots')) replaced.push('robots_base64');
  if (columns.has('fetched')) replaced.push('fetch_time');
  if (named.hasDates !== true) replaced.push(...DATES);
  for (const column of COLUMNS) {
    if (columns.has(column) || replaced.includes(column)) continue;
    // A number comes before a text, and what can be read before what cannot.
    const [best, next] = leavesNamed(file, column)
      .map((leaf) => ({
        leaf,
        content: isNested(leaf) ? ('unreadable' as const) : contentOf(column, leaf),
      }))
      .sort((a, b) => RANKS[a.content] - RANKS[b.content]);
    if (best === undefined) continue;
    if (DATES.includes(column) && best.content === 'unreadable') continue;
    // Which of two status codes counts cannot be known, and the other one may close the host.
    if (column === 'status' && next !== undefined && next.content !== 'unreadable') {
      throw severalColumns(file, best.leaf, next.leaf, OPTIONS.status);
    }
    if (isNested(best.leaf)) {
      throw nestedColumn(file, best.leaf, neededIn(column), REMEDIES[column]);
    }
    columns.set(column, best);
  }
  if (!columns.has('robots') && !columns.has('robots_base64')) {
    throw noColumn(file, usual('robots'), OPTIONS.robots);
  }
  if (columns.has('host') || columns.has('url')) return columns;
  throw noColumn(file, usual('host', 'url'), OPTIONS.host);
}

/**
 * The columns that have one of the usual names for a meaning, whatever they hold, in the order of
 * the names. Small letters and capitals are the same, as in SQL; a name as it is listed goes first.
 *
 * @throws RobotsFilterError `input` if two columns have the same name
 */
function leavesNamed(file: ParquetFile, column: Column): Leaf[] {
  return COLUMN_NAMES[column].flatMap((name) => {
    const roots = file.footer.leaves.filter(({ path: [root = ''] }) => root.toLowerCase() === name);
    const exact = roots.filter(({ path: [root] }) => root === name);
    const [leaf, other] = exact.length > 0 ? exact : roots;
    if (leaf === undefined) return [];
    // A group has several columns of the same first name.
    if (other !== undefined && !(isNested(leaf) && isNested(other))) {
      throw severalColumns(file, leaf, other, REMEDIES[column]);
    }
    return [leaf];
  });
}

function isNested({ path, maxRepetition }: Leaf): boolean {
  return path.length > 1 || maxRepetition > 0;
}

function contentOf(column: Column, leaf: Leaf): ReadColumn['content'] {
  if (DATES.includes(column)) return isTime(leaf) ? 'time' : 'unreadable';
  if (column === 'status' && isNumeric(leaf)) return 'number';
  return isText(leaf) ? 'text' : 'unreadable';
}

function neededIn(column: Column): Needed {
  if (DATES.includes(column)) return 'times';
  return column === 'status' ? 'whole numbers' : 'text';
}

function usual(...columns: readonly Column[]): string {
  return `of text called ${columns.flatMap((column) => COLUMN_NAMES[column]).join(', ')}`;
}

/** @throws RobotsFilterError `input` for a value of a column that cannot be read */
async function rowOf(
  file: ParquetFile,
  cursors: ReadonlyMap<Column, ColumnCursor>,
  columns: ReadColumns,
): Promise<RecordRow> {
  const row: { -readonly [Name in keyof RecordRow]: RecordRow[Name] } = {};
  for (const [column, cursor] of cursors) {
    const bytes = await cursor.next();
    if (bytes === null || bytes === undefined) continue;
    const { leaf, content } = columns.get(column) as ReadColumn;
    if (content === 'unreadable') {
      throw unreadableColumn(file, leaf, neededIn(column), REMEDIES[column]);
    }
    if (column === 'fetched' || column === 'fetch_time') {
      // A number, a text, or null for a value that is no time.
      const time = JSON.parse(timeJson(leaf, bytes)) as number | string | null;
      if (time !== null) row[column] = time;
    } else if (column === 'robots') {
      // The part may go to another thread, so the bytes are copied.
      row.robots = Uint8Array.from(bytes);
    } else if (content === 'number') {
      row.status = numberOf(leaf, bytes);
    } else {
      row[column] = Buffer.from(bytes).toString('utf8');
    }
  }
  return row;
}

function bodyBytes({ robots, robots_base64: base64 }: RecordRow): number {
  return (robots?.length ?? 0) + (base64?.length ?? 0);
}

function unevenRows(path: string, leaf: Leaf): RobotsFilterError {
  return new RobotsFilterError(
    'input',
    `${path}: column "${leaf.path.join('.')}" has a different number of rows than its row group. ` +
      'Write or download the file again.',
  );
}
