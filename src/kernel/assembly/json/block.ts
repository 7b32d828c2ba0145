/**
 * Sets of positions in a block of 64 bytes of JSON: a `u64` whose lowest bit is the first byte. The
 * set of escapes is that of simdjson (Langdale and Lemire, 2019).
 */

import { CLOSE_BRACE, LOWER_CASE_BIT, OPEN_BRACE, SPACE } from '../../../ascii';
import { positions, positionsOf, splat } from '../bytes/vectors';

/** The last byte before SPACE. */
const LAST_CONTROL: i32 = SPACE - 1;

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

/** The positions of a brace, and of the bracket that LOWER_CASE_BIT makes that brace. */
function bracketsOf(brace: i32, a: v128, b: v128, c: v128, d: v128): u64 {
  const lower = splat(LOWER_CASE_BIT);
  return positionsOf(
    brace,
    v128.or(a, lower),
    v128.or(b, lower),
    v128.or(c, lower),
    v128.or(d, lower),
  );
}

/** The positions of `[` and `{`. */
export function openersOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return bracketsOf(OPEN_BRACE, a, b, c, d);
}

/** The positions of `]` and `}`. */
export function closersOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return bracketsOf(CLOSE_BRACE, a, b, c, d);
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
