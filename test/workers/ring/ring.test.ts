import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { RobotsFilterError } from '../../../src/base/errors.js';
import { createMemory } from '../../../src/kernel/kernel.js';
import { MAX_BAD } from '../../../src/kernel/layout.js';
import type { Run } from '../../../src/pipeline/run.js';
import { RingBatchSource, writeDue } from '../../../src/workers/batch-ends.js';
import { Producer } from '../../../src/workers/producer.js';
import { CONTROL_BYTES, layOut, SLOT_HEADER_BYTES } from '../../../src/workers/ring/regions.js';
import { Ring } from '../../../src/workers/ring/ring.js';
import * as words from '../../../src/workers/ring/words.js';
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
import {
  closePools,
  fakeFlow,
  TemporaryFiles,
  throughFiles,
  throughPipe,
  throughStreams,
} from '../../pipeline/flow-harness.js';

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

describe('a writer among the workers', () => {
  it('also writes a batch that another worker left to it as it resigned', () => {
    const ring = newRing();
    const { slots, writer } = ring;
    const resign = writer.resign.bind(writer);
    vi.spyOn(writer, 'resign').mockImplementationOnce(() => {
      slots.setState(1, ownedWord(JUDGED, WORKER + 1));
      resign();
    });
    slots.setState(0, ownedWord(JUDGED, WORKER));
    // Without output, nothing is written to the descriptor.
    writeDue(ring, WORKER, -1);
    expect(writer.turn).toBe(2);
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
    let clock = 0;
    const now = vi.spyOn(performance, 'now').mockImplementation(() => clock);
    onTestFinished(() => now.mockRestore());
    const waits = vi.spyOn(ring.waits, 'block').mockImplementation((_word, _value, left = 0) => {
      clock += left / 2 + 0.01;
    });
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

const PAGE = readFileSync(new URL('../../../src/workers/ring/words.ts', import.meta.url), 'utf8');

/** The rows of a table of the page: address, type and name of each word. */
function rows(heading: string): { at: number; bytes: number; name: string }[] {
  const [, section = ''] = PAGE.split(`## ${heading}`);
  const [table = ''] = section.split(' * ## ');
  return [...table.matchAll(/^ \* +(\d+) +(?:([iu])(32|64))? +([A-Z_]+) /gm)].map(
    ([, at, , bits, name = '']) => ({ at: Number(at), bytes: Number(bits ?? 0) / 8, name }),
  );
}

describe.each([
  ['Control block', '', CONTROL_BYTES, words.badEntry(0).line, 16 * MAX_BAD, 17],
  [
    'Slot header',
    'SLOT_',
    SLOT_HEADER_BYTES,
    words.slotBadEntry(0, 0).line - CONTROL_BYTES,
    8 * MAX_BAD,
    13,
  ],
] as const)('%s', (heading, prefix, length, list, listBytes, count) => {
  it('has the words that the page describes, without overlaps', () => {
    const table = rows(heading);
    expect(table).toHaveLength(count);
    let end = 0;
    for (const { at, bytes, name } of table) {
      const address = name === 'BAD' ? list : Reflect.get(words, prefix + name);
      expect(address, name).toBe(at);
      expect(at % (bytes || 8), name).toBe(0);
      expect(at, name).toBeGreaterThanOrEqual(end);
      end = at + (name === 'BAD' ? listBytes : bytes);
    }
    expect(end).toBeLessThanOrEqual(length);
    expect(PAGE).toContain(`## ${heading}, ${length} bytes`);
  });
});

const files = new TemporaryFiles();

afterAll(async () => {
  await closePools();
  files.remove();
});

type Way = (flow: Run, input: string) => Promise<string>;

const file: Way = (flow, input) => throughFiles(flow, files, input);
const pipe: Way = (flow, input) => throughPipe(flow, files, [input]);
const stream: Way = (flow, input) => throughStreams(flow, [input]);

/** The input, the number of threads, and how the input is read. */
const WAYS = [
  ['a file', 0, file],
  ['a file', 2, file],
  ['a pipe', 2, pipe],
  ['a stream', 0, stream],
  ['a stream', 2, stream],
] as const;

describe('a write beyond the end of a region', () => {
  const around = 'line\n'.repeat(600);
  const long = '.'.repeat(3000);
  it.each(
    WAYS.flatMap(([way, threads, run]) =>
      ['SCRATCH', 'OUTPUT', `SCRATCH ${long}`, `OUTPUT ${long}`].map(
        (what) => [what.slice(0, 10), way, threads, what, run] as const,
      ),
    ),
  )('ends the run: %s, from %s, on %i threads', async (_name, _way, threads, what, run) => {
    const { flow } = fakeFlow({ threads, batchBytes: 1024, maxLineBytes: 4096 });
    const failure = await run(flow, `${around}OVERRUN ${what}\n${around}`).then(
      (output) => output,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(RobotsFilterError);
    expect(failure).toMatchObject({
      code: 'worker',
      message: expect.stringMatching(
        /was written beyond its end; the output may hold wrong records/,
      ),
    });
    await flow.close();
  });

  it('is not reported if lines fill their regions to the last byte', async () => {
    const { flow } = fakeFlow({ threads: 2, batchBytes: 1024, maxLineBytes: 4096 });
    const lines = [1022, 1023, 1024, 1025, 4095, 4096, 4097].flatMap((bytes) => [
      '+'.repeat(bytes),
      'line',
      'x'.repeat(bytes),
    ]);
    for (const run of [file, pipe, stream]) {
      const output = (await run(flow, lines.join('\n'))).split('\n');
      expect(output.filter((line) => line === 'ok line')).toHaveLength(7);
      expect(output).toHaveLength(22);
    }
    await flow.close();
  });
});
