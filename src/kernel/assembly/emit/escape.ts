/** Escaping of text in JSON strings, in rows, in lines of URLs, and repair of UTF-8. */

import { BACKSLASH, CR, DELETE, LF, PERCENT, QUOTE, SPACE } from '../../../ascii';
import { isControlOrSpace, lowerHex, upperHex } from '../bytes/characters';
import { copy } from '../bytes/copy';
import { splat } from '../bytes/vectors';
import { BACKSLASH_U00 } from '../bytes/words';
import { isDropped } from '../url/url';
import { byte } from './parts';

/** U+FFFD in UTF-8: EF BF BD. */
const REPLACEMENT_START: i32 = 0xbfef;
const REPLACEMENT_END: i32 = 0xbd;
/** Most fields have no more bytes: see `copy`. */
const USUAL_FIELD: i32 = 128;
/** A bit after those of a vector's sixteen bytes. */
const PAST_VECTOR: i32 = 1 << 16;

/** Bytes of the well-formed UTF-8 sequence at `at`, 0 if there is none (RFC 3629 section 4). */
function sequenceBytes(at: usize, end: usize): i32 {
  const lead: i32 = load<u8>(at);
  let bytes = 0;
  let low = 0x80;
  let high = 0xbf;
  if (lead >= 0xc2 && lead < 0xe0) {
    bytes = 2;
  } else if (lead >= 0xe0 && lead < 0xf0) {
    bytes = 3;
    if (lead === 0xe0) low = 0xa0;
    if (lead === 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead < 0xf5) {
    bytes = 4;
    if (lead === 0xf0) low = 0x90;
    if (lead === 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  if (<isize>(end - at) < <isize>bytes) return 0;
  const second: i32 = load<u8>(at, 1);
  if (second < low || second > high) return 0;
  for (let i = 2; i < bytes; i++) if ((load<u8>(at + i) & 0xc0) !== 0x80) return 0;
  return bytes;
}

/**
 * Writes the character at `at` if it is well-formed UTF-8, otherwise U+FFFD for its first byte.
 * Returns the end of what was written; `characterEnd` has the end of what was read.
 */
function character(at: usize, end: usize, to: usize): usize {
  const bytes = sequenceBytes(at, end);
  if (bytes === 0) {
    store<u16>(to, REPLACEMENT_START);
    store<u8>(to, REPLACEMENT_END, 2);
    return to + 3;
  }
  memory.copy(to, at, bytes);
  return to + bytes;
}

/** The end of the character at `at`, or of the byte that is not UTF-8. */
function characterEnd(at: usize, end: usize): usize {
  return at + max(sequenceBytes(at, end), 1);
}

/**
 * Writes a text as the inside of a JSON string: at most six bytes for each byte. Bytes that are not
 * UTF-8 become U+FFFD. Reads 16 bytes past `end`, and writes 16 bytes past what it returns.
 */
export function escapeString(at: usize, end: usize, to: usize): usize {
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(to, bytes);
    // As signed bytes, those of other characters than ASCII are below the control characters.
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.lt_s(bytes, splat(SPACE)), i8x16.eq(bytes, splat(DELETE))),
        v128.or(i8x16.eq(bytes, splat(QUOTE)), i8x16.eq(bytes, splat(BACKSLASH))),
      ),
    );
    const plain = min(<usize>ctz(special | PAST_VECTOR), end - at);
    at += plain;
    to += plain;
    if (plain === 16 || at === end) continue;
    const value: i32 = load<u8>(at);
    if (value >= 0x80) {
      to = character(at, end, to);
      at = characterEnd(at, end);
      continue;
    }
    if (value === QUOTE || value === BACKSLASH) {
      to = byte(BACKSLASH, to);
      to = byte(value, to);
    } else {
      store<u32>(to, BACKSLASH_U00);
      store<u8>(to, lowerHex(value >> 4), 4);
      store<u8>(to, lowerHex(value & 15), 5);
      to += 6;
    }
    at++;
  }
  return to;
}

/**
 * Writes a text as UTF-8: at most three bytes for each byte. Bytes that are not UTF-8 become
 * U+FFFD. Reads and writes as `escapeString`.
 */
export function repairUtf8(at: usize, end: usize, to: usize): usize {
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(to, bytes);
    const plain = min(<usize>ctz(i8x16.bitmask(bytes) | PAST_VECTOR), end - at);
    at += plain;
    to += plain;
    if (plain === 16 || at === end) continue;
    to = character(at, end, to);
    at = characterEnd(at, end);
  }
  return to;
}

/**
 * Writes a URL as a line, or a column of text: at most three bytes for each byte. It stays the same
 * URL for the URL Standard, which strips white space and control characters at the ends, drops tabs
 * and line ends, and percent-encodes other control characters. Reads and writes as `escapeString`.
 */
export function escapeUrl(at: usize, end: usize, to: usize): usize {
  while (at < end && isControlOrSpace(load<u8>(at))) at++;
  while (at < end && isControlOrSpace(load<u8>(end - 1))) end--;
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(to, bytes);
    const special = i8x16.bitmask(
      v128.or(i8x16.lt_u(bytes, splat(SPACE)), i8x16.eq(bytes, splat(DELETE))),
    );
    const plain = min(<usize>ctz(special | PAST_VECTOR), end - at);
    at += plain;
    to += plain;
    if (plain === 16 || at === end) continue;
    const value: i32 = load<u8>(at++);
    if (isDropped(value)) continue;
    to = byte(PERCENT, to);
    to = byte(upperHex(value >> 4), to);
    to = byte(upperHex(value & 15), to);
  }
  return to;
}

/**
 * Writes a text as a field of a row, in quotes if it needs them: at most two bytes for each byte,
 * and two quotes. Reads and writes as `escapeString`.
 */
export function quoteField(at: usize, end: usize, delimiter: i32, to: usize): usize {
  if (!needsQuotes(at, end, delimiter)) {
    return copy(at, <i32>(end - at), to, USUAL_FIELD);
  }
  to = byte(QUOTE, to);
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(to, bytes);
    const quotes = i8x16.bitmask(i8x16.eq(bytes, splat(QUOTE)));
    const plain = min(<usize>ctz(quotes | PAST_VECTOR), end - at);
    at += plain;
    to += plain;
    if (plain === 16 || at === end) continue;
    at++;
    to = byte(QUOTE, to);
    to = byte(QUOTE, to);
  }
  return byte(QUOTE, to);
}

/** Whether a field must be quoted (RFC 4180 section 2). */
function needsQuotes(at: usize, end: usize, delimiter: i32): bool {
  const limit = splat(delimiter);
  for (; at < end; at += 16) {
    const bytes = v128.load(at);
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, splat(QUOTE)), i8x16.eq(bytes, limit)),
        v128.or(i8x16.eq(bytes, splat(CR)), i8x16.eq(bytes, splat(LF))),
      ),
    );
    if (special !== 0) return at + <usize>ctz(special) < end;
  }
  return false;
}
