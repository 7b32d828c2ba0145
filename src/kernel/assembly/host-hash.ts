/**
 * The hash that places a host in the table; the compiler asks for it too (kernel/host-hash.ts). It
 * is keyed, and whoever does not know the key cannot choose hosts that collide: of any two hosts, a
 * share of at most 2^-30 of all keys gives one hash.
 *
 * A host is taken in stripes of 16 octets, the last filled up with zeros, which no host has. A
 * stripe is four words of 32 bits, to each of which the key has a word to be added; of each stripe
 * the first word is multiplied by the third, the second by the fourth, and all products are added
 * up (NH of UMAC, RFC 4418 section 5.2: of two strings at most a share of 2^-32 of the keys makes
 * one sum). The sum of 64 bits is multiplied by the key's odd factor; the upper half of the product
 * is the hash.
 */

import { HOST_KEY_FACTOR } from '../../compile/format';

const STRIPE_OCTETS = 16;

/** The hash of a canonical host, at most MAX_HOST_OCTETS octets. Reads 15 octets past its end. */
export function hashHost(key: usize, host: usize, octets: i32): i32 {
  const order = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  let sums = i64x2.splat(0);
  let words = key;
  let rest = octets;
  while (rest > STRIPE_OCTETS) {
    sums = i64x2.add(sums, products(v128.load(words), v128.load(host)));
    words += STRIPE_OCTETS;
    host += STRIPE_OCTETS;
    rest -= STRIPE_OCTETS;
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
