/** Escaping of text in JSON strings. */

import { BACKSLASH, DELETE, QUOTE, SPACE } from '../../../ascii';
import { lowerHex } from '../bytes/characters';
import { BACKSLASH_U00 } from '../bytes/words';
import { byte } from './parts';

/** U+FFFD in UTF-8: EF BF BD. */
const REPLACEMENT_START: i32 = 0xbfef;
const REPLACEMENT_END: i32 = 0xbd;

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
 * Writes a text as the inside of a JSON string: at most six bytes for each byte. Bytes that are not
 * UTF-8 become U+FFFD.
 */
export function escapeString(at: usize, end: usize, to: usize): usize {
  while (at < end) {
    const value: i32 = load<u8>(at);
    if (value >= 0x80) {
      const bytes = sequenceBytes(at, end);
      if (bytes === 0) {
        store<u16>(to, REPLACEMENT_START);
        store<u8>(to, REPLACEMENT_END, 2);
        to += 3;
        at++;
      } else {
        memory.copy(to, at, bytes);
        to += bytes;
        at += bytes;
      }
      continue;
    }
    if (value === QUOTE || value === BACKSLASH) {
      to = byte(BACKSLASH, to);
      to = byte(value, to);
    } else if (value < SPACE || value === DELETE) {
      store<u32>(to, BACKSLASH_U00);
      store<u8>(to, lowerHex(value >> 4), 4);
      store<u8>(to, lowerHex(value & 15), 5);
      to += 6;
    } else {
      to = byte(value, to);
    }
    at++;
  }
  return to;
}
