import type { CachePart } from '../../cache/cache.js';
import { PartMerger } from '../../compile/parallel/part-merger.js';
import type { TableContents } from '../../compile/table-contents.js';
import type { CompileThreads } from './compile-threads.js';
import type { MergeablePart } from './mergeable-part.js';
import { PartCompiler, type PartCompilerOptions } from './part-compiler.js';

/**
 * Number of parts that are compiled on this thread before threads are started. Starting a thread
 * takes as long as compiling hundreds of files.
 */
const PARTS_WITHOUT_THREADS = 2;

/** Minimum length in bytes of a file of captures that takes longer than starting threads. */
const LONG_ARCHIVE = 4 * 1024 * 1024;

/** Number of parts given out for each part that the threads can hold: some wait for a merge. */
const PARTS_AHEAD = 2;

/** Compiles the parts of caches on this thread and, if there are many, on others. */
export class ParallelCompiler {
  readonly #contents: TableContents;
  readonly #options: PartCompilerOptions;
  readonly #threadCount: number;
  readonly #entry: string | undefined;
  readonly #own: PartCompiler;
  readonly #ownMerger: PartMerger;
  #threads: CompileThreads | undefined;
  #ownParts = 0;
  /** Whether a part has come that only threads compile. */
  #hasLong = false;

  /**
   * @param threads number of threads; 1 for this thread alone
   * @param entry the file that the threads load; `undefined` for the usual file
   */
  constructor(
    contents: TableContents,
    options: PartCompilerOptions,
    threads: number,
    entry: string | undefined,
  ) {
    this.#contents = contents;
    this.#options = options;
    this.#threadCount = threads;
    this.#entry = entry;
    this.#own = new PartCompiler(options, false);
    this.#ownMerger = new PartMerger(contents);
  }

  /** Number of parts to give out before the first is merged. */
  get capacity(): number {
    if (this.#threads !== undefined) return PARTS_AHEAD * this.#threads.capacity;
    // The threads for long parts are about to start.
    return this.#hasLong ? PARTS_AHEAD * this.#threadCount : 1;
  }

  /**
   * Compiles a part. May transfer its buffer; don't touch it afterwards.
   *
   * @throws RobotsFilterError `worker` if a thread dies or throws
   */
  async compile(part: CachePart): Promise<MergeablePart> {
    const isLong = part.kind === 'captures' && part.length > LONG_ARCHIVE;
    this.#hasLong ||= isLong && this.#threadCount > 1;
    if (this.#threadCount > 1 && (isLong || this.#ownParts >= PARTS_WITHOUT_THREADS)) {
      // Imported on demand: few caches need threads.
      const { CompileThreads } = await import('./compile-threads.js');
      this.#threads ??= new CompileThreads(
        this.#contents,
        this.#options,
        this.#threadCount,
        this.#entry,
      );
      const { isRunning, waiting, capacity } = this.#threads;
      if (isLong || isRunning || waiting < capacity) return this.#threads.compile(part);
    }
    return this.#compileHere(part);
  }

  async #compileHere(part: CachePart): Promise<MergeablePart> {
    this.#ownParts++;
    const compiled = await this.#own.compile(part);
    this.#ownMerger.receive(compiled.table);
    return { compiled, merger: this.#ownMerger };
  }

  /** Ends the threads if none has work, and frees their memory. Further parts start others. */
  async rest(): Promise<void> {
    const threads = this.#threads;
    if (threads === undefined || threads.waiting > 0) return;
    this.#threads = undefined;
    await threads.close();
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.#threads?.close();
  }
}
