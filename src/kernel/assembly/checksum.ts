/** The checksum of a table; src/kernel/checksum.ts defines it. */

import { BLOCK_BYTES, PRIME_1, PRIME_2, TURN } from '../checksum-layout';

/** One round of XXH32 in four lanes, with the words at `at`. */
function round(lanes: v128, at: usize): v128 {
  const sums = i32x4.add(lanes, i32x4.mul(v128.load(at), i32x4.splat(PRIME_2)));
  const turned = v128.or(i32x4.shl(sums, TURN), i32x4.shr_u(sums, 32 - TURN));
  return i32x4.mul(turned, i32x4.splat(PRIME_1));
}

/** Adds the blocks `from`–`end` to the lanes, which lie one after another at `lanes`. */
export function addBlocks(lanes: usize, from: usize, end: usize): void {
  // Each lane waits for its own last round, so eight vectors are under way at a time.
  let a = v128.load(lanes);
  let b = v128.load(lanes, 16);
  let c = v128.load(lanes, 32);
  let d = v128.load(lanes, 48);
  let e = v128.load(lanes, 64);
  let f = v128.load(lanes, 80);
  let g = v128.load(lanes, 96);
  let h = v128.load(lanes, 112);
  for (; from < end; from += BLOCK_BYTES) {
    a = round(a, from);
    b = round(b, from + 16);
    c = round(c, from + 32);
    d = round(d, from + 48);
    e = round(e, from + 64);
    f = round(f, from + 80);
    g = round(g, from + 96);
    h = round(h, from + 112);
  }
  v128.store(lanes, a);
  v128.store(lanes, b, 16);
  v128.store(lanes, c, 32);
  v128.store(lanes, d, 48);
  v128.store(lanes, e, 64);
  v128.store(lanes, f, 80);
  v128.store(lanes, g, 96);
  v128.store(lanes, h, 112);
}
