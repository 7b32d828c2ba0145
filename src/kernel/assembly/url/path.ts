/**
 * Turns the raw path and query of a URL into the text that patterns are compared with (spec note
 * C). Dot segments are removed as the WHATWG URL Standard says, and the rest is in canonical form.
 * Most paths are canonical already, and are matched in place.
 */

import {
  BACKSLASH,
  COLON,
  CR,
  DIGIT_2,
  DOT,
  HASH,
  LF,
  LOWER_CASE_BIT,
  LOWER_E,
  PERCENT,
  QUESTION_MARK,
  SEMICOLON,
  SLASH,
  TAB,
} from '../../../ascii';
import {
  COPY_MARGIN,
  LINE_NON_CANONICAL,
  LINE_OWNED,
  LINE_PATH,
  LINE_PATH_END,
  LINE_TEXT,
  LINE_TEXT_END,
  LINE_URL,
  LINE_URL_END,
} from '../../layout';
import { canonicalise } from '../bytes/bytes';
import { copyShort } from '../bytes/copy';
import { findByte } from '../bytes/search';
import { splat } from '../bytes/vectors';
import { SLASH_SLASH } from '../bytes/words';
import { claimScratch } from '../memory/scratch';
import { dropWhiteSpace, holdsDropped, isSlash } from './url';

/** Bytes that `copyShort` and `canonicalise` may write after the address that they return. */
const VECTOR_MARGIN: usize = 32;

/** Stores the text that patterns are compared with; readable up to 64 bytes past its end. */
function setText(line: usize, from: usize, end: usize): void {
  store<u32>(line, from, LINE_TEXT);
  store<u32>(line, end, LINE_TEXT_END);
}

/**
 * Prepares the path and query of a line. `scratch` has room for four times their bytes and
 * SCRATCH_MARGIN.
 */
export function preparePath(line: usize, scratch: usize): void {
  const from: usize = load<u32>(line, LINE_PATH);
  const nonCanonical: usize = load<u32>(line, LINE_NON_CANONICAL);
  let end: usize = load<u32>(line, LINE_PATH_END);
  if (nonCanonical > from && (nonCanonical === end || load<u8>(nonCanonical) === HASH)) {
    setText(line, from, nonCanonical);
    return;
  }
  end = findByte(HASH, nonCanonical, end);
  if (nonCanonical <= from || mayNeedRewriting(nonCanonical, end)) {
    rewritePath(line, from, end, scratch);
    return;
  }
  claimScratch(scratch, 3 * (end - from) + VECTOR_MARGIN);
  const copied = copyShort(from, <i32>(nonCanonical - from), scratch);
  const inQuery = findByte(QUESTION_MARK, from, nonCanonical) < nonCanonical;
  setText(line, scratch, canonicalise(nonCanonical, end, copied, inQuery));
}

/**
 * Prepares the path and query `from`–`end`, which may hold dot segments, backslashes, or bytes that
 * the URL Standard drops. If the line owns these bytes, they are overwritten, and so may be
 * COPY_MARGIN after them.
 */
function rewritePath(line: usize, from: usize, end: usize, scratch: usize): void {
  let owned = load<u32>(line, LINE_OWNED) !== 0;
  if (holdsDropped(from, end)) {
    if (!owned) claimScratch(scratch, end - from + COPY_MARGIN);
    const copy = owned ? from : scratch;
    end = dropWhiteSpace(from, end, copy);
    if (!owned) scratch = end + COPY_MARGIN;
    from = copy;
    owned = true;
  }
  if (!owned) {
    claimScratch(scratch, end - from + 1);
    end = removeDotSegments(from, end, scratch);
    from = scratch;
    scratch = end;
  } else if (from < end && isSlash(load<u8>(from))) {
    // A path that begins with a slash never grows, so it is rewritten in place.
    end = removeDotSegments(from, end, from);
  } else {
    // Make room for the missing slash of the path.
    memory.copy(from + 1, from, end - from);
    end = removeDotSegments(from + 1, end + 1, from);
  }
  claimScratch(scratch, 3 * (end - from) + VECTOR_MARGIN);
  setText(line, scratch, canonicalise(from, end, scratch, false));
}

/**
 * Whether `at`–`end` may hold a dot segment, a backslash, or a byte that the URL Standard drops.
 * Reads 16 bytes past `end`, and one before `at`.
 */
function mayNeedRewriting(at: usize, end: usize): bool {
  while (at < end) {
    const bytes = v128.load(at);
    const dots = v128.or(
      i8x16.eq(bytes, splat(DOT)),
      v128.and(i8x16.eq(bytes, splat(PERCENT)), i8x16.eq(v128.load(at, 1), splat(DIGIT_2))),
    );
    const segments = v128.and(dots, i8x16.eq(v128.load(at - 1), splat(SLASH)));
    const dropped = v128.or(
      i8x16.eq(bytes, splat(CR)),
      v128.or(i8x16.eq(bytes, splat(TAB)), i8x16.eq(bytes, splat(LF))),
    );
    const backslashes = i8x16.eq(bytes, splat(BACKSLASH));
    const found = i8x16.bitmask(v128.or(segments, v128.or(dropped, backslashes)));
    if (found !== 0) return at + <usize>ctz(found) < end;
    at += 16;
  }
  return false;
}

/**
 * Prepares the text that google/robotstxt matches: the URL as given (spec notes, section 2, point
 * 8). `scratch` has room for the URL and SCRATCH_MARGIN.
 */
export function prepareGooglePath(line: usize, scratch: usize): void {
  const url: usize = load<u32>(line, LINE_URL);
  let end: usize = load<u32>(line, LINE_URL_END);
  const start = end - url >= 2 && load<u16>(url) === SLASH_SLASH ? url + 2 : url;
  let from = start;
  // The `://` of a scheme, unless a path, parameters or a query begin before it.
  for (let at = start; at < end; at++) {
    const byte: i32 = load<u8>(at);
    if (byte === SLASH || byte === QUESTION_MARK || byte === SEMICOLON) break;
    if (byte === COLON && end - at >= 3 && load<u16>(at, 1) === SLASH_SLASH) {
      from = at + 3;
      break;
    }
  }
  while (from < end) {
    const byte: i32 = load<u8>(from);
    if (byte === SLASH || byte === QUESTION_MARK || byte === SEMICOLON) break;
    from++;
  }
  const fragment = findByte(HASH, start, end);
  if (fragment < from) from = end;
  else end = fragment;
  const nul = findByte(0, from, end);
  if (from < end && load<u8>(from) === SLASH) {
    setText(line, from, nul);
    return;
  }
  claimScratch(scratch, nul - from + 1);
  store<u8>(scratch, SLASH);
  memory.copy(scratch + 1, from, nul - from);
  setText(line, scratch, scratch + 1 + (nul - from));
}

/** 1 for the segment `.`, 2 for `..`, 0 for any other; `%2e` is a dot. */
function dotsOf(from: usize, end: usize): i32 {
  let dots = 0;
  while (from < end) {
    if (load<u8>(from) === DOT) {
      from++;
    } else if (
      end - from >= 3 &&
      load<u8>(from) === PERCENT &&
      load<u8>(from, 1) === DIGIT_2 &&
      (load<u8>(from, 2) | LOWER_CASE_BIT) === LOWER_E
    ) {
      from += 3;
    } else {
      return 0;
    }
    if (++dots > 2) return 0;
  }
  return dots;
}

/**
 * Writes the path and query `from`–`end` to `to`; returns the end of the written bytes. The path
 * loses its dot segments, and `\` becomes `/`. `to` is `from`, the byte before it, or elsewhere.
 * The result begins with a slash. It is longer than the source only if the source lacks that slash.
 */
function removeDotSegments(from: usize, end: usize, to: usize): usize {
  const query = findByte(QUESTION_MARK, from, end);
  const start = to;
  if (from < query && isSlash(load<u8>(from))) from++;
  while (true) {
    const segment = from;
    while (from < query && !isSlash(load<u8>(from))) from++;
    const last = from >= query;
    const dots = dotsOf(segment, from);
    if (dots === 0) {
      const bytes = from - segment;
      store<u8>(to, SLASH);
      memory.copy(to + 1, segment, bytes);
      to += bytes + 1;
    } else {
      if (dots === 2 && to > start) {
        to--;
        while (load<u8>(to) !== SLASH) to--;
      }
      if (last) store<u8>(to++, SLASH);
    }
    if (last) break;
    from++;
  }
  memory.copy(to, query, end - query);
  return to + (end - query);
}
