/**
 * The bucket where the search for a host with this hash begins: `hash * buckets >>> 32`. In a file
 * of its own since whoever opens a table needs it, and what places hosts into buckets loads
 * node:crypto: 3 ms.
 */
export function home(hash: number, buckets: number): number {
  return Math.floor((hash * buckets) / 0x1_0000_0000);
}

/** What a slot says of the hash of its host: the low half, 1 in place of 0. */
export function tagOf(hash: number): number {
  return hash & 0xffff || 1;
}
