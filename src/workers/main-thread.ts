import type { Executor } from './executor.js';
import type { Task, TaskEnd } from './messages.js';
import work from './worker.js';

/** More milliseconds than any run lasts; a timer takes no more. */
const FOREVER = 2 ** 31 - 1;

/**
 * Judges on the thread that asks: an input that is short has been judged before a thread has
 * started, which takes some 25 ms of a core, and 15 ms for what starts it. Between batches the
 * event loop runs.
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
    // To wait for a word of memory does not keep a process alive.
    const alive = setInterval(() => {}, FOREVER);
    try {
      return await work(task, this.mayBlock);
    } finally {
      clearInterval(alive);
    }
  }

  async close(): Promise<void> {}
}
