import { readInto } from './descriptor.js';
import { Filler } from './filler.js';
import type { PipeSource } from './messages.js';
import type { Ring } from './ring.js';

/** Fills the ring from a pipe, on a thread that may block: the one that is the filler. */
export class PipeFiller {
  readonly #ring: Ring;
  readonly #source: PipeSource;
  readonly #filler: Filler;

  constructor(ring: Ring, source: PipeSource) {
    this.#ring = ring;
    this.#source = source;
    this.#filler = new Filler(ring);
  }

  /**
   * Reads until a batch has been handed over; false when the input has ended or the run is stopped.
   *
   * @throws DescriptorError
   */
  fill(): boolean {
    const ring = this.#ring;
    while (!ring.stopped) {
      const room = this.#filler.room();
      if (room === undefined) {
        this.#wait();
        continue;
      }
      ring.filler.tell();
      const octets = this.#read(room);
      if (octets === 0) break;
      if (this.#filler.accept(octets)) return true;
    }
    while (!ring.stopped && !this.#filler.end()) this.#wait();
    return false;
  }

  #wait(): void {
    // The last batch may have been handed over.
    this.#ring.filler.tell();
    this.#ring.wait(this.#filler.awaitedWord, this.#filler.awaitedValue);
  }

  /** What was read of the pipe before is its first octets. */
  #read(room: Uint8Array): number {
    const { descriptor, head } = this.#source;
    const { read } = this.#ring.input;
    if (read >= head.length) return readInto(this.#ring, descriptor, room, null);
    const part = head.subarray(read, read + room.length);
    room.set(part);
    return part.length;
  }
}
