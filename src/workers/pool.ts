import { entryFile } from './entry-file.js';
import type { Executor } from './executor.js';
import type { Task, TaskEnd } from './messages.js';
import { Threads } from './threads.js';

/**
 * The threads of a process that judge. They start with the pool, so that this overlaps with the
 * loading of a table; idle ones do not keep the process alive.
 */
export class Pool implements Executor {
  readonly threads: number;
  readonly mayBlock = true;
  readonly kernel: string | undefined;
  readonly #threads: Threads<Task, TaskEnd>;

  /**
   * @param options.threads threads that judge and are started at once; as many as cores measured
   *   best. Further ones start with their tasks
   * @param options.reader whether a pipe will be read: the thread for that starts at once, too
   * @param options.kernel URL of another module with an `instantiateKernel`, for tests
   * @param options.heapMebibytes what the heap of a thread may grow to, where that is not Node's
   *   own bound
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
      entry: entryFile('judge'),
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
