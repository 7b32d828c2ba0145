import { describe, expect, it } from 'vitest';
import { HostNames } from '../../src/compile/authority-set.js';
import { ByteStore } from '../../src/compile/byte-store.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { placeHosts } from '../../src/compile/table-layout.js';
import { checkTable } from '../../src/judge/table-memory.js';
import { HostHash } from '../../src/kernel/hashes.js';
import {
  BUCKET_SLOTS,
  HEADER_HOST_KEY,
  HOST_KEY_BYTES,
  MAX_PROBE,
} from '../../src/table/format.js';
import { bucketOf } from '../../src/table/places.js';
import { kernelOver } from '../kernel/harness.js';
import { every } from '../random/cases.js';
import { Random } from '../random/random.js';
import { type MeteredKernel, meteredKernel } from './metered-kernel.js';
import { countSteps } from './metered-script.js';

/** Hosts that collide under each of these keys, enough to exclude every key. */
const random = new Random(8);
const AIMED_AT = Array.from({ length: 4 }, () => {
  const key = Uint8Array.from({ length: HOST_KEY_BYTES }, () => random.between(0, 255));
  return new HostHash(key);
});
const CROWD = MAX_PROBE * BUCKET_SLOTS + 16;
const CROWDED = crowdedHosts();

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/**
 * For each key CROWD hosts with the first bucket as home bucket, whatever the number of buckets.
 * Anybody could find them in this way.
 */
function crowdedHosts(): Uint8Array[] {
  const hosts: Uint8Array[] = [];
  const buckets = 2 * AIMED_AT.length * CROWD;
  const wanted = AIMED_AT.map(() => CROWD);
  for (let number = 0; wanted.some((count) => count > 0); number++) {
    const host = bytes(`a${number.toString(36)}.example.com`);
    const aimed = AIMED_AT.findIndex(
      (hash, index) => (wanted[index] as number) > 0 && bucketOf(hash.of(host), buckets) === 0,
    );
    if (aimed < 0) continue;
    wanted[aimed] = (wanted[aimed] as number) - 1;
    hosts.push(host);
  }
  return hosts;
}

describe('hosts that collide in the table', () => {
  it('cannot be prepared: the key depends on all hosts', () => {
    for (const hash of AIMED_AT) {
      const buckets = 2 * CROWDED.length;
      const crowd = CROWDED.filter((host) => bucketOf(hash.of(host), buckets) === 0);
      expect(crowd.length).toBeGreaterThan(MAX_PROBE * BUCKET_SLOTS);
    }
    const placed = placeHosts(HostNames.of(CROWDED));
    expect(placed.buckets).toBe(Math.ceil((2 * CROWDED.length) / BUCKET_SLOTS));
    expect(placed.longestProbe).toBeLessThan(MAX_PROBE / 2);
  });

  it('are an error after a bounded number of steps for each host', () => {
    const host = bytes('same.example.com');
    const steps = (count: number): number => {
      const names = HostNames.of(new Array<Uint8Array>(count).fill(host));
      return countSteps(() => expect(() => placeHosts(names)).toThrow(/collide/)) / count;
    };
    // 32 arrangements of the hosts; each is tried until the first 81 hosts are placed.
    const few = steps(1000);
    expect(few).toBeGreaterThan(100);
    expect(steps(8000)).toBeLessThan(few);
  });

  it('cost a look-up no more steps than the longest probe', () => {
    const files = Object.fromEntries(CROWDED.map((host) => [Buffer.from(host).toString(), 'x']));
    const builder = new TableBuilder();
    for (const host of Object.keys(files)) {
      builder.add({ scheme: undefined, host, port: undefined }, bytes('x'), { source: host });
    }
    const table = builder.build();
    const { buckets, longestProbe } = checkTable(table, 'table');
    const hash = new HostHash(table.subarray(HEADER_HOST_KEY, HEADER_HOST_KEY + HOST_KEY_BYTES));
    expect(longestProbe).toBeLessThanOrEqual(MAX_PROBE);
    let metered: MeteredKernel | undefined;
    const run = kernelOver(files, 'rfc9309', (memory) => {
      metered = meteredKernel(memory);
      return metered.kernel;
    });
    const steps = (host: string): number => {
      metered?.takeSteps();
      const { output } = run(`https://${host}/`, { format: 'text' });
      const taken = metered?.takeSteps() ?? 0;
      expect(output).toBe(`${host in files ? 'allow' : 'unknown'}\thttps://${host}/\n`);
      return taken;
    };
    const alone = steps('example.com');
    // The owner of the table knows its key, and can aim at the most crowded buckets.
    const crowded = crowdedBuckets(hash, buckets);
    expect(crowded.size).toBeGreaterThan(0);
    let most = 0;
    for (let number = 0, aimed = 0; aimed < 40; number++) {
      const host = `b${number.toString(36)}.example.com`;
      if (!crowded.has(bucketOf(hash.of(bytes(host)), buckets))) continue;
      aimed++;
      most = Math.max(most, steps(host) - alone);
    }
    const present = Object.keys(files).filter((_, index) => index % every(16) === 0);
    for (const host of present) most = Math.max(most, steps(host) - alone);
    expect(most).toBeGreaterThan(0);
    // `probe`, and `probeHost` if a tag is equal and the host is not; and judging a host that is
    // found.
    expect(most).toBeLessThanOrEqual(2 * longestProbe + 32);
  });

  /** The buckets that are the home bucket of enough hosts to fill them, or nearly. */
  function crowdedBuckets(hash: HostHash, buckets: number): Set<number> {
    const hosts = new Map<number, number>();
    for (const host of CROWDED) {
      const bucket = bucketOf(hash.of(host), buckets);
      hosts.set(bucket, (hosts.get(bucket) ?? 0) + 1);
    }
    const crowded = [...hosts].filter(([, count]) => count > BUCKET_SLOTS - 2);
    return new Set(crowded.map(([bucket]) => bucket));
  }
});

describe('byte strings that collide in MurmurHash3 under every seed', () => {
  it('are stored in as few steps as any others', () => {
    const steps = (halves: readonly (readonly [number, number])[], count: number): number => {
      const strings = Array.from({ length: count }, (_, number) => words(halves, number));
      let held = 0;
      const taken = countSteps(() => {
        const store = new ByteStore();
        for (const string of strings) store.add(string);
        held = store.count;
      });
      expect(held).toBe(count);
      return taken / count;
    };
    const usual = [
      [0, 1],
      [2, 3],
    ] as const;
    // Derived from differences in bit 18 and then in bit 31: the second cancels the first.
    const colliding = [
      [0, unscramble(1 << 18)],
      [0, unscramble(1 << 31)],
    ] as const;
    expect(murmurHash3(words(colliding, 0), 77)).toBe(murmurHash3(words(colliding, 1), 77));
    for (const count of [512, 4096]) {
      expect(steps(colliding, count)).toBeLessThan(1.5 * steps(usual, count));
    }
  });

  /** Twelve pairs of words; each bit of a number chooses one of the two halves. */
  function words(halves: readonly (readonly [number, number])[], number: number): Uint8Array {
    const chosen = Uint32Array.from({ length: 24 }, (_, index) => {
      const [unset, set] = halves[index % 2] ?? [0, 0];
      return (number >> (index >> 1)) & 1 ? set : unset;
    });
    return new Uint8Array(chosen.buffer);
  }

  /** The word that MurmurHash3 scrambles to this one. */
  function unscramble(word: number): number {
    const unmultiplied = Math.imul(word, inverse(0x1b873593));
    return Math.imul((unmultiplied >>> 15) | (unmultiplied << 17), inverse(0xcc9e2d51));
  }

  /** The inverse of an odd number modulo 2^32, by Newton. */
  function inverse(odd: number): number {
    let inverted = odd;
    for (let round = 0; round < 5; round++) {
      inverted = Math.imul(inverted, 2 - Math.imul(odd, inverted));
    }
    return inverted;
  }

  function murmurHash3(string: Uint8Array, seed: number): number {
    let hash = seed;
    for (const word of new Uint32Array(string.buffer)) {
      const multiplied = Math.imul(word, 0xcc9e2d51);
      hash ^= Math.imul((multiplied << 15) | (multiplied >>> 17), 0x1b873593);
      hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
    }
    return hash ^ string.length;
  }
});
