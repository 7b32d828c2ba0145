import { createWriteStream, fstatSync, rmSync, type Stats, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RobotsFilterError } from '../../base/errors.js';
import type { FetchAuthority } from '../../fetch/result.js';
import { inputName, STANDARD_INPUT } from '../../files/openings.js';
import { errorText, makeDirectory } from '../../files/system-error.js';
import { Table } from '../../judge/table.js';
import { allocateTable } from '../../judge/table-memory.js';
import { compileCache } from '../../pipeline/compile/compile-cache.js';
import { openRawPath } from '../../pipeline/input/raw-input.js';
import { formatAuthority } from '../../protocol/authority.js';
import { Diagnostics, Interruption, usageError } from '../console.js';
import type { FilterOptions } from '../options.js';
import { readingOf } from './compile-caches.js';
import { type FetchRunParts, fetchAll, readAuthorities, trustedCertificates } from './fetch.js';
import { filter } from './filter.js';
import { checkFilterUsage } from './filter-usage.js';
import { inputPaths } from './inputs.js';

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
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const named = await inputPaths(files);
  const inputs = new RereadableInputs(named, diagnostics);
  // A second signal ends the process at once, and then the copies are deleted too.
  const discard = () => inputs.discard();
  process.on('exit', discard);
  try {
    const { paths, exitCode } = await fetchUnknown(inputs, directory, options, {
      certificates,
      diagnostics,
      version,
    });
    if (exitCode !== undefined) return exitCode;
    inputs.refuseTruncated();
    return await filter(paths, options, cores);
  } finally {
    discard();
    process.off('exit', discard);
  }
}

interface FetchedUnknown {
  /** Paths of the inputs for the second reading. */
  readonly paths: readonly string[];
  /** The exit code if a signal came. */
  readonly exitCode: number | undefined;
}

async function fetchUnknown(
  inputs: RereadableInputs,
  directory: string,
  options: FilterOptions,
  parts: Pick<FetchRunParts, 'certificates' | 'diagnostics' | 'version'>,
): Promise<FetchedUnknown> {
  const { diagnostics } = parts;
  const interruption = new Interruption();
  const { signal } = interruption;
  try {
    createDirectory(directory);
    const paths = await inputs.paths(signal);
    const authorities = await readAuthorities(paths, options, diagnostics, signal);
    signal.throwIfAborted();
    const unknown = await unknownAuthorities(authorities, options, signal);
    signal.throwIfAborted();
    if (unknown.length > 0) {
      await fetchAll(unknown, unknown.length, {
        ...parts,
        options: fetchOptionsOf(options),
        directory,
        interruption,
      });
    }
    return { paths, exitCode: interruption.exitCode };
  } catch (error) {
    const { exitCode } = interruption;
    if (exitCode !== undefined) return { paths: [], exitCode };
    throw error;
  } finally {
    interruption.end();
  }
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

/**
 * Inputs that are read twice. Pipes, which can be read only once, are copied to temporary files.
 */
class RereadableInputs {
  readonly #inputs: readonly string[];
  readonly #diagnostics: Diagnostics;
  /**
   * Bytes of each input when this object was made; undefined for an input that is not a regular
   * file.
   */
  readonly #sizes: readonly (number | undefined)[];
  #directory: string | undefined;
  #copies = 0;

  constructor(inputs: readonly string[], diagnostics: Diagnostics) {
    this.#inputs = inputs;
    this.#diagnostics = diagnostics;
    this.#sizes = inputs.map(sizeOf);
  }

  /** Returns paths that can be read twice, one for each input. */
  async paths(signal: AbortSignal): Promise<string[]> {
    const paths: string[] = [];
    for (const input of this.#inputs) {
      paths.push(canBeReadTwice(input) ? input : await this.#copy(input, signal));
    }
    return paths;
  }

  /**
   * Checks that no file is shorter than before: there would be fewer verdicts than records.
   *
   * @throws RobotsFilterError `input`
   */
  refuseTruncated(): void {
    for (const [index, input] of this.#inputs.entries()) {
      const before = this.#sizes[index] ?? 0;
      const now = sizeOf(input) ?? before;
      if (now >= before) continue;
      throw new RobotsFilterError(
        'input',
        `${inputName(input)}: was truncated from ${before} to ${now} bytes while robots.txt files were fetched. Copy it to a file first, or run it again`,
      );
    }
  }

  /** Deletes the copies. */
  discard(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }

  async #copy(input: string, signal: AbortSignal): Promise<string> {
    this.#directory ??= await mkdtemp(join(tmpdir(), 'robots-filter-'));
    const path = join(this.#directory, String(this.#copies++));
    this.#diagnostics.note(`copying ${inputName(input)} to ${path}: --fetch reads it twice`);
    const raw = await openRawPath(input);
    try {
      await pipeline(raw.chunks.stream(), createWriteStream(path, { mode: 0o600 }), { signal });
    } finally {
      await raw.close();
    }
    return path;
  }
}

/** Bytes of a regular file; undefined for anything else. */
function sizeOf(input: string): number | undefined {
  const status = statusOf(input);
  return status?.isFile() === true ? status.size : undefined;
}

function canBeReadTwice(input: string): boolean {
  return statusOf(input)?.isFile() ?? true;
}

/** The status of an input; undefined if it cannot be opened. Opening it later gives the error. */
function statusOf(input: string): Stats | undefined {
  try {
    return input === STANDARD_INPUT ? fstatSync(0) : statSync(input);
  } catch {
    return undefined;
  }
}
