import { RobotsFilterError } from '../../base/errors.js';
import { trustedCertificates } from '../../fetch/certificates.js';
import type { FetchAuthority } from '../../fetch/result.js';
import { inputName } from '../../files/openings.js';
import { errorText, makeDirectory } from '../../files/system-error.js';
import { Table } from '../../judge/table.js';
import { allocateTable } from '../../judge/table-memory.js';
import { compileCache } from '../../pipeline/compile/compile-cache.js';
import { RereadableInputs } from '../../pipeline/input/rereadable.js';
import { formatAuthority } from '../../protocol/authority.js';
import { Diagnostics, interruptible, usageError } from '../console.js';
import type { FilterOptions } from '../options.js';
import { readingOf } from './compile-caches.js';
import { type FetchRunParts, fetchAll, proxiesOf, readAuthorities } from './fetch.js';
import { filter } from './filter.js';
import { checkFilterUsage } from './filter-usage.js';
import { namedInputs } from './inputs.js';

/**
 * `robots-filter --fetch`: fetches the robots.txt of unknown hosts into the first robots directory,
 * then filters.
 *
 * @param cores number of threads, unless the options name another
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function fetchAndFilter(
  files: readonly string[],
  options: FilterOptions,
  cores: number,
  version: string,
): Promise<number> {
  await checkFilterUsage(files, options);
  const [directory] = options.robotsDir ?? [];
  if (directory === undefined) {
    throw usageError(
      '--fetch needs a directory, not a table. Use --robots-dir DIR instead of --table',
    );
  }
  const certificates = await trustedCertificates(options.ca);
  const proxies = proxiesOf(options);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const named = await namedInputs(files);
  const paths = named.map(({ path }) => path);
  const inputs = new RereadableInputs(paths, (input, copy) =>
    diagnostics.note(`copying ${inputName(input)} to ${copy}: --fetch reads it twice`),
  );
  try {
    const parts = { certificates, proxies, diagnostics, version };
    const read = await fetchUnknown(inputs, directory, options, parts);
    if (typeof read === 'number') return read;
    inputs.refuseTruncated();
    const reread = named.map((input, index) => ({ ...input, path: read[index] ?? input.path }));
    return await filter(files, options, cores, { named: reread });
  } finally {
    inputs.discard();
  }
}

/**
 * Fetches the robots.txt of the hosts of the inputs that no directory has.
 *
 * @returns the paths of the inputs for the second reading, or the exit code after a signal
 */
async function fetchUnknown(
  inputs: RereadableInputs,
  directory: string,
  options: FilterOptions,
  parts: Pick<FetchRunParts, 'certificates' | 'proxies' | 'diagnostics' | 'version'>,
): Promise<readonly string[] | number> {
  const { diagnostics } = parts;
  return interruptible(async (interruption) => {
    const { signal } = interruption;
    createDirectory(directory);
    const paths = await inputs.paths(signal);
    const authorities = await readAuthorities(paths, options, diagnostics, signal);
    signal.throwIfAborted();
    const unknown = await unknownAuthorities(authorities, options, signal);
    signal.throwIfAborted();
    if (unknown.length > 0) {
      const fetching = { ...parts, options: fetchOptionsOf(options), directory, interruption };
      await fetchAll(unknown, unknown.length, fetching);
    }
    return interruption.exitCode ?? paths;
  });
}

function fetchOptionsOf(options: FilterOptions) {
  // The filter's --stale, --robots-dir and --report have other meanings than in fetch.
  const { stale: _stale, robotsDir: _robotsDir, report: _report, ...rest } = options;
  return rest;
}

function createDirectory(path: string): void {
  try {
    makeDirectory(path);
  } catch (cause) {
    throw new RobotsFilterError(
      'output',
      `${path}: cannot create the directory (${errorText(cause)}). With --fetch the first --robots-dir must be a directory`,
      { cause },
    );
  }
}

/** The authorities for which no robots directory has a robots.txt or a finding. */
async function unknownAuthorities(
  authorities: Iterable<FetchAuthority>,
  options: FilterOptions,
  signal: AbortSignal,
): Promise<FetchAuthority[]> {
  const { layout } = await compileCache(options.robotsDir ?? [], {
    ...readingOf(options),
    // The filter prints the same warnings when it compiles the caches.
    onWarning: () => {},
    signal,
  });
  const table = Table.from(layout.table(allocateTable));
  const unknown: FetchAuthority[] = [];
  for (const authority of authorities) {
    const { verdict } = table.verdict(`${formatAuthority(authority)}/a`, '*');
    if (verdict === 'unknown') unknown.push(authority);
  }
  return unknown;
}
