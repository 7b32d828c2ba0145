import { RobotsFilterError } from '../errors.js';
import { writeDue } from '../workers/batch-sink.js';
import type { Ring } from '../workers/ring/ring.js';
import { FAILED } from '../workers/ring/slot-state.js';
import { batchDeathError, idleDeathError } from './run-error.js';

export interface DeadThreadsOptions {
  readonly ring: Ring;
  /** The input as messages name it. */
  readonly input: string;
  /** The descriptor that the workers write to; undefined if the main thread writes. */
  readonly output: number | undefined;
  /** Workers that take part. */
  readonly workers: number;
  /** Has nobody take a further batch. */
  readonly stopTaking: () => void;
}

/**
 * Ends a run in which a thread has died: has all records before its batch written, as ring-words.ts
 * describes, and makes the error that stops the run.
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

  /** To be called once for each worker, when it has returned or died. */
  onReturn(): void {
    if (--this.#living === 0) this.#onAllReturned();
  }

  /**
   * Returns the error that is to stop the run, once all before it is written; undefined if the run
   * was stopped meanwhile.
   *
   * @param worker the worker that died; undefined for a thread that only reads
   * @param reason what its thread died of
   * @throws DescriptorError if what is due cannot be written
   */
  async settle(
    worker: number | undefined,
    reason: unknown,
  ): Promise<RobotsFilterError | undefined> {
    const { ring, input, output, stopTaking } = this.#options;
    const { slots, writer } = ring;
    if (ring.stopped) return undefined;
    // A thread that could not be started: the error says so.
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
      // It may have died before it wrote what it had judged.
      if (output !== undefined) writeDue(ring, worker, output);
    }
    stopTaking();
    await this.#allReturned;
    const { slot } = ring.consumer;
    return (await writer.awaitTurn(slot)) ? idleDeathError(ring, input, reason) : undefined;
  }
}
