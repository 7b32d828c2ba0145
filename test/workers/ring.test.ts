import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMemory } from '../../src/kernel/kernel.js';
import { Filler } from '../../src/workers/filler.js';
import type { ComputeTask } from '../../src/workers/messages.js';
import { layOut } from '../../src/workers/regions.js';
import { Ring } from '../../src/workers/ring.js';
import {
  bellWord,
  ENDED,
  FAILED,
  FILLED,
  FREE,
  JUDGED,
  openWord,
  ownedWord,
  REFUSED,
  TAKEN,
  YIELDED,
} from '../../src/workers/ring-words.js';
import work from '../../src/workers/worker.js';

const WORKER = 1;

const NEWLINE = 10;
const DEMAND = {
  threads: 2,
  slots: 3,
  batchOctets: 4096,
  leastBatchOctets: 4096,
  maxLineOctets: 1024,
  lineOverhead: 64,
  workerOctets: 4096,
  agents: 1,
};

function newRing(): Ring {
  const regions = layOut({ ...DEMAND, base: 1024 });
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

describe('a taker that lets lines gather', () => {
  it('does not wait once the filler has gone on behind the slot, or the run is stopped', () => {
    const ring = newRing();
    const waits = vi.spyOn(Atomics, 'wait');
    ring.filler.proceedTo(1);
    ring.waitForFiller(0, 60_000);
    ring.stop();
    ring.waitForFiller(1, 60_000);
    expect(waits).not.toHaveBeenCalled();
    waits.mockRestore();
  });

  it('waits for its time at most, though the bell rings, and for a word that changes when the filler goes on', () => {
    const ring = newRing();
    const bell = (): number => Atomics.load(new Int32Array(ring.memory.buffer), 256 + bellWord(0));
    const rung = bell();
    const waits = vi.spyOn(Atomics, 'wait').mockImplementation(() => 'ok');
    ring.waitForFiller(0, 2);
    expect(waits.mock.calls.length).toBeGreaterThan(1);
    expect(waits.mock.calls[0]?.slice(1, 3)).toEqual([bellWord(0), rung]);
    waits.mockRestore();

    const filler = new Filler(ring);
    const room = filler.room();
    room?.fill(NEWLINE);
    expect(filler.accept(room?.length ?? 0)).toBe(true);
    expect(ring.filler.slot).toBe(1);
    expect(bell()).not.toBe(rung);
  });
});

describe('a thread that goes on with the batch of a dead one', () => {
  it('does not write what is due before: it could die over that, with nobody to come after it', async () => {
    const memory = createMemory(1 << 21);
    const regions = layOut({ ...DEMAND, base: 1024 });
    const ring = new Ring(memory, regions, 3);
    for (const worker of [1, 0]) {
      const slot = ring.nextSlot;
      ring.setInput(slot, regions.inputs + slot * regions.inputStride, 2, 0, 2 * slot);
      ring.setState(slot, FILLED);
      expect(ring.takeBatch(FILLED, worker)).toMatchObject({ slot });
      ring.advance();
    }
    ring.setOutput(0, new Int32Array(64), regions.outputs, 5, 0);
    ring.setState(0, ownedWord(JUDGED, 1));
    expect(ring.due).toBe(0);

    const path = join(mkdtempSync(join(tmpdir(), 'robots-filter-ring-')), 'output');
    onTestFinished(() => rmSync(dirname(path), { recursive: true }));
    const output = openSync(path, 'w');
    const task: ComputeTask = {
      role: 'compute',
      memory,
      module: new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)),
      kernel: new URL('./throwing-kernel.mjs', import.meta.url).href,
      regions,
      slots: 3,
      worker: 0,
      query: 0,
      resume: 1,
      input: { kind: 'file', descriptor: output },
      fileOctets: undefined,
      output,
    };
    await expect(work(task)).rejects.toThrow('thrown on purpose');
    expect(readFileSync(path, 'utf8')).toBe('');
    expect(ring.due).toBe(0);
    expect(ring.writer.become(1)).toBe(true);
    closeSync(output);
  });
});
