import type { Task, TaskEnd } from './messages.js';

/** Carries out the tasks of runs, on threads of a pool or on the calling thread. */
export interface Executor {
  /** Number of workers that judge at a time. */
  readonly threads: number;
  /** Whether tasks may block, because they run on other threads than the caller's. */
  readonly mayBlock: boolean;
  /** URL of another module with an `instantiateKernel`, for tests. */
  readonly kernel: string | undefined;
  /**
   * Carries out a task. Rejects when the task throws or its thread dies; the task no longer runs
   * then.
   */
  run(task: Task): Promise<TaskEnd>;
  /** Ends the threads. */
  close(): Promise<void>;
}
