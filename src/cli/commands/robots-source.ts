/** Checks of the options that say where robots.txt files come from, and what their paths are. */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { printable } from '../../base/control-characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { inputName, STANDARD_INPUT } from '../../files/openings.js';
import { errorCode } from '../../files/system-error.js';
import { headOf, isTable } from '../../judge/read-table.js';
import type { Profile } from '../../protocol/verdict.js';
import { type Diagnostics, shellWords, usageError } from '../console.js';
import type { FetchingOptions, FilterOptions, RobotsOptions } from '../options.js';

/** The kind of a path in the wrong option, from which the right option follows. */
type Purpose = 'directory' | 'table' | 'robots.txt';

/** Stands for a list of URLs that was not named. */
const ANY_LIST = 'urls.txt';

/** What the names of all files of records and captures hold. */
const FILES_BY_HOST = ['.ndjson', '.jsonl', '.parquet', '.warc', '.paths'];

/** Bytes of a robots.txt that show what it is: some begin with a long comment. */
const ROBOTS_HEAD_BYTES = 1 << 14;

/** The option that counts for one robots.txt as for many. */
const MAX_ROBOTS_BYTES = '--max-robots-bytes';

/** The options that name robots.txt files, and those that depend on them. */
type SourceOptions = RobotsOptions & FetchingOptions & Pick<FilterOptions, 'fetch' | 'table'>;

/**
 * Checks that a command gets robots.txt files or a table, not both, and no option without effect.
 *
 * @param noTime for a command that asks tables for no time: why, and what to do instead
 * @throws RobotsFilterError `usage`, with what to type
 */
export function checkRobotsSource(
  files: readonly string[],
  options: SourceOptions,
  noTime?: string,
): void {
  const { robotsDir, table } = options;
  checkFetchOptions(options);
  if (table === undefined) {
    if (robotsDir === undefined) throw noSource(files, options);
    for (const path of robotsDir) {
      const purpose = purposeOf(path);
      if (purpose === 'table') {
        throw usageError(`${path} is a table. Use --table ${shellWords([path])}`);
      }
      if (purpose === 'robots.txt') throw singleRobots(path, files, options);
    }
    return;
  }
  if (robotsDir !== undefined) {
    throw usageError(
      `--table and --robots-dir cannot be combined. Compile the table and the robots.txt files into another table: ` +
        `robots-filter compile ${shellWords([table, ...robotsDir].flatMap((path) => ['--robots-dir', path]))} -o FILE`,
    );
  }
  const { asOf: _time, ...others } = options;
  refuseReadingOptions(noTime === undefined ? others : options, 'table', noTime);
  if (purposeOf(table) === 'directory') {
    throw usageError(
      `${table} is a directory, not a table. Use --robots-dir ${shellWords([table])}`,
    );
  }
}

/**
 * Refuses options that choose what is read of robots.txt files, where there is nothing to choose.
 *
 * @param source what is read: a table is compiled already, and one robots.txt has no host
 * @param noTime why --as-of has no effect on a table, and what to do instead
 * @throws RobotsFilterError `usage`
 */
export function refuseReadingOptions(
  options: RobotsOptions,
  source: 'table' | 'robots.txt',
  noTime?: string,
): void {
  const given = readingOptionsIn(options);
  if (source === 'table') {
    const [misplaced] = given;
    if (misplaced === undefined) return;
    if (misplaced === '--as-of' && noTime !== undefined) {
      throw usageError(`--as-of has no effect on a table here: ${noTime}`);
    }
    throw usageError(
      `${misplaced} has no effect on a table, which is compiled already. Use it with robots-filter compile`,
    );
  }
  const misplaced = given.find((option) => option !== MAX_ROBOTS_BYTES);
  if (misplaced === undefined) return;
  throw usageError(
    `${misplaced} has no effect on one robots.txt: it chooses among those of a directory, a file of records or an archive. Leave it out`,
  );
}

/**
 * Refuses a time for robots.txt files without captures, and columns for those without Parquet:
 * nothing would be chosen by them.
 *
 * @param remedy what to do in place of --as-of. Default: a table with histories
 * @throws RobotsFilterError `usage`
 */
export async function checkChoices(
  paths: readonly string[] | undefined,
  options: RobotsOptions,
  remedy?: string,
): Promise<void> {
  if (paths === undefined) return;
  const [column] = givenOf(columnsIn(options));
  if (column !== undefined && !paths.some(mayHoldParquet)) {
    throw usageError(
      `${column} names a column of Parquet, and ${paths.map((path) => printable(inputName(path))).join(', ')} ${paths.length === 1 ? 'has' : 'have'} none. Leave it out`,
    );
  }
  const { asOf } = options;
  if (asOf === undefined) return;
  for (const path of paths) if (await mayHoldCaptures(path)) return;
  const sources = shellWords(paths.flatMap((path) => ['--robots-dir', path]));
  const table = `To choose by the dates of robots.txt files, type: robots-filter compile --history ${sources} -o history.table, and then use --table history.table --as-of DATE`;
  const none = paths.length === 1 ? 'has none' : 'have none';
  throw usageError(
    `--as-of chooses among captures of WARC files, and ${paths.map(printable).join(', ')} ${none}. ${remedy ?? table}`,
  );
}

const DAY = 24 * 60 * 60 * 1000;

/**
 * From when on times are still to come, in milliseconds since 1970: a date stands for the end of
 * its day, clocks differ, and times without a zone may be local.
 */
export function tomorrow(): number {
  return Date.now() + DAY;
}

/**
 * Warns of a time to come, such as a mistyped year: the newest robots.txt files would count.
 *
 * @param time in milliseconds since 1970; undefined if none was given
 */
export function noteTimeToCome(
  time: number | undefined,
  diagnostics: Diagnostics,
  option = '--as-of',
): void {
  if (time === undefined || time <= tomorrow()) return;
  diagnostics.note(
    `warning: ${option} is ${new Date(time).toISOString()}, a time to come: the newest robots.txt files count. Check the year`,
  );
}

/** Whether a path may hold Parquet, by names. Reading gives the error for one that is missing. */
function mayHoldParquet(path: string): boolean {
  // Standard input is read from its start to its end, which Parquet cannot be.
  if (path === STANDARD_INPUT) return false;
  return isParquetName(path) || (holdsAtTop(path, isParquetName) ?? false);
}

function isParquetName(name: string): boolean {
  return name.toLowerCase().endsWith('.parquet');
}

/**
 * Whether a directory has a file with such a name at its top: only there are files of records and
 * captures read. `undefined` for what is no directory.
 */
function holdsAtTop(path: string, isWanted: (name: string) => boolean): boolean | undefined {
  try {
    return readdirSync(path).some((name) => !name.startsWith('.') && isWanted(name));
  } catch (error) {
    return errorCode(error) === 'ENOTDIR' ? undefined : true; // Reading gives the error.
  }
}

/** Whether a path holds captures, by names. Reading gives the error for one that cannot be read. */
async function mayHoldCaptures(path: string): Promise<boolean> {
  // Loaded on demand: most runs have no --as-of.
  const { isArchiveList, isArchiveName } = await import('../../sources/archives.js');
  const { isPiped } = await import('../../sources/piped.js');
  // Reading a table without histories gives the error.
  if (isArchiveName(path) || isArchiveList(path) || isTable(path)) return true;
  // The first bytes of a pipe tell.
  return holdsAtTop(path, isArchiveName) ?? (await isPiped(path));
}

/** The options that choose what is read of robots.txt files, among those that were given. */
export function readingOptionsIn(options: RobotsOptions): string[] {
  return givenOf([
    [MAX_ROBOTS_BYTES, options.maxRobotsBytes],
    ['--follow-links', options.followLinks],
    ['--stale', options.stale],
    ['--as-of', options.asOf],
    ...columnsIn(options),
    ['--unreachable-after', options.unreachableAfter],
  ]);
}

function columnsIn(options: RobotsOptions): readonly (readonly [name: string, value: unknown])[] {
  return [
    ['--host-column', options.hostColumn],
    ['--robots-column', options.robotsColumn],
    ['--status-column', options.statusColumn],
    ['--date-column', options.dateColumn],
  ];
}

/**
 * Refuses a source or table without hosts, for which every URL would be unknown.
 *
 * @param what begins the message: names the source, and what it lacks
 * @throws RobotsFilterError `input`
 */
export function emptySource(what: string): RobotsFilterError {
  return new RobotsFilterError('input', `${what}. To go on all the same, add --allow-empty`);
}

/** Refuses options of fetch without --fetch. */
function checkFetchOptions(options: SourceOptions): void {
  if (options.fetch === true) return;
  const [idle] = givenOf([
    ['--user-agent', options.userAgent],
    ['--concurrency', options.concurrency],
    ['--per-address', options.perAddress],
    ['--pause', options.pause],
    ['--allow-private', options.allowPrivate],
    ['--ca', options.ca],
    ['--proxy', options.proxy],
    ['--proxy-forward', options.proxyForward],
  ]);
  if (idle === undefined) return;
  const remedy = options.table === undefined ? 'Add --fetch, or leave it out' : 'Leave it out';
  const other = idle === '--user-agent' ? '; to judge for a crawler, use --agent' : '';
  throw usageError(`${idle} has no effect without --fetch. ${remedy}${other}`);
}

/** The options that were given. */
export function givenOf(options: readonly (readonly [name: string, value: unknown])[]): string[] {
  return options.flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

/** What a path is; `undefined` for files of records, captures, and anything else. */
export function purposeOf(path: string): Purpose | undefined {
  try {
    const status = statSync(path);
    if (isTable(path)) return 'table';
    if (status.isDirectory()) return 'directory';
    if (!status.isFile()) return undefined;
    if (mayHoldHosts(path)) return undefined;
    return isRobotsText(headOf(path, ROBOTS_HEAD_BYTES).toString()) ? 'robots.txt' : undefined;
  } catch {
    return undefined; // Opening the path later gives the error.
  }
}

/** Whether the name of a file may be that of records or captures, which name their hosts. */
function mayHoldHosts(path: string): boolean {
  const name = path.toLowerCase();
  return FILES_BY_HOST.some((ending) => name.includes(ending));
}

/** Whether a text is a robots.txt: it has a user-agent line, and is no record that holds one. */
function isRobotsText(text: string): boolean {
  if (text.startsWith('WARC/')) return false;
  const lines = text.toLowerCase().split('\n');
  return lines.some(
    (line) => line.trimStart().startsWith('user-agent') && line.trimEnd().includes(':'),
  );
}

/**
 * Refuses a robots.txt where files by host are read.
 *
 * @param words the command and its options
 * @throws RobotsFilterError `usage`, with what to type
 */
export function refuseSingleRobots(robotsDir: readonly string[], words: readonly string[]): void {
  const path = robotsDir.find((each) => purposeOf(each) === 'robots.txt');
  if (path === undefined) return;
  throw usageError(`${path} is one robots.txt, without its host.\n${byHost(path, words)}`);
}

function byHost(path: string, words: readonly string[]): string {
  return `If its host is example.com, type\n  ${placedByHost(path, words)}`;
}

/**
 * How a single robots.txt gets a host, so that commands for many hosts can read it. The directory
 * is a new one: a copy into an existing one could replace the file of another host.
 */
export function placedByHost(path: string, [command = '', ...rest]: readonly string[]): string {
  const place = `mkdir one-host && ${shellWords(['cp', path, 'one-host/example.com'])}`;
  const words = ['robots-filter', ...(command === '' ? [] : [command]), '--robots-dir', 'one-host'];
  return `${place} && ${shellWords([...words, ...rest])}`;
}

/** The error for a single robots.txt, against which `check` judges URLs of any host. */
function singleRobots(
  path: string,
  files: readonly string[],
  options: SourceOptions,
): RobotsFilterError {
  const [list = ANY_LIST] = files;
  const check = shellWords(['robots-filter', 'check', path, ...agentWords(options), '-']);
  const input = list === STANDARD_INPUT ? '' : ` < ${shellWords([list])}`;
  return usageError(
    `${path} is one robots.txt, without its host. To judge URLs by it, whatever their hosts, type\n` +
      `  ${check}${input}\n${byHost(path, ['', ...agentWords(options), ...files])}`,
  );
}

/** The option --agent as it was given. */
export function agentWords({ agent, givenAgents = agent }: RobotsOptions): string[] {
  return givenAgents === undefined ? [] : ['-a', givenAgents.join()];
}

/** The error for a missing source. A file that could be the source becomes part of the remedy. */
function noSource(files: readonly string[], options: SourceOptions): RobotsFilterError {
  const { fetch = false } = options;
  const words = [...(fetch ? ['--fetch'] : []), ...agentWords(options)];
  for (const file of files) {
    const purpose = purposeOf(file);
    if (purpose === undefined) continue;
    const others = files.filter((other) => other !== file);
    if (purpose === 'robots.txt') return singleRobots(file, others, options);
    const option = purpose === 'table' ? '--table' : '--robots-dir';
    const rest = ` ${shellWords(others.length === 0 ? [ANY_LIST] : others)}`;
    const command = `${shellWords(['robots-filter', option, file, ...words])}${rest}`;
    return purpose === 'table'
      ? usageError(`${file} is a table. Type: ${command}`)
      : usageError(`${file} is a directory. If it holds robots.txt files, type: ${command}`);
  }
  const rest = `${shellWords(words)}${words.length === 0 ? '' : ' '}${printable(shellWords(files.length === 0 ? [ANY_LIST] : files))}`;
  if (fetch) {
    return usageError(
      `--fetch needs a directory for the files that it fetches. Type: robots-filter --robots-dir robots ${rest}`,
    );
  }
  return usageError(
    'there are no robots.txt files to check against. Type one of\n' +
      `  robots-filter --robots-dir DIR ${rest}\n` +
      `  robots-filter --table FILE ${rest}\n` +
      'To write a table, type: robots-filter compile --robots-dir DIR -o FILE',
  );
}

/** The character that Node puts in place of bytes of an argument that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/** Options that name files or directories. */
interface PathOptions {
  readonly robotsDir?: string | readonly string[] | undefined;
  readonly table?: string | undefined;
  readonly output?: string | undefined;
  readonly report?: string | undefined;
  readonly ca?: string | undefined;
  readonly hosts?: string | undefined;
  readonly urls?: string | undefined;
  readonly agentsFile?: string | undefined;
  readonly targets?: string | undefined;
}

/**
 * Refuses paths that are not UTF-8. Node decodes arguments as text, so such a path would name
 * another file, which would be missing or, worse, overwritten.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseLossyPaths(files: readonly string[], options: PathOptions = {}): void {
  const { robotsDir = [], table, output, report, ca, hosts, urls, agentsFile, targets } = options;
  const named = [table, output, report, ca, hosts, urls, agentsFile, targets];
  for (const path of [...files, ...[robotsDir].flat(), ...named]) {
    // A name may contain this very character.
    if (path === undefined || !path.includes(REPLACEMENT) || existsSync(path)) continue;
    throw usageError(
      `${path}: the name is not UTF-8, so Node cannot pass it on. Redirect the file (< FILE, > FILE), or rename it`,
    );
  }
}

// ---- Checks of tables that have been opened

/** @throws RobotsFilterError `table` if the profile is not that of the table */
export function checkProfile(compiled: Profile, path: string, profile: Profile | undefined): void {
  if (profile === undefined || profile === compiled) return;
  throw new RobotsFilterError(
    'table',
    `${path} was compiled with --profile ${compiled} and cannot answer for ${profile}. ` +
      `Leave --profile out, or compile again with --profile ${profile}`,
  );
}

/** @throws RobotsFilterError `input` for a table without hosts, unless that is allowed */
export function refuseEmptyTable(
  path: string,
  hosts: number,
  { allowEmpty }: RobotsOptions,
  diagnostics: Diagnostics,
): void {
  if (hosts > 0) return;
  const none = `${path} is a table without hosts: every host is unknown. Compile it again, from robots.txt files`;
  if (allowEmpty !== true) throw emptySource(none);
  diagnostics.note(`warning: ${none}`);
}
