import { writeAll } from './descriptor.js';
import type { ListedRecord } from './ring/bad-record-list.js';
import type { Ring } from './ring/ring.js';
import { JUDGED, ownedWord, REFUSED, YIELDED } from './ring/slot-state.js';

/** Where a worker hands over its batches. Their output lies in a slot of the ring. */
export interface BatchSink {
  /**
   * Hands over output of an unfinished batch. Returns when the output is written and the slot's
   * turn has come; false if the run was stopped.
   */
  yield(slot: number): Promise<boolean>;
  /**
   * Hands over the last output of a batch, to be written after the output of all earlier batches;
   * false if the run was stopped.
   */
  finish(slot: number): Promise<boolean>;
  /**
   * As `finish`, for a batch that ends before the bad record at which a strict run stops. Returns
   * that record if its line is known.
   */
  refuse(slot: number): Promise<ListedRecord | undefined>;
}

/** Leaves the output in its slot for the main thread to write. */
export class RingBatchSink implements BatchSink {
  readonly #ring: Ring;
  readonly #worker: number;

  constructor(ring: Ring, worker: number) {
    this.#ring = ring;
    this.#worker = worker;
  }

  async yield(slot: number): Promise<boolean> {
    const { slots, waits } = this.#ring;
    const yielded = ownedWord(YIELDED, this.#worker);
    slots.setState(slot, yielded);
    while (slots.state(slot) === yielded) {
      if (waits.stopped) return false;
      await waits.while(slots.stateWord(slot), yielded);
    }
    return true;
  }

  async finish(slot: number): Promise<boolean> {
    this.#ring.slots.setState(slot, ownedWord(JUDGED, this.#worker));
    return true;
  }

  async refuse(slot: number): Promise<undefined> {
    this.#ring.slots.setState(slot, REFUSED);
  }
}

/** Writes all output that is due to a descriptor, whichever worker judged it. */
export class DescriptorBatchSink implements BatchSink {
  readonly #ring: Ring;
  readonly #worker: number;
  readonly #descriptor: number;

  constructor(ring: Ring, worker: number, descriptor: number) {
    this.#ring = ring;
    this.#worker = worker;
    this.#descriptor = descriptor;
  }

  /** @throws DescriptorError */
  async yield(slot: number): Promise<boolean> {
    if (!(await this.#ring.writer.awaitTurn(slot))) return false;
    writeAll(this.#ring, slot, this.#descriptor);
    this.#ring.badRecords.list(slot);
    return true;
  }

  /** @throws DescriptorError */
  async finish(slot: number): Promise<boolean> {
    this.#ring.slots.setState(slot, ownedWord(JUDGED, this.#worker));
    writeDue(this.#ring, this.#worker, this.#descriptor);
    return !this.#ring.stopped;
  }

  /** @throws DescriptorError */
  async refuse(slot: number): Promise<ListedRecord | undefined> {
    if (!(await this.#ring.writer.awaitTurn(slot))) return undefined;
    writeAll(this.#ring, slot, this.#descriptor);
    return this.#ring.badRecords.strict(slot);
  }
}

/**
 * Writes all output that is due, unless another worker is the writer.
 *
 * @throws DescriptorError
 */
export function writeDue(ring: Ring, worker: number, descriptor: number): void {
  const { writer, badRecords } = ring;
  while (writer.due !== undefined && writer.become(worker)) {
    for (let slot = writer.due; slot !== undefined && !ring.stopped; slot = writer.due) {
      writeAll(ring, slot, descriptor);
      badRecords.list(slot);
      writer.retire(slot);
    }
    writer.resign();
    if (ring.stopped) return;
  }
}
