/** Compiles caches for a command, and reports what was skipped. */

import { statSync } from 'node:fs';
import { RobotsFilterError } from '../../base/errors.js';
import { TableBuilder } from '../../compile/table-builder.js';
import { inputName } from '../../files/openings.js';
import { isTable } from '../../judge/read-table.js';
import { openForHosts, Table, tableMemory } from '../../judge/table.js';
import { allocateTable } from '../../judge/table-memory.js';
import {
  type CompileCacheOptions,
  type CompiledCache,
  compileCache,
} from '../../pipeline/compile/compile-cache.js';
import type { NamedTokens } from '../../protocol/unnamed-agents.js';
import type { CacheWarning, CacheWarningCode } from '../../sources/entry.js';
import {
  type Diagnostics,
  type Interruption,
  interruptible,
  shellWords,
  usageError,
} from '../console.js';
import type { RobotsOptions } from '../options.js';
import { formatCount, formatNumber } from '../text.js';
import { emptySource, noteTimeToCome, refuseEmptyTable } from './robots-source.js';

/**
 * Compiles caches, and reports on standard error what was skipped, stale or overridden.
 *
 * @throws RobotsFilterError `input` if a cache cannot be read
 */
export async function compileCaches(
  paths: readonly string[],
  options: CachesOptions,
  context: CompilationContext,
): Promise<CompiledCache> {
  return reported(paths, options, context, (compiling) => compileCache(paths, compiling));
}

/** The options of commands that compile, as `reported` needs them. */
type CachesOptions = RobotsOptions & {
  readonly threads?: number;
  readonly records?: boolean;
  readonly signals?: boolean;
  readonly history?: boolean;
  readonly fetch?: boolean;
  readonly timeField?: readonly string[];
  readonly inForce?: string;
  readonly preferences?: boolean;
  readonly crawlDelay?: boolean;
  readonly report?: string;
  /** The only shard that is compiled. */
  readonly only?: number | 'manifest';
};

/** What a compilation needs beside its options. */
export interface CompilationContext {
  /** The product tokens whose groups are kept; undefined keeps all groups. */
  readonly productTokens: readonly string[] | undefined;
  readonly diagnostics: Diagnostics;
  readonly interruption: Interruption;
}

/** Compiles caches with a function; reports what was skipped, stale or overridden. */
export async function reported<Compiled extends Pick<CompiledCache, 'stats' | 'stale'>>(
  paths: readonly string[],
  options: CachesOptions,
  { productTokens, diagnostics, interruption }: CompilationContext,
  compile: (options: CompileCacheOptions) => Promise<Compiled>,
): Promise<Compiled> {
  noteTimeToCome(options.asOf, diagnostics);
  if (options.history === true && options.stale !== undefined) {
    throw usageError(
      `--stale has no effect on a history, in which each robots.txt counts for its own time. Leave it out; to count none that was last found long before a record's time, use --max-age`,
    );
  }
  if (options.dateColumn !== undefined && !showsDates(options)) {
    throw usageError(
      '--date-column has no effect here, where no dates are kept. Add --history or --records to compile, or --time-field, --in-force or --report to the filter; or leave it out',
    );
  }
  const warnings = new CacheWarnings(diagnostics);
  const compiled = await compile({
    ...readingOf(options),
    productTokens,
    records: options.records,
    signals: options.signals,
    history: options.history,
    onWarning: (warning) => warnings.add(warning),
    threads: options.threads,
    signal: interruption.signal,
    onRead(read) {
      noteUndated(read, paths, options, diagnostics);
      if (read.files > 0 || isEmptyAllowed(options)) return;
      warnings.summarise();
      noteStale(read, options, diagnostics);
      throw emptySource(describeEmpty(paths, read, options));
    },
  });
  warnings.summarise();
  noteStale(compiled, options, diagnostics);
  const { stats } = compiled;
  // Before a fetch no file need be there, and after it the input had no host.
  if (stats.files === 0 && options.fetch !== true) {
    diagnostics.note(`warning: ${describeEmpty(paths, compiled, options)}`);
  }
  if (stats.replaced > 0 && paths.length === 1) {
    diagnostics.note(
      `warning: ${formatCount(stats.replaced, 'robots.txt file overrides', 'robots.txt files override')} earlier ones for the same scheme, host and port`,
    );
  }
  return compiled;
}

/** Whether the dates of robots.txt files matter. The filter also reads records for sayings. */
function showsDates({ history, records, report, ...said }: CachesOptions): boolean {
  const isForSayings = said.preferences === true || said.crawlDelay === true;
  return history === true || report !== undefined || (records === true && !isForSayings);
}

/** The settings for reading caches that a run of the filter and the fetch before it share. */
export function readingOf(options: RobotsOptions): Omit<CompileCacheOptions, 'onWarning'> {
  return {
    profile: options.profile ?? 'rfc9309',
    maxRobotsBytes: options.maxRobotsBytes,
    followLinks: options.followLinks,
    stale: options.stale,
    fetchReading: { unreachableAfter: options.unreachableAfter },
    asOf: options.asOf,
    columns: {
      host: options.hostColumn,
      robots: options.robotsColumn,
      status: options.statusColumn,
      fetched: options.dateColumn,
    },
  };
}

/** Whether a run may go on without any robots.txt. A shard may have none, and a first fetch too. */
function isEmptyAllowed({ allowEmpty, fetch, only }: CachesOptions): boolean {
  return allowEmpty === true || fetch === true || only !== undefined;
}

function describeEmpty(
  paths: readonly string[],
  { stale }: Pick<CompiledCache, 'stale'>,
  { asOf, only }: CachesOptions,
): string {
  const where = paths.join(', ');
  if (stale > 0) {
    return `every robots.txt in ${where} is stale, and left out by --stale unknown: every host is unknown. Leave that option out`;
  }
  if (asOf !== undefined) {
    return `no robots.txt in ${where} up to ${new Date(asOf).toISOString()}: every host is unknown. Use a later --as-of`;
  }
  if (only !== undefined) return `no robots.txt in ${where} is for shard ${only}`;
  const isDirectory = (path: string) =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (paths.every(isTable)) return `no host in ${where}: every host is unknown. Name another table`;
  const remedy = paths.some(isDirectory)
    ? 'Name the files HOST, HOST.txt, HOST-robots.txt, HOST.robots.txt, HOST/robots.txt or SCHEME/HOST/robots.txt'
    : 'A record needs "host" or "url", and "robots", "robots_base64" or "status"; a WARC file needs captures of a robots.txt';
  return `no robots.txt in ${where}: every host is unknown. ${remedy}`;
}

/**
 * Says how many files a table with histories lacks.
 *
 * @param only the shard that is compiled alone: other shards may have the files with dates
 * @throws RobotsFilterError `input` if it lacks all of them
 */
function noteUndated(
  { files, undated }: { readonly files: number; readonly undated: number },
  paths: readonly string[],
  { only, timeField, inForce }: CachesOptions,
  diagnostics: Diagnostics,
): void {
  if (undated === 0) return;
  const asked =
    timeField !== undefined ? '--time-field' : inForce !== undefined ? '--in-force' : '--history';
  const where = paths.join(', ');
  const remedy =
    'Dates come from captures of WARC files, from directories that robots-filter fetch wrote, from a member or column "fetched" of records (--date-column names another one), from directories that are named by a date (2024-05-01/HOST), and from tables of compile --history or --records';
  if (undated === files && only === undefined) {
    throw new RobotsFilterError(
      'input',
      `${where}: no robots.txt has a date, and a history needs dates. ${remedy}. Otherwise leave ${asked} out`,
    );
  }
  diagnostics.note(
    `warning: ${formatCount(undated, 'robots.txt file')} of ${formatNumber(files)} in ${where} left out of the history, because they have no date. ${remedy}`,
  );
}

function noteStale(
  { stale }: Pick<CompiledCache, 'stale'>,
  options: RobotsOptions,
  diagnostics: Diagnostics,
): void {
  if (stale === 0) return;
  const files = formatCount(stale, 'robots.txt file is', 'robots.txt files are');
  const [fate, alternative] =
    options.stale === 'unknown'
      ? ['; their hosts are unknown', '']
      : [', and used anyway', ', or leave them out with --stale unknown'];
  diagnostics.note(
    `warning: ${files} stale${fate}. Refresh them with robots-filter fetch --robots-dir DIR --stale${alternative}`,
  );
}

/**
 * Reports the number of warnings about the lines of robots.txt files, by kind.
 *
 * @param paths what was compiled
 */
export function noteContentWarnings(
  compiled: Pick<CompiledCache, 'contentWarnings' | 'stats'>,
  paths: readonly string[],
  diagnostics: Diagnostics,
): void {
  const total = [...compiled.contentWarnings.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return;
  const kinds = [...compiled.contentWarnings].sort(([, a], [, b]) => b - a);
  diagnostics.note(
    `${formatCount(total, 'warning')} about lines of ${formatCount(compiled.stats.bodies, 'distinct robots.txt file')}: ` +
      `${kinds.map(([code, count]) => `${formatNumber(count)} ${code}`).join(', ')}. ` +
      `${shellWords(['robots-filter', 'lint', ...paths])} names the lines`,
  );
}

/** Number of warnings that are printed in full. */
const MOST_PRINTED = 10;

/** Number of skipped documents and data files that are named. */
const MOST_NAMED = 3;

/** Warnings of a file that should hold a robots.txt, and could not be read as one. */
const UNREAD: ReadonlySet<CacheWarningCode> = new Set([
  'unreadable',
  'not-a-file',
  'too-large',
  'compressed',
  'not-text',
]);

/**
 * Prints what was skipped in caches: the first ten warnings in full, then a count of each kind.
 * Documents and data files share one warning.
 */
export class CacheWarnings {
  readonly #diagnostics: Diagnostics;
  readonly #counts = new Map<string, number>();
  #total = 0;
  #printed = 0;
  #unread = 0;
  #firstUnread = '';
  /** Paths of the first skipped documents and data files. */
  readonly #documents: string[] = [];
  #documentCount = 0;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  /** Number of warnings, without documents and data files. */
  get total(): number {
    return this.#total;
  }

  /** Number of files that could not be read. */
  get unread(): number {
    return this.#unread;
  }

  /** Path of the first of them. */
  get firstUnread(): string {
    return this.#firstUnread;
  }

  add(
    warning: Pick<CacheWarning, 'code' | 'path' | 'line' | 'offset' | 'count' | 'message'>,
  ): void {
    if (warning.code === 'document') {
      if (this.#documentCount++ < MOST_NAMED) this.#documents.push(warning.path);
      return;
    }
    const { code, path, line, offset, count = 1, message } = warning;
    this.#total += count;
    if (UNREAD.has(code) && this.#unread++ === 0) this.#firstUnread = path;
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + count);
    if (this.#printed === MOST_PRINTED || count > 1) return;
    this.#printed++;
    const place = line ?? offset;
    this.#diagnostics.note(`warning: ${path}${place === undefined ? '' : `:${place}`}: ${message}`);
  }

  /** Prints the counts. Call this when all caches have been read. */
  summarise(): void {
    this.#summariseDocuments();
    if (this.#total === this.#printed) return;
    const kinds = [...this.#counts].map(([code, count]) => `${formatNumber(count)} ${code}`);
    this.#diagnostics.note(
      `${formatCount(this.#total, 'warning')} about robots.txt files, the first ${this.#printed} of them above: ${kinds.join(', ')}`,
    );
  }

  #summariseDocuments(): void {
    if (this.#documentCount === 0) return;
    const further = this.#documentCount - this.#documents.length;
    const names = `${this.#documents.join(', ')}${further > 0 ? ` and ${formatNumber(further)} more` : ''}`;
    const reason = this.#documentCount === 1 ? 'because of its name' : 'because of their names';
    this.#diagnostics.note(
      `warning: ${formatCount(this.#documentCount, 'file')} skipped ${reason}: ${names}. ` +
        'To use such a file, name it HOST.robots.txt or HOST/robots.txt',
    );
  }
}

// ---- Tables with the records beside the rules

/** A table in memory. */
interface CompiledTable {
  readonly table: Table;
  readonly named: NamedTokens;
}

/**
 * Opens a table, and says if it has no records.
 *
 * @param hosts canonical hosts: of a table in shards only theirs are read; `undefined` for all
 * @throws RobotsFilterError also `input` for a table without hosts, unless that is allowed
 */
export async function openWithRecords(
  path: string,
  options: RobotsOptions,
  diagnostics: Diagnostics,
  hosts?: readonly string[],
): Promise<Table> {
  const table = await openForHosts(path, hosts);
  refuseEmptyTable(path, tableMemory(table).hosts, options, diagnostics);
  if (!tableMemory(table).view.hasRecords) {
    diagnostics.note(
      `warning: ${path} keeps no sitemaps, crawl-delays, preferences and dates. Compile it with --records to keep them`,
    );
  }
  return table;
}

/** The host under which the table of one robots.txt has it: the file names none. */
export const SINGLE_HOST = 'robots.txt';

/** A table of one robots.txt, with records. */
export function singleWithRecords(
  path: string,
  body: Uint8Array,
  { profile = 'rfc9309', maxRobotsBytes, signals }: RobotsOptions & { readonly signals?: boolean },
): Table {
  const builder = new TableBuilder({
    profile,
    ...(maxRobotsBytes === undefined ? {} : { maxBytes: maxRobotsBytes }),
    records: true,
    signals,
  });
  const authority = { scheme: undefined, host: SINGLE_HOST, port: undefined };
  builder.add(authority, body, { source: inputName(path) });
  return Table.from(builder.build(), path);
}

/**
 * Compiles caches into a table in memory, with records.
 *
 * @returns the table and the product tokens that the files name, or the exit code after a signal
 */
export async function compileWithRecords(
  paths: readonly string[],
  options: RobotsOptions & { readonly signals?: boolean },
  productTokens: readonly string[] | undefined,
  diagnostics: Diagnostics,
): Promise<CompiledTable | number> {
  return interruptible(async (interruption) => {
    const context = { productTokens, diagnostics, interruption };
    const { layout } = await compileCaches(paths, { ...options, records: true }, context);
    const table = Table.from(layout.table(allocateTable), paths.join(', '));
    return { table, named: layout.named };
  });
}
