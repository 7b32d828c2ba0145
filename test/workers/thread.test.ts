import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Thread } from '../../src/workers/thread.js';
import { ThreadQueue } from '../../src/workers/thread-queue.js';

const program = vi.hoisted(() => ({ text: '' }));

vi.mock('../../src/files/embedded.js', () => ({ embedded: () => ({ judge: () => program.text }) }));

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-thread-'));
afterAll(() => rmSync(directory, { recursive: true }));

const server = transformSync(
  readFileSync(new URL('../../src/workers/task-server.ts', import.meta.url), 'utf8'),
  { loader: 'ts', format: 'cjs' },
).code;

let files = 0;

/** A file whose threads carry out a function of a task. */
function fileOf(work: string): string {
  const file = join(directory, `${files++}.cjs`);
  writeFileSync(file, `${server}\nserveTasks(${work});`);
  return file;
}

/** Starts a thread from a file, or from a text as in a bundle. */
function start(from: 'file' | 'text', work: string, onEnd = () => {}): Thread<number, number> {
  program.text = `${server}\nserveTasks(${work});`;
  return new Thread({ file: from === 'file' ? fileOf(work) : undefined }, onEnd);
}

describe.each(['file', 'text'] as const)('a thread that is started from a %s', (from) => {
  it('carries out one task after another, and several at a time', async () => {
    const thread = start(from, 'async (task) => 2 * task');
    expect(await thread.run(1)).toBe(2);
    const both = [thread.run(2), thread.run(3)];
    expect(thread.waiting).toBe(2);
    expect(await Promise.all(both)).toEqual([4, 6]);
    expect(thread.waiting).toBe(0);
    await thread.end();
  });

  it('rejects a task that throws, and carries out the next', async () => {
    const thread = start(
      from,
      '(task) => { if (task === 1) throw new TypeError("one"); return 3; }',
    );
    await expect(thread.run(1)).rejects.toThrow(/^one$/);
    expect(await thread.run(2)).toBe(3);
    await thread.end();
  });

  it.each([
    ['throws outside of its task', '() => new Promise(() => setImmediate(() => x.y))', /x is not/],
    ['exits', '() => process.exit(7)', /^exited with code 7$/],
  ])('rejects its tasks and later ones if it %s', async (_, work, message) => {
    const onEnd = vi.fn();
    const thread = start(from, work, onEnd);
    await Promise.all([
      expect(thread.run(1)).rejects.toThrow(message),
      expect(thread.run(2)).rejects.toThrow(message),
    ]);
    expect(onEnd).toHaveBeenCalledTimes(1);
    await expect(thread.run(3)).rejects.toThrow(message);
  });

  it('rejects a task that it is ended in', async () => {
    const thread = start(from, '() => new Promise(() => {})');
    const rejected = expect(thread.run(1)).rejects.toThrow('the thread was ended');
    await thread.end();
    await rejected;
  });

  it('dies at once if its program is none', async () => {
    await expect(start(from, '(').run(1)).rejects.toThrow(/Unexpected token/);
  });
});

describe('a queue of tasks', () => {
  it('is worked off in its order by all threads, each with some tasks at hand', async () => {
    const file = fileOf(
      `async (task) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        return [task, require('node:worker_threads').threadId];
      }`,
    );
    const queue = new ThreadQueue<number, [number, number]>(2, { file }, 2);
    const tasksOf = new Map<number, number[]>();
    await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        const [task, thread] = await queue.run(number);
        expect(task).toBe(number);
        tasksOf.set(thread, [...(tasksOf.get(thread) ?? []), number]);
      }),
    );
    expect(tasksOf.size).toBe(2);
    for (const tasks of tasksOf.values()) expect(tasks).toEqual(tasks.toSorted((a, b) => a - b));
    expect(queue.waiting).toBe(0);
    await queue.close();
  });

  it('rejects all tasks if one thread ends, and later ones', async () => {
    const file = fileOf('(task) => task === 1 ? process.exit(7) : new Promise(() => {})');
    const queue = new ThreadQueue<number, number>(2, { file });
    const message = 'exited with code 7';
    const tasks = [0, 1, 2, 3].map((task) => expect(queue.run(task)).rejects.toThrow(message));
    await Promise.all(tasks);
    expect(queue.waiting).toBe(0);
    await expect(queue.run(4)).rejects.toThrow(message);
    await queue.close();
  });
});
