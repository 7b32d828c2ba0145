import type { FetchAuthority } from '../../fetch/result.js';
import { Store } from '../../fetch/store/store.js';
import { ReplacementFile } from '../../files/replacement-file.js';
import { DEFAULT_MAX_LINE_BYTES } from '../../pipeline/limits.js';
import { SUCCESS } from '../exit-codes.js';
import { trustedCertificates } from '../options/certificates.js';
import type { FetchOptions } from '../options/command-options.js';
import { refuseStandardOutputAsReport } from '../options/output-place.js';
import { purposeOf } from '../options/robots-source.js';
import { Interruption } from '../process/interruption.js';
import { Diagnostics } from '../report/diagnostics.js';
import { shellWords, usageError } from '../usage-error.js';
import { fetchAll } from './fetch-run.js';
import { readAuthorities } from './read-authorities.js';

/**
 * `robots-filter fetch`: fetches the robots.txt of every authority in the input, or of every stale
 * authority in the directory.
 *
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function fetchCommand(
  files: readonly string[],
  options: FetchOptions,
  version: string,
): Promise<number> {
  const { stale = false } = options;
  const directory = checkedDirectory(files, options);
  const certificates = await trustedCertificates(options.ca);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const interruption = new Interruption();
  let report: ReplacementFile | undefined;
  try {
    if (options.report !== undefined) {
      refuseStandardOutputAsReport(options.report);
      report = await ReplacementFile.create(options.report);
    }
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
      certificates,
      version,
      report,
      diagnostics,
      interruption,
    });
    // After a signal too, because the report tells what was done.
    await report?.commit(false);
    return interruption.exitCode ?? SUCCESS;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    await report?.discard();
    interruption.end();
  }
}

/** @throws RobotsFilterError `usage`, with the command to type */
function checkedDirectory(files: readonly string[], options: FetchOptions): string {
  const { robotsDir: directory, stale = false } = options;
  if (directory === undefined) {
    const place = files.find((file) => purposeOf(file) === 'directory');
    const lists = files.filter((file) => file !== place);
    const rest = stale ? '--stale' : lists.length === 0 ? 'urls.txt' : shellWords(lists);
    throw usageError(
      `fetch needs a directory for the files. Type: robots-filter fetch --robots-dir ${shellWords([place ?? 'robots'])} ${rest}`,
    );
  }
  if (stale && files.length > 0) {
    throw usageError(
      `--stale fetches the files in ${directory} again and reads no input. Leave out --stale, or leave out ${files.join(' ')}`,
    );
  }
  const idle = stale ? inputOption(options) : undefined;
  if (idle !== undefined) {
    throw usageError(`${idle} has no effect with --stale, which reads no input. Leave it out`);
  }
  return directory;
}

/** The first option about the input that was given. */
function inputOption({
  input,
  urlField,
  header,
  maxLineBytes,
}: Partial<FetchOptions>): string | undefined {
  if (input !== undefined && input !== 'auto') return '--input';
  if (urlField !== undefined && urlField.join('.') !== 'url') return '--url-field';
  if (header !== undefined) return header ? '--header' : '--no-header';
  const isUsual = maxLineBytes === undefined || maxLineBytes === DEFAULT_MAX_LINE_BYTES;
  return isUsual ? undefined : '--max-line-bytes';
}

/** All authorities in a directory; the schedule skips those that are fresh. */
async function storedAuthorities(directory: string): Promise<FetchAuthority[]> {
  const store = await Store.open(directory);
  const authorities: FetchAuthority[] = [];
  for await (const authority of store.authorities()) authorities.push(authority);
  return authorities;
}
