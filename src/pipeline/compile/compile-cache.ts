/** Compiles all robots.txt files of caches into one table, on one thread or several. */

import { availableParallelism } from 'node:os';
import { RobotsFilterError } from '../../base/errors.js';
import { PartMerger } from '../../compile/part-merger.js';
import { type TableBuilderStats, TableContents } from '../../compile/table-contents.js';
import type { TableLayout } from '../../compile/table-layout.js';
import { BodyClaims } from '../../compile/table-part.js';
import { entryFile } from '../../files/package-file.js';
import { hasWorkingDirectory } from '../../files/system-error.js';
import type { WarningCode } from '../../protocol/robots-file.js';
import { DAY, LEAST_PARSING_LIMIT, type Profile } from '../../protocol/verdict.js';
import {
  type Archive,
  type CacheContent,
  type CachePart,
  cacheContents,
  nestedParts,
  type RecordColumns,
} from '../../sources/cache.js';
import type { CacheWarning, WarningEvent } from '../../sources/entry.js';
import type { FetchReading } from '../../sources/fetch-state.js';
import { ArchiveCompilation } from './archive-compilation.js';
import {
  type CompiledPart,
  compileWarnings,
  type MergeablePart,
  PartCompiler,
  type PartCompilerOptions,
} from './part-compiler.js';
import type { CompileThreads } from './threads.js';

/** Whether a stale finding of a fetch is used, or makes its authority unknown. */
export type StaleUse = 'use' | 'unknown';

/** Options for compiling caches into a table. */
export interface CompileCacheOptions {
  readonly profile: Profile;
  /**
   * Parsing limit in bytes, at least 512,000 (RFC 9309 section 2.5); ignored by the google profile.
   */
  readonly maxRobotsBytes?: number | undefined;
  /** Keeps only the groups of these product tokens, and those of `*`. Default: all groups. */
  readonly productTokens?: readonly string[] | undefined;
  /** Called when everything has been read, before anything is written; an error ends the run. */
  readonly onRead?: ((read: ReadFiles) => void) | undefined;
  /** Keeps other records and dates: see `CompileOptions.records`. Default false. */
  readonly records?: boolean | undefined;
  /** Keeps what robots.txt files say about uses: see `CompileOptions.signals`. Default false. */
  readonly signals?: boolean | undefined;
  /** Keeps all robots.txt files of each authority: see `CompileOptions.history`. Default false. */
  readonly history?: boolean | undefined;
  /** Follows symbolic links that lead out of a directory. Default false. */
  readonly followLinks?: boolean | undefined;
  /**
   * For states of fetches: the time, and the number of days for which an unreachable host denies.
   */
  readonly fetchReading?: FetchReading | undefined;
  /** Captures after this moment do not count; milliseconds since 1970. Default: all count. */
  readonly asOf?: number | undefined;
  /** The columns of Parquet files. Default: found by their names. */
  readonly columns?: RecordColumns | undefined;
  /** What to do with findings that are older than RFC 9309 section 2.4 allows. Default `use`. */
  readonly stale?: StaleUse | undefined;
  /**
   * Called for each part of a cache that is skipped, and at the end with the warnings of
   * `compileWarnings`.
   */
  readonly onWarning: (warning: CacheWarning) => void;
  /**
   * Maximum number of threads that compile; 1 for the calling thread alone. Default: one per core.
   */
  readonly threads?: number | undefined;
  /** The module that the threads load, for tests. */
  readonly threadEntry?: string | undefined;
  /** Aborts the compilation. */
  readonly signal?: AbortSignal | undefined;
}

/** What was read of caches. */
interface ReadFiles {
  /** Number of robots.txt files, without stale ones that are left out. */
  readonly files: number;
  /** Number of stale findings of fetches, used or not. */
  readonly stale: number;
  /** Number of files that a table with histories leaves out, because they have no date. */
  readonly undated: number;
}

export interface CompiledCache {
  /** The table, to be written once. */
  readonly layout: TableLayout;
  readonly stats: TableBuilderStats;
  /** Number of warnings about the content of files, by code. Such warnings skip lines only. */
  readonly contentWarnings: ReadonlyMap<WarningCode, number>;
  /** Number of stale findings of fetches, used or not. */
  readonly stale: number;
}

/**
 * Compiles caches of robots.txt files into one table. Later caches override earlier ones. Each body
 * is released when it is compiled. The table, the statistics and the warnings do not depend on the
 * number of threads.
 *
 * @param paths directories, files of records, archives and tables, as `cacheContents` takes them
 * @throws RobotsFilterError `input` if a cache cannot be read, `limit` if the table would not fit
 *   in 4 GiB, `usage` for a parsing limit out of range, `worker` if a thread fails
 */
export async function compileCache(
  paths: readonly string[],
  options: CompileCacheOptions,
): Promise<CompiledCache> {
  const settings = partSettings(options);
  const contents = new TableContents(settings.compile);
  // A bundle has only threads that judge.
  const canStart = entryFile('compile') !== undefined && hasWorkingDirectory();
  const threads = canStart ? (options.threads ?? availableParallelism()) : 1;
  const compilation = new CacheCompilation(contents, options, threads, {
    ...settings,
    key: contents.key,
    claims: threads > 1 ? new BodyClaims().memory : undefined,
  });
  try {
    await compilation.compile(contentsOf(paths, options));
  } finally {
    await compilation.close();
  }
  options.signal?.throwIfAborted();
  const { files, undated } = contents;
  options.onRead?.({ files, stale: compilation.stale, undated });
  const layout = contents.layOut();
  for (const warning of compileWarnings(contents, layout)) options.onWarning(warning);
  const { stats, contentWarnings } = contents;
  return {
    layout,
    stats,
    contentWarnings,
    stale: compilation.stale,
  };
}

/** The columns of Parquet files that are read: those of dates only if the dates matter. */
export function columnsOf(options: CompileCacheOptions): RecordColumns {
  const { columns, records, history, asOf } = options;
  return { ...columns, hasDates: records === true || history === true || asOf !== undefined };
}

/** The contents of the caches that are compiled; tables are among them. */
export function contentsOf(
  paths: readonly string[],
  options: CompileCacheOptions,
): ReturnType<typeof cacheContents> {
  const { followLinks = false, profile, productTokens, records, signals, history, asOf } = options;
  const tables = { profile, agents: productTokens, records, signals, history, asOf };
  return cacheContents(paths, followLinks, columnsOf(options), tables);
}

/** The options that do not depend on the table, for all threads. */
export function partSettings(
  options: CompileCacheOptions,
): Pick<PartCompilerOptions, 'cache' | 'compile' | 'leaveOutStale' | 'until'> {
  return {
    cache: {
      maxBodyBytes:
        options.profile === 'google'
          ? Number.POSITIVE_INFINITY
          : (options.maxRobotsBytes ?? LEAST_PARSING_LIMIT),
      profile: options.profile,
      // All threads judge staleness by the same moment.
      fetchReading: { now: Date.now(), ...options.fetchReading },
      asOf: options.asOf,
      needsDates: options.history,
    },
    compile: {
      profile: options.profile,
      maxBytes: options.maxRobotsBytes,
      agents: options.productTokens,
      records: options.records,
      signals: options.signals,
      history: options.history,
    },
    leaveOutStale: options.stale === 'unknown',
    // Clocks differ, and times without a zone may be local.
    until: options.asOf ?? (options.history === true ? Date.now() + DAY : undefined),
  };
}

/** What is compiled in order: parts, archives, and warnings of what was skipped. */
type Content = CacheContent | CachePart | WarningEvent;

/** Compiles caches into a table, part by part. Parts are given out and merged in order. */
class CacheCompilation {
  stale = 0;
  readonly #options: CompileCacheOptions;
  readonly #contents: TableContents;
  readonly #compiler: ParallelCompiler;
  /** The archive whose parts are being compiled. */
  #archive: ArchiveCompilation | undefined;

  constructor(
    contents: TableContents,
    options: CompileCacheOptions,
    threads: number,
    partOptions: PartCompilerOptions,
  ) {
    this.#options = options;
    this.#contents = contents;
    this.#compiler = new ParallelCompiler(contents, partOptions, threads, options.threadEntry);
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.#compiler.close();
  }

  /** Compiles parts, and the parts nested in them. */
  async compile(contents: AsyncGenerator<Content>): Promise<void> {
    const parts = readAhead(contents, () => this.#compiler.expectMany());
    const merges: (() => Promise<void>)[] = [];
    try {
      for (;;) {
        const { value: part, done } = await this.#next(parts, merges);
        if (done) break;
        this.#options.signal?.throwIfAborted();
        merges.push(this.#begin(part));
        while (merges.length >= this.#compiler.capacity) await merges.shift()?.();
      }
      for (const merge of merges) await merge();
    } finally {
      await parts.return(undefined);
    }
  }

  /**
   * Returns the next part. If reading fails, earlier parts are merged first, for their warnings.
   */
  async #next(
    parts: AsyncGenerator<Content>,
    merges: readonly (() => Promise<void>)[],
  ): Promise<IteratorResult<Content>> {
    try {
      return await parts.next();
    } catch (error) {
      for (const merge of merges) await merge();
      throw error;
    }
  }

  /** Starts compiling a part; returns a function that merges it, to be called in order. */
  #begin(part: Content): () => Promise<void> {
    if (part.kind === 'warning') return async () => this.#options.onWarning(part.warning);
    if (part.kind === 'archive') return () => this.#compileArchive(part);
    const mergeable = this.#compiler.compile(part);
    mergeable.catch(() => {}); // the merge reports the error
    return async () => this.#merge(part, await this.#unlessAborted(mergeable));
  }

  /** Rejects when the signal aborts, because a part of an archive may take long. */
  #unlessAborted(mergeable: Promise<MergeablePart>): Promise<MergeablePart> {
    const { signal } = this.#options;
    if (signal === undefined) return mergeable;
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.reason);
      signal.addEventListener('abort', abort);
      mergeable.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    });
  }

  async #compileArchive(archive: Archive): Promise<void> {
    const { onWarning, signal, history = false } = this.#options;
    const compilation = new ArchiveCompilation(archive, this.#contents, onWarning, { history });
    this.#archive = compilation;
    try {
      for (const parts of compilation.readings()) await this.compile(eachOf(parts));
    } finally {
      archive.release();
    }
    // All captures of an archive are bound in memory, and often they are the last to be compiled.
    await this.#compiler.rest();
    await compilation.bind(signal);
    this.#archive = undefined;
  }

  async #merge(part: CachePart, { compiled, merger }: MergeablePart): Promise<void> {
    this.#options.signal?.throwIfAborted();
    const { table, events, stale, failure }: CompiledPart = compiled;
    this.stale += stale;
    let added = 0;
    for (const [before, event] of events) {
      merger.add(table, added, before);
      added = before;
      if (event.kind === 'warning') this.#options.onWarning(event.warning);
      else if (part.kind === 'names') {
        await this.compile(nestedParts(event, part, columnsOf(this.#options)));
      }
    }
    merger.add(table, added);
    if (part.kind === 'captures') this.#archive?.add(compiled.captures, part, merger);
    if (failure !== undefined) throw new RobotsFilterError(failure.code, failure.message);
  }
}

async function* eachOf<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}

/**
 * Number of parts that are compiled on this thread before threads are started. Starting a thread
 * takes as long as compiling hundreds of files.
 */
const PARTS_WITHOUT_THREADS = 2;

/**
 * Passes on parts, and tells before the first if there are more than PARTS_WITHOUT_THREADS: then
 * the calling thread need not compile any of them, for which V8 would optimize its code once more.
 */
async function* readAhead(
  parts: AsyncGenerator<Content>,
  onMany: () => void,
): AsyncGenerator<Content> {
  const first: Content[] = [];
  try {
    while (first.length <= PARTS_WITHOUT_THREADS) {
      const { value, done } = await parts.next();
      if (done) break;
      first.push(value);
    }
    if (first.length > PARTS_WITHOUT_THREADS) onMany();
  } catch (error) {
    yield* first; // They have warnings.
    throw error;
  }
  try {
    yield* first;
    yield* parts;
  } finally {
    await parts.return(undefined);
  }
}

/** Minimum length in bytes of a file of captures that takes longer than starting threads. */
const LONG_ARCHIVE = 4 * 1024 * 1024;

/** Number of parts given out for each part that the threads can hold: some wait for a merge. */
const PARTS_AHEAD = 2;

/** Compiles the parts of caches on this thread and, if there are many, on others. */
class ParallelCompiler {
  readonly #contents: TableContents;
  readonly #options: PartCompilerOptions;
  readonly #threadCount: number;
  readonly #entry: string | undefined;
  readonly #own: PartCompiler;
  readonly #ownMerger: PartMerger;
  #threads: CompileThreads | undefined;
  #ownParts = 0;
  #expectsMany = false;
  #previous: Promise<unknown> = Promise.resolve();
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

  /** Starts threads with the next part. */
  expectMany(): void {
    this.#expectsMany = true;
  }

  /** Number of parts to give out before the first is merged. */
  get capacity(): number {
    if (this.#threads !== undefined) return PARTS_AHEAD * this.#threads.capacity;
    // The threads for long parts are about to start. Others wait for the first part: if this thread
    // compiled some meanwhile, V8 would optimize its code once more, and 116 MB take 8 % longer.
    return this.#hasLong ? PARTS_AHEAD * this.#threadCount : 1;
  }

  /**
   * Compiles a part. May transfer its buffer; don't touch it afterwards.
   *
   * @throws RobotsFilterError `worker` if a thread dies or throws
   */
  async compile(part: CachePart): Promise<MergeablePart> {
    // Nothing is left to compile, and the entries would be copied for the thread.
    if (part.kind === 'table') return this.#compileHere(part);
    const isLong = part.kind === 'captures' && part.length > LONG_ARCHIVE;
    this.#hasLong ||= isLong && this.#threadCount > 1;
    const isMany = this.#expectsMany || this.#ownParts >= PARTS_WITHOUT_THREADS;
    if (this.#threadCount > 1 && (isLong || isMany)) {
      // Imported on demand, with piscina: few caches need threads.
      const { CompileThreads } = await import('./threads.js');
      this.#threads ??= new CompileThreads(
        this.#contents,
        this.#options,
        this.#threadCount,
        this.#entry,
      );
      const { isRunning, waiting, capacity } = this.#threads;
      if (isLong || isRunning || waiting < capacity) return this.#threads.compile(part, isLong);
    }
    return this.#compileHere(part);
  }

  /** Compiles a part on this thread, after those before it: files are read while others wait. */
  #compileHere(part: CachePart): Promise<MergeablePart> {
    this.#ownParts++;
    const mergeable = this.#previous.then(async () => {
      const compiled = await this.#own.compile(part);
      this.#ownMerger.receive(compiled.table);
      return { compiled, merger: this.#ownMerger };
    });
    this.#previous = mergeable.catch(() => {});
    return mergeable;
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
