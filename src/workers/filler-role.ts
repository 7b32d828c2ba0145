import { FILL_SLOT, FILLER, FILLER_MASK, type RingWords } from './ring-words.js';

/** Who fills the ring from a pipe, where the workers read it themselves: one of them at a time. */
export class FillerRole {
  readonly #words: RingWords;

  constructor(words: RingWords) {
    this.#words = words;
  }

  /**
   * The word that tells who is the filler, and another value after each thing that one has done: to
   * be seen before a slot's.
   */
  get word(): number {
    return Atomics.load(this.#words.all, FILLER);
  }

  /**
   * Makes the worker, which holds the input lock, the filler, if there was none when the word was
   * seen.
   */
  become(seen: number, worker: number): boolean {
    if ((seen & FILLER_MASK) !== 0) return false;
    return Atomics.compareExchange(this.#words.all, FILLER, seen, seen | (worker + 1)) === seen;
  }

  /** To be called by the filler when it has changed a slot's word, before it waits for anything. */
  tell(): void {
    Atomics.add(this.#words.all, FILLER, FILLER_MASK + 1);
    Atomics.notify(this.#words.all, FILLER);
  }

  /** To be called by the filler when it has handed a batch over, or ENDED. */
  resign(): void {
    Atomics.and(this.#words.all, FILLER, ~FILLER_MASK);
    this.tell();
  }

  /** Whether some worker is the filler. */
  get isHeld(): boolean {
    return (this.word & FILLER_MASK) !== 0;
  }

  isHeldBy(worker: number): boolean {
    return (this.word & FILLER_MASK) === worker + 1;
  }

  /** The slot that is filled next, by this filler or by the one that there is. */
  get slot(): number {
    return this.#words.get(FILL_SLOT);
  }

  /** Goes on to another slot, the one behind that which has been filled. */
  proceedTo(slot: number): void {
    this.#words.set(FILL_SLOT, slot);
  }
}
