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

/**
 * Threads that compile parts of caches.
 *
 * Invariant: every part that is given to them comes back or is given up. When a thread ends, all
 * parts that wait are given up, for one that waits in the queue for a thread which dies as it
 * starts would do so for ever (see Threads).
 */
export class CompileThreads {
  /** Parts that keep all threads at work. */
  readonly capacity: number;
  readonly #builder: TableBuilder;
  readonly #piscina: Piscina<CachePart, ThreadResult>;
  readonly #mergers = new Map<number, PartMerger>();
  #isRunning = false;
  /** How to give up the parts that have not come back. */
  readonly #waiting = new Set<(reason: unknown) => void>();
  #hasEnded = false;
  /** With what a part failed whose thread has ended. */
  #reason: unknown;

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
    this.#piscina.on('workerDestroy', () => {
      this.#hasEnded = true;
      // The parts that the thread had at hand say of what it died, and do so first.
      setImmediate(() => this.#giveUp());
    });
    // One that dies without a part is seen by its end.
    this.#piscina.on('error', () => {});
  }

  /** Parts that were given to the threads and have not come back. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Whether some thread has been through its first part: to start one takes as long as to compile
   * hundreds of files.
   */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /**
   * Has a part compiled; its lines are no more to be used here.
   *
   * @throws RobotsFilterError `worker` if the thread throws, or any of them dies
   */
  async compile(part: CachePart): Promise<MergeablePart> {
    let result: ThreadResult;
    try {
      result = await this.#carryOut(part);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new RobotsFilterError(
        'worker',
        `a thread that compiles failed: ${reason}. This is an error in robots-filter: please report it with the robots.txt files at hand`,
        { cause },
      );
    }
    this.#isRunning = true;
    const merger = this.#mergers.get(result.thread) ?? this.#builder.merger();
    this.#mergers.set(result.thread, merger);
    // At once, as a thread's parts arrive in their order, which need not be that of the cache.
    merger.receive(result.compiled.table);
    return { compiled: result.compiled, merger };
  }

  #carryOut(part: CachePart): Promise<ThreadResult> {
    const transferList = part.kind === 'lines' && part.octets ? [part.octets.buffer] : [];
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
    for (const reject of this.#waiting) reject(this.#reason ?? new Error('one of them has ended'));
    this.#waiting.clear();
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.#piscina.destroy();
  }
}
