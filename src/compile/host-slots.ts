import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { RobotsFilterError } from '../errors.js';
import { finish, mix, STRIPE_OCTETS } from './hash.js';

/**
 * No host is farther than this from its home slot, itself counted: as many slots a look-up looks at, at most. Half
 * full as the slots are, chance alone comes to a fourth of it, with millions of hosts.
 */
export const MAX_PROBE = 64;

/** So many seeds are tried before there are twice as many slots, and so often they are doubled. */
const TRIES = 8;
const DOUBLINGS = 3;

/** Where the hosts of a table stand. */
export interface HostSlots {
  readonly seed: number;
  /** For each slot the number of its host plus one; 0 is free. */
  readonly hosts: Uint32Array;
  /** For each slot the hash of its host. */
  readonly hashes: Uint32Array;
  /** Slots that are looked at for the host farthest from home: MAX_PROBE at most. */
  readonly longestProbe: number;
}

/**
 * Places `count` hosts, given in an order of their own, by the hash of their octets. Of two hosts that want a slot the one nearer
 * to its home gives way (Robin Hood hashing), which halves the longest probe and more.
 *
 * Whoever can put hosts into a crawl can choose them so that they crowd together under any seed that is known beforehand. So the
 * seeds are drawn from a digest of all hosts: the same hosts make the same table, and no host can be chosen for a seed without
 * changing it. A seed under which some host is too far from home is given up at once, so that each try costs MAX_PROBE
 * steps a host at most.
 *
 * @throws RobotsFilterError `limit` if all seeds fail: hosts that collide whatever the seed
 */
export function placeHosts(count: number, hostAt: (host: number) => Uint8Array): HostSlots {
  const seeds = seedsFor(count, hostAt);
  let crowded = 0;
  let slots = Math.max(2, 2 * count);
  for (let doubling = 0; doubling <= DOUBLINGS; doubling++) {
    for (const seed of seeds) {
      const placed = place(count, hostAt, slots, seed);
      if (typeof placed === 'object') return placed;
      crowded = placed;
    }
    slots *= 2;
  }
  const host = Buffer.from(hostAt(crowded)).toString('latin1');
  throw new RobotsFilterError(
    'limit',
    `the host ${host} and at least ${MAX_PROBE} others collide in the table's hash whatever its seed: they were made for that; leave them out`,
  );
}

/** TRIES numbers of 32 bits that nobody can tell who does not know all the hosts. */
function seedsFor(count: number, hostAt: (host: number) => Uint8Array): number[] {
  const digest = createHash('sha256');
  const octets = new Uint8Array(1 << 16);
  let at = 0;
  for (let host = 0; host < count; host++) {
    const name = hostAt(host);
    if (at + name.length + 1 > octets.length) {
      digest.update(octets.subarray(0, at));
      at = 0;
    }
    octets[at++] = name.length;
    octets.set(name, at);
    at += name.length;
  }
  const words = digest.update(octets.subarray(0, at)).digest();
  return Array.from({ length: TRIES }, (_, index) => words.readUInt32LE(4 * index));
}

/** The hosts in their slots; or, where one is too far from home, the number of the host that was to be placed. */
function place(
  count: number,
  hostAt: (host: number) => Uint8Array,
  slots: number,
  seed: number,
): HostSlots | number {
  const hosts = new Uint32Array(slots);
  const hashes = new Uint32Array(slots);
  let longestProbe = 1;
  for (let next = 0; next < count; next++) {
    let host = next + 1;
    let hash = hashHost(hostAt(next), seed);
    let slot = home(hash, slots);
    for (let probe = 1; ; probe++) {
      if (probe > MAX_PROBE) return next;
      if (probe > longestProbe) longestProbe = probe;
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
