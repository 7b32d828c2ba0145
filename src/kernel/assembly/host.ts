/** From the octets of a host to its record in the table. Layout: compile/format.ts. */

import {
  BUCKET_OCTETS,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  BUCKET_TAGS,
  ENTRY_AUTHORITY,
  ENTRY_OCTETS,
  ENTRY_SCHEMES,
  HEADER_BUCKETS,
  HEADER_LONGEST_PROBE,
  HEADER_SECTIONS,
  HOST_AUTHORITY,
  HOST_FORM,
  HOST_NUMBERED_NAME,
  HOST_PLAIN,
  HOST_PLAIN_NAME,
  HOST_SEVERAL,
  HOST_SEVERAL_NAME,
  MAX_HOST_OCTETS,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SECTION_BUCKETS,
} from '../../compile/format';
import { canonicalHost } from './environment';
import { equal } from './search';
import { isInNoClass } from './vectors';

/**
 * The octets of the host that begins at `host` and ends at `end` at the latest, if it is canonical
 * as it stands: 1 to 255 octets `a–z 0–9 - . _`, no final dot, no label that may be an A-label to
 * be checked (`--` in it), and a last label that does not begin with a digit, unless all is a
 * dotted quad. Otherwise 0. Reads 32 octets past `end`.
 */
export function plainHostOctets(host: usize, end: usize): usize {
  const low = i8x16(10, 14, 14, 14, 14, 14, 14, 14, 14, 14, 12, 4, 4, 5, 5, 20);
  const high = i8x16(0, 0, 1, 2, 0, 16, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
  let at = host;
  let label = host;
  let dash: u32 = 0;
  while (true) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const others =
      i8x16.bitmask(isInNoClass(low, high, a)) | (i8x16.bitmask(isInNoClass(low, high, b)) << 16);
    let octets = <usize>ctz(others);
    if (octets > end - at) octets = end - at;
    const within = <u32>(((<u64>1) << (<u64>octets)) - 1);
    const dots: u32 = within & positionsOf(0x2e, a, b);
    const dashes: u32 = within & positionsOf(0x2d, a, b);
    if ((dashes & ((dashes << 1) | dash)) !== 0) return 0;
    dash = dashes >> 31;
    if (dots !== 0) label = at + 32 - <usize>clz(dots);
    at += octets;
    if (octets < 32) break;
  }
  if (label === at || at === host || <i32>(at - host) > MAX_HOST_OCTETS) return 0;
  return <u32>load<u8>(label) - 0x30 >= 10 || isDottedQuad(host, at) ? at - host : 0;
}

function positionsOf(octet: i32, a: v128, b: v128): u32 {
  const wanted = i8x16.splat(<i8>octet);
  return i8x16.bitmask(i8x16.eq(a, wanted)) | (i8x16.bitmask(i8x16.eq(b, wanted)) << 16);
}

/** Four decimal numbers up to 255 without leading zeros: an IPv4 address in canonical form. */
function isDottedQuad(at: usize, end: usize): bool {
  for (let labels = 1; labels <= 4; labels++) {
    const start = at;
    let value = 0;
    while (at < end && <u32>load<u8>(at) - 0x30 < 10 && at - start < 4) {
      value = value * 10 + (<i32>load<u8>(at) - 0x30);
      at++;
    }
    if (at === start || value > 255 || (load<u8>(start) === 0x30 && at - start > 1)) return false;
    if (at === end) return labels === 4;
    if (load<u8>(at) !== 0x2e) return false;
    at++;
  }
  return false;
}

/**
 * Writes the canonical form of any host to `to` (HOST_SPACE octets) and returns its octets; -1 if
 * it is no host. Names in ASCII are lower-cased here, what needs more goes to the environment.
 */
export function canonicaliseHost(from: usize, octets: i32, to: usize): i32 {
  if (octets <= MAX_HOST_OCTETS) {
    for (let i = 0; i < octets; i++) {
      const octet: i32 = load<u8>(from + i);
      store<u8>(to + i, <u32>(octet - 0x41) < 26 ? octet | 0x20 : octet);
    }
    if (plainHostOctets(to, to + octets) === <usize>octets) return octets;
  }
  return canonicalHost(from, octets, to);
}

/** Address of the bucket where the search for a hash begins. */
export function homeBucket(table: usize, hash: i32): usize {
  const buckets = <u64>load<u32>(table, HEADER_BUCKETS);
  return bucketAt(table, <usize>((<u64>(<u32>hash) * buckets) >> 32));
}

function bucketAt(table: usize, index: usize): usize {
  const section: usize = load<u32>(table, HEADER_SECTIONS + SECTION_BUCKETS * 4);
  return table + section + index * BUCKET_OCTETS;
}

/**
 * A bit for each slot of a bucket with the tag of a hash, the first lowest. Reads nothing behind
 * the bucket: another cache line.
 */
function tagged(bucket: usize, hash: i32): i32 {
  const low = hash & 0xffff;
  const tag = i16x8.splat(<i16>select(low, 1, low !== 0));
  const first = i16x8.bitmask(i16x8.eq(v128.load(bucket, BUCKET_TAGS), tag));
  const last = i16x8.bitmask(i16x8.eq(v128.load(bucket, BUCKET_OCTETS - 16), tag));
  return first | ((last & 0x3f) << 4);
}

/**
 * Address of a slot in or behind `bucket` with the tag of this hash, 0 if there is none. It is the
 * first but where another host's is met there, which a comparison of the hosts will tell. No branch
 * depends on the first bucket where it settles the matter.
 */
export function probe(table: usize, bucket: usize, hash: i32): usize {
  const found = tagged(bucket, hash);
  if (found === 0 && load<u32>(bucket, BUCKET_PASSED) !== 0) {
    return probeFurther(table, bucket, hash);
  }
  return select(slotOf(bucket, found), 0, found !== 0);
}

/** The slot of the lowest bit. */
function slotOf(bucket: usize, found: i32): usize {
  return bucket + ((<usize>ctz(found)) << 2);
}

/** As `probe`, bucket by bucket. Probes at most as many as the builder needed. */
function probeFurther(table: usize, bucket: usize, hash: i32): usize {
  const end = bucketAt(table, load<u32>(table, HEADER_BUCKETS));
  for (let left = load<i32>(table, HEADER_LONGEST_PROBE); left > 0; left--) {
    if (bucket >= end) bucket = bucketAt(table, 0);
    const found = tagged(bucket, hash);
    if (found !== 0) return slotOf(bucket, found);
    if (load<u32>(bucket, BUCKET_PASSED) === 0) return 0;
    bucket += BUCKET_OCTETS;
  }
  return 0;
}

/** The host record of a slot. */
export function recordOf(table: usize, slot: usize): usize {
  return table + load<u32>(slot);
}

/** The index of a slot, among those of all buckets. */
export function slotIndex(table: usize, slot: usize): usize {
  const octets = slot - bucketAt(table, 0);
  return (octets / BUCKET_OCTETS) * BUCKET_SLOTS + ((octets & (BUCKET_OCTETS - 1)) >> 2);
}

/** Address of the host in its record. */
export function hostOf(record: usize): usize {
  const form: i32 = load<u8>(record, HOST_FORM);
  if (form === HOST_PLAIN) return record + HOST_PLAIN_NAME;
  return record + (form === HOST_SEVERAL ? HOST_SEVERAL_NAME : HOST_NUMBERED_NAME);
}

/** Whether a host record is that of the host. */
export function isRecordOf(record: usize, host: usize, octets: i32): bool {
  return <i32>load<u8>(record) === octets && equal(hostOf(record), host, octets);
}

/** As `probe`, comparing the hosts as well: for the rare case that two hosts have one tag. */
export function probeHost(table: usize, hash: i32, host: usize, octets: i32): usize {
  const end = bucketAt(table, load<u32>(table, HEADER_BUCKETS));
  let bucket = homeBucket(table, hash);
  for (let left = load<i32>(table, HEADER_LONGEST_PROBE); left > 0; left--) {
    if (bucket >= end) bucket = bucketAt(table, 0);
    for (let found = tagged(bucket, hash); found !== 0; found &= found - 1) {
      const slot = slotOf(bucket, found);
      if (isRecordOf(recordOf(table, slot), host, octets)) return slot;
    }
    if (load<u32>(bucket, BUCKET_PASSED) === 0) return 0;
    bucket += BUCKET_OCTETS;
  }
  return 0;
}

/**
 * Address of the authority for scheme and port in a host record, 0 if there is none. Binary search
 * by port.
 */
export function findAuthority(record: usize, scheme: i32, port: i32): usize {
  if (load<u8>(record, HOST_FORM) !== HOST_SEVERAL) {
    const known = port === 0 && (scheme & (SCHEME_HTTP | SCHEME_HTTPS)) !== 0;
    return known ? record + HOST_AUTHORITY : 0;
  }
  const count: i32 = load<u16>(record, HOST_AUTHORITY);
  const first = record + HOST_SEVERAL_NAME + <usize>load<u8>(record);
  let low = 0;
  let high = port === 0 ? 0 : count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (<i32>load<u16>(first + middle * ENTRY_OCTETS) < port) low = middle + 1;
    else high = middle;
  }
  for (let i = low; i < count; i++) {
    const entry = first + i * ENTRY_OCTETS;
    if (<i32>load<u16>(entry) !== port) return 0;
    if ((load<u8>(entry, ENTRY_SCHEMES) & scheme) !== 0) return entry + ENTRY_AUTHORITY;
  }
  return 0;
}
