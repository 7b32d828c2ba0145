import { Worker } from 'node:worker_threads';
import { embedded } from '../files/embedded.js';
import type { Thread, ThreadOptions } from './thread.js';

/** What a thread answers to a task. */
type Answer<Result> = { readonly result: Result } | { readonly error: unknown };

/** Runs the program of the threads, and gives it one message after another as its tasks. */
const SERVE = `const { parentPort } = require('node:worker_threads');
parentPort.on('message', async (task) => {
  try {
    parentPort.postMessage({ result: await module.exports(task) });
  } catch (error) {
    parentPort.postMessage({ error });
  }
});`;

/** The task that a thread carries out. */
interface Pending<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Starts a thread that judges, from a text. A bundle has neither the files of this package nor
 * those of Piscina, so thread.ts cannot start threads there.
 *
 * @param onDeath called when the thread has died
 */
export function startSourceThread<Task, Result>(
  { heapMebibytes }: ThreadOptions,
  onDeath: () => void,
): Thread<Task, Result> {
  const source = `${embedded().judge()}\n${SERVE}`;
  const limits =
    heapMebibytes === undefined
      ? {}
      : { resourceLimits: { maxOldGenerationSizeMb: heapMebibytes } };
  const worker = new Worker(source, { eval: true, ...limits });
  worker.unref();
  let pending: Pending<Result> | undefined;
  let death: unknown;
  const settle = (end: (pending: Pending<Result>) => void): void => {
    worker.unref();
    const settled = pending;
    pending = undefined;
    if (settled !== undefined) end(settled);
  };
  worker.on('message', (answer: Answer<Result>) =>
    settle(({ resolve, reject }) =>
      'error' in answer ? reject(answer.error) : resolve(answer.result),
    ),
  );
  worker.on('error', (error) => {
    death = error;
    settle(({ reject }) => reject(error));
  });
  worker.on('exit', () => {
    death ??= new Error('the thread has ended');
    settle(({ reject }) => reject(death));
    onDeath();
  });
  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        if (death !== undefined) {
          reject(death);
          return;
        }
        pending = { resolve, reject };
        worker.ref();
        worker.postMessage(task);
      }),
    async end() {
      await worker.terminate();
    },
  };
}
