import { checkOptions, type OptionKinds, shownValue, wholeNumber } from '../base/arguments.js';
import { RobotsFilterError } from '../base/errors.js';
import { Table } from '../judge/table.js';
import { allocateTable } from '../judge/table-memory.js';
import { MAX_THREADS } from '../pipeline/bad-record.js';
import { warnOfMisspeltAgents } from '../protocol/unnamed-agents.js';
import type { Profile } from '../protocol/verdict.js';
import type { CacheWarning } from '../sources/entry.js';

/** Options of `compileTable`. */
export interface CompileTableOptions {
  /** Default `rfc9309`. The table answers under this profile only. */
  readonly profile?: Profile | undefined;
  /** Parsing limit in bytes, as in `ParseOptions`. */
  readonly maxBytes?: number | undefined;
  /** Keeps only the groups that these product tokens need, and those of `*`. */
  readonly agents?: readonly string[] | undefined;
  /** Keeps sitemaps and other records in the table, as in `TableBuilderOptions`. Default false. */
  readonly records?: boolean | undefined;
  /** Keeps what robots.txt files say about uses. Default false. */
  readonly signals?: boolean | undefined;
  /** Keeps all robots.txt files of each authority, as in `TableBuilderOptions`. Default false. */
  readonly history?: boolean | undefined;
  /** Follows symbolic links that lead out of a directory. Default false. */
  readonly followLinks?: boolean | undefined;
  /**
   * Findings of `fetch` older than RFC 9309 section 2.4 allows: `use` (default) or `unknown`. In a
   * history each counts for its own time, and `stale` is refused.
   */
  readonly stale?: 'use' | 'unknown' | undefined;
  /** Captures of WARC files after this moment do not count. Default: all count. */
  readonly asOf?: Date | undefined;
  /** Number of threads, 1 to 256. Default: one per core. A bundle compiles on its own thread. */
  readonly threads?: number | undefined;
  /** Called for each part of a source that is skipped. */
  readonly onWarning?: ((warning: CacheWarning) => void) | undefined;
  /** Aborts the compilation. */
  readonly signal?: AbortSignal | undefined;
}

const OPTIONS: OptionKinds<CompileTableOptions> = {
  profile: 'other',
  maxBytes: 'number',
  agents: 'other',
  records: 'boolean',
  signals: 'boolean',
  history: 'boolean',
  followLinks: 'boolean',
  stale: ['use', 'unknown'],
  asOf: Date,
  threads: 'number',
  onWarning: 'function',
  signal: AbortSignal,
};

/**
 * Compiles robots.txt files into a table: directories, files of records and WARC files, as
 * `--robots-dir` takes them. Later sources override earlier ones.
 *
 * @param sources a path, or a list of paths
 * @throws RobotsFilterError `usage` for an unknown option or a value out of range; `input` if a
 *   source cannot be read; `limit` if the table would not fit in 4 GiB; `worker` if a thread fails
 */
export async function compileTable(
  sources: string | readonly string[],
  options: CompileTableOptions = {},
): Promise<Table> {
  checkOptions('compileTable', options, OPTIONS);
  const paths = typeof sources === 'string' ? [sources] : sources;
  const isList = Array.isArray(paths) && paths.length > 0;
  if (!isList || !paths.every((path) => typeof path === 'string' && path !== '')) {
    const remedy = 'Pass the path of a directory or file of robots.txt files, or a list of paths';
    throw new RobotsFilterError('usage', `the source is ${shownValue(sources)}. ${remedy}`);
  }
  if (options.threads !== undefined) wholeNumber('threads', options.threads, MAX_THREADS);
  if (options.history === true && options.stale !== undefined) {
    throw new RobotsFilterError(
      'usage',
      'stale has no effect on a history, in which each robots.txt counts for its own time. Leave it out',
    );
  }
  // Loaded on demand, because most programs open tables, and the readers of sources are large.
  const { compileCache } = await import('../pipeline/compile/compile-cache.js');
  const { layout } = await compileCache(paths, {
    profile: options.profile ?? 'rfc9309',
    maxRobotsBytes: options.maxBytes,
    productTokens: options.agents,
    records: options.records,
    signals: options.signals,
    history: options.history,
    followLinks: options.followLinks,
    stale: options.stale,
    asOf: options.asOf?.getTime(),
    threads: options.threads,
    onWarning: options.onWarning ?? (() => {}),
    signal: options.signal,
  });
  const kept = (options.agents ?? []).map((token) => ({ name: token, chain: [token] }));
  await warnOfMisspeltAgents(kept, layout.named, paths.join(', '));
  return Table.from(layout.table(allocateTable), paths.join(', '));
}
