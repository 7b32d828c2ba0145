/** Starts and ends threads, and gives tasks to them. */

import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { RobotsFilterError } from '../base/errors.js';
import { embedded } from '../files/embedded.js';
import { entryFile } from '../files/package-file.js';
import { errorCode, errorText } from '../files/system-error.js';
import { MainThread } from './main-thread.js';
import type { Executor, Task, TaskEnd } from './messages.js';

/** A thread, and whether it carries out a task. */
interface ThreadOfPool<Task, Result> {
  readonly thread: Thread<Task, Result>;
  isBusy: boolean;
}

/**
 * Threads that carry out one task at a time each. Idle threads do not keep the process alive.
 *
 * Invariant: a task belongs to one thread from its start. The task ends at the latest when that
 * thread dies, even if the thread was still starting. If no thread is idle, another is started.
 */
export class Threads<Task, Result> {
  readonly #options: ThreadOptions;
  readonly #workers = new Set<ThreadOfPool<Task, Result>>();
  #closed = false;

  /**
   * @param count threads to start now, ahead of their tasks
   * @throws RobotsFilterError `worker` if a thread cannot be started
   */
  constructor(count: number, options: ThreadOptions) {
    this.#options = options;
    for (let i = 0; i < count; i++) this.#start();
  }

  /**
   * Carries out a task; rejects when the task throws or its thread dies.
   *
   * @throws RobotsFilterError `worker` if the thread cannot be started
   */
  async run(task: Task): Promise<Result> {
    if (this.#closed) throw new Error('the threads have been ended');
    const worker = this.#idle() ?? this.#start();
    worker.isBusy = true;
    try {
      return await worker.thread.run(task);
    } catch (error) {
      throw startError(error) ?? error;
    } finally {
      worker.isBusy = false;
    }
  }

  /** Ends the threads and their tasks. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#workers].map(({ thread }) => thread.end()));
  }

  #idle(): ThreadOfPool<Task, Result> | undefined {
    for (const worker of this.#workers) if (!worker.isBusy) return worker;
    return undefined;
  }

  #start(): ThreadOfPool<Task, Result> {
    // A bundle has no files for threads.
    const start = entryFile('judge') === undefined ? startSourceThread : startThread;
    try {
      const worker: ThreadOfPool<Task, Result> = {
        thread: start(this.#options, () => this.#workers.delete(worker)),
        isBusy: false,
      };
      this.#workers.add(worker);
      return worker;
    } catch (error) {
      throw startError(error) ?? error;
    }
  }
}

/**
 * The threads of a process that judge. They start with the pool, while the table is loaded. Idle
 * threads do not keep the process alive.
 */
export class Pool extends Threads<Task, TaskEnd> implements Executor {
  readonly threads: number;
  readonly mayBlock = true;
  readonly kernel: string | undefined;
  readonly #joins: boolean;

  /**
   * @param options.threads threads that judge; one for each core is fastest
   * @param options.reader whether to start an additional thread that reads a pipe
   * @param options.joins whether the calling thread is one of those that judge, which saves the
   *   start of a thread. It then judges if the run goes from a file to a file: there the workers
   *   read and write, and none of them waits for a pipe
   * @param options.kernel URL of another module with an `instantiateKernel`, for tests
   * @param options.heapMebibytes limit of a thread's heap; by default Node's own
   * @throws RobotsFilterError `worker` if a thread cannot be started
   */
  constructor(options: {
    threads: number;
    reader?: boolean;
    joins?: boolean;
    kernel?: string;
    heapMebibytes?: number;
  }) {
    const { threads, reader = false, joins = false, kernel, heapMebibytes } = options;
    super(threads + (reader ? 1 : 0) - (joins ? 1 : 0), { heapMebibytes });
    this.threads = threads;
    this.kernel = kernel;
    this.#joins = joins;
  }

  override async run(task: Task): Promise<TaskEnd> {
    return this.#isHere(task) ? new MainThread(this.kernel).run(task) : super.run(task);
  }

  /**
   * Whether the calling thread carries out the task. It takes the last worker's task, so that the
   * other threads have theirs by then.
   */
  #isHere(task: Task): boolean {
    return (
      this.#joins &&
      task.role === 'compute' &&
      task.worker === this.threads - 1 &&
      task.input?.kind === 'file' &&
      task.output !== undefined
    );
  }
}

/** The error for a thread that the system or Node refuses to start; undefined for any other. */
function startError(cause: unknown): RobotsFilterError | undefined {
  const code = errorCode(cause);
  if (code === 'ERR_ACCESS_DENIED') {
    return new RobotsFilterError(
      'worker',
      "Node's permission model forbids threads. Start Node with --allow-worker too",
      { cause },
    );
  }
  if (code !== 'ERR_WORKER_INIT_FAILED' && code !== 'EAGAIN' && code !== 'EMFILE') return undefined;
  return new RobotsFilterError(
    'worker',
    `A thread could not be started (${errorText(cause)}). Use fewer with --threads, or raise the ` +
      'limits of processes and open files (ulimit -u, ulimit -n)',
    { cause },
  );
}

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
 * Starts a thread that judges, from the copy of its program. A bundle has neither the files of this
 * package nor those of piscina.
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

/** Settings of a thread. */
interface ThreadOptions {
  /** Limit of the thread's heap; undefined for Node's own. */
  readonly heapMebibytes: number | undefined;
  /** What the thread loads. Default `judge`. */
  readonly entry?: 'judge' | 'serve';
}

/** A thread that carries out one task at a time. It does not keep the process alive while idle. */
interface Thread<Task, Result> {
  /** Carries out a task; rejects when the task throws or the thread dies. */
  run(task: Task): Promise<Result>;
  /** Ends the thread and its task. */
  end(): Promise<void>;
}

/**
 * Starts a thread from a file of the package.
 *
 * Each thread is a separate Piscina, which counts its first thread as ready at once. In a Piscina
 * of several threads, a task waits in a queue while a thread is started for the task. If that
 * thread dies before it is ready, the task is not rejected, and the run waits for ever.
 *
 * @param onDeath called when the thread has died
 */
function startThread<Task, Result>(
  { heapMebibytes, entry = 'judge' }: ThreadOptions,
  onDeath: () => void,
): Thread<Task, Result> {
  const Piscina = loadPiscina();
  const piscina = new Piscina<Task, Result>({
    filename: entryFile(entry) ?? null,
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    ...(heapMebibytes === undefined
      ? {}
      : { resourceLimits: { maxOldGenerationSizeMb: heapMebibytes } }),
  });
  // Piscina would start a new thread in place of the dead one, and not count the new thread as
  // ready at once.
  piscina.once('workerDestroy', () => {
    onDeath();
    void piscina.destroy();
  });
  // A thread that dies without a task has lost nothing.
  piscina.on('error', () => {});
  return { run: (task) => piscina.run(task), end: () => piscina.destroy() };
}

let loaded: typeof Piscina | undefined;

/**
 * Loads piscina for the first thread, from the file that the build makes of it. Bundlers cannot see
 * that it is needed: it starts threads from another such file, so no bundle could use it.
 */
export function loadPiscina(): typeof Piscina {
  loaded ??= (
    createRequire(import.meta.filename)(entryFile('piscina/index') ?? 'piscina') as {
      Piscina: typeof Piscina;
    }
  ).Piscina;
  return loaded;
}
