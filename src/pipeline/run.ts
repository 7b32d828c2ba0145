import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { RobotsFilterError } from '../errors.js';
import { truncationError } from '../files/file-end.js';
import { errorText } from '../files/system-error.js';
import { DescriptorError, descriptorEnd } from '../workers/descriptor.js';
import type { Executor } from '../workers/executor.js';
import type { BanksTask, ComputeTask, ReadTask, Source, TaskEnd } from '../workers/messages.js';
import type { Ring } from '../workers/ring/ring.js';
import type { RecordUnit } from './bad-record.js';
import { DeadThreads } from './dead-threads.js';
import type { FileInput, PipeInput, StreamInput } from './input/open.js';
import { wakeReader } from './input/pipe-waker.js';
import { produceFromStream } from './input/stream-producer.js';
import { type OutputTarget, openOutput } from './output/open-output.js';
import type { Output } from './output/output.js';
import { outputError } from './output/output-error.js';
import { inputError, overrunError, strictError } from './run-error.js';
import { writeSlots } from './slot-writer.js';

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

export interface RunOptions {
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
