import { LOCK, NEXT, SLOT_WRITE_BEGUN, STOP, slotWord } from './ring-words.js';
import type { SharedWords } from './shared-words.js';
import { FILLED, linesOf, OPEN, ownedWord, stateOf, TAKEN } from './slot-state.js';
import type { Batch, Slots } from './slots.js';
import type { Waits } from './waits.js';

const UNLOCKED = 0;
const LOCKED = 1;
const AWAITED = 2;

/** Decides who takes the next batch: the worker that holds the input lock. */
export class ConsumerRole {
  readonly #words: SharedWords;
  readonly #slots: Slots;
  readonly #waits: Waits;

  constructor(words: SharedWords, slots: Slots, waits: Waits) {
    this.#words = words;
    this.#slots = slots;
    this.#waits = waits;
  }

  /** Whether no further batch may be taken. */
  get stopped(): boolean {
    return this.#words.load(STOP) !== 0;
  }

  /** Takes the input lock; false if no further batch may be taken. */
  async lock(): Promise<boolean> {
    let seen = this.#words.compareExchange(LOCK, UNLOCKED, LOCKED);
    while (seen !== UNLOCKED) {
      if (this.stopped) return false;
      if (seen === AWAITED || this.#words.compareExchange(LOCK, LOCKED, AWAITED) !== UNLOCKED) {
        await this.#waits.while(LOCK, AWAITED);
      }
      // A thread that has waited marks the lock as awaited, since others may still wait.
      seen = this.#words.compareExchange(LOCK, UNLOCKED, AWAITED);
    }
    return true;
  }

  unlock(): void {
    if (this.#words.exchange(LOCK, UNLOCKED) === AWAITED) this.#words.notify(LOCK, 1);
  }

  /** The slot of the next batch. */
  get slot(): number {
    return this.#words.load(NEXT);
  }

  /**
   * Takes the batch of the next slot if its word still has this value. Undefined if there is no
   * batch, or the word has changed.
   */
  take(word: number, worker: number): Batch | undefined {
    const state = stateOf(word);
    if (state !== FILLED && (state !== OPEN || linesOf(word) === 0)) return undefined;
    const { slot } = this;
    // A producer sets the length only of batches that it has not offered before.
    if (state === OPEN) this.#slots.setInputBytes(slot, linesOf(word));
    this.#words.store(slotWord(slot, SLOT_WRITE_BEGUN), 0);
    if (!this.#slots.exchangeState(slot, word, ownedWord(TAKEN, worker))) return undefined;
    return this.#slots.batch(slot);
  }

  /** Moves on to the next slot, once the batch of this slot is TAKEN. */
  advance(): void {
    this.#words.store(NEXT, this.#slots.after(this.slot));
  }
}
