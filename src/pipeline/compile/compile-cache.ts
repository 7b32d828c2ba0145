import { availableParallelism } from 'node:os';
import { BodyClaims } from '../../compile/body-claims.js';
import { TableBuilder, type TableBuilderStats } from '../../compile/table-builder.js';
import type { TableLayout } from '../../compile/table-layout.js';
import { ENTRY_WORDS } from '../../compile/table-part.js';
import { RobotsFilterError } from '../../errors.js';
import { MIN_BYTES } from '../../protocol/parse.js';
import type { Profile } from '../../protocol/profile.js';
import type { WarningCode } from '../../protocol/robots-file.js';
import { MESSAGES } from '../../protocol/warnings.js';
import { type CachePart, type CacheWarning, cacheParts, nestedParts } from '../cache/cache.js';
import type { WarningEvent } from '../cache/entry.js';
import type { FetchReading } from '../cache/fetch-record.js';
import type { CompiledPart, PartCompilerOptions } from './part-compiler.js';
import { type MergeablePart, PartCrew } from './part-crew.js';

/** Stale findings of fetches count all the same, or their authorities are unknown. */
export type StaleUse = 'use' | 'unknown';

/** How caches become a table. */
export interface CompileCacheOptions {
  readonly profile: Profile;
  /**
   * Parsing limit in octets, at least 512,000 (RFC 9309 section 2.5); the google profile has none.
   */
  readonly maxRobotsOctets?: number | undefined;
  /** Product tokens whose groups, and those of `*`, are all that is kept. */
  readonly productTokens?: readonly string[] | undefined;
  /** Whether symbolic links may lead out of a directory; default false. */
  readonly followLinks?: boolean | undefined;
  /**
   * How records of fetches are understood: the time, and the days for which what is unreachable
   * denies.
   */
  readonly fetchReading?: FetchReading | undefined;
  /**
   * What becomes of what a fetch found longer ago than it may count (RFC 9309 section 2.4): default
   * `use`.
   */
  readonly stale?: StaleUse | undefined;
  /**
   * Is told of each thing that was left out of a cache as it is read, and of each file that was
   * given up when all are compiled.
   */
  readonly onWarning: (warning: CacheWarning) => void;
  /**
   * Threads that compile, where there is enough to do; 1 for the calling one alone. Default: one
   * for each core.
   */
  readonly threads?: number | undefined;
  /** What these threads load, where it is not the usual module: for tests. */
  readonly threadEntry?: string | undefined;
  /** Ends the reading early. */
  readonly signal?: AbortSignal | undefined;
}

export interface CompiledCache {
  /** What the table will be, to be written once. */
  readonly layout: TableLayout;
  readonly stats: TableBuilderStats;
  /** What is wrong with the content of files, by kind. It left nothing out but lines. */
  readonly contentWarnings: ReadonlyMap<WarningCode, number>;
  /** Findings of fetches that are older than they may be, whether they were used or not. */
  readonly stale: number;
}

/**
 * Reads caches of robots.txt in order and compiles them into one table. What a later one says of an
 * authority counts before what an earlier one says. Bodies are let go as soon as they are compiled.
 * However many threads there are, the table, the statistics and the warnings are the same.
 *
 * @param paths directories or files of records, as `cacheParts` takes them
 * @throws RobotsFilterError `input` if a cache cannot be read, `limit` if the table would not fit
 *   in 4 GiB, `usage` for a parsing limit out of range, `worker` if a thread fails
 */
export async function compileCache(
  paths: readonly string[],
  options: CompileCacheOptions,
): Promise<CompiledCache> {
  const compile = {
    profile: options.profile,
    maxBytes: options.maxRobotsOctets,
    agents: options.productTokens,
  };
  const builder = new TableBuilder(compile);
  const threads = options.threads ?? availableParallelism();
  const compilation = new CacheCompilation(builder, options, threads, {
    cache: {
      maxBodyBytes:
        options.profile === 'google'
          ? Number.POSITIVE_INFINITY
          : (options.maxRobotsOctets ?? MIN_BYTES),
      // One moment for all of them.
      fetchReading: { now: Date.now(), ...options.fetchReading },
    },
    compile,
    key: builder.key,
    claims: threads > 1 ? new BodyClaims().memory : undefined,
    leaveOutStale: options.stale === 'unknown',
  });
  try {
    for (const path of paths) {
      await compilation.compile(cacheParts(path, options.followLinks ?? false));
    }
  } finally {
    await compilation.close();
  }
  options.signal?.throwIfAborted();
  for (const path of builder.sourcesOf('over-budget')) {
    options.onWarning({ code: 'over-budget', path, message: MESSAGES['over-budget'] });
  }
  const { stats, contentWarnings } = builder;
  return {
    layout: builder.layOut(),
    stats,
    contentWarnings,
    stale: compilation.stale,
  };
}

/** The compiling of caches into a table, part by part: given out in order, merged in order. */
class CacheCompilation {
  stale = 0;
  readonly #options: CompileCacheOptions;
  readonly #crew: PartCrew;

  constructor(
    builder: TableBuilder,
    options: CompileCacheOptions,
    threads: number,
    partOptions: PartCompilerOptions,
  ) {
    this.#options = options;
    this.#crew = new PartCrew(builder, partOptions, threads, options.threadEntry);
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.#crew.close();
  }

  /** Compiles parts, and what is nested in them. */
  async compile(parts: AsyncGenerator<CachePart | WarningEvent>): Promise<void> {
    const merges: (() => Promise<void>)[] = [];
    try {
      for (;;) {
        const { value: part, done } = await this.#next(parts, merges);
        if (done) break;
        this.#options.signal?.throwIfAborted();
        merges.push(this.#begin(part));
        while (merges.length >= this.#crew.capacity) await merges.shift()?.();
      }
      for (const merge of merges) await merge();
    } finally {
      await parts.return(undefined);
    }
  }

  /**
   * The next part. If there is none to be had, those before it count all the same: there may be
   * something to warn of.
   */
  async #next(
    parts: AsyncGenerator<CachePart | WarningEvent>,
    merges: readonly (() => Promise<void>)[],
  ): Promise<IteratorResult<CachePart | WarningEvent, undefined>> {
    try {
      return await parts.next();
    } catch (error) {
      for (const merge of merges) await merge();
      throw error;
    }
  }

  /** Has a part compiled; returns what is to be done when all before it are merged. */
  #begin(part: CachePart | WarningEvent): () => Promise<void> {
    if (part.kind === 'warning') return async () => this.#options.onWarning(part.warning);
    const mergeable = this.#crew.compile(part);
    mergeable.catch(() => {}); // heard when its turn comes, if the run gets there
    return async () => this.#merge(part, await mergeable);
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
      else if (part.kind === 'names') await this.compile(nestedParts(event, part));
    }
    merger.add(table, added, table.entries.length / ENTRY_WORDS);
    if (failure !== undefined) throw new RobotsFilterError(failure.code, failure.message);
  }
}
