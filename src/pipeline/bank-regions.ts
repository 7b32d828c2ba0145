import type { Arena, Region } from '../kernel/arena.js';
import { encodeQuery, type Query, queryBytes } from '../kernel/query.js';
import type { QuerySettings } from '../kernel/query-settings.js';
import type { TableMemory } from '../table-memory.js';
import { layOutDivision, PLACE_BYTES } from '../workers/banks/division-regions.js';
import type { BanksTask, BankTask } from '../workers/messages.js';
import { Guards } from '../workers/ring/guards.js';
import { blockAddress, layOut, type RegionSizes } from '../workers/ring/regions.js';
import type { CountedBlocks } from './counted-blocks.js';

/** A query in a memory. */
export interface PlacedQuery {
  readonly arena: Arena;
  readonly region: Region;
  readonly query: Query;
}

/** A bank of a table, and the query for its shards, which lies in it already. */
export interface QueriedBank {
  readonly arena: Arena;
  readonly query: Query;
}

/** The banks of a table, and which of them has each shard. */
export interface QueriedBanks {
  readonly banks: readonly QueriedBank[];
  readonly bankOfShard: readonly number[];
}

/** The regions of a flow in the banks of its table, and those in which it divides batches. */
export class BankRegions {
  /** What each worker gets. */
  readonly task: BanksTask;
  /** For each bank, what its workers count. */
  readonly counted: readonly CountedBlocks[];
  readonly #taken: { readonly arena: Arena; readonly region: Region }[] = [];

  /**
   * @param arena the memory of the ring
   * @param demand what a ring with these batches requires
   * @param outputBytes capacity of the output of a batch
   * @throws RobotsFilterError `limit` if the regions do not fit beside the shards
   */
  constructor(
    { banks, bankOfShard }: QueriedBanks,
    arena: Arena,
    demand: Omit<RegionSizes, 'base'>,
    outputBytes: number,
  ) {
    const { threads, batchBytes } = demand;
    const sizes = { threads, bankOfShard, banks: banks.length, batchBytes, outputBytes };
    const own = this.#take(arena, layOutDivision(sizes, 0).end);
    const { regions: division } = layOutDivision(sizes, own.address);
    new Uint16Array(arena.memory.buffer, division.banks, bankOfShard.length).set(bankOfShard);
    const tasks = banks.map((bank) => this.#bank(bank, demand));
    this.task = { division, banks: tasks };
    this.counted = tasks.map(({ memory, query, regions }) => ({
      memory,
      query,
      workerBlocks: Array.from({ length: threads }, (_, worker) => blockAddress(regions, worker)),
    }));
    tasks.forEach(({ memory }, index) => {
      const bytes = banks[index]?.query.workerBytes ?? 0;
      // The region may have been used before. The counters start from zero. V8 fills shared memory
      // number by number, and the counters of hosts are many.
      for (const block of this.counted[index]?.workerBlocks ?? []) {
        new Float64Array(memory.buffer, block, bytes / 8).fill(0);
      }
    });
  }

  /** Returns the memory. */
  close(): void {
    for (const { arena, region } of this.#taken.splice(0)) arena.give(region);
  }

  #bank({ arena, query }: QueriedBank, demand: Omit<RegionSizes, 'base'>): BankTask {
    const { threads, batchBytes } = demand;
    const { memory } = arena;
    const own = { ...demand, slots: threads, workerBytes: query.workerBytes };
    const placesStride = Math.ceil((PLACE_BYTES * batchBytes) / 64) * 64;
    const places = layOut({ ...own, base: 0 }).end;
    const { address } = this.#take(arena, places + threads * placesStride);
    const regions = layOut({ ...own, base: address });
    new Guards(memory.buffer, regions).set();
    return { memory, query: query.address, regions, places: address + places, placesStride };
  }

  #take(arena: Arena, bytes: number): Region {
    const region = arena.take(bytes);
    this.#taken.push({ arena, region });
    return region;
  }
}

/** The bank of each shard. For a shard that is not in memory the first, which traps when asked. */
export function bankOfShard({ banks, shards }: TableMemory): number[] {
  return shards.map((shard) =>
    shard === undefined ? 0 : banks.findIndex(({ arena }) => arena === shard.arena),
  );
}

/** Places the query that finds the shard of each record, in the memory of the batches. */
export function placeDivider({ arena, table }: TableMemory, asked: QuerySettings): PlacedQuery {
  const settings = { ...asked, seenSlots: 0, countedSlots: 0, ruleEntries: 0 };
  const region = arena.take(queryBytes(settings));
  const { query, bytes } = encodeQuery(settings, region.address, table, () => -1);
  new Uint8Array(arena.memory.buffer).set(bytes, region.address);
  return { arena, region, query };
}
