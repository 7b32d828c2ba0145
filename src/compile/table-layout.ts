import { RobotsFilterError } from '../errors.js';
import { PROFILES, type Profile } from '../protocol/profile.js';
import type { AuthoritySet } from './authority-set.js';
import { checksum } from './checksum.js';
import type { CompiledRobots } from './compiled-robots.js';
import {
  BUCKET_OCTETS,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
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
  SECTION_ALIGNMENT,
  SECTION_BUCKETS,
  SECTION_END,
  SECTION_HOSTS,
  SECTION_SOURCES,
  SECTION_TOKENS,
  TAIL_OCTETS,
  VERSION,
} from './format.js';
import { tagOf } from './home.js';
import { HostClusters, type OnLaidOut } from './host-clusters.js';
import { HostRecords } from './host-records.js';
import { type HostSlots, placeHosts } from './host-slots.js';
import type { OctetStore } from './octet-store.js';
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
 * Lays out a table in the order of its sorted hosts: the same content, in whatever order it was added, makes the same octets.
 *
 * @throws RobotsFilterError `limit` if the table were longer than 4 GiB, or a host had more than 65,535 authorities.
 */
export function layOutTable(
  content: TableContent,
  allocate: Allocate,
  onLaidOut: OnLaidOut,
): Uint8Array {
  const { compiled } = content;
  const hosts = new HostRecords(content.authorities, content.sources, compiled.records.count);
  const tokens = new TokenNumbers(compiled, hosts.robots, content.kept);
  const clusters = new HostClusters(hosts, compiled, tokens);
  const slots = placeHosts(hosts.names);

  const starts = [HEADER_OCTETS];
  for (const octets of [
    tokens.octets,
    slots.buckets * BUCKET_OCTETS,
    clusters.octets,
    hosts.sourceOctets,
  ]) {
    const end = (starts.at(-1) as number) + octets;
    starts.push(Math.ceil(end / SECTION_ALIGNMENT) * SECTION_ALIGNMENT);
  }
  const length = (starts[SECTION_END] as number) + TAIL_OCTETS;
  if (length > MAX_TABLE_OCTETS) {
    throw new RobotsFilterError(
      'limit',
      `the table would have ${length} octets, and a table can have ${MAX_TABLE_OCTETS}; compile fewer hosts into it, or only the product tokens that you ask for`,
    );
  }

  const table = allocate(length);
  const out = new DataView(table.buffer, table.byteOffset, table.byteLength);
  const start = (section: number): number => starts[section] as number;
  tokens.write(table, out, start(SECTION_TOKENS));
  writeBuckets(out, start(SECTION_BUCKETS), slots, start(SECTION_HOSTS), clusters);
  const rules = clusters.write(table, out, start(SECTION_HOSTS), start(SECTION_SOURCES), onLaidOut);
  hosts.writeSources(table, start(SECTION_SOURCES));

  out.setUint32(0, MAGIC_LOW, true);
  out.setUint32(4, MAGIC_HIGH, true);
  out.setUint32(HEADER_VERSION, VERSION, true);
  out.setUint32(HEADER_PROFILE, PROFILES.indexOf(content.profile), true);
  out.setUint32(HEADER_LENGTH, length, true);
  out.setUint32(HEADER_FLAGS, content.kept === undefined ? 0 : FLAG_REDUCED, true);
  out.setUint32(HEADER_HOSTS, hosts.count, true);
  out.setUint32(HEADER_AUTHORITIES, hosts.authorityCount, true);
  out.setUint32(HEADER_ROBOTS, hosts.robots.length, true);
  out.setUint32(HEADER_AUTOMATA, clusters.automatonCount, true);
  out.setUint32(HEADER_RULES, rules, true);
  out.setUint32(HEADER_TOKENS, tokens.count, true);
  out.setUint32(HEADER_BUCKETS, slots.buckets, true);
  out.setUint32(HEADER_LONGEST_PROBE, slots.longestProbe, true);
  starts.forEach((at, section) => {
    out.setUint32(HEADER_SECTIONS + 4 * section, at, true);
  });
  out.setUint32(HEADER_COMPILED_OCTETS, hosts.bodyOctets % 2 ** 32, true);
  table.set(slots.key, HEADER_HOST_KEY);
  out.setUint32(HEADER_CHECKSUM, checksum(table), true);
  return table;
}

/** Writes the buckets from `at` on; `hostSection` is where the hosts' section starts. */
function writeBuckets(
  out: DataView,
  at: number,
  slots: HostSlots,
  hostSection: number,
  clusters: HostClusters,
): void {
  for (let bucket = 0, slot = 0; bucket < slots.buckets; bucket++) {
    for (let place = 0; place < BUCKET_SLOTS; place++, slot++) {
      const host = slots.hosts[slot] as number;
      if (host === 0) continue;
      out.setUint32(at + 4 * place, hostSection + clusters.hostStart(host - 1), true);
      out.setUint16(at + BUCKET_TAGS + 2 * place, tagOf(slots.hashes[slot] as number), true);
    }
    out.setUint32(at + BUCKET_PASSED, slots.passed[bucket] as number, true);
    at += BUCKET_OCTETS;
  }
}
