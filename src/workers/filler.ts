import { Cutter } from './cutter.js';
import type { Ring } from './ring.js';
import { ENDED, FREE, JUMBO, stateOf } from './ring-words.js';

/**
 * Fills the ring, for the thread that is the filler: one that reads a pipe, or the main thread for
 * a stream. Never blocks: where it has no room, it says which word to wait for. Between two batches
 * another thread may go on with a filler of its own.
 *
 * Lines that come while the slot before them is taken are carried over, and offered to the workers
 * only when `room` has opened the next slot: so `room` is to be asked before waiting for more
 * input, not after.
 */
export class Filler {
  readonly #ring: Ring;
  readonly #cutter: Cutter;
  /** The batch in the ring's fill slot has been begun. */
  #open = false;
  /** With no room: the word to wait for, and the value that it had. */
  awaitedWord = 0;
  awaitedValue = 0;

  constructor(ring: Ring) {
    this.#ring = ring;
    this.#cutter = new Cutter(ring);
  }

  /** Where the next octets belong; undefined: wait and ask again. */
  room(): Uint8Array<SharedArrayBuffer> | undefined {
    if (!this.#opened()) return undefined;
    let room = this.#cutter.room();
    while (room === undefined) {
      const { word } = this.#ring.jumbo;
      if (word !== 0) {
        this.awaitedWord = JUMBO;
        this.awaitedValue = word;
        return undefined;
      }
      room = this.#cutter.room();
    }
    return room;
  }

  /** Takes note of octets that have come into the room; says whether a batch was handed over. */
  accept(octets: number): boolean {
    const handedOver = this.#cutter.accept(octets);
    if (handedOver) this.#proceed();
    return handedOver;
  }

  /**
   * Hands over what is left and marks the end; false: wait and call again.
   *
   * @param whole whether a last line without newline is a line, or the torn end of an input that
   *   failed
   */
  end(whole = true): boolean {
    while (this.#opened()) {
      if (!this.#cutter.finish(whole)) {
        this.#ring.setState(this.#ring.filler.slot, ENDED);
        return true;
      }
      this.#proceed();
    }
    return false;
  }

  #opened(): boolean {
    if (this.#open) return true;
    const slot = this.#ring.filler.slot;
    const word = this.#ring.loadState(slot);
    if (stateOf(word) !== FREE) {
      this.awaitedWord = this.#ring.stateWord(slot);
      this.awaitedValue = word;
      return false;
    }
    this.#cutter.open(slot);
    this.#open = true;
    return true;
  }

  #proceed(): void {
    const { slot } = this.#ring.filler;
    this.#cutter.passOn();
    this.#open = false;
    this.#ring.filler.proceedTo(this.#ring.after(slot));
    this.#ring.endFilling(slot);
  }
}
