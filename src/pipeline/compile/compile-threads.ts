import type { CachePart } from '../../cache/cache.js';
import { PartMerger } from '../../compile/parallel/part-merger.js';
import type { TableContents } from '../../compile/table-contents.js';
import { RobotsFilterError } from '../../errors.js';
import { entryFile } from '../../workers/entry-file.js';
import { ThreadQueue } from '../../workers/thread-queue.js';
import type { ThreadResult } from './compile-task.js';
import type { MergeablePart } from './mergeable-part.js';
import type { PartCompilerOptions } from './part-compiler.js';

/** Number of parts that a thread holds: the one that it compiles, and the next. */
const PARTS_AT_HAND = 2;

/** Threads that compile parts of caches. Every part is compiled or fails: see ThreadQueue. */
export class CompileThreads {
  /** Number of parts that keep all threads busy. */
  readonly capacity: number;
  readonly #contents: TableContents;
  readonly #queue: ThreadQueue<CachePart, ThreadResult>;
  readonly #mergers = new Map<number, PartMerger>();
  #isRunning = false;

  /**
   * @param file the file that the threads load
   * @throws RobotsFilterError `worker` if a thread cannot be started
   */
  constructor(
    contents: TableContents,
    options: PartCompilerOptions,
    threads: number,
    file = entryFile('compile'),
  ) {
    this.capacity = PARTS_AT_HAND * threads;
    this.#contents = contents;
    this.#queue = new ThreadQueue(threads, { file, data: options }, PARTS_AT_HAND);
  }

  /** Number of parts that are being compiled, or wait to be compiled. */
  get waiting(): number {
    return this.#queue.waiting;
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
      const transfer = part.kind === 'lines' && part.bytes ? [part.bytes.buffer] : [];
      result = await this.#queue.run(part, transfer);
    } catch (cause) {
      // A thread that the system refuses to start.
      if (cause instanceof RobotsFilterError) throw cause;
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

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.#queue.close();
  }
}
