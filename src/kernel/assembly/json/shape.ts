/**
 * Remembers which members were skipped. The records of one source mostly differ only in their
 * values, so the roles of the bytes after the URL repeat. Then the roles are compared with the
 * remembered roles instead of analysed again; every byte is still read. (Mison speculates in this
 * way on the places of fields: Li et al., VLDB 2017.)
 *
 * The last 64 roles are remembered for each number of bytes before the first byte that ends all
 * skipping, usually the newline. Layout: SHAPE_… in layout.ts.
 */

import { SHAPE_BYTES, SHAPE_PLACES, SHAPE_ROLES, SHAPE_SKIPPED, WORKER_SHAPES } from '../../layout';
import { positions } from '../bytes/vectors';

/** The shape for `plain` bytes, 0 to 64, before the first byte that ends all skipping. */
export function shapeAt(worker: usize, plain: i64): usize {
  return worker + WORKER_SHAPES + <usize>plain * SHAPE_BYTES;
}

/**
 * How many of 64 bytes with these roles can be skipped; 0 if the roles differ from the remembered
 * roles.
 */
export function recall(shape: usize, a: v128, b: v128, c: v128, d: v128): usize {
  const alike = positions(
    i8x16.bitmask(i8x16.eq(a, v128.load(shape, SHAPE_ROLES))),
    i8x16.bitmask(i8x16.eq(b, v128.load(shape, SHAPE_ROLES + 16))),
    i8x16.bitmask(i8x16.eq(c, v128.load(shape, SHAPE_ROLES + 32))),
    i8x16.bitmask(i8x16.eq(d, v128.load(shape, SHAPE_ROLES + 48))),
  );
  const differs = (load<u64>(shape, SHAPE_PLACES) & ~alike) !== 0;
  return select(0, load<u32>(shape, SHAPE_SKIPPED), differs);
}

/** Remembers that of 64 bytes with these roles the first `skipped`, up to 63, can be skipped. */
export function remember(shape: usize, a: v128, b: v128, c: v128, d: v128, skipped: i64): void {
  v128.store(shape, a, SHAPE_ROLES);
  v128.store(shape, b, SHAPE_ROLES + 16);
  v128.store(shape, c, SHAPE_ROLES + 32);
  v128.store(shape, d, SHAPE_ROLES + 48);
  store<u64>(shape, ((<u64>2) << skipped) - 1, SHAPE_PLACES);
  store<u32>(shape, <u32>skipped, SHAPE_SKIPPED);
}
