import { RobotsFilterError } from '../errors.js';
import { errorCode, errorText } from '../files/system-error.js';
import { entryFile } from './entry-file.js';
import { startSourceThread } from './source-thread.js';
import { startThread, type Thread, type ThreadOptions } from './thread.js';

/** A thread, and whether it carries out a task. */
interface Worker<Task, Result> {
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
  readonly #workers = new Set<Worker<Task, Result>>();
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

  #idle(): Worker<Task, Result> | undefined {
    for (const worker of this.#workers) if (!worker.isBusy) return worker;
    return undefined;
  }

  #start(): Worker<Task, Result> {
    // A bundle has no files for threads.
    const start = entryFile('judge') === undefined ? startSourceThread : startThread;
    try {
      const worker: Worker<Task, Result> = {
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
