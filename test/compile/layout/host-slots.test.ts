import { describe, expect, it } from 'vitest';
import { HostNames } from '../../../src/compile/authority-set.js';
import { placeHosts } from '../../../src/compile/table-layout.js';
import { HostHash } from '../../../src/kernel/hashes.js';
import {
  BUCKET_SLOTS,
  HOST_KEY_BYTES,
  HOST_KEY_FACTOR,
  MAX_PROBE,
} from '../../../src/table/format.js';
import { bucketOf } from '../../../src/table/places.js';
import { cases } from '../../random/cases.js';
import { Random } from '../../random/random.js';

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe('hosts in their slots', () => {
  it('are all found within the longest probe, whatever their number', () => {
    const random = new Random(5);
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    for (const count of [0, 1, 2, 3, 10, 11, 1000, 20_000]) {
      const hosts = Array.from({ length: count }, (_, index) =>
        bytes(`${random.run(letters, 4, 12)}-${index}.example`),
      );
      const placed = placeHosts(HostNames.of(hosts));
      const { buckets, passed } = placed;
      expect(buckets).toBe(Math.max(1, Math.ceil((2 * count) / BUCKET_SLOTS)));
      expect(placed.hosts).toHaveLength(buckets * BUCKET_SLOTS);
      expect(passed).toHaveLength(buckets);
      const hostHash = new HostHash(placed.key);
      expect(placed.longestProbe).toBeGreaterThanOrEqual(1);
      expect(placed.longestProbe).toBeLessThanOrEqual(MAX_PROBE);
      const seen = new Set<number>();
      const passedOver = new Set<number>();
      const wrong: string[] = [];
      placed.hosts.forEach((number, slot) => {
        if (number === 0) return;
        seen.add(number);
        const hash = hostHash.of(hosts[number - 1] as Uint8Array);
        if (placed.hashes[slot] !== hash) wrong.push(`hash of slot ${slot}`);
        const bucket = Math.floor(slot / BUCKET_SLOTS);
        const distance = (bucket - bucketOf(hash, buckets) + buckets) % buckets;
        if (!(distance < placed.longestProbe)) wrong.push(`distance ${distance} of slot ${slot}`);
        // All buckets from the home bucket of the host up to its own bucket are full.
        for (let step = 1; step <= distance; step++) {
          const before = (bucket - step + buckets) % buckets;
          const last = before * BUCKET_SLOTS + BUCKET_SLOTS - 1;
          if (placed.hosts[last] === 0) wrong.push(`free slot ${last} before slot ${slot}`);
          passedOver.add(before);
        }
        // In its own bucket no free slot precedes the host.
        if (slot % BUCKET_SLOTS > 0 && placed.hosts[slot - 1] === 0) {
          wrong.push(`free slot before slot ${slot} of its bucket`);
        }
      });
      expect(wrong).toEqual([]);
      expect(seen.size).toBe(count);
      expect(Array.from(passed, (mark, bucket) => (mark === 1 ? bucket : -1))).toEqual(
        Array.from(passed, (_, bucket) => (passedOver.has(bucket) ? bucket : -1)),
      );
      if (count === 20_000) expect(passedOver.size).toBeGreaterThan(10);
    }
  });

  it('are refused with an error if they collide under every key', () => {
    const same = bytes('same.example');
    const most = MAX_PROBE * BUCKET_SLOTS;
    expect(() => placeHosts(HostNames.of(new Array(most + 1).fill(same)))).toThrow(
      expect.objectContaining({
        code: 'limit',
        message: expect.stringContaining('the host same.example and at least 80 others collide'),
      }),
    );
    expect(placeHosts(HostNames.of(new Array(most).fill(same))).longestProbe).toBe(MAX_PROBE);
  });

  it('have a key that depends on every host', () => {
    const hosts = Array.from({ length: 100 }, (_, index) => bytes(`host-${index}.example`));
    const { key } = placeHosts(HostNames.of(hosts));
    expect(placeHosts(HostNames.of(hosts)).key).toEqual(key);
    expect(placeHosts(HostNames.of(hosts.slice(1))).key).not.toEqual(key);
    hosts[50] = bytes('other.example');
    expect(placeHosts(HostNames.of(hosts)).key).not.toEqual(key);
    // The boundary between two hosts matters too.
    const one = [bytes('ab'), bytes('c')];
    const otherwise = [bytes('a'), bytes('bc')];
    expect(placeHosts(HostNames.of(one)).key).not.toEqual(placeHosts(HostNames.of(otherwise)).key);
  });
});

/** A random key. */
function randomKey(random: Random): Uint8Array {
  const key = Uint8Array.from({ length: HOST_KEY_BYTES }, () => random.between(0, 255));
  key[HOST_KEY_FACTOR] = (key[HOST_KEY_FACTOR] as number) | 1;
  return key;
}

describe('the hash of a host', () => {
  it('is NH of RFC 4418 section 5.2, multiplied by the factor', () => {
    const random = new Random(6);
    for (let round = 0; round < cases(250); round++) {
      const key = randomKey(random);
      const host = bytes(random.run(['a', 'b', '.', 'xyz-', '0123456789abcdef'], 1, 40)).subarray(
        0,
        255,
      );
      const stripes = Math.max(1, Math.ceil(host.length / 16));
      const padded = new DataView(new ArrayBuffer(16 * stripes));
      host.forEach((byte, at) => {
        padded.setUint8(at, byte);
      });
      const words = new DataView(key.buffer);
      const word = (at: number): bigint =>
        BigInt((padded.getUint32(at, true) + words.getUint32(at, true)) >>> 0);
      let sum = 0n;
      for (let at = 0; at < 16 * stripes; at += 16) {
        sum += word(at) * word(at + 8) + word(at + 4) * word(at + 12);
      }
      const product = sum * words.getBigUint64(HOST_KEY_FACTOR, true);
      const hash = new HostHash(key).of(host);
      expect(hash).toBe(Number(BigInt.asUintN(64, product) >> 32n));
      expect(bucketOf(hash, 77)).toBe(Number((BigInt(hash) * 77n) >> 32n));
    }
  });

  it('separates hosts that are made to collide, under every key', () => {
    const random = new Random(7);
    const families = [
      // One byte, one bit of a byte, at every place; at two places, so that differences could
      // cancel out.
      Array.from({ length: 255 }, (_, at) => changed(at)),
      Array.from({ length: 240 }, (_, at) => changed(at, at + 4)),
      Array.from({ length: 240 }, (_, at) => changed(at, at + 8)),
      Array.from({ length: 239 }, (_, at) => changed(at, at + 16)),
      Array.from({ length: 255 }, (_, byteCount) => bytes('a'.repeat(byteCount + 1))),
      // The stripes in every order.
      permutations([
        'aaaaaaaaaaaaaaaa',
        'bbbbbbbbbbbbbbbb',
        'cccccccccccccccc',
        'dddddddddddddddd',
        'eeeeeeeeeeeeeeee',
      ]).map(bytes),
      permutations(['aaaa', 'bbbb', 'cccc', 'dddd']).map(bytes),
    ];
    for (let round = 0; round < cases(30); round++) {
      const hostHash = new HostHash(randomKey(random));
      for (const family of families) {
        expect(new Set(family.map((host) => hostHash.of(host))).size).toBe(family.length);
      }
    }
  });

  it('rejects bytes too long for a host', () => {
    expect(() => new HostHash(new Uint8Array(HOST_KEY_BYTES)).of(new Uint8Array(256))).toThrow(
      RangeError,
    );
  });

  function changed(...places: number[]): Uint8Array {
    const host = bytes('a'.repeat(255));
    for (const at of places) host[at] = 0x61 ^ (at % 2 === 0 ? 0x40 : 0x01);
    return host;
  }

  function permutations(parts: readonly string[]): string[] {
    if (parts.length < 2) return [...parts];
    return parts.flatMap((part, index) =>
      permutations(parts.filter((_, other) => other !== index)).map((rest) => part + rest),
    );
  }
});
