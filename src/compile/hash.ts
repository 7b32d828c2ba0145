/**
 * The hash that places a host in the table. Compiled by both the TypeScript and the AssemblyScript
 * compiler, so that builder and kernel run the same lines; a product with a factor below 2^20 is exact in either.
 *
 * A host is hashed in stripes of 16 octets, the last filled up with zeros. Each stripe is four little-endian words,
 * one for each of four lanes, which all begin with the seed: `lane = mix(lane, word)`. `finish` folds the lanes and the
 * number of octets into one. The kernel keeps the lanes in a vector. The seed is the builder's choice, which nobody can
 * foresee who does not know all the hosts (host-slots.ts).
 */

/** Factor and rotation of `mix`. */
export const MIX_FACTOR = 0x9e377;
export const MIX_ROTATION = 15;

/** Octets of a stripe. */
export const STRIPE_OCTETS = 16;

/** Stirs a word into a lane. */
export function mix(lane: i32, word: i32): i32 {
  const product = ((lane ^ word) * MIX_FACTOR) | 0;
  return (product << MIX_ROTATION) | (product >>> (32 - MIX_ROTATION));
}

/** Ends the hash of so many octets. Its high bits, which choose the slot, depend on all others. */
export function finish(octets: i32, lane0: i32, lane1: i32, lane2: i32, lane3: i32): i32 {
  let h = mix(mix(mix(mix(octets, lane0), lane1), lane2), lane3);
  h = ((h ^ (h >>> 15)) * 0x85ebd) | 0;
  h = ((h ^ (h >>> 13)) * 0xc2b2b) | 0;
  return h ^ (h >>> 16);
}
