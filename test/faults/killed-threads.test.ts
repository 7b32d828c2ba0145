import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Run } from '../../src/pipeline/run.js';
import { Pool } from '../../src/workers/pool.js';
import { fakeFlow, Sink, TemporaryFiles } from '../pipeline/flow-harness.js';
import { fakeJudge } from '../workers/fake-judge.js';
import { ALL_WAYS, BATCH, expectFailure, LONGEST, WAYS } from './dying-flow.js';

const MAIN = fileURLToPath(new URL('../../dist/cjs/main.cjs', import.meta.url));
const FAKE_KERNEL = new URL('../workers/fake-kernel.mjs', import.meta.url).href;
/** The word of the fake kernel that says that a line WAIT waits. */
const WAITING = 266;

const files = new TemporaryFiles();
/** All threads, in the order of their start: Node reports each as it is made. */
const threads = new Set<Worker>();
let onStart: (thread: Worker) => void = () => {};

function onWorker(thread: Worker): void {
  threads.add(thread);
  thread.once('exit', () => threads.delete(thread));
  onStart(thread);
}

beforeAll(() => {
  process.on('worker', onWorker);
});
afterEach(() => {
  onStart = () => {};
});
afterAll(() => {
  process.off('worker', onWorker);
  files.remove();
});

function newPool(count: number): Pool {
  const pool = new Pool({ threads: count, reader: true, kernel: FAKE_KERNEL });
  onTestFinished(() => pool.close());
  return pool;
}

async function terminateAll(): Promise<void> {
  await Promise.all([...threads].map((thread) => thread.terminate()));
}

const BEFORE = 'line 01\nline 02\nline 03\n';
const AFTER = 'line xx\n'.repeat(60);

describe.each(ALL_WAYS)('threads that are terminated from outside, %s', (way) => {
  it.each([1, 2, 3])(
    'while they start end the run before its first record: %i of 2',
    async (ends) => {
      let left = ends;
      onStart = (thread) => {
        if (left-- > 0) void thread.terminate();
      };
      // The threads have their tasks before the first of them dies. Without a task, its death would
      // not end the run.
      const run: Run['filter'] = (...parameters) => {
        const pool = newPool(2);
        const { flow } = fakeFlow({ pool, batchBytes: BATCH, maxLineBytes: LONGEST });
        return flow.filter(...parameters);
      };
      const passed = await WAYS[way]({ filter: run }, BEFORE + AFTER);
      expect(left).toBeLessThanOrEqual(0);
      // The other threads judge the batches that they have taken by then.
      const first = expectFailure(BEFORE + AFTER, passed);
      if (ends >= 2) expect(first).toBe(1);
    },
  );

  it('while they judge end the run before the first unfinished batch', async () => {
    const pool = newPool(2);
    const { flow, memory } = fakeFlow({ pool, batchBytes: BATCH, maxLineBytes: LONGEST });
    const input = `${BEFORE}WAIT\nxx\n${AFTER}`;
    const passed = WAYS[way](flow, input);
    const words = new Int32Array(memory.buffer);
    while (Atomics.load(words, WAITING) === 0) await setImmediate();
    await terminateAll();
    // One thread waits; the other may be judging an earlier batch.
    expect(expectFailure(input, await passed)).toBeLessThanOrEqual(4);
  });

  it.skipIf(way.startsWith('pipe'))('between two runs have no effect', async () => {
    const pool = newPool(2);
    await terminateAll();
    expect(threads.size).toBe(0);
    const { flow } = fakeFlow({ pool, batchBytes: BATCH, maxLineBytes: LONGEST });
    const { text, error } = await WAYS[way](flow, BEFORE);
    expect(error).toBe(undefined);
    expect(text).toBe(fakeJudge(BEFORE, LONGEST).output);
  });
});

describe('the thread that reads a pipe', () => {
  it('ends the run after the judged records if it dies', async () => {
    const { flow } = fakeFlow({ pool: newPool(2), batchBytes: BATCH, maxLineBytes: LONGEST });
    const { reader: from, writer: to } = await files.pipe();
    const sink = new Sink();
    const head = Buffer.alloc(0);
    const run = flow.filter({ kind: 'pipe', name: 'input', descriptor: from.fd, head }, sink).then(
      () => undefined,
      (error) => error,
    );
    await to.write(BEFORE);
    const { output } = fakeJudge(BEFORE, LONGEST);
    while (sink.text.length < output.length) await setImmediate();
    // The first two threads judge.
    const ended = [...threads][2]?.terminate();
    expect(ended).toBeDefined();
    // The reading thread ends when its read returns.
    await to.write('line 04\n');
    await ended;
    expect(expectFailure(`${BEFORE}line 04\n`, { text: sink.text, error: await run })).toBe(4);
    await to.close();
    await from.close();
  });
});

describe('the command line', () => {
  const run = promisify(execFile);

  /** Runs the program; returns its exit status and its output. */
  async function execute(
    command: string,
    parameters: readonly string[],
  ): Promise<{ code: unknown; stdout: string; stderr: string }> {
    return run(command, parameters).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );
  }

  it('exits with 2 if a thread dies, and keeps the old output', async () => {
    const robots = join(files.directory, 'robots.ndjson');
    writeFileSync(robots, '{"url":"https://example.com/robots.txt","status":404}\n');
    const urls = files.file('https://example.com/\n'.repeat(1000));
    const killer = join(files.directory, 'killer.mjs');
    writeFileSync(killer, "process.on('worker', (thread) => void thread.terminate());\n");
    const output = files.path();
    const { code, stdout, stderr } = await execute(process.execPath, [
      ...['--import', killer, MAIN, '--robots-dir', robots, '--threads', '2', urls, '-o', output],
    ]);
    expect(stderr).toContain(`${urls}: a thread died`);
    expect(stderr).toContain('please report it');
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(existsSync(output)).toBe(false);
  });
});
