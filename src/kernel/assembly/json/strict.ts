/** What `--strict` checks of JSON (RFC 8259) beyond its structure: values and strings. */

import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  DIGIT_0,
  DOT,
  HYPHEN,
  LOWER_B,
  LOWER_CASE_BIT,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_R,
  LOWER_T,
  LOWER_U,
  PLUS,
  QUOTE,
  SLASH,
  SPACE,
} from '../../../ascii';
import { hexDigit, isDigit } from '../bytes/characters';
import { FALS, NULL, TRUE } from '../bytes/words';

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

/** End of the number or literal at `at`, 0 if there is none. */
function scalarEnd(at: usize, end: usize): usize {
  const byte: i32 = load<u8>(at);
  if (byte === LOWER_T) return literal(at, end, TRUE, 4);
  if (byte === LOWER_N) return literal(at, end, NULL, 4);
  if (byte === LOWER_F)
    return load<u8>(end > at + 4 ? at + 4 : at) === LOWER_E ? literal(at, end, FALS, 5) : 0;
  return numberEnd(at, end);
}

/** Whether a byte may follow a number or literal. */
function endsScalar(byte: i32): bool {
  return byte <= SPACE || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
}

/**
 * The positions in the block at `at`, of those where numbers and literals begin, where none is
 * valid. They end at `end` at the latest.
 */
export function invalidScalars(at: usize, scalars: u64, end: usize): u64 {
  let invalid: u64 = 0;
  while (scalars !== 0) {
    const first = scalars & -scalars;
    const after = scalarEnd(at + <usize>ctz(first), end);
    if (after === 0 || (after < end && !endsScalar(load<u8>(after)))) invalid |= first;
    scalars ^= first;
  }
  return invalid;
}

/** Whether the escape whose backslash stands before `at` is valid. */
function isEscape(at: usize): bool {
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

/** The positions in the block at `at`, of those where escapes begin, where none is valid. */
export function invalidEscapes(at: usize, escapes: u64): u64 {
  let invalid: u64 = 0;
  while (escapes !== 0) {
    const first = escapes & -escapes;
    if (!isEscape(at + <usize>ctz(first) + 1)) invalid |= first;
    escapes ^= first;
  }
  return invalid;
}

/** Whether a control character stands in a string. */
export function holdsControl(at: usize, end: usize): bool {
  while (at < end) if (<i32>load<u8>(at++) < SPACE) return true;
  return false;
}
