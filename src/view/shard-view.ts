/** Reads one shard of a table: hosts, groups, rules and records by their offsets. */

import { Buffer } from 'node:buffer';
import { RobotsFilterError } from '../base/errors.js';
import { HostHash } from '../kernel/hashes.js';
import { LATEST } from '../kernel/layout.js';
import { type Agent, lowerCaseAscii } from '../protocol/agent.js';
import type { Scheme } from '../protocol/authority.js';
import { isSignalToken } from '../protocol/uses.js';
import type { AccessResult } from '../protocol/verdict.js';
import {
  ACCESS_SUCCESSFUL,
  ACCESS_UNAVAILABLE,
  ACCESS_UNKNOWN,
  ACCESS_UNREACHABLE,
  AUTHORITY_HISTORY,
  AUTHORITY_HOST,
  AUTHORITY_NUMBER,
  AUTHORITY_SOURCE,
  BUCKET_BYTES,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
  ENTRY_AUTHORITY,
  ENTRY_BYTES_DATED,
  ENTRY_SCHEMES,
  FLAG_REDUCED,
  FLAG_SIGNALS,
  GROUP_BYTES,
  GROUP_LINE,
  HEADER_BUCKETS,
  HEADER_FLAGS,
  HEADER_HOST_KEY,
  HEADER_LONGEST_PROBE,
  HEADER_RECORDS,
  HEADER_SECTIONS,
  HEADER_TOKENS,
  HISTORY_AUTHORITY,
  HISTORY_VERSION_BYTES,
  HISTORY_VERSIONS,
  HOST_AUTHORITY,
  HOST_DATED,
  HOST_FORM,
  HOST_KEY_BYTES,
  HOST_SEVERAL,
  MAX_HOST_BYTES,
  RECORDS_COUNT,
  RECORDS_DATE,
  RECORDS_ENTRIES,
  RECORDS_ENTRY_BYTES,
  RECORDS_ENTRY_DATED,
  RECORDS_ENTRY_PLAIN,
  RECORDS_LIST,
  ROBOTS_ACCESS,
  ROBOTS_WIDE,
  SCHEME_FTP,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SECTION_BUCKETS,
  SECTION_END,
  SECTION_HOSTS,
  SOURCE_FIXED_BYTES,
  SOURCE_LIMIT,
  SOURCE_TEXT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
  VERSION_CONFIRMED,
} from '../table/format.js';
import { bucketOf, entryBytesOf, NAME_STARTS, tagOf } from '../table/places.js';
import { readRecordList, type TableRecord } from '../table/record-list.js';
import { firstTokenFrom, numberOfToken, tokenAt } from '../table/token-list.js';
import {
  type AuthorityRecords,
  type MergedGroup,
  type TableAuthority,
  type TableGroup,
  type TableHistory,
  type TableHost,
  TableReader,
  type TableVersion,
} from './table-content.js';

/** Offsets in the bytes of a shard are below this number: see ShardView. */
export const SHARD_SPAN = 2 ** 32;

const ASSUMED_SCHEMES = SCHEME_HTTP | SCHEME_HTTPS;

/** Which shard of its table a shard is. */
export interface ShardPlace {
  /** Its number. */
  readonly shard: number;
  /** Slots of the shards before it, a multiple of 64. */
  readonly firstSlot: number;
}

/** A table in one file has this shard alone. */
const ONLY: ShardPlace = { shard: 0, firstSlot: 0 };

/**
 * Reads a shard of a table for people, and for queries that are made once a run. The kernel judges
 * URLs.
 *
 * An offset in shard `s` is given and taken as `s * SHARD_SPAN` more than in the shard's bytes, so
 * that it names a place in the whole table; 0 stays "none".
 *
 * The shard must have passed `checkTable`. A table of another program may still hold anything, so
 * any method may throw RobotsFilterError `table`. No method takes more than linear time in the
 * length of the shard.
 */
export class ShardView {
  readonly shard: number;
  readonly firstSlot: number;
  /** The time for which authorities are read, in seconds since 1970, or LATEST. */
  readonly time: number;
  /** Reads the numbers of the shard, by offsets in its bytes. */
  readonly reader: TableReader;
  /** What is added to offsets. */
  readonly #base: number;
  readonly #listsUnknown: boolean;
  #hash: HostHash | undefined;
  #recordIndex: RecordIndex | undefined;
  #groupLists: GroupLists | undefined;

  /**
   * @param name the shard's name in messages, such as its path
   * @param time in seconds since 1970: an authority has the robots.txt that was in force then, and
   *   an authority without one is left out. Default: the newest robots.txt counts
   * @param listsUnknown whether an authority is listed while nothing is known of its robots.txt
   */
  constructor(
    bytes: Uint8Array,
    name = 'the table',
    { shard, firstSlot }: ShardPlace = ONLY,
    time = LATEST,
    listsUnknown = false,
  ) {
    this.time = time;
    this.#listsUnknown = listsUnknown;
    this.shard = shard;
    this.firstSlot = firstSlot;
    this.reader = new TableReader(bytes, name);
    this.#base = shard * SHARD_SPAN;
  }

  /** The shard as it was at a time: see the constructor. */
  at(time: number): ShardView {
    return this.#with(time, this.#listsUnknown);
  }

  /** The shard with the authorities of whose robots.txt nothing is known: see the constructor. */
  withUnknown(): ShardView {
    return this.#with(this.time, true);
  }

  #with(time: number, listsUnknown: boolean): ShardView {
    const { reader, shard, firstSlot } = this;
    const place = { shard, firstSlot };
    return new ShardView(reader.bytes, reader.name, place, time, listsUnknown);
  }

  /** This shard: all offsets are its own. So it can be asked as a table is. */
  shardAt(_at: number): this {
    return this;
  }

  /** Whether the table answers only for the product tokens that are listed in it. */
  get isReduced(): boolean {
    return (this.reader.u32(HEADER_FLAGS) & FLAG_REDUCED) !== 0;
  }

  /** Whether the table has what robots.txt files say about uses. */
  get hasSignals(): boolean {
    return (this.reader.u32(HEADER_FLAGS) & FLAG_SIGNALS) !== 0;
  }

  /** The product tokens: `*`, the empty token, and the others sorted. */
  *tokens(): Iterable<string> {
    const count = this.reader.u32(HEADER_TOKENS);
    for (let number = 0; number < count; number++) {
      const text = textOf(this.#token(number));
      if (!isSignalToken(text)) yield text;
    }
  }

  /** The names of its signals (protocol/uses.ts) that begin with a prefix, sorted. */
  *signalTokens(prefix: string): Iterable<string> {
    const count = this.reader.u32(HEADER_TOKENS);
    const first = firstTokenFrom(this.reader, Buffer.from(prefix));
    for (let number = first; number < count; number++) {
      const text = textOf(this.#token(number));
      if (!text.startsWith(prefix)) return;
      yield text;
    }
  }

  /** Returns the number of a product token in lower case; -1 if no robots.txt names it. */
  tokenNumber(token: string): number {
    return numberOfToken(this.reader, token);
  }

  /** Whether the shard has a product token, given in lower case. */
  hasToken(token: string): boolean {
    return this.tokenNumber(token) >= 0;
  }

  /**
   * Checks that the table can answer for an agent.
   *
   * @param name the table's name in the message
   * @throws RobotsFilterError `usage` if the table is reduced to other product tokens
   */
  checkAgent(agent: Agent, name = this.reader.name): void {
    if (!this.isReduced) return;
    for (const link of agent.chain) {
      if (this.tokenNumber(lowerCaseAscii(link)) >= 0) continue;
      throw new RobotsFilterError(
        'usage',
        `${name} was compiled for some agents only, without ${JSON.stringify(link)}. Compile it again with --agent ${link}, or without --agent`,
      );
    }
  }

  /** All hosts, in the order of the slots. */
  *hosts(): Iterable<TableHost> {
    for (const at of this.hostPlaces()) yield this.hostAt(at);
  }

  /** The offsets of all host records, in the order of the slots. */
  *hostPlaces(): Iterable<number> {
    const { reader } = this;
    const buckets = this.#section(SECTION_BUCKETS);
    const end = buckets + BUCKET_BYTES * reader.u32(HEADER_BUCKETS);
    let left = this.#hostBytes;
    for (let bucket = buckets; bucket < end; bucket += BUCKET_BYTES) {
      for (let place = 0; place < BUCKET_SLOTS; place++) {
        const at = reader.u32(bucket + 4 * place);
        if (at === 0) break;
        left -= this.#entries(at) + this.#entryBytes(at) * this.#entryCount(at) - at;
        left -= this.#historyBytes(at);
        if (left < 0) throw reader.damaged('its hosts are longer than their section');
        yield at + this.#base;
      }
    }
  }

  /** The offset of the host record in a slot of the table; 0 for a free slot. */
  placeOfSlot(slot: number): number {
    const own = slot - this.firstSlot;
    const bucket = Math.floor(own / BUCKET_SLOTS);
    const at = this.#section(SECTION_BUCKETS) + BUCKET_BYTES * bucket;
    return this.#placed(this.reader.u32(at + 4 * (own % BUCKET_SLOTS)));
  }

  /** The offset of the host record that an authority belongs to. */
  placeOfAuthority(authority: number): number {
    const own = authority - this.#base;
    const form = this.reader.u8(own - (HOST_AUTHORITY - HOST_FORM));
    return form >= HOST_SEVERAL
      ? this.#placed(this.reader.u32(own + AUTHORITY_HOST))
      : authority - HOST_AUTHORITY;
  }

  /** The name of the host whose record is at `at`. */
  nameAt(at: number): string {
    const own = at - this.#base;
    return this.reader.asciiText(this.#nameStart(own), this.reader.u8(own));
  }

  /**
   * Four bytes of the name of the host whose record is at `at`, as `Strings` has them; `next` after
   * its end and a zero.
   */
  nameWord(at: number, offset: number, next: number): number {
    const { reader } = this;
    const own = at - this.#base;
    const left = Math.min(4, reader.u8(own) - offset);
    if (left <= 0) return left === 0 ? 0 : next;
    const from = reader.within(this.#nameStart(own) + offset, left);
    const { bytes } = reader;
    let word = (bytes[from] as number) << 24;
    if (left > 1) word |= (bytes[from + 1] as number) << 16;
    if (left > 2) word |= (bytes[from + 2] as number) << 8;
    if (left > 3) word |= bytes[from + 3] as number;
    return word;
  }

  /** Finds a host, given in canonical form. */
  find(host: string): TableHost | undefined {
    const reader = this.reader;
    const bytes = Buffer.from(host);
    if (bytes.length > MAX_HOST_BYTES) return undefined;
    const buckets = reader.u32(HEADER_BUCKETS);
    this.#hash ??= new HostHash(reader.copy(HEADER_HOST_KEY, HOST_KEY_BYTES));
    const hash = this.#hash.of(bytes);
    const tag = tagOf(hash);
    const longestProbe = Math.min(reader.u32(HEADER_LONGEST_PROBE), buckets);
    let bucket = bucketOf(hash, buckets);
    for (let probe = 0; probe < longestProbe; probe++) {
      const at = this.#section(SECTION_BUCKETS) + bucket * BUCKET_BYTES;
      for (let place = 0; place < BUCKET_SLOTS; place++) {
        if (reader.u16(at + BUCKET_TAGS + 2 * place) !== tag) continue;
        const record = reader.u32(at + 4 * place);
        const name = reader.copy(this.#nameStart(record), reader.u8(record));
        if (Buffer.compare(name, bytes) !== 0) continue;
        if (this.#historyBytes(record) > this.#hostBytes) {
          throw reader.damaged('the histories of a host are longer than their section');
        }
        return this.#hostAt(record);
      }
      if (reader.u32(at + BUCKET_PASSED) === 0) return undefined;
      bucket = bucket + 1 === buckets ? 0 : bucket + 1;
    }
    return undefined;
  }

  /** The groups of a robots record, those of `*` first. */
  groups(robots: number): MergedGroup[] {
    if (!this.hasSignals) return this.groupsAndSignals(robots);
    return this.groupsAndSignals(robots).flatMap(({ productTokens, groups }) => {
      const tokens = productTokens.filter((token) => !isSignalToken(token));
      return tokens.length === 0 ? [] : [{ productTokens: tokens, groups }];
    });
  }

  /** As `groups`, with what the robots.txt says about uses (table/format.ts). */
  groupsAndSignals(robots: number): MergedGroup[] {
    const lists = this.groupLists;
    const tokensOfList = new Map<number, string[]>();
    for (const { token, list } of lists.tokens(robots)) {
      const text = textOf(this.#token(token));
      const tokens = tokensOfList.get(list);
      if (tokens === undefined) tokensOfList.set(list, [text]);
      else tokens.push(text);
    }
    let left = this.#hostBytes;
    return Array.from(tokensOfList, ([list, productTokens]) => {
      const groups = lists.groups(list);
      left -= GROUP_BYTES * groups.length;
      if (left < 0)
        throw this.reader.damaged(`the list of groups at ${list - this.#base} is too long`);
      return { productTokens, groups };
    });
  }

  /** The lists of groups in robots records, for those who need no texts. */
  get groupLists(): GroupLists {
    this.#groupLists ??= new GroupLists(this.reader, this.#hostBytes, this.#base);
    return this.#groupLists;
  }

  /**
   * The times from which the versions of an authority's robots.txt are in force, ascending, in
   * seconds since 1970; none if the authority has no history.
   */
  timesOf(authority: Pick<TableAuthority, 'at'>): number[] {
    return this.#versions(authority).map((version) => this.reader.u32(version));
  }

  /** The versions of an authority's robots.txt, by rising time; none without a history. */
  versionsOf(authority: Pick<TableAuthority, 'at'>): TableVersion[] {
    const own = authority.at - this.#base;
    return this.#versions(authority).map((at) => this.#versionIn(own, at));
  }

  /**
   * The version at an offset, from its robots record on.
   *
   * @param authority offset of the authority whose version it is
   */
  versionAt(authority: number, version: number): TableVersion {
    return this.#versionIn(authority - this.#base, version - this.#base - HISTORY_AUTHORITY);
  }

  #versionIn(authority: number, at: number): TableVersion {
    const { reader } = this;
    const version = at + HISTORY_AUTHORITY;
    const entry = authority - ENTRY_AUTHORITY;
    const schemes = reader.u8(entry + ENTRY_SCHEMES);
    const host = reader.u32(authority + AUTHORITY_HOST);
    return {
      since: reader.u32(at),
      confirmed: reader.u32(version + VERSION_CONFIRMED),
      version: this.#authority(authority, version, reader.u16(entry), schemes, host),
    };
  }

  /** The histories of the host whose record is at `at`, by rising offsets of their versions. */
  *historiesAt(at: number): Iterable<TableHistory> {
    const { reader } = this;
    const own = at - this.#base;
    if (reader.u8(own + HOST_FORM) !== HOST_DATED) return;
    const entries = this.#entries(own);
    const entryBytes = this.#entryBytes(own);
    const count = this.#entryCount(own);
    for (let index = 0; index < count; index++) {
      const authority = entries + index * entryBytes + ENTRY_AUTHORITY;
      const history = reader.u32(authority + AUTHORITY_HISTORY);
      const first = history + HISTORY_VERSIONS + HISTORY_AUTHORITY + this.#base;
      const end = first + reader.u32(history) * HISTORY_VERSION_BYTES;
      yield { authority: authority + this.#base, first, end };
    }
  }

  /** Where the versions of an authority are. */
  #versions({ at }: Pick<TableAuthority, 'at'>): number[] {
    const { reader } = this;
    const own = at - this.#base;
    if (reader.u8(own - (HOST_AUTHORITY - HOST_FORM)) !== HOST_DATED) return [];
    const history = reader.u32(own + AUTHORITY_HISTORY);
    const count = reader.u32(history);
    const first = history + HISTORY_VERSIONS;
    reader.within(first, count * HISTORY_VERSION_BYTES);
    return Array.from({ length: count }, (_, index) => first + index * HISTORY_VERSION_BYTES);
  }

  /** Whether the shard keeps other records and dates. */
  get hasRecords(): boolean {
    return this.time === LATEST && this.#records.isPresent;
  }

  /**
   * The other records (RFC 9309 section 2.2.4) of the robots.txt of an authority, and its date.
   * They are kept of the newest robots.txt only: a shard as it was at a time has none.
   */
  recordsOf({ at }: Pick<TableAuthority, 'at'>): AuthorityRecords {
    return this.time === LATEST ? this.#records.of(at - this.#base) : NOTHING;
  }

  get #records(): RecordIndex {
    this.#recordIndex ??= new RecordIndex(this.reader);
    return this.#recordIndex;
  }

  /** The host whose record is at `at`. */
  hostAt(at: number): TableHost {
    return this.#hostAt(at - this.#base);
  }

  /** Moves an offset in the bytes of the shard, unless it is "none". */
  #placed(at: number): number {
    return at === 0 ? 0 : at + this.#base;
  }

  /** Offset of the name in the host record at `at`. From here on, offsets are in the bytes. */
  #nameStart(at: number): number {
    const form = this.reader.u8(at + HOST_FORM);
    const start = NAME_STARTS[form];
    if (start === undefined) throw this.reader.damaged(`the host at ${at} is of form ${form}`);
    return at + start;
  }

  /** Offset of the entries of the host record at `at`: they follow the name. */
  #entries(at: number): number {
    return this.#nameStart(at) + this.reader.u8(at);
  }

  #entryCount(at: number): number {
    const reader = this.reader;
    return reader.u8(at + HOST_FORM) >= HOST_SEVERAL ? reader.u16(at + HOST_AUTHORITY) : 0;
  }

  /**
   * Bytes of the histories of the host record at `at`. They do not overlap. Otherwise many
   * authorities could name one long history, and reading them all would take quadratic time.
   */
  #historyBytes(at: number): number {
    const { reader } = this;
    if (reader.u8(at + HOST_FORM) !== HOST_DATED) return 0;
    let bytes = 0;
    const first = this.#entries(at) + ENTRY_AUTHORITY;
    for (let index = this.#entryCount(at) - 1; index >= 0; index--) {
      const history = reader.u32(first + index * ENTRY_BYTES_DATED + AUTHORITY_HISTORY);
      bytes += HISTORY_VERSIONS + HISTORY_VERSION_BYTES * reader.u32(history);
    }
    return bytes;
  }

  #entryBytes(at: number): number {
    return entryBytesOf(this.reader.u8(at + HOST_FORM));
  }

  #hostAt(at: number): TableHost {
    const reader = this.reader;
    const name = this.#nameStart(at);
    const host = reader.asciiText(name, reader.u8(at));
    const form = reader.u8(at + HOST_FORM);
    if (form < HOST_SEVERAL) {
      const only = HOST_AUTHORITY + at;
      return { host, authorities: [this.#authority(only, only, 0, ASSUMED_SCHEMES, at)] };
    }
    const count = this.#entryCount(at);
    const authorities: TableAuthority[] = [];
    for (let index = 0; index < count; index++) {
      const entry = this.#entries(at) + index * entryBytesOf(form);
      const authority = entry + ENTRY_AUTHORITY;
      if (reader.u32(authority + AUTHORITY_HOST) !== at) {
        throw reader.damaged(`the authority at ${entry} is not of the host at ${at}`);
      }
      const version = form === HOST_DATED ? this.#versionOf(authority) : authority;
      if (version === 0) continue;
      const schemes = reader.u8(entry + ENTRY_SCHEMES);
      const found = this.#authority(authority, version, reader.u16(entry), schemes, at);
      if (found.accessResult !== 'unknown' || this.#listsUnknown) authorities.push(found);
    }
    return { host, authorities };
  }

  /** The version of an authority that was in force; 0 if none was. */
  #versionOf(authority: number): number {
    if (this.time === LATEST) return authority;
    const { reader } = this;
    const history = reader.u32(authority + AUTHORITY_HISTORY);
    const versionAt = (index: number): number =>
      history + HISTORY_VERSIONS + index * HISTORY_VERSION_BYTES;
    let low = 0;
    let high = reader.u32(history);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (reader.u32(versionAt(middle)) <= this.time) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : versionAt(low - 1) + HISTORY_AUTHORITY;
  }

  /** @param version the version of the authority that was in force, or the authority */
  #authority(
    at: number,
    version: number,
    port: number,
    schemes: number,
    host: number,
  ): TableAuthority {
    return new AuthorityEntry(this.reader, {
      at,
      version,
      base: this.#base,
      port: port === 0 ? undefined : port,
      schemes,
      nameStart: this.#nameStart(host),
      nameLength: this.reader.u8(host),
    });
  }

  #token(number: number): Uint8Array {
    const reader = this.reader;
    if (number >= reader.u32(HEADER_TOKENS)) {
      throw reader.damaged(`it has no product token ${number}`);
    }
    return tokenAt(reader, number);
  }

  /** Length of the hosts section; its contents never overlap, so their sum is at most this. */
  get #hostBytes(): number {
    return this.#section(SECTION_HOSTS + 1) - this.#section(SECTION_HOSTS);
  }

  /** Start of a section; SECTION_END gives the end of the last. */
  #section(section: number): number {
    return this.reader.u32(HEADER_SECTIONS + 4 * section);
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

const ACCESS_RESULTS: Readonly<Record<number, AccessResult | 'unknown'>> = {
  [ACCESS_SUCCESSFUL]: 'successful',
  [ACCESS_UNAVAILABLE]: 'unavailable',
  [ACCESS_UNREACHABLE]: 'unreachable',
  [ACCESS_UNKNOWN]: 'unknown',
};

const SCHEMES: readonly (readonly [number, Scheme])[] = [
  [SCHEME_HTTP, 'http'],
  [SCHEME_HTTPS, 'https'],
  [SCHEME_FTP, 'ftp'],
];

/** The schemes of an authority, by their bits. */
const SCHEMES_OF_BITS = Array.from({ length: 8 }, (_, bits) =>
  SCHEMES.filter(([bit]) => (bits & bit) !== 0).map(([, scheme]) => scheme),
);

/** Where an authority and the name of its host lie in a table, and what is not stored there. */
interface AuthorityPlace {
  readonly at: number;
  /** Where its robots record, its source and the number for the source are. */
  readonly version: number;
  /** What is added to offsets outside the shard. */
  readonly base: number;
  readonly port: number | undefined;
  /** Bits. */
  readonly schemes: number;
  readonly nameStart: number;
  readonly nameLength: number;
}

/** An authority of a table. Its source is read late, because many readers need none. */
class AuthorityEntry implements TableAuthority {
  readonly schemes: readonly Scheme[];
  readonly port: number | undefined;
  readonly accessResult: AccessResult | 'unknown';
  readonly robots: number;
  readonly at: number;
  readonly #reader: TableReader;
  readonly #place: AuthorityPlace;

  constructor(reader: TableReader, place: AuthorityPlace) {
    const { at, version, base, port, schemes } = place;
    this.#reader = reader;
    this.#place = place;
    this.at = at + base;
    this.port = port;
    this.schemes = SCHEMES_OF_BITS[schemes] ?? [];
    const robots = reader.u32(version);
    this.robots = robots + base;
    const access = ACCESS_RESULTS[reader.u8(robots) & ROBOTS_ACCESS];
    if (access === undefined) throw reader.damaged(`no access result at ${robots}`);
    this.accessResult = access;
  }

  get source(): string {
    const reader = this.#reader;
    const { version, nameStart, nameLength } = this.#place;
    const source = reader.u32(version + AUTHORITY_SOURCE);
    const kind = reader.u8(source);
    const before = reader.u16(source + 1);
    const after = reader.u16(source + 3);
    if (before + after > SOURCE_LIMIT) throw reader.damaged(`the source at ${source} is too long`);
    let own = '';
    if (kind === SOURCE_WITH_HOST) own = reader.text(nameStart, nameLength);
    else if (kind === SOURCE_WITH_NUMBER) own = String(reader.u32(version + AUTHORITY_NUMBER));
    else if (kind !== SOURCE_TEXT) {
      throw reader.damaged(`the source at ${source} is of kind ${kind}`);
    }
    const text = source + SOURCE_FIXED_BYTES;
    return reader.escapedAgain(reader.text(text, before) + own + reader.text(text + before, after));
  }
}

const NOTHING: AuthorityRecords = { list: 0, records: [], date: undefined };

/** Finds the other records of authorities in the section of records of a table. */
class RecordIndex {
  /** Whether the table has the section. */
  readonly isPresent: boolean;
  readonly #reader: TableReader;
  readonly #entries: number;
  readonly #count: number;
  readonly #entryBytes: number;
  readonly #end: number;
  /** The list that was read last: equal files share a list. */
  #list = 0;
  #records: readonly TableRecord[] = [];

  constructor(reader: TableReader) {
    this.#reader = reader;
    const section = reader.u32(HEADER_RECORDS);
    this.isPresent = section !== 0;
    this.#entries = section + RECORDS_ENTRIES;
    this.#end = reader.u32(HEADER_SECTIONS + 4 * SECTION_END);
    this.#count = this.isPresent ? reader.u32(section + RECORDS_COUNT) : 0;
    this.#entryBytes = this.isPresent ? reader.u32(section + RECORDS_ENTRY_BYTES) : 0;
    if (!this.isPresent) return;
    if (this.#entryBytes !== RECORDS_ENTRY_PLAIN && this.#entryBytes !== RECORDS_ENTRY_DATED) {
      throw reader.damaged(`the entries of its records have ${this.#entryBytes} bytes`);
    }
    if (this.#entries + this.#count * this.#entryBytes > this.#end) {
      throw reader.damaged(`it has ${this.#count} entries of records, beyond their section`);
    }
  }

  /** The records of the authority at an offset. */
  of(authority: number): AuthorityRecords {
    const reader = this.#reader;
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#entries + middle * this.#entryBytes;
      const there = reader.u32(entry);
      if (there < authority) low = middle + 1;
      else if (there > authority) high = middle;
      else return this.#entry(entry);
    }
    return NOTHING;
  }

  /** The records of a list. */
  listAt(list: number): readonly TableRecord[] {
    if (list === 0) return [];
    if (list !== this.#list) {
      const { records } = readRecordList(this.#reader.bytes, list, this.#end, (_at, what) =>
        this.#reader.damaged(what),
      );
      this.#records = records;
      this.#list = list;
    }
    return this.#records;
  }

  #entry(at: number): AuthorityRecords {
    const reader = this.#reader;
    const list = reader.u32(at + RECORDS_LIST);
    const date = this.#entryBytes === RECORDS_ENTRY_DATED ? reader.u32(at + RECORDS_DATE) : 0;
    return new RecordsEntry(this, list, date === 0 ? undefined : date);
  }
}

/** The records of an authority, which are read when they are needed. */
class RecordsEntry implements AuthorityRecords {
  readonly list: number;
  readonly date: number | undefined;
  readonly #index: RecordIndex;

  constructor(index: RecordIndex, list: number, date: number | undefined) {
    this.#index = index;
    this.list = list;
    this.date = date;
  }

  get records(): readonly TableRecord[] {
    return this.#index.listAt(this.list);
  }
}

/** A product token of a robots record, and the start of its list of groups. */
interface TokenList {
  readonly token: number;
  readonly list: number;
}

/** Finds the lists of groups in robots records. */
export class GroupLists {
  readonly #reader: TableReader;
  readonly #sectionBytes: number;
  readonly #base: number;

  /**
   * @param sectionBytes length of the section of hosts, within which a list must end
   * @param base what is added to offsets outside the shard
   */
  constructor(reader: TableReader, sectionBytes: number, base: number) {
    this.#reader = reader;
    this.#sectionBytes = sectionBytes;
    this.#base = base;
  }

  /** The product tokens of the robots record at `robots`, with their lists. */
  *tokens(robots: number): Iterable<TokenList> {
    const reader = this.#reader;
    const { width, count, numbers } = this.#head(robots);
    reader.copy(numbers + 2 * width * count, 0); // checks that all numbers lie within the table
    for (let index = 0; index < count; index++) {
      const token = this.#word(numbers + width * index, width);
      const list = robots + this.#word(numbers + width * (count + index), width);
      yield { token, list };
    }
  }

  /** Start of the list of a product token in a robots record; 0 if no group names the token. */
  find(robots: number, token: number): number {
    const { width, count, numbers } = this.#head(robots);
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = this.#word(numbers + width * middle, width);
      if (there === token) return robots + this.#word(numbers + width * (count + middle), width);
      if (there < token) low = middle + 1;
      else high = middle;
    }
    return 0;
  }

  /** The groups of the list at `list`, in the order of the file. */
  groups(list: number): TableGroup[] {
    const reader = this.#reader;
    const groups: TableGroup[] = [];
    let left = this.#sectionBytes;
    const start = list - this.#base;
    for (let at = start, followed = 1; followed !== 0; at += GROUP_BYTES) {
      left -= GROUP_BYTES;
      if (left < 0) throw reader.damaged(`the list of groups at ${start} is too long`);
      const line = reader.u32(at + GROUP_LINE);
      const automaton = reader.u32(at);
      groups.push({
        automaton: automaton === 0 ? 0 : automaton + this.#base,
        firstLine: line >>> 1,
      });
      followed = line & 1;
    }
    return groups;
  }

  #head(robots: number): { width: number; count: number; numbers: number } {
    const at = robots - this.#base;
    const width = (this.#reader.u8(at) & ROBOTS_WIDE) !== 0 ? 4 : 2;
    return { width, count: this.#word(at + 1, width), numbers: at + 1 + width };
  }

  #word(at: number, width: number): number {
    return width === 4 ? this.#reader.u32(at) : this.#reader.u16(at);
  }
}
