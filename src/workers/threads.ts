import { Piscina } from 'piscina';

interface Thread<Task, Result> {
  readonly piscina: Piscina<Task, Result>;
  busy: boolean;
}

/** What threads are to be. */
export interface ThreadOptions {
  /** Path of the file that they load; what it exports carries out the tasks. */
  readonly entry: string;
  /** What the heap of a thread may grow to, where that is not Node's own bound. */
  readonly heapMebibytes: number | undefined;
}

/**
 * Threads that carry out one task at a time each. Idle ones do not keep the process alive.
 *
 * Invariant: a task is a thread's from when it is asked for until it ends, and ends with its thread
 * at the latest, be that still starting. No task waits for a thread to become free or ready: if
 * none is idle, one more is started for it.
 *
 * Hence each thread is a Piscina of its own, which takes its first thread for ready at once. In a
 * Piscina of several, a task that finds none ready waits in a queue beside the thread that is
 * started for it. Where that dies before it is ready, nobody is told and no other is started: the
 * task waits for ever, and with it all who wait for the batch that it was to go on with.
 */
export class Threads<Task, Result> {
  readonly #options: ThreadOptions;
  readonly #threads = new Set<Thread<Task, Result>>();
  #closed = false;

  /** @param count threads to be started now, ahead of their tasks */
  constructor(count: number, options: ThreadOptions) {
    this.#options = options;
    for (let i = 0; i < count; i++) this.#start();
  }

  /** Carries out a task; rejects when the task throws, or its thread dies or cannot be started. */
  async run(task: Task): Promise<Result> {
    if (this.#closed) throw new Error('the threads have been ended');
    const thread = this.#idle() ?? this.#start();
    thread.busy = true;
    try {
      return await thread.piscina.run(task);
    } finally {
      thread.busy = false;
    }
  }

  /** Ends the threads, and with them what they are about. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#threads].map(({ piscina }) => piscina.destroy()));
  }

  #idle(): Thread<Task, Result> | undefined {
    for (const thread of this.#threads) if (!thread.busy) return thread;
    return undefined;
  }

  #start(): Thread<Task, Result> {
    const { entry, heapMebibytes } = this.#options;
    const piscina = new Piscina<Task, Result>({
      filename: entry,
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      ...(heapMebibytes === undefined
        ? {}
        : { resourceLimits: { maxOldGenerationSizeMb: heapMebibytes } }),
    });
    const thread = { piscina, busy: false };
    this.#threads.add(thread);
    // It must not start a thread in place of the dead one, which it would not take for ready at
    // once.
    piscina.once('workerDestroy', () => {
      this.#threads.delete(thread);
      void piscina.destroy();
    });
    // A thread that dies without a task has lost nothing.
    piscina.on('error', () => {});
    return thread;
  }
}
