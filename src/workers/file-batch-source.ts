import { FileEnd } from '../files/file-end.js';
import type { BatchSource } from './batch-source.js';
import { BatchSplitter } from './batch-splitter.js';
import { DescriptorError, readInto } from './descriptor.js';
import type { Ring } from './ring/ring.js';
import { JUMBO } from './ring/ring-words.js';
import { ENDED, FREE, stateOf } from './ring/slot-state.js';
import type { Batch } from './ring/slots.js';

/** Reads a file. The worker that holds the input lock reads the next batch and takes it. */
export class FileBatchSource implements BatchSource {
  readonly #ring: Ring;
  readonly #splitter: BatchSplitter;
  readonly #worker: number;
  readonly #descriptor: number;
  readonly #end: FileEnd;

  /**
   * @param size size of the file in bytes before any worker read it; by default the present size
   */
  constructor(ring: Ring, worker: number, descriptor: number, size?: number) {
    this.#ring = ring;
    this.#splitter = new BatchSplitter(ring);
    this.#worker = worker;
    this.#descriptor = descriptor;
    this.#end = new FileEnd(descriptor, size);
  }

  async next(): Promise<Batch | undefined> {
    const { consumer } = this.#ring;
    if (!(await consumer.lock())) return undefined;
    const batch = await this.#take();
    consumer.unlock();
    return batch;
  }

  async #take(): Promise<Batch | undefined> {
    const ring = this.#ring;
    const { slot } = ring.consumer;
    while (!ring.consumer.stopped) {
      const word = ring.slots.state(slot);
      switch (stateOf(word)) {
        case FREE:
          return this.#fill(slot);
        case ENDED:
          return undefined;
      }
      await ring.waits.while(ring.slots.stateWord(slot), word);
    }
    return undefined;
  }

  async #fill(slot: number): Promise<Batch | undefined> {
    const ring = this.#ring;
    this.#splitter.open(slot);
    const ended = ring.input.ended || (await this.#read());
    if (ring.stopped) return undefined;
    // The last line of a truncated file may be incomplete.
    if (ended) this.#splitter.finish(!ring.input.truncated);
    const batch = ring.consumer.take(ring.slots.state(slot), this.#worker);
    if (batch === undefined) {
      ring.jumbo.give(slot);
      ring.slots.setState(slot, ENDED);
    } else {
      ring.input.ended = ended;
      this.#splitter.passOn();
      ring.consumer.advance();
    }
    return batch;
  }

  /** Whether a read of this many bytes shows that the file was truncated. */
  #isTruncated(bytes: number): boolean {
    const { read } = this.#ring.input;
    try {
      return this.#end.isTruncated(read, bytes);
    } catch (error) {
      throw new DescriptorError('input', error, read);
    }
  }

  /**
   * Reads until the batch is full or the file ends; returns whether the file has ended. A truncated
   * file ends where the truncation was noticed.
   */
  async #read(): Promise<boolean> {
    const ring = this.#ring;
    while (!ring.stopped) {
      const room = this.#splitter.room();
      if (room === undefined) {
        const { word } = ring.jumbo;
        if (word !== 0) await ring.waits.while(JUMBO, word);
        continue;
      }
      const bytes = readInto(ring, this.#descriptor, room, ring.input.read);
      if (ring.stopped) return false;
      if (this.#isTruncated(bytes)) {
        ring.input.truncated = true;
        return true;
      }
      if (bytes === 0) return true;
      if (this.#splitter.accept(bytes)) return false;
    }
    return false;
  }
}
