import {
  HOST_COUNTS_BYTES,
  MARGIN,
  QUERY_COUNTS,
  QUERY_SEEN,
  QUERY_SHARD_QUERIES,
} from './layout.js';
import { encodeQuery, type Query, queryBytes } from './query.js';
import type { QuerySettings } from './query-settings.js';

/** A table that a query asks: all of it, or one shard. */
export interface QueryTable {
  /** Address of the table. */
  readonly table: number;
  /** Number of a lower-case product token in the table, -1 if no robots.txt names it. */
  tokenNumber(token: string): number;
  /** Slots of the shards before this one, a multiple of 64. Default 0. */
  readonly firstSlot?: number;
}

const POINTER = 4;

/**
 * An upper bound of the bytes that `encodeShardQueries` writes.
 *
 * @param tables their number
 */
export function shardQueryBytes(settings: QuerySettings, tables: number): number {
  const { shards = 0, addsShard = false } = settings;
  if (shards === 0 || addsShard) return queryBytes(settings);
  return (tables + 1) * roomOf(settings) + POINTER * tables + MARGIN;
}

/** Bytes between two queries. */
function roomOf(settings: QuerySettings): number {
  return (queryBytes(settings) + 63) & ~63;
}

/**
 * Encodes a query for a table in one piece or in shards. The first query is the run's; for a table
 * in shards, the addresses of the shards' queries follow it, and then those queries. The address is
 * 0 for a shard that is not in memory.
 *
 * @param tables the table, or all its shards in order; `settings.shards` is their number then
 * @throws RobotsFilterError as `encodeQuery`
 */
export function encodeShardQueries(
  settings: QuerySettings,
  address: number,
  tables: readonly (QueryTable | undefined)[],
): { query: Query; bytes: Uint8Array } {
  const first = tables.find((table) => table !== undefined);
  if (first === undefined) throw new Error('a query needs a table');
  const encode = (at: number, asked: QueryTable): { query: Query; bytes: Uint8Array } =>
    encodeQuery(settings, at, asked.table, (token) => asked.tokenNumber(token));
  const own = encode(address, first);
  const { shards = 0, addsShard = false } = settings;
  if (shards === 0 || addsShard) return own;
  if (tables.length !== shards) throw new Error(`${tables.length} tables for ${shards} shards`);
  const room = roomOf(settings);
  const bytes = new Uint8Array(shardQueryBytes(settings, shards));
  const view = new DataView(bytes.buffer);
  const firstQuery = room + ((POINTER * shards + 63) & ~63);
  bytes.set(own.bytes);
  view.setUint32(QUERY_SHARD_QUERIES, address + room, true);
  tables.forEach((table, shard) => {
    if (table === undefined) return;
    const at = firstQuery + shard * room;
    bytes.set(encode(address + at, table).bytes, at);
    view.setUint32(room + POINTER * shard, address + at, true);
    // The marks and the counters of all shards lie one after another.
    const { firstSlot = 0 } = table;
    const move = (field: number, distance: number): void => {
      const start = view.getUint32(at + field, true);
      if (start !== 0) view.setUint32(at + field, start + distance, true);
    };
    move(QUERY_SEEN, firstSlot / 8);
    move(QUERY_COUNTS, firstSlot * settings.agents.length * HOST_COUNTS_BYTES);
  });
  return { query: own.query, bytes };
}
