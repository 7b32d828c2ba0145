import { WORKER_TALLY } from '../kernel/layout.js';
import { COUNTERS_OCTETS, counterRanges, type Regions } from './regions.js';
import { header, type RingWords, SLOT_KEPT } from './ring-words.js';

/** The counters of each worker as they were before its batch, for one that is judged again. */
export class KeptCounters {
  readonly #words: RingWords;
  readonly #memory: Uint8Array;
  readonly #regions: Regions;

  constructor(words: RingWords, memory: Uint8Array, regions: Regions) {
    this.#words = words;
    this.#memory = memory;
    this.#regions = regions;
  }

  /** Keeps the worker's counters as they are before the slot's batch. */
  keep(slot: number, worker: number): void {
    const { block, kept, octets } = counterRanges(this.#regions, worker);
    this.#copy(block, kept, COUNTERS_OCTETS);
    this.#copy(block + WORKER_TALLY, kept + COUNTERS_OCTETS, octets);
    Atomics.store(this.#words.all, header(slot) + SLOT_KEPT, 1);
  }

  /**
   * Sets the worker's counters back to what they were before the slot's batch, and the rest of its
   * block to zeros.
   */
  restore(slot: number, worker: number): void {
    if (Atomics.load(this.#words.all, header(slot) + SLOT_KEPT) === 0) return;
    const { block, kept, octets } = counterRanges(this.#regions, worker);
    this.#copy(kept, block, COUNTERS_OCTETS);
    this.#copy(kept + COUNTERS_OCTETS, block + WORKER_TALLY, octets);
    this.#memory.fill(0, block + COUNTERS_OCTETS, block + WORKER_TALLY);
  }

  #copy(from: number, to: number, octets: number): void {
    this.#memory.copyWithin(to, from, from + octets);
  }
}
