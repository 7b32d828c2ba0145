import type { Executor, Task, TaskEnd } from './messages.js';
import work from './worker.js';

/** The longest interval of a timer, in milliseconds. */
const FOREVER = 2 ** 31 - 1;

/**
 * Judges on the calling thread. A short input is finished before another thread would have started.
 * The event loop runs between batches.
 */
export class MainThread implements Executor {
  readonly threads = 1;
  readonly mayBlock = false;
  readonly kernel: string | undefined;

  /** @param kernel URL of another module with an `instantiateKernel`, for tests */
  constructor(kernel?: string) {
    this.kernel = kernel;
  }

  async run(task: Task): Promise<TaskEnd> {
    // Waiting for a word of memory does not keep a process alive.
    const alive = setInterval(() => {}, FOREVER);
    try {
      return await work(task, this.mayBlock);
    } finally {
      clearInterval(alive);
    }
  }

  async close(): Promise<void> {}
}
