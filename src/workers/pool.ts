import { entryFile } from './entry-file.js';
import type { Executor } from './executor.js';
import type { Task, TaskEnd } from './messages.js';
import { Threads } from './threads.js';

/**
 * The threads of a process that judge. They start with the pool, while the table is loaded. Idle
 * threads do not keep the process alive.
 */
export class Pool implements Executor {
  readonly threads: number;
  readonly mayBlock = true;
  readonly kernel: string | undefined;
  readonly #threads: Threads<Task, TaskEnd>;

  /**
   * @param options.threads threads that judge; one for each core is fastest
   * @param options.reader whether to start an additional thread that reads a pipe
   * @param options.kernel URL of another module with an `instantiateKernel`, for tests
   * @param options.heapMebibytes limit of a thread's heap; by default Node's own
   * @throws RobotsFilterError `worker` if a thread cannot be started
   */
  constructor(options: {
    threads: number;
    reader?: boolean;
    kernel?: string;
    heapMebibytes?: number;
  }) {
    this.threads = options.threads;
    this.kernel = options.kernel;
    this.#threads = new Threads(options.threads + (options.reader ? 1 : 0), {
      file: entryFile('judge'),
      heapMebibytes: options.heapMebibytes,
    });
  }

  run(task: Task): Promise<TaskEnd> {
    return this.#threads.run(task);
  }

  async close(): Promise<void> {
    await this.#threads.close();
  }
}
