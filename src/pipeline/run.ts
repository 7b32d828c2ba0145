import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { RobotsFilterError } from '../base/errors.js';
import { truncationError } from '../files/openings.js';
import { errorText } from '../files/system-error.js';
import { writeDue } from '../workers/batch-ends.js';
import { DescriptorError, descriptorEnd } from '../workers/descriptor.js';
import type {
  BanksTask,
  ComputeTask,
  Executor,
  ReadTask,
  Source,
  TaskEnd,
} from '../workers/messages.js';
import { Producer } from '../workers/producer.js';
import type { ListedRecord, Ring } from '../workers/ring/ring.js';
import {
  ENDED,
  FAILED,
  ownedWord,
  ownerOf,
  REFUSED,
  stateOf,
  TAKEN,
  YIELDED,
} from '../workers/ring/words.js';
import { describeBadRecord, type RecordUnit, reasonWord } from './bad-record.js';
import type { FileInput, PipeInput, StreamInput } from './input/open.js';
import { wakeReader } from './input/raw-input.js';
import { type Output, type OutputTarget, openOutput, outputError } from './output/output.js';

/** The properties of an input that a run needs; see `OpenInput`. */
export type RunInput =
  | (Pick<FileInput, 'kind' | 'name' | 'descriptor' | 'offset'> & Partial<Pick<FileInput, 'size'>>)
  | Pick<PipeInput, 'kind' | 'name' | 'descriptor' | 'head'>
  | (Pick<StreamInput, 'kind' | 'name' | 'stream'> &
      Partial<Pick<StreamInput, 'column' | 'rowFields' | 'header' | 'zstd' | 'urlField'>>);

/**
 * How a run ended: the input has ended, nobody reads the output any longer, or the run was
 * cancelled. The written records are in the order of the input, from its beginning. They are whole,
 * unless the output was closed or, after cancelling, accepts nothing more.
 */
export type RunEnd = 'done' | 'closed' | 'cancelled';

interface RunOptions {
  readonly pool: Executor;
  readonly memory: WebAssembly.Memory;
  readonly module: WebAssembly.Module;
  /** Address of the query. */
  readonly query: number;
  /** The memories that hold the table; undefined if `memory` holds it. */
  readonly banks: BanksTask | undefined;
  readonly ring: Ring;
  readonly input: RunInput;
  /** The unit that numbers its bad records. */
  readonly unit: RecordUnit;
  /** The source that threads of the pool read; undefined if the main thread reads a stream. */
  readonly source: Source | undefined;
  readonly output: OutputTarget;
  /** The name of the output in messages. */
  readonly outputName: string;
  /** Bytes that are written before all records. */
  readonly preamble?: Uint8Array | undefined;
  /** Whether the workers write to the output, a descriptor; then they read the source too. */
  readonly workersWrite: boolean;
  /** Called after each batch that the main thread has written. */
  readonly onWritten: () => void;
}

/** Milliseconds between two wake-ups of threads that must stop. */
const WAKE_AGAIN = 20;
/** Milliseconds without progress after which a stopped run no longer waits for its output. */
const STALLED = 1000;

/** One input on its way through the ring. Starts all threads, and stops all if one fails. */
export class Run {
  readonly #options: RunOptions;
  readonly #ring: Ring;
  readonly #stream: Readable | undefined;
  /** The descriptor that the workers write to; undefined if the main thread writes. */
  readonly #workerOutput: number | undefined;
  readonly #deadThreads: DeadThreads;
  /** The first reason to stop the run. */
  #reason: Exclude<RunEnd, 'done'> | RobotsFilterError | undefined;
  /** The error of the input. The lines before it are filtered all the same. */
  #inputFailure: RobotsFilterError | undefined;
  #wakes: NodeJS.Timeout | undefined;
  /** Whether all threads have returned. */
  #over = false;
  /** Whether a thread that only reads is reading the input. */
  #reading = false;
  #output: Output | undefined;

  constructor(options: RunOptions) {
    const { ring, input, source, output, workersWrite, pool } = options;
    this.#options = options;
    this.#ring = ring;
    this.#stream = source === undefined ? streamOf(input) : undefined;
    this.#workerOutput = workersWrite && typeof output === 'number' ? output : undefined;
    this.#deadThreads = new DeadThreads({
      ring,
      input: input.name,
      output: this.#workerOutput,
      workers: pool.threads,
      stopTaking: () => this.#stopTaking(),
    });
  }

  /**
   * Carries out the run. Call it once.
   *
   * @throws RobotsFilterError
   */
  async carryOut(): Promise<RunEnd> {
    const { input, pool, source, output, outputName, preamble, workersWrite } = this.#options;
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
    const parts: Promise<void>[] = [];
    for (let worker = 0; worker < pool.threads; worker++) {
      parts.push(this.#judge(worker, fileBytes));
    }
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

  /** Stops the run after the batches in hand. */
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

  #stopTaking(): void {
    if (this.#over || this.#reason !== undefined) return;
    this.#wakeRepeatedly(() => this.#ring.stopTaking());
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

  async #judge(worker: number, fileBytes: number | undefined): Promise<void> {
    const { memory, module, pool, query, banks, source, workersWrite } = this.#options;
    const task: ComputeTask = {
      role: 'compute',
      memory,
      module,
      kernel: pool.kernel,
      regions: this.#ring.regions,
      slots: this.#ring.slots.count,
      worker,
      query,
      banks,
      input:
        source?.kind === 'file' || (source?.kind === 'pipe' && workersWrite) ? source : undefined,
      fileBytes,
      output: this.#workerOutput,
    };
    let end: TaskEnd;
    try {
      end = await pool.run(task);
    } catch (reason) {
      this.#deadThreads.onReturn();
      return this.#settle(worker, reason);
    }
    this.#deadThreads.onReturn();
    this.#end(end);
  }

  async #read(input: ReadTask['input']): Promise<void> {
    const { memory, pool } = this.#options;
    const { regions, slots } = this.#ring;
    let end: TaskEnd;
    this.#reading = true;
    try {
      end = await pool.run({ role: 'read', memory, regions, slots: slots.count, input });
    } catch (reason) {
      return this.#settle(undefined, reason);
    } finally {
      this.#reading = false;
    }
    this.#end(end);
  }

  async #settle(worker: number | undefined, reason: unknown): Promise<void> {
    const error = await this.#deadThreads.settle(worker, reason);
    if (error !== undefined) this.stop(error);
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

  /** Stops the run; but a thread that decodes has passed on the lines before the failure. */
  #failInput(error: RobotsFilterError): void {
    if (this.#options.source?.kind === 'zstd') this.#inputFailure = error;
    else this.stop(error);
  }

  /** Stops the run if a task has ended before the input. */
  #end(end: TaskEnd): void {
    const { input, unit, outputName } = this.#options;
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
        if (end.side === 'output') this.stop(outputError(outputName, cause));
        else this.#failInput(inputError(input.name, cause, end.position));
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

interface DeadThreadsOptions {
  readonly ring: Ring;
  /** The name of the input in messages. */
  readonly input: string;
  /** The descriptor that the workers write to; undefined if the main thread writes. */
  readonly output: number | undefined;
  /** Number of workers that take part. */
  readonly workers: number;
  /** Makes all threads take no further batch. */
  readonly stopTaking: () => void;
}

/**
 * Ends a run in which a thread has died. All records before that thread's batch are written
 * (workers/ring/words.ts); then an error stops the run.
 */
class DeadThreads {
  readonly #options: DeadThreadsOptions;
  #living: number;
  #onAllReturned = (): void => {};
  readonly #allReturned: Promise<void>;

  constructor(options: DeadThreadsOptions) {
    this.#options = options;
    this.#living = options.workers;
    this.#allReturned = new Promise((resolve) => {
      this.#onAllReturned = resolve;
    });
  }

  /** Notes that a worker has returned or died. Call it once for each worker. */
  onReturn(): void {
    if (--this.#living === 0) this.#onAllReturned();
  }

  /**
   * Returns the error that stops the run, after all earlier records are written. Returns undefined
   * if the run was stopped in the meantime.
   *
   * @param worker the worker that died; undefined for a thread that only reads
   * @param reason the error that ended the thread
   * @throws DescriptorError if output that is due cannot be written
   */
  async settle(
    worker: number | undefined,
    reason: unknown,
  ): Promise<RobotsFilterError | undefined> {
    const { ring, input, output, stopTaking } = this.#options;
    const { slots, writer } = ring;
    if (ring.stopped) return undefined;
    // The error of a thread that could not be started says so itself.
    if (reason instanceof RobotsFilterError) return reason;
    if (worker !== undefined) {
      const slot = slots.heldBy(worker);
      if (slot !== undefined) {
        slots.setState(slot, FAILED);
        return (await writer.awaitTurn(slot)) ? batchDeathError(ring, input, reason) : undefined;
      }
      if (writer.isHeldBy(worker)) {
        const { due } = writer;
        const begun = due !== undefined && writer.hasBegun(due);
        return (begun ? batchDeathError : idleDeathError)(ring, input, reason);
      }
      // The thread may have died before it wrote batches that it had judged.
      if (output !== undefined) writeDue(ring, worker, output);
    }
    stopTaking();
    await this.#allReturned;
    const { slot } = ring.consumer;
    return (await writer.awaitTurn(slot)) ? idleDeathError(ring, input, reason) : undefined;
  }
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
