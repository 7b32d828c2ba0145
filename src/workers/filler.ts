import { Cutter } from './cutter.js';
import { ENDED, FREE, JUMBO, type Ring, stateOf } from './ring.js';

/**
 * Fills the ring from one thread: the one that reads a pipe, or the main thread for a stream. Never blocks: where
 * it has no room, it says which word to wait for.
 *
 * Lines that come while the slot before them is taken are carried over, and offered to the workers only when
 * `room` has opened the next slot: so `room` is to be asked before waiting for more input, not after.
 */
export class Filler {
  readonly #ring: Ring;
  readonly #cutter: Cutter;
  #slot = 0;
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
      const { jumbo } = this.#ring;
      if (jumbo !== 0) {
        this.awaitedWord = JUMBO;
        this.awaitedValue = jumbo;
        return undefined;
      }
      room = this.#cutter.room();
    }
    return room;
  }

  /** Takes note of octets that have come into the room. */
  accept(octets: number): void {
    if (this.#cutter.accept(octets)) this.#proceed();
  }

  /**
   * Hands over what is left and marks the end; false: wait and call again.
   *
   * @param whole whether a last line without newline is a line, or the torn end of an input that failed
   */
  end(whole = true): boolean {
    while (this.#opened()) {
      if (!this.#cutter.finish(whole)) {
        this.#ring.setState(this.#slot, ENDED);
        return true;
      }
      this.#proceed();
    }
    return false;
  }

  #opened(): boolean {
    if (this.#open) return true;
    const word = this.#ring.loadState(this.#slot);
    if (stateOf(word) !== FREE) {
      this.awaitedWord = this.#ring.stateWord(this.#slot);
      this.awaitedValue = word;
      return false;
    }
    this.#cutter.open(this.#slot);
    this.#open = true;
    return true;
  }

  #proceed(): void {
    this.#cutter.passOn();
    this.#open = false;
    this.#slot = this.#ring.after(this.#slot);
  }
}
