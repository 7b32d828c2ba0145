import type { Transferable } from 'node:worker_threads';
import { Thread, type ThreadOptions } from './thread.js';

/** A task that waits for a thread, or for its result. */
interface QueuedTask<Task, Result> {
  readonly task: Task;
  readonly transfer: readonly Transferable[];
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A fixed number of threads that take tasks from one queue, in its order.
 *
 * Invariant: every task ends. When any thread ends, all tasks reject with its reason, those in the
 * queue and those of other threads as well, and so does every later task.
 */
export class ThreadQueue<Task, Result> {
  readonly #threads: readonly Thread<Task, Result>[];
  readonly #tasksAtHand: number;
  /** The tasks that no thread has. */
  readonly #queue: QueuedTask<Task, Result>[] = [];
  /** All tasks that have not ended. */
  readonly #open = new Set<QueuedTask<Task, Result>>();
  #hasEnded = false;
  /** Why a thread ended. */
  #reason: unknown;

  /**
   * @param tasksAtHand number of tasks that a thread holds: with 2, it need not wait for the next
   * @throws RobotsFilterError `worker` if a thread cannot be started
   */
  constructor(threads: number, options: ThreadOptions, tasksAtHand = 1) {
    this.#tasksAtHand = tasksAtHand;
    this.#threads = Array.from(
      { length: threads },
      () => new Thread<Task, Result>(options, (reason) => this.#fail(reason)),
    );
  }

  /** Number of tasks that have not ended. */
  get waiting(): number {
    return this.#open.size;
  }

  /** @param transfer what the thread takes over instead of a copy */
  run(task: Task, transfer: readonly Transferable[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) {
        reject(this.#reason);
        return;
      }
      const queued = { task, transfer, resolve, reject };
      this.#open.add(queued);
      this.#queue.push(queued);
      this.#handOut();
    });
  }

  /** Ends the threads and their tasks. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  #handOut(): void {
    while (this.#queue.length > 0) {
      const thread = this.#threads.reduce((a, b) => (b.waiting < a.waiting ? b : a));
      if (thread.waiting >= this.#tasksAtHand) return;
      const queued = this.#queue.shift();
      if (queued !== undefined) void this.#carryOut(thread, queued);
    }
  }

  async #carryOut(thread: Thread<Task, Result>, queued: QueuedTask<Task, Result>): Promise<void> {
    const { task, transfer, resolve, reject } = queued;
    try {
      resolve(await thread.run(task, transfer));
    } catch (error) {
      reject(error);
    }
    this.#open.delete(queued);
    this.#handOut();
  }

  #fail(reason: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#reason = reason;
    for (const { reject } of this.#open) reject(reason);
    this.#open.clear();
    this.#queue.length = 0;
  }
}
