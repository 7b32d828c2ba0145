import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { RobotsFilterError } from '../errors.js';
import { HostHash } from '../kernel/host-hash.js';
import { BUCKET_SLOTS, HOST_KEY_FACTOR, HOST_KEY_OCTETS, MAX_PROBE } from './format.js';
import { home } from './home.js';
import type { HostNames } from './host-names.js';

/** So many keys are tried before there are twice as many buckets, and so often they are doubled. */
const TRIES = 8;
const DOUBLINGS = 3;

const DIGEST_OCTETS = 32;

/** Where the hosts of a table stand. */
export interface HostSlots {
  /** Key of the hash. */
  readonly key: Uint8Array;
  readonly buckets: number;
  /**
   * For each slot, those of a bucket one behind another, the number of its host plus one; 0 is
   * free.
   */
  readonly hosts: Uint32Array;
  /** For each slot the hash of its host. */
  readonly hashes: Uint32Array;
  /**
   * For each bucket 1 if a host is in a bucket behind it whose search begins there or before, else
   * 0.
   */
  readonly passed: Uint8Array;
  /** Buckets that are looked at for the host farthest from home: MAX_PROBE at most. */
  readonly longestProbe: number;
}

/**
 * Places hosts, given in an order of their own, by the hash of their octets: in the first bucket
 * from their home on that has a free slot.
 *
 * Whoever can put hosts into a crawl can choose them so that they crowd together under any key that
 * is known beforehand. So the keys are drawn from a digest of all hosts: the same hosts make the
 * same table, and no host can be chosen for a key without changing it. A key under which some host
 * is too far from home is given up at once, so that each try costs MAX_PROBE steps a host at most.
 *
 * @throws RobotsFilterError `limit` if all keys fail: for distinct hosts that is beyond all chance
 */
export function placeHosts(names: HostNames): HostSlots {
  // What nobody can tell who does not know all the hosts.
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
    `the host ${host} and at least ${MAX_PROBE * BUCKET_SLOTS} others collide in the table's hash whatever its key; leave them out`,
  );
}

/** The key for an attempt: digests of the digest and a number, until there are octets enough. */
function keyOf(digest: Buffer, attempt: number): Uint8Array {
  const key = Buffer.alloc(HOST_KEY_OCTETS);
  for (let at = 0, part = 0; at < key.length; at += DIGEST_OCTETS, part++) {
    createHash('sha256').update(digest).update(Uint8Array.of(attempt, part)).digest().copy(key, at);
  }
  key[HOST_KEY_FACTOR] = (key[HOST_KEY_FACTOR] as number) | 1;
  return key;
}

/**
 * The hosts in their slots; or, where one is too far from home, the number of the host that was to
 * be placed.
 */
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
    let bucket = home(hash, buckets);
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
