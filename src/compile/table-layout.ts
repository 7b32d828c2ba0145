import { RobotsFilterError } from '../errors.js';
import { PROFILES, type Profile } from '../protocol/profile.js';
import type { AuthoritySet } from './authority-set.js';
import { Checksum } from './checksum.js';
import type { CompiledRobots } from './compiled-robots.js';
import {
  BUCKET_OCTETS,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
  CACHE_LINE_OCTETS,
  FLAG_REDUCED,
  HEADER_AUTHORITIES,
  HEADER_AUTOMATA,
  HEADER_BUCKETS,
  HEADER_CHECKSUM,
  HEADER_COMPILED_OCTETS,
  HEADER_FLAGS,
  HEADER_HOST_KEY,
  HEADER_HOSTS,
  HEADER_LENGTH,
  HEADER_LONGEST_PROBE,
  HEADER_OCTETS,
  HEADER_PROFILE,
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
  TAIL_OCTETS,
  VERSION,
} from './format.js';
import { tagOf } from './home.js';
import { HostClusters } from './host-clusters.js';
import { HostRecords } from './host-records.js';
import { type HostSlots, placeHosts } from './host-slots.js';
import type { OctetStore } from './octet-store.js';
import { OnePiece, type TablePieces, TableWindow } from './table-window.js';
import { TokenNumbers } from './token-numbers.js';

/** What a table is made of. */
export interface TableContent {
  readonly profile: Profile;
  readonly compiled: CompiledRobots;
  readonly authorities: AuthoritySet;
  /** Forms of their sources: SourceForms. */
  readonly sources: OctetStore;
  /** The product tokens that it is reduced to, besides `*`; `undefined` where it is not. */
  readonly kept: ReadonlySet<string> | undefined;
}

/** Provides the memory of a table: so many octets, all zero. */
export type Allocate = (octets: number) => Uint8Array;

/** Offsets are 32-bit numbers. */
const MAX_TABLE_OCTETS = 0xffff_ffff;

/**
 * What lies where in a table, in the order of its sorted hosts: the same content, in whatever order
 * it was added, makes the same octets. They are written once, in order, into one window after
 * another: of a table that goes to a file no more has to be in memory than that, and the longest
 * piece: all hosts that have the same robots.txt.
 */
export class TableLayout {
  /** Octets of the table. */
  readonly length: number;
  /** What the table begins with; what it says for a checksum is 0 until it is sealed. */
  readonly header: Uint8Array;
  /** All that is behind the header. */
  readonly #parts: readonly TablePieces[];
  #part = 0;
  readonly #authorities: AuthoritySet;
  readonly #revision: number;

  /**
   * @throws RobotsFilterError `limit` if the table were longer than 4 GiB, or a host had more than
   * 65,535 authorities.
   */
  constructor(content: TableContent) {
    const { compiled } = content;
    this.#authorities = content.authorities;
    this.#revision = content.authorities.revision;
    const hosts = new HostRecords(content.authorities, content.sources, compiled.records.count);
    const tokens = new TokenNumbers(compiled, hosts.robots, content.kept);
    const clusters = new HostClusters(hosts, compiled, tokens);
    const slots = placeHosts(hosts.names);

    const starts = [HEADER_OCTETS];
    const paddings: OnePiece[] = [];
    for (const octets of [
      tokens.octets,
      slots.buckets * BUCKET_OCTETS,
      clusters.octets,
      hosts.sourceOctets,
    ]) {
      const end = (starts.at(-1) as number) + octets;
      const next = Math.ceil(end / CACHE_LINE_OCTETS) * CACHE_LINE_OCTETS;
      paddings.push(new OnePiece(next - end));
      starts.push(next);
    }
    this.length = (starts[SECTION_END] as number) + TAIL_OCTETS;
    if (this.length > MAX_TABLE_OCTETS) {
      throw new RobotsFilterError(
        'limit',
        `the table would have ${this.length} octets, and a table can have ${MAX_TABLE_OCTETS}; compile fewer hosts into it, or only the product tokens that you ask for`,
      );
    }

    const hostSection = starts[SECTION_HOSTS] as number;
    const sections = [
      tokens.pieces(),
      new BucketPieces(slots, hostSection, clusters),
      clusters.pieces(hostSection, starts[SECTION_SOURCES] as number),
      hosts.sources(),
    ];
    this.#parts = [
      ...sections.flatMap((section, number) => [section, paddings[number] as OnePiece]),
      new OnePiece(TAIL_OCTETS),
    ];

    this.header = new Uint8Array(HEADER_OCTETS);
    const out = new DataView(this.header.buffer);
    out.setUint32(0, MAGIC_LOW, true);
    out.setUint32(4, MAGIC_HIGH, true);
    out.setUint32(HEADER_VERSION, VERSION, true);
    out.setUint32(HEADER_PROFILE, PROFILES.indexOf(content.profile), true);
    out.setUint32(HEADER_LENGTH, this.length, true);
    out.setUint32(HEADER_FLAGS, content.kept === undefined ? 0 : FLAG_REDUCED, true);
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
    out.setUint32(HEADER_COMPILED_OCTETS, hosts.bodyOctets % 2 ** 32, true);
    this.header.set(slots.key, HEADER_HOST_KEY);
  }

  /**
   * Octets that a window has to have room for, that more of the table can be written; 0 where all
   * is.
   */
  get nextOctets(): number {
    for (; this.#part < this.#parts.length; this.#part++) {
      const octets = (this.#parts[this.#part] as TablePieces).nextOctets;
      if (octets > 0) return octets;
    }
    return 0;
  }

  /**
   * Writes as much of what is behind the header, and not written yet, as the window has room for.
   *
   * @throws Error when something was added to the content since it was laid out
   */
  fill(window: TableWindow): void {
    if (this.#authorities.revision !== this.#revision) throw new Error('the content has changed');
    for (let octets = this.nextOctets; octets > 0; octets = this.nextOctets) {
      if (octets > window.room) return;
      const end = window.end + octets;
      (this.#parts[this.#part] as TablePieces).write(window);
      if (window.end !== end) throw new Error(`a piece of ${octets} octets ends at another place`);
    }
  }

  /**
   * Completes the header with the checksum of the table.
   *
   * @throws Error when a part of it was not written
   */
  seal({ octets, value }: Checksum): void {
    if (octets !== this.length) throw new Error(`${octets} of ${this.length} octets were written`);
    new DataView(this.header.buffer).setUint32(HEADER_CHECKSUM, value, true);
  }

  /**
   * The whole table in one piece of memory.
   *
   * @throws Error when a part of it was written before, or something was added to the content since
   *   it was laid out
   */
  table(allocate: Allocate = (octets) => new Uint8Array(octets)): Uint8Array {
    const table = allocate(this.length);
    const window = new TableWindow(table);
    window.end = HEADER_OCTETS;
    this.fill(window);
    const sum = new Checksum();
    sum.update(this.header);
    sum.update(window.written.subarray(HEADER_OCTETS));
    this.seal(sum);
    table.set(this.header);
    return table;
  }
}

/** The section of the buckets: each is a piece. */
class BucketPieces implements TablePieces {
  readonly #slots: HostSlots;
  readonly #hostSection: number;
  readonly #clusters: HostClusters;
  #bucket = 0;

  /** @param hostSection where the hosts' section starts */
  constructor(slots: HostSlots, hostSection: number, clusters: HostClusters) {
    this.#slots = slots;
    this.#hostSection = hostSection;
    this.#clusters = clusters;
  }

  get nextOctets(): number {
    return this.#bucket < this.#slots.buckets ? BUCKET_OCTETS : 0;
  }

  write(window: TableWindow): void {
    const { view, end } = window;
    const { hosts, hashes, passed } = this.#slots;
    const first = this.#bucket * BUCKET_SLOTS;
    for (let place = 0; place < BUCKET_SLOTS; place++) {
      const host = hosts[first + place] as number;
      if (host === 0) break;
      view.setUint32(end + 4 * place, this.#hostSection + this.#clusters.hostStart(host - 1), true);
      view.setUint16(end + BUCKET_TAGS + 2 * place, tagOf(hashes[first + place] as number), true);
    }
    view.setUint32(end + BUCKET_PASSED, passed[this.#bucket] as number, true);
    this.#bucket++;
    window.end += BUCKET_OCTETS;
  }
}
