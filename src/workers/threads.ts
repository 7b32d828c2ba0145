import { Piscina } from 'piscina';
import { RobotsFilterError } from '../errors.js';
import { errorCode, errorText } from '../files/system-error.js';

interface Thread<Task, Result> {
  readonly piscina: Piscina<Task, Result>;
  busy: boolean;
}

/** The file that the threads load, and their memory limit. */
export interface ThreadOptions {
  /** Path of the file that the threads load; its export carries out the tasks. */
  readonly entry: string;
  /** Limit of a thread's heap; undefined for Node's own. */
  readonly heapMebibytes: number | undefined;
}

/**
 * Threads that carry out one task at a time each. Idle threads do not keep the process alive.
 *
 * Invariant: a task belongs to one thread from its start. The task ends at the latest when that
 * thread dies, even if the thread was still starting. If no thread is idle, another is started.
 *
 * So each thread is a separate Piscina, which counts its first thread as ready at once. In a
 * Piscina of several threads, a task waits in a queue while a thread is started for the task. If
 * that thread dies before it is ready, the task is not rejected, and the run waits for ever.
 */
export class Threads<Task, Result> {
  readonly #options: ThreadOptions;
  readonly #threads = new Set<Thread<Task, Result>>();
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
    const thread = this.#idle() ?? this.#start();
    thread.busy = true;
    try {
      return await thread.piscina.run(task);
    } catch (error) {
      throw startError(error) ?? error;
    } finally {
      thread.busy = false;
    }
  }

  /** Ends the threads and their tasks. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#threads].map(({ piscina }) => piscina.destroy()));
  }

  #idle(): Thread<Task, Result> | undefined {
    for (const thread of this.#threads) if (!thread.busy) return thread;
    return undefined;
  }

  #start(): Thread<Task, Result> {
    const { entry, heapMebibytes } = this.#options;
    const piscina = startPiscina<Task, Result>({
      filename: entry,
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      ...(heapMebibytes === undefined
        ? {}
        : { resourceLimits: { maxOldGenerationSizeMb: heapMebibytes } }),
    });
    const thread = { piscina, busy: false };
    this.#threads.add(thread);
    // Piscina would start a new thread in place of the dead one, and not count the new thread as
    // ready at once.
    piscina.once('workerDestroy', () => {
      this.#threads.delete(thread);
      void piscina.destroy();
    });
    // A thread that dies without a task has lost nothing.
    piscina.on('error', () => {});
    return thread;
  }
}

/** @throws RobotsFilterError `worker` if the thread cannot be started */
function startPiscina<Task, Result>(
  options: ConstructorParameters<typeof Piscina>[0],
): Piscina<Task, Result> {
  try {
    return new Piscina<Task, Result>(options);
  } catch (error) {
    throw startError(error) ?? error;
  }
}

/** The error for a thread that the system refuses to start; undefined for any other error. */
function startError(cause: unknown): RobotsFilterError | undefined {
  const code = errorCode(cause);
  if (code !== 'ERR_WORKER_INIT_FAILED' && code !== 'EAGAIN' && code !== 'EMFILE') return undefined;
  return new RobotsFilterError(
    'worker',
    `A thread could not be started (${errorText(cause)}). Use fewer with --threads, or raise the ` +
      'limits of processes and open files (ulimit -u, ulimit -n)',
    { cause },
  );
}
