/** Lays out a table: where each section lies, and its bytes in chunks. */

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { RobotsFilterError } from '../base/errors.js';
import type { ReplacementFile } from '../files/replacement.js';
import { Checksum, HostHash } from '../kernel/hashes.js';
import type { NamedTokens } from '../protocol/unnamed-agents.js';
import { isSignalToken } from '../protocol/uses.js';
import { PROFILES, type Profile } from '../protocol/verdict.js';
import {
  BUCKET_BYTES,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
  CACHE_LINE_BYTES,
  FLAG_REDUCED,
  FLAG_SIGNALS,
  HEADER_AUTHORITIES,
  HEADER_AUTOMATA,
  HEADER_BUCKETS,
  HEADER_BYTES,
  HEADER_CHECKSUM,
  HEADER_COMPILED_BYTES,
  HEADER_FLAGS,
  HEADER_HOST_KEY,
  HEADER_HOSTS,
  HEADER_LENGTH,
  HEADER_LONGEST_PROBE,
  HEADER_PROFILE,
  HEADER_RECORDS,
  HEADER_ROBOTS,
  HEADER_RULES,
  HEADER_SECTIONS,
  HEADER_TOKENS,
  HEADER_VERSION,
  HOST_KEY_BYTES,
  HOST_KEY_FACTOR,
  MAGIC_HIGH,
  MAGIC_LOW,
  MAX_PROBE,
  RECORDS_COUNT,
  RECORDS_DATE,
  RECORDS_ENTRIES,
  RECORDS_ENTRY_BYTES,
  RECORDS_ENTRY_DATED,
  RECORDS_ENTRY_PLAIN,
  RECORDS_LIST,
  SECTION_END,
  SECTION_HOSTS,
  SECTION_SOURCES,
  TAIL_BYTES,
  VERSION,
  VERSION_WITHOUT_HISTORIES,
} from '../table/format.js';
import { bucketOf, tagOf } from '../table/places.js';
import type { AuthoritySet, HostNames } from './authority-set.js';
import { type ByteStore, DIGEST_BYTES, Uint32List } from './byte-store.js';
import type { CompiledRobots } from './compiled-robots.js';
import { HostClusters, TokenNumbers } from './host-clusters.js';
import {
  type CrowdedHost,
  HostRecords,
  OffsetMap,
  OnePiece,
  TableChunk,
  type TablePieces,
} from './host-records.js';

/** The part of TableContents that a layout reads. */
interface LaidOutContents {
  readonly profile: Profile;
  readonly compiled: CompiledRobots;
  readonly authorities: AuthoritySet;
  /** Templates of the sources: see SourceTemplates. */
  readonly sources: ByteStore;
  /** The product tokens, besides `*`, that the table is reduced to; `undefined` for all. */
  readonly kept: ReadonlySet<string> | undefined;
  /** Whether the table keeps other records and dates; its files may have none. */
  readonly keepsRecords: boolean;
  readonly keepsSignals: boolean;
}

/** Provides the memory of a table: this many bytes, all zero. */
export type Allocate = (bytes: number) => Uint8Array;

/** Maximum length of a table: offsets are 32-bit numbers. */
const MAX_TABLE_BYTES = 0xffff_ffff;

/**
 * Lays out a table. The order is that of the sorted hosts. So the same contents make the same
 * bytes, in whatever order they were added.
 *
 * The table is written once, in order, into one chunk after another. A table that goes to a file is
 * never whole in memory: only the chunks and the longest piece are. The longest piece has all hosts
 * with the same robots.txt.
 */
export class TableLayout {
  /** Bytes of the table. */
  readonly length: number;
  /** The header; its checksum is 0 until `seal`. */
  readonly header: Uint8Array;
  /** The hosts with authorities that the table leaves out. */
  readonly crowdedHosts: readonly CrowdedHost[];
  /** Versions whose source does not tell when they were in force again, and the first host. */
  readonly interrupted: { readonly versions: number; readonly host: string };
  /** Entries of tables that win over files without a scheme, and the first host. */
  readonly doubtful: { readonly entries: number; readonly host: string };
  /** Everything after the header: sections and the padding between them. */
  readonly #stretches: readonly TablePieces[];
  /** The current stretch. */
  #stretch = 0;
  readonly #checksum = new Checksum();
  #isSealed = false;
  readonly #authorities: AuthoritySet;
  readonly #revision: number;
  readonly #compiled: CompiledRobots;
  /** The product tokens that the table is reduced to and that no file names, in lower case. */
  readonly unnamed: ReadonlySet<string>;

  /**
   * @throws RobotsFilterError `limit` if the table would be longer than 4 GiB
   */
  constructor(contents: LaidOutContents) {
    const { authorities, compiled } = contents;
    this.#authorities = authorities;
    this.#revision = authorities.revision;
    const hosts = new HostRecords(authorities, contents.sources, compiled.records.count);
    this.crowdedHosts = hosts.crowded;
    this.interrupted = { versions: hosts.interrupted, host: hosts.firstInterrupted };
    this.doubtful = { entries: hosts.doubtful, host: hosts.firstDoubtful };
    const tokens = new TokenNumbers(compiled, hosts.robots, contents.kept);
    this.#compiled = compiled;
    this.unnamed = tokens.unnamed;
    const clusters = new HostClusters(hosts, compiled, tokens);
    const slots = placeHosts(hosts.names);

    const records = new RecordSection(
      hosts,
      clusters,
      authorities,
      contents.keepsRecords ? compiled.recordLists : undefined,
    );

    const starts = [HEADER_BYTES];
    const paddings: OnePiece[] = [];
    for (const bytes of [
      tokens.bytes,
      slots.buckets * BUCKET_BYTES,
      clusters.bytes,
      hosts.sourceBytes,
      records.bytes,
    ]) {
      const end = (starts.at(-1) as number) + bytes;
      const next = Math.ceil(end / CACHE_LINE_BYTES) * CACHE_LINE_BYTES;
      paddings.push(new OnePiece(next - end));
      starts.push(next);
    }
    // The header has the section of records apart from the others.
    const [recordSection, end] = starts.splice(SECTION_END) as [number, number];
    starts.push(end);
    this.length = end + TAIL_BYTES;
    if (this.length > MAX_TABLE_BYTES) {
      throw new RobotsFilterError(
        'limit',
        `the table would have ${this.length} bytes, more than the limit of ${MAX_TABLE_BYTES}. Compile fewer hosts, or only the product tokens that you ask for`,
      );
    }

    const hostSection = starts[SECTION_HOSTS] as number;
    const sections = [
      tokens.pieces(),
      new BucketPieces(slots, hostSection, clusters),
      clusters.pieces(hostSection, starts[SECTION_SOURCES] as number),
      hosts.sources(),
      records.pieces(recordSection, hostSection),
    ];
    this.#stretches = [
      ...sections.flatMap((section, number) => [section, paddings[number] as OnePiece]),
      new OnePiece(TAIL_BYTES),
    ];

    this.header = new Uint8Array(HEADER_BYTES);
    const out = new DataView(this.header.buffer);
    out.setUint32(0, MAGIC_LOW, true);
    out.setUint32(4, MAGIC_HIGH, true);
    const version = authorities.keepsHistories ? VERSION : VERSION_WITHOUT_HISTORIES;
    out.setUint32(HEADER_VERSION, version, true);
    out.setUint32(HEADER_PROFILE, PROFILES.indexOf(contents.profile), true);
    out.setUint32(HEADER_LENGTH, this.length, true);
    const reduced = contents.kept === undefined ? 0 : FLAG_REDUCED;
    const flags = reduced | (contents.keepsSignals ? FLAG_SIGNALS : 0);
    out.setUint32(HEADER_FLAGS, flags, true);
    out.setUint32(HEADER_RECORDS, records.bytes === 0 ? 0 : recordSection, true);
    out.setUint32(HEADER_HOSTS, hosts.count, true);
    out.setUint32(HEADER_AUTHORITIES, hosts.authorityCount, true);
    out.setUint32(HEADER_ROBOTS, hosts.robots.length, true);
    out.setUint32(HEADER_AUTOMATA, clusters.automatonCount, true);
    out.setUint32(HEADER_RULES, clusters.rules, true);
    out.setUint32(HEADER_TOKENS, tokens.count, true);
    out.setUint32(HEADER_BUCKETS, slots.buckets, true);
    out.setUint32(HEADER_LONGEST_PROBE, slots.longestProbe, true);
    starts.forEach((at, section) => {
      out.setUint32(HEADER_SECTIONS + 4 * section, at, true);
    });
    out.setUint32(HEADER_COMPILED_BYTES, hosts.bodyBytes % 2 ** 32, true);
    this.header.set(slots.key, HEADER_HOST_KEY);
    this.#checksum.update(this.header);
  }

  /** Bytes of the next piece, for which a chunk needs room; 0 when everything is written. */
  get nextBytes(): number {
    for (; this.#stretch < this.#stretches.length; this.#stretch++) {
      const bytes = (this.#stretches[this.#stretch] as TablePieces).nextBytes;
      if (bytes > 0) return bytes;
    }
    return 0;
  }

  /**
   * Writes the next pieces into an empty chunk, as many as fit.
   *
   * @throws Error if something was added to the contents after they were laid out
   */
  fill(chunk: TableChunk): void {
    if (this.#authorities.revision !== this.#revision) throw new Error('the contents have changed');
    for (let bytes = this.nextBytes; bytes > 0; bytes = this.nextBytes) {
      if (bytes > chunk.room) break;
      const end = chunk.end + bytes;
      (this.#stretches[this.#stretch] as TablePieces).write(chunk);
      if (chunk.end !== end) throw new Error(`a piece of ${bytes} bytes ends at another place`);
    }
    this.#checksum.update(chunk.written);
  }

  /** The product tokens that the files name. A token must be one that the table keeps. */
  get named(): NamedTokens {
    const { tokens } = this.#compiled;
    const { unnamed } = this;
    return {
      hasToken: (token) => !unnamed.has(token),
      *tokens() {
        for (let number = 0; number < tokens.count; number++) {
          const token = Buffer.from(tokens.get(number)).toString();
          if (!unnamed.has(token) && !isSignalToken(token)) yield token;
        }
      },
    };
  }

  /** The checksum of the written bytes. */
  get checksum(): number {
    return this.#checksum.value;
  }

  /**
   * Completes the header with the checksum of the table.
   *
   * @throws Error if part of the table has not been written, or it is already sealed
   */
  seal(): void {
    const { bytes, value } = this.#checksum;
    if (bytes !== this.length) throw new Error(`${bytes} of ${this.length} bytes were written`);
    if (this.#isSealed) throw new Error('the table was written before');
    this.#isSealed = true;
    new DataView(this.header.buffer).setUint32(HEADER_CHECKSUM, value, true);
  }

  /**
   * Writes the whole table into one piece of memory.
   *
   * @throws Error if part of it was written before, or something was added to the contents since
   *   they were laid out
   */
  table(allocate: Allocate = (bytes) => new Uint8Array(bytes)): Uint8Array {
    const table = allocate(this.length);
    const chunk = new TableChunk(table.subarray(HEADER_BYTES));
    chunk.moveTo(HEADER_BYTES);
    this.fill(chunk);
    this.seal();
    table.set(this.header);
    return table;
  }
}

/** The section of the buckets: each bucket is a piece. */
class BucketPieces implements TablePieces {
  readonly #slots: HostSlots;
  readonly #hostSection: number;
  readonly #clusters: HostClusters;
  #bucket = 0;

  /** @param hostSection start of the section of the hosts */
  constructor(slots: HostSlots, hostSection: number, clusters: HostClusters) {
    this.#slots = slots;
    this.#hostSection = hostSection;
    this.#clusters = clusters;
  }

  get nextBytes(): number {
    return this.#bucket < this.#slots.buckets ? BUCKET_BYTES : 0;
  }

  write(chunk: TableChunk): void {
    const { view, end } = chunk;
    const { hosts, hashes, passed } = this.#slots;
    const first = this.#bucket * BUCKET_SLOTS;
    for (let place = 0; place < BUCKET_SLOTS; place++) {
      const host = hosts[first + place] as number;
      const start = host === 0 ? 0 : this.#hostSection + this.#clusters.hostStart(host - 1);
      const tag = host === 0 ? 0 : tagOf(hashes[first + place] as number);
      view.setUint32(end + 4 * place, start, true);
      view.setUint16(end + BUCKET_TAGS + 2 * place, tag, true);
    }
    view.setUint32(end + BUCKET_PASSED, passed[this.#bucket] as number, true);
    this.#bucket++;
    chunk.end += BUCKET_BYTES;
  }
}

/** Maximum number of keys tried before the buckets are doubled, and maximum number of doublings. */
const TRIES = 8;
const DOUBLINGS = 3;

/** The slots of a table and their hosts. */
interface HostSlots {
  /** Key of the host hash. */
  readonly key: Uint8Array;
  readonly buckets: number;
  /** The number of each slot's host plus one, bucket by bucket; 0 is a free slot. */
  readonly hosts: Uint32Array;
  /** The hash of each slot's host. */
  readonly hashes: Uint32Array;
  /**
   * 1 for each bucket for which a host whose search begins in this or an earlier bucket is in a
   * later bucket; else 0.
   */
  readonly passed: Uint8Array;
  /** Maximum number of buckets that a search for a host probes: up to MAX_PROBE. */
  readonly longestProbe: number;
}

/**
 * Places hosts by the hash of their name: each in the first bucket with a free slot, from its home
 * bucket on.
 *
 * An attacker who knew the key could choose hosts that crowd into a few buckets. So the key comes
 * from a digest of all hosts: the same hosts make the same table, and any chosen host changes the
 * key. A key that places a host more than MAX_PROBE buckets away is given up at once, so a try
 * costs at most MAX_PROBE steps for each host.
 *
 * @throws RobotsFilterError `limit` if all keys fail, which has a negligible probability
 */
export function placeHosts(names: HostNames): HostSlots {
  // The digest is unknown to anyone who does not know all hosts.
  const digest = createHash('sha256').update(names.span(0, names.count)).digest();
  let crowded = 0;
  let buckets = Math.max(1, Math.ceil((2 * names.count) / BUCKET_SLOTS));
  for (let doubling = 0; doubling <= DOUBLINGS; doubling++) {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const placed = place(names, buckets, keyOf(digest, attempt));
      if (typeof placed === 'object') return placed;
      crowded = placed;
    }
    buckets *= 2;
  }
  const host = Buffer.from(names.get(crowded)).toString('latin1');
  throw new RobotsFilterError(
    'limit',
    `the host ${host} and at least ${MAX_PROBE * BUCKET_SLOTS} others collide in the table's hash under every key. Leave them out`,
  );
}

/** Returns the key of an attempt: digests of the digest, the attempt and a counter. */
function keyOf(digest: Buffer, attempt: number): Uint8Array {
  const key = Buffer.alloc(HOST_KEY_BYTES);
  for (let at = 0, part = 0; at < key.length; at += DIGEST_BYTES, part++) {
    createHash('sha256').update(digest).update(Uint8Array.of(attempt, part)).digest().copy(key, at);
  }
  key[HOST_KEY_FACTOR] = (key[HOST_KEY_FACTOR] as number) | 1;
  return key;
}

/** Places the hosts under a key; returns the number of the first host without a slot, if any. */
function place(names: HostNames, buckets: number, key: Uint8Array): HostSlots | number {
  const hostHash = new HostHash(key);
  const hashOf = new Uint32Array(names.count);
  let hashed = 0;
  const hosts = new Uint32Array(buckets * BUCKET_SLOTS);
  const hashes = new Uint32Array(buckets * BUCKET_SLOTS);
  const used = new Uint8Array(buckets);
  const passed = new Uint8Array(buckets);
  let longestProbe = 1;
  for (let next = 0; next < names.count; next++) {
    if (next === hashed) hashed = hostHash.ofNext(names, next, hashOf);
    const hash = hashOf[next] as number;
    let bucket = bucketOf(hash, buckets);
    let probe = 1;
    for (; used[bucket] === BUCKET_SLOTS; probe++) {
      if (probe === MAX_PROBE) return next;
      passed[bucket] = 1;
      bucket = bucket + 1 === buckets ? 0 : bucket + 1;
    }
    if (probe > longestProbe) longestProbe = probe;
    const slot = bucket * BUCKET_SLOTS + (used[bucket] as number);
    used[bucket] = (used[bucket] as number) + 1;
    hosts[slot] = next + 1;
    hashes[slot] = hash;
  }
  return { key, buckets, hosts, hashes, passed, longestProbe };
}

/** Words of an entry before it is written: authority, record list plus one, date. */
const WORDS = 3;

/** The section of records: the other records of the robots.txt files, and their dates. */
class RecordSection {
  /** Length of the section; 0 if the table keeps no records. */
  readonly bytes: number;
  readonly #lists: ByteStore | undefined;
  readonly #offsets: OffsetMap;
  /** The words of all entries; an authority is its offset in the section of hosts. */
  readonly #words = new Uint32List();
  readonly #count: number;
  readonly #entryBytes: number;

  /** @param lists the record lists; `undefined` if the table keeps no records */
  constructor(
    hosts: HostRecords,
    clusters: HostClusters,
    authorities: AuthoritySet,
    lists: ByteStore | undefined,
  ) {
    this.#lists = lists;
    this.#offsets = new OffsetMap(lists?.count ?? 0);
    this.#entryBytes = authorities.hasDates ? RECORDS_ENTRY_DATED : RECORDS_ENTRY_PLAIN;
    this.#count = 0;
    this.bytes = 0;
    if (lists === undefined) return;
    let listBytes = 0;
    clusters.eachHost((host) => {
      const start = clusters.hostStart(host);
      hosts.eachAuthority(host, (authority, offset) => {
        const list = authorities.recordList(authority);
        const date = authorities.date(authority);
        if (list === 0 && date === 0) return;
        if (list !== 0 && this.#offsets.place(list - 1, listBytes)) {
          listBytes += lists.length(list - 1);
        }
        this.#words.push(start + offset);
        this.#words.push(list);
        this.#words.push(date);
      });
    });
    this.#count = this.#words.length / WORDS;
    this.bytes = this.#listsStart + listBytes;
  }

  /** Offset in the section of the record lists. */
  get #listsStart(): number {
    return RECORDS_ENTRIES + this.#count * this.#entryBytes;
  }

  /**
   * Returns the section; its head, each entry and each list is a piece.
   *
   * @param section start of the section in the table
   * @param hostSection start of the section of hosts
   */
  pieces(section: number, hostSection: number): TablePieces {
    const lists = this.#lists;
    const offsets = this.#offsets;
    const entries = this.bytes === 0 ? 0 : this.#count;
    const pieces = this.bytes === 0 ? 0 : 1 + entries + offsets.count;
    const listOf = (piece: number): number => offsets.item(piece - 1 - entries);
    let next = 0;
    const bytesOf = (piece: number): number => {
      if (piece === pieces) return 0;
      if (piece === 0) return RECORDS_ENTRIES;
      if (piece <= entries) return this.#entryBytes;
      return lists?.length(listOf(piece)) ?? 0;
    };
    return {
      get nextBytes() {
        return bytesOf(next);
      },
      write: (chunk) => {
        const bytes = bytesOf(next);
        if (next === 0) this.#writeHead(chunk);
        else if (next <= entries) this.#writeEntry(next - 1, chunk, section, hostSection);
        else if (lists !== undefined) chunk.bytes.set(lists.get(listOf(next)), chunk.end);
        chunk.end += bytes;
        next++;
      },
    };
  }

  #writeHead({ view, end }: TableChunk): void {
    view.setUint32(end + RECORDS_COUNT, this.#count, true);
    view.setUint32(end + RECORDS_ENTRY_BYTES, this.#entryBytes, true);
  }

  #writeEntry(
    entry: number,
    { view, end }: TableChunk,
    section: number,
    hostSection: number,
  ): void {
    const words = this.#words;
    const list = words.get(WORDS * entry + 1);
    const listStart = section + this.#listsStart + (list === 0 ? 0 : this.#offsets.start(list - 1));
    view.setUint32(end, hostSection + words.get(WORDS * entry), true);
    view.setUint32(end + RECORDS_LIST, list === 0 ? 0 : listStart, true);
    if (this.#entryBytes === RECORDS_ENTRY_DATED) {
      view.setUint32(end + RECORDS_DATE, words.get(WORDS * entry + 2), true);
    }
  }
}

/** Length of a chunk, unless a piece is longer; fits in a processor's caches. */
const CHUNK_BYTES = 1 << 22;

/** Number of chunks: one is laid out while the others are written. */
const CHUNKS = 3;

/**
 * Writes a table to a file while it is laid out; the header comes last. Returns the checksum.
 *
 * @param chunkBytes for tests
 * @throws RobotsFilterError `output` if the file cannot be written; the reason of the signal
 */
export async function writeTable(
  layout: TableLayout,
  file: ReplacementFile,
  signal: AbortSignal,
  chunkBytes = CHUNK_BYTES,
): Promise<number> {
  if (!file.isSeekable) {
    signal.throwIfAborted();
    await file.write(layout.table());
    return layout.checksum;
  }
  const writes: Promise<TableChunk>[] = [];
  for (let at = HEADER_BYTES; layout.nextBytes > 0; ) {
    let chunk = writes.length < CHUNKS ? undefined : await writes.shift();
    signal.throwIfAborted();
    const bytes = Math.max(chunkBytes, layout.nextBytes);
    if (chunk?.bytes.length !== bytes) chunk = new TableChunk(new Uint8Array(bytes));
    chunk.moveTo(at);
    layout.fill(chunk);
    at += chunk.end;
    writes.push(writeChunk(chunk, file));
  }
  await Promise.all(writes);
  layout.seal();
  await file.write(layout.header, 0);
  return layout.checksum;
}

/** Writes a chunk; returns it when it can be used again. */
function writeChunk(chunk: TableChunk, file: ReplacementFile): Promise<TableChunk> {
  const written = file.write(chunk.written, chunk.start).then(() => chunk);
  written.catch(() => {}); // the error is reported when `written` is awaited
  return written;
}
