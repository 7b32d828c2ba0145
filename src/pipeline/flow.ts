import type { Arena, Region } from '../kernel/arena.js';
import type { Query } from '../kernel/query.js';
import type { Executor } from '../workers/executor.js';
import type { Source } from '../workers/messages.js';
import { Guards } from '../workers/ring/guards.js';
import { blockAddress, layOut, type Regions } from '../workers/ring/regions.js';
import { Ring } from '../workers/ring/ring.js';
import { MAX_BATCH_BYTES } from '../workers/ring/slot-state.js';
import { type BadRecord, type RecordUnit, reasonWord } from './bad-record.js';
import { BankRegions, type QueriedBanks } from './bank-regions.js';
import type { CountedBlocks } from './counted-blocks.js';
import { canWakeReader } from './input/pipe-waker.js';
import { isNonBlockingOutput, type OutputTarget } from './output/open-output.js';
import { Run, type RunEnd, type RunInput } from './run.js';
import { sumTally, type Tally } from './tally.js';

export interface FlowOptions {
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
export interface Progress {
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
