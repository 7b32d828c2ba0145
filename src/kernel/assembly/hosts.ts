/** From the hash of a host to its slot, its record and its authorities. Layout: table/format.ts. */

import {
  ACCESS_UNKNOWN,
  AUTHORITY_HISTORY,
  BUCKET_BYTES,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
  ENTRY_AUTHORITY,
  ENTRY_BYTES,
  ENTRY_BYTES_DATED,
  ENTRY_SCHEMES,
  HEADER_BUCKETS,
  HEADER_LONGEST_PROBE,
  HEADER_SECTIONS,
  HISTORY_AUTHORITY,
  HISTORY_VERSION_BYTES,
  HISTORY_VERSIONS,
  HOST_AUTHORITY,
  HOST_DATED,
  HOST_FORM,
  HOST_KEY_FACTOR,
  HOST_NUMBERED_NAME,
  HOST_PLAIN,
  HOST_PLAIN_NAME,
  HOST_SEVERAL,
  HOST_SEVERAL_NAME,
  ROBOTS_ACCESS,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SECTION_BUCKETS,
} from '../../table/format';
import { LATEST } from '../layout';
import { equal } from './bytes';
import { Line, Query } from './memory';

/** Address of the bucket where the search for a hash begins. */
export function bucketOf(table: usize, hash: i32): usize {
  const buckets = <u64>load<u32>(table, HEADER_BUCKETS);
  return bucketAt(table, <usize>((<u64>(<u32>hash) * buckets) >> 32));
}

function bucketAt(table: usize, index: usize): usize {
  const section: usize = load<u32>(table, HEADER_SECTIONS + SECTION_BUCKETS * 4);
  return table + section + index * BUCKET_BYTES;
}

/**
 * A bit for each slot of a bucket with the tag of a hash, the first slot in the lowest bit. Reads
 * nothing past the bucket, where another cache line begins.
 */
function tagged(bucket: usize, hash: i32): i32 {
  const low = hash & 0xffff;
  const tag = i16x8.splat(<i16>select(low, 1, low !== 0));
  const first = i16x8.bitmask(i16x8.eq(v128.load(bucket, BUCKET_TAGS), tag));
  const last = i16x8.bitmask(i16x8.eq(v128.load(bucket, BUCKET_BYTES - 16), tag));
  return first | ((last & 63) << 4);
}

/**
 * Address of the first slot with the tag of a hash, in `bucket` or after it; 0 if there is none.
 * The slot may belong to another host, so the caller compares the hosts. No branch depends on the
 * first bucket if the slot is found there, or cannot be elsewhere.
 */
export function probe(table: usize, bucket: usize, hash: i32): usize {
  const found = tagged(bucket, hash);
  if (found === 0 && load<u32>(bucket, BUCKET_PASSED) !== 0) {
    return probeFurther(table, bucket, hash);
  }
  return select(slotOf(bucket, found), 0, found !== 0);
}

/** The slot of the lowest bit of `found`. */
function slotOf(bucket: usize, found: i32): usize {
  return bucket + ((<usize>ctz(found)) << 2);
}

/** As `probe`, bucket by bucket, over at most as many buckets as the builder needed. */
function probeFurther(table: usize, bucket: usize, hash: i32): usize {
  const end = bucketAt(table, load<u32>(table, HEADER_BUCKETS));
  for (let left = load<i32>(table, HEADER_LONGEST_PROBE); left > 0; left--) {
    if (bucket >= end) bucket = bucketAt(table, 0);
    const found = tagged(bucket, hash);
    if (found !== 0) return slotOf(bucket, found);
    if (load<u32>(bucket, BUCKET_PASSED) === 0) return 0;
    bucket += BUCKET_BYTES;
  }
  return 0;
}

/** The host record of a slot. */
export function recordOf(table: usize, slot: usize): usize {
  return table + load<u32>(slot);
}

/** The index of a slot among the slots of all buckets. */
export function slotIndex(table: usize, slot: usize): usize {
  return slotAfter(firstSlot(table), slot);
}

/** The first slot of a table. */
export function firstSlot(table: usize): usize {
  return bucketAt(table, 0);
}

/** The index of a slot, counted from the first. */
export function slotAfter(first: usize, slot: usize): usize {
  const bytes = slot - first;
  return (bytes / BUCKET_BYTES) * BUCKET_SLOTS + ((bytes & (BUCKET_BYTES - 1)) >> 2);
}

/** Address of the host in its record. */
export function hostOf(record: usize): usize {
  const form: i32 = load<u8>(record, HOST_FORM);
  if (form === HOST_PLAIN) return record + HOST_PLAIN_NAME;
  return record + (form >= HOST_SEVERAL ? HOST_SEVERAL_NAME : HOST_NUMBERED_NAME);
}

/** Whether a host record belongs to the host. */
export function isRecordOf(record: usize, host: usize, bytes: i32): bool {
  return <i32>load<u8>(record) === bytes && equal(hostOf(record), host, bytes);
}

/** As `probe`, but compares the hosts as well: for the rare case of two hosts with the same tag. */
export function probeHost(table: usize, hash: i32, host: usize, bytes: i32): usize {
  const end = bucketAt(table, load<u32>(table, HEADER_BUCKETS));
  let bucket = bucketOf(table, hash);
  for (let left = load<i32>(table, HEADER_LONGEST_PROBE); left > 0; left--) {
    if (bucket >= end) bucket = bucketAt(table, 0);
    for (let found = tagged(bucket, hash); found !== 0; found &= found - 1) {
      const slot = slotOf(bucket, found);
      if (isRecordOf(recordOf(table, slot), host, bytes)) return slot;
    }
    if (load<u32>(bucket, BUCKET_PASSED) === 0) return 0;
    bucket += BUCKET_BYTES;
  }
  return 0;
}

/** Address of the authority for scheme and port in a host record, 0 if there is none. */
export function findAuthority(record: usize, scheme: i32, port: i32): usize {
  const form: i32 = load<u8>(record, HOST_FORM);
  if (form < HOST_SEVERAL) {
    const known = port === 0 && (scheme & (SCHEME_HTTP | SCHEME_HTTPS)) !== 0;
    return known ? record + HOST_AUTHORITY : 0;
  }
  const count: i32 = load<u16>(record, HOST_AUTHORITY);
  const first = record + HOST_SEVERAL_NAME + <usize>load<u8>(record);
  const entryBytes: usize = form === HOST_DATED ? ENTRY_BYTES_DATED : ENTRY_BYTES;
  let low = 0;
  let high = port === 0 ? 0 : count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (<i32>load<u16>(first + <usize>middle * entryBytes) < port) low = middle + 1;
    else high = middle;
  }
  for (let i = low; i < count; i++) {
    const entry = first + <usize>i * entryBytes;
    if (<i32>load<u16>(entry) !== port) return 0;
    if ((load<u8>(entry, ENTRY_SCHEMES) & scheme) !== 0) return entry + ENTRY_AUTHORITY;
  }
  return 0;
}

/**
 * The version of an authority's robots.txt that is in force at a time, from its robots record on; 0
 * before the first version. Without a history it is the authority.
 */
export function versionAt(table: usize, authority: usize, at: u32): usize {
  if (at === <u32>LATEST || !hasHistory(authority)) return authority;
  const history = table + load<u32>(authority, AUTHORITY_HISTORY);
  const versions = history + HISTORY_VERSIONS;
  let low: u32 = 0;
  let high: u32 = load<u32>(history);
  while (low < high) {
    const middle = (low + high) >> 1;
    const since = load<u32>(versions + <usize>middle * HISTORY_VERSION_BYTES);
    if (since <= at) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : versions + <usize>(low - 1) * HISTORY_VERSION_BYTES + HISTORY_AUTHORITY;
}

/**
 * The newest version of an authority's robots.txt of which something is known, as `versionAt`; 0 if
 * there is none.
 */
export function newestKnown(table: usize, authority: usize): usize {
  if (!hasHistory(authority)) return authority;
  const first = firstVersion(table, authority);
  const count = <usize>versionCount(table, authority);
  return knownBefore(table, first, first + count * HISTORY_VERSION_BYTES);
}

/**
 * The newest version before `version` of which something is known, as `versionAt`; 0 if there is
 * none. `first` is the oldest version.
 */
export function knownBefore(table: usize, first: usize, version: usize): usize {
  while (version > first) {
    version -= HISTORY_VERSION_BYTES;
    if (accessOf(table, load<u32>(version)) !== ACCESS_UNKNOWN) return version;
  }
  return 0;
}

/** Whether an authority has a history. */
export function hasHistory(authority: usize): bool {
  return <i32>load<u8>(authority - (HOST_AUTHORITY - HOST_FORM)) === HOST_DATED;
}

/** Number of versions of an authority that has a history. */
export function versionCount(table: usize, authority: usize): u32 {
  return load<u32>(table + load<u32>(authority, AUTHORITY_HISTORY));
}

/** The oldest version of an authority that has a history, as `versionAt`. */
export function firstVersion(table: usize, authority: usize): usize {
  const history = table + load<u32>(authority, AUTHORITY_HISTORY);
  return history + HISTORY_VERSIONS + HISTORY_AUTHORITY;
}

/** Whether a robots record of a host says that nothing is known, as a version of a history can. */
export function isUnknown(table: usize, record: usize, robots: usize): bool {
  if (<i32>load<u8>(record, HOST_FORM) !== HOST_DATED) return false;
  return accessOf(table, robots) === ACCESS_UNKNOWN;
}

/** The access result of a robots record. */
function accessOf(table: usize, robots: usize): i32 {
  return <i32>load<u8>(table + robots) & ROBOTS_ACCESS;
}

// ---- The keyed hash that places a host in the table; the compiler uses it too (kernel/hashes.ts).
// Without the key nobody can choose hosts that collide: any two hosts have the same hash for at
// most a share of 2^-30 of all keys.
//
// 1. The host is split into stripes of 16 bytes. Zeros, which no host has, fill the last stripe.
// 2. A stripe is four words of 32 bits. The key has a word to add to each.
// 3. In each stripe the first word is multiplied by the third, and the second by the fourth. All
//    products are added up. (NH of UMAC, RFC 4418 section 5.2: two strings have the same sum for at
//    most a share of 2^-32 of the keys.)
// 4. The sum of 64 bits is multiplied by the key's odd factor. The upper half is the hash.

const STRIPE_BYTES = 16;

/** The hash of a canonical host of at most MAX_HOST_BYTES bytes. Reads 15 bytes past its end. */
export function hashHost(key: usize, host: usize, bytes: i32): i32 {
  const order = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  let sums = i64x2.splat(0);
  let words = key;
  let rest = bytes;
  while (rest > STRIPE_BYTES) {
    sums = i64x2.add(sums, products(v128.load(words), v128.load(host)));
    words += STRIPE_BYTES;
    host += STRIPE_BYTES;
    rest -= STRIPE_BYTES;
  }
  const within = i8x16.gt_s(i8x16.splat(<i8>rest), order);
  sums = i64x2.add(sums, products(v128.load(words), v128.and(v128.load(host), within)));
  const sum = i64x2.extract_lane(sums, 0) + i64x2.extract_lane(sums, 1);
  return <i32>((sum * load<i64>(key, HOST_KEY_FACTOR)) >>> 32);
}

function products(key: v128, stripe: v128): v128 {
  const words = i32x4.add(key, stripe);
  return i64x2.extmul_low_i32x4_u(words, i32x4.shuffle(words, words, 2, 3, 2, 3));
}

// ---- The shard of a host: CRC-32 of the canonical host, modulo the number of shards. Other
// systems have that function too (docs/shards.md).

/**
 * Finds the shard of the line's host, and the query for the shard. Traps if the shard is not in
 * memory: its hosts must get no verdict.
 */
export function findShard(query: Query, line: Line): void {
  const shards: u32 = query.shards;
  if (shards === 0) return;
  const crc = crcOf(query.crc, line.host, <u32>line.hostBytes);
  const shard = crc % shards;
  line.shard = shard;
  const queries = query.shardQueries;
  if (queries === 0) return;
  const own: usize = load<u32>(queries + ((<usize>shard) << 2));
  if (own === 0) unreachable();
  line.query = changetype<Query>(own);
}

/** CRC-32 as in zlib, one byte after another: hosts are short. `table` has QUERY_CRC. */
function crcOf(table: usize, at: usize, bytes: usize): u32 {
  let crc: u32 = 0xffff_ffff;
  for (const end = at + bytes; at < end; at++) {
    const index = (crc ^ <u32>load<u8>(at)) & 0xff;
    crc = load<u32>(table + ((<usize>index) << 2)) ^ (crc >> 8);
  }
  return ~crc;
}
