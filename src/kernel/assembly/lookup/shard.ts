/**
 * The shard of a host: CRC-32 of the canonical host, modulo the number of shards. Other systems
 * have that function too (docs/shards.md).
 */

import {
  LINE_HOST,
  LINE_HOST_BYTES,
  LINE_QUERY,
  LINE_SHARD,
  QUERY_CRC,
  QUERY_SHARD_QUERIES,
  QUERY_SHARDS,
} from '../../layout';

/**
 * Finds the shard of the line's host, and the query for the shard. Traps if the shard is not in
 * memory: its hosts must get no verdict.
 */
export function findShard(query: usize, line: usize): void {
  const shards: u32 = load<u32>(query, QUERY_SHARDS);
  if (shards === 0) return;
  const crc = crcOf(
    load<u32>(query, QUERY_CRC),
    load<u32>(line, LINE_HOST),
    load<u32>(line, LINE_HOST_BYTES),
  );
  const shard = crc % shards;
  store<u32>(line, shard, LINE_SHARD);
  const queries: usize = load<u32>(query, QUERY_SHARD_QUERIES);
  if (queries === 0) return;
  const own: usize = load<u32>(queries + ((<usize>shard) << 2));
  if (own === 0) unreachable();
  store<u32>(line, <u32>own, LINE_QUERY);
}

/** CRC-32 as in zlib, one byte after another: hosts are short. `table` has QUERY_CRC. */
function crcOf(table: usize, at: usize, bytes: usize): u32 {
  let crc: u32 = 0xffff_ffff;
  for (const end = at + bytes; at < end; at++) {
    const index = (crc ^ <u32>load<u8>(at)) & 0xff;
    crc = load<u32>(table + ((<usize>index) << 2)) ^ (crc >> 8);
  }
  return ~crc;
}
