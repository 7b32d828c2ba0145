/** JSON strings (RFC 8259 section 7): finding their ends, and decoding them to UTF-8. */

import {
  BACKSLASH,
  BACKSPACE,
  COLON,
  CR,
  FORM_FEED,
  LF,
  LOWER_B,
  LOWER_F,
  LOWER_N,
  LOWER_R,
  LOWER_T,
  LOWER_U,
  QUOTE,
  SLASH,
  SPACE,
  TAB,
} from '../../../base/ascii';
import { BACKSLASH_U, findByte, hexDigit, splat } from '../bytes';

/**
 * Address of the quote that ends a string, from any address in the string; `end` if the line ends
 * before. Reads 16 bytes past `end`.
 */
export function skipString(from: usize, end: usize): usize {
  const quote = splat(QUOTE);
  const backslash = splat(BACKSLASH);
  const newline = splat(LF);
  while (from < end) {
    const bytes = v128.load(from);
    const found = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)),
        i8x16.eq(bytes, newline),
      ),
    );
    if (found === 0) {
      from += 16;
      continue;
    }
    from += ctz(found);
    if (from >= end) return end;
    const byte: i32 = load<u8>(from);
    if (byte === QUOTE) return from;
    if (byte === LF) return end;
    // Skips the escaped character. Newlines cannot be escaped, because they end the line.
    from += from + 1 < end && load<u8>(from, 1) === LF ? 1 : 2;
  }
  return end;
}

/** Whether the escape whose backslash stands before `at` is valid. */
export function isEscape(at: usize): bool {
  const letter: i32 = load<u8>(at);
  if (letter === LOWER_U) {
    for (let i = 1; i <= 4; i++) if (hexDigit(load<u8>(at + i)) < 0) return false;
    return true;
  }
  return (
    letter === QUOTE ||
    letter === BACKSLASH ||
    letter === SLASH ||
    letter === LOWER_B ||
    letter === LOWER_F ||
    letter === LOWER_N ||
    letter === LOWER_R ||
    letter === LOWER_T
  );
}

/** Whether the inside of a string holds an escape. */
export function holdsEscape(from: usize, end: usize): bool {
  return findByte(BACKSLASH, from, end) < end;
}

/** The code unit of four hexadecimal digits, -1 if there are not four. */
function codeUnit(at: usize, end: usize): i32 {
  if (<isize>(end - at) < 4) return -1;
  const a = hexDigit(load<u8>(at));
  const b = hexDigit(load<u8>(at, 1));
  const c = hexDigit(load<u8>(at, 2));
  const d = hexDigit(load<u8>(at, 3));
  if ((a | b | c | d) < 0) return -1;
  return (a << 12) | (b << 8) | (c << 4) | d;
}

/** Writes a code point in UTF-8; returns its end. */
function writeCodePoint(point: i32, to: usize): usize {
  if (point < 0x80) {
    store<u8>(to, point);
    return to + 1;
  }
  if (point < 0x800) {
    store<u8>(to, 0xc0 | (point >> 6));
    store<u8>(to, 0x80 | (point & 63), 1);
    return to + 2;
  }
  if (point < 0x10000) {
    store<u8>(to, 0xe0 | (point >> 12));
    store<u8>(to, 0x80 | ((point >> 6) & 63), 1);
    store<u8>(to, 0x80 | (point & 63), 2);
    return to + 3;
  }
  store<u8>(to, 0xf0 | (point >> 18));
  store<u8>(to, 0x80 | ((point >> 12) & 63), 1);
  store<u8>(to, 0x80 | ((point >> 6) & 63), 2);
  store<u8>(to, 0x80 | (point & 63), 3);
  return to + 4;
}

/** The character of a one-letter escape, 0 if there is no such escape. */
function simpleEscape(letter: i32): i32 {
  if (letter === QUOTE || letter === BACKSLASH || letter === SLASH) return letter;
  if (letter === LOWER_B) return BACKSPACE;
  if (letter === LOWER_F) return FORM_FEED;
  if (letter === LOWER_N) return LF;
  if (letter === LOWER_R) return CR;
  if (letter === LOWER_T) return TAB;
  return 0;
}

/**
 * Decodes the escape whose backslash stands before `from`; returns the end of what is written, or 0
 * if the escape is not valid. A lone surrogate becomes U+FFFD, as in the URL Standard's conversion
 * to scalar values.
 */
function decodeEscape(from: usize, end: usize, to: usize): usize {
  if (from >= end) return 0;
  const letter: i32 = load<u8>(from++);
  if (letter !== LOWER_U) {
    const simple = simpleEscape(letter);
    store<u8>(to, simple);
    return simple === 0 ? 0 : to + 1;
  }
  let point = codeUnit(from, end);
  if (point < 0) return 0;
  from += 4;
  if ((point & 0xf800) === 0xd800) {
    let low = -1;
    if (point < 0xdc00 && end - from >= 6 && load<u16>(from) === BACKSLASH_U)
      low = codeUnit(from + 2, end);
    const isPair = low >= 0xdc00 && low < 0xe000;
    point = isPair ? 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
  }
  return writeCodePoint(point, to);
}

/**
 * The end of the escape at `from`, after its backslash. `written` is the number of bytes that
 * `decodeEscape` wrote: four bytes of UTF-8 come from two code units, `\uD83D\uDE00`, fewer from
 * one.
 */
function escapeEnd(from: usize, written: usize): usize {
  if (load<u8>(from) !== LOWER_U) return from + 1;
  return from + (written === 4 ? 11 : 5);
}

/**
 * Decodes the inside of a JSON string to `to`; returns the end of the text, which is never longer
 * than the string, or 0 if an escape is not valid. Reads 16 bytes past `end`, and writes 16 bytes
 * past what it returns.
 */
export function unescapeString(from: usize, end: usize, to: usize): usize {
  while (true) {
    const bytes = v128.load(from);
    v128.store(to, bytes);
    const found = i8x16.bitmask(i8x16.eq(bytes, splat(BACKSLASH)));
    const run = min(<usize>ctz(found | 0x10000), end - from);
    from += run;
    to += run;
    if (from === end) return to;
    if (found === 0) continue;
    const decoded = decodeEscape(from + 1, end, to);
    if (decoded === 0) return 0;
    from = escapeEnd(from + 1, decoded - to);
    to = decoded;
  }
}

/**
 * Decodes the JSON string whose opening quote stands before `from` to `to`, and stores the address
 * of its closing quote at `quote`. Returns the end of the text, which is never longer than the
 * string; 0 if no valid string ends before `end`. Reads 16 bytes past `end`, and writes 16 bytes
 * past what it returns.
 */
export function decodeString(from: usize, end: usize, to: usize, quote: usize): usize {
  while (from < end) {
    const bytes = v128.load(from);
    v128.store(to, bytes);
    const found = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, splat(QUOTE)), i8x16.eq(bytes, splat(BACKSLASH))),
        i8x16.lt_u(bytes, splat(SPACE)),
      ),
    );
    if (found === 0) {
      from += 16;
      to += 16;
      continue;
    }
    from += ctz(found);
    to += ctz(found);
    if (from >= end) return 0;
    const byte: i32 = load<u8>(from);
    if (byte === QUOTE) {
      store<u32>(quote, from);
      return to;
    }
    if (byte !== BACKSLASH) return 0;
    const decoded = decodeEscape(from + 1, end, to);
    if (decoded === 0) return 0;
    from = escapeEnd(from + 1, decoded - to);
    to = decoded;
  }
  return 0;
}

// ---- White space between the tokens of JSON

/** White space within a line. */
function isSpace(byte: i32): bool {
  return byte <= SPACE && (byte === SPACE || byte === TAB || byte === CR);
}

export function skipSpace(at: usize, end: usize): usize {
  while (at < end && isSpace(load<u8>(at))) at++;
  return at;
}

/** The byte at `at`, or LF if the line ends before. */
export function byteAt(at: usize, end: usize): i32 {
  return at < end ? <i32>load<u8>(at) : LF;
}

/** The value of the member whose key ends at `quote`; `end` if there is none. */
export function memberValue(quote: usize, end: usize): usize {
  if (load<u8>(quote) !== QUOTE) return end;
  const colon = skipSpace(quote + 1, end);
  return byteAt(colon, end) === COLON ? skipSpace(colon + 1, end) : end;
}
