import { finish, mix } from './hash.js';

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
  let hash = seed | 0;
  for (let at = 0; at < host.length; at += 4) {
    // Beyond the end there is `undefined`, which is 0 to these operators.
    const word =
      (host[at] as number) |
      ((host[at + 1] as number) << 8) |
      ((host[at + 2] as number) << 16) |
      ((host[at + 3] as number) << 24);
    hash = mix(hash, word);
  }
  return finish(hash, host.length) >>> 0;
}
