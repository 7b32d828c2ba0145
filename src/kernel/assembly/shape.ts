/**
 * What was skipped, remembered: the records of one source mostly differ in their values alone, so
 * that the roles of the octets behind the URL come again (Mison speculates in this way on where
 * fields lie: Li et al., VLDB 2017). Where they do, they need not be understood again; every octet
 * is still looked at.
 *
 * For each number of octets without an octet that ends all skipping, usually the newline, the last
 * such 64 octets are remembered. Layout, SHAPE_OCTETS each:
 *
 *      0 u8[64] roles of the octets        64 u64 set of the positions that were skipped, and that
 *                                          of the mark behind them
 *     72 u32 octets that were skipped, 0 where nothing is remembered
 */

import { WORKER_SHAPES } from '../layout';
import { positions } from './vectors';

const SHAPE_PLACES: usize = 64;
const SHAPE_SKIPPED: usize = 72;
const SHAPE_OCTETS: usize = 80;

/** Where the octets are remembered of which the first `plain`, 0 to 64, end no skipping. */
export function shapeAt(worker: usize, plain: i64): usize {
  return worker + WORKER_SHAPES + <usize>plain * SHAPE_OCTETS;
}

/**
 * How many of 64 octets with these roles can be skipped, as was found out before; 0 if it was not.
 */
export function recall(shape: usize, a: v128, b: v128, c: v128, d: v128): usize {
  const alike = positions(
    i8x16.bitmask(i8x16.eq(a, v128.load(shape))),
    i8x16.bitmask(i8x16.eq(b, v128.load(shape, 16))),
    i8x16.bitmask(i8x16.eq(c, v128.load(shape, 32))),
    i8x16.bitmask(i8x16.eq(d, v128.load(shape, 48))),
  );
  const differs = (load<u64>(shape, SHAPE_PLACES) & ~alike) !== 0;
  return select(0, load<u32>(shape, SHAPE_SKIPPED), differs);
}

/** Remembers that of 64 octets with these roles the first `skipped`, up to 63, can be skipped. */
export function remember(shape: usize, a: v128, b: v128, c: v128, d: v128, skipped: i64): void {
  v128.store(shape, a);
  v128.store(shape, b, 16);
  v128.store(shape, c, 32);
  v128.store(shape, d, 48);
  store<u64>(shape, ((<u64>2) << skipped) - 1, SHAPE_PLACES);
  store<u32>(shape, <u32>skipped, SHAPE_SKIPPED);
}
