import { JUMBO, type RingWords } from './ring-words.js';

/** The region for a line longer than a batch: one slot's at a time. */
export class JumboRegion {
  readonly #words: RingWords;

  constructor(words: RingWords) {
    this.#words = words;
  }

  /** Takes it for a slot if it is free; says whether. */
  take(slot: number): boolean {
    return Atomics.compareExchange(this.#words.all, JUMBO, 0, slot + 1) === 0;
  }

  /** The value of JUMBO, to wait while it has it; 0 if the region is free. */
  get word(): number {
    return Atomics.load(this.#words.all, JUMBO);
  }

  /** Gives it back if it is the slot's. */
  give(slot: number): void {
    if (Atomics.compareExchange(this.#words.all, JUMBO, slot + 1, 0) === slot + 1) {
      Atomics.notify(this.#words.all, JUMBO);
    }
  }
}
