import { statSync } from 'node:fs';
import { printable } from '../../control-characters.js';
import type { RobotsFilterError } from '../../errors.js';
import { usageError } from '../usage-error.js';
import type { FetchingOptions, FilterOptions, RobotsOptions } from './command-options.js';
import { beginsAsTable, isShardedTable } from './table-file.js';

/** The kind of a path in the wrong option, from which the right option follows. */
type Purpose = 'directory' | 'table';

/** The options that name robots.txt files, and those that depend on them. */
type SourceOptions = RobotsOptions & FetchingOptions & Pick<FilterOptions, 'fetch' | 'table'>;

/**
 * Checks that the filter gets robots.txt files or a table, not both, and no option without effect.
 *
 * @throws RobotsFilterError `usage`, with what to type
 */
export function checkRobotsSource(files: readonly string[], options: SourceOptions): void {
  const { robotsDir, table } = options;
  checkFetchOptions(options);
  if (table === undefined) {
    if (robotsDir === undefined) throw noSource(files);
    for (const path of robotsDir) {
      if (purposeOf(path) === 'table') throw usageError(`${path} is a table. Use --table ${path}`);
    }
    return;
  }
  if (robotsDir !== undefined) {
    throw usageError(
      `--table and --robots-dir cannot be combined. Compile all robots.txt files into one table: ` +
        `robots-filter compile --robots-dir DIR --robots-dir ${robotsDir.join(' --robots-dir ')} -o FILE`,
    );
  }
  const misplaced = firstGiven([
    ['--max-robots-bytes', options.maxRobotsBytes],
    ['--follow-links', options.followLinks],
    ['--stale', options.stale],
    ['--as-of', options.asOf],
    ['--host-column', options.hostColumn],
    ['--robots-column', options.robotsColumn],
    ['--unreachable-after', options.unreachableAfter],
  ]);
  if (misplaced !== undefined) {
    throw usageError(
      `${misplaced} has no effect on a table, which is compiled already. Use it with robots-filter compile`,
    );
  }
  if (purposeOf(table) === 'directory') {
    throw usageError(`${table} is a directory, not a table. Use --robots-dir ${table}`);
  }
}

/** Refuses options of fetch without --fetch. */
function checkFetchOptions(options: SourceOptions): void {
  if (options.fetch === true) return;
  const idle = firstGiven([
    ['--user-agent', options.userAgent],
    ['--concurrency', options.concurrency],
    ['--per-address', options.perAddress],
    ['--pause', options.pause],
    ['--allow-private', options.allowPrivate],
    ['--ca', options.ca],
  ]);
  if (idle === undefined) return;
  const remedy = options.table === undefined ? 'Add --fetch, or leave it out' : 'Leave it out';
  const other = idle === '--user-agent' ? '; to judge for a crawler, use --agent' : '';
  throw usageError(`${idle} has no effect without --fetch. ${remedy}${other}`);
}

/** The first option that was given. */
function firstGiven(options: readonly (readonly [name: string, value: unknown])[]) {
  return options.find(([, value]) => value !== undefined)?.[0];
}

function purposeOf(path: string): Purpose | undefined {
  try {
    const status = statSync(path);
    if (status.isDirectory()) return isShardedTable(path) ? 'table' : 'directory';
    return status.isFile() && (beginsAsTable(path) || isShardedTable(path)) ? 'table' : undefined;
  } catch {
    return undefined; // Opening the path later gives the error.
  }
}

/** The error for a missing source. A file that could be the source becomes part of the remedy. */
function noSource(files: readonly string[]): RobotsFilterError {
  for (const file of files) {
    const purpose = purposeOf(file);
    if (purpose === undefined) continue;
    const others = files.filter((other) => other !== file);
    const rest = others.length === 0 ? '[files...]' : others.join(' ');
    return purpose === 'table'
      ? usageError(`${file} is a table. Type: robots-filter --table ${file} ${rest}`)
      : usageError(
          `${file} is a directory. If it holds robots.txt files, type: robots-filter --robots-dir ${file} ${rest}`,
        );
  }
  const rest = files.length === 0 ? '[files...]' : printable(files.join(' '));
  return usageError(
    'there are no robots.txt files to check against. Type one of\n' +
      `  robots-filter --robots-dir DIR ${rest}\n` +
      `  robots-filter --table FILE ${rest}\n` +
      'To write a table, type: robots-filter compile --robots-dir DIR -o FILE',
  );
}
