import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { RobotsFilterError } from '../../errors.js';
import { HostHash } from '../../kernel/host-hash.js';
import { bucketOf } from '../../table/bucket-of.js';
import { BUCKET_SLOTS, HOST_KEY_BYTES, HOST_KEY_FACTOR, MAX_PROBE } from '../../table/format.js';
import { DIGEST_BYTES } from '../intern/digest.js';
import type { HostNames } from '../intern/host-names.js';

/** Maximum number of keys tried before the buckets are doubled, and maximum number of doublings. */
const TRIES = 8;
const DOUBLINGS = 3;

/** The slots of a table and their hosts. */
export interface HostSlots {
  /** Key of the host hash. */
  readonly key: Uint8Array;
  readonly buckets: number;
  /** The number of each slot's host plus one, bucket by bucket; 0 is a free slot. */
  readonly hosts: Uint32Array;
  /** The hash of each slot's host. */
  readonly hashes: Uint32Array;
  /**
   * 1 for each bucket for which a host whose search begins in this or an earlier bucket is in a
   * later bucket; else 0.
   */
  readonly passed: Uint8Array;
  /** Maximum number of buckets that a search for a host probes: up to MAX_PROBE. */
  readonly longestProbe: number;
}

/**
 * Places hosts by the hash of their name: each in the first bucket with a free slot, from its home
 * bucket on.
 *
 * An attacker who knew the key could choose hosts that crowd into a few buckets. So the key comes
 * from a digest of all hosts: the same hosts make the same table, and any chosen host changes the
 * key. A key that places a host more than MAX_PROBE buckets away is given up at once, so a try
 * costs at most MAX_PROBE steps for each host.
 *
 * @throws RobotsFilterError `limit` if all keys fail, which has a negligible probability
 */
export function placeHosts(names: HostNames): HostSlots {
  // The digest is unknown to anyone who does not know all hosts.
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
    `the host ${host} and at least ${MAX_PROBE * BUCKET_SLOTS} others collide in the table's hash under every key. Leave them out`,
  );
}

/** Returns the key of an attempt: digests of the digest, the attempt and a counter. */
function keyOf(digest: Buffer, attempt: number): Uint8Array {
  const key = Buffer.alloc(HOST_KEY_BYTES);
  for (let at = 0, part = 0; at < key.length; at += DIGEST_BYTES, part++) {
    createHash('sha256').update(digest).update(Uint8Array.of(attempt, part)).digest().copy(key, at);
  }
  key[HOST_KEY_FACTOR] = (key[HOST_KEY_FACTOR] as number) | 1;
  return key;
}

/** Places the hosts under a key; returns the number of the first host without a slot, if any. */
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
    let bucket = bucketOf(hash, buckets);
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
