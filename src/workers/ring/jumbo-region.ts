import { JUMBO } from './ring-words.js';
import type { SharedWords } from './shared-words.js';

/** The region for a line longer than a batch. One slot has it at a time. */
export class JumboRegion {
  readonly #words: SharedWords;

  constructor(words: SharedWords) {
    this.#words = words;
  }

  /** Takes the region for a slot if the region is free; returns whether it was free. */
  take(slot: number): boolean {
    return this.#words.compareExchange(JUMBO, 0, slot + 1) === 0;
  }

  /** The value of JUMBO, to wait for; 0 if the region is free. */
  get word(): number {
    return this.#words.load(JUMBO);
  }

  /** Returns the region if the slot has it. */
  give(slot: number): void {
    if (this.#words.compareExchange(JUMBO, slot + 1, 0) === slot + 1) this.#words.notify(JUMBO);
  }
}
