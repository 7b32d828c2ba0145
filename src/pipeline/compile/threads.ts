/** The threads that compile parts and shards. */

import { availableParallelism } from 'node:os';
import type { Piscina } from 'piscina';
import { RobotsFilterError } from '../../base/errors.js';
import { PartMerger } from '../../compile/part-merger.js';
import type { TableContents } from '../../compile/table-contents.js';
import { entryFile } from '../../files/package-file.js';
import type { CachePart } from '../../sources/cache.js';
import { loadPiscina } from '../../workers/pool.js';
import type { MergeablePart, PartCompilerOptions } from './part-compiler.js';
import type { CompiledShard, ShardFailure, ShardTask } from './shard-compiler.js';
import type { ThreadResult } from './thread.js';

/** Number of parts that a thread holds: the one that it compiles, and the next. */
const PARTS_AT_HAND = 2;

/**
 * Number of parts given out before the last core gets a thread, too. V8 optimizes the compiler's
 * code for each thread anew, which takes as long as compiling some hundred parts. Until then that
 * core has other work: V8's own threads, and the calling thread, which reads and merges.
 */
const PARTS_BEFORE_LAST = 128;

/**
 * Threads that compile, whatever the tasks are.
 *
 * Invariant: every task ends or fails. When any thread ends, all waiting tasks fail, because a task
 * in the queue of a thread that dies while it starts would wait for ever.
 */
class TaskThreads<Task, Result> {
  readonly threads: number;
  readonly #piscina: Piscina<Task, Result>;
  readonly #remedy: string;
  /** Functions that fail the waiting tasks. */
  readonly #waiting = new Set<(reason: unknown) => void>();
  #hasEnded = false;
  /** Why a thread ended: the error of its first task, or its own. */
  #reason: unknown;

  /** @param remedy for a thread that throws or dies */
  constructor(options: ConstructorParameters<typeof Piscina>[0], threads: number, remedy: string) {
    this.threads = threads;
    this.#remedy = remedy;
    const Pool = loadPiscina();
    this.#piscina = new Pool<Task, Result>({
      ...options,
      minThreads: threads,
      maxThreads: threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
    });
    this.#piscina.on('workerDestroy', () => {
      this.#hasEnded = true;
      // The thread's own tasks fail first, with the reason.
      setImmediate(() => this.#giveUp());
    });
    // A thread that dies without a task. `workerDestroy` follows.
    this.#piscina.on('error', (error) => {
      this.#reason ??= error;
    });
  }

  /** Number of tasks that are worked on, or wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** @throws RobotsFilterError `worker` if the thread throws, or any thread dies */
  async run(task: Task, transferList: ArrayBuffer[] = []): Promise<Result> {
    try {
      return await this.#run(task, transferList);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `a compiling thread failed: ${reason}. ${this.#remedy}`;
      throw new RobotsFilterError('worker', message, { cause });
    }
  }

  #run(task: Task, transferList: ArrayBuffer[]): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      if (this.#hasEnded) {
        this.#giveUp();
        return;
      }
      this.#piscina
        .run(task, { transferList })
        .finally(() => this.#waiting.delete(reject))
        .then(resolve, (reason: unknown) => {
          if (this.#hasEnded) this.#reason ??= reason;
          reject(reason);
        });
    });
  }

  #giveUp(): void {
    for (const reject of this.#waiting) reject(this.#reason ?? new Error('a thread has ended'));
    this.#waiting.clear();
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.#piscina.destroy();
  }
}

/** Threads that compile parts of caches. */
export class CompileThreads {
  /** Number of parts that keep all threads busy. */
  readonly capacity: number;
  readonly #contents: TableContents;
  readonly #options: PartCompilerOptions;
  readonly #entry: string | undefined;
  readonly #first: TaskThreads<CachePart, ThreadResult>;
  /** The thread of the last core, once it is worth its start. */
  #last: TaskThreads<CachePart, ThreadResult> | undefined;
  /** Parts to give out before it starts; infinite if it has started, or if a core stays free. */
  #partsBeforeLast: number;
  readonly #mergers = new Map<number, PartMerger>();
  #isRunning = false;

  /** @param entry the file that the threads load */
  constructor(
    contents: TableContents,
    options: PartCompilerOptions,
    threads: number,
    entry = entryFile('compile'),
  ) {
    this.capacity = PARTS_AT_HAND * threads;
    this.#contents = contents;
    this.#options = options;
    this.#entry = entry;
    const takesAll = threads > 1 && threads >= availableParallelism();
    this.#partsBeforeLast = takesAll ? PARTS_BEFORE_LAST : Number.POSITIVE_INFINITY;
    this.#first = this.#start(takesAll ? threads - 1 : threads);
  }

  /** Number of parts that are being compiled, or wait to be compiled. */
  get waiting(): number {
    return this.#first.waiting + (this.#last?.waiting ?? 0);
  }

  /** Whether a thread has compiled a part. Starting a thread takes as long as hundreds of files. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * Compiles a part. Transfers its buffer; don't touch it afterwards.
   *
   * @param isLong whether the part takes longer than starting a thread
   * @throws RobotsFilterError as `TaskThreads.run`
   */
  async compile(part: CachePart, isLong: boolean): Promise<MergeablePart> {
    const buffers = part.kind === 'lines' && part.bytes ? [part.bytes.buffer] : [];
    if (isLong || this.#partsBeforeLast-- === 0) this.#startLast();
    const { thread, compiled } = await this.#leastBusy().run(part, buffers);
    this.#isRunning = true;
    const merger = this.#mergers.get(thread) ?? new PartMerger(this.#contents);
    this.#mergers.set(thread, merger);
    // Received at once: the parts of a thread arrive in the thread's order, which may differ from
    // the cache's.
    merger.receive(compiled.table);
    return { compiled, merger };
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await Promise.all([this.#first.close(), this.#last?.close()]);
  }

  #startLast(): void {
    if (this.#partsBeforeLast === Number.POSITIVE_INFINITY) return;
    this.#partsBeforeLast = Number.POSITIVE_INFINITY;
    this.#last = this.#start(1);
  }

  #start(threads: number): TaskThreads<CachePart, ThreadResult> {
    return new TaskThreads(
      {
        filename: this.#entry ?? null,
        concurrentTasksPerWorker: PARTS_AT_HAND,
        workerData: this.#options,
      },
      threads,
      'This is an error in robots-filter: please report it with the robots.txt files at hand',
    );
  }

  #leastBusy(): TaskThreads<CachePart, ThreadResult> {
    const [first, last] = [this.#first, this.#last];
    return last !== undefined && last.waiting * first.threads < first.waiting ? last : first;
  }
}

/**
 * Compiles shards on threads, one shard on each at a time.
 *
 * @throws RobotsFilterError that of the first shard that fails; `worker` if a thread dies
 */
export async function compileOnThreads(
  tasks: readonly ShardTask[],
  count: number,
  signal: AbortSignal,
): Promise<CompiledShard[]> {
  const threads = new TaskThreads<ShardTask, CompiledShard | ShardFailure>(
    { filename: entryFile('compile') ?? null },
    count,
    'If memory ran out, use more shards or fewer --threads; otherwise this is an error in robots-filter: please report it with the robots.txt files at hand',
  );
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      if (signal.aborted) reject(signal.reason);
      Promise.all(tasks.map(async (task) => resultOf(await threads.run(task)))).then(
        resolve,
        reject,
      );
    });
  } finally {
    await threads.close();
  }
}

function resultOf(result: CompiledShard | ShardFailure): CompiledShard {
  if (!('failure' in result)) return result;
  throw new RobotsFilterError(result.failure.code, result.failure.message);
}
