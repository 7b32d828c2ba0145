/** Checks whether a line is JSON (RFC 8259): the check that `--strict` adds to locate-url.ts. */

import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  CR,
  DIGIT_0,
  DOT,
  HYPHEN,
  LF,
  LOWER_B,
  LOWER_CASE_BIT,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_R,
  LOWER_T,
  LOWER_U,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  QUOTE,
  SLASH,
  SPACE,
  TAB,
} from '../../../ascii';
import { hexDigit, isDigit } from '../bytes/characters';
import { FALS, NULL, TRUE } from '../bytes/words';
import { claimScratch } from '../memory/scratch';

/**
 * End of the literal at `at`, 0 if the literal is not there. `word` is its first four characters.
 */
function literal(at: usize, end: usize, word: i32, bytes: i32): usize {
  return <i32>(end - at) >= bytes && load<i32>(at) === word ? at + bytes : 0;
}

function digitsEnd(at: usize, end: usize): usize {
  while (at < end && isDigit(load<u8>(at))) at++;
  return at;
}

/** End of the number at `at`, 0 if there is none. */
function numberEnd(at: usize, end: usize): usize {
  if (at < end && load<u8>(at) === HYPHEN) at++;
  const integer = at;
  at = digitsEnd(at, end);
  if (at === integer || (load<u8>(integer) === DIGIT_0 && at - integer > 1)) return 0;
  if (at < end && load<u8>(at) === DOT) {
    const fraction = ++at;
    at = digitsEnd(at, end);
    if (at === fraction) return 0;
  }
  if (at < end && (load<u8>(at) | LOWER_CASE_BIT) === LOWER_E) {
    at++;
    if (at < end && (load<u8>(at) === PLUS || load<u8>(at) === HYPHEN)) at++;
    const exponent = at;
    at = digitsEnd(at, end);
    if (at === exponent) return 0;
  }
  return at;
}

/** End of the string whose first quote is at `at`, 0 if it is not valid. */
function validStringEnd(at: usize, end: usize): usize {
  at++;
  while (at < end) {
    const byte: i32 = load<u8>(at++);
    if (byte === QUOTE) return at;
    if (byte < SPACE) return 0;
    if (byte !== BACKSLASH) continue;
    if (at >= end) return 0;
    const letter: i32 = load<u8>(at++);
    if (letter === LOWER_U) {
      if (<isize>(end - at) < 4) return 0;
      for (let i = 0; i < 4; i++) if (hexDigit(load<u8>(at + i)) < 0) return 0;
      at += 4;
    } else if (
      letter !== QUOTE &&
      letter !== BACKSLASH &&
      letter !== SLASH &&
      letter !== LOWER_B &&
      letter !== LOWER_F &&
      letter !== LOWER_N &&
      letter !== LOWER_R &&
      letter !== LOWER_T
    ) {
      return 0;
    }
  }
  return 0;
}

/** End of the number, string or literal at `at`, 0 if there is none. */
function scalarEnd(at: usize, end: usize): usize {
  const byte: i32 = load<u8>(at);
  if (byte === QUOTE) return validStringEnd(at, end);
  if (byte === LOWER_T) return literal(at, end, TRUE, 4);
  if (byte === LOWER_N) return literal(at, end, NULL, 4);
  if (byte === LOWER_F)
    return load<u8>(end > at + 4 ? at + 4 : at) === LOWER_E ? literal(at, end, FALS, 5) : 0;
  return numberEnd(at, end);
}

function spaceEnd(at: usize, end: usize): usize {
  while (at < end) {
    const byte: i32 = load<u8>(at);
    if (byte !== SPACE && byte !== TAB && byte !== CR && byte !== LF) break;
    at++;
  }
  return at;
}

/**
 * Whether the line `at`–`end` is one JSON value. `scratch` takes a bit for each open bracket, at
 * most an eighth of the line's bytes: 1 for an object, 0 for an array.
 */
export function isJson(at: usize, end: usize, scratch: usize): bool {
  claimScratch(scratch, ((end - at) >> 3) + 1);
  let depth: usize = 0;
  at = spaceEnd(at, end);
  while (true) {
    // A value begins here.
    if (at >= end) return false;
    const byte: i32 = load<u8>(at);
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      const object = byte === OPEN_BRACE;
      const bits = scratch + (depth >> 3);
      const bit = 1 << (<i32>(depth & 7));
      store<u8>(bits, object ? <i32>load<u8>(bits) | bit : <i32>load<u8>(bits) & ~bit);
      depth++;
      at = spaceEnd(at + 1, end);
      if (at >= end) return false;
      if (load<u8>(at) === (object ? CLOSE_BRACE : CLOSE_BRACKET)) {
        depth--;
        at++;
      } else {
        if (object) at = keyEnd(at, end);
        if (at === 0) return false;
        continue;
      }
    } else {
      at = scalarEnd(at, end);
      if (at === 0) return false;
    }
    // A value ends here.
    while (true) {
      at = spaceEnd(at, end);
      if (depth === 0) return at === end;
      if (at >= end) return false;
      const object =
        (<i32>load<u8>(scratch + ((depth - 1) >> 3)) & (1 << (<i32>((depth - 1) & 7)))) !== 0;
      const next: i32 = load<u8>(at);
      at++;
      if (next === COMMA) {
        at = spaceEnd(at, end);
        if (object) at = keyEnd(at, end);
        if (at === 0) return false;
        break;
      }
      if (next !== (object ? CLOSE_BRACE : CLOSE_BRACKET)) return false;
      depth--;
    }
  }
}

/** Address of the value after the key and colon at `at`, 0 if there is no key. */
function keyEnd(at: usize, end: usize): usize {
  if (at >= end || load<u8>(at) !== QUOTE) return 0;
  at = validStringEnd(at, end);
  if (at === 0) return 0;
  at = spaceEnd(at, end);
  if (at >= end || load<u8>(at) !== COLON) return 0;
  return spaceEnd(at + 1, end);
}
