import type { Executor } from './executor.js';
import { MainThread } from './main-thread.js';
import type { Task, TaskEnd } from './messages.js';
import { Pool } from './pool.js';

/**
 * A pool in which the calling thread judges too, which saves the start of a thread. The calling
 * thread judges only if the run goes from a file to a file. There the workers read and write, and
 * none of them waits for a pipe.
 */
export class JointPool implements Executor {
  readonly threads: number;
  readonly mayBlock = true;
  readonly kernel: string | undefined;
  readonly #pool: Pool;

  /**
   * @param options.threads threads that judge, the calling one included; at least 1
   * @param options.kernel URL of another module with an `instantiateKernel`, for tests
   */
  constructor(options: { threads: number; kernel?: string }) {
    this.threads = options.threads;
    this.kernel = options.kernel;
    this.#pool = new Pool({ ...options, threads: options.threads - 1 });
  }

  async run(task: Task): Promise<TaskEnd> {
    if (!this.#isHere(task)) return this.#pool.run(task);
    return new MainThread(this.kernel).run(task);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  /**
   * Whether the calling thread carries out the task. It takes the last worker's task, so that the
   * other threads have theirs by then.
   */
  #isHere(task: Task): boolean {
    return (
      task.role === 'compute' &&
      task.worker === this.threads - 1 &&
      task.input?.kind === 'file' &&
      task.output !== undefined
    );
  }
}
