import { type Bank, banksOf, queryTablesIn, type TableMemory } from '../judge/table-memory.js';
import { type Arena, kernelModule, type Region } from '../kernel/kernel.js';
import { QUERY_COLUMN, QUERY_ROW_FIELDS } from '../kernel/layout.js';
import {
  encodeQuery,
  encodeShardQueries,
  type Query,
  type QuerySettings,
  type QueryTable,
  queryBytes,
  shardQueryBytes,
} from '../kernel/query.js';
import type { BanksTask, BankTask, Executor, Source } from '../workers/messages.js';
import {
  blockAddress,
  Guards,
  layOut,
  layOutDivision,
  PLACE_BYTES,
  type RegionSizes,
  type Regions,
} from '../workers/ring/regions.js';
import { Ring } from '../workers/ring/ring.js';
import { MAX_BATCH_BYTES } from '../workers/ring/words.js';
import { type BadRecord, type RecordUnit, reasonWord } from './bad-record.js';
import { type CountedBlocks, sumTally, type Tally } from './counts.js';
import { canWakeReader } from './input/raw-input.js';
import { isNonBlockingOutput, type OutputTarget } from './output/output.js';
import { Run, type RunEnd, type RunInput } from './run.js';

/** What a stage is made of. */
interface StageOptions {
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

interface FlowOptions {
  /** A pool of threads, or the calling thread. */
  readonly pool: Executor;
  /** The memory of the table, the query and the batches; if there are banks, without the table. */
  readonly arena: Arena;
  readonly module: WebAssembly.Module;
  /** The query for each line, which lies in memory already. */
  readonly query: Query;
  /** The memories that hold the table, if it does not fit in one; the query then finds the URLs. */
  readonly banks?: QueriedBanks | undefined;
  /**
   * Bytes of a batch. Default: 2 MiB, or 1 MiB with more than 8 threads; 128 KiB on the calling
   * thread; 256 KiB if there are banks.
   */
  readonly batchBytes?: number;
  /** Slots of the ring if the main thread writes. Default: 6, and one for each thread. */
  readonly slots?: number;
  /** The unit that numbers bad records. Default: lines. */
  readonly unit?: RecordUnit;
  /**
   * Called for the first ten bad records of all inputs together, in order. The others are only
   * counted. If it throws, the run stops and fails with that error.
   */
  readonly onBadRecord?: (record: BadRecord) => void;
}

/** The progress of a flow. */
interface Progress {
  /** Bytes of input read, over all inputs; after decompression. */
  readonly bytes: number;
  /** Records judged. */
  readonly records: number;
}

/**
 * Bytes of a batch. Between two batches a worker takes some 80 µs, since judging has driven from
 * the caches what it needs then.
 */
const BATCH_BYTES = 1 << 21;
/** With more threads than this, batches are smaller, to leave room for the table. */
const MANY_THREADS = 8;
const SMALL_BATCH_BYTES = 1 << 20;
/**
 * Bytes of a batch on the main thread: about a millisecond of usual lines, so that signals are
 * heard.
 */
const TURN_BYTES = 1 << 17;
/**
 * Bytes of a batch that is divided by the banks of its hosts: it and its shares, and their outputs,
 * lie in a core's caches, and their regions leave room for the shards in every bank.
 */
const DIVIDED_BYTES = 1 << 18;
/** Slots in addition to those being judged: some are being filled, some wait to be written. */
const SPARE_SLOTS = 6;
/** Milliseconds between two checks for bad records that workers have listed. */
const REPORT_EVERY = 100;

/**
 * Splits inputs into batches of lines, has the pool's threads judge them, and writes the output in
 * the order of the input. The memory does not depend on the length of the inputs.
 *
 * Who reads and who writes depends on the kinds of input and output:
 *
 *     input    read by
 *     file     the workers: each reads its next batch
 *     pipe     the workers, if they write and are more than one; otherwise a thread that only reads
 *     zstd     a thread that only reads and decodes a file, if threads may block
 *     stream   the main thread
 *
 *     output   written by
 *     file     the workers, if they read; otherwise the main thread
 *     pipe     the main thread, which waits in its event loop
 *     stream   the main thread
 */
export class Flow {
  readonly #options: FlowOptions;
  readonly #region: Region;
  readonly #regions: Regions;
  /** The ring, for data that outlives a run. */
  readonly #ring: Ring;
  readonly #banks: BankRegions | undefined;
  /** What the workers count. */
  readonly counted: readonly CountedBlocks[];
  #reported = 0;
  #cancelled = false;
  #closed = false;
  #run: { readonly run: Run; readonly end: Promise<unknown> } | undefined;

  /** @throws RobotsFilterError `limit` if the batches do not fit into memory beside the table */
  constructor(options: FlowOptions) {
    const { pool, arena, query } = options;
    const whole = pool.threads > MANY_THREADS ? SMALL_BATCH_BYTES : BATCH_BYTES;
    const usual = options.banks === undefined ? whole : DIVIDED_BYTES;
    const batchBytes = Math.min(
      options.batchBytes ?? (pool.mayBlock ? usual : TURN_BYTES),
      MAX_BATCH_BYTES,
    );
    const demand = {
      threads: pool.threads,
      slots: Math.max(options.slots ?? SPARE_SLOTS + pool.threads, pool.threads, 2),
      batchBytes,
      maxLineBytes: query.maxLineBytes,
      lineFactor: query.lineFactor,
      lineOverhead: query.lineOverhead,
      workerBytes: query.workerBytes,
    };
    this.#options = options;
    this.#region = arena.take(layOut({ ...demand, base: 0 }).end);
    this.#regions = layOut({ ...demand, base: this.#region.address });
    const workerBlocks = Array.from({ length: pool.threads }, (_, worker) =>
      blockAddress(this.#regions, worker),
    );
    // The region may have been used before. The ring's words and the counters start from zero.
    const { buffer } = arena.memory;
    const { control, workers } = this.#regions;
    new Uint8Array(buffer, control, workers - control).fill(0);
    new Guards(buffer, this.#regions).set();
    // V8 fills shared memory number by number, and the counters of hosts are many.
    for (const block of workerBlocks)
      new Float64Array(buffer, block, query.workerBytes / 8).fill(0);
    if (options.banks !== undefined) {
      this.#banks = new BankRegions(options.banks, arena, demand, this.#regions.outputBytes);
    }
    const own = { memory: arena.memory, query: query.address, workerBlocks };
    this.counted = this.#banks?.counted ?? [own];
    this.#ring = new Ring(arena.memory, this.#regions, this.#regions.slots, false);
  }

  /**
   * Filters one input, one at a time. Line numbers start anew, but the counters go on.
   *
   * @param output a descriptor or any stream, neither of which is closed; or what opens an output
   * @param outputName the name of the output in messages
   * @param preamble bytes to write before all records
   * @throws RobotsFilterError `input` or `output` if they cannot be read or written, `input` at the
   *   first bad record if the query is strict, `worker` if a thread dies or cannot be started. If a
   *   stream fails with a RobotsFilterError, that error itself; if `onBadRecord` throws, its error
   */
  async run(
    input: RunInput,
    output: OutputTarget,
    outputName = output === 1 ? 'standard output' : 'the output',
    preamble?: Uint8Array,
  ): Promise<RunEnd> {
    if (this.#run !== undefined) throw new Error('a flow runs one input at a time');
    if (this.#cancelled) return 'cancelled';
    const { pool, arena, module, query, unit = 'line' } = this.#options;
    const source = sourceOf(input, pool);
    const workersWrite =
      (source?.kind === 'file' || (source?.kind === 'pipe' && pool.threads > 1)) &&
      typeof output === 'number' &&
      isNonBlockingOutput(output, outputName);
    // Workers that write have one slot each, which stays in their core's cache. One more slot lets
    // a worker run ahead of the slowest.
    const slots = workersWrite
      ? Math.min(pool.threads + 1, this.#regions.slots)
      : this.#regions.slots;
    const ring = new Ring(arena.memory, this.#regions, slots, false);
    ring.reset(input.kind === 'file' ? input.offset : 0);
    let thrown: { readonly error: unknown } | undefined;
    const report = (): void => {
      if (thrown !== undefined) return;
      try {
        this.#report(input.name);
      } catch (error) {
        thrown = { error };
        run.stop('cancelled');
      }
    };
    const run = new Run({
      pool,
      memory: arena.memory,
      module,
      query: query.address,
      banks: this.#banks?.task,
      ring,
      input,
      unit,
      source,
      output,
      outputName,
      preamble,
      workersWrite,
      onWritten: report,
    });
    const reports = setInterval(report, REPORT_EVERY);
    reports.unref();
    const end = run.carryOut().finally(() => {
      clearInterval(reports);
      this.#run = undefined;
      report();
      if (thrown !== undefined) throw thrown.error;
    });
    this.#run = { run, end };
    return end;
  }

  /** The counters so far. */
  tally(): Tally {
    return sumTally(this.counted, this.#options.query.agents);
  }

  /** Returns the progress of the flow. Cheap enough to call often. */
  progress(): Progress {
    const { records } = sumTally(this.counted, 0);
    return { bytes: this.#ring.input.consumed, records };
  }

  /** Ends the run after the batches in hand, and further runs before they begin. */
  cancel(): void {
    this.#cancelled = true;
    this.#run?.run.stop('cancelled');
  }

  /** Cancels the run, waits for its end, and returns the memory. The pool stays open. */
  async close(): Promise<void> {
    this.cancel();
    await this.#run?.end.catch(() => {});
    if (!this.#closed) this.#options.arena.give(this.#region);
    this.#banks?.close();
    this.#closed = true;
  }

  #report(input: string): void {
    for (const { line, reason } of this.#ring.badRecords.from(this.#reported)) {
      this.#reported++;
      this.#options.onBadRecord?.({ input, line, reason: reasonWord(reason) });
    }
  }
}

/** The source that the threads of the pool read; undefined if they cannot read this input. */
function sourceOf(input: RunInput, pool: Executor): Source | undefined {
  switch (input.kind) {
    case 'file':
      return { kind: 'file', descriptor: input.descriptor };
    case 'pipe': {
      const { descriptor, head } = input;
      return pool.mayBlock && canWakeReader(descriptor)
        ? { kind: 'pipe', descriptor, head }
        : undefined;
    }
    case 'stream':
      return pool.mayBlock ? input.zstd?.source : undefined;
  }
}

/** A query in a memory. */
interface PlacedQuery {
  readonly arena: Arena;
  readonly region: Region;
  readonly query: Query;
}

/** A bank of a table, and the query for its shards, which lies in it already. */
interface QueriedBank {
  readonly arena: Arena;
  readonly query: Query;
}

/** The banks of a table, and which of them has each shard. */
interface QueriedBanks {
  readonly banks: readonly QueriedBank[];
  readonly bankOfShard: readonly number[];
}

/** The regions of a flow in the banks of its table, and those in which it divides batches. */
class BankRegions {
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
function bankOfShard({ banks, shards }: TableMemory): number[] {
  return shards.map((shard) =>
    shard === undefined ? 0 : banks.findIndex(({ arena }) => arena === shard.arena),
  );
}

/** Places the query that finds the shard of each record, in the memory of the batches. */
function placeDivider({ arena, table }: TableMemory, asked: QuerySettings): PlacedQuery {
  const settings = { ...asked, seenSlots: 0, countedSlots: 0, ruleEntries: 0 };
  const region = arena.take(queryBytes(settings));
  const { query, bytes } = encodeQuery(settings, region.address, table, () => -1);
  new Uint8Array(arena.memory.buffer).set(bytes, region.address);
  return { arena, region, query };
}
