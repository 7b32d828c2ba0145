import { closeSync, openSync, readFileSync } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../src/errors.js';
import type { Flow } from '../../src/pipeline/flow.js';
import { Pool } from '../../src/workers/pool.js';
import { fakeFlow, Sink, TemporaryFiles } from '../pipeline/flow-harness.js';
import { Random } from '../random.js';
import { fakeJudge } from '../workers/fake-judge.js';

const DYING_KERNEL = new URL('./dying-kernel.mjs', import.meta.url).href;
const FAKE_KERNEL = new URL('../workers/fake-kernel.mjs', import.meta.url).href;
/** The words of the plan, from its address on; see dying-kernel.mjs. */
const PLAN = 1024;
const STEPS = 0;
const FIRST = 1;
const SECOND = 2;
const MANNER = 3;
const MOST = 4;
const DEATHS = 5;
const GOOD = 6;

const BATCH = 64;
const LONGEST = 200;

const files = new TemporaryFiles();
const pools = new Map<number, Pool>();

beforeAll(() => {
  for (const threads of [1, 2, 3]) {
    pools.set(threads, new Pool({ threads, reader: true, kernel: DYING_KERNEL }));
  }
});

afterAll(async () => {
  for (const pool of pools.values()) await pool.close();
  files.remove();
});

/** Lines of all kinds: they fill batches, need their number, yield output in parts, are longer than a batch or too long. */
function sample(random: Random, lines: number): string {
  const kinds = ['short', '', '!bad', '+much', '+more', 'r\r', 'x'.repeat(40), 'y'.repeat(150)];
  const rare = ['z'.repeat(300), `!${'w'.repeat(500)}`, 'v'.repeat(LONGEST)];
  let text = '';
  for (let i = 0; i < lines; i++) {
    text += `${random.pick(random.chance(0.1) ? rare : kinds)}${i}\n`;
  }
  return `${text}last`;
}

/** The ways in and out of a flow; each gives what came out, also where the run failed. */
const WAYS = {
  'file to file': async (flow: Flow, input: string) => {
    const from = openSync(files.file(input), 'r');
    const path = files.path();
    const to = openSync(path, 'w');
    const error = await failure(
      flow.run({ kind: 'file', name: 'input', descriptor: from, offset: 0 }, to),
    );
    closeSync(from);
    closeSync(to);
    return { text: readFileSync(path, 'latin1'), error };
  },
  'file to stream': async (flow: Flow, input: string) => {
    const from = openSync(files.file(input), 'r');
    const sink = new Sink();
    const error = await failure(
      flow.run({ kind: 'file', name: 'input', descriptor: from, offset: 0 }, sink),
    );
    closeSync(from);
    return { text: sink.text, error };
  },
  'pipe to stream': async (flow: Flow, input: string) => {
    const sink = new Sink();
    const error = await runFromPipe(flow, input, sink);
    return { text: sink.text, error };
  },
  'pipe to file': async (flow: Flow, input: string) => {
    const path = files.path();
    const to = openSync(path, 'w');
    const error = await runFromPipe(flow, input, to);
    closeSync(to);
    return { text: readFileSync(path, 'latin1'), error };
  },
  'stream to stream': async (flow: Flow, input: string) => {
    const sink = new Sink();
    const stream = Readable.from([Buffer.from(input, 'latin1')]);
    const error = await failure(flow.run({ kind: 'stream', name: 'input', stream }, sink));
    return { text: sink.text, error };
  },
};
type Way = keyof typeof WAYS;
const ALL_WAYS = Object.keys(WAYS) as Way[]; // the keys of a literal

async function runFromPipe(
  flow: Flow,
  input: string,
  output: number | Writable,
): Promise<RobotsFilterError | undefined> {
  const { reader, writer } = await files.pipe();
  const run = failure(
    flow.run({ kind: 'pipe', name: 'input', descriptor: reader.fd, head: Buffer.alloc(0) }, output),
  );
  // Whoever reads may be gone before all is written.
  await writer.write(Buffer.from(input, 'latin1')).catch(() => {});
  await writer.close();
  const error = await run;
  await reader.close();
  return error;
}

async function failure(run: Promise<unknown>): Promise<RobotsFilterError | undefined> {
  const error: unknown = await run.then(
    () => undefined,
    (reason) => reason,
  );
  if (error === undefined) return undefined;
  expect(error).toBeInstanceOf(RobotsFilterError);
  return error as RobotsFilterError; // as just asserted
}

interface Plan {
  readonly first?: number;
  readonly second?: number;
  /** Dies by `process.exit`. */
  readonly exits?: boolean;
  /** Octets that a write takes at a time. */
  readonly most?: number;
  readonly batchOctets?: number;
}

interface Outcome {
  readonly steps: number;
  readonly deaths: number;
  readonly error: RobotsFilterError | undefined;
}

/**
 * Runs a flow in which threads die as planned, and asserts what always holds: either everything is as if nobody had died,
 * counters included, or the run fails with a message that says where, and what came out is all that comes before.
 */
async function run(way: Way, input: string, threads: number, plan: Plan): Promise<Outcome> {
  const { flow, bad, memory } = fakeFlow({
    batchOctets: plan.batchOctets ?? BATCH,
    maxLineOctets: LONGEST,
    slots: 3,
    ...poolOf(threads),
  });
  const words = new Int32Array(memory.buffer, PLAN, 7);
  words[FIRST] = plan.first ?? 0;
  words[SECOND] = plan.second ?? 0;
  words[MANNER] = plan.exits ? 1 : 0;
  words[MOST] = plan.most ?? 0;
  const { text, error } = await WAYS[way](flow, input);
  const expected = fakeJudge(input, LONGEST);
  const context = `${way}, ${threads} threads, ${JSON.stringify(plan)}`;
  if (error === undefined) {
    if (text !== expected.output) expect(text, context).toBe(expected.output);
    expect(bad, context).toEqual(
      expected.bad.slice(0, 10).map((record) => ({ input: 'input', ...record })),
    );
    expect(flow.tally(), context).toMatchObject({
      records: expected.records,
      bad: expected.bad.length,
    });
    expect(flow.tally().outcomes[0]?.[0], context).toBe(expected.records);
    expect(flow.progress().octets, context).toBe(input.length);
  } else {
    expect(error.code, context).toBe('worker');
    expect(expected.output.startsWith(text), context).toBe(true);
    const lines = /lines (\d+) to (\d+) \(from byte (\d+) on/.exec(error.message);
    if (lines !== null) {
      const [, first, last, start] = lines.map(Number);
      const all = input.split('\n');
      const before = all.slice(0, (first ?? 0) - 1);
      const through = all.slice(0, last);
      expect(before.join('\n').length + (before.length > 0 ? 1 : 0), context).toBe(start);
      const least = fakeJudge(before.map((line) => `${line}\n`).join(''), LONGEST).output;
      const most = fakeJudge(through.map((line) => `${line}\n`).join(''), LONGEST).output;
      expect(text.length, context).toBeGreaterThanOrEqual(least.length);
      expect(text.length, context).toBeLessThanOrEqual(most.length);
    } else {
      // Of a pipe there is nothing to be read again.
      const died =
        way === 'pipe to file' && threads > 1
          ? /^input: a thread died( as it read on| twice\W)/
          : /^input: a thread died twice( as it read on|\W)/;
      expect(error.message, context).toMatch(died);
    }
  }
  return { steps: words[STEPS] ?? 0, deaths: words[DEATHS] ?? 0, error };
}

function poolOf(threads: number): { pool: Pool } {
  const pool = pools.get(threads);
  if (pool === undefined) throw new Error(`no pool of ${threads} threads`);
  return { pool };
}

describe('a worker that dies', () => {
  const input = sample(new Random(5), 16);

  for (const way of ALL_WAYS) {
    it(`at any step leaves nothing undone, ${way}`, async () => {
      const { steps } = await run(way, input, 1, {});
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
      for (let round = 0; round < 40; round++) {
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
      // Which steps come how often is up to the scheduler: on a busy machine seventy rounds once were too few by one.
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
    const { steps } = await run('file to file', input, 2, { batchOctets: 8 });
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
        const { flow, memory } = fakeFlow({ batchOctets: BATCH, ...poolOf(2) });
        new Int32Array(memory.buffer, PLAN, 7)[GOOD] = good;
        const { text, error } = await WAYS[way](flow, input);
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
    // A thread out of memory ends a process of Node 24, whatever its own limit is (nodejs/node#47224); there is nothing to recover then.
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
