import { Thread, type ThreadOptions } from './thread.js';

/**
 * Threads that carry out one task at a time each. Idle threads do not keep the process alive.
 *
 * Invariant: a task belongs to one thread from its start. The task ends at the latest when that
 * thread dies, even if the thread was still starting. If no thread is idle, another is started.
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
    return (this.#idle() ?? this.#start()).run(task);
  }

  /** Ends the threads and their tasks. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #idle(): Thread<Task, Result> | undefined {
    for (const thread of this.#threads) if (thread.waiting === 0) return thread;
    return undefined;
  }

  #start(): Thread<Task, Result> {
    const thread: Thread<Task, Result> = new Thread(this.#options, () =>
      this.#threads.delete(thread),
    );
    this.#threads.add(thread);
    return thread;
  }
}
