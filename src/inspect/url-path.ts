/**
 * The paths that URLs have as rules see them: in canonical form (kernel/assembly/bytes/bytes.ts).
 * The kernel decodes each escape once, so an escape may come out of decoding: `/%2%61` becomes
 * `/%2a`, which is compared as it is. Hence every text is such a path that begins with a slash,
 * holds no byte that is always encoded, and has no dot segment before its query.
 */

import { Buffer } from 'node:buffer';
import {
  DELETE,
  DIGIT_0,
  DOT,
  LOWER_A,
  LOWER_CASE_BIT,
  LOWER_F,
  PERCENT,
  QUESTION_MARK,
  SLASH,
  SPACE,
} from '../ascii.js';
import { isDigit, isUnreserved } from '../protocol/byte.js';

/** No URL has such a path. */
export const NO_PATH = -1;

/** After the first slash of a path. */
export const PATH_START = 2;

/*
 * A place in a path, as far as the bytes after it depend on it:
 * 1 × whether it is in the query
 * 2 × the segment so far: 0 for any other text, else 1 + its length: nothing, one dot, two dots
 */
const IN_QUERY = 1;
const ONE_DOT = 2;
const TWO_DOTS = 3;
const ALL = ~0;

const ENCODED: ReadonlySet<number> = new Set(Buffer.from('"#$*<>\\^`{|}'));

/** What of a place is significant for some patterns: a mask of places. */
export function significantPlaces(literals: readonly Uint8Array[]): number {
  return literals.some((bytes) => bytes.includes(DOT)) ? ALL : 0;
}

/** The place after one more byte; NO_PATH if no URL's path goes on so. */
export function nextPlace(place: number, byte: number): number {
  if (mustEncode(byte)) return NO_PATH;
  if ((place & IN_QUERY) !== 0) return IN_QUERY;
  const segment = place >> 1;
  if (byte === SLASH || byte === QUESTION_MARK) {
    if (segment >= ONE_DOT) return NO_PATH;
    return byte === SLASH ? PATH_START : IN_QUERY;
  }
  const dots = byte === DOT && segment !== 0 && segment !== TWO_DOTS ? segment + 1 : 0;
  return dots << 1;
}

/** Whether a path may end at a place. */
export function endsAt(place: number): boolean {
  return place >> 1 < ONE_DOT;
}

/** Whether a URL can have a path as rules see it. */
export function isUrlPath(path: string): boolean {
  let place = PATH_START;
  for (let at = 1; at < path.length && place !== NO_PATH; at++) {
    place = nextPlace(place, path.charCodeAt(at));
  }
  return place !== NO_PATH && endsAt(place) && path.charCodeAt(0) === SLASH;
}

/**
 * Writes a path, as rules see it, for a URL. An escape that would change has its last digit
 * encoded: `/%2a` is written `/%2%61`.
 */
export function writtenPath(path: string): string {
  let written = '';
  let inQuery = false;
  for (let at = 0; at < path.length; at++) {
    inQuery ||= path.charCodeAt(at) === QUESTION_MARK;
    if (changes(path, at, inQuery)) {
      written += `${path.slice(at, at + 2)}%${path.charCodeAt(at + 2).toString(16)}`;
      at += 2;
    } else {
      written += path.charAt(at);
    }
  }
  return written;
}

/** Whether an escape stands at a place of a path whose canonical form is another. */
function changes(path: string, at: number, inQuery: boolean): boolean {
  if (path.charCodeAt(at) !== PERCENT) return false;
  const [high, low] = [path.charCodeAt(at + 1), path.charCodeAt(at + 2)];
  const value = (hexDigit(high) << 4) | hexDigit(low);
  if (value < 0) return false;
  return (
    high >= LOWER_A || low >= LOWER_A || isUnreserved(value) || (inQuery && isFreeInQuery(value))
  );
}

/** The value of a hex digit; -1 for any other byte. */
function hexDigit(byte: number): number {
  if (isDigit(byte)) return byte - DIGIT_0;
  const lower = byte | LOWER_CASE_BIT;
  return lower >= LOWER_A && lower <= LOWER_F ? lower - LOWER_A + 10 : -1;
}

/** Bytes that have no role in a query: spec note A. */
function isFreeInQuery(byte: number): boolean {
  return '/:?@[]'.includes(String.fromCharCode(byte));
}

function mustEncode(byte: number): boolean {
  return byte <= SPACE || byte >= DELETE || ENCODED.has(byte);
}
