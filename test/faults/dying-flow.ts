import { closeSync, openSync, readFileSync } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { expect } from 'vitest';
import { RobotsFilterError } from '../../src/base/errors.js';
import type { Run } from '../../src/pipeline/run.js';
import type { Executor } from '../../src/workers/messages.js';
import { Pool } from '../../src/workers/pool.js';
import { fakeFlow, Sink, TemporaryFiles } from '../pipeline/flow-harness.js';
import { fakeJudge } from '../workers/fake-judge.js';

const DYING_KERNEL = new URL('./dying-kernel.mjs', import.meta.url).href;
/** The words of the plan, from its address on; see dying-kernel.mjs. */
const PLAN = 1024;
const PLAN_WORDS = {
  read: 0,
  readAfter: 1,
  write: 2,
  writeBytes: 3,
  wait: 4,
  step: 5,
  good: 14,
} as const;
const STEPS = 6;
const DEATHS = 7;

/** When threads die; see dying-kernel.mjs. */
export type Plan = Partial<Record<keyof typeof PLAN_WORDS, number>>;

/** Bytes of a batch, and of the longest line within the limit. */
export const BATCH = 8;
export const LONGEST = 200;

const files = new TemporaryFiles();
const pools = new Map<string, Executor>();

/** The pool with this many threads, for all runs: starting threads takes long. */
export function dyingPool(threads: number, joint = false): Executor {
  const name = `${threads} ${joint}`;
  const options = { threads, reader: true, kernel: DYING_KERNEL, heapMebibytes: 48 };
  const pool = pools.get(name) ?? new Pool({ ...options, joins: joint });
  pools.set(name, pool);
  return pool;
}

/** Call this function after all runs. */
export async function endDying(): Promise<void> {
  for (const pool of pools.values()) await pool.close();
  files.remove();
}

interface Passed {
  readonly text: string;
  readonly error: RobotsFilterError | undefined;
}

type Runs = Pick<Run, 'filter'>;

/** The sources and sinks of a flow. Each returns its output, even if the run failed. */
export const WAYS = {
  'file to file': async (flow: Runs, input: string): Promise<Passed> => {
    const from = openSync(files.file(input), 'r');
    const path = files.path();
    const to = openSync(path, 'w');
    const error = await failure(
      flow.filter({ kind: 'file', name: 'input', descriptor: from, offset: 0 }, to),
    );
    closeSync(from);
    closeSync(to);
    return { text: readFileSync(path, 'latin1'), error };
  },
  'file to stream': async (flow: Runs, input: string): Promise<Passed> => {
    const from = openSync(files.file(input), 'r');
    const sink = new Sink();
    const error = await failure(
      flow.filter({ kind: 'file', name: 'input', descriptor: from, offset: 0 }, sink),
    );
    closeSync(from);
    return { text: sink.text, error };
  },
  'pipe to stream': async (flow: Runs, input: string): Promise<Passed> => {
    const sink = new Sink();
    const error = await runFromPipe(flow, input, sink);
    return { text: sink.text, error };
  },
  'pipe to file': async (flow: Runs, input: string): Promise<Passed> => {
    const path = files.path();
    const to = openSync(path, 'w');
    const error = await runFromPipe(flow, input, to);
    closeSync(to);
    return { text: readFileSync(path, 'latin1'), error };
  },
  'stream to stream': async (flow: Runs, input: string): Promise<Passed> => {
    const sink = new Sink();
    const stream = Readable.from([Buffer.from(input, 'latin1')]);
    const error = await failure(flow.filter({ kind: 'stream', name: 'input', stream }, sink));
    return { text: sink.text, error };
  },
};
export type Way = keyof typeof WAYS;
export const ALL_WAYS = Object.keys(WAYS) as Way[]; // the keys of a literal

/** The pipe stays open while the run lasts: an end of the input does not end the run. */
async function runFromPipe(
  flow: Runs,
  input: string,
  output: number | Writable,
): Promise<RobotsFilterError | undefined> {
  const { reader, writer } = await files.pipe();
  const head = Buffer.alloc(0);
  const run = failure(
    flow.filter({ kind: 'pipe', name: 'input', descriptor: reader.fd, head }, output),
  );
  await writer.write(Buffer.from(input, 'latin1'));
  const error = await run;
  await writer.close();
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

export interface Outcome extends Passed {
  /** Steps that the threads took in shared memory. */
  readonly steps: number;
  /** Number of threads that died by the plan. */
  readonly deaths: number;
}

/** Runs a flow in which threads die as planned. */
export async function execute(
  way: Way,
  input: string,
  pool: Executor,
  plan: Plan = {},
  batchBytes = BATCH,
): Promise<Outcome> {
  const { flow, memory } = fakeFlow({ batchBytes, maxLineBytes: LONGEST, slots: 4, pool });
  const words = new Int32Array(memory.buffer, PLAN, PLAN_WORDS.good + 1);
  for (const [name, word] of Object.entries(PLAN_WORDS)) {
    words[word] = plan[name as keyof Plan] ?? 0; // a key of the literal
  }
  const { text, error } = await WAYS[way](flow, input);
  return { text, error, steps: words[STEPS] ?? 0, deaths: words[DEATHS] ?? 0 };
}

/**
 * Asserts the invariant of every run in which a thread has died: the error names where the output
 * ends, and the output is exactly the records before that place. Returns the number of the first
 * line whose record is missing.
 */
export function expectFailure(input: string, { text, error }: Passed): number {
  expect(error?.code).toBe('worker');
  const message = error?.message ?? '';
  const lines = input.split('\n');
  const named =
    /^input: a thread died on lines (\d+) to (\d+) \((\d+) bytes from byte (\d+)\): .+\. The records before these lines are written, (and none after|and a part of the lines may be)\. This is an error in robots-filter: please report it with these lines$/s.exec(
      message,
    );
  const idle =
    /^input: a thread died \(.+\)\. The records before line (\d+) are written, and none after\. This is an error in robots-filter: please report it$/s.exec(
      message,
    );
  expect(named ?? idle, message).not.toBeNull();
  const first = Number((named ?? idle)?.[1]);
  const before = `${lines.slice(0, first - 1).join('\n')}${first > 1 ? '\n' : ''}`;
  const least = fakeJudge(before, LONGEST).output;
  if (named === null) {
    expect(text).toBe(least);
    return first;
  }
  const [, , last, bytes, start] = named.map(Number);
  expect(start).toBe(before.length);
  const batch = lines.slice(first - 1, last).join('\n');
  expect(Math.abs(batch.length - (bytes ?? 0))).toBeLessThanOrEqual(1);
  if (named[5] === 'and none after') {
    expect(text).toBe(least);
  } else {
    const most = fakeJudge(`${before}${batch}\n`, LONGEST).output;
    expect(text.startsWith(least)).toBe(true);
    expect(most.startsWith(text)).toBe(true);
  }
  return first;
}
