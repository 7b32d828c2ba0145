import type { Executor } from './executor.js';
import type { Task, TaskEnd } from './messages.js';
import { Pool } from './pool.js';

/**
 * A pool in which the thread that asks is one of those that judge, which saves the start of a
 * thread: some 26 ms of a core. It does so where nothing else is its own to do, since workers read
 * and write themselves and none of them ever waits for a pipe.
 */
export class JointPool implements Executor {
  readonly threads: number;
  readonly mayBlock = true;
  readonly kernel: string | undefined;
  readonly #pool: Pool;

  /**
   * @param options.threads threads that judge, the one that asks included; at least 1
   * @param options.kernel URL of another module with an `instantiateKernel`, for tests
   */
  constructor(options: { threads: number; kernel?: string }) {
    this.threads = options.threads;
    this.kernel = options.kernel;
    this.#pool = new Pool({ ...options, threads: options.threads - 1 });
  }

  async run(task: Task): Promise<TaskEnd> {
    if (!this.#isHere(task)) return this.#pool.run(task);
    const { MainThread } = await import('./main-thread.js');
    return new MainThread(this.kernel).run(task);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  /** The last worker's task is, so that the threads have theirs by then. */
  #isHere(task: Task): boolean {
    return (
      task.role === 'compute' &&
      task.worker === this.threads - 1 &&
      task.input?.kind === 'file' &&
      task.output !== undefined
    );
  }
}
