/** A table in the memory in which the kernel judges: in one piece, or in shards. */

import { checksum } from '../kernel/hashes.js';
import { Arena, createMemory } from '../kernel/kernel.js';
import { LAST_TIME } from '../kernel/layout.js';
import type { QueryTable } from '../kernel/query.js';
import type { Profile } from '../protocol/verdict.js';
import { checkHeader, damagedTable, SECTION_NAMES, type TableHeader } from '../table/check.js';
import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  CACHE_LINE_BYTES,
  HEADER_BUCKETS,
  HEADER_BYTES,
  HEADER_SECTIONS,
  SECTION_BUCKETS,
  TAIL_BYTES,
  VERSION_WITHOUT_HISTORIES,
} from '../table/format.js';
import type { Manifest } from '../table/manifest.js';
import { SHARD_SPAN, ShardView } from '../view/shard-view.js';
import { TableView } from '../view/table-view.js';

/** Address of a table in its memory; not 0, which means "none" to the kernel. */
export const TABLE_ADDRESS = 1024;

/** A range of the shards of a table. */
export interface PartRange {
  readonly first: number;
  readonly last: number;
}

/** How a table in shards is read. */
export interface TableReading {
  /** The shards that are read; hosts of others must not be asked. Default: all. */
  readonly parts?: PartRange | undefined;
  /** Canonical hosts: only their shards are read. Default: all. */
  readonly hosts?: readonly string[] | undefined;
  /** Finds the shards that are read, once the manifest is known; undefined for all. */
  readonly choose?: ((manifest: Manifest) => Promise<ReadonlySet<number> | undefined>) | undefined;
  /** Greatest number of bytes of shards in one memory. Default BANK_BYTES. */
  readonly bankBytes?: number | undefined;
}

/** The usual `bankBytes`. Beside the shards there must be room for batches. */
export const BANK_BYTES = 7 * 2 ** 29;

/** The `bankBytes` with which all shards must lie in one memory. */
export const ONE_BANK = Number.POSITIVE_INFINITY;

/** One shard of a table in its memory. */
export interface PlacedShard {
  /** The memory in which it lies. */
  readonly arena: Arena;
  /** Its address there. */
  readonly table: number;
  readonly header: TableHeader;
  readonly view: ShardView;
}

/** A memory that holds a table, or some shards of it. */
export interface Bank {
  readonly arena: Arena;
  /** The shards in it, in order. */
  readonly shards: readonly PlacedShard[];
  /** Slots of all shards before it, and slots of its own. */
  readonly firstSlot: number;
  readonly slots: number;
}

/** The memory of a table, as a run needs it. */
export interface TableMemory {
  /** Where batches lie; also the table, unless it lies in several banks. */
  readonly arena: Arena;
  /** The header; for a table in shards the sums of their headers. */
  readonly header: TableHeader;
  readonly view: TableView;
  /** Hosts of the whole table, also of shards that are not in memory. */
  readonly hosts: number;
  /** Slots of all buckets. */
  readonly slots: number;
  /** The shards in order, at least one. Undefined for a shard that is not in memory. */
  readonly shards: readonly (PlacedShard | undefined)[];
  /** The memories of the shards, in order: several if one has no room for all. */
  readonly banks: readonly Bank[];
  /** The time for which the table answers, in seconds since 1970. Default: the newest counts. */
  readonly time?: number | undefined;
}

/** Whether a table keeps the robots.txt files that were in force before. */
export function hasHistories({ header }: Pick<TableMemory, 'header'>): boolean {
  return header.version > VERSION_WITHOUT_HISTORIES;
}

/**
 * Seconds since 1970 in which a table is asked: a time before 1970 comes before every capture, and
 * one after 2106 after all of them.
 */
export function secondsOfTime(milliseconds: number): number {
  return Math.min(Math.max(Math.floor(milliseconds / 1000), 0), LAST_TIME);
}

/** Seconds of a day. */
const DAY = 86_400;

/** The seconds of an age in days, as `QuerySettings.maxAge` has them. */
export function secondsOfDays(days: number): number {
  return DAY * days;
}

/**
 * The table as it answers for a time: each authority has the robots.txt that was in force then. Its
 * memory is the same.
 *
 * @param time in seconds since 1970
 */
export function tableAt(table: TableMemory, time: number): TableMemory {
  return { ...table, view: table.view.at(time), time };
}

/** The table of some shards; those that share a memory follow one another. */
export function tableOfShards(
  shards: TableMemory['shards'],
  name: string,
  { header, hosts }: Pick<TableMemory, 'header' | 'hosts'>,
): TableMemory {
  const banks: Bank[] = [];
  const placed = shards.filter((shard) => shard !== undefined);
  for (const arena of new Set(placed.map((shard) => shard.arena))) {
    const own = placed.filter((shard) => shard.arena === arena);
    const slots = own.reduce((sum, shard) => sum + slotsOf(shard.header), 0);
    banks.push({ arena, shards: own, firstSlot: own[0]?.view.firstSlot ?? 0, slots });
  }
  const [first] = banks as [Bank];
  return {
    arena: banks.length === 1 ? first.arena : new Arena(createMemory(TABLE_ADDRESS + HEADER_BYTES)),
    header,
    view: new TableView(
      shards.map((shard) => shard?.view),
      name,
    ),
    hosts,
    slots: banks.reduce((sum, { slots }) => sum + slots, 0),
    shards,
    banks,
  };
}

/** The slots of a shard, rounded so that the marks of the next shard begin at a whole word. */
export function slotsOf({ buckets }: TableHeader): number {
  return Math.ceil((buckets * BUCKET_SLOTS) / SLOT_STEP) * SLOT_STEP;
}

const SLOT_STEP = 64;

/** The offset by which the view of a table knows an address in one of its memories. */
export function offsetInTable({ shards }: Bank, address: number): number {
  const placed = shards.findLast(({ table }) => table <= address) ?? (shards[0] as PlacedShard);
  return address - placed.table + placed.view.shard * SHARD_SPAN;
}

/**
 * All shards as the queries in a bank name them. In place of each shard of another bank one of its
 * own stands, which knows none of its hosts. Undefined for a shard that is in no memory.
 */
export function queryTablesIn(
  { arena, shards, firstSlot }: Bank,
  all: TableMemory['shards'],
): readonly (QueryTable | undefined)[] {
  return all.map((shard) => {
    if (shard === undefined) return undefined;
    const own = shard.arena === arena ? shard : (shards[0] as PlacedShard);
    return {
      table: own.table,
      firstSlot: own.view.firstSlot - firstSlot,
      tokenNumber: (token) => own.view.tokenNumber(token),
    };
  });
}

/**
 * Checks a table that lies at TABLE_ADDRESS of a memory.
 *
 * @param checksum the checksum of the bytes, if the caller knows it
 * @throws RobotsFilterError `table` as `checkTable`
 */
export function placedTable(
  memory: WebAssembly.Memory,
  length: number,
  name: string,
  checksum?: number,
): TableMemory {
  const bytes = new Uint8Array(memory.buffer, TABLE_ADDRESS, length);
  return onlyShard(memory, bytes, name, checkTable(bytes, name, checksum));
}

/** The table that is one shard, at TABLE_ADDRESS of a memory. */
function onlyShard(
  memory: WebAssembly.Memory,
  bytes: Uint8Array,
  name: string,
  header: TableHeader,
): TableMemory {
  const view = new ShardView(bytes, name);
  const shard = { arena: new Arena(memory), table: TABLE_ADDRESS, header, view };
  return tableOfShards([shard], name, { header, hosts: header.hosts });
}

/** The memories that `allocateTable` made and `placeTable` has not used yet, by their buffers. */
const unusedMemories = new WeakMap<ArrayBufferLike, WebAssembly.Memory>();

/** Allocates memory for a table that `placeTable` can use without a copy. */
export function allocateTable(bytes: number): Uint8Array {
  const memory = createMemory(TABLE_ADDRESS + bytes + TAIL_BYTES);
  unusedMemories.set(memory.buffer, memory);
  return new Uint8Array(memory.buffer, TABLE_ADDRESS, bytes);
}

/**
 * Places the bytes of a table in a memory, and checks them. Copies the bytes unless they lie in
 * memory of `allocateTable`; in that case they must not change afterwards.
 *
 * @throws RobotsFilterError `table` as `checkTable`
 */
export function placeTable(bytes: Uint8Array, name = 'the table'): TableMemory {
  const unused = unusedMemories.get(bytes.buffer);
  // A memory is used once, because the space beside its table has one owner.
  unusedMemories.delete(bytes.buffer);
  if (unused !== undefined) return placedTable(unused, bytes.length, name);
  const memory = createMemory(TABLE_ADDRESS + bytes.length + TAIL_BYTES);
  new Uint8Array(memory.buffer).set(bytes, TABLE_ADDRESS);
  return placedTable(memory, bytes.length, name);
}

/** A table without hosts, for runs that ask only for shards: a header, and one bucket, empty. */
export function emptyTable(profile: Profile): TableMemory {
  const start = Math.ceil(HEADER_BYTES / CACHE_LINE_BYTES) * CACHE_LINE_BYTES;
  const end = start + BUCKET_BYTES;
  const memory = createMemory(TABLE_ADDRESS + end + TAIL_BYTES);
  const bytes = new Uint8Array(memory.buffer, TABLE_ADDRESS, end);
  const words = new DataView(memory.buffer, TABLE_ADDRESS, HEADER_BYTES);
  words.setUint32(HEADER_BUCKETS, 1, true);
  words.setUint32(HEADER_SECTIONS + 4 * SECTION_BUCKETS, start, true);
  const sections = SECTION_NAMES.map((section) => [section, { start, end }]);
  return onlyShard(memory, bytes, 'the table', {
    version: VERSION_WITHOUT_HISTORIES,
    profile,
    length: end,
    checksum: 0,
    reduced: false,
    signals: false,
    records: false,
    hosts: 0,
    authorities: 0,
    robots: 0,
    automata: 0,
    rules: 0,
    tokens: 0,
    buckets: 1,
    longestProbe: 0,
    compiledBytes: 0,
    sections: Object.fromEntries(sections) as TableHeader['sections'],
  });
}

/**
 * Checks that bytes are a whole, undamaged table of this version, and reads its header.
 *
 * @param name the name of the table in messages, such as its path
 * @param computed the checksum of the bytes, if the caller knows it
 * @throws RobotsFilterError `table` if the table is foreign, of another version, truncated or
 *   damaged
 */
export function checkTable(bytes: Uint8Array, name: string, computed?: number): TableHeader {
  const header = checkHeader(bytes, bytes.length, name, () => computed ?? checksum(bytes));
  for (let at = header.length - TAIL_BYTES; at < header.length; at++) {
    if (bytes[at] !== 0) {
      throw damagedTable(name, `byte ${at}, after its last section, is not zero`);
    }
  }
  return header;
}
