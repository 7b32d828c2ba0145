import type { Task, TaskEnd } from './messages.js';

/** Who carries out the tasks of runs: threads, or the thread that asks. */
export interface Executor {
  /** Tasks that judge at a time. */
  readonly threads: number;
  /** Whether tasks may block, since other threads than the one that asks carry them out. */
  readonly mayBlock: boolean;
  /** URL of the module that instantiates the kernel, where it is not the usual one. */
  readonly kernel: string | undefined;
  /**
   * Carries out a task.
   *
   * Rejects when the task throws or its thread dies, and does nothing of it any more.
   */
  run(task: Task): Promise<TaskEnd>;
  /** Ends what it has started. */
  close(): Promise<void>;
}
