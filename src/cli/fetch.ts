import { isatty } from 'node:tty';
import { RobotsFilterError } from '../errors.js';
import { Authorities } from '../fetch/authorities.js';
import type { FetchAuthority } from '../fetch/result.js';
import { Store } from '../fetch/store.js';
import { openInput } from '../pipeline/input/open.js';
import { ReplacementFile } from '../pipeline/replacement-file.js';
import { Diagnostics } from './diagnostics.js';
import type { FetchOptions } from './fetch-options.js';
import { fetchAll } from './fetch-run.js';
import { Interruption } from './interruption.js';
import { counted } from './numbers.js';
import { STANDARD_INPUT } from './standard-streams.js';
import { checkUrlField, checkUrlFieldOf } from './url-field.js';

const COMPLETED = 0;

/**
 * `robots-filter fetch`: fetches the robots.txt of every authority that the input names, or of
 * those in the directory that have gone stale.
 *
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function fetchCommand(
  files: readonly string[],
  options: FetchOptions,
  version: string,
): Promise<number> {
  const { robotsDir: directory, stale = false } = options;
  if (directory === undefined) {
    const rest = stale ? '--stale' : files.length === 0 ? '[files...]' : files.join(' ');
    throw usage(
      `fetch needs a directory to put the files in. Type: robots-filter fetch --robots-dir DIR ${rest}`,
    );
  }
  if (stale && files.length > 0) {
    throw usage(
      `--stale asks for what is in ${directory}, and reads no input. Leave out either --stale or ${files.join(' ')}`,
    );
  }
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const interruption = new Interruption();
  let report: ReplacementFile | undefined;
  try {
    if (options.report !== undefined) report = await ReplacementFile.create(options.report);
    const authorities = stale
      ? await storedAuthorities(directory)
      : await readAuthorities(files, options, diagnostics, interruption.signal);
    if (interruption.exitCode !== undefined) {
      diagnostics.note('stopped while the input was read; nothing was fetched');
      return interruption.exitCode;
    }
    const total = 'size' in authorities ? authorities.size : authorities.length;
    await fetchAll(authorities, total, {
      options,
      directory,
      version,
      report,
      diagnostics,
      interruption,
    });
    // Also after a signal: what it tells of is done.
    await report?.commit(false);
    return interruption.exitCode ?? COMPLETED;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    await report?.discard();
    interruption.end();
  }
}

async function storedAuthorities(directory: string): Promise<FetchAuthority[]> {
  const store = await Store.open(directory);
  const authorities: FetchAuthority[] = [];
  for await (const authority of store.authorities()) authorities.push(authority);
  return authorities;
}

/**
 * Reads the authorities of inputs, until a signal comes.
 *
 * @param files none is standard input
 * @throws RobotsFilterError
 */
export async function readAuthorities(
  files: readonly string[],
  options: Pick<FetchOptions, 'input' | 'urlField' | 'maxLineBytes'>,
  diagnostics: Diagnostics,
  signal: AbortSignal,
): Promise<Authorities> {
  const paths = files.length === 0 ? [STANDARD_INPUT] : files;
  if (paths.includes(STANDARD_INPUT) && isatty(0)) {
    diagnostics.note('waiting for URLs on standard input, one a line; end them with Ctrl-D');
  }
  checkUrlField(options);
  const { urlField, maxLineBytes } = options;
  const authorities = new Authorities({ urlField, maxLineOctets: maxLineBytes });
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve());
  });
  for (const path of paths) {
    if (signal.aborted) return authorities;
    // A pipe that stays silent must not keep an interrupt waiting.
    const reading = readInput(authorities, path, options, paths.length, signal);
    reading.catch(() => {}); // heard below, or not at all after a signal
    await Promise.race([reading, interrupted]);
    if (signal.aborted) return authorities;
  }
  const { records, invalid } = authorities;
  diagnostics.note(
    `${counted(records, 'record')} of ${counted(authorities.size, 'authority', 'authorities')}` +
      (invalid === 0 ? '' : `; ${counted(invalid, 'record')} without a URL that can be asked`),
  );
  return authorities;
}

async function readInput(
  authorities: Authorities,
  path: string,
  options: Pick<FetchOptions, 'input' | 'urlField' | 'maxLineBytes'>,
  inputs: number,
  signal: AbortSignal,
): Promise<void> {
  const { input: format, maxLineBytes: maxRecordBytes } = options;
  const input = await openInput(path, { format, maxRecordBytes });
  try {
    checkUrlFieldOf(input, options, inputs);
    await authorities.addInput(input, signal);
  } finally {
    await input.close();
  }
}

function usage(message: string): RobotsFilterError {
  return new RobotsFilterError('usage', message);
}
