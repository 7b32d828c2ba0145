/**
 * Finding the URL in a JSON object on one line, as JSON.parse would find it: escapes, nesting, key
 * order and white space do not matter, and of duplicate keys the last counts. The object is
 * followed from its first brace to the end of the line. Whether the rest of the line is JSON is
 * checked by strict.ts.
 */

import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  CR,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from '../../../ascii';
import {
  LINE_BRACE,
  LINE_NEWLINE,
  LINE_NON_CANONICAL,
  LINE_URL,
  LINE_URL_END,
  QUERY_FIELD_COUNT,
  QUERY_FIELDS,
  REASON_NO_JSON,
  REASON_NO_OBJECT,
} from '../../layout';
import { equal } from '../bytes/search';
import { claimScratch } from '../memory/scratch';
import { splitPlain } from '../url/url';
import { holdsEscape, skipString, unescapeString } from './string';

/** The URL, or its absence, is known. */
export const LOCATED: i32 = -1;

/** White space within a line. */
function isSpace(byte: i32): bool {
  return byte <= SPACE && (byte === SPACE || byte === TAB || byte === CR);
}

function skipSpace(at: usize, end: usize): usize {
  while (at < end && isSpace(load<u8>(at))) at++;
  return at;
}

/** End of the array or object at `at`; `end` if the line ends before. */
function skipContainer(at: usize, end: usize): usize {
  let depth = 0;
  while (at < end) {
    const byte: i32 = load<u8>(at);
    if (byte === QUOTE) {
      at = skipString(at + 1, end);
      if (at === end) return end;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (--depth === 0) return at + 1;
    } else if (byte === LF) {
      return end;
    }
    at++;
  }
  return end;
}

/**
 * Whether a key, `from`–`end` between its quotes, is the key of the field's path at this level. An
 * escape is never shorter than its character.
 */
function isKey(query: usize, level: i32, from: usize, end: usize, scratch: usize): bool {
  const pair = <usize>load<u32>(query, QUERY_FIELDS) + <usize>level * 8;
  const wanted: usize = load<u32>(pair);
  const bytes = load<i32>(pair, 4);
  const length = <i32>(end - from);
  if (length < bytes) return false;
  if (length === bytes) return equal(wanted, from, bytes) && !holdsEscape(from, end);
  if (!holdsEscape(from, end)) return false;
  claimScratch(scratch, end - from);
  const decoded = unescapeString(from, end, scratch);
  return decoded !== 0 && <i32>(decoded - scratch) === bytes && equal(wanted, scratch, bytes);
}

/** Whether the line ends after its value, which ends at `at`. Stores where the line ends. */
function endsAt(line: usize, at: usize, end: usize): bool {
  at = skipSpace(at, end);
  store<u32>(line, at, LINE_NEWLINE);
  return at === end || load<u8>(at) === LF;
}

/**
 * Stores the string that begins at `at`, after its quote, as the URL. LINE_NON_CANONICAL is where
 * `splitPlain` stopped reading the string, 0 if the URL has another form. Returns the address of
 * the closing quote; `end` if there is none.
 */
function readUrlString(line: usize, at: usize, end: usize): usize {
  const stop = splitPlain(line, at, end);
  const quote = skipString(stop !== 0 ? stop : at, end);
  store<u32>(line, stop, LINE_NON_CANONICAL);
  store<u32>(line, at, LINE_URL);
  store<u32>(line, quote, LINE_URL_END);
  return quote;
}

/**
 * Walks the object of the line at `at`, which ends at `end` at the latest. Stores the string of the
 * URL field (`readUrlString`; LINE_URL is 0 if there is none), the object's closing brace, and the
 * line's newline. Returns LOCATED, or the reason why the line is not an object. `scratch` takes a
 * key with escapes. One pass; nesting costs no stack.
 */
export function locateUrl(query: usize, line: usize, at: usize, end: usize, scratch: usize): i32 {
  const keys = load<i32>(query, QUERY_FIELD_COUNT);
  store<u32>(line, 0, LINE_URL);
  at = skipSpace(at, end);
  if (at === end || load<u8>(at) !== OPEN_BRACE) return REASON_NO_OBJECT;
  let level = 0;
  at = skipSpace(at + 1, end);
  if (at < end && load<u8>(at) === CLOSE_BRACE) {
    store<u32>(line, at, LINE_BRACE);
    return endsAt(line, at + 1, end) ? LOCATED : REASON_NO_JSON;
  }
  while (true) {
    // A member begins here.
    if (at >= end || load<u8>(at) !== QUOTE) return REASON_NO_JSON;
    const key = at + 1;
    at = skipString(key, end);
    if (at === end) return REASON_NO_JSON;
    const wanted = isKey(query, level, key, at, scratch);
    at = skipSpace(at + 1, end);
    if (at >= end || load<u8>(at) !== COLON) return REASON_NO_JSON;
    at = skipSpace(at + 1, end);
    if (at >= end) return REASON_NO_JSON;
    // The last of duplicate keys counts.
    if (wanted) store<u32>(line, 0, LINE_URL);
    const first: i32 = load<u8>(at);
    if (first === QUOTE) {
      const isUrl = wanted && level === keys - 1;
      at = isUrl ? readUrlString(line, at + 1, end) : skipString(at + 1, end);
      if (at === end) return REASON_NO_JSON;
      at++;
    } else if (first === OPEN_BRACE && wanted && level < keys - 1) {
      at = skipSpace(at + 1, end);
      if (at < end && load<u8>(at) === CLOSE_BRACE) {
        at++;
      } else {
        level++;
        continue;
      }
    } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      at = skipContainer(at, end);
    } else {
      const value = at;
      at = skipScalar(at, end);
      if (at === value) return REASON_NO_JSON;
    }
    // A member ends here, and perhaps the objects that contain the URL.
    while (true) {
      at = skipSpace(at, end);
      if (at >= end) return REASON_NO_JSON;
      const byte: i32 = load<u8>(at);
      if (byte === COMMA) {
        at = skipSpace(at + 1, end);
        break;
      }
      if (byte !== CLOSE_BRACE) return REASON_NO_JSON;
      if (level === 0) {
        store<u32>(line, at, LINE_BRACE);
        return endsAt(line, at + 1, end) ? LOCATED : REASON_NO_JSON;
      }
      level--;
      at++;
    }
  }
}

/**
 * End of a number or literal: the first byte that cannot belong to a number or literal. Reads 16
 * bytes past `end`.
 */
function skipScalar(at: usize, end: usize): usize {
  // A byte up to space and each of `" , : [ ] { }` ends a number or literal: in the two tables, the
  // entries of the byte's halves share a bit.
  const low = i8x16(3, 1, 3, 1, 1, 1, 1, 1, 1, 1, 5, 9, 3, 9, 1, 1);
  const high = i8x16(1, 1, 2, 4, 0, 8, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0);
  const half = i8x16.splat(15);
  while (at < end) {
    const bytes = v128.load(at);
    const ends = v128.and(
      i8x16.swizzle(low, v128.and(bytes, half)),
      i8x16.swizzle(high, i8x16.shr_u(bytes, 4)),
    );
    const found = i8x16.bitmask(i8x16.ne(ends, i8x16.splat(0)));
    if (found !== 0) return min(at + ctz(found), end);
    at += 16;
  }
  return end;
}

/**
 * Stores the string that is the whole line at `at` as the URL, as `locateUrl` does. Returns
 * LOCATED, or the reason why the line is not a string.
 */
export function locateString(line: usize, at: usize, end: usize): i32 {
  at = skipSpace(at, end);
  if (at === end || load<u8>(at) !== QUOTE) return REASON_NO_OBJECT;
  at = readUrlString(line, at + 1, end);
  store<u32>(line, 0, LINE_BRACE);
  return at < end && endsAt(line, at + 1, end) ? LOCATED : REASON_NO_JSON;
}
