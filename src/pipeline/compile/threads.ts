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
 * Threads that compile parts of caches.
 *
 * Invariant: every part is compiled or fails. When any thread ends, all waiting parts fail, because
 * a part in the queue of a thread that dies while it starts would wait for ever.
 */
export class CompileThreads {
  /** Number of parts that keep all threads busy. */
  readonly capacity: number;
  readonly #contents: TableContents;
  readonly #piscina: Piscina<CachePart, ThreadResult>;
  readonly #mergers = new Map<number, PartMerger>();
  #isRunning = false;
  /** Functions that fail the waiting parts. */
  readonly #waiting = new Set<(reason: unknown) => void>();
  #hasEnded = false;
  /** Why a thread ended, from the error of its first part. */
  #reason: unknown;

  /** @param entry the file that the threads load */
  constructor(
    contents: TableContents,
    options: PartCompilerOptions,
    threads: number,
    entry = entryFile('compile'),
  ) {
    this.capacity = PARTS_AT_HAND * threads;
    this.#contents = contents;
    const Pool = loadPiscina();
    this.#piscina = new Pool<CachePart, ThreadResult>({
      filename: entry ?? null,
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: PARTS_AT_HAND,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      workerData: options,
    });
    this.#piscina.on('workerDestroy', () => {
      this.#hasEnded = true;
      // The thread's own parts fail first, with the reason.
      setImmediate(() => this.#giveUp());
    });
    // `workerDestroy` reports a thread that dies without a part.
    this.#piscina.on('error', () => {});
  }

  /** Number of parts that are being compiled, or wait to be compiled. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether a thread has compiled a part. Starting a thread takes as long as hundreds of files. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * Compiles a part. Transfers its buffer; don't touch it afterwards.
   *
   * @throws RobotsFilterError `worker` if the thread throws, or any thread dies
   */
  async compile(part: CachePart): Promise<MergeablePart> {
    let result: ThreadResult;
    try {
      result = await this.#run(part);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new RobotsFilterError(
        'worker',
        `a compiling thread failed: ${reason}. This is an error in robots-filter: please report it with the robots.txt files at hand`,
        { cause },
      );
    }
    this.#isRunning = true;
    const merger = this.#mergers.get(result.thread) ?? new PartMerger(this.#contents);
    this.#mergers.set(result.thread, merger);
    // Received at once: the parts of a thread arrive in the thread's order, which may differ from
    // the cache's.
    merger.receive(result.compiled.table);
    return { compiled: result.compiled, merger };
  }

  #run(part: CachePart): Promise<ThreadResult> {
    const transferList = part.kind === 'lines' && part.bytes ? [part.bytes.buffer] : [];
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      if (this.#hasEnded) {
        this.#giveUp();
        return;
      }
      this.#piscina
        .run(part, { transferList })
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

/**
 * Compiles shards on threads, one shard on each at a time.
 *
 * @throws RobotsFilterError that of the first shard that fails; `worker` if a thread dies
 */
export async function compileOnThreads(
  tasks: readonly ShardTask[],
  threads: number,
  signal: AbortSignal,
): Promise<CompiledShard[]> {
  const Pool = loadPiscina();
  const piscina = new Pool<ShardTask, CompiledShard | ShardFailure>({
    filename: entryFile('compile') ?? null,
    minThreads: threads,
    maxThreads: threads,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
  });
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      if (signal.aborted) reject(signal.reason);
      // A thread that dies while it starts takes its task with it: the task would wait for ever.
      piscina.on('error', reject);
      piscina.on('workerDestroy', () =>
        setImmediate(() => reject(new Error('a thread has ended'))),
      );
      Promise.all(tasks.map(async (task) => resultOf(await piscina.run(task)))).then(
        resolve,
        reject,
      );
    });
  } catch (cause) {
    if (cause instanceof RobotsFilterError || signal.aborted) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RobotsFilterError(
      'worker',
      `a compiling thread failed: ${reason}. If memory ran out, use more shards or fewer --threads; otherwise this is an error in robots-filter: please report it with the robots.txt files at hand`,
      { cause },
    );
  } finally {
    await piscina.destroy();
  }
}

function resultOf(result: CompiledShard | ShardFailure): CompiledShard {
  if (!('failure' in result)) return result;
  throw new RobotsFilterError(result.failure.code, result.failure.message);
}
