import {
  createReadStream,
  createWriteStream,
  fstatSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RobotsFilterError } from '../errors.js';
import type { FetchAuthority } from '../fetch/result.js';
import { compileCache } from '../pipeline/compile/compile-cache.js';
import { openDescriptor } from '../pipeline/input/descriptor.js';
import { formatAuthority } from '../protocol/authority.js';
import { allocateTable, Table } from '../table.js';
import { Diagnostics } from './diagnostics.js';
import { readAuthorities } from './fetch.js';
import { fetchAll } from './fetch-run.js';
import { checkUsage, filter } from './filter.js';
import { Interruption } from './interruption.js';
import type { FilterOptions } from './options.js';
import { STANDARD_INPUT } from './standard-streams.js';

const COMPLETED = 0;

/**
 * `robots-filter --fetch`: fetches what the filter would not know into the first of the robots
 * directories, then filters.
 *
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function fetchAndFilter(
  files: readonly string[],
  options: FilterOptions,
  cores: number,
  version: string,
): Promise<number> {
  await checkUsage(files, options);
  const [directory] = options.robotsDir ?? [];
  if (directory === undefined) {
    throw new RobotsFilterError(
      'usage',
      '--fetch fetches into a directory, not into a table. Say --robots-dir DIR in place of --table',
    );
  }
  const spool = new Spool(new Diagnostics(options.quiet ?? false));
  // Also when a second signal ends the process.
  const discard = () => spool.discard();
  process.on('exit', discard);
  try {
    const inputs = files.length === 0 ? [STANDARD_INPUT] : files;
    const octets = inputs.map(octetsOf);
    const paths: string[] = [];
    const code = await fetchUnknown(inputs, paths, spool, directory, options, version);
    if (code !== COMPLETED) return code;
    refuseTruncated(inputs, octets);
    return await filter(paths, options, cores);
  } finally {
    discard();
    process.off('exit', discard);
  }
}

/** @param paths is given the inputs, or copies of those that can be read only once */
async function fetchUnknown(
  inputs: readonly string[],
  paths: string[],
  spool: Spool,
  directory: string,
  options: FilterOptions,
  version: string,
): Promise<number> {
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const interruption = new Interruption();
  const { signal } = interruption;
  try {
    await makeDirectory(directory);
    for (const input of inputs) paths.push(await spool.take(input, signal));
    const authorities = await readAuthorities(paths, options, diagnostics, signal);
    signal.throwIfAborted();
    const unknown = await unknownOf(authorities, options, signal);
    signal.throwIfAborted();
    if (unknown.length > 0) {
      await fetchAll(unknown, unknown.length, {
        options: fetchOptionsOf(options),
        directory,
        version,
        diagnostics,
        interruption,
      });
    }
    return interruption.exitCode ?? COMPLETED;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    interruption.end();
  }
}

function fetchOptionsOf(options: FilterOptions) {
  // What is stale is the filter's affair here, and has another type.
  const { stale: _stale, robotsDir: _robotsDir, ...rest } = options;
  return rest;
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw new RobotsFilterError(
      'output',
      `${path}: no directory can be made (${cause instanceof Error ? cause.message : String(cause)}). With --fetch the first --robots-dir must be one`,
      { cause },
    );
  }
}

/** The authorities that no cache has anything on. */
async function unknownOf(
  authorities: Iterable<FetchAuthority>,
  options: FilterOptions,
  signal: AbortSignal,
): Promise<FetchAuthority[]> {
  const { layout } = await compileCache(options.robotsDir ?? [], {
    profile: options.profile ?? 'rfc9309',
    maxRobotsOctets: options.maxRobotsBytes,
    followLinks: options.followLinks,
    stale: options.stale,
    fetchReading: { unreachableAfter: options.unreachableAfter },
    // Heard when the caches are read for the verdicts.
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

/** Copies of inputs that can be read only once. */
class Spool {
  readonly #diagnostics: Diagnostics;
  #directory: string | undefined;
  #copies = 0;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  /** A path at which the input can be read twice. */
  async take(input: string, signal: AbortSignal): Promise<string> {
    return isReadTwice(input) ? input : await this.#copy(input, signal);
  }

  discard(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }

  async #copy(input: string, signal: AbortSignal): Promise<string> {
    this.#directory ??= await mkdtemp(join(tmpdir(), 'robots-filter-'));
    const path = join(this.#directory, String(this.#copies++));
    const name = input === STANDARD_INPUT ? 'standard input' : input;
    this.#diagnostics.note(`${name} is copied to ${path} first: with --fetch it is read twice`);
    const source =
      input === STANDARD_INPUT
        ? process.stdin
        : createReadStream('', { fd: await openDescriptor(input, 'r') });
    await pipeline(source, createWriteStream(path, { mode: 0o600 }), { signal });
    return path;
  }
}

/**
 * Sees that no file has become shorter since it was read for the first time: there would be fewer
 * verdicts than records.
 *
 * @throws RobotsFilterError `input`
 */
function refuseTruncated(inputs: readonly string[], octets: readonly (number | undefined)[]): void {
  for (const [index, input] of inputs.entries()) {
    const before = octets[index] ?? 0;
    const now = octetsOf(input) ?? before;
    if (now >= before) continue;
    throw new RobotsFilterError(
      'input',
      `${input === STANDARD_INPUT ? 'standard input' : input}: had ${before} bytes at first and was truncated to ${now} while robots.txt files were fetched. Run again, or copy it to a file first`,
    );
  }
}

/** The octets of a regular file. */
function octetsOf(input: string): number | undefined {
  try {
    const status = statusOf(input);
    return status.isFile() ? status.size : undefined;
  } catch {
    return undefined; // who opens it says why that fails
  }
}

function statusOf(input: string): Stats {
  return input === STANDARD_INPUT ? fstatSync(0) : statSync(input);
}

function isReadTwice(input: string): boolean {
  try {
    return statusOf(input).isFile();
  } catch {
    return true; // who opens it says why that fails
  }
}
