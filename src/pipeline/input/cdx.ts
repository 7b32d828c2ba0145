/**
 * Recognises indexes of archives in columns (CDX): a line has fields with a space between two of
 * them, and no quotes.
 */

import { COLON, CR, LF, SPACE } from '../../base/ascii.js';
import { isDigit, isLetter, isWhiteSpace } from '../../base/characters.js';
import { byteOrderMarkBytes } from './raw-input.js';

/** What `--time-field` calls the time of a capture: in CDX, before the object of CDXJ, in WARC. */
export const ARCHIVE_TIME = 'timestamp';

/** Digits of the time of a capture. */
export const TIME_DIGITS = 14;

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
export function beginsWithHeader(head: Uint8Array, start: number): boolean | undefined {
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
