import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { RobotsFilterError } from '../errors.js';
import type { ListedRecord } from '../workers/bad-record-list.js';
import type { Executor } from '../workers/executor.js';
import { truncationError } from '../workers/file-end.js';
import { LostThreads } from '../workers/lost-threads.js';
import type { ComputeTask, FileSource, PipeSource, TaskEnd } from '../workers/messages.js';
import type { Ring } from '../workers/ring.js';
import {
  ENDED,
  FAILED,
  FREE,
  ownedWord,
  ownerOf,
  REFUSED,
  stateOf,
  TAKEN,
  YIELDED,
} from '../workers/ring-words.js';
import { describeBadRecord, type RecordUnit, reasonWord } from './bad-record.js';
import type { FileInput, PipeInput, StreamInput } from './input/open.js';
import { type Output, openOutput } from './output.js';
import { outputError } from './output-error.js';
import { wakeReader } from './pipe-waker.js';
import { fillFromStream } from './stream-filler.js';

/** What a run needs to know of its input; see `OpenInput`. */
export type RunInput =
  | (Pick<FileInput, 'kind' | 'name' | 'descriptor' | 'offset'> & Partial<Pick<FileInput, 'size'>>)
  | Pick<PipeInput, 'kind' | 'name' | 'descriptor' | 'head'>
  | Pick<StreamInput, 'kind' | 'name' | 'stream'>;

/**
 * How a run ended: the input has ended, nobody reads the output any more, or it was cancelled. In
 * all cases what was written is records in the order of the input, from its beginning; whole ones,
 * unless the output was closed, or takes nothing more after cancelling.
 */
export type RunEnd = 'done' | 'closed' | 'cancelled';

export interface RunOptions {
  readonly pool: Executor;
  readonly memory: WebAssembly.Memory;
  readonly module: WebAssembly.Module;
  /** Address of the query. */
  readonly query: number;
  readonly ring: Ring;
  readonly input: RunInput;
  /** What its bad records are numbered by. */
  readonly unit: RecordUnit;
  /** The input as the threads read it; undefined where the main thread does, as a stream. */
  readonly source: FileSource | PipeSource | undefined;
  readonly output: number | Writable;
  /** The output as messages name it. */
  readonly outputName: string;
  /**
   * Whether workers write to the output's descriptor themselves; then they read the source
   * themselves, too.
   */
  readonly direct: boolean;
  /** Called after each batch that the main thread has written. */
  readonly onWritten: () => void;
}

/** Milliseconds between two wake-ups of threads that have been told to stop. */
const STOP_AGAIN = 20;
/** Milliseconds without progress after which a stopped run no longer waits for its output. */
const STALLED = 1000;

/**
 * One input on its way through the ring: starts all who take part in it, and stops them all if one
 * fails.
 */
export class Run {
  readonly #options: RunOptions;
  readonly #ring: Ring;
  readonly #stream: Readable | undefined;
  /** Why the run was stopped: the first reason there was. */
  #reason: Exclude<RunEnd, 'done'> | RobotsFilterError | undefined;
  /** With what the input failed; what came before that is filtered all the same. */
  #inputFailure: RobotsFilterError | undefined;
  #stopping: NodeJS.Timeout | undefined;
  /** All who took part have returned. */
  #over = false;
  /** A thread that does nothing else reads the input. */
  #reading = false;
  #writer: Output | undefined;
  readonly #lost: LostThreads;

  constructor(options: RunOptions) {
    const { ring, input, source, direct } = options;
    this.#options = options;
    this.#ring = ring;
    this.#lost = new LostThreads(ring, { file: source?.kind === 'file', direct }, input.name);
    this.#stream = source === undefined ? streamOf(input) : undefined;
  }

  /**
   * Carries the run out; once.
   *
   * @throws RobotsFilterError
   */
  async carryOut(): Promise<RunEnd> {
    const { pool, source, output, outputName, direct } = this.#options;
    const writer = direct ? undefined : openOutput(output, outputName);
    this.#writer = writer;
    const fileOctets = this.#fileOctets();
    const parts: Promise<void>[] = [];
    for (let worker = 0; worker < pool.threads; worker++) {
      parts.push(this.#compute(worker, fileOctets));
    }
    if (this.#stream !== undefined) parts.push(this.#fill(this.#stream));
    else if (source?.kind === 'pipe' && !direct) parts.push(this.#read(source));
    if (writer !== undefined) parts.push(this.#write(writer));
    await Promise.all(parts.map((part) => part.catch((error) => this.#fail(error))));
    this.#over = true;
    clearInterval(this.#stopping);
    writer?.release();

    if (this.#reason instanceof RobotsFilterError) throw this.#reason;
    if (this.#reason !== undefined) return this.#reason;
    if (this.#inputFailure !== undefined) throw this.#inputFailure;
    const { truncated, read } = this.#ring.input;
    if (truncated) throw this.#inputError(truncationError(fileOctets ?? 0), read);
    return 'done';
  }

  /**
   * The octets that a file had when it was opened; undefined for what is no file.
   *
   * @throws RobotsFilterError if the file is not open
   */
  #fileOctets(): number | undefined {
    const { input } = this.#options;
    if (input.kind !== 'file') return undefined;
    try {
      return input.size ?? fstatSync(input.descriptor).size;
    } catch (error) {
      throw this.#inputError(error, 0);
    }
  }

  /** Stops everything at the ends of the batches in hand. */
  stop(reason: Exclude<RunEnd, 'done'> | RobotsFilterError): void {
    if (this.#over || this.#reason !== undefined) return;
    this.#reason = reason;
    this.#wakeAll();
    const since = { taken: this.#writer?.taken, time: performance.now() };
    this.#stopping = setInterval(() => {
      // Again, for a thread that was about to fall asleep.
      this.#wakeAll();
      if (this.#writer?.taken !== since.taken) {
        since.taken = this.#writer?.taken;
        since.time = performance.now();
      } else if (performance.now() - since.time > STALLED) {
        this.#writer?.abandon();
      }
    }, STOP_AGAIN);
    this.#stream?.destroy();
  }

  #wakeAll(): void {
    this.#ring.stop();
    const { source } = this.#options;
    // A thread may sit in a blocking read.
    if (source?.kind === 'pipe' && (this.#reading || this.#ring.filler.isHeld)) {
      wakeReader(source.descriptor);
    }
  }

  #fail(error: unknown): void {
    if (error instanceof RobotsFilterError) {
      this.stop(error);
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    this.stop(
      new RobotsFilterError('worker', `${this.#options.input.name}: ${message}`, { cause: error }),
    );
  }

  async #compute(worker: number, fileOctets: number | undefined): Promise<void> {
    const { memory, module, pool, query, source, output, direct } = this.#options;
    const task: ComputeTask = {
      role: 'compute',
      memory,
      module,
      kernel: pool.kernel,
      regions: this.#ring.regions,
      slots: this.#ring.slots,
      worker,
      query,
      input: source?.kind === 'file' || direct ? source : undefined,
      fileOctets,
      output: direct && typeof output === 'number' ? output : undefined,
      resume: undefined,
    };
    let resume: number | undefined;
    for (;;) {
      try {
        this.#end(await pool.run({ ...task, resume }));
        return;
      } catch (reason) {
        const succession = await this.#lost.succeed(worker, reason);
        if (succession.fate !== 'again') {
          // Where the main thread writes, it comes to the slot itself.
          const { fate } = succession;
          if (direct && fate === 'failed' && (await this.#ring.awaitTurn(succession.slot))) {
            this.stop(this.#lost.failure(succession.slot));
          }
          return;
        }
        resume = succession.slot;
      }
    }
  }

  async #read(input: PipeSource): Promise<void> {
    const { memory, pool } = this.#options;
    this.#reading = true;
    try {
      const end = await pool.run({
        role: 'read',
        memory,
        regions: this.#ring.regions,
        slots: this.#ring.slots,
        input,
      });
      this.#end(end);
    } catch (reason) {
      throw this.#lost.readerFailure(reason);
    } finally {
      this.#reading = false;
    }
  }

  async #fill(stream: Readable): Promise<void> {
    const failure = await fillFromStream(this.#ring, stream);
    if (failure !== undefined && !this.#ring.stopped)
      this.#inputFailure = this.#inputError(failure, this.#ring.input.read);
  }

  #end(end: TaskEnd): void {
    switch (end.end) {
      case 'closed':
        this.stop('closed');
        break;
      case 'refused':
        this.#refuse(end);
        break;
      case 'overrun':
        this.stop(this.#lost.overrun(end.message));
        break;
      case 'failed': {
        const cause = Object.assign(new Error(end.message), { code: end.code });
        this.stop(
          end.side === 'input'
            ? this.#inputError(cause, end.position)
            : outputError(this.#options.outputName, cause),
        );
      }
    }
  }

  #refuse({ line, reason }: ListedRecord): void {
    const record = { input: this.#options.input.name, line, reason: reasonWord(reason) };
    this.stop(
      new RobotsFilterError(
        'input',
        `${describeBadRecord(record, this.#options.unit)}. Correct it, or run without --strict`,
      ),
    );
  }

  #inputError(cause: unknown, position: number): RobotsFilterError {
    if (cause instanceof RobotsFilterError) return cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    return new RobotsFilterError(
      'input',
      `${this.#options.input.name}: reading failed at byte ${position} (${message}). ` +
        'Try again, or copy it to a file first',
      { cause },
    );
  }

  /** Writes the slots out in their order. */
  async #write(output: Output): Promise<void> {
    const ring = this.#ring;
    let slot = 0;
    let open = true;
    while (open) {
      const word = await ring.wordForWriter(slot);
      if (word === undefined) break;
      const state = stateOf(word);
      if (state === ENDED) break;
      if (state === FAILED) {
        this.stop(this.#lost.failure(slot));
        break;
      }
      const octets = ring.output(slot);
      open = octets.length === 0 || (await output.write(octets));
      if (state === REFUSED) {
        this.#refuse(ring.badRecords.strict(slot));
        break;
      }
      ring.writer.endWrite(slot, octets.length);
      ring.badRecords.list(slot);
      if (state === YIELDED) {
        ring.setState(slot, ownedWord(TAKEN, ownerOf(word)));
      } else {
        ring.countLines(slot);
        ring.settle(slot);
        ring.setState(slot, FREE);
        slot = ring.after(slot);
      }
      this.#options.onWritten();
    }
    if (!(await output.end()) || !open) this.stop('closed');
  }
}

/** The input as a stream for the main thread; undefined for a file, which is none. */
function streamOf(input: RunInput): Readable | undefined {
  if (input.kind === 'file') return undefined;
  if (input.kind === 'stream') return input.stream;
  const socket = new Socket({ fd: input.descriptor, readable: true, writable: false });
  if (input.head.length > 0) socket.unshift(input.head);
  return socket;
}
