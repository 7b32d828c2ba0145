import { BatchSplitter } from './batch-splitter.js';
import type { Ring } from './ring/ring.js';
import { JUMBO } from './ring/ring-words.js';
import type { Word } from './ring/shared-words.js';
import { ENDED, FREE, stateOf } from './ring/slot-state.js';

/**
 * Fills the ring on the thread that is the producer: a thread that reads a pipe, or the main thread
 * for a stream. Never blocks: if there is no room, `awaitedWord` names the word to wait for.
 * Between two batches, another thread may continue with its own Producer.
 *
 * Call `room` before waiting for more input, not after. Lines that arrive while their slot is taken
 * are offered only when `room` has opened the next slot.
 */
export class Producer {
  readonly #ring: Ring;
  readonly #splitter: BatchSplitter;
  /** Whether the batch in the producer's slot has been begun. */
  #open = false;
  /** The word to wait for if there is no room, and its observed value. */
  awaitedWord: Word = JUMBO;
  awaitedValue = 0;

  constructor(ring: Ring) {
    this.#ring = ring;
    this.#splitter = new BatchSplitter(ring);
  }

  /** Room for the next bytes; undefined if there is none yet. */
  room(): Uint8Array<SharedArrayBuffer> | undefined {
    if (!this.#opened()) return undefined;
    let room = this.#splitter.room();
    while (room === undefined) {
      const { word } = this.#ring.jumbo;
      if (word !== 0) {
        this.awaitedWord = JUMBO;
        this.awaitedValue = word;
        return undefined;
      }
      room = this.#splitter.room();
    }
    return room;
  }

  /**
   * Notes that this many bytes were read into the room; returns whether a batch was handed over.
   */
  accept(bytes: number): boolean {
    const handedOver = this.#splitter.accept(bytes);
    if (handedOver) this.#proceed();
    return handedOver;
  }

  /**
   * Hands over the rest and marks the end of the input; false if there is no room yet.
   *
   * @param whole whether a last line without a newline counts as a line; false if the input failed
   */
  end(whole = true): boolean {
    while (this.#opened()) {
      if (!this.#splitter.finish(whole)) {
        this.#ring.slots.setState(this.#ring.producer.slot, ENDED);
        return true;
      }
      this.#proceed();
    }
    return false;
  }

  #opened(): boolean {
    if (this.#open) return true;
    const slot = this.#ring.producer.slot;
    const word = this.#ring.slots.state(slot);
    if (stateOf(word) !== FREE) {
      this.awaitedWord = this.#ring.slots.stateWord(slot);
      this.awaitedValue = word;
      return false;
    }
    this.#splitter.open(slot);
    this.#open = true;
    return true;
  }

  #proceed(): void {
    this.#splitter.passOn();
    this.#open = false;
    this.#ring.producer.advance();
  }
}
