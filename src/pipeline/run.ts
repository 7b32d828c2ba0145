/**
 * One run: threads take batches of lines from the ring, judge them, and write them in the order of
 * the input. Also what ends a run early: a bad record under --strict, a dead thread, an error.
 */

import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { RobotsFilterError } from '../base/errors.js';
import { truncationError } from '../files/openings.js';
import { errorText } from '../files/system-error.js';
import type { Arena, Region } from '../kernel/kernel.js';
import type { Query } from '../kernel/query.js';
import { writeDue } from '../workers/batch-ends.js';
import { DescriptorError, descriptorEnd } from '../workers/descriptor.js';
import type {
  AgentsTask,
  BanksTask,
  BankTask,
  Executor,
  ReadTask,
  Source,
  TaskEnd,
} from '../workers/messages.js';
import { Producer } from '../workers/producer.js';
import {
  blockAddress,
  Guards,
  layOut,
  layOutDivision,
  PLACE_BYTES,
  type RegionSizes,
  type Regions,
} from '../workers/ring/regions.js';
import { type ListedRecord, Ring } from '../workers/ring/ring.js';
import {
  ENDED,
  FAILED,
  MAX_BATCH_BYTES,
  ownedWord,
  ownerOf,
  REFUSED,
  stateOf,
  TAKEN,
  YIELDED,
} from '../workers/ring/words.js';
import { type BadRecord, describeBadRecord, type RecordUnit, reasonWord } from './bad-record.js';
import { type CountedBlocks, sumTally, type Tally } from './counts.js';
import type { FileInput, PipeInput, StreamInput } from './input/open.js';
import { canWakeReader, wakeReader } from './input/raw-input.js';
import {
  isNonBlockingOutput,
  type Output,
  type OutputTarget,
  openOutput,
  outputError,
} from './output/output.js';

/** The properties of an input that a run needs; see `OpenInput`. */
export type RunInput =
  | (Pick<FileInput, 'kind' | 'name' | 'descriptor' | 'offset'> & Partial<Pick<FileInput, 'size'>>)
  | Pick<PipeInput, 'kind' | 'name' | 'descriptor' | 'head'>
  | (Pick<StreamInput, 'kind' | 'name' | 'stream'> &
      Partial<
        Pick<
          StreamInput,
          | 'column'
          | 'timeColumn'
          | 'agentColumn'
          | 'rowFields'
          | 'header'
          | 'zstd'
          | 'urlField'
          | 'timeField'
          | 'agentField'
        >
      >);

/**
 * How a run ended: the input has ended, nobody reads the output any longer, or the run was
 * cancelled. The written records are in the order of the input, from its beginning. They are whole,
 * unless the output was closed or, after cancelling, accepts nothing more.
 */
export type RunEnd = 'done' | 'closed' | 'cancelled';

interface RunOptions {
  /** A pool of threads, or the calling thread. */
  readonly pool: Executor;
  /** The memory of the table, the query and the batches; if there are banks, without the table. */
  readonly arena: Arena;
  readonly module: WebAssembly.Module;
  /** The query for each line, which lies in memory already. */
  readonly query: Query;
  /** How the agents that records name are found. Default: they name none. */
  readonly agents?: AgentsTask | undefined;
  /** The memories that hold the table, if it does not fit in one; the query then finds the URLs. */
  readonly banks?: QueriedBanks | undefined;
  /**
   * Bytes of a batch. Default: 2 MiB, or 1 MiB with more than 8 threads; 128 KiB on the calling
   * thread; 256 KiB if there are banks.
   */
  readonly batchBytes?: number | undefined;
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

/** The banks of a table with the queries for their shards, and which bank has each shard. */
interface QueriedBanks {
  readonly banks: readonly { readonly arena: Arena; readonly query: Query }[];
  readonly bankOfShard: readonly number[];
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
export class Run {
  readonly #options: RunOptions;
  readonly #regions: Regions;
  readonly #taken: { readonly arena: Arena; readonly region: Region }[] = [];
  /** The ring, for data that outlives an input. */
  readonly #ring: Ring;
  readonly #banks: BanksTask | undefined;
  /** What the workers count, for each bank. */
  readonly counted: readonly CountedBlocks[];
  #reported = 0;
  #cancelled = false;
  #current: { readonly passage: Passage; readonly end: Promise<unknown> } | undefined;

  /** @throws RobotsFilterError `limit` if the batches do not fit into memory beside the table */
  constructor(options: RunOptions) {
    const { pool, arena, query, banks } = options;
    const whole = pool.threads > MANY_THREADS ? SMALL_BATCH_BYTES : BATCH_BYTES;
    const usual = banks === undefined ? whole : DIVIDED_BYTES;
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
    const base = this.#take(arena, layOut({ ...demand, base: 0 }).end);
    this.#regions = layOut({ ...demand, base });
    // The memory may have been used before. The ring's words start from zero.
    const { buffer } = arena.memory;
    const { control, workers } = this.#regions;
    new Uint8Array(buffer, control, workers - control).fill(0);
    new Guards(buffer, this.#regions).set();
    const own = countedBlocks(arena.memory, query, this.#regions);
    const inBanks = banks && this.#takeBanks(banks, demand);
    this.#banks = inBanks?.task;
    this.counted = inBanks?.counted ?? [own];
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
  async filter(
    input: RunInput,
    output: OutputTarget,
    outputName = output === 1 ? 'standard output' : 'the output',
    preamble?: Uint8Array,
  ): Promise<RunEnd> {
    if (this.#current !== undefined) throw new Error('a run filters one input at a time');
    if (this.#cancelled) return 'cancelled';
    const { pool, arena } = this.#options;
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
        passage.stop('cancelled');
      }
    };
    const passage = new Passage({
      ...this.#options,
      ring,
      bankTasks: this.#banks,
      input,
      source,
      output,
      outputName,
      preamble,
      workersWrite,
      onWritten: report,
    });
    const reports = setInterval(report, REPORT_EVERY);
    reports.unref();
    const end = passage.carryOut().finally(() => {
      clearInterval(reports);
      this.#current = undefined;
      report();
      if (thrown !== undefined) throw thrown.error;
    });
    this.#current = { passage, end };
    return end;
  }

  /** The counters so far. */
  tally(): Tally {
    return sumTally(this.counted, this.#options.query.outcomes);
  }

  /**
   * Returns the bytes of all inputs read, after decompression, and the records judged. Cheap enough
   * to call often.
   */
  progress(): { readonly bytes: number; readonly records: number } {
    const { records } = sumTally(this.counted, 0);
    return { bytes: this.#ring.input.consumed, records };
  }

  /** Ends the current input after the batches in hand, and further inputs before they begin. */
  cancel(): void {
    this.#cancelled = true;
    this.#current?.passage.stop('cancelled');
  }

  /** Cancels the run, waits for its end, and returns the memory. The pool stays open. */
  async close(): Promise<void> {
    this.cancel();
    await this.#current?.end.catch(() => {});
    for (const { arena, region } of this.#taken.splice(0)) arena.give(region);
  }

  #report(input: string): void {
    for (const { line, reason } of this.#ring.badRecords.from(this.#reported)) {
      this.#reported++;
      this.#options.onBadRecord?.({ input, line, reason: reasonWord(reason) });
    }
  }

  /** Takes the regions in the banks, and those in which batches are divided among them. */
  #takeBanks(
    { banks, bankOfShard }: QueriedBanks,
    demand: Omit<RegionSizes, 'base'>,
  ): { readonly task: BanksTask; readonly counted: readonly CountedBlocks[] } {
    const { threads, batchBytes } = demand;
    const { outputBytes } = this.#regions;
    const { arena } = this.#options;
    const sizes = { threads, bankOfShard, banks: banks.length, batchBytes, outputBytes };
    const base = this.#take(arena, layOutDivision(sizes, 0).end);
    const { regions: division } = layOutDivision(sizes, base);
    new Uint16Array(arena.memory.buffer, division.banks, bankOfShard.length).set(bankOfShard);
    const placesStride = Math.ceil((PLACE_BYTES * batchBytes) / 64) * 64;
    const tasks: BankTask[] = [];
    const counted: CountedBlocks[] = [];
    for (const { arena, query } of banks) {
      const { memory } = arena;
      const own = { ...demand, slots: threads, workerBytes: query.workerBytes };
      const bytes = layOut({ ...own, base: 0 }).end;
      const base = this.#take(arena, bytes + threads * placesStride);
      const regions = layOut({ ...own, base });
      new Guards(memory.buffer, regions).set();
      tasks.push({ memory, query: query.address, regions, places: base + bytes, placesStride });
      counted.push(countedBlocks(memory, query, regions));
    }
    return { task: { division, banks: tasks }, counted };
  }

  /** Takes memory that `close` returns, and returns its address. */
  #take(arena: Arena, bytes: number): number {
    const region = arena.take(bytes);
    this.#taken.push({ arena, region });
    return region.address;
  }
}

/** The worker blocks of a query, whose counters start from zero. */
function countedBlocks(
  memory: WebAssembly.Memory,
  { address, workerBytes }: Query,
  regions: Regions,
): CountedBlocks {
  const workerBlocks = Array.from({ length: regions.threads }, (_, worker) =>
    blockAddress(regions, worker),
  );
  // V8 fills shared memory number by number, and the counters of hosts are many.
  for (const block of workerBlocks) {
    new Float64Array(memory.buffer, block, workerBytes / 8).fill(0);
  }
  return { memory, query: address, workerBlocks };
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

interface PassageOptions extends Omit<RunOptions, 'banks'> {
  /** The memories that hold the table; undefined if that of the ring holds it. */
  readonly bankTasks: BanksTask | undefined;
  readonly ring: Ring;
  readonly input: RunInput;
  /** The source that threads of the pool read; undefined if the main thread reads a stream. */
  readonly source: Source | undefined;
  readonly output: OutputTarget;
  readonly outputName: string;
  readonly preamble: Uint8Array | undefined;
  /** Whether the workers write to the output, a descriptor; then they read the source too. */
  readonly workersWrite: boolean;
  /** Called after each batch that the main thread has written. */
  readonly onWritten: () => void;
}

/** Milliseconds between two wake-ups of threads that must stop. */
const WAKE_AGAIN = 20;
/** Milliseconds without progress after which a stopped run no longer waits for its output. */
const STALLED = 1000;

/** One input on its way through the ring. Starts all tasks, and stops all if one fails. */
class Passage {
  readonly #options: PassageOptions;
  readonly #ring: Ring;
  readonly #stream: Readable | undefined;
  /** The descriptor that the workers write to; undefined if the main thread writes. */
  readonly #workerOutput: number | undefined;
  /** The first reason to stop. */
  #reason: Exclude<RunEnd, 'done'> | RobotsFilterError | undefined;
  /** The error of the input. The lines before it are filtered all the same. */
  #inputFailure: RobotsFilterError | undefined;
  #wakes: NodeJS.Timeout | undefined;
  /** Whether all threads have returned. */
  #over = false;
  /** Whether a thread that only reads is reading the input. */
  #reading = false;
  /** Settles when all workers have returned or died. */
  #workersEnd: Promise<unknown> = Promise.resolve();
  #output: Output | undefined;

  constructor(options: PassageOptions) {
    const { ring, input, source, output, workersWrite } = options;
    this.#options = options;
    this.#ring = ring;
    this.#stream = source === undefined ? streamOf(input) : undefined;
    this.#workerOutput = workersWrite && typeof output === 'number' ? output : undefined;
  }

  /**
   * Filters the input. Call it once.
   *
   * @throws RobotsFilterError
   */
  async carryOut(): Promise<RunEnd> {
    const { input, source, output, outputName, preamble, workersWrite } = this.#options;
    if (!workersWrite) {
      this.#output = openOutput(output, outputName);
    } else if (preamble !== undefined) {
      // Such an output never waits for a reader.
      const first = openOutput(output, outputName);
      const isOpen = await first.write(preamble);
      first.release();
      if (!isOpen) return 'closed';
    }
    const fileBytes = this.#fileBytes();
    const parts = this.#startWorkers(fileBytes);
    if (this.#stream !== undefined) parts.push(this.#fill(this.#stream));
    else if (source?.kind === 'zstd' || (source?.kind === 'pipe' && !workersWrite)) {
      parts.push(this.#read(source));
    }
    if (this.#output !== undefined) parts.push(this.#write(this.#output));
    await Promise.all(parts.map((part) => part.catch((error) => this.#fail(error))));
    this.#over = true;
    clearInterval(this.#wakes);
    this.#output?.release();

    if (this.#reason instanceof RobotsFilterError) throw this.#reason;
    if (this.#reason !== undefined) return this.#reason;
    if (this.#inputFailure !== undefined) throw this.#inputFailure;
    const { truncated, read } = this.#ring.input;
    if (truncated) throw inputError(input.name, truncationError(fileBytes ?? 0), read);
    return 'done';
  }

  /**
   * Size of the file when it was opened, in bytes; undefined if the input is not a file.
   *
   * @throws RobotsFilterError if the file is not open
   */
  #fileBytes(): number | undefined {
    const { input } = this.#options;
    if (input.kind !== 'file') return undefined;
    try {
      return input.size ?? fstatSync(input.descriptor).size;
    } catch (error) {
      throw inputError(input.name, error, 0);
    }
  }

  /** Stops after the batches in hand. */
  stop(reason: Exclude<RunEnd, 'done'> | RobotsFilterError): void {
    if (this.#over || this.#reason !== undefined) return;
    this.#reason = reason;
    const since = { taken: this.#output?.taken, time: performance.now() };
    this.#wakeRepeatedly(() => {
      this.#ring.stop();
      if (this.#output?.taken !== since.taken) {
        since.taken = this.#output?.taken;
        since.time = performance.now();
      } else if (performance.now() - since.time > STALLED) {
        this.#output?.abandon();
      }
    });
    this.#stream?.destroy();
  }

  /** Calls `wake` now and repeatedly, for threads that were about to fall asleep. */
  #wakeRepeatedly(wake: () => void): void {
    const { source } = this.#options;
    const wakeAll = (): void => {
      wake();
      // A thread may be blocked in a read.
      if (source?.kind === 'pipe' && (this.#reading || this.#ring.producer.isHeld)) {
        wakeReader(source.descriptor);
      }
    };
    clearInterval(this.#wakes);
    wakeAll();
    this.#wakes = setInterval(wakeAll, WAKE_AGAIN);
  }

  #fail(error: unknown): void {
    if (error instanceof RobotsFilterError) {
      this.stop(error);
    } else if (error instanceof DescriptorError) {
      this.#end(descriptorEnd(error));
    } else {
      const message = `${this.#options.input.name}: ${errorText(error)}`;
      this.stop(new RobotsFilterError('worker', message, { cause: error }));
    }
  }

  /** Starts all workers at once, and follows each. */
  #startWorkers(fileBytes: number | undefined): Promise<void>[] {
    const { arena, module, pool, query, bankTasks, agents, source, workersWrite } = this.#options;
    const { regions, slots } = this.#ring;
    const tasks = Array.from({ length: pool.threads }, (_, worker) =>
      pool.run({
        role: 'compute',
        memory: arena.memory,
        module,
        kernel: pool.kernel,
        regions,
        slots: slots.count,
        worker,
        query: query.address,
        banks: bankTasks,
        agents,
        input:
          source?.kind === 'file' || (source?.kind === 'pipe' && workersWrite) ? source : undefined,
        fileBytes,
        output: this.#workerOutput,
      }),
    );
    this.#workersEnd = Promise.allSettled(tasks);
    return tasks.map((task, worker) => this.#follow(task, worker));
  }

  async #read(input: ReadTask['input']): Promise<void> {
    const { arena, pool } = this.#options;
    const { regions, slots } = this.#ring;
    const { memory } = arena;
    this.#reading = true;
    const task = pool.run({ role: 'read', memory, regions, slots: slots.count, input });
    const end = task.finally(() => {
      this.#reading = false;
    });
    await this.#follow(end, undefined);
  }

  /** @param worker undefined for a thread that only reads */
  async #follow(task: Promise<TaskEnd>, worker: number | undefined): Promise<void> {
    let end: TaskEnd;
    try {
      end = await task;
    } catch (reason) {
      const error = await this.#errorOfDeath(worker, reason);
      if (error !== undefined) this.stop(error);
      return;
    }
    this.#end(end);
  }

  /**
   * Returns the error for a dead thread, after all records before that thread's batch are written
   * (workers/ring/words.ts). Returns undefined if the run was stopped in the meantime.
   *
   * @param reason the error that ended the thread
   * @throws DescriptorError if output that is due cannot be written
   */
  async #errorOfDeath(
    worker: number | undefined,
    reason: unknown,
  ): Promise<RobotsFilterError | undefined> {
    const ring = this.#ring;
    const { slots, writer } = ring;
    const { name } = this.#options.input;
    if (ring.stopped) return undefined;
    // The error of a thread that could not be started says so itself.
    if (reason instanceof RobotsFilterError) return reason;
    if (worker !== undefined) {
      const slot = slots.heldBy(worker);
      if (slot !== undefined) {
        // The main thread would still write the output of a slot that is YIELDED, on its turn.
        slots.setState(slot, FAILED);
        return (await writer.awaitTurn(slot)) ? batchDeathError(ring, name, reason) : undefined;
      }
      if (writer.isHeldBy(worker)) {
        const { due } = writer;
        const begun = due !== undefined && writer.hasBegun(due);
        return (begun ? batchDeathError : idleDeathError)(ring, name, reason);
      }
      // The thread may have died before it wrote batches that it had judged.
      if (this.#workerOutput !== undefined) writeDue(ring, worker, this.#workerOutput);
    }
    if (!this.#over && this.#reason === undefined) this.#wakeRepeatedly(() => ring.stopTaking());
    await this.#workersEnd;
    const { slot } = ring.consumer;
    return (await writer.awaitTurn(slot)) ? idleDeathError(ring, name, reason) : undefined;
  }

  async #fill(stream: Readable): Promise<void> {
    const failure = await produceFromStream(this.#ring, stream);
    if (failure === undefined || this.#ring.stopped) return;
    this.#inputFailure = inputError(this.#options.input.name, failure, this.#ring.input.read);
  }

  async #write(output: Output): Promise<void> {
    const { preamble } = this.#options;
    if (preamble !== undefined && !(await output.write(preamble))) return this.stop('closed');
    const end = await writeSlots(this.#ring, output, this.#options.onWritten);
    if (typeof end !== 'string') this.#end({ end: 'refused', ...end });
    if (!(await output.end()) || end === 'closed') this.stop('closed');
  }

  /** Stops if a task has ended before the input. */
  #end(end: TaskEnd): void {
    const { input, source, unit = 'line', outputName } = this.#options;
    switch (end.end) {
      case 'closed':
        this.stop('closed');
        break;
      case 'refused':
        this.stop(strictError(input.name, end, unit));
        break;
      case 'overrun':
        this.stop(overrunError(input.name, end.message));
        break;
      case 'failed': {
        const cause = Object.assign(new Error(end.message), { code: end.code });
        if (end.side === 'output') {
          this.stop(outputError(outputName, cause));
          break;
        }
        const error = inputError(input.name, cause, end.position);
        // A thread that decodes has passed on the lines before the failure.
        if (source?.kind === 'zstd') this.#inputFailure = error;
        else this.stop(error);
        break;
      }
      case 'damaged':
        if (input.kind === 'stream') this.#inputFailure = input.zstd?.explain(end);
    }
  }
}

/** The input as a stream for the main thread; undefined for a file. */
function streamOf(input: RunInput): Readable | undefined {
  if (input.kind === 'file') return undefined;
  if (input.kind === 'stream') return input.stream;
  const socket = new Socket({ fd: input.descriptor, readable: true, writable: false });
  if (input.head.length > 0) socket.unshift(input.head);
  return socket;
}

const NEWLINE = 10;
const REPORT = 'This is an error in robots-filter: please report it';

/** The error for an input that could not be read at this byte. */
function inputError(input: string, cause: unknown, position: number): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  return new RobotsFilterError(
    'input',
    `${input}: reading failed at byte ${position} (${errorText(cause)}). ` +
      'Try again, or copy it to a file first',
    { cause },
  );
}

/** The error at the first bad record of a strict run. */
function strictError(
  input: string,
  { line, reason }: ListedRecord,
  unit: RecordUnit,
): RobotsFilterError {
  const record = describeBadRecord({ input, line, reason: reasonWord(reason) }, unit);
  return new RobotsFilterError('input', `${record}. Correct it, or run without --strict`);
}

/** The error for a write beyond the end of a region. */
function overrunError(input: string, message: string): RobotsFilterError {
  return new RobotsFilterError(
    'worker',
    `${input}: ${message}; the output may hold wrong records. ${REPORT}`,
  );
}

/**
 * The error for a thread that died between batches, after all batches that were taken are written.
 */
function idleDeathError(ring: Ring, input: string, reason: unknown): RobotsFilterError {
  return deathError(
    `${input}: a thread died (${errorText(reason)}). ` +
      `The records before line ${ring.writer.linesBefore + 1} are written, and none after. ${REPORT}`,
    reason,
  );
}

/** The error for a thread that died over the batch of the slot whose turn it is. */
function batchDeathError(ring: Ring, input: string, reason: unknown): RobotsFilterError {
  const slot = ring.writer.turn;
  const { address, bytes } = ring.slots.batch(slot);
  const first = ring.writer.linesBefore + 1;
  const last = first + countLines(ring.memory.subarray(address, address + bytes)) - 1;
  const written = ring.writer.hasBegun(slot)
    ? 'The records before these lines are written, and a part of the lines may be'
    : 'The records before these lines are written, and none after';
  return deathError(
    `${input}: a thread died on lines ${first} to ${last} (${bytes} bytes from byte ` +
      `${ring.slots.start(slot)}): ${errorText(reason)}. ${written}. ${REPORT} with these lines`,
    reason,
  );
}

function deathError(message: string, cause: unknown): RobotsFilterError {
  return new RobotsFilterError('worker', message, { cause });
}

function countLines(batch: Uint8Array): number {
  let lines = batch.at(-1) === NEWLINE ? 0 : 1;
  for (let at = batch.indexOf(NEWLINE); at >= 0; at = batch.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}

/**
 * How the writer on the main thread ended: the input has ended or the run was stopped; nobody reads
 * the output any longer; or the run is strict and this record is bad.
 */
type WriterEnd = 'done' | 'closed' | ListedRecord;

/**
 * Writes the output of the slots in ring order, on the main thread.
 *
 * @param onWritten called after each write
 * @throws RobotsFilterError `output`
 */
async function writeSlots(
  { slots, writer, badRecords }: Ring,
  output: Output,
  onWritten: () => void,
): Promise<WriterEnd> {
  for (;;) {
    const slot = writer.turn;
    const word = await slots.wordForWriter(slot);
    const state = word === undefined ? ENDED : stateOf(word);
    if (word === undefined || state === ENDED) return 'done';
    const bytes = slots.output(slot);
    if (bytes.length > 0) {
      writer.beginWrite(slot);
      if (!(await output.write(bytes))) return 'closed';
    }
    if (state === REFUSED) return badRecords.strict(slot);
    badRecords.list(slot);
    if (state !== YIELDED) writer.retire(slot);
    // The worker may have died in the meantime. The slot is then FAILED and stays FAILED.
    else slots.exchangeState(slot, word, ownedWord(TAKEN, ownerOf(word)));
    onWritten();
  }
}

/**
 * Fills the ring from a stream, on the main thread, as slots become free. If the stream fails, the
 * lines before the failure are passed on, except an unfinished last one.
 *
 * @returns the error with which the stream failed
 */
async function produceFromStream(ring: Ring, stream: Readable): Promise<unknown> {
  const producer = new Producer(ring);
  let failure: unknown;
  try {
    for await (const chunk of stream) {
      if (!(await pour(ring, producer, bytesOf(chunk)))) return undefined;
    }
  } catch (error) {
    failure = error;
  }
  while (!ring.stopped && !producer.end(failure === undefined)) {
    await ring.waits.inEventLoop(producer.awaitedWord, producer.awaitedValue);
  }
  return failure;
}

/**
 * Puts a chunk into the ring; returns false if the run was stopped. Returns when there is room
 * again, because workers get lines that were carried over only when the next slot is opened.
 */
async function pour(ring: Ring, producer: Producer, chunk: Uint8Array): Promise<boolean> {
  let rest = chunk;
  while (!ring.stopped) {
    const room = producer.room();
    if (room === undefined) {
      await ring.waits.inEventLoop(producer.awaitedWord, producer.awaitedValue);
      continue;
    }
    if (rest.length === 0) return true;
    const part = rest.subarray(0, room.length);
    room.set(part);
    rest = rest.subarray(part.length);
    producer.accept(part.length);
  }
  return false;
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === 'string') return Buffer.from(chunk);
  throw new TypeError(`the stream gives ${typeof chunk}, not bytes`);
}
