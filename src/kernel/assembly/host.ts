/** From the octets of a host to its record in the table. Layout: compile/format.ts. */

import {
  ENTRY_AUTHORITY,
  ENTRY_OCTETS,
  ENTRY_SCHEMES,
  HEADER_LONGEST_PROBE,
  HEADER_SECTIONS,
  HEADER_SEED,
  HEADER_SLOTS,
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
  SECTION_SLOTS,
  SLOT_OCTETS,
} from '../../compile/format';
import { finish, mix } from '../../compile/hash';
import { canonicalHost } from './environment';
import { equal } from './search';

/**
 * The end of the run of octets `a–z 0–9 - . _` that starts at `from`: of what most hosts
 * consist. Reads 16 octets past `end`.
 */
export function plainHostEnd(from: usize, end: usize): usize {
  // Each octet belongs to the run if the entries of its two halves share a bit.
  const low = i8x16(10, 14, 14, 14, 14, 14, 14, 14, 14, 14, 12, 4, 4, 5, 5, 20);
  const high = i8x16(0, 0, 1, 2, 0, 16, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
  const half = i8x16.splat(15);
  while (from < end) {
    const octets = v128.load(from);
    const plain = v128.and(
      i8x16.swizzle(low, v128.and(octets, half)),
      i8x16.swizzle(high, i8x16.shr_u(octets, 4)),
    );
    const others = i8x16.bitmask(i8x16.eq(plain, i8x16.splat(0)));
    if (others !== 0) {
      from += ctz(others);
      return from < end ? from : end;
    }
    from += 16;
  }
  return end;
}

/**
 * Whether a host of plain octets is canonical as it stands: no final dot, no label that may be an A-label to be
 * checked (`--` in it), and a last label that does not begin with a digit, unless all is a dotted quad.
 */
export function isCanonical(host: usize, octets: i32): bool {
  if (octets === 0) return false;
  const end = host + octets;
  if (load<u8>(end - 1) === 0x2e) return false;
  const dash = i8x16.splat(0x2d);
  const dot = i8x16.splat(0x2e);
  let label = host;
  for (let at = host; at < end; at += 16) {
    const here = v128.load(at);
    const within: i32 = end - at < 16 ? (1 << (<i32>(end - at))) - 1 : 0xffff;
    const dashes = v128.and(i8x16.eq(here, dash), i8x16.eq(v128.load(at, 1), dash));
    if ((i8x16.bitmask(dashes) & within) !== 0) return false;
    const dots = i8x16.bitmask(i8x16.eq(here, dot)) & within;
    if (dots !== 0) label = at + (31 - clz(dots)) + 1;
  }
  return <u32>load<u8>(label) - 0x30 >= 10 || isDottedQuad(host, end);
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
 * Writes the canonical form of any host to `to` (HOST_SPACE octets) and returns its octets; -1 if it is no host.
 * Names in ASCII are lower-cased here, what needs more goes to the environment.
 */
export function canonicaliseHost(from: usize, octets: i32, to: usize): i32 {
  if (octets <= MAX_HOST_OCTETS) {
    for (let i = 0; i < octets; i++) {
      const octet: i32 = load<u8>(from + i);
      store<u8>(to + i, <u32>(octet - 0x41) < 26 ? octet | 0x20 : octet);
    }
    if (plainHostEnd(to, to + octets) === to + octets && isCanonical(to, octets)) return octets;
  }
  return canonicalHost(from, octets, to);
}

/** The hash of a canonical host. Reads 3 octets past its end. */
export function hashHost(table: usize, host: usize, octets: i32): i32 {
  let hash = load<i32>(table, HEADER_SEED);
  let rest = octets;
  while (rest >= 4) {
    hash = mix(hash, load<i32>(host));
    host += 4;
    rest -= 4;
  }
  if (rest > 0) hash = mix(hash, load<i32>(host) & ((1 << (rest << 3)) - 1));
  return finish(hash, octets);
}

/** Address of the slot where the search for a hash begins. */
export function homeSlot(table: usize, hash: i32): usize {
  const slots = <u64>load<u32>(table, HEADER_SLOTS);
  const home = <usize>((<u64>(<u32>hash) * slots) >> 32);
  return slotAt(table, home);
}

function slotAt(table: usize, index: usize): usize {
  return table + load<u32>(table, HEADER_SECTIONS + SECTION_SLOTS * 4) + index * SLOT_OCTETS;
}

/**
 * Address of the first slot at or behind `slot` whose hash is equal, 0 if there is none. Probes at most as many slots as
 * the builder needed.
 */
export function probe(table: usize, slot: usize, hash: i32): usize {
  const end = slotAt(table, load<u32>(table, HEADER_SLOTS));
  for (let left = load<i32>(table, HEADER_LONGEST_PROBE); left > 0; left--) {
    if (slot >= end) slot = slotAt(table, 0);
    if (load<u32>(slot, 4) === 0) return 0;
    if (load<i32>(slot) === hash) return slot;
    slot += SLOT_OCTETS;
  }
  return 0;
}

/** The host record of a slot. */
export function recordOf(table: usize, slot: usize): usize {
  return table + load<u32>(slot, 4);
}

/** The index of a slot. */
export function slotIndex(table: usize, slot: usize): usize {
  return (slot - slotAt(table, 0)) / SLOT_OCTETS;
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

/** As `probe`, comparing the hosts as well: for the rare case that two hosts have one hash. */
export function probeHost(table: usize, hash: i32, host: usize, octets: i32): usize {
  const end = slotAt(table, load<u32>(table, HEADER_SLOTS));
  let slot = homeSlot(table, hash);
  for (let left = load<i32>(table, HEADER_LONGEST_PROBE); left > 0; left--) {
    if (slot >= end) slot = slotAt(table, 0);
    if (load<u32>(slot, 4) === 0) return 0;
    if (load<i32>(slot) === hash && isRecordOf(recordOf(table, slot), host, octets)) return slot;
    slot += SLOT_OCTETS;
  }
  return 0;
}

/** Address of the authority for scheme and port in a host record, 0 if there is none. Binary search by port. */
export function findAuthority(record: usize, scheme: i32, port: i32): usize {
  if (load<u8>(record, HOST_FORM) !== HOST_SEVERAL) {
    const known = port === 0 && (scheme & (SCHEME_HTTP | SCHEME_HTTPS)) !== 0;
    return known ? record + HOST_AUTHORITY : 0;
  }
  const count: i32 = load<u16>(record, HOST_AUTHORITY);
  const first = record + HOST_SEVERAL_NAME + <usize>load<u8>(record);
  let low = 0;
  let high = count;
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
