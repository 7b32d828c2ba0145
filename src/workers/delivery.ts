import { writeAll } from './descriptor.js';
import { FREE, JUDGED, type ListedRecord, REFUSED, type Ring, YIELDED } from './ring.js';

/** How a worker gets rid of what the kernel has written. The batch lies in a slot of the ring. */
export interface Delivery {
  /**
   * Hands over output of a batch that is not done, and returns when it is written and `ring.lines` is the
   * number of lines before this batch; false if the run was stopped.
   */
  yield(slot: number): boolean;
  /** Hands over the last output of a batch; false if the run was stopped. */
  finish(slot: number): boolean;
  /** As `finish`, for a batch that ends at the bad record which ends a strict run; returns the record where it is known. */
  refuse(slot: number): ListedRecord | undefined;
}

/** Leaves the output in its slot: the main thread writes. */
export class RingDelivery implements Delivery {
  readonly #ring: Ring;

  constructor(ring: Ring) {
    this.#ring = ring;
  }

  yield(slot: number): boolean {
    const ring = this.#ring;
    ring.setState(slot, YIELDED);
    while (ring.loadState(slot) === YIELDED) {
      if (ring.stopped) return false;
      ring.wait(ring.stateWord(slot), YIELDED);
    }
    return true;
  }

  finish(slot: number): boolean {
    this.#ring.setState(slot, JUDGED);
    return true;
  }

  refuse(slot: number): undefined {
    this.#ring.setState(slot, REFUSED);
  }
}

/** Writes to a descriptor when the slot's turn has come. */
export class TurnDelivery implements Delivery {
  readonly #ring: Ring;
  readonly #descriptor: number;

  constructor(ring: Ring, descriptor: number) {
    this.#ring = ring;
    this.#descriptor = descriptor;
  }

  /** @throws DescriptorError */
  yield(slot: number): boolean {
    if (!this.#ring.awaitTurn(slot)) return false;
    writeAll(this.#descriptor, this.#ring.output(slot));
    this.#ring.listBadRecords(slot);
    return true;
  }

  /** @throws DescriptorError */
  finish(slot: number): boolean {
    if (!this.yield(slot)) return false;
    this.#ring.settle(slot);
    this.#ring.setState(slot, FREE);
    this.#ring.passTurn(slot);
    return true;
  }

  /** @throws DescriptorError */
  refuse(slot: number): ListedRecord | undefined {
    if (!this.#ring.awaitTurn(slot)) return undefined;
    writeAll(this.#descriptor, this.#ring.output(slot));
    return this.#ring.strictRecord(slot);
  }
}
