/** The formats of inputs, and how the first bytes of an input name its format. */

import { pipeline, Readable } from 'node:stream';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  CR,
  DOT,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from '../../base/ascii.js';
import { isDigit } from '../../base/characters.js';
import { COMPRESSION_ENDINGS, compressionOf } from '../../files/compression.js';
import { magicOf, startsWith } from '../../files/magic.js';
import { describeUnsupported } from '../../files/unsupported-formats.js';
import { beginsWithDictionary } from '../../files/zstd/frames.js';
import type { RecordFormat } from '../../kernel/query-settings.js';
import type { ParquetFile } from '../../parquet/parquet-file.js';
import { partitionsOf } from '../../parquet/partitions.js';
import { DEFAULT_MAX_LINE_BYTES } from '../bad-record.js';
import { afterTime, beginsWithIndex } from './cdx.js';
import {
  describeColumns,
  describeColumnsOfList,
  fieldsOf,
  firstLines,
  isUrl,
  RowScanner,
  rowsFormat,
} from './columns.js';
import type { RowsOptions } from './first-row.js';
import {
  type Chunks,
  type LinesOptions,
  needsMoreBytes,
  startOfContent,
  streamOf,
} from './raw-input.js';
import { describeUrlDocument, sourceOf } from './url-documents.js';

/** An input of rows, one per line. */
export interface Rows {
  readonly stream: Readable;
  /** The column of URLs, from 0. */
  readonly column: number;
  /** The column of times, from 0, if one was asked for. */
  readonly timeColumn?: number | undefined;
  /** The column of agents, from 0, if one was asked for. */
  readonly agentColumn?: number | undefined;
  /** The number of fields of a row: that of the first row. A row with more is invalid. */
  readonly rowFields: number;
  /** The header with its line end, which is not in the stream; `undefined` if there is none. */
  readonly header: Buffer | undefined;
}

/** Options for opening a file that is read by position. */
interface FileOptions {
  /** The name of the input in messages. */
  readonly name: string;
  /** The names that lead to the column with the URL. */
  readonly urlField: readonly string[];
  /** The names that lead to the column or partition with the time; `undefined` for none. */
  readonly timeField?: readonly string[] | undefined;
  /** As `timeField`, to that with the agent. */
  readonly agentField?: readonly string[] | undefined;
}

/** An open file that is read by position. */
interface PositionedFile {
  /** One record per line. It fails with a `RobotsFilterError` `input`. */
  readonly stream: Readable;
  /** Returns the share of the file that has been read, from 0 to 1. */
  progress(): number;
  /** The file, for outputs that keep its columns. */
  readonly parquet: ParquetFile;
  /** The path of the column with the URL, which is that of the member in the lines. */
  readonly urlField: readonly string[];
  /** The path of the member with the time in the lines; `undefined` for none. */
  readonly timeField?: readonly string[] | undefined;
  /** The path of the member with the agent in the lines; `undefined` for none. */
  readonly agentField?: readonly string[] | undefined;
}

/** A format that is read. `FORMATS` lists all of them. */
export interface Format {
  readonly name: RecordFormat;
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
interface Recognition {
  /** The first bytes, uncompressed. */
  readonly head: Uint8Array;
  /** Whether `head` is the whole input. */
  readonly isWhole: boolean;
  /** The format of `head`, unless a refusal applies; `undefined` if too few bytes have come. */
  readonly format: RecordFormat | undefined;
  /** The name of the compression that was undone; `undefined` if there was none. */
  readonly compression: string | undefined;
}

/** One URL per line: any input that no other format recognises. */
const text: Format = { name: 'text', recognise: () => true };

/** One JSON object per line. */
const ndjson: Format = {
  name: 'ndjson',
  recognise(head) {
    const beginning = beginningOf(head);
    return beginning === undefined ? undefined : beginning === 'object on a line';
  },
};

/** A JSON array, or JSON values one after another. A record is an element or a value. */
const json: Format = {
  name: 'json',
  recognise(head) {
    const beginning = beginningOf(head);
    if (beginning === undefined) return undefined;
    return beginning === 'array or string' || beginning === 'object among others';
  },
  async toLines(chunks, options) {
    // Loaded on demand, because stream-json takes long to load.
    const { JsonRecords } = await import('./json-records.js');
    return streamOf(new JsonRecords(chunks, options));
  },
};

/** Lines of an archive's index (CDXJ): a sort key, a time of 14 digits, and a JSON object. */
const cdxj: Format = {
  name: 'cdxj',
  recognise(head) {
    const start = startOfContent(head);
    const object = afterTime(head, start);
    if (object === undefined || object === false) return object;
    return object === head.length ? undefined : head[object] === OPEN_BRACE;
  },
};

/** Lines of an archive's index in columns. */
const cdx: Format = {
  name: 'cdx',
  recognise: beginsWithIndex,
  async toRows(chunks, options) {
    const { readFirstLine } = await import('./first-row.js');
    const first = await readFirstLine(chunks, options);
    return { ...first, stream: chunks.stream() };
  },
};

const WARC_MAGIC = magicOf('WARC/');

/** Records of a WARC file, which is read as it is, compressed or not. */
const warc: Format = {
  name: 'warc',
  recognise(head) {
    if (head.length < WARC_MAGIC.length + 2) {
      return startsWith(WARC_MAGIC, head.subarray(0, WARC_MAGIC.length)) ? undefined : false;
    }
    const digit = head[WARC_MAGIC.length];
    return startsWith(head, WARC_MAGIC) && isDigit(digit) && head[WARC_MAGIC.length + 1] === DOT;
  },
};
/** The log of a web server: only where it is asked for, because it may need the server's name. */
const log: Format = { name: 'log', recognise: () => false };

/** Rows with commas between their fields (RFC 4180). Recognised by `rowsFormat` only. */
const csv: Format = {
  name: 'csv',
  recognise: () => false,
  toRows: (chunks, options) => toRows(chunks, COMMA, options),
};

/** Rows with tabs between their fields, otherwise like CSV. */
const tsv: Format = {
  name: 'tsv',
  recognise: () => false,
  toRows: (chunks, options) => toRows(chunks, TAB, options),
};

const MAGIC = magicOf('PAR1');

/** Rows of a Parquet file; the URL is in a column. */
const parquet: Format = {
  name: 'parquet',
  recognise: (head) => startsWith(head, MAGIC),
  async openFile(descriptor, { name, urlField, timeField, agentField }) {
    // Loaded on demand, together with the decompressors.
    const { ParquetFile } = await import('../../parquet/parquet-file.js');
    const { textColumn } = await import('../../parquet/columns.js');
    const { agentsOf, timesOf, urlLines } = await import('./parquet-urls.js');
    const file = await ParquetFile.open(descriptor, name);
    const leaf = textColumn(file, urlField, '--url-field');
    const partitions = partitionsOf(name);
    let rows = 0;
    const times = timeField && timesOf(file, timeField, partitions);
    const agents = agentField && agentsOf(file, agentField, partitions);
    const onRows = (count: number): void => {
      rows = count;
    };
    const others = [times, agents].filter((each) => each !== undefined);
    const lines = urlLines(file, leaf, { partitions, others, onRows });
    return {
      stream: Readable.from(lines, { objectMode: false }),
      progress: () => (file.footer.rows === 0 ? 1 : rows / file.footer.rows),
      parquet: file,
      urlField: leaf.path,
      timeField: times && [times.member],
      agentField: agents && [agents.member],
    };
  },
};

/*
 * An input is opened by its first bytes. open.ts undoes the compression that they show
 * (files/compression.ts), and refuses an input that
 * `describeRefusal` describes. The first of
 * FORMATS that recognises the bytes turns the rest into lines.
 */

/**
 * The formats that are read, in the order in which they are tried. Add a new one before any format
 * that would also recognise its first bytes.
 */
export const FORMATS: readonly Format[] = [
  parquet,
  warc,
  json,
  ndjson,
  cdx,
  cdxj,
  log,
  csv,
  tsv,
  text,
];

const COMMAS =
  'each line is read as one URL, although its commas may separate columns. ' +
  'If they do, use --input csv --url-field 1; if not, --input text leaves this warning out';

/** The format of a name. */
export function formatNamed(name: RecordFormat): Format {
  const format = FORMATS.find((candidate) => candidate.name === name);
  if (format === undefined) throw new Error(`no input format ${name}`);
  return format;
}

/** The format of an input; `undefined` if later bytes can change the answer. */
export function recogniseFormat(head: Uint8Array): RecordFormat | undefined {
  return needsMoreBytes(head) ? undefined : firstFormat(head);
}

function firstFormat(head: Uint8Array): RecordFormat | undefined {
  for (const { name, recognise } of FORMATS) {
    const isOfFormat = recognise(head);
    if (isOfFormat === undefined) return undefined;
    if (isOfFormat) return name;
  }
  return undefined;
}

/**
 * The format that `--input auto` chooses if only `head` is known. If `head` does not decide, an
 * object on a line longer than the head counts as NDJSON.
 */
export function sniffFormat(head: Uint8Array): RecordFormat {
  return firstFormat(head) ?? (head[startOfContent(head)] === OPEN_BRACE ? 'ndjson' : 'text');
}

/**
 * The format of the input if `--input auto` finds rows in it.
 *
 * @param named the format that the name of the input implies
 * @param isTold whether the user has said which column holds the URL, or whether there is a header
 */
export function sniffRows(
  recognition: Recognition,
  named: 'csv' | 'tsv' | undefined,
  isTold: boolean,
): NamedRows {
  if (named !== undefined) return namedRows(named, recognition, isTold);
  const { head, isWhole, format } = recognition;
  const rows = rowsFormat(head, isWhole, format);
  return rows?.isDoubtful === true ? { doubt: COMMAS } : { format: rows?.format };
}

/**
 * Whether `head` is enough to open the input: more bytes would change nothing.
 *
 * @param isNamed whether the name of the input implies a format of rows
 */
export function isEnough(
  head: Uint8Array,
  asked: RecordFormat | 'auto',
  isNamed: boolean,
): boolean {
  if (needsMoreBytes(head) || beginsWithDictionary(head) === undefined) return false;
  if (asked !== 'auto' || compressionOf(head) !== undefined) return true;
  if (isNamed) return hasLine(head);
  const recognised = recogniseFormat(head);
  // The first lines show whether text is columns: the lines of one read, and at least one line.
  // JSON that begins with a string may be a row with quotes.
  return recognised === 'text' || head[startOfContent(head)] === QUOTE
    ? hasLine(head)
    : recognised !== undefined;
}

/** Whether the first line with content has ended. One that begins with a quote may be a row. */
function hasLine(head: Uint8Array): boolean {
  const start = startOfContent(head);
  return head[start] === QUOTE
    ? new RowScanner(COMMA).scan(head, start) !== undefined
    : head.includes(LF, start);
}

/**
 * Explains why an input is refused, and what to type instead; `undefined` if it is accepted. Lists
 * in columns are refused unless the user names the format of the input.
 *
 * @param asked the value of `--input`
 */
export function describeRefusal(
  { head, isWhole, format, compression }: Recognition,
  asked: RecordFormat | 'auto',
): string | undefined {
  // Parquet and WARC have magic bytes too, and are read unless the user names another format.
  const isRead =
    (format === 'warc' || (format === 'parquet' && compression === undefined)) &&
    (asked === 'auto' || asked === format);
  const unsupported = isRead ? undefined : describeUnsupported(head, compression);
  if (unsupported !== undefined || asked !== 'auto') return unsupported;
  if (isLog(head)) return LOG;
  return describeColumns(head, isWhole, format);
}

/**
 * Explains why a file is no list with one URL on each line, and what to type instead; `undefined`
 * if it may be such a list. Read as URLs, other lines would get the verdicts of paths that nobody
 * requests.
 *
 * @param head the first bytes, uncompressed
 * @param compression the name of the compression that was undone to get `head`
 */
export function describeOtherList(head: Uint8Array, compression?: string): string | undefined {
  const document = describeUrlDocument(head, compression);
  if (document !== undefined) return document;
  if (isLog(head)) return LOG;
  const format = sniffFormat(head);
  const source = sourceOf(compression);
  const columns = describeColumnsOfList(head, format, source);
  if (columns !== undefined) return columns;
  const command = urlsOfRecords(head, format);
  return command && `holds records, and not one URL on each line. Type: ${source} | ${command}`;
}

/** The command that writes the URLs of records, one on each line; `undefined` if these are none. */
function urlsOfRecords(head: Uint8Array, format: RecordFormat): string | undefined {
  switch (format) {
    case 'ndjson':
      return 'jq -r .url';
    case 'json':
      if (head[startOfContent(head)] === OPEN_BRACE) return 'jq -r .url';
      return head[startOfContent(head)] === QUOTE ? 'jq -r .' : "jq -r '.[] | .url? // .'";
    case 'cdxj':
      return "cut -d ' ' -f 3- | jq -r .url";
    case 'cdx':
      // The header says which column has the URL, and may name another delimiter.
      return "grep -oE '(https?|ftp)://[^[:space:]]+'";
    default:
      return undefined;
  }
}

const LOG =
  'is the log of a web server, which the filter alone reads: robots-filter --input log --host NAME, or without --host if each line begins with a host';

/** Whether the first line is that of a web server's log: a time in brackets before a request. */
function isLog(head: Uint8Array): boolean {
  const [line = ''] = firstLines(head, false);
  const time = line.indexOf('] "');
  const request = time < 0 ? [] : line.slice(time).split('"', 2)[1]?.split(' ');
  return line.lastIndexOf('[', time) > 0 && request?.at(-1)?.startsWith('HTTP/') === true;
}

/**
 * Whether the first line of a log names no server: the client's address, and two words that the
 * client may have sent, are all that stands before the time.
 */
export function namesNoServer(head: Uint8Array): boolean {
  const [line = ''] = firstLines(head, true);
  const time = line.lastIndexOf('[', line.indexOf('] "'));
  return time > 0 && line.slice(0, time).trim().split(' ').length === 3;
}

/*
 * Reads a file whose name ends in .csv or .tsv. Rows of one column give no evidence: without the
 * name they are lines of text, whose header is not a URL. The name decides, unless the content
 * contradicts it. Then the file is refused.
 */

type RowsFormat = 'csv' | 'tsv';

const DELIMITERS = { csv: ',', tsv: '\t' } as const;

/** Delimiters by the words of messages. */
const OTHERS = [
  ['\t', 'tabs'],
  [',', 'commas'],
  [';', 'semicolons'],
  ['|', 'bars'],
] as const;

const ROW_OR_URL =
  'is CSV by its name, but its first line may be one URL with a comma in it. ' +
  'If it is a row, use --url-field 1; if each line is one URL, use --input text.';

/** The format in which a file is read, or why the file is refused. */
export interface NamedRows {
  /** The format of its rows; `undefined` if the file may have no rows. */
  readonly format?: RowsFormat | undefined;
  readonly refusal?: string;
  /** Why lines that are read as URLs may be rows after all. */
  readonly doubt?: string;
}

/** The format that the name of a file implies, compressed or not: `list.csv`, `LIST.TSV.gz`. */
export function rowsOfName(name: string): RowsFormat | undefined {
  const lower = name.toLowerCase();
  const formats = Object.keys(DELIMITERS) as RowsFormat[];
  return formats.find((format) =>
    COMPRESSION_ENDINGS.some((ending) => lower.endsWith(`.${format}${ending}`)),
  );
}

/**
 * The format of a file whose name implies one.
 *
 * @param isTold whether the user has said which column holds the URL, or whether there is a header
 */
function namedRows(
  named: RowsFormat,
  { head, isWhole, format }: Recognition,
  isTold: boolean,
): NamedRows {
  const rows = rowsFormat(head, isWhole, format);
  // Commas that may belong to URLs are columns only if the name says so too.
  const found = rows?.isDoubtful === true && rows.format !== named ? undefined : rows?.format;
  const isText = format === undefined || format === 'text';
  if (!isText && head[startOfContent(head)] !== QUOTE) return { format: found };
  // Columns with another delimiter are refused with their own message.
  if (found === undefined && describeColumns(head, isWhole, format) !== undefined) return {};
  const [line = ''] = firstLines(head, isWhole);
  const contains = (delimiter: string): boolean => fieldsOf(line, delimiter).length > 1;
  const own = DELIMITERS[named];
  if (contains(own)) {
    if (found !== undefined && found !== named && contains(DELIMITERS[found])) {
      return { format: found };
    }
    // No URL contains a tab.
    const mayBeUrl = named === 'csv' && isUrl(line) && !line.startsWith('"');
    const isDoubtful = found === undefined && mayBeUrl && !isTold;
    return isDoubtful ? { refusal: ROW_OR_URL } : { format: named };
  }
  if (found !== undefined) return { format: found };
  const other = OTHERS.find(([delimiter]) => contains(delimiter));
  return other === undefined || isTold
    ? { format: named }
    : { refusal: otherDelimiter(named, other) };
}

function otherDelimiter(named: RowsFormat, [delimiter, other]: (typeof OTHERS)[number]): string {
  const own = named === 'csv' ? 'comma' : 'tab';
  const remedy =
    other === 'tabs'
      ? 'use --input tsv'
      : other === 'commas'
        ? 'use --input csv'
        : `type: csvformat -d '${delimiter}' FILE | robots-filter --input csv …`;
  return (
    `is ${named.toUpperCase()} by its name, but its first line has ${other} and no ${own}. ` +
    `If ${other} separate columns, ${remedy}; if each row is one URL, use --input ${named}.`
  );
}

/**
 * The beginning of an input, by which JSON and NDJSON differ.
 *
 * - `array or string`: the input begins with `[` or `"`.
 * - `object on a line`: it begins with an object that ends on its line, with no other value after
 *   it; or with an object whose line ends within a string, which is not JSON in any format.
 * - `object among others`: it begins with an object that spans lines, or shares its line with
 *   other values.
 * - `other`: it begins with anything else.
 * - `undefined`: later bytes can change the answer. No record is complete before they come.
 */
type Beginning =
  | 'array or string'
  | 'object on a line'
  | 'object among others'
  | 'other'
  | undefined;

/** Finds out how an input begins. `head` may be truncated anywhere. */
function beginningOf(head: Uint8Array): Beginning {
  const start = startOfContent(head);
  switch (head[start]) {
    case undefined:
      return undefined;
    case OPEN_BRACE:
      return beginningOfObject(head, start);
    case OPEN_BRACKET:
    case QUOTE:
      return 'array or string';
    default:
      return 'other';
  }
}

/** Continues from the `{` at `start`, to the end of its line at most. */
function beginningOfObject(head: Uint8Array, start: number): Beginning {
  let depth = 0;
  let inString = false;
  for (let index = start; index < head.length; index++) {
    const byte = head[index];
    if (byte === LF) return inString ? 'object on a line' : 'object among others';
    if (inString) {
      if (byte === BACKSLASH && head[index + 1] !== LF) index++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return beginningOfRest(head, index + 1);
    }
  }
  return undefined;
}

/** Continues after an object, to the first byte on its line that is not white space. */
function beginningOfRest(head: Uint8Array, start: number): Beginning {
  for (let index = start; index < head.length; index++) {
    switch (head[index]) {
      case TAB:
      case CR:
      case SPACE:
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
      case QUOTE:
        return 'object among others';
      default:
        return 'object on a line';
    }
  }
  return undefined;
}

async function toRows(
  chunks: Chunks,
  delimiter: typeof COMMA | typeof TAB,
  options: RowsOptions,
): Promise<Rows> {
  const { readFirstRow } = await import('./first-row.js');
  const { RowLines } = await import('./row-lines.js');
  const first = await readFirstRow(chunks, delimiter, options);
  const { header, headerLines, column, timeColumn, agentColumn, rowFields } = first;
  const stream = new RowLines({
    delimiter,
    maxRecordBytes: options.maxRecordBytes ?? DEFAULT_MAX_LINE_BYTES,
    linesBefore: headerLines,
  });
  // An error in `chunks` destroys `stream` with that error, so the reader of `stream` gets it.
  pipeline(chunks.stream(), stream, () => {});
  return { stream, column, timeColumn, agentColumn, rowFields, header };
}
