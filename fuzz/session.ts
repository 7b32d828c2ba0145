import { Worker } from 'node:worker_threads';
import type { Finding, FuzzProgress } from './fuzzer.js';
import type { FromThread, ThreadTask } from './messages.js';
import { Watch } from './watch.js';

/** The end of a session: a finding, or else the coverage reached. */
export type SessionResult =
  | ({ readonly kind: 'found' } & Finding)
  | Extract<FromThread, { kind: 'done' }>;

export interface SessionOptions {
  /** Milliseconds after which one run is a hang. */
  readonly patience: number;
  readonly onProgress?: (progress: FuzzProgress) => void;
}

/** A task without the memory through which it is watched. */
export type SessionTask = ThreadTask extends infer Task
  ? Task extends ThreadTask
    ? Omit<Task, 'watched'>
    : never
  : never;

/**
 * Runs a target in a separate thread, and ends that thread if a run takes too long or crashes it.
 */
export async function runSession(
  task: SessionTask,
  { patience, onProgress }: SessionOptions,
): Promise<SessionResult> {
  const watch = new Watch();
  const worker = new Worker(new URL('./entry.mjs', import.meta.url), {
    workerData: { ...task, watched: watch.buffer },
  });
  let watchdog: NodeJS.Timeout | undefined;
  try {
    return await new Promise<SessionResult>((resolve, reject) => {
      const found = (message: string): void => {
        resolve({ kind: 'found', input: watch.input, message });
      };
      let runs = watch.runs;
      let since = performance.now();
      watchdog = setInterval(() => {
        const now = performance.now();
        if (watch.runs !== runs || runs === 0) {
          runs = watch.runs;
          since = now;
        } else if (now - since > patience) {
          found(`hangs: no end after ${patience} ms`);
        }
      }, 100);
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'progress') onProgress?.(message.progress);
        else if (message.kind === 'finding') resolve({ kind: 'found', ...message.finding });
        else resolve(message);
        // Anything after the last run is not a run.
        if (message.kind !== 'progress') clearInterval(watchdog);
      });
      worker.on('error', (error) => {
        if (watch.runs === 0) reject(error);
        else found(`ends the thread: ${error.stack ?? error.message}`);
      });
      worker.on('exit', (code) => found(`ends the thread with exit code ${code}`));
    });
  } finally {
    clearInterval(watchdog);
    await worker.terminate();
  }
}
