/** See schedule.mjs: what of it the main thread needs. */
export interface Order {
  /** Which order; not 0. */
  readonly seed: number;
  /** Of 256 steps, after how many the thread goes on by itself. */
  readonly stay: number;
  /** Milliseconds that all stand still for a thread to come in place of one that died. */
  readonly patience: number;
}

export class Schedule {
  constructor(memory: ArrayBufferLike);
  set(order: Order): void;
  notify(array: Int32Array, index: number, count?: number): void;
}
