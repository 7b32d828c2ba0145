import { existsSync } from 'node:fs';
import { docsPage } from '../../errors.js';
import type { ShardOptions } from '../options/command-options.js';
import { isDigits } from '../options/option-values.js';
import { outputFormat } from '../options/output-format.js';
import { shellWords, usageError } from '../usage-error.js';
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
    // It may have come as an argument.
    const [first = ''] = files;
    const isNumber = isDigits(first) && !existsSync(first);
    const lists = isNumber ? files.slice(1) : files;
    const named = lists.length === 0 ? 'urls.txt' : shellWords(lists);
    throw usageError(
      `shard needs the number of shards. Type: robots-filter shard --of ${isNumber ? first : 64} ${named}`,
    );
  }
  if (outputFormat(options) === 'parquet') {
    throw usageError(
      `shard does not write Parquet. Name another output, or compute the shard where the data is: ${docsPage('shards.md')}`,
    );
  }
  // No verdict comes out. As allowed, unknown hosts are nothing to warn of.
  return filter(files, { ...options, verdictField: field, unknown: 'allow' }, cores, shards);
}
