/**
 * Reads the first row of CSV, TSV or CDX: whether it is a header, its fields, and the column of
 * URLs.
 */

import { COMMA, CR, LF, QUOTE } from '../../base/ascii.js';
import { isDigits } from '../../base/characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { ARCHIVE_TIME, beginsWithHeader, TIME_DIGITS } from './cdx.js';
import {
  endOfFields,
  fieldsOfRow,
  isUrl,
  isUrlColumnName,
  MOST_FIELDS,
  RowScanner,
} from './columns.js';
import type { Chunks, LinesOptions } from './raw-input.js';

/** Maximum length of the first row, in bytes. */
const LONGEST = 1024 * 1024;

/** Maximum number of rows in which a header is looked for below comments. */
const MOST_ROWS_ABOVE = 64;

/** Maximum length of the first row if only its fields are counted, in bytes. */
const LONGEST_COUNTED = 16 * LONGEST;

const UNCLOSED_HEADER =
  'a quote in the header is not closed, so the header would be the whole input. Close the quote, or use --no-header if the first row is a record';

/** Options for turning an input into rows. */
export interface RowsOptions extends LinesOptions {
  /** The column of URLs: its name, or its number from 1. Default: found by name. */
  readonly column?: string | undefined;
  /** The column of times: its name, or its number from 1. Default: none is looked for. */
  readonly timeColumn?: string | undefined;
  /** The column of agents: its name, or its number from 1. Default: none is looked for. */
  readonly agentColumn?: string | undefined;
  /** Whether the first row is a header. Default: whether it holds no URL. */
  readonly header?: boolean | undefined;
}

/** What the first row tells about the others. */
export interface FirstRow {
  /** The header; `undefined` if the first row is a record, empty if there is no row. */
  readonly header: Buffer | undefined;
  /** Number of lines of the header. */
  readonly headerLines: number;
  /** The column of URLs, from 0. */
  readonly column: number;
  /** The column of times, from 0, if one was asked for. */
  readonly timeColumn?: number | undefined;
  /** The column of agents, from 0, if one was asked for. */
  readonly agentColumn?: number | undefined;
  /**
   * The number of fields of a row. In a row with more, a delimiter may be part of a URL without
   * quotes. The text before that delimiter may not be the URL.
   */
  readonly rowFields: number;
}

/**
 * Reads the first row and finds the column of URLs. If the row is a header, takes it from `chunks`.
 *
 * @throws RobotsFilterError `input` if there is no such column
 */
export async function readFirstRow(
  chunks: Chunks,
  delimiter: number,
  options: RowsOptions,
): Promise<FirstRow> {
  const told = options.header === false ? columnNumber(options.column) : 0;
  const { timeColumn: asked, agentColumn: askedAgent } = options;
  const toldTime = columnNumber(asked);
  const toldAgent = columnNumber(askedAgent);
  const areTold =
    (asked === undefined || toldTime > 0) && (askedAgent === undefined || toldAgent > 0);
  if (told > 0 && areTold) {
    // A first row without the column is a short row.
    const fields = await fieldsOfFirstRow(chunks, delimiter, options);
    return {
      header: undefined,
      headerLines: 0,
      column: told - 1,
      timeColumn: toldTime > 0 ? toldTime - 1 : undefined,
      agentColumn: toldAgent > 0 ? toldAgent - 1 : undefined,
      rowFields: Math.max(told, toldTime, toldAgent, fields),
    };
  }
  const scan = (head: Buffer) => {
    const scanner = new RowScanner(delimiter);
    const { start, emptyLines } = startOfRows(head);
    const end = scanner.scan(head, start);
    return { start, end, newlines: emptyLines + scanner.newlines, isOpen: scanner.isQuoted };
  };
  const peeked = await chunks.peek(LONGEST, (bytes) => scan(bytes).end !== undefined);
  // The limit does not depend on how much a read brings.
  const head = peeked.subarray(0, LONGEST);
  const { start, end: rowEnd, newlines, isOpen } = scan(head);
  if (rowEnd === undefined && head.length >= LONGEST) {
    throw refusal(
      options,
      'the first row does not end within 1 MiB. Is a quote missing? If not, say which column holds the URL: --no-header --url-field N',
    );
  }
  const end = rowEnd ?? head.length;
  const row = head.subarray(start, end);
  if (endOfFields(row) === 0)
    return { header: Buffer.alloc(0), headerLines: 0, column: 0, rowFields: 1 };
  const fields = fieldsOfRow(row, delimiter);
  const hasHeader = options.header ?? !fields.some(isUrl);
  if (hasHeader && options.header === undefined) {
    const line = newlines + 1;
    if (fields[0]?.toLowerCase().startsWith('sep=') === true) {
      throw preamble(options, 'its first line is an instruction to Excel', line + 1, delimiter);
    }
    const above = fields.length === 1 && !fields.some(isUrlColumnName);
    const header = above ? headerBelow(head, end, line, delimiter) : undefined;
    if (header !== undefined) {
      throw preamble(options, 'its first line is a comment or title', header, delimiter);
    }
  }
  // Behind an open quote stand other rows, not names.
  if (hasHeader && isOpen) throw refusal(options, UNCLOSED_HEADER);
  const column = columnOf(fields, hasHeader, options);
  const timeColumn =
    asked === undefined ? undefined : columnNamed(fields, hasHeader, asked, TIME, options);
  const agentColumn =
    askedAgent === undefined
      ? undefined
      : columnNamed(fields, hasHeader, askedAgent, AGENT, options);
  const found = { column, timeColumn, agentColumn, rowFields: fields.length };
  if (!hasHeader) return { header: undefined, headerLines: 0, ...found };
  if (holdsReturn(row, delimiter)) {
    throw refusal(
      options,
      "the header has a carriage return in it: are these several rows? Convert the line ends: tr '\\r' '\\n'",
    );
  }
  const header = Buffer.from(row);
  chunks.drop(end);
  return { header, headerLines: newlines + 1, ...found };
}

/**
 * The number of fields of the first row, of which nothing is taken; 0 if there is no row.
 *
 * @throws RobotsFilterError `input` if the row is too long or has too many fields
 */
async function fieldsOfFirstRow(
  chunks: Chunks,
  delimiter: number,
  options: RowsOptions,
): Promise<number> {
  const scanner = new RowScanner(delimiter);
  let start = 0;
  let scanned = 0;
  const hasRow = (bytes: Buffer): boolean => {
    while (scanned < bytes.length) {
      const end = scanner.scan(bytes, scanned);
      scanned = end ?? bytes.length;
      if (end === undefined) return false;
      if (endOfFields(bytes.subarray(start, end)) > 0) return true;
      scanner.begin();
      start = end;
    }
    return false;
  };
  let hasEnded = false;
  const head = await chunks.peek(LONGEST_COUNTED, (bytes) => {
    hasEnded ||= hasRow(bytes);
    return hasEnded;
  });
  hasEnded ||= hasRow(head);
  // The limit does not depend on how much a read brings.
  if (hasEnded ? scanned > LONGEST_COUNTED : head.length >= LONGEST_COUNTED) {
    throw refusal(
      options,
      'the first row does not end within 16 MiB, so the number of fields of a row is unknown. Is a quote missing?',
    );
  }
  const row = head.subarray(start, scanned);
  const fields = endOfFields(row) === 0 ? 0 : countFields(row, delimiter);
  if (fields <= MOST_FIELDS) return fields;
  throw refusal(
    options,
    `the first row has ${fields} fields, and a row may have at most ${MOST_FIELDS}. Is another delimiter meant?`,
  );
}

/**
 * The line of the header below a first row of one field that is a comment or a title: a row of
 * several fields, or the usual name of a column of URLs, before any URL. `undefined` if there is
 * none, so that the first row is the header.
 *
 * @param start where the rows after the first one begin
 * @param line the number of the first row's last line
 */
function headerBelow(
  head: Buffer,
  start: number,
  line: number,
  delimiter: number,
): number | undefined {
  let at = start;
  let number = line + 1;
  for (let rows = 0; rows < MOST_ROWS_ABOVE && at < head.length; rows++) {
    const scanner = new RowScanner(delimiter);
    const end = scanner.scan(head, at);
    if (end === undefined) return undefined;
    const fields = fieldsOfRow(head.subarray(at, end), delimiter);
    if (fields.length > 1 || fields.some(isUrlColumnName)) return number;
    if (fields.some(isUrl)) return undefined;
    number += scanner.newlines + 1;
    at = end;
  }
  return undefined;
}

function preamble(
  options: RowsOptions,
  what: string,
  line: number,
  delimiter: number,
): RobotsFilterError {
  const format = delimiter === COMMA ? 'csv' : 'tsv';
  return refusal(
    options,
    `${what}, and the header is on line ${line}. Leave out the lines above: tail -n +${line} FILE | robots-filter --input ${format} … If the first line is the header after all, use --header`,
  );
}

/** Finds the beginning of the first row: empty lines are not rows. */
function startOfRows(head: Buffer): { readonly start: number; readonly emptyLines: number } {
  let start = 0;
  let emptyLines = 0;
  for (;;) {
    const line = start + (head[start] === CR ? 1 : 0);
    if (head[line] !== LF) return { start, emptyLines };
    start = line + 1;
    emptyLines++;
  }
}

/** Whether a CR stands outside quotes in the fields of the row. */
function holdsReturn(row: Buffer, delimiter: number): boolean {
  const last = endOfFields(row);
  for (let at = 0; at < last; at++) {
    if (row[at] === QUOTE) {
      // If two quotes follow each other, the second opens again the field that the first has
      // closed.
      do at = row.indexOf(QUOTE, at + 1) + 1;
      while (at > 0 && row[at] === QUOTE);
      if (at === 0) return false;
    }
    for (; at < last && row[at] !== delimiter; at++) if (row[at] === CR) return true;
  }
  return false;
}

/** What a column holds, and the option that names it. */
interface Sought {
  readonly content: string;
  readonly option: string;
}

const URLS: Sought = { content: 'URLs', option: '--url-field' };
const TIME: Sought = { content: 'times', option: '--time-field' };
const AGENT: Sought = { content: 'agents', option: '--agent-field' };

/**
 * The column, from 0, that an option names, or gives the number of.
 *
 * @throws RobotsFilterError `input` if there is none, or several
 */
function columnNamed(
  fields: readonly string[],
  hasHeader: boolean,
  column: string,
  { content, option }: Sought,
  options: RowsOptions,
): number {
  const [named, other] = indicesOf(fields, hasHeader, (name) => name === column);
  if (named !== undefined) {
    if (other === undefined) return named;
    throw refusal(
      options,
      `the columns ${named + 1} and ${other + 1} are both called ${column}. Say which one holds the ${content} by its number: ${option} ${named + 1}`,
    );
  }
  const number = columnNumber(column);
  if (number >= 1 && number <= Math.max(fields.length, 1)) return number - 1;
  const what = isDigits(column) ? `column ${column}` : `column called ${column}`;
  const why = hasHeader
    ? namesOf(fields, hasHeader)
    : 'There is no header: give the number of the column';
  throw refusal(options, `there is no ${what}. ${why} (${option})`);
}

function indicesOf(
  fields: readonly string[],
  hasHeader: boolean,
  isWanted: (name: string) => boolean,
): number[] {
  return hasHeader ? [...fields.keys()].filter((index) => isWanted(fields[index] ?? '')) : [];
}

function namesOf(fields: readonly string[], hasHeader: boolean): string {
  return `The columns are: ${listed(fields, hasHeader).slice(0, 500)}`;
}

function columnOf(fields: readonly string[], hasHeader: boolean, options: RowsOptions): number {
  const { column } = options;
  if (column !== undefined) return columnNamed(fields, hasHeader, column, URLS, options);
  const names = namesOf(fields, hasHeader);
  const single = (indices: readonly number[], wanted: string): number | undefined => {
    const [index, other] = indices;
    if (index === undefined || other === undefined) return index;
    throw refusal(
      options,
      `the columns ${index + 1} and ${other + 1} are both called ${wanted}. Say which one holds the URLs by its number: --url-field ${index + 1}`,
    );
  };
  const exact = single(
    indicesOf(fields, hasHeader, (name) => name === 'url'),
    'url',
  );
  if (exact !== undefined) return exact;
  const capitals = single(
    indicesOf(fields, hasHeader, (name) => name.toLowerCase() === 'url'),
    'URL',
  );
  if (capitals !== undefined) return capitals;
  const found = hasHeader ? fields.findIndex(isUrlColumnName) : -1;
  if (found >= 0) return found;
  if (fields.length === 1) return 0;
  if (hasHeader) {
    throw refusal(
      options,
      `it is not clear which column holds the URLs. ${names}. Name the column, or give its number: --url-field`,
    );
  }
  const first = fields.findIndex(isUrl);
  throw refusal(
    options,
    `there is no header that names the column of the URLs. ${names}. Give the number of the column: --url-field ${first < 0 ? 'N' : first + 1}`,
  );
}

/** Names of columns, or with their numbers the fields of a first row that is no header. */
function listed(fields: readonly string[], hasHeader: boolean): string {
  const columns = hasHeader ? fields : fields.map((field, index) => `${index + 1} ${field}`);
  return columns.join(', ');
}

/** The number of a column, from 1; 0 if the text is a name, or a number that no column has. */
function columnNumber(text: string | undefined): number {
  const number = text !== undefined && isDigits(text) ? Number(text) : 0;
  return number <= MOST_FIELDS ? number : 0;
}

function refusal({ name }: RowsOptions, reason: string): RobotsFilterError {
  return new RobotsFilterError('input', `${name}: ${reason}`);
}

/** The number of fields of a row. */
function countFields(row: Buffer, delimiter: number): number {
  let at = 0;
  for (let fields = 1; ; fields++) {
    if (row[at] === QUOTE) {
      // Of two quotes in a row, the second opens the field again.
      do at = row.indexOf(QUOTE, at + 1) + 1;
      while (at > 0 && row[at] === QUOTE);
      if (at === 0) return fields;
    }
    at = row.indexOf(delimiter, at) + 1;
    if (at === 0) return fields;
  }
}

// ---- The first line of an index in columns (CDX): a header, or a record

/** The letters of the columns with the URL as it was captured, and with the time of the capture. */
const URL_LETTER = 'a';
const TIME_LETTER = 'b';

/** The first columns of every index without a header: key, time and URL. */
const USUAL_LETTERS = ['N', TIME_LETTER, URL_LETTER];

/**
 * Reads the columns of an index: from its header, which it takes from `chunks`, or from its first
 * line.
 *
 * @throws RobotsFilterError `input` if neither says which column holds the URL
 */
export async function readFirstLine(chunks: Chunks, options: RowsOptions): Promise<FirstRow> {
  let start = 0;
  const hasLine = (bytes: Buffer): boolean => {
    while (isLineEnd(bytes, start)) start += bytes[start] === CR ? 2 : 1;
    return bytes.includes(LF, start);
  };
  const peeked = await chunks.peek(LONGEST, hasLine);
  hasLine(peeked);
  const head = peeked.subarray(0, LONGEST);
  const newline = head.indexOf(LF, start);
  if (newline < 0 && head.length >= LONGEST) {
    throw refusal(options, 'the first line does not end within 1 MiB. Is it an index in CDX?');
  }
  const end = newline < 0 ? head.length : newline;
  const line = fieldsOfLine(head.subarray(start, end));
  if (line.length === 1 && line[0] === '') {
    return { header: Buffer.alloc(0), headerLines: 0, column: 0, rowFields: 1 };
  }
  const isHeader = beginsWithHeader(head, start) === true;
  if (options.header === true && !isHeader) {
    throw refusal(options, `its first line is no header of CDX, ${USUAL_HEADER}`);
  }
  if (isHeader && options.header !== false) {
    if (start > 0) {
      throw refusal(
        options,
        'empty lines stand before its header. Leave them out: grep . FILE | robots-filter --input cdx …',
      );
    }
    checkDelimiter(head, options);
    const letters = line.filter((letter) => letter !== '').slice(1);
    const header = Buffer.from(head.subarray(0, newline < 0 ? end : newline + 1));
    // The line end stays as an empty line, so that lines keep their numbers.
    chunks.drop(end);
    return { header, headerLines: 1, ...columnsIn(letters, true, options) };
  }
  const [, time = '', url] = line;
  if (time.length === TIME_DIGITS && isDigits(time) && url !== undefined) {
    const names = line.map((_, index) => USUAL_LETTERS[index] ?? String(index + 1));
    return { header: undefined, headerLines: 0, ...columnsIn(names, true, options) };
  }
  if (options.column === undefined) {
    throw refusal(
      options,
      `its first line is no header of CDX, ${USUAL_HEADER}, and does not begin with a key, a time of 14 digits and a URL. Give the number of the column with the URL: --url-field N`,
    );
  }
  return { header: undefined, headerLines: 0, ...columnsIn(line, false, options) };
}

const USUAL_HEADER = 'such as " CDX N b a m s k r M S V g"';

/**
 * The columns that are asked for, among those of these names.
 *
 * @param areNames whether these are letters, not the fields of a line
 */
function columnsIn(
  names: readonly string[],
  areNames: boolean,
  options: RowsOptions,
): Omit<FirstRow, 'header' | 'headerLines'> {
  const { column = URL_LETTER, timeColumn, agentColumn } = options;
  const time = timeColumn === ARCHIVE_TIME && areNames ? TIME_LETTER : timeColumn;
  return {
    column: columnNamed(names, areNames, column, URLS, options),
    timeColumn: time === undefined ? time : columnNamed(names, areNames, time, TIME, options),
    agentColumn:
      agentColumn === undefined
        ? agentColumn
        : columnNamed(names, areNames, agentColumn, AGENT, options),
    rowFields: names.length,
  };
}

/** @throws RobotsFilterError `input` if the header names another delimiter than the space */
function checkDelimiter(head: Buffer, options: RowsOptions): void {
  const first = head.toString('latin1', 0, 1);
  if (first === ' ' || first === 'C') return;
  const shown = first === '\t' ? '\\t' : first;
  throw refusal(
    options,
    `its header separates columns by ${JSON.stringify(first)}, and only spaces are read. Use spaces: tr '${shown}' ' ' < FILE | robots-filter --input cdx …`,
  );
}

/** Whether a line end is there, as the whole of a line. */
function isLineEnd(bytes: Buffer, at: number): boolean {
  return bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] === LF);
}

/** The fields of a line, with or without its line end. */
function fieldsOfLine(line: Buffer): string[] {
  let end = line.at(-1) === LF ? line.length - 1 : line.length;
  if (line[end - 1] === CR) end--;
  return line.toString('utf8', 0, end).split(' ');
}
