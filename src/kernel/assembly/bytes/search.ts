/** Searching bytes in linear time. All functions may read 64 bytes past `end`. */

import { positions } from './vectors';

/**
 * Whether `bytes` bytes at `a` and `b` are equal. Up to 32 are compared without a branch on their
 * number.
 */
export function equal(a: usize, b: usize, bytes: i32): bool {
  while (bytes > 32) {
    if (difference(a, b) !== 0) return false;
    a += 32;
    b += 32;
    bytes -= 32;
  }
  return (<u64>difference(a, b) & (((<u64>1) << (<u64>bytes)) - 1)) === 0;
}

/** The positions among 32 at which `a` and `b` differ. */
function difference(a: usize, b: usize): u32 {
  const low = i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b)));
  const high = i8x16.bitmask(i8x16.eq(v128.load(a, 16), v128.load(b, 16)));
  return ~(low | (high << 16));
}

/** The first address in `from`–`end` that holds the byte; `end` if there is none. */
export function findByte(byte: i32, from: usize, end: usize): usize {
  const wanted = i8x16.splat(<i8>byte);
  // Lines are about a hundred bytes long.
  while (end - from >= 64 && from < end) {
    const found = v128.or(
      v128.or(i8x16.eq(v128.load(from), wanted), i8x16.eq(v128.load(from, 16), wanted)),
      v128.or(i8x16.eq(v128.load(from, 32), wanted), i8x16.eq(v128.load(from, 48), wanted)),
    );
    if (v128.any_true(found)) break;
    from += 64;
  }
  while (from < end) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(from), wanted));
    if (found !== 0) {
      from += ctz(found);
      return from < end ? from : end;
    }
    from += 16;
  }
  return end;
}

/**
 * A needle of up to this many bytes is verified by one vector comparison, so its work is bounded.
 */
const ONE_COMPARISON = 16;
/**
 * Bytes that verifying candidates may cost before `twoWay` takes over. The allowance is granted
 * once at the start, and again for each 64 bytes searched.
 */
const VERIFICATION_ALLOWANCE = 1024;
const ALLOWANCE_OF_STEP = 512;

/**
 * Finds the first occurrence of `needle` in `from`–`end`; returns 0 if there is none. The needle's
 * first and last byte are compared at 64 positions at a time, and positions that pass are verified.
 * The search is linear: one comparison verifies a short needle. For a longer needle the cost is
 * counted, and at worst `twoWay` takes over.
 */
export function find(needle: usize, bytes: i32, from: usize, end: usize): usize {
  if (<isize>(end - from) < <isize>bytes) return 0;
  const first = i8x16.splat(load<i8>(needle));
  const last = i8x16.splat(load<i8>(needle + bytes - 1));
  const final = end - bytes;
  let allowance: isize = VERIFICATION_ALLOWANCE;
  for (let at = from; at <= final; at += 64) {
    const tail = at + bytes - 1;
    let candidates = positions(
      bothAt(at, first, tail, last),
      bothAt(at + 16, first, tail + 16, last),
      bothAt(at + 32, first, tail + 32, last),
      bothAt(at + 48, first, tail + 48, last),
    );
    if (final - at < 63) candidates &= ((<u64>2) << (<u64>(final - at))) - 1;
    while (candidates !== 0) {
      const candidate = at + <usize>ctz(candidates);
      if (equal(needle, candidate, bytes)) return candidate;
      if (bytes > ONE_COMPARISON) {
        allowance -= bytes;
        if (allowance < 0) return twoWay(needle, bytes, candidate, end);
      }
      candidates &= candidates - 1;
    }
    allowance += ALLOWANCE_OF_STEP;
  }
  return 0;
}

/** The positions among 16 with the byte `first` at `a` and the byte `second` at `b`. */
function bothAt(a: usize, first: v128, b: usize, second: v128): i32 {
  return i8x16.bitmask(v128.and(i8x16.eq(v128.load(a), first), i8x16.eq(v128.load(b), second)));
}

/** Second result of `maximalSuffix`: the period of the suffix. */
let period: i32 = 0;

/** The start of the needle's maximal suffix minus one, in the order of bytes or in its reverse. */
function maximalSuffix(needle: usize, bytes: i32, reversed: bool): i32 {
  let start = -1;
  let j = 0;
  let k = 1;
  period = 1;
  while (j + k < bytes) {
    const a: i32 = load<u8>(needle + j + k);
    const b: i32 = load<u8>(needle + start + k);
    if (a === b) {
      if (k !== period) {
        k++;
      } else {
        j += period;
        k = 1;
      }
    } else if (a < b !== reversed) {
      j += k;
      k = 1;
      period = j - start;
    } else {
      start = j;
      j = start + 1;
      k = 1;
      period = 1;
    }
  }
  return start;
}

/**
 * The Two-Way algorithm (Crochemore and Perrin, 1991). The needle is split at a critical
 * factorisation; its right part is compared from left to right, then its left part. At most two
 * comparisons for each byte searched, and no memory.
 */
function twoWay(needle: usize, bytes: i32, from: usize, end: usize): usize {
  const ordered = maximalSuffix(needle, bytes, false);
  const orderedPeriod = period;
  const reversed = maximalSuffix(needle, bytes, true);
  const split = max(ordered, reversed);
  let step = ordered > reversed ? orderedPeriod : period;
  const periodic = step + split + 1 <= bytes && equal(needle, needle + step, split + 1);
  if (!periodic) step = max(split + 1, bytes - split - 1) + 1;
  const final = end - bytes;
  // For a periodic needle: the number of bytes, minus one, that are known to match after a shift by
  // the period.
  let known = -1;
  while (from <= final) {
    let i = max(split, known) + 1;
    while (i < bytes && load<u8>(needle + i) === load<u8>(from + i)) i++;
    if (i < bytes) {
      from += i - split;
      known = -1;
      continue;
    }
    i = split;
    while (i > known && load<u8>(needle + i) === load<u8>(from + i)) i--;
    if (i <= known) return from;
    from += step;
    if (periodic) known = bytes - step - 1;
  }
  return 0;
}
