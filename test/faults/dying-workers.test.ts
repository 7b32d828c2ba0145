import { afterAll, describe, expect, it } from 'vitest';
import type { Executor } from '../../src/workers/messages.js';
import { every } from '../random/cases.js';
import { fakeJudge } from '../workers/fake-judge.js';
import {
  ALL_WAYS,
  BATCH,
  dyingPool,
  endDying,
  execute,
  expectFailure,
  LONGEST,
} from './dying-flow.js';

afterAll(endDying);

/** Batches of eight bytes, which hold one line each unless the test says otherwise. */
const batches = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${String(index).padStart(2)}\n`).join('');
const BEFORE = batches(10);
const AFTER = batches(90);

/** The pools that can judge: the number of threads, including the main one if the pool is joint. */
const POOLS = [
  ['1 thread', 1, false],
  ['2 threads', 2, false],
  ['3 threads', 3, false],
  ['3 threads, the main one among them', 3, true],
] as const;

/** The word of the fake kernel that says that the line SIGNAL has been judged. */
const SIGNALLED = 265;

/** A pool that judges the line SIGNAL once the run has been told that a thread has died. */
function signallingPool(pool: Executor): Executor {
  return {
    threads: pool.threads,
    mayBlock: pool.mayBlock,
    kernel: pool.kernel,
    close: () => pool.close(),
    run: (task) =>
      pool.run(task).catch((reason: unknown) => {
        const words = new Int32Array(task.memory.buffer);
        setImmediate(() => {
          Atomics.store(words, SIGNALLED, 1);
          Atomics.notify(words, SIGNALLED);
        });
        throw reason;
      }),
  };
}

describe.each(ALL_WAYS)('a thread that dies over a batch, %s', (way) => {
  const pools = POOLS.filter(([, , joint]) => !joint || way === 'file to file');
  // Exiting the main thread would exit the process.
  const deaths = [
    ['throws', 'THROW', 'thrown on purpose'],
    ['traps', 'TRAP', 'unreachable'],
    ['exits', 'EXIT', 'code: 7'],
  ] as const;
  const cases = pools.flatMap(([name, threads, joint]) =>
    deaths
      .filter(([what]) => !joint || what !== 'exits')
      .map(([what, line, reason]) => [what, name, threads, joint, line, reason] as const),
  );

  it.each(cases)('because it %s ends the run at that batch, with %s', async (...given) => {
    const [, , threads, joint, line, reason] = given;
    const batch = `${line}\n`.padEnd(BATCH - 1, 'x');
    const input = `${BEFORE}${batch}\n${AFTER}`;
    const outcome = await execute(way, input, dyingPool(threads, joint));
    expect(expectFailure(input, outcome)).toBe(11);
    expect(outcome.error?.message).toContain('died on lines 11 to');
    expect(outcome.error?.message).toContain(reason);
    // Batches before were written from the same slot.
    expect(outcome.error?.message).toContain('and none after');
    expect(outcome.text).toBe(fakeJudge(BEFORE, LONGEST).output);
    expect(outcome.error?.cause).toBeInstanceOf(Error);
  });

  it.skipIf(way.startsWith('pipe'))('leaves its pool usable for another run', async () => {
    const outcome = await execute(way, BEFORE, dyingPool(2));
    expect(outcome.error).toBe(undefined);
    expect(outcome.text).toBe(fakeJudge(BEFORE, LONGEST).output);
  });

  // A thread out of memory ends a process of Node 24, whatever its own limit is
  // (nodejs/node#47224).
  it.skipIf(Number.parseInt(process.versions.node, 10) >= 24)(
    'because it runs out of memory ends the run at that batch',
    async () => {
      const input = `${BEFORE}HOARD\nx\n${AFTER}`;
      const outcome = await execute(way, input, dyingPool(2));
      expect(expectFailure(input, outcome)).toBe(11);
      expect(outcome.error?.message).toContain('memory limit');
    },
  );

  it.each([2, 3])(
    'while another thread waits for it ends the run at that batch, with %i threads',
    async (n) => {
      // The first batch is judged after the second. The second waits, because it needs its line
      // number.
      const input = `WAIT\nx\nTHROW\n\nSIGNAL\n!bad\n${AFTER}`;
      const outcome = await execute(way, input, dyingPool(n), {}, 2 * BATCH);
      expect(expectFailure(input, outcome)).toBe(1);
      expect(outcome.text).toBe('');
    },
  );

  it.each([2, 3])(
    'while it waits for its turn ends the run at that batch, with %i threads',
    async (n) => {
      const input = `WAIT\nab\n!bad\nab\n${AFTER}`;
      const outcome = await execute(way, input, dyingPool(n), { wait: 1 });
      expect(outcome.deaths).toBe(1);
      expect(outcome.error?.message).toContain('waited on purpose');
      expect(expectFailure(input, outcome)).toBe(3);
      expect(outcome.text).toBe('ok WAIT\nok ab\n');
    },
  );

  // Workers write to a file themselves, and give out nothing before their turn.
  it.skipIf(way.endsWith('to file')).each([2, 3])(
    'while its first records wait to be written gives out none of them, with %i threads',
    async (n) => {
      // The second batch waits to be written with the record of "ab" in it. The first is judged
      // only once the run knows of the death.
      const input = `WAIT\nab\nab\n!bad\n${AFTER}`;
      const outcome = await execute(way, input, signallingPool(dyingPool(n)), { wait: 2 });
      expect(outcome.deaths).toBe(1);
      expect(expectFailure(input, outcome)).toBe(3);
      expect(outcome.error?.message).toContain('and none after');
      expect(outcome.text).toBe('ok WAIT\nok ab\n');
    },
  );
});

describe('a thread that dies while it reads', () => {
  const input = `${BEFORE}${AFTER}`;

  describe.each(['file to file', 'file to stream'] as const)('%s', (way) => {
    it.each([1, 2, 3].flatMap((threads) => [1, 2, 30].map((read) => [threads, read] as const)))(
      'ends the run before that batch, with %i threads, at read %i',
      async (threads, read) => {
        for (const readAfter of [0, 1]) {
          const outcome = await execute(way, input, dyingPool(threads), { read, readAfter });
          expect(outcome.deaths).toBe(1);
          expect(expectFailure(input, outcome)).toBe(read);
          expect(outcome.error?.message).toContain('code: 7');
        }
      },
    );
  });

  // A separate thread reads a pipe to a stream: see killed-threads.test.ts.
  it.each([2, 3].flatMap((threads) => [1, 2, 30].map((read) => [threads, read] as const)))(
    'as the producer of a pipe ends the run before that batch, with %i threads, at read %i',
    async (threads, read) => {
      for (const readAfter of [0, 1]) {
        const plan = { read, readAfter };
        const outcome = await execute('pipe to file', input, dyingPool(threads), plan);
        expect(outcome.deaths).toBe(1);
        // Lines that were offered but not taken are not judged.
        expect(expectFailure(input, outcome)).toBeLessThanOrEqual(read);
        expect(outcome.error?.message).toContain('code: 7');
      }
    },
  );
});

describe('a thread that dies while it writes', () => {
  const input = `${BEFORE}${AFTER}`;
  const RECORD = 'ok line 00\n'.length;

  // Another worker may leave its batch to the writer; therefore each write is one record.
  it.each([
    ['file to file', 1, 'nothing', 0],
    ['file to file', 1, 'a part', 5],
    ['file to file', 1, 'everything', RECORD],
    ['file to file', 3, 'nothing', 0],
    ['file to file', 3, 'a part', 5],
    ['file to file', 3, 'everything', RECORD],
    ['pipe to file', 2, 'a part', 5],
    ['pipe to file', 3, 'everything', RECORD],
  ] as const)(
    'says that a part of the batch may be written, %s, with %i threads, after %s',
    async (way, threads, _, writeBytes) => {
      const outcome = await execute(way, input, dyingPool(threads), { write: 7, writeBytes });
      expect(outcome.deaths).toBe(1);
      expect(expectFailure(input, outcome)).toBe(7);
      expect(outcome.error?.message).toContain('a part of the lines may be');
      const expected = fakeJudge(input, LONGEST).output;
      expect(outcome.text).toBe(expected.slice(0, 6 * RECORD + writeBytes));
    },
  );
});

describe('a thread that dies at any step', () => {
  const input = `short\n!bad\n+much\n+more\n${'y'.repeat(50)}\n${'z'.repeat(300)}\nlast`;
  const expected = fakeJudge(input, LONGEST).output;

  // The first two ways take the same steps, and share them.
  it.each([
    ['file to file', 1, every(2)],
    ['file to stream', 2, every(2)],
    ['stream to stream', 1, 1],
  ] as const)('ends the run at the line in the message, %s', async (way, from, by) => {
    const { steps } = await execute(way, input, dyingPool(1));
    expect(steps).toBeGreaterThan(60);
    let died = 0;
    for (let step = from; step <= steps; step += by) {
      const outcome = await execute(way, input, dyingPool(1), { step });
      if (outcome.deaths > 0) {
        expectFailure(input, outcome);
        died++;
      } else {
        // A thread takes fewer steps if it does not have to wait.
        expect(outcome.error).toBe(undefined);
        expect(outcome.text).toBe(expected);
      }
    }
    expect(died).toBeGreaterThan(60 / by);
  });
});

describe('a read that fails in the middle of a file', () => {
  it.each(['file to file', 'file to stream'] as const)(
    'ends the run after the records before it, %s',
    async (way) => {
      const input = batches(90);
      for (const good of [1, 2, 20]) {
        const { text, error } = await execute(way, input, dyingPool(2), { good });
        expect(error?.code).toBe('input');
        const at = (good - 1) * BATCH;
        expect(error?.message).toContain(`input: reading failed at byte ${at} (EIO`);
        expect(fakeJudge(input.slice(0, at), LONGEST).output.startsWith(text)).toBe(true);
        expect(text === '' || text.endsWith('\n')).toBe(true);
      }
    },
  );
});
