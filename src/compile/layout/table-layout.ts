import { Buffer } from 'node:buffer';
import type { NamedTokens } from '../../agents/unnamed-agents.js';
import { RobotsFilterError } from '../../errors.js';
import { Checksum } from '../../kernel/checksum.js';
import { PROFILES, type Profile } from '../../protocol/profile.js';
import { tagOf } from '../../table/bucket-of.js';
import {
  BUCKET_BYTES,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
  CACHE_LINE_BYTES,
  FLAG_REDUCED,
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
  MAGIC_HIGH,
  MAGIC_LOW,
  SECTION_END,
  SECTION_HOSTS,
  SECTION_SOURCES,
  TAIL_BYTES,
  VERSION,
} from '../../table/format.js';
import type { CompiledRobots } from '../compiled-robots.js';
import type { AuthoritySet } from '../intern/authority-set.js';
import type { ByteStore } from '../intern/byte-store.js';
import { HostClusters } from './host-clusters.js';
import { type CrowdedHost, HostRecords } from './host-records.js';
import { type HostSlots, placeHosts } from './host-slots.js';
import { RecordSection } from './record-section.js';
import { OnePiece, TableChunk, type TablePieces } from './table-chunk.js';
import { TokenNumbers } from './token-numbers.js';

/** The part of TableContents that a layout reads. */
export interface LaidOutContents {
  readonly profile: Profile;
  readonly compiled: CompiledRobots;
  readonly authorities: AuthoritySet;
  /** Templates of the sources: see SourceTemplates. */
  readonly sources: ByteStore;
  /** The product tokens, besides `*`, that the table is reduced to; `undefined` for all. */
  readonly kept: ReadonlySet<string> | undefined;
  /** Whether the table keeps other records and dates; its files may have none. */
  readonly keepsRecords: boolean;
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
    out.setUint32(HEADER_VERSION, VERSION, true);
    out.setUint32(HEADER_PROFILE, PROFILES.indexOf(contents.profile), true);
    out.setUint32(HEADER_LENGTH, this.length, true);
    out.setUint32(HEADER_FLAGS, contents.kept === undefined ? 0 : FLAG_REDUCED, true);
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
          if (!unnamed.has(token)) yield token;
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
