import { Piscina } from 'piscina';
import type { PartMerger } from '../../compile/part-merger.js';
import type { TableBuilder } from '../../compile/table-builder.js';
import { RobotsFilterError } from '../../errors.js';
import { entryFile } from '../../workers/entry-file.js';
import type { CachePart } from '../cache/cache.js';
import type { PartCompilerOptions } from './part-compiler.js';
import type { MergeablePart } from './part-crew.js';
import type { ThreadResult } from './thread.js';

/** Parts that a thread has at hand: the one that it is at, and the next. */
const PARTS_AT_HAND = 2;

/** Threads that compile parts of caches. */
export class CompileThreads {
  /** Parts that keep all threads at work. */
  readonly capacity: number;
  readonly #builder: TableBuilder;
  readonly #piscina: Piscina<CachePart, ThreadResult>;
  readonly #mergers = new Map<number, PartMerger>();
  #isRunning = false;
  #waiting = 0;

  /** @param entry what the threads load, where it is not the usual file */
  constructor(
    builder: TableBuilder,
    options: PartCompilerOptions,
    threads: number,
    entry = entryFile('compile'),
  ) {
    this.capacity = PARTS_AT_HAND * threads;
    this.#builder = builder;
    this.#piscina = new Piscina<CachePart, ThreadResult>({
      filename: entry,
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: PARTS_AT_HAND,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      workerData: options,
    });
    // A thread that dies without a part has lost nothing: what it has compiled is here.
    this.#piscina.on('error', () => {});
  }

  /** Parts that were given to the threads and have not come back. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether some thread has been through its first part: to start one takes as long as to compile hundreds of files. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * Has a part compiled; its lines are no more to be used here.
   *
   * @throws RobotsFilterError `worker` if the thread dies or throws
   */
  async compile(part: CachePart): Promise<MergeablePart> {
    const transferList = part.kind === 'lines' && part.octets ? [part.octets.buffer] : [];
    let result: ThreadResult;
    this.#waiting++;
    try {
      result = await this.#piscina.run(part, { transferList });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new RobotsFilterError(
        'worker',
        `a thread that compiles failed: ${reason}. This is an error in robots-filter: please report it with the robots.txt files at hand`,
        { cause },
      );
    } finally {
      this.#waiting--;
    }
    this.#isRunning = true;
    const merger = this.#mergers.get(result.thread) ?? this.#builder.merger();
    this.#mergers.set(result.thread, merger);
    // At once, as a thread's parts arrive in their order, which need not be that of the cache.
    merger.receive(result.compiled.table);
    return { compiled: result.compiled, merger };
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.#piscina.destroy();
  }
}
