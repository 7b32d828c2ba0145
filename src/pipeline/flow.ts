import type { Writable } from 'node:stream';
import type { Arena, Region } from '../kernel/arena.js';
import type { Query } from '../kernel/query.js';
import type { Executor } from '../workers/executor.js';
import { Guards } from '../workers/guards.js';
import type { FileSource, PipeSource } from '../workers/messages.js';
import { blockAddress, layOut, type Regions } from '../workers/regions.js';
import { Ring } from '../workers/ring.js';
import { MAX_BATCH_OCTETS } from '../workers/ring-words.js';
import { type BadRecord, type RecordUnit, reasonWord } from './bad-record.js';
import { takesWritesAtOnce } from './output.js';
import { canWakeReader } from './pipe-waker.js';
import { Run, type RunEnd, type RunInput } from './run.js';
import { sumTally, type Tally } from './tally.js';

export interface FlowOptions {
  /** A pool of threads, or the thread that calls. */
  readonly pool: Executor;
  /** The memory of the table and the query. */
  readonly arena: Arena;
  readonly module: WebAssembly.Module;
  /** What is asked of each line; written to memory already. */
  readonly query: Query;
  /**
   * Octets of input that are gathered to a batch. Default 1 MiB of a file or with more than 8
   * threads, else 2 MiB, or 128 KiB on the thread that calls.
   */
  readonly batchOctets?: number;
  /**
   * Batches that are on their way at a time where the main thread writes. Default: 6 and one for
   * each thread.
   */
  readonly slots?: number;
  /** What bad records are numbered by. Default: their lines. */
  readonly unit?: RecordUnit;
  /**
   * Called for the first ten bad records of all inputs together, in their order. The others are
   * only counted.
   */
  readonly onBadRecord?: (record: BadRecord) => void;
}

/** How far a flow has come. */
export interface Progress {
  /** Octets of input read, over all inputs; of a compressed one the decompressed octets. */
  readonly octets: number;
  /** Records judged. */
  readonly records: number;
}

/** Of a file, which each worker reads for itself: more does not fit into the caches of a core. */
const FILE_BATCH_OCTETS = 1 << 20;
/**
 * Of a pipe or stream: the fewer batches, the less often do threads find that another is not done
 * with filling one (10 to 15 % of a run).
 */
const BATCH_OCTETS = 1 << 21;
/** With more threads than that all batches are of 1 MiB: the table is to have room beside them. */
const MANY_THREADS = 8;
/**
 * What is judged in one turn of the event loop: a millisecond of usual lines, so that signals are
 * heard.
 */
const TURN_OCTETS = 1 << 17;
/**
 * Slots beyond those that threads are at work on: some are being filled, some wait to be written.
 */
const SPARE_SLOTS = 6;
/** Milliseconds between two looks at the bad records that workers have listed. */
const REPORT_EVERY = 100;

/**
 * Octets in, octets out: cuts inputs into batches of lines, has the pool's threads judge them, and
 * writes what comes of them in the order of the input. Memory is bounded whatever the length of the
 * inputs.
 *
 * Who reads and who writes depends on what input and output are, since the ways differ in speed by
 * a factor of three:
 *
 *     input    read by
 *     file     the workers, in turn, each its own next batch
 *     pipe     the workers, in turn, if they write and are more than one; else a thread that does
 *              nothing else and blocks
 *     stream   the main thread
 *
 *     output   written by
 *     file     the workers, in turn, if they read; else the main thread
 *     pipe     the main thread, which waits in its event loop
 *     stream   the main thread
 */
export class Flow {
  readonly #options: FlowOptions;
  readonly #region: Region;
  readonly #regions: Regions;
  readonly #fileBatchOctets: number;
  /** The ring as a whole, for what outlives a run. */
  readonly #ring: Ring;
  readonly #blocks: readonly number[];
  #reported = 0;
  #cancelled = false;
  #closed = false;
  #run: { readonly run: Run; readonly end: Promise<unknown> } | undefined;

  /** @throws RobotsFilterError `limit` if the batches do not fit into memory beside the table */
  constructor(options: FlowOptions) {
    const { pool, arena, query } = options;
    const usual = pool.threads > MANY_THREADS ? FILE_BATCH_OCTETS : BATCH_OCTETS;
    const batchOctets = Math.min(
      options.batchOctets ?? (pool.mayBlock ? usual : TURN_OCTETS),
      MAX_BATCH_OCTETS,
    );
    this.#fileBatchOctets = Math.min(batchOctets, options.batchOctets ?? FILE_BATCH_OCTETS);
    const demand = {
      threads: pool.threads,
      slots: Math.max(options.slots ?? SPARE_SLOTS + pool.threads, pool.threads, 2),
      batchOctets,
      leastBatchOctets: this.#fileBatchOctets,
      maxLineOctets: query.maxLineOctets,
      lineOverhead: query.lineOverhead,
      workerOctets: query.workerOctets,
      agents: query.agents,
    };
    this.#options = options;
    this.#region = arena.take(layOut({ ...demand, base: 0 }).end);
    this.#regions = layOut({ ...demand, base: this.#region.address });
    this.#blocks = Array.from({ length: pool.threads }, (_, worker) =>
      blockAddress(this.#regions, worker),
    );
    // The region may have been used before, and the ring's words and the counters start from zero.
    const memory = new Uint8Array(arena.memory.buffer);
    memory.fill(0, this.#regions.control, this.#regions.workers);
    new Guards(arena.memory.buffer, this.#regions).set();
    for (const block of this.#blocks) memory.fill(0, block, block + query.workerOctets);
    this.#ring = new Ring(arena.memory, this.#regions, this.#regions.slots, false);
  }

  /**
   * Filters one input. Line numbers start anew with it, the counters go on. One run at a time.
   *
   * @param output a descriptor, or any stream; neither is closed
   * @param outputName the output as messages name it
   * @throws RobotsFilterError `input` or `output` if they cannot be read or written, `input` at the
   *   first bad record if the query is strict, `worker` if a thread dies. A stream that fails with
   *   a RobotsFilterError has it thrown as it is.
   */
  async run(
    input: RunInput,
    output: number | Writable,
    outputName = output === 1 ? 'standard output' : 'the output',
  ): Promise<RunEnd> {
    if (this.#run !== undefined) throw new Error('a flow runs one input at a time');
    if (this.#cancelled) return 'cancelled';
    const { pool, arena, module, query, unit = 'line' } = this.#options;
    const source = sourceOf(input, pool);
    const direct =
      (source?.kind === 'file' || (source?.kind === 'pipe' && pool.threads > 1)) &&
      typeof output === 'number' &&
      takesWritesAtOnce(output, outputName);
    // Workers that write themselves have one slot each, which stays in their core's cache, and one
    // to run ahead of the slowest.
    const slots = direct ? Math.min(pool.threads + 1, this.#regions.slots) : this.#regions.slots;
    const regions =
      source?.kind === 'file'
        ? { ...this.#regions, batchOctets: this.#fileBatchOctets }
        : this.#regions;
    const ring = new Ring(arena.memory, regions, slots, false);
    ring.reset(input.kind === 'file' ? input.offset : 0);
    const report = (): void => this.#report(input.name);
    const run = new Run({
      pool,
      memory: arena.memory,
      module,
      query: query.address,
      ring,
      input,
      unit,
      source,
      output,
      outputName,
      direct,
      onWritten: report,
    });
    const reports = setInterval(report, REPORT_EVERY);
    reports.unref();
    const end = run.carryOut();
    this.#run = { run, end };
    try {
      return await end;
    } finally {
      clearInterval(reports);
      this.#run = undefined;
      report();
    }
  }

  /** What has been counted so far. */
  tally(): Tally {
    return sumTally(this.#options.arena.memory, this.#blocks, this.#options.query.agents);
  }

  /** How far the flow has come; cheap enough to be asked for often. */
  progress(): Progress {
    const { records } = sumTally(this.#options.arena.memory, this.#blocks, 0);
    return { octets: this.#ring.input.consumed, records };
  }

  /** Addresses of the threads' blocks (layout.ts, WORKER_…), for what else is counted there. */
  get workerBlocks(): readonly number[] {
    return this.#blocks;
  }

  /** Ends the run at the next batch ends, and all further ones before they begin. */
  cancel(): void {
    this.#cancelled = true;
    this.#run?.run.stop('cancelled');
  }

  /** Cancels what runs, waits for its end, and gives the memory back. The pool stays as it is. */
  async close(): Promise<void> {
    this.cancel();
    await this.#run?.end.catch(() => {});
    if (!this.#closed) this.#options.arena.give(this.#region);
    this.#closed = true;
  }

  #report(input: string): void {
    for (const { line, reason } of this.#ring.badRecords.from(this.#reported)) {
      this.#reported++;
      this.#options.onBadRecord?.({ input, line, reason: reasonWord(reason) });
    }
  }
}

/** The input as the threads of the pool read it; undefined if they can't. */
function sourceOf(input: RunInput, pool: Executor): FileSource | PipeSource | undefined {
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
      return undefined;
  }
}
