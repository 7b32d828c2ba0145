import { TableBuilder, type TableBuilderStats } from '../compile/table-builder.js';
import { MIN_BYTES } from '../protocol/parse.js';
import type { Profile } from '../protocol/profile.js';
import type { WarningCode } from '../protocol/robots-file.js';
import { type CacheWarning, readCache } from './cache/cache.js';
import type { FetchReading } from './cache/fetch-record.js';

/** Stale findings of fetches count all the same, or their authorities are unknown. */
export type StaleUse = 'use' | 'unknown';

/** How caches become a table. */
export interface CompileCacheOptions {
  readonly profile: Profile;
  /** Parsing limit in octets, at least 512,000 (RFC 9309 section 2.5); the google profile has none. */
  readonly maxRobotsOctets?: number | undefined;
  /** Product tokens whose groups, and those of `*`, are all that is kept. */
  readonly productTokens?: readonly string[] | undefined;
  /** Whether symbolic links may lead out of a directory; default false. */
  readonly followLinks?: boolean | undefined;
  /** How records of fetches are understood: the time, and the days for which what is unreachable denies. */
  readonly fetchReading?: FetchReading | undefined;
  /** What becomes of what a fetch found longer ago than it may count (RFC 9309 section 2.4): default `use`. */
  readonly stale?: StaleUse | undefined;
  /** Is told of each thing that was left out of a cache, as it is read. */
  readonly onWarning: (warning: CacheWarning) => void;
  /** Ends the reading early. */
  readonly signal?: AbortSignal | undefined;
}

export interface CompiledCache {
  /** The table's octets. */
  readonly table: Uint8Array;
  readonly stats: TableBuilderStats;
  /** What is wrong with the content of files, by kind. It left nothing out but lines. */
  readonly contentWarnings: ReadonlyMap<WarningCode, number>;
  /** Findings of fetches that are older than they may be, whether they were used or not. */
  readonly stale: number;
}

/**
 * Reads caches of robots.txt in order and compiles them into one table. What a later one says of an authority
 * counts before what an earlier one says. Bodies are let go as soon as they are compiled.
 *
 * @param paths directories or files of records, as `readCache` takes them
 * @throws RobotsFilterError `input` if a cache cannot be read, `limit` if the table would not fit in 4 GiB, `usage`
 *   for a parsing limit out of range
 */
export async function compileCache(
  paths: readonly string[],
  options: CompileCacheOptions,
): Promise<CompiledCache> {
  const contentWarnings = new Map<WarningCode, number>();
  const builder = new TableBuilder({
    profile: options.profile,
    maxBytes: options.maxRobotsOctets,
    agents: options.productTokens,
    onWarning(_source, { code }) {
      contentWarnings.set(code, (contentWarnings.get(code) ?? 0) + 1);
    },
  });
  const cacheOptions = {
    followLinks: options.followLinks ?? false,
    maxBodyBytes:
      options.profile === 'google'
        ? Number.POSITIVE_INFINITY
        : (options.maxRobotsOctets ?? MIN_BYTES),
    onWarning: options.onWarning,
    // One moment for all of them.
    fetchReading: { now: Date.now(), ...options.fetchReading },
  };
  let stale = 0;
  for (const path of paths) {
    for await (const batch of readCache(path, cacheOptions)) {
      options.signal?.throwIfAborted();
      for (const { authority, body, source, status, fetched } of batch) {
        if (fetched?.stale === true) {
          stale++;
          if (options.stale === 'unknown') continue;
        }
        builder.add(authority, body, { source, status, access: fetched?.access });
      }
    }
  }
  return { table: builder.build(), stats: builder.stats, contentWarnings, stale };
}
