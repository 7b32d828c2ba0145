/** Proves the host buckets, host records and sources of a table. */

import { HostHash } from '../kernel/hashes.js';
import { canonicalHost, DEFAULT_PORTS } from '../protocol/authority.js';
import type { TableHeader } from '../table/check.js';
import {
  AUTHORITY_HISTORY,
  AUTHORITY_HOST,
  AUTHORITY_NUMBER,
  AUTHORITY_SOURCE,
  BUCKET_BYTES,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
  ENTRY_AUTHORITY,
  ENTRY_FORM,
  ENTRY_SCHEMES,
  HEADER_HOST_KEY,
  HEADER_LONGEST_PROBE,
  HISTORY_AUTHORITY,
  HISTORY_VERSION_BYTES,
  HISTORY_VERSIONS,
  HOST_AUTHORITY,
  HOST_DATED,
  HOST_FORM,
  HOST_KEY_BYTES,
  HOST_NUMBERED,
  HOST_SEVERAL,
  HOST_SEVERAL_NAME,
  MAX_HOST_BYTES,
  MAX_PROBE,
  RECORDS_COUNT,
  RECORDS_DATE,
  RECORDS_ENTRIES,
  RECORDS_ENTRY_BYTES,
  RECORDS_ENTRY_DATED,
  RECORDS_ENTRY_PLAIN,
  RECORDS_LIST,
  SCHEME_FTP,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SOURCE_FIXED_BYTES,
  SOURCE_LIMIT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
  VERSION_CONFIRMED,
  VERSION_WITHOUT_HISTORIES,
} from '../table/format.js';
import { bucketOf, entryBytesOf, NAME_STARTS, tagOf } from '../table/places.js';
import { readRecordList } from '../table/record-list.js';
import {
  arePlain,
  ByteSet,
  isEscaped,
  type Placement,
  ROBOTS,
  type TableBytes,
} from './placement.js';

const ALL_SCHEMES = SCHEME_HTTP | SCHEME_HTTPS | SCHEME_FTP;

/** The schemes with this default port, which is stored as 0. */
const SCHEMES_OF_PORT: Readonly<Record<number, number>> = {
  [DEFAULT_PORTS.http]: SCHEME_HTTP,
  [DEFAULT_PORTS.https]: SCHEME_HTTPS,
  [DEFAULT_PORTS.ftp]: SCHEME_FTP,
};

/** Checks host records: see verify-table.ts. */
export class HostCheck {
  count = 0;
  authorities = 0;
  /** The places of the checked authorities, counted from the start of the section. */
  readonly #places = new ByteSet();
  readonly #table: TableBytes;
  readonly #placement: Placement;
  readonly #sources: SourceCheck;
  readonly #search: BucketSearch;
  readonly #hash: HostHash;
  readonly #hasHistories: boolean;
  /** The host that is being checked. */
  readonly #name = Buffer.alloc(MAX_HOST_BYTES);

  constructor(table: TableBytes, header: TableHeader, placement: Placement, sources: SourceCheck) {
    this.#table = table;
    this.#placement = placement;
    this.#sources = sources;
    this.#places.clear(placement.end - placement.start);
    this.#search = new BucketSearch(table, header);
    this.#hasHistories = header.version > VERSION_WITHOUT_HISTORIES;
    const key = table.bytes.subarray(HEADER_HOST_KEY, HEADER_HOST_KEY + HOST_KEY_BYTES);
    this.#hash = new HostHash(key);
  }

  /** Whether a checked authority is at `at`. */
  hasAuthority(at: number): boolean {
    return this.#placement.has(at) && this.#places.has(at - this.#placement.start);
  }

  /** Checks the host record at `at`; returns where it ends. */
  check(at: number): number {
    const table = this.#table;
    const bytes = table.u8(at);
    const form = table.u8(at + HOST_FORM);
    const nameStart = NAME_STARTS[form];
    if (nameStart === undefined || (form === HOST_DATED) !== this.#hasHistories) {
      throw this.#fault(at + HOST_FORM, `a host of form ${form}`);
    }
    // In bounds wherever the host starts: TAIL_BYTES follow the section.
    const entries = form >= HOST_SEVERAL ? table.u16(at + HOST_AUTHORITY) : 0;
    const name = at + nameStart;
    let end = name + bytes + entryBytesOf(form) * entries;
    if (end > this.#placement.end) throw this.#fault(at, 'the host ends beyond its section');
    this.#checkName(at, name, bytes);
    if (form < HOST_SEVERAL) {
      this.#checkAuthority(at + HOST_AUTHORITY, form, bytes);
    } else {
      if (entries === 0) throw this.#fault(at + HOST_AUTHORITY, 'a host without authorities');
      this.#checkEntries(at, form, bytes, entries);
      if (form === HOST_DATED) end = this.#checkHistories(end, bytes, entries);
    }
    this.count++;
    return end;
  }

  #checkName(at: number, start: number, bytes: number): void {
    const table = this.#table;
    const name = this.#name.subarray(0, bytes);
    name.set(table.bytes.subarray(start, start + bytes));
    const text = name.toString('latin1');
    if (canonicalHost(text) !== text) {
      throw this.#fault(start, `the host ${JSON.stringify(text)} is not canonical`);
    }
    const found = this.#search.find(this.#hash.of(name), (record) => this.#isNamed(record, bytes));
    if (found === at) return;
    throw this.#fault(
      start,
      found === undefined
        ? `the host ${text} is in a bucket where it is not looked for`
        : `the host ${text} is also at ${found}`,
    );
  }

  /** Whether the record at `at`, which may be unchecked, has the same name. */
  #isNamed(at: number, bytes: number): boolean {
    const table = this.#table;
    const nameStart = NAME_STARTS[table.u8(at + HOST_FORM)];
    if (table.u8(at) !== bytes || nameStart === undefined) return false;
    for (let index = 0; index < bytes; index++) {
      if (table.bytes[at + nameStart + index] !== this.#name[index]) return false;
    }
    return true;
  }

  #checkEntries(host: number, form: number, bytes: number, count: number): void {
    const table = this.#table;
    const start = host + HOST_SEVERAL_NAME + bytes;
    let lastPort = -1;
    let taken = 0;
    for (let index = 0; index < count; index++) {
      const entry = start + index * entryBytesOf(form);
      const port = table.u16(entry);
      const schemes = table.u8(entry + ENTRY_SCHEMES);
      if (port < lastPort) throw this.#fault(entry, 'the authorities are not sorted by port');
      if (port > lastPort) taken = 0;
      if (schemes === 0 || (schemes & ~ALL_SCHEMES) !== 0) {
        throw this.#fault(entry + ENTRY_SCHEMES, `schemes ${schemes}`);
      }
      if ((schemes & taken) !== 0) {
        throw this.#fault(entry + ENTRY_SCHEMES, `a scheme occurs twice at port ${port}`);
      }
      if ((schemes & (SCHEMES_OF_PORT[port] ?? 0)) !== 0) {
        throw this.#fault(entry, `port ${port} is the default of its scheme, and not written 0`);
      }
      if (table.u8(entry + ENTRY_FORM) !== form) {
        throw this.#fault(entry + ENTRY_FORM, "the form of the authority differs from its host's");
      }
      const authority = entry + ENTRY_AUTHORITY;
      if (table.u32(authority + AUTHORITY_HOST) !== host) {
        throw this.#fault(authority + AUTHORITY_HOST, 'the authority names another host');
      }
      this.#checkAuthority(authority, form, bytes);
      lastPort = port;
      taken |= schemes;
    }
  }

  /**
   * Checks the histories of the entries that end at `start`: they follow one another. Returns where
   * the last one ends.
   */
  #checkHistories(start: number, bytes: number, entries: number): number {
    const table = this.#table;
    const entryBytes = entryBytesOf(HOST_DATED);
    let entry = start - entryBytes * entries + ENTRY_AUTHORITY;
    let history = start;
    for (let index = 0; index < entries; index++, entry += entryBytes) {
      if (table.u32(entry + AUTHORITY_HISTORY) !== history) {
        throw this.#fault(entry + AUTHORITY_HISTORY, `the history is not at ${history}`);
      }
      // In bounds: TAIL_BYTES follow the section.
      if (history + HISTORY_VERSIONS > this.#placement.end) {
        throw this.#fault(history, 'the history ends beyond its section');
      }
      const count = table.u32(history);
      const end = history + HISTORY_VERSIONS + count * HISTORY_VERSION_BYTES;
      if (end > this.#placement.end)
        throw this.#fault(history, 'the history ends beyond its section');
      if (count === 0) throw this.#fault(history, 'a history without versions');
      const last = this.#checkVersions(history, count, bytes);
      if (last !== table.u32(entry)) {
        throw this.#fault(entry, 'the authority has another robots record than its last version');
      }
      history = end;
    }
    return history;
  }

  /** Checks the versions of a history; returns the robots record of the last. */
  #checkVersions(history: number, count: number, bytes: number): number {
    const table = this.#table;
    let confirmed = 0;
    let robots = 0;
    for (let index = 0; index < count; index++) {
      const version = history + HISTORY_VERSIONS + index * HISTORY_VERSION_BYTES;
      const own = version + HISTORY_AUTHORITY;
      const time = table.u32(version);
      if (time <= confirmed) throw this.#fault(version, 'the times do not ascend');
      if (table.u32(own) === robots) throw this.#fault(own, 'the version is that before it');
      confirmed = table.u32(own + VERSION_CONFIRMED);
      if (confirmed < time) {
        throw this.#fault(own + VERSION_CONFIRMED, 'the version was found before it began');
      }
      robots = table.u32(own);
      this.#checkFile(own, HOST_DATED, bytes);
    }
    return robots;
  }

  /** Checks an authority of the current host, whose name has this many bytes. */
  #checkAuthority(at: number, form: number, bytes: number): void {
    this.#checkFile(at, form, bytes);
    this.authorities++;
    this.#places.add(at - this.#placement.start);
  }

  /** Checks the robots record and the source of an authority, or of a version. */
  #checkFile(at: number, form: number, bytes: number): void {
    const table = this.#table;
    this.#placement.refer(at, table.u32(at), ROBOTS);
    const source = table.u32(at + AUTHORITY_SOURCE);
    if (!this.#sources.has(source)) {
      throw this.#fault(at + AUTHORITY_SOURCE, `no source starts at ${source}`);
    }
    const kind = table.u8(source);
    if (form < HOST_SEVERAL && (kind === SOURCE_WITH_NUMBER) !== (form === HOST_NUMBERED)) {
      throw this.#fault(at + AUTHORITY_SOURCE, 'the source does not fit the form of its host');
    }
    let own = 0;
    if (kind === SOURCE_WITH_NUMBER) own = String(table.u32(at + AUTHORITY_NUMBER)).length;
    if (kind === SOURCE_WITH_HOST) {
      // The host is not escaped in a source, and this host may hold a quote.
      if (!arePlain(this.#name, 0, bytes)) {
        throw this.#fault(at + AUTHORITY_SOURCE, 'the source has a host that would be escaped');
      }
      own = bytes;
    }
    if (table.u16(source + 1) + own + table.u16(source + 3) > SOURCE_LIMIT) {
      throw this.#fault(at + AUTHORITY_SOURCE, 'the source is too long with its host or number');
    }
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}

/** Checks that each slot is free or has a host record of its own, and marks the records. */
export function checkBuckets(table: TableBytes, header: TableHeader, placement: Placement): void {
  if (header.longestProbe > MAX_PROBE) {
    throw table.fault(
      'header',
      HEADER_LONGEST_PROBE,
      `the longest probe is ${header.longestProbe} buckets; the limit is ${MAX_PROBE}`,
    );
  }
  const { start, end } = header.sections.buckets;
  for (let bucket = start; bucket < end; bucket += BUCKET_BYTES) {
    let used = 0;
    for (let place = 0; place < BUCKET_SLOTS; place++) {
      const slot = bucket + 4 * place;
      const record = table.u32(slot);
      const tag = table.u16(bucket + BUCKET_TAGS + 2 * place);
      const fault = (what: string): Error => table.fault('buckets', slot, what);
      if (record === 0) {
        if (tag !== 0) throw fault('a free slot has a tag');
        continue;
      }
      if (used++ < place) throw fault('a slot is used after a free one');
      if (tag === 0) throw fault('a used slot has no tag');
      if (!placement.has(record)) throw fault(`the host at ${record} is outside its section`);
      if (!placement.addHost(record)) throw fault(`a second slot has the host at ${record}`);
    }
    const passed = table.u32(bucket + BUCKET_PASSED);
    if (passed > 1 || (passed === 1 && used < BUCKET_SLOTS)) {
      throw table.fault('buckets', bucket + BUCKET_PASSED, 'the bucket cannot have been passed');
    }
  }
}

/** Probes the buckets as a look-up does (kernel/assembly/look-up.ts). */
class BucketSearch {
  readonly #table: TableBytes;
  readonly #start: number;
  readonly #buckets: number;
  readonly #longestProbe: number;

  constructor(table: TableBytes, { sections, buckets, longestProbe }: TableHeader) {
    this.#table = table;
    this.#start = sections.buckets.start;
    this.#buckets = buckets;
    this.#longestProbe = longestProbe;
  }

  /** The first record with the tag of this hash that is accepted. */
  find(hash: number, accepts: (record: number) => boolean): number | undefined {
    const table = this.#table;
    const tag = tagOf(hash);
    let bucket = bucketOf(hash, this.#buckets);
    for (let probe = 0; probe < this.#longestProbe; probe++) {
      const at = this.#start + bucket * BUCKET_BYTES;
      for (let place = 0; place < BUCKET_SLOTS; place++) {
        if (table.u16(at + BUCKET_TAGS + 2 * place) !== tag) continue;
        const record = table.u32(at + 4 * place);
        if (accepts(record)) return record;
      }
      if (table.u32(at + BUCKET_PASSED) === 0) return undefined;
      bucket = bucket + 1 === this.#buckets ? 0 : bucket + 1;
    }
    return undefined;
  }
}

/** Counts of the section of records. */
interface VerifiedRecords {
  /** Record lists, and the records in them. */
  readonly recordLists: number;
  readonly records: number;
}

/**
 * Checks the section of records: the entries ascend, each is of an authority, and the lists follow
 * one another in the order in which the entries need them.
 */
export function checkRecords(
  table: TableBytes,
  { sections }: TableHeader,
  hosts: HostCheck,
): VerifiedRecords {
  const { start, end } = sections.records;
  if (start === end) return { recordLists: 0, records: 0 };
  const fault = (at: number, what: string): Error => table.fault('records', at, what);
  const count = table.u32(start + RECORDS_COUNT);
  const entryBytes = table.u32(start + RECORDS_ENTRY_BYTES);
  if (entryBytes !== RECORDS_ENTRY_PLAIN && entryBytes !== RECORDS_ENTRY_DATED) {
    throw fault(start + RECORDS_ENTRY_BYTES, `entries of ${entryBytes} bytes`);
  }
  const entries = start + RECORDS_ENTRIES;
  const lists = entries + count * entryBytes;
  if (lists > end) throw fault(start, `there are ${count} entries, beyond the section`);
  const starts = new Set<number>();
  let next = lists;
  let last = 0;
  let records = 0;
  for (let entry = entries; entry < lists; entry += entryBytes) {
    const authority = table.u32(entry);
    if (authority <= last) throw fault(entry, 'the entries do not ascend');
    last = authority;
    if (!hosts.hasAuthority(authority)) throw fault(entry, `no authority is at ${authority}`);
    const list = table.u32(entry + RECORDS_LIST);
    const date = entryBytes === RECORDS_ENTRY_DATED ? table.u32(entry + RECORDS_DATE) : 0;
    if (list === 0 && date === 0) throw fault(entry, 'an entry without records and date');
    if (list === 0 || starts.has(list)) continue;
    if (list !== next) throw fault(entry, `no record list starts at ${list}`);
    const read = readRecordList(table.bytes, list, end, fault);
    let line = 0;
    for (const record of read.records) {
      if (record.line < line) throw fault(list, 'the records are not in the order of their lines');
      line = record.line;
    }
    starts.add(list);
    records += read.records.length;
    next = read.end;
  }
  table.zeros('records', next, end);
  return { recordLists: starts.size, records };
}

/** Checks the sources section, and keeps where each source starts. */
export class SourceCheck {
  readonly #starts = new ByteSet();
  readonly #start: number;
  readonly #end: number;

  constructor(table: TableBytes, start: number, end: number) {
    this.#start = start;
    this.#end = end;
    this.#starts.clear(end - start);
    let at = start;
    // The zeros after the last source are read as empty sources.
    for (; at + SOURCE_FIXED_BYTES <= end; ) {
      const kind = table.u8(at);
      const before = table.u16(at + 1);
      const after = table.u16(at + 3);
      const text = at + SOURCE_FIXED_BYTES;
      const fault = (what: string): Error => table.fault('sources', at, what);
      if (kind > SOURCE_WITH_NUMBER) throw fault(`a source of kind ${kind}`);
      if (before + after > SOURCE_LIMIT) throw fault('the source is too long');
      const next = text + before + after;
      if (next > end) throw fault('the source ends beyond its section');
      if (
        !isEscaped(table.bytes, text, text + before) ||
        !isEscaped(table.bytes, text + before, next)
      ) {
        throw fault('the source is not escaped as in a JSON string');
      }
      this.#starts.add(at - start);
      at = next;
    }
    table.zeros('sources', at, end);
  }

  /** Whether a source starts at `at`. */
  has(at: number): boolean {
    return at >= this.#start && at < this.#end && this.#starts.has(at - this.#start);
  }
}
