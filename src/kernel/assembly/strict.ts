/** Whether a line is JSON by RFC 8259, octet by octet: what `--strict` adds to json.ts. */

import { hexDigit } from './octets';
import { claimScratch } from './scratch';

/** Address behind the literal, 0 if it does not stand here. `word` holds its first four octets. */
function literal(at: usize, end: usize, word: i32, octets: i32): usize {
  return <i32>(end - at) >= octets && load<i32>(at) === word ? at + octets : 0;
}

function digitsEnd(at: usize, end: usize): usize {
  while (at < end && <u32>load<u8>(at) - 0x30 < 10) at++;
  return at;
}

/** Address behind the number, 0 if none stands here. */
function numberEnd(at: usize, end: usize): usize {
  if (at < end && load<u8>(at) === 0x2d) at++;
  const integer = at;
  at = digitsEnd(at, end);
  if (at === integer || (load<u8>(integer) === 0x30 && at - integer > 1)) return 0;
  if (at < end && load<u8>(at) === 0x2e) {
    const fraction = ++at;
    at = digitsEnd(at, end);
    if (at === fraction) return 0;
  }
  if (at < end && (load<u8>(at) | 0x20) === 0x65) {
    at++;
    if (at < end && (load<u8>(at) === 0x2b || load<u8>(at) === 0x2d)) at++;
    const exponent = at;
    at = digitsEnd(at, end);
    if (at === exponent) return 0;
  }
  return at;
}

/** Address behind the string whose first quote is at `at`, 0 if it is none. */
function validStringEnd(at: usize, end: usize): usize {
  at++;
  while (at < end) {
    const octet: i32 = load<u8>(at++);
    if (octet === 0x22) return at;
    if (octet < 0x20) return 0;
    if (octet !== 0x5c) continue;
    if (at >= end) return 0;
    const letter: i32 = load<u8>(at++);
    if (letter === 0x75) {
      if (<isize>(end - at) < 4) return 0;
      for (let i = 0; i < 4; i++) if (hexDigit(load<u8>(at + i)) < 0) return 0;
      at += 4;
    } else if (
      letter !== 0x22 &&
      letter !== 0x5c &&
      letter !== 0x2f &&
      letter !== 0x62 &&
      letter !== 0x66 &&
      letter !== 0x6e &&
      letter !== 0x72 &&
      letter !== 0x74
    ) {
      return 0;
    }
  }
  return 0;
}

/** Address behind the number, string or literal at `at`, 0 if none stands here. */
function scalarEnd(at: usize, end: usize): usize {
  const octet: i32 = load<u8>(at);
  if (octet === 0x22) return validStringEnd(at, end);
  if (octet === 0x74) return literal(at, end, 0x65757274, 4);
  if (octet === 0x6e) return literal(at, end, 0x6c6c756e, 4);
  if (octet === 0x66)
    return load<u8>(end > at + 4 ? at + 4 : at) === 0x65 ? literal(at, end, 0x736c6166, 5) : 0;
  return numberEnd(at, end);
}

function spaceEnd(at: usize, end: usize): usize {
  while (at < end) {
    const octet: i32 = load<u8>(at);
    if (octet !== 0x20 && octet !== 0x09 && octet !== 0x0d && octet !== 0x0a) break;
    at++;
  }
  return at;
}

/**
 * Whether the line `at`–`end` is one JSON value. Open brackets are kept as bits in `scratch`, an
 * eighth of the line's octets: 1 for an object, 0 for an array.
 */
export function isJson(at: usize, end: usize, scratch: usize): bool {
  claimScratch(scratch, ((end - at) >> 3) + 1);
  let depth: usize = 0;
  at = spaceEnd(at, end);
  while (true) {
    // A value begins here.
    if (at >= end) return false;
    const octet: i32 = load<u8>(at);
    if (octet === 0x7b || octet === 0x5b) {
      const object = octet === 0x7b;
      const bits = scratch + (depth >> 3);
      const bit = 1 << (<i32>(depth & 7));
      store<u8>(bits, object ? <i32>load<u8>(bits) | bit : <i32>load<u8>(bits) & ~bit);
      depth++;
      at = spaceEnd(at + 1, end);
      if (at >= end) return false;
      if (load<u8>(at) === (object ? 0x7d : 0x5d)) {
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
      if (next === 0x2c) {
        at = spaceEnd(at, end);
        if (object) at = keyEnd(at, end);
        if (at === 0) return false;
        break;
      }
      if (next !== (object ? 0x7d : 0x5d)) return false;
      depth--;
    }
  }
}

/** Address of the value behind the key and colon at `at`, 0 if there is no key. */
function keyEnd(at: usize, end: usize): usize {
  if (at >= end || load<u8>(at) !== 0x22) return 0;
  at = validStringEnd(at, end);
  if (at === 0) return 0;
  at = spaceEnd(at, end);
  if (at >= end || load<u8>(at) !== 0x3a) return 0;
  return spaceEnd(at + 1, end);
}
