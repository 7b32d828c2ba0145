import { FILL_SLOT, PRODUCER, PRODUCER_MASK } from './ring-words.js';
import type { SharedWords } from './shared-words.js';
import type { Slots } from './slots.js';

/** Decides which slot is filled next and, if the workers read a pipe, by which worker. */
export class ProducerRole {
  readonly #words: SharedWords;
  readonly #slots: Slots;

  constructor(words: SharedWords, slots: Slots) {
    this.#words = words;
    this.#slots = slots;
  }

  /**
   * A word that names the producer, and changes with each of its actions. Read this word before a
   * slot's word.
   */
  get word(): number {
    return this.#words.load(PRODUCER);
  }

  /**
   * Makes the worker, which holds the input lock, the producer if there was none when the word was
   * read; returns whether it became the producer.
   */
  become(seen: number, worker: number): boolean {
    if ((seen & PRODUCER_MASK) !== 0) return false;
    return this.#words.compareExchange(PRODUCER, seen, seen | (worker + 1)) === seen;
  }

  /** The producer calls this when it has changed a slot's word, before it waits for anything. */
  tell(): void {
    this.#words.add(PRODUCER, PRODUCER_MASK + 1);
    this.#words.notify(PRODUCER);
  }

  /** The producer calls this when it has handed over a batch, or the input has ENDED. */
  resign(): void {
    this.#words.and(PRODUCER, ~PRODUCER_MASK);
    this.tell();
  }

  /** Whether some worker is the producer. */
  get isHeld(): boolean {
    return (this.word & PRODUCER_MASK) !== 0;
  }

  /** The slot that is filled next. */
  get slot(): number {
    return this.#words.load(FILL_SLOT);
  }

  /** Moves on to the next slot, once the batch of this slot is handed over. */
  advance(): void {
    const { slot } = this;
    this.#words.store(FILL_SLOT, this.#slots.after(slot));
    this.#slots.ringBell(slot);
  }
}
