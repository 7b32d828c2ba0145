import type { ShardOptions } from '../options/command-options.js';
import { outputFormat } from '../options/output-format.js';
import { usageError } from '../usage-error.js';
import { filter } from './filter.js';

/**
 * `robots-filter shard`: adds the shard of the host to each record of files or standard input.
 *
 * @param cores number of threads, unless the options name another
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function shard(
  files: readonly string[],
  { of: shards, field, ...options }: ShardOptions,
  cores: number,
): Promise<number> {
  if (shards === undefined) {
    const named = files.length === 0 ? '[files...]' : files.join(' ');
    throw usageError(
      `shard needs the number of shards. Type: robots-filter shard --of 64 ${named}`,
    );
  }
  if (outputFormat(options) === 'parquet') {
    throw usageError(
      `shard does not write Parquet. Name another output, or compute the shard where the data is: docs/shards.md`,
    );
  }
  // No verdict comes out. As allowed, unknown hosts are nothing to warn of.
  return filter(files, { ...options, verdictField: field, unknown: 'allow' }, cores, shards);
}
