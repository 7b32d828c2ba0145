import { RobotsFilterError } from '../errors.js';
import { type Remains, recover, type Ways } from './recovery.js';
import type { Ring } from './ring.js';
import { FAILED, stateOf, YIELDED } from './ring-words.js';

const NEWLINE = 10;
const REPORT = 'This is an error in robots-filter: please report it with these lines';

/**
 * What becomes of a worker whose thread has died.
 *
 * - `again`: another thread is to go on in its place, first with the batch of the slot, if there is
 *   one.
 * - `failed`: the batch of the slot has ended two threads. The run is to end when all before it is
 *   written.
 * - `stopped`: the run was stopped meanwhile.
 */
export type Succession =
  | { readonly fate: 'again'; readonly slot: number | undefined }
  | { readonly fate: 'failed'; readonly slot: number }
  | { readonly fate: 'stopped' };

/**
 * Keeps account of the threads that died in a run: the first time each batch is judged again, the
 * second time it ends the run, at a place in the output that is before it.
 */
export class LostThreads {
  readonly #ring: Ring;
  readonly #ways: Ways;
  readonly #input: string;
  /**
   * What threads have died over: where a batch begins in the input, or the name of a worker that
   * held none.
   */
  readonly #causes = new Set<number | string>();
  /** With what the second one died, by slot. */
  readonly #reasons = new Map<number, unknown>();

  /** @param input the input as messages name it */
  constructor(ring: Ring, ways: Ways, input: string) {
    this.#ring = ring;
    this.#ways = ways;
    this.#input = input;
  }

  /**
   * Repairs what a worker has left behind whose thread does nothing any more, and says how it goes
   * on.
   *
   * @param reason with what the thread died
   * @throws RobotsFilterError `worker` if the run cannot go on
   */
  async succeed(worker: number, reason: unknown): Promise<Succession> {
    const ring = this.#ring;
    if (ring.stopped) return { fate: 'stopped' };
    if (ring.filler.isHeldBy(worker)) throw this.readerFailure(reason);
    const remains = recover(ring, worker, this.#ways);
    if (remains.held === 'write') {
      throw this.#error(
        `while it wrote what comes of ${this.#lines(remains.slot)}; a part of that may be out`,
        reason,
      );
    }
    if (remains.held !== 'batch') {
      if (this.#isFirst(causeOf(remains, worker))) return { fate: 'again', slot: undefined };
      throw this.#error(
        remains.held === 'input' ? `twice as it read on from byte ${remains.position}` : 'twice',
        reason,
      );
    }
    const { slot } = remains;
    // What it has left to the writer must not be overwritten.
    await ring.whileState(slot, (word) => stateOf(word) === YIELDED);
    if (ring.stopped) return { fate: 'stopped' };
    if (this.#isFirst(ring.start(slot))) return { fate: 'again', slot };
    this.#reasons.set(slot, reason);
    ring.setState(slot, FAILED);
    return { fate: 'failed', slot };
  }

  /** The error that ends the run at a slot that FAILED and is the next to be written. */
  failure(slot: number): RobotsFilterError {
    return this.#error(
      `twice over ${this.#lines(slot)}. What comes before is written`,
      this.#reasons.get(slot),
    );
  }

  /** The error for the death of a thread that read a pipe: what it had read is nowhere else. */
  readerFailure(reason: unknown): RobotsFilterError {
    return this.#error(`as it read on from byte ${this.#ring.input.read}`, reason);
  }

  /** The error for a write beyond the end of a region: records of any thread may have changed. */
  overrun(message: string): RobotsFilterError {
    return new RobotsFilterError(
      'worker',
      `${this.#input}: ${message}; the output may hold wrong records. ${REPORT}`,
    );
  }

  #isFirst(cause: number | string): boolean {
    if (this.#causes.has(cause)) return false;
    this.#causes.add(cause);
    return true;
  }

  /** The lines of the batch of the slot that is the next to be written. */
  #lines(slot: number): string {
    const { address, octets } = this.#ring.batch(slot);
    const input = this.#ring.memory.subarray(address, address + octets);
    let lines = input.at(-1) === NEWLINE ? 0 : 1;
    for (let at = input.indexOf(NEWLINE); at >= 0; at = input.indexOf(NEWLINE, at + 1)) lines++;
    const first = this.#ring.lines + 1;
    const start = this.#ring.start(slot);
    return `lines ${first} to ${first + lines - 1} (from byte ${start} on, ${octets} bytes)`;
  }

  #error(when: string, reason: unknown): RobotsFilterError {
    const message = reason instanceof Error ? reason.message : String(reason);
    return new RobotsFilterError(
      'worker',
      `${this.#input}: a thread died ${when} (${message}). ${REPORT}`,
      { cause: reason },
    );
  }
}

function causeOf(remains: Remains, worker: number): number | string {
  return remains.held === 'input' ? remains.position : `worker ${worker}`;
}
