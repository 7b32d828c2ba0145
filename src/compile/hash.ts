/**
 * The hash that places a host in the table. Compiled by both the TypeScript and the AssemblyScript
 * compiler, so that builder and kernel run the same lines: 32-bit additions, shifts and exclusive ors only.
 *
 * A host is hashed as little-endian words of four octets, the last filled up with zeros:
 * `finish(…mix(mix(seed, word0), word1)…, octets)`. The seed is the builder's choice, which nobody
 * can foresee who does not know all the hosts (host-slots.ts).
 */

/** Stirs one word of the host into the hash. */
export function mix(hash: i32, word: i32): i32 {
  let h = (hash ^ word) | 0;
  h = (h + (h << 10)) | 0;
  h = h ^ (h >>> 6);
  h = (h + (h << 3)) | 0;
  return (h << 13) | (h >>> 19);
}

/** Ends the hash with the host's length in octets. Full avalanche (Thomas Wang's 32-bit mix). */
export function finish(hash: i32, octets: i32): i32 {
  let h = (hash ^ octets) | 0;
  h = (~h + (h << 15)) | 0;
  h = h ^ (h >>> 12);
  h = (h + (h << 2)) | 0;
  h = h ^ (h >>> 4);
  h = (h + (h << 3) + (h << 11)) | 0;
  return h ^ (h >>> 16);
}
