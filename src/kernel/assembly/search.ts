/**
 * Finding octets in octets, in linear time. All functions may read 64 octets past the end that they
 * are given.
 */

import { positions } from './vectors';

/**
 * Whether `octets` octets at `a` and `b` are equal. Up to 32 are compared without a branch on how
 * many they are.
 */
export function equal(a: usize, b: usize, octets: i32): bool {
  while (octets > 32) {
    if (difference(a, b) !== 0) return false;
    a += 32;
    b += 32;
    octets -= 32;
  }
  return (<u64>difference(a, b) & (((<u64>1) << (<u64>octets)) - 1)) === 0;
}

/** The positions among 32 octets at which `a` and `b` differ. */
function difference(a: usize, b: usize): u32 {
  const low = i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b)));
  const high = i8x16.bitmask(i8x16.eq(v128.load(a, 16), v128.load(b, 16)));
  return ~(low | (high << 16));
}

/** The first address in `from`–`end` that holds the octet; `end` if there is none. */
export function findOctet(octet: i32, from: usize, end: usize): usize {
  const wanted = i8x16.splat(<i8>octet);
  // Lines are some hundred octets long: 64 at a time halve the cost of cutting them.
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

/** Up to so many octets a candidate is verified by one vector comparison: no work to bound. */
const ONE_COMPARISON = 16;
/**
 * Octets that verifying candidates may cost before the search turns to `twoWay`, beside eight for
 * each octet searched.
 */
const VERIFICATION_ALLOWANCE = 1024;

/**
 * The first occurrence of `needle` in `from`–`end`, 0 if there is none. Sixty-four positions at a
 * time are compared with its first and last octet; what passes is verified. Linear: verification is
 * one comparison for short needles, and for others its cost is counted and at worst `twoWay` takes
 * over.
 */
export function find(needle: usize, octets: i32, from: usize, end: usize): usize {
  if (<isize>(end - from) < <isize>octets) return 0;
  const first = i8x16.splat(load<i8>(needle));
  const last = i8x16.splat(load<i8>(needle + octets - 1));
  const final = end - octets;
  let allowance: isize = VERIFICATION_ALLOWANCE;
  for (let at = from; at <= final; at += 64) {
    const tail = at + octets - 1;
    let candidates = positions(
      bothAt(at, first, tail, last),
      bothAt(at + 16, first, tail + 16, last),
      bothAt(at + 32, first, tail + 32, last),
      bothAt(at + 48, first, tail + 48, last),
    );
    if (final - at < 63) candidates &= ((<u64>2) << (<u64>(final - at))) - 1;
    while (candidates !== 0) {
      const candidate = at + <usize>ctz(candidates);
      if (equal(needle, candidate, octets)) return candidate;
      if (octets > ONE_COMPARISON) {
        allowance -= octets;
        if (allowance < 0) return twoWay(needle, octets, candidate, end);
      }
      candidates &= candidates - 1;
    }
    allowance += 512;
  }
  return 0;
}

/** The positions among 16 at which one octet stands at `a`, and another at `b`. */
function bothAt(a: usize, first: v128, b: usize, second: v128): i32 {
  return i8x16.bitmask(v128.and(i8x16.eq(v128.load(a), first), i8x16.eq(v128.load(b), second)));
}

/** Second result of `maximalSuffix`: the period of the suffix. */
let period: i32 = 0;

/**
 * Start, less one, of the maximal suffix of the needle under the order of octets or its reverse.
 */
function maximalSuffix(needle: usize, octets: i32, reversed: bool): i32 {
  let start = -1;
  let j = 0;
  let k = 1;
  period = 1;
  while (j + k < octets) {
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
 * The Two-Way algorithm (Crochemore and Perrin, 1991): the needle is cut at a critical
 * factorisation, its right part is compared from left to right, then its left part. At most two
 * comparisons for each octet searched, no memory.
 */
function twoWay(needle: usize, octets: i32, from: usize, end: usize): usize {
  const ordered = maximalSuffix(needle, octets, false);
  const orderedPeriod = period;
  const reversed = maximalSuffix(needle, octets, true);
  const cut = max(ordered, reversed);
  let step = ordered > reversed ? orderedPeriod : period;
  const periodic = step + cut + 1 <= octets && equal(needle, needle + step, cut + 1);
  if (!periodic) step = max(cut + 1, octets - cut - 1) + 1;
  const final = end - octets;
  // With a periodic needle: how much of it, less one, is known to match after a shift by the
  // period.
  let known = -1;
  while (from <= final) {
    let i = max(cut, known) + 1;
    while (i < octets && load<u8>(needle + i) === load<u8>(from + i)) i++;
    if (i < octets) {
      from += i - cut;
      known = -1;
      continue;
    }
    i = cut;
    while (i > known && load<u8>(needle + i) === load<u8>(from + i)) i--;
    if (i <= known) return from;
    from += step;
    if (periodic) known = octets - step - 1;
  }
  return 0;
}
