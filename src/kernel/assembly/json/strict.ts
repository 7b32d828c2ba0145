/** What `--strict` checks of JSON (RFC 8259) beyond its structure: values and strings. */

import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  DIGIT_0,
  DOT,
  HYPHEN,
  LOWER_CASE_BIT,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  QUOTE,
  SPACE,
} from '../../../ascii';
import { MARKS_CURSOR } from '../../layout';
import { isDigit } from '../bytes/characters';
import { FALS, NULL, TRUE } from '../bytes/words';
import { claimScratch } from '../memory/scratch';
import { beforeClosing, markAt } from './marks';
import { byteAt, memberValue, skipSpace } from './space';

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
export function validScalarEnd(at: usize, end: usize): usize {
  const byte: i32 = load<u8>(at);
  if (byte === LOWER_T) return literal(at, end, TRUE, 4);
  if (byte === LOWER_N) return literal(at, end, NULL, 4);
  if (byte === LOWER_F)
    return load<u8>(end > at + 4 ? at + 4 : at) === LOWER_E ? literal(at, end, FALS, 5) : 0;
  return numberEnd(at, end);
}

/** Whether a control character stands in a string. */
export function holdsControl(at: usize, end: usize): bool {
  while (at < end) if (<i32>load<u8>(at++) < SPACE) return true;
  return false;
}

/**
 * End of the object or array at `at`, which is checked whole; 0 if it is not valid, or the line
 * ends before. Keeps the mark after it as MARKS_CURSOR. `scratch` takes a bit for each bracket from
 * the 65th level on.
 */
export function checkedContainer(
  marks: usize,
  cursor: usize,
  at: usize,
  end: usize,
  scratch: usize,
): usize {
  // The containers entered, and a bit for each, the innermost lowest: 1 for an object.
  let depth = 0;
  let objects: u64 = 0;
  let isEmpty = false;
  while (true) {
    // A member begins at `at`, or a value, or an empty container ends there.
    let byte = byteAt(at, end);
    if (!isEmpty || byte !== closerOf(objects)) {
      if ((objects & 1) !== 0) {
        if (byte !== QUOTE) return 0;
        cursor = beforeClosing(marks, markAt(marks, cursor, at, end, true), end, true);
        if (cursor === 0) return 0;
        at = memberValue(load<u32>(cursor, 4), end);
        cursor += 8;
        byte = byteAt(at, end);
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if ((depth & 63) === 0 && depth > 0) {
          const words = scratch + ((<usize>(depth >> 6)) << 3) - 8;
          claimScratch(words, 8);
          store<u64>(words, objects);
        }
        objects = (objects << 1) | <u64>(byte === OPEN_BRACE);
        depth++;
        isEmpty = true;
        at = skipSpace(at + 1, end);
        continue;
      }
      if (byte === QUOTE) {
        cursor = beforeClosing(marks, markAt(marks, cursor, at, end, true), end, true);
        if (cursor === 0) return 0;
        at = <usize>load<u32>(cursor, 4) + 1;
        cursor += 8;
      } else {
        at = validScalarEnd(at, end);
        if (at === 0) return 0;
      }
    }
    // Containers may end, and then a comma follows.
    while (true) {
      at = skipSpace(at, end);
      byte = byteAt(at, end);
      if (byte === COMMA) break;
      if (byte !== closerOf(objects)) return 0;
      at++;
      depth--;
      if (depth === 0) {
        store<u32>(marks, cursor, MARKS_CURSOR);
        return at;
      }
      objects =
        (depth & 63) === 0 ? load<u64>(scratch + ((<usize>(depth >> 6)) << 3) - 8) : objects >>> 1;
    }
    at = skipSpace(at + 1, end);
    isEmpty = false;
  }
}

/** The byte that ends the innermost of the containers. */
function closerOf(objects: u64): i32 {
  return (objects & 1) !== 0 ? CLOSE_BRACE : CLOSE_BRACKET;
}
