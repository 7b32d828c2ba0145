/** The bucket where the search for a host with this hash begins: `hash * buckets >>> 32`. */
export function bucketOf(hash: number, buckets: number): number {
  return Math.floor((hash * buckets) / 0x1_0000_0000);
}

/** The tag of a host in its slot: the low half of the hash, or 1 if that half is 0. */
export function tagOf(hash: number): number {
  return hash & 0xffff || 1;
}
