import type { PartMerger } from '../../compile/part-merger.js';
import type { TableBuilder } from '../../compile/table-builder.js';
import type { CachePart } from '../cache/cache.js';
import { CompileThreads } from './compile-threads.js';
import { type CompiledPart, PartCompiler, type PartCompilerOptions } from './part-compiler.js';

/** A part whose entries the merger can add. */
export interface MergeablePart {
  readonly compiled: CompiledPart;
  readonly merger: PartMerger;
}

/**
 * Parts that are compiled before threads are started: to start one takes as long as to compile
 * hundreds of files.
 */
const PARTS_WITHOUT_THREADS = 2;

/**
 * Parts that wait to be merged while the one before them is still at work, for each that the
 * threads have at hand.
 */
const PARTS_AHEAD = 2;

/** Who compiles the parts of caches: this thread, and if there are many of them, others. */
export class PartCrew {
  readonly #builder: TableBuilder;
  readonly #options: PartCompilerOptions;
  readonly #threadCount: number;
  readonly #entry: string | undefined;
  readonly #own: PartCompiler;
  readonly #ownMerger: PartMerger;
  #threads: CompileThreads | undefined;
  #ownParts = 0;

  /**
   * @param threads 1 for this thread alone
   * @param entry what they load, where it is not the usual file
   */
  constructor(
    builder: TableBuilder,
    options: PartCompilerOptions,
    threads: number,
    entry: string | undefined,
  ) {
    this.#builder = builder;
    this.#options = options;
    this.#threadCount = threads;
    this.#entry = entry;
    this.#own = new PartCompiler(options, false);
    this.#ownMerger = builder.merger();
  }

  /** Parts to be given out before the first of them is merged. */
  get capacity(): number {
    return this.#threads === undefined ? 1 : PARTS_AHEAD * this.#threads.capacity;
  }

  /**
   * Compiles a part; its lines are no more to be used elsewhere.
   *
   * @throws RobotsFilterError `worker` if a thread dies or throws
   */
  compile(part: CachePart): Promise<MergeablePart> {
    if (this.#threadCount > 1 && this.#ownParts >= PARTS_WITHOUT_THREADS) {
      this.#threads ??= new CompileThreads(
        this.#builder,
        this.#options,
        this.#threadCount,
        this.#entry,
      );
      const { isRunning, waiting, capacity } = this.#threads;
      if (isRunning || waiting < capacity) return this.#threads.compile(part);
    }
    return this.#compileHere(part);
  }

  async #compileHere(part: CachePart): Promise<MergeablePart> {
    this.#ownParts++;
    const compiled = await this.#own.compile(part);
    this.#ownMerger.receive(compiled.table);
    return { compiled, merger: this.#ownMerger };
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.#threads?.close();
  }
}
