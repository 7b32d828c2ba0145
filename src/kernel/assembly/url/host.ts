/** The canonical form of a host. */

import { DIGIT_0, DOT, HYPHEN, LOWER_CASE_BIT, UPPER_A } from '../../../ascii';
import { MAX_HOST_BYTES } from '../../../table/format';
import { isDigit } from '../bytes/characters';
import { isInNoClass } from '../bytes/vectors';
import { canonicalHost } from './environment';

/**
 * The length of the host that begins at `host` and ends at `end` at the latest, if the host is
 * canonical as it stands; otherwise 0. Reads 32 bytes past `end`.
 *
 * A plain host has 1 to 255 bytes `a–z 0–9 - . _`, no final dot, and no `--`, which an A-label to
 * be checked may hold. Its last label does not begin with a digit, unless the whole host is a
 * dotted quad.
 */
export function plainHostBytes(host: usize, end: usize): usize {
  const low = i8x16(10, 14, 14, 14, 14, 14, 14, 14, 14, 14, 12, 4, 4, 5, 5, 20);
  const high = i8x16(0, 0, 1, 2, 0, 16, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
  let at = host;
  let label = host;
  let dash: u32 = 0;
  while (true) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const others =
      i8x16.bitmask(isInNoClass(low, high, a)) | (i8x16.bitmask(isInNoClass(low, high, b)) << 16);
    let bytes = <usize>ctz(others);
    if (bytes > end - at) bytes = end - at;
    const within = <u32>(((<u64>1) << (<u64>bytes)) - 1);
    const dots: u32 = within & positionsOf(DOT, a, b);
    const dashes: u32 = within & positionsOf(HYPHEN, a, b);
    if ((dashes & ((dashes << 1) | dash)) !== 0) return 0;
    dash = dashes >> 31;
    if (dots !== 0) label = at + 32 - <usize>clz(dots);
    at += bytes;
    if (bytes < 32) break;
  }
  if (label === at || at === host || <i32>(at - host) > MAX_HOST_BYTES) return 0;
  return !isDigit(load<u8>(label)) || isDottedQuad(host, at) ? at - host : 0;
}

function positionsOf(byte: i32, a: v128, b: v128): u32 {
  const wanted = i8x16.splat(<i8>byte);
  return i8x16.bitmask(i8x16.eq(a, wanted)) | (i8x16.bitmask(i8x16.eq(b, wanted)) << 16);
}

/** Four decimal numbers up to 255 without leading zeros: an IPv4 address in canonical form. */
function isDottedQuad(at: usize, end: usize): bool {
  for (let labels = 1; labels <= 4; labels++) {
    const start = at;
    let value = 0;
    while (at < end && isDigit(load<u8>(at)) && at - start < 4) {
      value = value * 10 + (<i32>load<u8>(at) - DIGIT_0);
      at++;
    }
    if (at === start || value > 255 || (load<u8>(start) === DIGIT_0 && at - start > 1))
      return false;
    if (at === end) return labels === 4;
    if (load<u8>(at) !== DOT) return false;
    at++;
  }
  return false;
}

/**
 * Writes the canonical form of any host to `to`, which has HOST_SPACE bytes; returns its length, or
 * -1 for no host. Plain names in ASCII are lower-cased here; the environment does the others.
 */
export function canonicaliseHost(from: usize, bytes: i32, to: usize): i32 {
  if (bytes <= MAX_HOST_BYTES) {
    for (let i = 0; i < bytes; i++) {
      const byte: i32 = load<u8>(from + i);
      store<u8>(to + i, <u32>(byte - UPPER_A) < 26 ? byte | LOWER_CASE_BIT : byte);
    }
    if (plainHostBytes(to, to + bytes) === <usize>bytes) return bytes;
  }
  return canonicalHost(from, bytes, to);
}
