/**
 * The canonical form of bytes (RFC 9309 section 2.2.2; docs/verdicts.md, notes A and B): one
 * function for path patterns and for the paths of URLs. Patterns reach it through
 * kernel/assembly/compile/patterns.ts, literal by literal.
 *
 * Canonical forms are ASCII. They are compared byte by byte, also within an encoded byte: `/%2`
 * matches `/%2F`, and so does `/*F`.
 */

import {
  ASTERISK,
  AT_SIGN,
  BACKSLASH,
  BACKTICK,
  CARET,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  DELETE,
  DOLLAR,
  DOT,
  GREATER_THAN,
  HYPHEN,
  LESS_THAN,
  OPEN_BRACE,
  OPEN_BRACKET,
  PERCENT,
  QUESTION_MARK,
  QUOTE,
  SLASH,
  SPACE,
  TILDE,
  UNDERSCORE,
} from '../../base/ascii';
import { hexDigit, isDigit, isInNoClass, isLetter, positions, splat, upperHex } from './bytes';

/** `A–Z a–z 0–9 - . _ ~`: RFC 3986 section 2.3. */
function isUnreserved(byte: i32): bool {
  if (isLetter(byte) || isDigit(byte)) return true;
  return byte === HYPHEN || byte === DOT || byte === UNDERSCORE || byte === TILDE;
}

/** The gen-delims that have no role in a query: `/ : ? @ [ ]` (RFC 3986 section 3.4). */
function isFreeInQuery(byte: i32): bool {
  return (
    byte === SLASH ||
    byte === COLON ||
    byte === QUESTION_MARK ||
    byte === AT_SIGN ||
    byte === OPEN_BRACKET ||
    byte === CLOSE_BRACKET
  );
}

/** Bytes that may not stand raw in a URI, and `*` and `$`, which are special in a pattern. */
function mustEncode(byte: i32): bool {
  if (byte <= SPACE || byte >= DELETE) return true;
  if (byte < LESS_THAN) return byte === QUOTE || byte === DOLLAR || byte === ASTERISK;
  if (byte < BACKTICK)
    return byte === LESS_THAN || byte === GREATER_THAN || byte === BACKSLASH || byte === CARET;
  return byte === BACKTICK || (byte >= OPEN_BRACE && byte <= CLOSE_BRACE);
}

/** Classes (kernel/assembly/bytes.ts) of the bytes that may not be canonical, and of `#`. */
const NON_CANONICAL_LOW: v128 = i8x16(19, 1, 3, 3, 3, 3, 1, 1, 1, 1, 3, 33, 37, 33, 5, 33);
const NON_CANONICAL_HIGH: v128 = i8x16(1, 1, 2, 4, 0, 4, 16, 32, 1, 1, 1, 1, 1, 1, 1, 1);

/**
 * Writes the canonical form of `from`–`end` to `to`; returns its end. The form has at most three
 * bytes for each byte. The query, where the bytes of note A are decoded, begins after the first raw
 * `?`. Reads 15 bytes past `end`, and writes 15 past the end of the form.
 */
export function canonicalise(from: usize, end: usize, to: usize, inQuery: bool): usize {
  while (from < end) {
    const bytes = v128.load(from);
    const regular = i8x16.bitmask(isInNoClass(NON_CANONICAL_LOW, NON_CANONICAL_HIGH, bytes));
    const run = min(<usize>ctz(~regular), end - from);
    v128.store(to, bytes);
    const questions = i8x16.bitmask(i8x16.eq(bytes, splat(QUESTION_MARK)));
    if ((questions & ((1 << (<i32>run)) - 1)) !== 0) inQuery = true;
    from += run;
    to += run;
    if (run === 16 || from === end) continue;
    do {
      const byte: i32 = load<u8>(from);
      if (isEscape(from, end)) {
        const value = (hexDigit(load<u8>(from, 1)) << 4) | hexDigit(load<u8>(from, 2));
        if (isUnreserved(value) || (inQuery && isFreeInQuery(value))) store<u8>(to++, value);
        else to = writeEscape(value, to);
        from += 2;
      } else if (mustEncode(byte)) {
        to = writeEscape(byte, to);
      } else {
        store<u8>(to++, byte);
      }
      from++;
      // Most escapes stand next to other escapes.
    } while (from < end && load<u8>(from) === PERCENT);
  }
  return to;
}

/** Writes `%XX`; returns its end. */
function writeEscape(byte: i32, to: usize): usize {
  store<u8>(to, PERCENT);
  store<u8>(to, upperHex(byte >> 4), 1);
  store<u8>(to, upperHex(byte & 15), 2);
  return to + 3;
}

/** Whether `%XX` stands at `at`. */
function isEscape(at: usize, end: usize): bool {
  return (
    load<u8>(at) === PERCENT &&
    at + 2 < end &&
    (hexDigit(load<u8>(at, 1)) | hexDigit(load<u8>(at, 2))) >= 0
  );
}

/**
 * Writes the form that google/robotstxt gives a pattern, and never a URL: hex digits are
 * upper-cased, and bytes from 0x80 on are encoded. Returns its end.
 */
export function escapePattern(from: usize, end: usize, to: usize): usize {
  while (from < end) {
    const byte: i32 = load<u8>(from);
    if (byte >= 0x80) {
      to = writeEscape(byte, to);
    } else if (isEscape(from, end)) {
      to = writeEscape((hexDigit(load<u8>(from, 1)) << 4) | hexDigit(load<u8>(from, 2)), to);
      from += 2;
    } else {
      store<u8>(to++, byte);
    }
    from++;
  }
  return to;
}

/**
 * The first address in `from`–`end` whose byte may not be canonical or may begin a fragment or a
 * dot segment; `end` if there is none. Reads 64 bytes past `end`, and one before `from`.
 */
export function firstNonCanonical(from: usize, end: usize): usize {
  const low = NON_CANONICAL_LOW;
  const high = NON_CANONICAL_HIGH;
  while (from < end) {
    const regular = positions(
      i8x16.bitmask(v128.andnot(isInNoClass(low, high, v128.load(from)), beginsDotSegment(from))),
      i8x16.bitmask(
        v128.andnot(isInNoClass(low, high, v128.load(from, 16)), beginsDotSegment(from + 16)),
      ),
      i8x16.bitmask(
        v128.andnot(isInNoClass(low, high, v128.load(from, 32)), beginsDotSegment(from + 32)),
      ),
      i8x16.bitmask(
        v128.andnot(isInNoClass(low, high, v128.load(from, 48)), beginsDotSegment(from + 48)),
      ),
    );
    if (regular !== -1) {
      from += <usize>ctz(~regular);
      return from < end ? from : end;
    }
    from += 64;
  }
  return end;
}

/** -1 for each of 16 bytes that is a dot after a slash. */
function beginsDotSegment(at: usize): v128 {
  return v128.and(i8x16.eq(v128.load(at), splat(DOT)), i8x16.eq(v128.load(at - 1), splat(SLASH)));
}
