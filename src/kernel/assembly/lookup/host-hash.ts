/**
 * The keyed hash that places a host in the table; the compiler uses it too (kernel/host-hash.ts).
 * Without the key nobody can choose hosts that collide: any two hosts have the same hash for at
 * most a share of 2^-30 of all keys.
 *
 * 1. The host is split into stripes of 16 bytes. Zeros, which no host has, fill the last stripe.
 * 2. A stripe is four words of 32 bits. The key has a word to add to each.
 * 3. In each stripe the first word is multiplied by the third, and the second by the fourth. All
 *    products are added up. (NH of UMAC, RFC 4418 section 5.2: two strings have the same sum for at
 *    most a share of 2^-32 of the keys.)
 * 4. The sum of 64 bits is multiplied by the key's odd factor. The upper half is the hash.
 */

import { HOST_KEY_FACTOR } from '../../../table/format';

const STRIPE_BYTES = 16;

/** The hash of a canonical host of at most MAX_HOST_BYTES bytes. Reads 15 bytes past its end. */
export function hashHost(key: usize, host: usize, bytes: i32): i32 {
  const order = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  let sums = i64x2.splat(0);
  let words = key;
  let rest = bytes;
  while (rest > STRIPE_BYTES) {
    sums = i64x2.add(sums, products(v128.load(words), v128.load(host)));
    words += STRIPE_BYTES;
    host += STRIPE_BYTES;
    rest -= STRIPE_BYTES;
  }
  const within = i8x16.gt_s(i8x16.splat(<i8>rest), order);
  sums = i64x2.add(sums, products(v128.load(words), v128.and(v128.load(host), within)));
  const sum = i64x2.extract_lane(sums, 0) + i64x2.extract_lane(sums, 1);
  return <i32>((sum * load<i64>(key, HOST_KEY_FACTOR)) >>> 32);
}

function products(key: v128, stripe: v128): v128 {
  const words = i32x4.add(key, stripe);
  return i64x2.extmul_low_i32x4_u(words, i32x4.shuffle(words, words, 2, 3, 2, 3));
}
