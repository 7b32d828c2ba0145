import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Pool } from '../../src/workers/pool.js';
import { fakeFlow } from '../pipeline/flow-harness.js';
import { Random } from '../random.js';
import { fakeJudge } from '../workers/fake-judge.js';
import {
  ALL_WAYS,
  BATCH,
  endDying,
  execute,
  fewestSteps,
  LONGEST,
  run,
  sample,
  WAYS,
} from './dying-flow.js';

const FAKE_KERNEL = new URL('../workers/fake-kernel.mjs', import.meta.url).href;

afterAll(endDying);

describe('a worker that dies', () => {
  const input = sample(new Random(5), 16);

  for (const way of ALL_WAYS) {
    it(`at any step leaves nothing undone, ${way}`, async () => {
      const steps = await fewestSteps(way, input, 1, {});
      expect(steps).toBeGreaterThan(100);
      let recovered = 0;
      let unknowable = 0;
      for (let first = 1; first <= steps; first++) {
        const { deaths, error } = await run(way, input, 1, { first });
        if (deaths === 0) continue; // a thread waited fewer times than before
        if (error === undefined) recovered++;
        else if (error.message.includes('while it wrote')) unknowable++;
      }
      expect(recovered + unknowable).toBeGreaterThan(0.6 * steps);
      // The two steps around a write, and those between it and the note of it.
      expect(unknowable > 0).toBe(way === 'file to file');
      expect(unknowable).toBeLessThan(steps / 8);
    });

    it(`beside others, by exits and throws, leaves nothing undone, ${way}`, async () => {
      const random = new Random(17);
      let recovered = 0;
      // A death between reading a pipe and noting it ends the run; of forty it may be half, as the
      // scheduler has it.
      for (let round = 0; round < 40 || (round < 400 && recovered <= 15); round++) {
        const threads = random.between(2, 3);
        const plan = {
          first: random.between(1, 400),
          exits: random.chance(0.3),
          most: random.pick([0, 1, 50]),
        };
        const { deaths, error } = await run(way, sample(random, 60), threads, plan);
        if (deaths > 0 && error === undefined) recovered++;
      }
      expect(recovered).toBeGreaterThan(15);
    });

    it(`twice over one batch ends the run there, over two does not, ${way}`, async () => {
      const random = new Random(23);
      const ends = { recovered: 0, lines: 0 };
      const enough = () => ends.recovered > 5 && ends.lines > 3;
      // Which steps come how often is up to the scheduler: on a busy machine seventy rounds once
      // were too few by one.
      for (let round = 0; round < 70 || (round < 500 && !enough()); round++) {
        const first = random.between(1, 400);
        // A death costs a few steps; then the same batch is at hand, or the next.
        const second = first + random.between(1, 40);
        const plan = { first, second, exits: random.chance(0.1), most: random.pick([0, 20]) };
        const { deaths, error } = await run(way, sample(random, 60), random.between(1, 3), plan);
        if (deaths < 2) continue;
        if (error === undefined) ends.recovered++;
        else if (error.message.includes('twice over lines ')) ends.lines++;
      }
      expect(ends.recovered).toBeGreaterThan(5);
      expect(ends.lines).toBeGreaterThan(3);
    });
  }
});

describe('a batch that is done before an earlier one', () => {
  // Of eight octets a batch: the second is done, and the third judged, while the first waits.
  const input = 'WAIT\nsecond\nSIGNAL\nfourth\n!fifth\n';

  for (const way of ['file to file', 'pipe to file'] as const) {
    it(`is left to be written with that, ${way}`, async () => {
      const { error, steps } = await run(way, input, 2, { batchOctets: 8 });
      expect(error).toBe(undefined);
      expect(steps).toBeGreaterThan(100);
    });
  }

  it('is written once, whichever worker dies at any step', async () => {
    const steps = await fewestSteps('file to file', input, 2, { batchOctets: 8 });
    let recovered = 0;
    for (let first = 1; first <= steps; first++) {
      const { deaths, error } = await run('file to file', input, 2, { batchOctets: 8, first });
      if (deaths > 0 && error === undefined) recovered++;
    }
    expect(recovered).toBeGreaterThan(0.4 * steps);
  });
});

describe('a read that fails in the midst of a file', () => {
  for (const way of ['file to file', 'file to stream'] as const) {
    it(`ends the run with what came before it, ${way}`, async () => {
      const input = 'a line\n'.repeat(5000);
      for (const good of [1, 2, 20, 200]) {
        const { text, error } = await execute(way, input, 2, { good });
        expect(error?.code).toBe('input');
        const [, at = ''] =
          /^input: reading failed at byte (\d+) \(EIO/.exec(error?.message ?? '') ?? [];
        // One read to a batch, or somewhat more: what was read of a line is asked for once.
        expect(Number(at)).toBeGreaterThan((good - 2) * 50);
        expect(Number(at)).toBeLessThanOrEqual((good - 1) * BATCH);
        expect(fakeJudge(input, LONGEST).output.startsWith(text)).toBe(true);
        expect(text.length).toBeLessThanOrEqual(
          fakeJudge(input.slice(0, Number(at)), LONGEST).output.length,
        );
        expect(text === '' || text.endsWith('\n')).toBe(true);
      }
    });
  }
});

describe('a line over which the kernel', () => {
  /** The word that says that it does so only once; see fake-kernel.mjs. */
  const ONCE = 264;
  const before = 'good\n'.repeat(500);
  let pool: Pool;

  beforeAll(() => {
    pool = new Pool({ threads: 2, reader: true, kernel: FAKE_KERNEL, heapMebibytes: 48 });
  });
  afterAll(() => pool.close());

  for (const [line, what, reason] of [
    ['THROW', 'throws', 'thrown on purpose'],
    ['EXIT', 'ends its thread', 'code: 7'],
    ['TRAP', 'traps', 'unreachable'],
    ['HOARD', 'runs out of memory', 'memory limit'],
  ] as const) {
    // A thread out of memory ends a process of Node 24, whatever its own limit is
    // (nodejs/node#47224); there is nothing to recover then.
    const survives = line !== 'HOARD' || Number.parseInt(process.versions.node, 10) < 24;
    for (const way of ALL_WAYS) {
      it.runIf(survives)(
        `${what} once is judged again, and always ends the run before it, ${way}`,
        async () => {
          const input = `${before}${line}\n${'more\n'.repeat(3000)}`;
          const once = fakeFlow({ pool, batchOctets: 1024 });
          new Int32Array(once.memory.buffer)[ONCE] = 1;
          const recovered = await WAYS[way](once.flow, input);
          expect(new Int32Array(once.memory.buffer)[ONCE]).toBe(2);
          expect(recovered.error).toBe(undefined);
          expect(recovered.text === fakeJudge(input, LONGEST).output).toBe(true);
          expect(once.flow.tally().records).toBe(3501);

          const always = fakeFlow({ pool, batchOctets: 1024 });
          const { text, error } = await WAYS[way](always.flow, input);
          expect(error?.code).toBe('worker');
          expect(error?.message).toContain(reason);
          const [, first = 0, last = 0] = /lines (\d+) to (\d+)/.exec(error?.message ?? '') ?? [];
          expect(Number(first)).toBeLessThanOrEqual(501);
          expect(Number(last)).toBeGreaterThanOrEqual(501);
          expect(text).toBe('ok good\n'.repeat(Number(first) - 1));
        },
      );
    }
  }
});
