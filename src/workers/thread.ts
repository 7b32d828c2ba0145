import { type Transferable, Worker } from 'node:worker_threads';
import { RobotsFilterError } from '../errors.js';
import { embedded } from '../files/embedded.js';
import { errorCode, errorText } from '../files/system-error.js';
import type { TaskAnswer, TaskMessage } from './task-server.js';

/** Settings of a thread. */
export interface ThreadOptions {
  /**
   * The file that the thread loads, which calls `serveTasks`; undefined in a bundle. A bundle has
   * only threads that judge, from the copy of their program.
   */
  readonly file: string | undefined;
  /** What the thread finds as its `workerData`. */
  readonly data?: unknown;
  /** Limit of the thread's heap. Default: Node's own. */
  readonly heapMebibytes?: number | undefined;
}

/** A task that the thread has not answered. */
interface Pending<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** A thread that carries out tasks. It does not keep the process alive while it has none. */
export class Thread<Task, Result> {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending<Result>>();
  #given = 0;
  #hasEnded = false;
  /** Why the thread ended. */
  #reason: unknown;

  /**
   * @param onEnd called with the reason when the thread has ended, after its tasks have rejected
   * @throws RobotsFilterError `worker` if the system refuses to start a thread
   */
  constructor({ file, data, heapMebibytes }: ThreadOptions, onEnd: (reason: unknown) => void) {
    const resourceLimits =
      heapMebibytes === undefined ? {} : { maxOldGenerationSizeMb: heapMebibytes };
    const options = { workerData: data, resourceLimits };
    try {
      this.#worker =
        file === undefined
          ? new Worker(embedded().judge(), { eval: true, ...options })
          : new Worker(file, options);
    } catch (error) {
      throw startError(error) ?? error;
    }
    this.#worker.unref();
    this.#worker.on('message', (answer: TaskAnswer<Result>) => this.#settle(answer));
    this.#worker.on('error', (error) => {
      this.#reason ??= startError(error) ?? error;
    });
    // Also after an error: the task no longer runs when it rejects.
    this.#worker.on('exit', (code) => {
      this.#hasEnded = true;
      this.#reason ??= new Error(`exited with code ${code}`);
      for (const { reject } of this.#pending.values()) reject(this.#reason);
      this.#pending.clear();
      onEnd(this.#reason);
    });
  }

  /** Number of tasks that the thread has not answered. */
  get waiting(): number {
    return this.#pending.size;
  }

  /**
   * Carries out a task. Rejects when the task throws or the thread ends, even while it starts.
   *
   * @param transfer what the thread takes over instead of a copy
   */
  run(task: Task, transfer: readonly Transferable[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) {
        reject(this.#reason);
        return;
      }
      const number = this.#given++;
      const message: TaskMessage<Task> = { number, task };
      this.#worker.postMessage(message, transfer);
      this.#pending.set(number, { resolve, reject });
      this.#worker.ref();
    });
  }

  /** Ends the thread and its tasks. */
  async end(): Promise<void> {
    this.#reason ??= new Error('the thread was ended');
    await this.#worker.terminate();
  }

  #settle(answer: TaskAnswer<Result>): void {
    const pending = this.#pending.get(answer.number);
    this.#pending.delete(answer.number);
    if (this.#pending.size === 0) this.#worker.unref();
    if ('error' in answer) pending?.reject(answer.error);
    else pending?.resolve(answer.result);
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
