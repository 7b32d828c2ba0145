import {
  type CompileCacheOptions,
  type CompiledCache,
  compileCache,
} from '../../pipeline/compile/compile-cache.js';
import type { RobotsOptions } from '../options/command-options.js';
import type { Interruption } from '../process/interruption.js';
import { CacheWarnings } from '../report/cache-warnings.js';
import type { Diagnostics } from '../report/diagnostics.js';
import { formatCount } from '../report/numbers.js';

/**
 * Compiles caches, and reports on standard error what was skipped, stale or overridden.
 *
 * @param productTokens the product tokens whose groups are kept; undefined keeps all groups
 * @throws RobotsFilterError `input` if a cache cannot be read
 */
export async function compileCaches(
  paths: readonly string[],
  options: CachesOptions,
  productTokens: readonly string[] | undefined,
  diagnostics: Diagnostics,
  interruption: Interruption,
): Promise<CompiledCache> {
  return reported(paths, options, { productTokens, diagnostics, interruption }, (compiling) =>
    compileCache(paths, compiling),
  );
}

/** The options of commands that compile, as `reported` needs them. */
type CachesOptions = RobotsOptions & { readonly threads?: number; readonly records?: boolean };

/** What a compilation needs beside its options. */
export interface CompilationContext {
  readonly productTokens: readonly string[] | undefined;
  readonly diagnostics: Diagnostics;
  readonly interruption: Interruption;
}

/** Compiles caches with a function; reports what was skipped, stale or overridden. */
export async function reported<Compiled extends Pick<CompiledCache, 'stats' | 'stale'>>(
  paths: readonly string[],
  options: CachesOptions,
  { productTokens, diagnostics, interruption }: CompilationContext,
  compile: (options: CompileCacheOptions) => Promise<Compiled>,
): Promise<Compiled> {
  const warnings = new CacheWarnings(diagnostics);
  const compiled = await compile({
    ...readingOf(options),
    productTokens,
    records: options.records,
    onWarning: (warning) => warnings.add(warning),
    threads: options.threads,
    signal: interruption.signal,
  });
  warnings.summarise();
  noteStale(compiled, options, diagnostics);
  const { stats } = compiled;
  if (stats.files === 0 && compiled.stale === 0) {
    diagnostics.note(
      `warning: no robots.txt in ${paths.join(', ')}: every host is unknown. ` +
        'Name the files HOST, HOST.txt, HOST-robots.txt, HOST.robots.txt, HOST/robots.txt or SCHEME/HOST/robots.txt',
    );
  }
  if (stats.replaced > 0 && paths.length === 1) {
    diagnostics.note(
      `warning: ${formatCount(stats.replaced, 'robots.txt file overrides', 'robots.txt files override')} earlier ones for the same scheme, host and port`,
    );
  }
  return compiled;
}

/** The settings for reading caches that a run of the filter and the fetch before it share. */
export function readingOf(options: RobotsOptions): Omit<CompileCacheOptions, 'onWarning'> {
  return {
    profile: options.profile ?? 'rfc9309',
    maxRobotsBytes: options.maxRobotsBytes,
    followLinks: options.followLinks,
    stale: options.stale,
    fetchReading: { unreachableAfter: options.unreachableAfter },
    asOf: options.asOf,
    columns: {
      host: options.hostColumn,
      robots: options.robotsColumn,
      status: options.statusColumn,
    },
  };
}

function noteStale(
  { stale }: Pick<CompiledCache, 'stale'>,
  options: RobotsOptions,
  diagnostics: Diagnostics,
): void {
  if (stale === 0) return;
  const files = formatCount(stale, 'robots.txt file is', 'robots.txt files are');
  const [fate, alternative] =
    options.stale === 'unknown'
      ? ['; their hosts are unknown', '']
      : [', and used anyway', ', or leave them out with --stale unknown'];
  diagnostics.note(
    `warning: ${files} stale${fate}. Refresh them with robots-filter fetch --robots-dir DIR --stale${alternative}`,
  );
}
