import { QUERY_COLUMN, QUERY_ROW_FIELDS } from '../kernel/layout.js';
import { kernelModule } from '../kernel/module.js';
import type { QuerySettings } from '../kernel/query-settings.js';
import { encodeShardQueries, type QueryTable, shardQueryBytes } from '../kernel/shard-queries.js';
import { type Bank, banksOf, queryTablesIn, type TableMemory } from '../table-memory.js';
import type { Executor } from '../workers/executor.js';
import type { BadRecord, RecordUnit } from './bad-record.js';
import { bankOfShard, type PlacedQuery, placeDivider } from './bank-regions.js';
import type { CountedBlocks } from './counted-blocks.js';
import { Flow } from './flow.js';

/** What a stage is made of. */
export interface StageOptions {
  readonly table: TableMemory;
  readonly pool: Executor;
  /** The settings of the query in each bank. */
  readonly settingsIn: (bank: Bank) => QuerySettings;
  readonly unit: RecordUnit;
  readonly batchBytes: number | undefined;
  readonly onBadRecord: (record: BadRecord) => void;
}

/** The queries for inputs of one format, in memory, and the flow that carries them out. */
export class Stage {
  readonly flow: Flow;
  readonly #queries: PlacedQuery[];

  /** @throws RobotsFilterError `limit` if the batches do not fit beside the table */
  constructor({ table, pool, settingsIn, unit, batchBytes, onBadRecord }: StageOptions) {
    const banks = banksOf(table);
    const placed = banks.map((bank) => placeQuery(bank, table, settingsIn(bank)));
    const [first] = placed as [PlacedQuery];
    const [bank] = banks as [Bank];
    const divider = banks.length > 1 ? placeDivider(table, settingsIn(bank)) : undefined;
    this.#queries = divider === undefined ? placed : [divider, ...placed];
    this.flow = new Flow({
      pool,
      arena: table.arena,
      module: kernelModule(),
      query: (divider ?? first).query,
      banks: divider === undefined ? undefined : { banks: placed, bankOfShard: bankOfShard(table) },
      unit,
      ...(batchBytes === undefined ? {} : { batchBytes }),
      onBadRecord,
    });
  }

  /** Names the column that holds the URL, from 0, and the number of fields of each row. */
  setColumn(column: number, rowFields: number): void {
    for (const { arena, query } of this.#queries) {
      const view = new DataView(arena.memory.buffer);
      view.setInt32(query.address + QUERY_COLUMN, column, true);
      view.setInt32(query.address + QUERY_ROW_FIELDS, rowFields, true);
    }
  }

  /** What the workers count, for each bank. */
  get counted(): readonly CountedBlocks[] {
    return this.flow.counted;
  }

  /** Cancels the run, waits for its end, and returns the memory. */
  async close(): Promise<void> {
    await this.flow.close();
    for (const { arena, region } of this.#queries.splice(0)) arena.give(region);
  }
}

/** Places the query for the shards of a bank, or for a table in one piece. */
function placeQuery(bank: Bank, memory: TableMemory, settings: QuerySettings): PlacedQuery {
  const { table, view, shards } = memory;
  const tables: readonly (QueryTable | undefined)[] =
    shards.length > 0
      ? queryTablesIn(bank, shards)
      : [{ table, tokenNumber: (token) => view.tokenNumber(token) }];
  const region = bank.arena.take(shardQueryBytes(settings, tables.length));
  const { query, bytes } = encodeShardQueries(settings, region.address, tables);
  new Uint8Array(bank.arena.memory.buffer).set(bytes, region.address);
  return { arena: bank.arena, region, query };
}
