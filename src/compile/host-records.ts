/** Host records: the authorities of a host and their robots.txt files, as bytes of the table. */

import { Buffer } from 'node:buffer';
import {
  AUTHORITY_HISTORY,
  AUTHORITY_HOST,
  AUTHORITY_NUMBER,
  AUTHORITY_SOURCE,
  ENTRY_AUTHORITY,
  ENTRY_FORM,
  ENTRY_SCHEMES,
  HISTORY_AUTHORITY,
  HISTORY_VERSION_BYTES,
  HISTORY_VERSIONS,
  HOST_AUTHORITY,
  HOST_DATED,
  HOST_FORM,
  HOST_NUMBERED,
  HOST_NUMBERED_NAME,
  HOST_PLAIN,
  HOST_PLAIN_NAME,
  HOST_SEVERAL,
  HOST_SEVERAL_NAME,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SOURCE_WITH_NUMBER,
  VERSION_CONFIRMED,
} from '../table/format.js';
import { entryBytesOf } from '../table/places.js';
import type { AuthoritySet, HostEntry, HostNames, SortedAuthorities } from './authority-set.js';
import { type ByteStore, PREFETCHED } from './byte-store.js';

/** Maximum number of authorities in a host record, which counts them with two bytes. */
export const MAX_HOST_AUTHORITIES = 0xffff;
/** Stands for a source: the host has several authorities, or an authority that needs an entry. */
const SEVERAL = -1;

/** A host with more authorities than its record can have. */
export interface CrowdedHost {
  readonly host: string;
  /** Number of its authorities, including those that the record leaves out. */
  readonly authorities: number;
}

/**
 * The hosts of a table, sorted and numbered from 0, and their records. The record of a crowded host
 * has its first authorities by port and scheme; the others are unknown, as if they had no file.
 */
export class HostRecords {
  readonly names: HostNames;
  /** Number of authorities in the records of all hosts. */
  authorityCount = 0;
  /** Total length of the robots.txt files of all authorities. */
  readonly bodyBytes: number;
  /** The robots records, in the order in which the hosts need them. */
  readonly robots: Uint32Array;
  /** For each host, the index in `robots` of the record of its first authority. */
  readonly firstRobots: Uint32Array;
  /** Total length of the sources. */
  sourceBytes = 0;
  /** Versions that were found again after those of another source: see Histories. */
  interrupted = 0;
  /** The first host that has one. */
  firstInterrupted = '';
  /** Entries of which a table does not tell whether they win: see AuthoritySet. */
  doubtful = 0;
  firstDoubtful = '';
  readonly crowded: CrowdedHost[] = [];
  /** Keeps the reads of `prefetch` from being optimised away. */
  prefetched = 0;

  readonly #authorities: AuthoritySet;
  readonly #sources: ByteStore;
  /**
   * All authorities by host. For each host, the index of its first authority there, and the end.
   */
  readonly #sorted: Int32Array;
  readonly #first: Uint32Array;
  /**
   * For each host, the source of its only authority and the number of that source. SEVERAL if the
   * only authority is not http and https at their default ports. AuthoritySet has both too, but in
   * another order, which would cost a cache miss for each host.
   */
  readonly #onlySource: Int32Array;
  readonly #onlySourceNumber: Uint32Array;
  /** Length of the record of each host. */
  readonly #bytes: Uint32Array;
  /** Offsets of the sources in the sources section. */
  readonly #sourceOffsets: OffsetMap;

  /**
   * @param sources the templates of the authorities' sources
   * @param recordCount number of robots records
   */
  constructor(authorities: AuthoritySet, sources: ByteStore, recordCount: number) {
    const sorted = authorities.sorted();
    this.names = sorted.hosts;
    this.#first = this.names.dropRepeats();
    this.bodyBytes = authorities.allBodyBytes;
    this.#authorities = authorities;
    this.#sources = sources;
    this.#sorted = sorted.numbers;
    this.firstRobots = new Uint32Array(this.count);
    this.#onlySource = new Int32Array(this.count).fill(SEVERAL);
    this.#onlySourceNumber = new Uint32Array(this.count);
    this.#bytes = new Uint32Array(this.count);
    this.#sourceOffsets = new OffsetMap(sources.count);
    const needed = new OffsetMap(recordCount);
    this.#addHosts(sorted, needed);
    this.robots = needed.items;
  }

  #addHosts(sorted: SortedAuthorities, needed: OffsetMap): void {
    const { isPlain, robots, sources, sourceNumbers } = sorted;
    for (let host = 0; host < this.count; host++) {
      const low = this.#first[host] as number;
      const isAlone = (this.#first[host + 1] as number) - low === 1;
      if (!isAlone || isPlain[low] === 0 || this.#authorities.keepsHistories) {
        this.#addEntries(host, needed);
        continue;
      }
      this.#addOnly(host, robots[low] as number, sources[low] as number, needed);
      this.#onlySourceNumber[host] = sourceNumbers[low] as number;
    }
  }

  /** Adds a host by its entries. */
  #addEntries(host: number, needed: OffsetMap): void {
    const authorities = this.#authorities;
    const low = this.#first[host] as number;
    const high = this.#first[host + 1] as number;
    const entries = authorities.entriesOf(this.#sorted, low, high);
    if (entries.length > MAX_HOST_AUTHORITIES) {
      this.crowded.push({ host: this.#name(host), authorities: entries.length });
      entries.length = MAX_HOST_AUTHORITIES;
    }
    for (const entry of entries) {
      if (!authorities.isDoubtful(entry)) continue;
      if (this.doubtful++ === 0) this.firstDoubtful = this.#name(host);
    }
    const { authority } = entries[0] as HostEntry;
    if (isPlain(entries) && !authorities.keepsHistories) {
      const robots = authorities.robots(authority);
      this.#addOnly(host, robots, authorities.source(authority), needed);
      this.#onlySourceNumber[host] = authorities.sourceNumber(authority);
      return;
    }
    const form = authorities.keepsHistories ? HOST_DATED : HOST_SEVERAL;
    let bytes = HOST_SEVERAL_NAME + this.names.length(host) + entryBytesOf(form) * entries.length;
    for (const entry of entries) {
      this.authorityCount++;
      this.#need(authorities.robots(entry.authority), authorities.source(entry.authority), needed);
      if (form !== HOST_DATED) continue;
      const versions = authorities.versions(entry);
      bytes += historyBytes(versions);
      for (const { body, source, isInterrupted } of versions) {
        if (isInterrupted && this.interrupted++ === 0) this.firstInterrupted = this.#name(host);
        this.#need(authorities.robotsOf(body), source, needed);
      }
    }
    this.firstRobots[host] = needed.start(authorities.robots(authority));
    this.#bytes[host] = bytes;
  }

  #name(host: number): string {
    return Buffer.from(this.names.get(host)).toString('latin1');
  }

  /** Adds a host by the record and the source of its only authority. */
  #addOnly(host: number, robots: number, source: number, needed: OffsetMap): void {
    this.authorityCount++;
    this.#need(robots, source, needed);
    this.firstRobots[host] = needed.start(robots);
    this.#onlySource[host] = source;
    this.#bytes[host] = this.#nameStart(source) + this.names.length(host);
  }

  #need(robots: number, source: number, needed: OffsetMap): void {
    needed.place(robots, needed.count);
    if (this.#sourceOffsets.place(source, this.sourceBytes)) {
      this.sourceBytes += this.#sources.length(source);
    }
  }

  get count(): number {
    return this.names.count;
  }

  /** Length of a host record. */
  bytes(host: number): number {
    return this.#bytes[host] as number;
  }

  /** Brings what `write` reads of the next hosts of a list into the cache: see ByteStore. */
  prefetch(hosts: Uint32Array, index: number): void {
    if (index % PREFETCHED !== 0) return;
    const end = Math.min(index + PREFETCHED, hosts.length);
    let sum = 0;
    for (let next = index; next < end; next++) {
      const host = hosts[next] as number;
      sum ^= this.names.lengthByte(host) ^ (this.#onlySource[host] as number);
      sum ^= (this.#onlySourceNumber[host] as number) ^ (this.firstRobots[host] as number);
    }
    this.prefetched = sum;
  }

  /**
   * Writes a host record into a chunk.
   *
   * @param at offset in the chunk
   * @param robotsStart offset in the table of a robots record
   * @param sources start of the sources section
   */
  write(
    host: number,
    chunk: TableChunk,
    at: number,
    robotsStart: (robots: number) => number,
    sources: number,
  ): void {
    const { bytes, view: out } = chunk;
    const authorities = this.#authorities;
    const writeAuthority = (place: number, robots: number, source: number): void => {
      out.setUint32(place, robotsStart(robots), true);
      out.setUint32(place + AUTHORITY_SOURCE, sources + this.#sourceOffsets.start(source), true);
    };
    const length = this.names.length(host);
    const only = this.#onlySource[host] as number;
    bytes[at] = length;
    if (only !== SEVERAL) {
      const nameStart = this.#nameStart(only);
      const place = at + HOST_AUTHORITY;
      bytes[at + HOST_FORM] = nameStart === HOST_PLAIN_NAME ? HOST_PLAIN : HOST_NUMBERED;
      writeAuthority(place, this.robots[this.firstRobots[host] as number] as number, only);
      if (nameStart === HOST_NUMBERED_NAME) {
        out.setUint32(place + AUTHORITY_NUMBER, this.#onlySourceNumber[host] as number, true);
      }
      this.names.write(host, bytes, at + nameStart);
      return;
    }
    const entries = this.#entries(host);
    const form = authorities.keepsHistories ? HOST_DATED : HOST_SEVERAL;
    bytes[at + HOST_FORM] = form;
    out.setUint16(at + HOST_AUTHORITY, entries.length, true);
    this.names.write(host, bytes, at + HOST_SEVERAL_NAME);
    let entry = at + HOST_SEVERAL_NAME + length;
    let history = entry + entryBytesOf(form) * entries.length;
    for (const each of entries) {
      const { port, schemes, authority } = each;
      out.setUint16(entry, port, true);
      bytes[entry + ENTRY_SCHEMES] = schemes;
      bytes[entry + ENTRY_FORM] = form;
      const place = entry + ENTRY_AUTHORITY;
      writeAuthority(place, authorities.robots(authority), authorities.source(authority));
      out.setUint32(place + AUTHORITY_NUMBER, authorities.sourceNumber(authority), true);
      out.setUint32(place + AUTHORITY_HOST, chunk.start + at, true);
      entry += entryBytesOf(form);
      if (form !== HOST_DATED) continue;
      out.setUint32(place + AUTHORITY_HISTORY, chunk.start + history, true);
      const versions = authorities.versions(each);
      out.setUint32(history, versions.length, true);
      let version = history + HISTORY_VERSIONS;
      for (const { date, confirmed, body, source, sourceNumber } of versions) {
        out.setUint32(version, date, true);
        const own = version + HISTORY_AUTHORITY;
        writeAuthority(own, authorities.robotsOf(body), source);
        out.setUint32(own + AUTHORITY_NUMBER, sourceNumber, true);
        out.setUint32(own + VERSION_CONFIRMED, confirmed, true);
        version += HISTORY_VERSION_BYTES;
      }
      history = version;
    }
  }

  /** Calls `visit` for the authorities of a host, with their offsets in its record. */
  eachAuthority(host: number, visit: (authority: number, offset: number) => void): void {
    const low = this.#first[host] as number;
    if (this.#onlySource[host] !== SEVERAL) {
      const isAlone = (this.#first[host + 1] as number) - low === 1;
      const only = isAlone ? this.#sorted[low] : this.#entries(host)[0]?.authority;
      visit(only as number, HOST_AUTHORITY);
      return;
    }
    let offset = HOST_SEVERAL_NAME + this.names.length(host) + ENTRY_AUTHORITY;
    for (const { authority } of this.#entries(host)) {
      visit(authority, offset);
      offset += entryBytesOf(this.#authorities.keepsHistories ? HOST_DATED : HOST_SEVERAL);
    }
  }

  /** The sources section. */
  sources(): TablePieces {
    return new SourcePieces(this.#sources, this.#sourceOffsets);
  }

  /** Offset of the name in a record of form 0 or 1, by the source of its authority. */
  #nameStart(source: number): number {
    const kind = this.#sources.memory(source)[this.#sources.offset(source)];
    return kind === SOURCE_WITH_NUMBER ? HOST_NUMBERED_NAME : HOST_PLAIN_NAME;
  }

  #entries(host: number): readonly HostEntry[] {
    const low = this.#first[host] as number;
    const high = this.#first[host + 1] as number;
    const entries = this.#authorities.entriesOf(this.#sorted, low, high);
    return entries.length > MAX_HOST_AUTHORITIES ? entries.slice(0, MAX_HOST_AUTHORITIES) : entries;
  }
}

/** Bytes of a history. */
function historyBytes(versions: readonly unknown[]): number {
  return HISTORY_VERSIONS + HISTORY_VERSION_BYTES * versions.length;
}

/** The sources section: each source is a piece. */
class SourcePieces implements TablePieces {
  readonly #sources: ByteStore;
  readonly #offsets: OffsetMap;
  #next = 0;

  constructor(sources: ByteStore, offsets: OffsetMap) {
    this.#sources = sources;
    this.#offsets = offsets;
  }

  get nextBytes(): number {
    if (this.#next === this.#offsets.count) return 0;
    return this.#sources.length(this.#offsets.item(this.#next));
  }

  write(chunk: TableChunk): void {
    const source = this.#sources.get(this.#offsets.item(this.#next++));
    chunk.bytes.set(source, chunk.end);
    chunk.end += source.length;
  }
}

/** Whether a host has one entry, for http and https at their default ports. */
function isPlain(entries: readonly HostEntry[]): boolean {
  const [only, another] = entries;
  if (only === undefined || another !== undefined) return false;
  return only.port === 0 && only.schemes === (SCHEME_HTTP | SCHEME_HTTPS);
}

/** Stands for an offset: no item of a table starts at its greatest length. */
const NOT_PLACED = 0xffff_ffff;

/**
 * The offsets of numbered items, in the order in which they were placed. Offsets have 32 bits:
 * a table with higher ones is too long, and is not written.
 */
export class OffsetMap {
  /** Number of placed items. */
  count = 0;
  /** The placed items, in order. */
  readonly #items: Uint32Array;
  readonly #starts: Uint32Array;

  /** @param items number of items */
  constructor(items: number) {
    this.#items = new Uint32Array(items);
    this.#starts = new Uint32Array(items).fill(NOT_PLACED);
  }

  has(item: number): boolean {
    return this.#starts[item] !== NOT_PLACED;
  }

  /** Places an item, unless it has been placed already; returns whether the item was new. */
  place(item: number, start: number): boolean {
    if (this.has(item)) return false;
    this.#starts[item] = start;
    this.#items[this.count++] = item;
    return true;
  }

  /** The placed items, in order. */
  get items(): Uint32Array {
    return this.#items.subarray(0, this.count);
  }

  /** The item placed at this index, from 0. */
  item(index: number): number {
    return this.#items[index] as number;
  }

  /** The offset of a placed item. */
  start(item: number): number {
    return this.#starts[item] as number;
  }
}

/** Log2 of the bytes of a number: 0, 1 or 2 for 1, 2 or 4 bytes. */
type Width = 0 | 1 | 2;

/** Writes a number; returns the offset after it. */
export function writeNumber(out: Uint8Array, at: number, value: number, width: Width): number {
  out[at] = value;
  if (width === 0) return at + 1;
  out[at + 1] = value >>> 8;
  if (width === 1) return at + 2;
  out[at + 2] = value >>> 16;
  out[at + 3] = value >>> 24;
  return at + 4;
}

/** Reads a number that `writeNumber` wrote. */
export function readNumber(from: Uint8Array, at: number, width: Width): number {
  let value = 0;
  for (let byte = (1 << width) - 1; byte >= 0; byte--) {
    value = value * 256 + (from[at + byte] as number);
  }
  return value;
}

/**
 * A stretch of a table that is being written: the whole table, or one of several consecutive
 * stretches.
 */
export class TableChunk {
  /** The memory of the chunk; after the written bytes, it holds anything. */
  readonly bytes: Buffer;
  /** A view of the same memory. */
  readonly view: DataView;
  /** Offset in the table of the first byte. */
  start = 0;
  /** Number of written bytes. */
  end = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get room(): number {
    return this.bytes.length - this.end;
  }

  get written(): Buffer {
    return this.bytes.subarray(0, this.end);
  }

  /** Empties the chunk for the stretch that starts at this offset in the table. */
  moveTo(start: number): void {
    this.start = start;
    this.end = 0;
  }
}

/** A stretch of a table that is written piece by piece; a piece is never split between chunks. */
export interface TablePieces {
  /** Bytes of the next piece; 0 after the last one. */
  readonly nextBytes: number;
  /** Appends the next piece, each byte of it, to a chunk that has room for it. */
  write(chunk: TableChunk): void;
}

/** A stretch of one piece. */
export class OnePiece implements TablePieces {
  nextBytes: number;
  readonly #fill: (chunk: TableChunk) => void;

  /** @param fill writes bytes at the end of the chunk; the others are zero */
  constructor(bytes: number, fill: (chunk: TableChunk) => void = () => {}) {
    this.nextBytes = bytes;
    this.#fill = fill;
  }

  write(chunk: TableChunk): void {
    chunk.bytes.fill(0, chunk.end, chunk.end + this.nextBytes);
    this.#fill(chunk);
    chunk.end += this.nextBytes;
    this.nextBytes = 0;
  }
}
