import type { BatchSource } from './batch-source.js';
import type { PipeProducer } from './pipe-producer.js';
import type { Ring } from './ring/ring.js';
import { PRODUCER } from './ring/ring-words.js';
import { ENDED, linesOf, OPEN, stateOf } from './ring/slot-state.js';
import type { Batch } from './ring/slots.js';

/** Number of bytes from which a slot looks like part of a flood: half of the capacity of a pipe. */
const FLOOD_BYTES = 1 << 15;
/** Milliseconds that an otherwise idle thread lets a flood gather. */
const GATHER = 0.5;

/**
 * Takes batches that a producer has put into the ring. The producer is another thread or, if the
 * workers read a pipe, the worker that finds nothing to take.
 */
export class RingBatchSource implements BatchSource {
  readonly #ring: Ring;
  readonly #worker: number;
  readonly #producer: PipeProducer | undefined;

  /**
   * @param producer fills the ring when this worker is the producer; undefined if this worker never
   *   is the producer
   */
  constructor(ring: Ring, worker: number, producer?: PipeProducer) {
    this.#ring = ring;
    this.#worker = worker;
    this.#producer = producer;
  }

  async next(): Promise<Batch | undefined> {
    const ring = this.#ring;
    while (await ring.consumer.lock()) {
      const batch = await this.#take();
      ring.consumer.unlock();
      if (batch !== 'unfilled') return batch;
      this.#producer?.fill();
      ring.producer.resign();
    }
    return undefined;
  }

  /** Returns `unfilled` if there is nothing to take and this worker has become the producer. */
  async #take(): Promise<Batch | 'unfilled' | undefined> {
    const ring = this.#ring;
    const { slot } = ring.consumer;
    while (!ring.consumer.stopped) {
      const filling = ring.producer.word;
      const word = this.#gathered(slot);
      const batch = ring.consumer.take(word, this.#worker);
      if (batch !== undefined) {
        ring.consumer.advance();
        return batch;
      }
      if (stateOf(word) === ENDED) return undefined;
      if (this.#producer === undefined) await ring.waits.while(ring.slots.stateWord(slot), word);
      else if (ring.producer.become(filling, this.#worker)) return 'unfilled';
      else ring.waits.block(PRODUCER, filling);
    }
    return undefined;
  }

  /**
   * Returns the slot's word once the batch is worth taking. An otherwise idle thread takes the
   * available lines at once, because more lines may never come. In a flood of lines the thread
   * waits a little, because each batch has a fixed cost.
   */
  #gathered(slot: number): number {
    const ring = this.#ring;
    const word = ring.slots.state(slot);
    const bytes = stateOf(word) === OPEN ? linesOf(word) : 0;
    if (bytes < FLOOD_BYTES || bytes >= ring.regions.batchBytes / 2 || !ring.waits.mayBlock) {
      return word;
    }
    this.#gather(slot);
    return ring.slots.state(slot);
  }

  /** Sleeps for GATHER, or until the producer leaves the slot or the run is stopped. */
  #gather(slot: number): void {
    const { slots, producer, waits } = this.#ring;
    const end = performance.now() + GATHER;
    for (let left = GATHER; left > 0; left = end - performance.now()) {
      const bell = slots.bell(slot);
      if (producer.slot !== slot || waits.stopped) return;
      waits.block(slots.bellWord(slot), bell, left);
    }
  }
}
