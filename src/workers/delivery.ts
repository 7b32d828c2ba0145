import type { ListedRecord } from './bad-record-list.js';
import { writeAll } from './descriptor.js';
import type { Ring } from './ring.js';
import { DELIVERED, JUDGED, ownedWord, REFUSED, YIELDED } from './ring-words.js';

/** How a worker gets rid of what the kernel has written. The batch lies in a slot of the ring. */
export interface Delivery {
  /**
   * To be called before the first batch, by a thread that has none to go on with: sees to what
   * another may have left that died as this worker.
   */
  begin(): void;
  /**
   * Hands over output of a batch that is not done, and returns when it is written and `ring.lines`
   * is the number of lines before this batch; false if the run was stopped.
   */
  yield(slot: number): Promise<boolean>;
  /**
   * Hands over the last output of a batch, to be written when all before it is; false if the run
   * was stopped.
   */
  finish(slot: number): Promise<boolean>;
  /**
   * As `finish`, for a batch that ends at the bad record which ends a strict run; returns the
   * record where it is known.
   */
  refuse(slot: number): Promise<ListedRecord | undefined>;
}

/** Leaves the output in its slot: the main thread writes. */
export class RingDelivery implements Delivery {
  readonly #ring: Ring;
  readonly #worker: number;

  constructor(ring: Ring, worker: number) {
    this.#ring = ring;
    this.#worker = worker;
  }

  begin(): void {}

  async yield(slot: number): Promise<boolean> {
    const ring = this.#ring;
    const yielded = ownedWord(YIELDED, this.#worker);
    ring.setState(slot, yielded);
    while (ring.loadState(slot) === yielded) {
      if (ring.stopped) return false;
      await ring.until(ring.stateWord(slot), yielded);
    }
    return true;
  }

  async finish(slot: number): Promise<boolean> {
    this.#ring.setState(slot, ownedWord(JUDGED, this.#worker));
    return true;
  }

  async refuse(slot: number): Promise<undefined> {
    this.#ring.setState(slot, REFUSED);
  }
}

/** Writes to a descriptor what is due, be it this worker's or what others have left. */
export class TurnDelivery implements Delivery {
  readonly #ring: Ring;
  readonly #worker: number;
  readonly #descriptor: number;

  constructor(ring: Ring, worker: number, descriptor: number) {
    this.#ring = ring;
    this.#worker = worker;
    this.#descriptor = descriptor;
  }

  /** @throws DescriptorError */
  begin(): void {
    this.#writeDue();
  }

  /** @throws DescriptorError */
  async yield(slot: number): Promise<boolean> {
    if (!(await this.#ring.awaitTurn(slot))) return false;
    writeAll(this.#ring, slot, this.#descriptor);
    this.#ring.badRecords.list(slot);
    return true;
  }

  /** @throws DescriptorError */
  async finish(slot: number): Promise<boolean> {
    this.#ring.setState(slot, ownedWord(JUDGED, this.#worker));
    this.#writeDue();
    return !this.#ring.stopped;
  }

  /** @throws DescriptorError */
  async refuse(slot: number): Promise<ListedRecord | undefined> {
    if (!(await this.#ring.awaitTurn(slot))) return undefined;
    writeAll(this.#ring, slot, this.#descriptor);
    return this.#ring.badRecords.strict(slot);
  }

  /** Writes all that is due, unless another worker is about it. */
  #writeDue(): void {
    const ring = this.#ring;
    while (ring.due !== undefined && ring.writer.become(this.#worker)) {
      for (let slot = ring.due; slot !== undefined && !ring.stopped; slot = ring.due) {
        writeAll(ring, slot, this.#descriptor);
        ring.badRecords.list(slot);
        ring.countLines(slot);
        ring.setState(slot, ownedWord(DELIVERED, this.#worker));
        ring.retire(slot);
      }
      ring.writer.resign();
      if (ring.stopped) return;
    }
  }
}
