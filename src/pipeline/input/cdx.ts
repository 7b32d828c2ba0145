/**
 * Indexes of archives in columns (CDX): how they are recognised, and which column is which. A line
 * has fields with a space between two of them, and no quotes.
 */

import { COLON, CR, LF, SPACE } from '../../base/ascii.js';
import { isDigit, isDigits, isLetter, isWhiteSpace } from '../../base/characters.js';
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
const TIME_DIGITS = 14;

/** The first columns of every index without a header: key, time and URL. */
const USUAL_LETTERS = ['N', TIME_LETTER, URL_LETTER];

/** What a header begins with, between the byte that separates the fields of all lines. */
const MARK = Buffer.from('CDX');

/**
 * Whether an input begins with the header of an index, or with a key, a time and a URL; `undefined`
 * if later bytes can change the answer.
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
  if (at === head.length) return undefined;
  if (!isLetter(head[at] ?? 0)) return false;
  const next = head[at + 1];
  return next === undefined ? undefined : next === delimiter || next === LF || next === CR;
}

/**
 * Whether the first line begins with a key, a time of 14 digits and a URL. If the key were a URL,
 * too, it would be open which of them is meant.
 */
function beginsWithLine(head: Uint8Array, start: number): boolean | undefined {
  const after = afterTime(head, start);
  if (after === undefined || after === false) return after;
  const key = Buffer.from(head.subarray(start, after - TIME_DIGITS - 2));
  if (key.length === 0 || key.includes('://')) return false;
  // `dns:` and `filedesc:` begin URLs of indexes, too, and no value of CDXJ.
  let at = after;
  for (; head[at] !== COLON; at++) {
    if (at === head.length) return undefined;
    if (!isLetter(head[at] ?? 0)) return false;
  }
  return at + 1 === head.length ? undefined : !isWhiteSpace(head[at + 1]);
}

/**
 * The offset after the key and the time of 14 digits with which a line of CDX or CDXJ begins; false
 * if it begins otherwise, and `undefined` if later bytes can change the answer.
 */
export function afterTime(head: Uint8Array, start: number): number | false | undefined {
  let at = start;
  for (; head[at] !== SPACE; at++) {
    if (at >= head.length) return undefined;
    if (head[at] === LF) return false;
  }
  for (let digit = 1; digit <= TIME_DIGITS; digit++) {
    if (++at === head.length) return undefined;
    if (!isDigit(head[at])) return false;
  }
  if (++at === head.length) return undefined;
  return head[at] === SPACE ? at + 1 : false;
}

/**
 * Reads the columns of an index: from its header, which it takes from `chunks`, or from its first
 * line.
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
export function fieldsOfLine(line: Buffer): string[] {
  let end = line.at(-1) === LF ? line.length - 1 : line.length;
  if (line[end - 1] === CR) end--;
  return line.toString('utf8', 0, end).split(' ');
}
