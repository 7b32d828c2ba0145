/** Searching bytes in linear time. All functions may read 64 bytes past `end`. */

import { DIGIT_0, LOWER_A, LOWER_CASE_BIT, SPACE, UPPER_A } from '../../base/ascii';

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

// ---- Sixteen bytes at a time

/**
 * A set of positions among 64 bytes, the first position in the lowest bit, from the masks that
 * `i8x16.bitmask` gives for their four vectors.
 */
export function positions(a: i32, b: i32, c: i32, d: i32): u64 {
  return <u64>(<u32>(a | (b << 16))) | ((<u64>(<u32>(c | (d << 16)))) << 32);
}

/**
 * -1 for each of 16 bytes that is in no class of two tables, 0 for the others. A byte is in a class
 * if the entries of its two halves share the class's bit.
 */
export function isInNoClass(low: v128, high: v128, bytes: v128): v128 {
  const half = i8x16.splat(15);
  return i8x16.eq(
    v128.and(
      i8x16.swizzle(low, v128.and(bytes, half)),
      i8x16.swizzle(high, v128.and(i16x8.shr_u(bytes, 4), half)),
    ),
    i8x16.splat(0),
  );
}

/** Sixteen copies of a byte. */
export function splat(byte: i32): v128 {
  return i8x16.splat(<i8>byte);
}

/** The positions of a byte among 64. */
export function positionsOf(byte: i32, a: v128, b: v128, c: v128, d: v128): u64 {
  const wanted = splat(byte);
  return positions(
    i8x16.bitmask(i8x16.eq(a, wanted)),
    i8x16.bitmask(i8x16.eq(b, wanted)),
    i8x16.bitmask(i8x16.eq(c, wanted)),
    i8x16.bitmask(i8x16.eq(d, wanted)),
  );
}

/**
 * The positions from each opening quote up to its closing quote, exclusive: a prefix XOR, as in
 * simdjson (Langdale and Lemire, 2019).
 */
export function quotedIn(quotes: u64): u64 {
  quotes ^= quotes << 1;
  quotes ^= quotes << 2;
  quotes ^= quotes << 4;
  quotes ^= quotes << 8;
  quotes ^= quotes << 16;
  return quotes ^ (quotes << 32);
}

// ---- Classes of ASCII characters

export function isDigit(byte: i32): bool {
  return <u32>(byte - DIGIT_0) < 10;
}

export function isLetter(byte: i32): bool {
  return <u32>((byte | LOWER_CASE_BIT) - LOWER_A) < 26;
}

/** The URL Standard strips these characters from both ends of a URL. */
export function isControlOrSpace(byte: i32): bool {
  return byte <= SPACE;
}

/** The value of a hexadecimal digit, or -1. */
export function hexDigit(byte: i32): i32 {
  if (isDigit(byte)) return byte - DIGIT_0;
  const letter = (byte | LOWER_CASE_BIT) - LOWER_A;
  return <u32>letter < 6 ? letter + 10 : -1;
}

/** The digits `0` to `9` and `A` to `F`. */
export function upperHex(half: i32): i32 {
  return half < 10 ? DIGIT_0 + half : UPPER_A - 10 + half;
}

/** The digits `0` to `9` and `a` to `f`. */
export function lowerHex(half: i32): i32 {
  return half < 10 ? DIGIT_0 + half : LOWER_A - 10 + half;
}

// ---- Short texts as the number that one load gives: the first character is the lowest byte

export const HTTP: i32 = 0x70747468; // http // http
export const HTTPS: u64 = 0x7370747468; // https // https
export const FTP: i32 = 0x707466; // ftp // ftp
export const COLON_SLASH_SLASH: i32 = 0x2f2f3a; // :// // ://
export const UTC: i32 = 0x43545520; //  UTC
export const SLASH_SLASH: i32 = 0x2f2f; // // // //
export const TRUE: i32 = 0x65757274; // true // true
export const FALS: i32 = 0x736c6166; // fals // fals
export const NULL: i32 = 0x6c6c756e; // null // null
export const QUOTE_COLON: i32 = 0x3a22; // ": // ":
export const QUOTE_COMMA: i32 = 0x2c22; // ", // ",
export const QUOTE_BRACE: i32 = 0x7d22; // "} // "}
export const BACKSLASH_U: i32 = 0x755c; // \u // \u
export const BACKSLASH_U00: i32 = 0x3030755c; // \u00 // \u00
export const SLASH_ROB: i32 = 0x626f722f; // /rob // /rob
export const OTS_DOT: i32 = 0x2e73746f; // ots. // ots.
export const DOT_TXT: i32 = 0x7478742e; // .txt// ---- Copying bytes in vectors

/**
 * Copies bytes in vectors, at least `usual` of them: a fixed trip count for common lengths keeps
 * the loop's exit predictable. Reads and writes up to the next multiple of 64. Returns the end of
 * the copy.
 */
export function copy(from: usize, bytes: i32, to: usize, usual: i32): usize {
  let left = max(bytes, usual);
  let target = to;
  do {
    v128.store(target, v128.load(from));
    v128.store(target, v128.load(from, 16), 16);
    v128.store(target, v128.load(from, 32), 32);
    v128.store(target, v128.load(from, 48), 48);
    from += 64;
    target += 64;
    left -= 64;
  } while (left > 0);
  return to + bytes;
}

/** Copies a few bytes; reads and writes up to 31 more. Returns the end of the copy. */
export function copyShort(from: usize, bytes: i32, to: usize): usize {
  for (let i = 0; i < bytes; i += 32) {
    v128.store(to + i, v128.load(from + i));
    v128.store(to + i, v128.load(from + i, 16), 16);
  }
  return to + bytes;
}

/** Writes a number in decimal digits; returns its end. */
export function decimal(value: u64, to: usize): usize {
  let digits = 1;
  for (let rest = value; rest >= 10; rest /= 10) digits++;
  for (let i = digits - 1; i >= 0; i--) {
    store<u8>(to + i, DIGIT_0 + <i32>(value % 10));
    value /= 10;
  }
  return to + digits;
}
