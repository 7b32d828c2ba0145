import { describe, expect, it } from 'vitest';
import { hashHost, home, MAX_PROBE, placeHosts } from '../../src/compile/host-slots.js';
import { Random } from '../random.js';

function octets(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe('hosts in their slots', () => {
  it('are all found within the longest probe, however many there are', () => {
    for (const count of [0, 1, 2, 3, 10, 1000, 20_000]) {
      const hosts = Array.from({ length: count }, (_, index) => octets(`host-${index}.example`));
      const placed = placeHosts(count, (host) => hosts[host] as Uint8Array);
      const slots = placed.hosts.length;
      expect(slots).toBe(Math.max(2, 2 * count));
      expect(placed.longestProbe).toBeGreaterThanOrEqual(1);
      expect(placed.longestProbe).toBeLessThanOrEqual(MAX_PROBE);
      const seen = new Set<number>();
      placed.hosts.forEach((number, slot) => {
        if (number === 0) return;
        seen.add(number);
        const hash = hashHost(hosts[number - 1] as Uint8Array, placed.seed);
        expect(placed.hashes[slot]).toBe(hash);
        const distance = (slot - home(hash, slots) + slots) % slots;
        expect(distance).toBeLessThan(placed.longestProbe);
        // Nothing free lies between a host and its home.
        for (let step = 1; step <= distance; step++) {
          expect(placed.hosts[(slot - step + slots) % slots]).not.toBe(0);
        }
      });
      expect(seen.size).toBe(count);
    }
  });

  it('a hash counts every octet and the length', () => {
    const random = new Random(5);
    const hashes = new Set<number>();
    for (let length = 0; length < 40; length++) hashes.add(hashHost(octets('a'.repeat(length)), 0));
    for (let at = 0; at < 40; at++) {
      const host = octets('a'.repeat(40));
      host[at] = 0x62;
      hashes.add(hashHost(host, 0));
    }
    for (let seed = 1; seed <= 40; seed++) hashes.add(hashHost(octets('a'.repeat(7)), seed));
    expect(hashes.size).toBe(120);
    for (let round = 0; round < 1000; round++) {
      const hash = hashHost(octets(random.run(['a', 'b', '.'], 1, 30)), random.between(0, 15));
      expect(home(hash, 77)).toBe(Number((BigInt(hash) * 77n) >> 32n));
    }
  });

  it('if hosts collide whatever the seed, it ends and says so', () => {
    const same = octets('same.example');
    expect(() => placeHosts(MAX_PROBE + 1, () => same)).toThrow(
      expect.objectContaining({
        code: 'limit',
        message: expect.stringContaining('the host same.example and at least 64 others collide'),
      }),
    );
    expect(placeHosts(MAX_PROBE, () => same).longestProbe).toBe(MAX_PROBE);
  });

  it('the seed is that of the hosts, and of all of them', () => {
    const hosts = Array.from({ length: 100 }, (_, index) => octets(`host-${index}.example`));
    const { seed } = placeHosts(100, (host) => hosts[host] as Uint8Array);
    expect(placeHosts(100, (host) => hosts[host] as Uint8Array).seed).toBe(seed);
    expect(placeHosts(99, (host) => hosts[host] as Uint8Array).seed).not.toBe(seed);
    hosts[50] = octets('other.example');
    expect(placeHosts(100, (host) => hosts[host] as Uint8Array).seed).not.toBe(seed);
    // Where one host ends and the next begins counts as well.
    const parted = [octets('ab'), octets('c')];
    const otherwise = [octets('a'), octets('bc')];
    expect(placeHosts(2, (host) => parted[host] as Uint8Array).seed).not.toBe(
      placeHosts(2, (host) => otherwise[host] as Uint8Array).seed,
    );
  });
});
