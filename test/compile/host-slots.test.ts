import { describe, expect, it } from 'vitest';
import {
  BUCKET_SLOTS,
  HOST_KEY_FACTOR,
  HOST_KEY_OCTETS,
  MAX_PROBE,
} from '../../src/compile/format.js';
import { home } from '../../src/compile/home.js';
import { HostNames } from '../../src/compile/host-names.js';
import { placeHosts } from '../../src/compile/host-slots.js';
import { HostHash } from '../../src/kernel/host-hash.js';
import { Random } from '../random.js';

function octets(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe('hosts in their slots', () => {
  it('are all found within the longest probe, however many there are', () => {
    const random = new Random(5);
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    for (const count of [0, 1, 2, 3, 10, 11, 1000, 20_000]) {
      const hosts = Array.from({ length: count }, (_, index) =>
        octets(`${random.run(letters, 4, 12)}-${index}.example`),
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
      placed.hosts.forEach((number, slot) => {
        if (number === 0) return;
        seen.add(number);
        const hash = hostHash.of(hosts[number - 1] as Uint8Array);
        expect(placed.hashes[slot]).toBe(hash);
        const bucket = Math.floor(slot / BUCKET_SLOTS);
        const distance = (bucket - home(hash, buckets) + buckets) % buckets;
        expect(distance).toBeLessThan(placed.longestProbe);
        // From its home on all are full that come before the host's.
        for (let step = 1; step <= distance; step++) {
          const before = (bucket - step + buckets) % buckets;
          expect(placed.hosts[before * BUCKET_SLOTS + BUCKET_SLOTS - 1]).not.toBe(0);
          passedOver.add(before);
        }
        // Nothing free lies before it in its own.
        if (slot % BUCKET_SLOTS > 0) expect(placed.hosts[slot - 1]).not.toBe(0);
      });
      expect(seen.size).toBe(count);
      expect(Array.from(passed, (mark, bucket) => (mark === 1 ? bucket : -1))).toEqual(
        Array.from(passed, (_, bucket) => (passedOver.has(bucket) ? bucket : -1)),
      );
      if (count === 20_000) expect(passedOver.size).toBeGreaterThan(10);
    }
  });

  it('if hosts collide whatever the key, it ends and says so', () => {
    const same = octets('same.example');
    const most = MAX_PROBE * BUCKET_SLOTS;
    expect(() => placeHosts(HostNames.of(new Array(most + 1).fill(same)))).toThrow(
      expect.objectContaining({
        code: 'limit',
        message: expect.stringContaining('the host same.example and at least 80 others collide'),
      }),
    );
    expect(placeHosts(HostNames.of(new Array(most).fill(same))).longestProbe).toBe(MAX_PROBE);
  });

  it('the key is that of the hosts, and of all of them', () => {
    const hosts = Array.from({ length: 100 }, (_, index) => octets(`host-${index}.example`));
    const { key } = placeHosts(HostNames.of(hosts));
    expect(placeHosts(HostNames.of(hosts)).key).toEqual(key);
    expect(placeHosts(HostNames.of(hosts.slice(1))).key).not.toEqual(key);
    hosts[50] = octets('other.example');
    expect(placeHosts(HostNames.of(hosts)).key).not.toEqual(key);
    // Where one host ends and the next begins counts as well.
    const parted = [octets('ab'), octets('c')];
    const otherwise = [octets('a'), octets('bc')];
    expect(placeHosts(HostNames.of(parted)).key).not.toEqual(
      placeHosts(HostNames.of(otherwise)).key,
    );
  });
});

/** A key drawn by chance. */
function randomKey(random: Random): Uint8Array {
  const key = Uint8Array.from({ length: HOST_KEY_OCTETS }, () => random.between(0, 255));
  key[HOST_KEY_FACTOR] = (key[HOST_KEY_FACTOR] as number) | 1;
  return key;
}

describe('the hash of a host', () => {
  it('is that of RFC 4418 section 5.2, NH, and a product with the factor', () => {
    const random = new Random(6);
    for (let round = 0; round < 500; round++) {
      const key = randomKey(random);
      const host = octets(random.run(['a', 'b', '.', 'xyz-', '0123456789abcdef'], 1, 40)).subarray(
        0,
        255,
      );
      const stripes = Math.max(1, Math.ceil(host.length / 16));
      const padded = new DataView(new ArrayBuffer(16 * stripes));
      host.forEach((octet, at) => {
        padded.setUint8(at, octet);
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
      expect(home(hash, 77)).toBe(Number((BigInt(hash) * 77n) >> 32n));
    }
  });

  it('keeps hosts apart that are made to collide, under whatever key', () => {
    const random = new Random(7);
    const families = [
      // One octet, one bit of it, at every place; in two places, so that differences could undo one
      // another.
      Array.from({ length: 255 }, (_, at) => changed(at)),
      Array.from({ length: 240 }, (_, at) => changed(at, at + 4)),
      Array.from({ length: 240 }, (_, at) => changed(at, at + 8)),
      Array.from({ length: 239 }, (_, at) => changed(at, at + 16)),
      Array.from({ length: 255 }, (_, octetCount) => octets('a'.repeat(octetCount + 1))),
      // Stripes in every order.
      permutations([
        'aaaaaaaaaaaaaaaa',
        'bbbbbbbbbbbbbbbb',
        'cccccccccccccccc',
        'dddddddddddddddd',
        'eeeeeeeeeeeeeeee',
      ]).map(octets),
      permutations(['aaaa', 'bbbb', 'cccc', 'dddd']).map(octets),
    ];
    for (let round = 0; round < 30; round++) {
      const hostHash = new HostHash(randomKey(random));
      for (const family of families) {
        expect(new Set(family.map((host) => hostHash.of(host))).size).toBe(family.length);
      }
    }
  });

  it('is refused for what is too long to be a host', () => {
    expect(() => new HostHash(new Uint8Array(HOST_KEY_OCTETS)).of(new Uint8Array(256))).toThrow(
      RangeError,
    );
  });

  function changed(...places: number[]): Uint8Array {
    const host = octets('a'.repeat(255));
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
