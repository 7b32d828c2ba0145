import { entryFile } from './entry-file.js';
import { loadPiscina } from './piscina.js';

/** Settings of a thread. */
export interface ThreadOptions {
  /** Limit of the thread's heap; undefined for Node's own. */
  readonly heapMebibytes: number | undefined;
  /** What the thread loads. Default `judge`. */
  readonly entry?: 'judge' | 'serve';
}

/** A thread that carries out one task at a time. It does not keep the process alive while idle. */
export interface Thread<Task, Result> {
  /** Carries out a task; rejects when the task throws or the thread dies. */
  run(task: Task): Promise<Result>;
  /** Ends the thread and its task. */
  end(): Promise<void>;
}

/**
 * Starts a thread from a file of the package.
 *
 * Each thread is a separate Piscina, which counts its first thread as ready at once. In a Piscina
 * of several threads, a task waits in a queue while a thread is started for the task. If that
 * thread dies before it is ready, the task is not rejected, and the run waits for ever.
 *
 * @param onDeath called when the thread has died
 */
export function startThread<Task, Result>(
  { heapMebibytes, entry = 'judge' }: ThreadOptions,
  onDeath: () => void,
): Thread<Task, Result> {
  const Piscina = loadPiscina();
  const piscina = new Piscina<Task, Result>({
    filename: entryFile(entry) ?? null,
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    ...(heapMebibytes === undefined
      ? {}
      : { resourceLimits: { maxOldGenerationSizeMb: heapMebibytes } }),
  });
  // Piscina would start a new thread in place of the dead one, and not count the new thread as
  // ready at once.
  piscina.once('workerDestroy', () => {
    onDeath();
    void piscina.destroy();
  });
  // A thread that dies without a task has lost nothing.
  piscina.on('error', () => {});
  return { run: (task) => piscina.run(task), end: () => piscina.destroy() };
}
