import { RobotsFilterError } from '../errors.js';
import { writeDue } from '../workers/batch-sink.js';
import type { Ring } from '../workers/ring/ring.js';
import { FAILED } from '../workers/ring/slot-state.js';
import { batchDeathError, idleDeathError } from './run-error.js';

export interface DeadThreadsOptions {
  readonly ring: Ring;
  /** The name of the input in messages. */
  readonly input: string;
  /** The descriptor that the workers write to; undefined if the main thread writes. */
  readonly output: number | undefined;
  /** Number of workers that take part. */
  readonly workers: number;
  /** Makes all threads take no further batch. */
  readonly stopTaking: () => void;
}

/**
 * Ends a run in which a thread has died. All records before that thread's batch are written
 * (ring-words.ts); then an error stops the run.
 */
export class DeadThreads {
  readonly #options: DeadThreadsOptions;
  #living: number;
  #onAllReturned = (): void => {};
  readonly #allReturned: Promise<void>;

  constructor(options: DeadThreadsOptions) {
    this.#options = options;
    this.#living = options.workers;
    this.#allReturned = new Promise((resolve) => {
      this.#onAllReturned = resolve;
    });
  }

  /** Notes that a worker has returned or died. Call it once for each worker. */
  onReturn(): void {
    if (--this.#living === 0) this.#onAllReturned();
  }

  /**
   * Returns the error that stops the run, after all earlier records are written. Returns undefined
   * if the run was stopped in the meantime.
   *
   * @param worker the worker that died; undefined for a thread that only reads
   * @param reason the error that ended the thread
   * @throws DescriptorError if output that is due cannot be written
   */
  async settle(
    worker: number | undefined,
    reason: unknown,
  ): Promise<RobotsFilterError | undefined> {
    const { ring, input, output, stopTaking } = this.#options;
    const { slots, writer } = ring;
    if (ring.stopped) return undefined;
    // The error of a thread that could not be started says so itself.
    if (reason instanceof RobotsFilterError) return reason;
    if (worker !== undefined) {
      const slot = slots.heldBy(worker);
      if (slot !== undefined) {
        slots.setState(slot, FAILED);
        return (await writer.awaitTurn(slot)) ? batchDeathError(ring, input, reason) : undefined;
      }
      if (writer.isHeldBy(worker)) {
        const { due } = writer;
        const begun = due !== undefined && writer.hasBegun(due);
        return (begun ? batchDeathError : idleDeathError)(ring, input, reason);
      }
      // The thread may have died before it wrote batches that it had judged.
      if (output !== undefined) writeDue(ring, worker, output);
    }
    stopTaking();
    await this.#allReturned;
    const { slot } = ring.consumer;
    return (await writer.awaitTurn(slot)) ? idleDeathError(ring, input, reason) : undefined;
  }
}
