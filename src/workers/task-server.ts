import { parentPort } from 'node:worker_threads';

/** A task for a thread, as a message. */
export interface TaskMessage<Task> {
  readonly number: number;
  readonly task: Task;
}

/** What a thread answers to a task. */
export type TaskAnswer<Result> = { readonly number: number } & (
  | { readonly result: Result }
  | { readonly error: unknown }
);

/** Makes this thread carry out the tasks that its `Thread` is given. */
export function serveTasks<Task, Result>(work: (task: Task) => Result | Promise<Result>): void {
  parentPort?.on('message', async ({ number, task }: TaskMessage<Task>) => {
    try {
      parentPort?.postMessage({ number, result: await work(task) });
    } catch (error) {
      parentPort?.postMessage({ number, error });
    }
  });
}
