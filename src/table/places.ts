/** Where a host is in a table: its shard, its bucket, and its name in the record. */

import { crc32 } from 'node:zlib';
import {
  ENTRY_BYTES,
  ENTRY_BYTES_DATED,
  HOST_DATED,
  HOST_NUMBERED,
  HOST_NUMBERED_NAME,
  HOST_PLAIN,
  HOST_PLAIN_NAME,
  HOST_SEVERAL,
  HOST_SEVERAL_NAME,
} from './format.js';

/** The bucket where the search for a host with this hash begins: `hash * buckets >>> 32`. */
export function bucketOf(hash: number, buckets: number): number {
  return Math.floor((hash * buckets) / 0x1_0000_0000);
}

/** The tag of a host in its slot: the low half of the hash, or 1 if that half is 0. */
export function tagOf(hash: number): number {
  return hash & 0xffff || 1;
}

/** Where the name starts in a host record, by the form of the record. */
export const NAME_STARTS: Readonly<Record<number, number>> = {
  [HOST_PLAIN]: HOST_PLAIN_NAME,
  [HOST_NUMBERED]: HOST_NUMBERED_NAME,
  [HOST_SEVERAL]: HOST_SEVERAL_NAME,
  [HOST_DATED]: HOST_SEVERAL_NAME,
};

/** Bytes of each authority's entry in a host record of this form. */
export function entryBytesOf(form: number): number {
  return form === HOST_DATED ? ENTRY_BYTES_DATED : ENTRY_BYTES;
}

/** Most shards of a table. */
export const MAX_SHARDS = 4096;

/**
 * The shard of a host: CRC-32 of the host, modulo the number of shards. All authorities of a host
 * share a shard. Spark SQL, Python and DuckDB have the same function (docs/shards.md).
 *
 * @param host in canonical form: see `canonicalHost`
 */
export function shardOf(host: string | Uint8Array, shards: number): number {
  return crc32(host) % shards;
}
