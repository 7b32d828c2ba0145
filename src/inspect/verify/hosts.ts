import { HostHash } from '../../kernel/host-hash.js';
import { canonicalHost, DEFAULT_PORTS } from '../../protocol/authority.js';
import {
  AUTHORITY_HOST,
  AUTHORITY_NUMBER,
  AUTHORITY_SOURCE,
  ENTRY_AUTHORITY,
  ENTRY_BYTES,
  ENTRY_FORM,
  ENTRY_SCHEMES,
  HEADER_HOST_KEY,
  HOST_AUTHORITY,
  HOST_FORM,
  HOST_KEY_BYTES,
  HOST_NUMBERED,
  HOST_SEVERAL,
  HOST_SEVERAL_NAME,
  MAX_HOST_BYTES,
  SCHEME_FTP,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SOURCE_LIMIT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
} from '../../table/format.js';
import { NAME_STARTS } from '../../table/name-starts.js';
import type { TableHeader } from '../../table/table-check.js';
import { BucketSearch } from './buckets.js';
import { ByteSet } from './byte-set.js';
import { type Placement, ROBOTS } from './placement.js';
import { arePlain } from './plain-bytes.js';
import type { SourceCheck } from './sources.js';
import type { TableBytes } from './table-bytes.js';

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
  /** The host that is being checked. */
  readonly #name = Buffer.alloc(MAX_HOST_BYTES);

  constructor(table: TableBytes, header: TableHeader, placement: Placement, sources: SourceCheck) {
    this.#table = table;
    this.#placement = placement;
    this.#sources = sources;
    this.#places.clear(placement.end - placement.start);
    this.#search = new BucketSearch(table, header);
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
    if (nameStart === undefined) throw this.#fault(at + HOST_FORM, `a host of form ${form}`);
    // In bounds wherever the host starts: TAIL_BYTES follow the section.
    const entries = form === HOST_SEVERAL ? table.u16(at + HOST_AUTHORITY) : 0;
    const name = at + nameStart;
    const end = name + bytes + ENTRY_BYTES * entries;
    if (end > this.#placement.end) throw this.#fault(at, 'the host ends beyond its section');
    this.#checkName(at, name, bytes);
    if (form !== HOST_SEVERAL) {
      this.#checkAuthority(at + HOST_AUTHORITY, form, bytes);
    } else {
      if (entries === 0) throw this.#fault(at + HOST_AUTHORITY, 'a host without authorities');
      this.#checkEntries(at, bytes, entries);
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

  #checkEntries(host: number, bytes: number, count: number): void {
    const table = this.#table;
    const start = host + HOST_SEVERAL_NAME + bytes;
    let lastPort = -1;
    let taken = 0;
    for (let index = 0; index < count; index++) {
      const entry = start + index * ENTRY_BYTES;
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
      if (table.u8(entry + ENTRY_FORM) !== HOST_SEVERAL) {
        throw this.#fault(entry + ENTRY_FORM, "the form of the authority differs from its host's");
      }
      const authority = entry + ENTRY_AUTHORITY;
      if (table.u32(authority + AUTHORITY_HOST) !== host) {
        throw this.#fault(authority + AUTHORITY_HOST, 'the authority names another host');
      }
      this.#checkAuthority(authority, HOST_SEVERAL, bytes);
      lastPort = port;
      taken |= schemes;
    }
  }

  /** Checks an authority of the current host, whose name has this many bytes. */
  #checkAuthority(at: number, form: number, bytes: number): void {
    const table = this.#table;
    this.#placement.refer(at, table.u32(at), ROBOTS);
    const source = table.u32(at + AUTHORITY_SOURCE);
    if (!this.#sources.has(source)) {
      throw this.#fault(at + AUTHORITY_SOURCE, `no source starts at ${source}`);
    }
    const kind = table.u8(source);
    if (form !== HOST_SEVERAL && (kind === SOURCE_WITH_NUMBER) !== (form === HOST_NUMBERED)) {
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
    this.authorities++;
    this.#places.add(at - this.#placement.start);
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}
