import { RobotsFilterError } from './errors.js';
import { errorText } from './files/system-error.js';
import { systemRemedy } from './files/system-remedy.js';
import { SHARD_SPAN, TableView } from './inspect/table-view.js';
import { Arena } from './kernel/arena.js';
import { createMemory } from './kernel/kernel.js';
import type { QueryTable } from './kernel/shard-queries.js';
import { BUCKET_SLOTS, TAIL_BYTES } from './table/format.js';
import { checkTable, type TableHeader } from './table/table-check.js';

/** Address of a table in its memory; not 0, which means "none" to the kernel. */
export const TABLE_ADDRESS = 1024;

/** A range of the shards of a table. */
export interface PartRange {
  readonly first: number;
  readonly last: number;
}

/** One shard of a table in its memory. */
export interface PlacedShard {
  /** Address of the shard's table. */
  readonly table: number;
  readonly header: TableHeader;
  readonly view: TableView;
  /** Slots of the shards before this one, a multiple of 64. */
  readonly firstSlot: number;
}

/** The memory of a table, as a run needs it. */
export interface TableMemory {
  readonly arena: Arena;
  /** Address of the table, or of its first shard. */
  readonly table: number;
  /** The header; for a table in shards the sums of their headers. */
  readonly header: TableHeader;
  readonly view: TableView;
  /** Slots of all buckets. */
  readonly slots: number;
  /** The shards in order; none if the table is in one piece. */
  readonly shards: readonly PlacedShard[];
}

/** The offset by which the view of a table knows an address in it. */
export function offsetInTable({ table, shards }: TableMemory, address: number): number {
  const shard = shards.findLastIndex((placed) => placed.table <= address);
  const placed = shards[shard];
  return placed === undefined ? address - table : address - placed.table + shard * SHARD_SPAN;
}

/** A shard as queries name it. */
export function queryTableOf({ table, view, firstSlot }: PlacedShard): QueryTable {
  return { table, firstSlot, tokenNumber: (token) => view.tokenNumber(token) };
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
  const header = checkTable(bytes, name, checksum);
  return {
    arena: new Arena(memory),
    table: TABLE_ADDRESS,
    header,
    view: new TableView(bytes, name),
    slots: header.buckets * BUCKET_SLOTS,
    shards: [],
  };
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

/** The error for a table that cannot be read. */
export function unreadable(path: string, cause: unknown): RobotsFilterError {
  const remedy =
    systemRemedy(cause, 'read') ?? `cannot be read (${errorText(cause)}). Copy the table again`;
  return new RobotsFilterError('input', `${path}: ${remedy}`, { cause });
}
