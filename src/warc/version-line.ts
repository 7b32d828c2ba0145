import { CR, DIGIT_0, DIGIT_9, DOT, LF } from '../ascii.js';
import { startsWith } from '../files/magic.js';
import { ARC_MAGIC } from '../files/unsupported-formats.js';
import { parseWarcHeader } from './warc-header.js';

/** Every record begins with these bytes and a version. */
const MAGIC = Buffer.from('WARC/');

/** Length of the bytes that tell a record from other text, such as `WARC/1.`. */
export const BEGINNING = MAGIC.length + 2;

/** Maximum number of digits after the dot of a version. */
const MOST_DIGITS = 3;

/** Maximum length of a version line, in bytes: `WARC/1.`, digits, CR and LF. */
export const LONGEST_VERSION_LINE = BEGINNING + MOST_DIGITS + 2;

/** Whether a record begins at an index: `WARC/`, a digit and a dot. */
export function beginsRecord(bytes: Buffer, at: number): boolean {
  return (
    startsWith(bytes, MAGIC, at) &&
    isDigit(bytes[at + MAGIC.length]) &&
    bytes[at + MAGIC.length + 1] === DOT
  );
}

/** The file is an ARC file, which has no records that are read here. */
export class ArcFileError extends Error {}

/** @throws ArcFileError if a file begins like an ARC file */
export function refuseArc(beginning: Buffer): void {
  if (startsWith(beginning, ARC_MAGIC)) throw new ArcFileError('an ARC file');
}

/** Whether the bytes from an index to the end may be the beginning of `WARC/1.`. */
export function isBeginning(bytes: Buffer, at: number): boolean {
  const length = bytes.length - at;
  if (length >= BEGINNING) return false;
  const common = Math.min(length, MAGIC.length);
  return bytes.compare(MAGIC, 0, common, at, at + common) === 0;
}

/**
 * The index of the next record; -1 if there is none. A record begins a line. Where the bytes before
 * it were cut, it may stand within a line: then its version must end the line.
 *
 * @param isLine whether a line begins at index 0
 */
export function findRecord(bytes: Buffer, from: number, isLine: boolean): number {
  for (let at = bytes.indexOf(MAGIC, from); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    const before = bytes[at - 1];
    const isStart = at === 0 ? isLine : before === LF || before === CR;
    if (isStart ? beginsRecord(bytes, at) : isVersion(bytes, at)) return at;
  }
  return -1;
}

/**
 * Where, in a header, that of the next record begins; -1 if nowhere. A header that was cut runs on
 * in the next one, which has all its fields. A version alone does not tell: a URL may end in one.
 */
export function nextHeader(header: Buffer): number {
  let last = -1;
  // Nearly all headers have none, which one search of the runtime tells.
  for (let at = header.indexOf(MAGIC, BEGINNING); at >= 0; at = header.indexOf(MAGIC, at + 1)) {
    if (isVersion(header, at)) last = at;
  }
  return last >= 0 && parseWarcHeader(header.subarray(last)) !== undefined ? last : -1;
}

/**
 * Whether a record begins at an index, and its version ends the line. A reader that continues there
 * must find that a record begins, or it would search the same place again.
 */
function isVersion(bytes: Buffer, at: number): boolean {
  if (!beginsRecord(bytes, at)) return false;
  const end = endOfDigits(bytes, at + BEGINNING);
  if (end === at + BEGINNING) return false;
  return bytes[end] === LF || (bytes[end] === CR && bytes[end + 1] === LF);
}

/** The index after at most `MOST_DIGITS` digits. */
function endOfDigits(bytes: Buffer, start: number): number {
  let at = start;
  while (at < start + MOST_DIGITS && isDigit(bytes[at])) at++;
  return at;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= DIGIT_0 && byte <= DIGIT_9;
}
