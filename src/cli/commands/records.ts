import { inputName } from '../../files/openings.js';
import { sortedPlaces } from '../../inspect/host-order.js';
import { authorityLabel } from '../../inspect/host-report.js';
import { type Table, tableMemory } from '../../judge/table.js';
import { type KeptRecord, keptRecords, type RecordKind } from '../../protocol/fields.js';
import { parseRobots } from '../../protocol/parse.js';
import { parseRecordValue } from '../../protocol/preferences.js';
import type { AuthorityRecords } from '../../view/table-content.js';
import { Diagnostics, SUCCESS } from '../console.js';
import { checkSpreadsheet, type RobotsOptions, type RowOptions } from '../options.js';
import { type Cell, type Column, type RowFormat, TextRows } from '../report/rows.js';
import { kindOfArgument, readRobotsFile } from './arguments.js';
import { compileWithRecords, openWithRecords } from './compile-caches.js';
import { checkChoices, checkProfile, refuseReadingOptions } from './robots-source.js';

export interface RecordsOptions extends RobotsOptions, RowOptions {
  readonly kind?: readonly RecordKind[];
  readonly format?: RowFormat;
}

const COLUMNS: readonly Column[] = [
  { name: 'host', width: 28 },
  { name: 'line', width: 5, isNumber: true },
  { name: 'kind', width: 14 },
  { name: 'group', width: 16 },
  { name: 'value', width: 40 },
  { name: 'parsed', width: 10 },
  { name: 'truncated', width: 9 },
];

/** Product tokens of a group in a row: a file may have thousands of names, and of records. */
const MOST_TOKENS = 1000;

const NO_TIME = 'it keeps the records of the newest robots.txt files alone. Leave --as-of out';

/**
 * `robots-filter records`: prints sitemaps, crawl-delays, preferences and other records that are
 * not part of RFC 9309.
 *
 * @param path a robots.txt, a directory or file of records, or a table
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function records(path: string, options: RecordsOptions): Promise<number> {
  checkSpreadsheet(options);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const report = new RecordsReport(options);
  const source = await kindOfArgument(path);
  if (source !== 'cache') refuseReadingOptions(options, source, NO_TIME);
  if (source === 'cache') await checkChoices([path], options, 'Leave --as-of out');
  if (source === 'robots.txt') {
    const file = parseRobots(await readRobotsFile(path, 'records', diagnostics), {
      profile: options.profile ?? 'rfc9309',
      ...(options.maxRobotsBytes === undefined ? {} : { maxBytes: options.maxRobotsBytes }),
    });
    report.add(undefined, keptRecords(file, options.profile ?? 'rfc9309'));
    await report.end(path, diagnostics);
    return SUCCESS;
  }
  let table: Table;
  if (source === 'table') {
    table = await openWithRecords(path, options, diagnostics);
    checkProfile(table.profile, path, options.profile);
  } else {
    const opened = await compileWithRecords([path], options, undefined, diagnostics);
    if (typeof opened === 'number') return opened;
    table = opened.table;
  }
  const { view } = tableMemory(table);
  for (const at of sortedPlaces(view)) {
    const host = view.hostAt(at);
    for (const authority of host.authorities) {
      const kept: AuthorityRecords = view.recordsOf(authority);
      report.add(authorityLabel(host, authority), kept.records);
    }
    if (report.isClosed) break;
  }
  await report.end(path, diagnostics);
  return SUCCESS;
}

/** A record that may have been truncated. */
type ReportedRecord = KeptRecord & { readonly isTruncated?: boolean };

class RecordsReport {
  readonly #kinds: ReadonlySet<RecordKind> | undefined;
  readonly #rows: TextRows;
  #count = 0;

  constructor({ kind, format = 'ndjson', spreadsheet }: RecordsOptions) {
    this.#kinds = kind === undefined ? undefined : new Set(kind);
    this.#rows = new TextRows(format, COLUMNS, { spreadsheet });
  }

  get isClosed(): boolean {
    return this.#rows.isClosed;
  }

  add(host: string | undefined, records: readonly ReportedRecord[]): void {
    for (const { kind, line, productTokens, value, isTruncated = false } of records) {
      if (this.#kinds?.has(kind) === false) continue;
      this.#count++;
      const parsed = isTruncated ? undefined : parseRecordValue(kind, value);
      const group = productTokens?.slice(0, MOST_TOKENS);
      const cells = [host, line, kind, group, value, parsed, isTruncated];
      this.#rows.add({ cells: cells as readonly Cell[] });
    }
  }

  /** Ends the report; says if there was nothing to report, or if columns were left out. */
  async end(path: string, diagnostics: Diagnostics): Promise<void> {
    await this.#rows.end();
    const { omission } = this.#rows;
    if (this.#count === 0) {
      const kinds = this.#kinds === undefined ? '' : ` of kind ${[...this.#kinds].join(', ')}`;
      diagnostics.note(`${inputName(path)} has no records${kinds}`);
    } else if (omission !== undefined && !this.isClosed) diagnostics.note(omission);
  }
}
