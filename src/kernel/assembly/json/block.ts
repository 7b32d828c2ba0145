/**
 * Sets of positions in a block of 64 bytes of JSON: a `u64` whose lowest bit is the first byte. The
 * sets of escapes and strings are those of simdjson (Langdale and Lemire, 2019).
 */

import { CLOSE_BRACE, LOWER_CASE_BIT, OPEN_BRACE, SPACE } from '../../../ascii';
import { positions, splat } from '../bytes/vectors';

/** The last byte before SPACE. */
const LAST_CONTROL: i32 = SPACE - 1;

/** The positions of a byte. */
export function positionsOf(byte: i32, a: v128, b: v128, c: v128, d: v128): u64 {
  const wanted = splat(byte);
  return positions(
    i8x16.bitmask(i8x16.eq(a, wanted)),
    i8x16.bitmask(i8x16.eq(b, wanted)),
    i8x16.bitmask(i8x16.eq(c, wanted)),
    i8x16.bitmask(i8x16.eq(d, wanted)),
  );
}

/** The positions of the control characters. */
export function controlsOf(a: v128, b: v128, c: v128, d: v128): u64 {
  const most = splat(LAST_CONTROL);
  return positions(
    i8x16.bitmask(i8x16.le_u(a, most)),
    i8x16.bitmask(i8x16.le_u(b, most)),
    i8x16.bitmask(i8x16.le_u(c, most)),
    i8x16.bitmask(i8x16.le_u(d, most)),
  );
}

/** 0 for each `[` and `{`, 1 for `\` and `|`, 2 for `]` and `}`, more for the other bytes. */
function marks(bytes: v128): v128 {
  return i8x16.sub(v128.or(bytes, splat(LOWER_CASE_BIT)), splat(OPEN_BRACE));
}

/** -1 for each of `[`, `]`, `{` and `}`. */
function isBracket(bytes: v128): v128 {
  const lower = v128.or(bytes, splat(LOWER_CASE_BIT));
  return v128.or(i8x16.eq(lower, splat(OPEN_BRACE)), i8x16.eq(lower, splat(CLOSE_BRACE)));
}

/** The positions of `[`, `]`, `{` and `}`. */
export function bracketsOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return positions(
    i8x16.bitmask(isBracket(a)),
    i8x16.bitmask(isBracket(b)),
    i8x16.bitmask(isBracket(c)),
    i8x16.bitmask(isBracket(d)),
  );
}

/** The positions of `[` and `{`. */
export function openersOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return positionsOf(0, marks(a), marks(b), marks(c), marks(d));
}

/** The positions of `]` and `}`. */
export function closersOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return positionsOf(2, marks(a), marks(b), marks(c), marks(d));
}

/** Whether the block holds a byte. */
export function holds(byte: i32, a: v128, b: v128, c: v128, d: v128): bool {
  const wanted = splat(byte);
  return v128.any_true(
    v128.or(
      v128.or(i8x16.eq(a, wanted), i8x16.eq(b, wanted)),
      v128.or(i8x16.eq(c, wanted), i8x16.eq(d, wanted)),
    ),
  );
}

/** Whether the block holds a control character. */
export function holdsControl(a: v128, b: v128, c: v128, d: v128): bool {
  const least = i8x16.min_u(i8x16.min_u(a, b), i8x16.min_u(c, d));
  return v128.any_true(i8x16.le_u(least, splat(LAST_CONTROL)));
}

/** The positions from each opening quote up to its closing quote, exclusive. */
export function strings(quotes: u64): u64 {
  quotes ^= quotes << 1;
  quotes ^= quotes << 2;
  quotes ^= quotes << 4;
  quotes ^= quotes << 8;
  quotes ^= quotes << 16;
  return quotes ^ (quotes << 32);
}

const ODD: u64 = ((<u64>0xaaaaaaaa) << 32) | 0xaaaaaaaa;

/**
 * The backslashes that begin an escape. Bit 0 of `escaped` is set if the first byte is escaped by
 * the last byte of the block before.
 */
export function escapesOf(backslashes: u64, escaped: u64): u64 {
  const candidates = backslashes & ~escaped;
  // In a run of backslashes, subtraction leaves those at an even distance from its first.
  return ((((candidates << 1) | ODD) - candidates) ^ ODD) & backslashes;
}
