/** White space between the tokens of JSON. */

import { COLON, CR, LF, QUOTE, SPACE, TAB } from '../../../ascii';

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
