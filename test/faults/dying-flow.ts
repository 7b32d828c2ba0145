import { closeSync, openSync, readFileSync } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { expect } from 'vitest';
import { RobotsFilterError } from '../../src/errors.js';
import type { BadRecord } from '../../src/pipeline/bad-record.js';
import type { Flow } from '../../src/pipeline/flow.js';
import { Pool } from '../../src/workers/pool.js';
import { fakeFlow, Sink, TemporaryFiles } from '../pipeline/flow-harness.js';
import type { Random } from '../random.js';
import { fakeJudge } from '../workers/fake-judge.js';
import { type Order, Schedule } from './schedule.mjs';

const DYING_KERNEL = new URL('./dying-kernel.mjs', import.meta.url).href;
/** The words of the plan, from its address on; see dying-kernel.mjs. */
const PLAN = 1024;
const STEPS = 0;
const FIRST = 1;
const SECOND = 2;
const MANNER = 3;
const MOST = 4;
const DEATHS = 5;
const GOOD = 6;
const HEIR = 7;
const THREADS = 10;
const PLAN_WORDS = 12;

/** Octets of a batch, and of the longest line that is none too long. */
export const BATCH = 64;
export const LONGEST = 200;

/**
 * Milliseconds after which a run is taken for one that does not end; the longest of thousands took
 * less than two seconds.
 */
const PATIENCE = 60_000;

const files = new TemporaryFiles();
const pools = new Map<number, Pool>();

/** The pool of so many threads, for all runs: to start threads takes long. */
export function dyingPool(threads: number): Pool {
  const pool = pools.get(threads) ?? new Pool({ threads, reader: true, kernel: DYING_KERNEL });
  pools.set(threads, pool);
  return pool;
}

/** To be called when all runs are over. */
export async function endDying(): Promise<void> {
  for (const pool of pools.values()) await pool.close();
  files.remove();
}

/**
 * Lines of all kinds: they fill batches, need their number, yield output in parts, are longer than
 * a batch or too long.
 */
export function sample(random: Random, lines: number): string {
  const kinds = ['short', '', '!bad', '+much', '+more', 'r\r', 'x'.repeat(40), 'y'.repeat(150)];
  const rare = ['z'.repeat(300), `!${'w'.repeat(500)}`, 'v'.repeat(LONGEST)];
  let text = '';
  for (let i = 0; i < lines; i++) {
    text += `${random.pick(random.chance(0.1) ? rare : kinds)}${i}\n`;
  }
  return `${text}last`;
}

/** The ways in and out of a flow; each gives what came out, also where the run failed. */
export const WAYS = {
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
export type Way = keyof typeof WAYS;
export const ALL_WAYS = Object.keys(WAYS) as Way[]; // the keys of a literal

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

export interface Plan {
  readonly first?: number;
  readonly second?: number;
  /** The step of its own at which the thread dies that came in place of the first. */
  readonly heir?: number;
  /** Dies by `process.exit`. */
  readonly exits?: boolean;
  /** Octets that a write takes at a time. */
  readonly most?: number;
  readonly batchOctets?: number;
  /** Reads of the file that succeed before one fails. */
  readonly good?: number;
  /** Has threads take their steps one at a time; see schedule.mjs. */
  readonly order?: Order;
}

export interface Outcome {
  readonly steps: number;
  readonly deaths: number;
  readonly error: RobotsFilterError | undefined;
}

interface Execution extends Outcome {
  readonly text: string;
  readonly flow: Flow;
  readonly bad: readonly BadRecord[];
}

/** Runs a flow in which threads die as planned. */
export async function execute(
  way: Way,
  input: string,
  threads: number,
  plan: Plan,
): Promise<Execution> {
  const { flow, bad, memory } = fakeFlow({
    batchOctets: plan.batchOctets ?? BATCH,
    maxLineOctets: LONGEST,
    slots: 3,
    pool: dyingPool(threads),
  });
  const words = new Int32Array(memory.buffer, PLAN, PLAN_WORDS);
  words[FIRST] = plan.first ?? 0;
  words[SECOND] = plan.second ?? 0;
  words[MANNER] = plan.exits ? 1 : 0;
  words[MOST] = plan.most ?? 0;
  words[GOOD] = plan.good ?? 0;
  words[HEIR] = plan.heir ?? 0;
  words[THREADS] = threads;
  const release = plan.order === undefined ? () => {} : orderSteps(memory.buffer, plan.order);
  let stuck: string | undefined;
  const watch = setTimeout(() => {
    stuck = `no end: ${way}, ${threads} threads, ${JSON.stringify(plan)}, ${shownWords(memory)}`;
    flow.cancel();
  }, PATIENCE);
  try {
    const { text, error } = await WAYS[way](flow, input);
    if (stuck !== undefined) throw new Error(stuck);
    return { text, error, flow, bad, steps: words[STEPS] ?? 0, deaths: words[DEATHS] ?? 0 };
  } finally {
    clearTimeout(watch);
    release();
  }
}

/**
 * The words of the plan, the schedule and the ring's beginning that are not 0, with their
 * addresses.
 */
function shownWords({ buffer }: WebAssembly.Memory): string {
  const first = Array.from(new Int32Array(buffer, PLAN, 512), (word, at) => [PLAN + 4 * at, word]);
  const ring = Array.from(new Int32Array(buffer, 2 ** 17, 256), (word, at) => [
    2 ** 17 + 4 * at,
    word,
  ]);
  return [...first, ...ring]
    .filter(([, word]) => word !== 0)
    .map((pair) => pair.join(' '))
    .join(', ');
}

/**
 * Has the threads of a memory take their steps in this order; returns what ends that for the main
 * thread.
 */
function orderSteps(memory: ArrayBufferLike, order: Order): () => void {
  const schedule = new Schedule(memory);
  schedule.set(order);
  const { notify } = Atomics;
  Atomics.notify = (words: Int32Array | BigInt64Array, index: number, count?: number) => {
    if (words instanceof BigInt64Array) return notify(words, index, count);
    if (words.buffer === memory) schedule.notify(words, index, count);
    return notify(words, index, count);
  };
  return () => {
    Atomics.notify = notify;
  };
}

/**
 * As `execute`, and asserts what always holds: either everything is as if nobody had died, counters
 * included, or the run fails with a message that says where, and what came out is all that comes
 * before.
 */
export async function run(way: Way, input: string, threads: number, plan: Plan): Promise<Outcome> {
  const { text, error, flow, bad, steps, deaths } = await execute(way, input, threads, plan);
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
  return { steps, deaths, error };
}

/**
 * Steps that a run takes in which nobody dies: the fewest of several, as threads take more where
 * they have to wait.
 */
export async function fewestSteps(
  way: Way,
  input: string,
  threads: number,
  plan: Plan,
): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    const { steps } = await run(way, input, threads, plan);
    fewest = Math.min(fewest, steps);
  }
  return fewest;
}
