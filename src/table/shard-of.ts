import { crc32 } from 'node:zlib';

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
