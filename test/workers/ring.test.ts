import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createMemory } from '../../src/kernel/kernel.js';
import { layOut } from '../../src/workers/regions.js';
import { Ring } from '../../src/workers/ring.js';
import {
  ENDED,
  FAILED,
  FREE,
  JUDGED,
  openWord,
  ownedWord,
  REFUSED,
  TAKEN,
  YIELDED,
} from '../../src/workers/ring-words.js';

const WORKER = 1;

function newRing(): Ring {
  const regions = layOut({
    base: 1024,
    threads: 2,
    slots: 3,
    batchOctets: 4096,
    leastBatchOctets: 4096,
    maxLineOctets: 1024,
    lineOverhead: 64,
    workerOctets: 4096,
    agents: 1,
  });
  return new Ring(createMemory(regions.end), regions, 3);
}

describe('the writer of a ring', () => {
  it('sleeps while its slot is filled and judged, however often that changes', async () => {
    const ring = newRing();
    const waits = vi.spyOn(ring, 'waitAsync');
    let seen: number | undefined;
    const waiting = ring.wordForWriter(0).then((word) => {
      seen = word;
    });
    ring.setState(0, openWord(0));
    for (let octets = 64; octets <= 1024; octets += 64) {
      expect(ring.exchangeState(0, openWord(octets - 64), openWord(octets))).toBe(true);
      await setImmediate();
    }
    expect(ring.exchangeState(0, openWord(1024), ownedWord(TAKEN, WORKER))).toBe(true);
    await setImmediate();
    expect(seen).toBeUndefined();
    expect(waits).toHaveBeenCalledTimes(1);

    ring.setState(0, ownedWord(JUDGED, WORKER));
    await waiting;
    expect(seen).toBe(ownedWord(JUDGED, WORKER));
  });

  it.each([
    ['judged', ownedWord(JUDGED, WORKER)],
    ['yielded', ownedWord(YIELDED, WORKER)],
    ['refused', REFUSED],
    ['given up', FAILED],
    ['the end', ENDED],
  ])('wakes when its slot is %s, and finds it so', async (_name, word) => {
    const ring = newRing();
    const waiting = ring.wordForWriter(2);
    await setImmediate();
    ring.setState(2, word);
    expect(await waiting).toBe(word);
    expect(await ring.wordForWriter(2)).toBe(word);
  });

  it('wakes when the run is stopped', async () => {
    const ring = newRing();
    ring.setState(1, FREE);
    const waiting = ring.wordForWriter(1);
    await setImmediate();
    ring.stop();
    expect(await waiting).toBeUndefined();
  });
});
