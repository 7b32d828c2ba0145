import { finish, mix, STRIPE_OCTETS } from './hash.js';

/** A seed is good if no host is farther than this from its home slot, itself counted. */
export const MAX_PROBE = 64;

/** So many seeds are tried before there are twice as many slots, and so often they are doubled. */
const TRIES = 16;
const DOUBLINGS = 3;

/** Where the hosts of a table stand. */
export interface HostSlots {
  readonly seed: number;
  /** For each slot the number of its host plus one; 0 is free. */
  readonly hosts: Uint32Array;
  /** For each slot the hash of its host. */
  readonly hashes: Uint32Array;
  /** Slots that are looked at for the host farthest from home. */
  readonly longestProbe: number;
}

/**
 * Places `count` hosts by the hash of their octets. Of two hosts that want a slot the one nearer to its home gives way (Robin
 * Hood hashing), which halves the longest probe and more. If hosts made for it defeat all seeds, the last arrangement
 * stands: its longest probe is long, and true.
 */
export function placeHosts(count: number, hostAt: (host: number) => Uint8Array): HostSlots {
  let slots = Math.max(2, 2 * count);
  for (let doubling = 0; ; doubling++) {
    for (let seed = 0; seed < TRIES; seed++) {
      const placed = place(count, hostAt, slots, seed);
      const isLast = doubling === DOUBLINGS && seed === TRIES - 1;
      if (placed.longestProbe <= MAX_PROBE || isLast) return placed;
    }
    slots *= 2;
  }
}

function place(
  count: number,
  hostAt: (host: number) => Uint8Array,
  slots: number,
  seed: number,
): HostSlots {
  const hosts = new Uint32Array(slots);
  const hashes = new Uint32Array(slots);
  let longestProbe = 1;
  for (let next = 0; next < count; next++) {
    let host = next + 1;
    let hash = hashHost(hostAt(next), seed);
    let slot = home(hash, slots);
    for (let probe = 1; ; probe++) {
      longestProbe = Math.max(longestProbe, probe);
      const resident = hosts[slot] as number;
      if (resident === 0) break;
      const other = hashes[slot] as number;
      const otherProbe = ((slot - home(other, slots) + slots) % slots) + 1;
      if (otherProbe < probe) {
        hosts[slot] = host;
        hashes[slot] = hash;
        host = resident;
        hash = other;
        probe = otherProbe;
      }
      slot = slot + 1 === slots ? 0 : slot + 1;
    }
    hosts[slot] = host;
    hashes[slot] = hash;
  }
  return { seed, hosts, hashes, longestProbe };
}

/** `hash * slots >>> 32`. */
export function home(hash: number, slots: number): number {
  return Math.floor((hash * slots) / 0x1_0000_0000);
}

/** The hash of a canonical host, as hash.ts defines it. */
export function hashHost(host: Uint8Array, seed: number): number {
  let lane0 = seed | 0;
  let lane1 = lane0;
  let lane2 = lane0;
  let lane3 = lane0;
  for (let at = 0; at < host.length; at += STRIPE_OCTETS) {
    lane0 = mix(lane0, wordAt(host, at));
    lane1 = mix(lane1, wordAt(host, at + 4));
    lane2 = mix(lane2, wordAt(host, at + 8));
    lane3 = mix(lane3, wordAt(host, at + 12));
  }
  return finish(host.length, lane0, lane1, lane2, lane3) >>> 0;
}

/** Four octets as a little-endian word; those beyond the end are 0, as `undefined` is to these operators. */
function wordAt(octets: Uint8Array, at: number): number {
  return (
    (octets[at] as number) |
    ((octets[at + 1] as number) << 8) |
    ((octets[at + 2] as number) << 16) |
    ((octets[at + 3] as number) << 24)
  );
}
