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
 * 8 × the escape so far: 0 for none, 1 for "%", 2 + its first hex digit, or LOWER_DIGIT
 */
const IN_QUERY = 1;
const ONE_DOT = 2;
const TWO_DOTS = 3;
const SEGMENT = 6;
const LOWER_DIGIT = 18;

const ENCODED: ReadonlySet<number> = new Set(Buffer.from('"#$*<>\\^`{|}'));

/** What of a place is significant for some patterns: a mask of places. */
export function significantPlaces(literals: readonly Uint8Array[]): number {
  const hasDots = literals.some((bytes) => bytes.includes(DOT));
  const hasEscapes = literals.some((bytes) => bytes.includes(PERCENT));
  return ~((hasDots ? 0 : SEGMENT) | (hasDots || hasEscapes ? 0 : IN_QUERY));
}

/**
 * The place after one more byte; NO_PATH if no canonical path goes on so. A canonical path has no
 * dot segments, no byte that must be encoded, and no escape that another form replaces: see
 * kernel/assembly/bytes/bytes.ts.
 */
export function nextPlace(place: number, byte: number): number {
  if (mustEncode(byte)) return NO_PATH;
  const progress = nextEscape(place >> 3, byte, (place & IN_QUERY) !== 0);
  if (progress === NO_PATH) return NO_PATH;
  if ((place & IN_QUERY) !== 0) return (progress << 3) | IN_QUERY;
  const segment = (place & SEGMENT) >> 1;
  if (byte === SLASH || byte === QUESTION_MARK) {
    if (segment >= ONE_DOT) return NO_PATH;
    return byte === SLASH ? PATH_START : IN_QUERY;
  }
  const dots = byte === DOT && segment !== 0 && segment !== TWO_DOTS ? segment + 1 : 0;
  return (progress << 3) | (dots << 1);
}

/** Whether a path may end at a place. */
export function endsAt(place: number): boolean {
  return (place & SEGMENT) >> 1 < ONE_DOT;
}

/** Whether a URL can have a path: whether the path is canonical. */
export function isUrlPath(path: string): boolean {
  let place = PATH_START;
  for (let at = 1; at < path.length && place !== NO_PATH; at++) {
    place = nextPlace(place, path.charCodeAt(at));
  }
  return place !== NO_PATH && endsAt(place) && path.charCodeAt(0) === SLASH;
}

function nextEscape(progress: number, byte: number, inQuery: boolean): number {
  if (byte === PERCENT) return 1;
  const digit = progress === 0 ? NO_PATH : hexDigit(byte);
  if (digit === NO_PATH) return 0;
  const isLower = byte >= LOWER_A;
  if (progress === 1) return isLower ? LOWER_DIGIT : 2 + digit;
  if (isLower || progress === LOWER_DIGIT) return NO_PATH;
  const value = ((progress - 2) << 4) | digit;
  return isUnreserved(value) || (inQuery && isFreeInQuery(value)) ? NO_PATH : 0;
}

function hexDigit(byte: number): number {
  if (isDigit(byte)) return byte - DIGIT_0;
  const lower = byte | LOWER_CASE_BIT;
  return lower >= LOWER_A && lower <= LOWER_F ? lower - LOWER_A + 10 : NO_PATH;
}

/** Bytes that have no role in a query: spec note A. */
function isFreeInQuery(byte: number): boolean {
  return '/:?@[]'.includes(String.fromCharCode(byte));
}

function mustEncode(byte: number): boolean {
  return byte <= SPACE || byte >= DELETE || ENCODED.has(byte);
}
