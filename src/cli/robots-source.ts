import { stat } from 'node:fs';
import { promisify } from 'node:util';
import { printable } from '../control-characters.js';
import { RobotsFilterError } from '../errors.js';
import type { FilterOptions } from './options.js';
import { beginsAsTable } from './table-file.js';

// Of node:fs, not of node:fs/promises, which takes a millisecond to load.
const statusOf = promisify(stat);

/** What a path that was given in the wrong place is likely meant for. */
type Purpose = 'directory' | 'table';

/**
 * Sees that the filter is given robots.txt files, or a table, and not both, and nothing that has no
 * effect on them.
 *
 * @throws RobotsFilterError `usage`, saying what to type
 */
export async function checkRobotsSource(
  files: readonly string[],
  options: FilterOptions,
): Promise<void> {
  const { robotsDir, table } = options;
  checkFetchOptions(options);
  if (table === undefined) {
    if (robotsDir === undefined) throw await noSource(files);
    for (const path of robotsDir) {
      if ((await purposeOf(path)) === 'table')
        throw usage(`${path} is a table. Say --table ${path}`);
    }
    return;
  }
  if (robotsDir !== undefined) {
    throw usage(
      `--table and --robots-dir cannot be combined. Compile all robots.txt files into one table: ` +
        `robots-filter compile --robots-dir DIR --robots-dir ${robotsDir.join(' --robots-dir ')} -o FILE`,
    );
  }
  const misplaced = firstSaid([
    ['--max-robots-bytes', options.maxRobotsBytes],
    ['--follow-links', options.followLinks],
    ['--stale', options.stale],
    ['--unreachable-after', options.unreachableAfter],
  ]);
  if (misplaced !== undefined) {
    throw usage(
      `${misplaced} has no effect on a table, which is compiled already. Say it to robots-filter compile`,
    );
  }
  if ((await purposeOf(table)) === 'directory') {
    throw usage(`${table} is a directory. For robots.txt files say --robots-dir ${table}`);
  }
}

/** Sees that nothing is said of how to fetch where nothing is fetched. */
function checkFetchOptions(options: FilterOptions): void {
  if (options.fetch === true) return;
  const idle = firstSaid([
    ['--user-agent', options.userAgent],
    ['--concurrency', options.concurrency],
    ['--per-address', options.perAddress],
    ['--pause', options.pause],
    ['--allow-private', options.allowPrivate],
    ['--ca', options.ca],
  ]);
  if (idle === undefined) return;
  const remedy = options.table === undefined ? 'Say --fetch, too' : 'Leave it out';
  const other = idle === '--user-agent' ? ', or say --agent for the crawler that asks' : '';
  throw usage(`${idle} has no effect where nothing is fetched. ${remedy}${other}`);
}

/** The first option that was said. */
function firstSaid(options: readonly (readonly [name: string, value: unknown])[]) {
  return options.find(([, value]) => value !== undefined)?.[0];
}

async function purposeOf(path: string): Promise<Purpose | undefined> {
  try {
    const status = await statusOf(path);
    if (status.isDirectory()) return 'directory';
    return status.isFile() && (await beginsAsTable(path)) ? 'table' : undefined;
  } catch {
    return undefined; // who opens it says why that fails
  }
}

/** What to type instead, as far as the files tell. */
async function noSource(files: readonly string[]): Promise<RobotsFilterError> {
  for (const file of files) {
    const purpose = await purposeOf(file);
    if (purpose === undefined) continue;
    const others = files.filter((other) => other !== file);
    const rest = others.length === 0 ? '[files...]' : others.join(' ');
    return purpose === 'table'
      ? usage(`${file} is a table. Type: robots-filter --table ${file} ${rest}`)
      : usage(
          `${file} is a directory. If it holds robots.txt files, type: robots-filter --robots-dir ${file} ${rest}`,
        );
  }
  const rest = files.length === 0 ? '[files...]' : printable(files.join(' '));
  return usage(
    'there are no robots.txt files to decide by. Type one of\n' +
      `  robots-filter --robots-dir DIR ${rest}\n` +
      `  robots-filter --table FILE ${rest}\n` +
      'A table is written by: robots-filter compile --robots-dir DIR -o FILE',
  );
}

function usage(message: string): RobotsFilterError {
  return new RobotsFilterError('usage', message);
}
