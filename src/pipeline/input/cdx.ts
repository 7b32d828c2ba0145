/**
 * Indexes of archives in columns (CDX): how they are recognised, and which column is which. A line
 * has fields with a space between two of them, and no quotes.
 */

import { COLON, CR, LF, SPACE } from '../../base/ascii.js';
import { isDigit, isDigits, isLetter } from '../../base/characters.js';
import {
  AGENT,
  columnNamed,
  type FirstRow,
  LONGEST,
  type RowsOptions,
  refusal,
  TIME,
  URLS,
} from './first-row.js';
import { byteOrderMarkBytes, type Chunks } from './raw-input.js';

/** The letters of the columns with the URL as it was captured, and with the time of the capture. */
const URL_LETTER = 'a';
const TIME_LETTER = 'b';

/** What `--time-field` calls the time of a capture: in CDX, before the object of CDXJ, in WARC. */
export const ARCHIVE_TIME = 'timestamp';

/** Digits of the time of a capture. */
export const TIME_DIGITS = 14;

/**
 * The columns of an index without a header, by their number: of the server of the Wayback Machine,
 * and of programs that write indexes. All begin with key, time and URL.
 */
const LAYOUTS: ReadonlyMap<number, readonly string[]> = new Map(
  ['N b a m s k S', 'N b a m s k r V g', 'N b a m s k r M V g', 'N b a m s k r M S V g']
    .map((letters) => letters.split(' '))
    .map((letters) => [letters.length, letters]),
);
const FEWEST_FIELDS = Math.min(...LAYOUTS.keys());

/** What a header begins with, between the byte that separates the fields of all lines. */
const MARK = Buffer.from('CDX');

/**
 * Whether an input begins with the header of an index, or with a line of a usual layout;
 * `undefined` if later bytes can change the answer.
 */
export function beginsWithIndex(head: Uint8Array): boolean | undefined {
  const start = byteOrderMarkBytes(head);
  const isHeader = beginsWithHeader(head, start);
  return isHeader === false ? beginsWithLine(head, start) : isHeader;
}

/** Whether ` CDX N ` stands there, with any delimiter, or without the first one. */
function beginsWithHeader(head: Uint8Array, start: number): boolean | undefined {
  const first = head[start];
  if (first === undefined) return undefined;
  const isWord = first === MARK[0];
  if (!isWord && (isLetter(first) || isDigit(first) || first === LF || first === CR)) return false;
  const delimiter = isWord ? SPACE : first;
  let at = isWord ? start : start + 1;
  for (const byte of [...MARK, delimiter]) {
    if (at === head.length) return undefined;
    if (head[at++] !== byte) return false;
  }
  if (at + 1 >= head.length)
    return at < head.length && !isLetter(head[at] ?? 0) ? false : undefined;
  const next = head[at + 1];
  return isLetter(head[at] ?? 0) && (next === delimiter || next === LF || next === CR);
}

/** Whether the first line has a key, a time of 14 digits, a scheme, and fields enough. */
function beginsWithLine(head: Uint8Array, start: number): boolean | undefined {
  let at = start;
  for (; head[at] !== SPACE; at++) {
    if (at === head.length) return undefined;
    if (head[at] === LF) return false;
  }
  if (at === start) return false;
  for (let digit = 1; digit <= TIME_DIGITS; digit++) {
    if (++at === head.length) return undefined;
    if (!isDigit(head[at])) return false;
  }
  if (++at === head.length) return undefined;
  if (head[at] !== SPACE) return false;
  // `dns:` and `filedesc:` begin URLs of indexes, too, and no value of CDXJ.
  for (at++; head[at] !== COLON; at++) {
    if (at === head.length) return undefined;
    if (!isLetter(head[at] ?? 0)) return false;
  }
  for (let fields = 3; fields < FEWEST_FIELDS; at++) {
    if (at === head.length) return undefined;
    if (head[at] === LF) return false;
    if (head[at] === SPACE) fields++;
  }
  return true;
}

/**
 * Reads the columns of an index: from its header, which it takes from `chunks`, or from the number
 * of fields of its first line.
 *
 * @throws RobotsFilterError `input` if neither says which column holds the URL
 */
export async function readColumns(chunks: Chunks, options: RowsOptions): Promise<FirstRow> {
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
  const letters = isDigits(line[1] ?? '') ? LAYOUTS.get(line.length) : undefined;
  if (letters !== undefined) {
    return { header: undefined, headerLines: 0, ...columnsIn(letters, true, options) };
  }
  if (options.column === undefined) {
    throw refusal(
      options,
      `its first line is no header of CDX, ${USUAL_HEADER}, and has ${line.length} fields, so it is not clear which of them holds the URL. Give its number: --url-field N`,
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
export function fieldsOfLine(line: Buffer): string[] {
  let end = line.at(-1) === LF ? line.length - 1 : line.length;
  if (line[end - 1] === CR) end--;
  return line.toString('utf8', 0, end).split(' ');
}
