import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createMemory } from '../../../src/kernel/kernel.js';
import { RingBatchSource } from '../../../src/workers/batch-ends.js';
import { Producer } from '../../../src/workers/producer.js';
import { layOut } from '../../../src/workers/ring/regions.js';
import { Ring } from '../../../src/workers/ring/ring.js';
import {
  ENDED,
  FREE,
  JUDGED,
  openWord,
  ownedWord,
  REFUSED,
  TAKEN,
  YIELDED,
} from '../../../src/workers/ring/words.js';

const WORKER = 1;

const NEWLINE = 10;
const FLOOD = 1 << 15;
const DEMAND = {
  threads: 2,
  slots: 3,
  batchBytes: 4096,
  maxLineBytes: 1024,
  lineFactor: 1,
  lineOverhead: 64,
  workerBytes: 4096,
};

function newRing(batchBytes = DEMAND.batchBytes): Ring {
  const regions = layOut({ ...DEMAND, batchBytes, base: 1024 });
  return new Ring(createMemory(regions.end), regions, 3);
}

describe('the writer of a ring', () => {
  it('sleeps while its slot is filled and judged, however often the state changes', async () => {
    const ring = newRing();
    const waits = vi.spyOn(ring.waits, 'inEventLoop');
    let seen: number | undefined;
    const waiting = ring.slots.wordForWriter(0).then((word) => {
      seen = word;
    });
    ring.slots.setState(0, openWord(0));
    for (let bytes = 64; bytes <= 1024; bytes += 64) {
      expect(ring.slots.exchangeState(0, openWord(bytes - 64), openWord(bytes))).toBe(true);
      await setImmediate();
    }
    expect(ring.slots.exchangeState(0, openWord(1024), ownedWord(TAKEN, WORKER))).toBe(true);
    await setImmediate();
    expect(seen).toBeUndefined();
    expect(waits).toHaveBeenCalledTimes(1);

    ring.slots.setState(0, ownedWord(JUDGED, WORKER));
    await waiting;
    expect(seen).toBe(ownedWord(JUDGED, WORKER));
  });

  it.each([
    ['judged', ownedWord(JUDGED, WORKER)],
    ['yielded', ownedWord(YIELDED, WORKER)],
    ['refused', REFUSED],
    ['the end', ENDED],
  ])('wakes when its slot is %s, and finds it so', async (_name, word) => {
    const ring = newRing();
    const waiting = ring.slots.wordForWriter(2);
    await setImmediate();
    ring.slots.setState(2, word);
    expect(await waiting).toBe(word);
    expect(await ring.slots.wordForWriter(2)).toBe(word);
  });

  it('wakes when the run is stopped', async () => {
    const ring = newRing();
    ring.slots.setState(1, FREE);
    const waiting = ring.slots.wordForWriter(1);
    await setImmediate();
    ring.stop();
    expect(await waiting).toBeUndefined();
  });
});

describe('a consumer in a flood of lines', () => {
  /** A ring with enough lines in its first slot to look like part of a flood. */
  function flooded(): Ring {
    const ring = newRing(1 << 18);
    const producer = new Producer(ring);
    const room = producer.room();
    room?.fill(NEWLINE, 0, FLOOD);
    expect(producer.accept(FLOOD)).toBe(false);
    return ring;
  }

  it('waits for the bell, and takes the lines when its time is up', async () => {
    const ring = flooded();
    const bell = ring.slots.bell(0);
    const waits = vi.spyOn(ring.waits, 'block').mockImplementation(() => {});
    const batch = await new RingBatchSource(ring, WORKER).next();
    expect(batch).toMatchObject({ slot: 0, bytes: FLOOD });
    expect(waits.mock.calls.length).toBeGreaterThan(1);
    for (const call of waits.mock.calls) {
      expect(call.slice(0, 2)).toEqual([ring.slots.bellWord(0), bell]);
    }
  });

  it('does not wait once the producer has left the slot', async () => {
    const ring = flooded();
    const bell = ring.slots.bell(0);
    ring.producer.advance();
    expect(ring.slots.bell(0)).not.toBe(bell);
    const waits = vi.spyOn(ring.waits, 'block');
    expect(await new RingBatchSource(ring, WORKER).next()).toMatchObject({ slot: 0, bytes: FLOOD });
    expect(waits).not.toHaveBeenCalled();
  });
});

describe('a ring from which nobody may take batches', () => {
  it('gives no batch and no lock, and lets the writer go on', async () => {
    const ring = newRing();
    ring.slots.setState(0, openWord(64));
    ring.stopTaking();
    expect(ring.stopped).toBe(false);
    expect(await new RingBatchSource(ring, WORKER).next()).toBeUndefined();
    expect(await ring.writer.awaitTurn(0)).toBe(true);
    // The holder of the lock may be dead.
    expect(await ring.consumer.lock()).toBe(true);
    expect(await ring.consumer.lock()).toBe(false);
    ring.stop();
    ring.stopTaking();
    expect(ring.stopped).toBe(true);
  });
});
