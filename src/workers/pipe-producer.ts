import { readInto } from './descriptor.js';
import type { PipeSource } from './messages.js';
import { Producer } from './producer.js';
import type { Ring } from './ring/ring.js';

/** Fills the ring from a pipe, on the thread that is the producer. The thread may block. */
export class PipeProducer {
  readonly #ring: Ring;
  readonly #source: PipeSource;
  readonly #producer: Producer;

  constructor(ring: Ring, source: PipeSource) {
    this.#ring = ring;
    this.#source = source;
    this.#producer = new Producer(ring);
  }

  /**
   * Reads until a batch has been handed over; false if the input has ended or no further batch may
   * be taken.
   *
   * @throws DescriptorError
   */
  fill(): boolean {
    const ring = this.#ring;
    while (!ring.consumer.stopped) {
      const room = this.#producer.room();
      if (room === undefined) {
        this.#wait();
        continue;
      }
      ring.producer.tell();
      const bytes = this.#read(room);
      // The byte that wakes a thread from its read is not input (input/pipe-waker.ts).
      if (ring.consumer.stopped) return false;
      if (bytes === 0) break;
      if (this.#producer.accept(bytes)) return true;
    }
    while (!ring.consumer.stopped && !this.#producer.end()) this.#wait();
    return false;
  }

  #wait(): void {
    // The last batch may have been handed over.
    this.#ring.producer.tell();
    this.#ring.waits.block(this.#producer.awaitedWord, this.#producer.awaitedValue);
  }

  /** Reads the bytes that were read from the pipe before the run, and then the pipe. */
  #read(room: Uint8Array): number {
    const { descriptor, head } = this.#source;
    const { read } = this.#ring.input;
    if (read >= head.length) return readInto(this.#ring, descriptor, room, null);
    const part = head.subarray(read, read + room.length);
    room.set(part);
    return part.length;
  }
}
