import { Cutter } from './cutter.js';
import { DescriptorError, readInto } from './descriptor.js';
import { FileEnd } from './file-end.js';
import type { PipeFiller } from './pipe-filler.js';
import type { Batch, Ring } from './ring.js';
import { ENDED, FILLER, FREE, JUMBO, linesOf, OPEN, stateOf } from './ring-words.js';

/** Octets from which on a slot looks like part of a flood: a pipe that was full holds 64 KiB. */
const FLOOD_OCTETS = 1 << 15;
/** Milliseconds that a thread with nothing else to do lets a flood gather. */
const GATHER = 0.5;

/** Where a worker gets its batches. */
export interface Intake {
  /**
   * The next batch; undefined when the input has ended or the run is stopped.
   *
   * @throws DescriptorError
   */
  next(): Promise<Batch | undefined>;
}

/** Takes what is filled in: by another thread, or by the workers, whoever finds nothing to take. */
export class RingIntake implements Intake {
  readonly #ring: Ring;
  readonly #worker: number;
  readonly #filler: PipeFiller | undefined;

  /** @param filler what this worker fills the ring with; undefined where another thread does */
  constructor(ring: Ring, worker: number, filler?: PipeFiller) {
    this.#ring = ring;
    this.#worker = worker;
    this.#filler = filler;
  }

  async next(): Promise<Batch | undefined> {
    const ring = this.#ring;
    while (await ring.lock(this.#worker)) {
      const batch = await this.#take();
      ring.unlock();
      if (batch !== 'unfilled') return batch;
      this.#filler?.fill();
      ring.filler.resign();
    }
    return undefined;
  }

  /** `unfilled` where there is nothing to take, and this worker has become the filler. */
  async #take(): Promise<Batch | 'unfilled' | undefined> {
    const ring = this.#ring;
    const slot = ring.nextSlot;
    while (!ring.stopped) {
      const filling = ring.filler.word;
      const word = this.#gathered(slot);
      const batch = ring.takeBatch(word, this.#worker);
      if (batch !== undefined) {
        ring.advance();
        return batch;
      }
      if (stateOf(word) === ENDED) return undefined;
      if (this.#filler === undefined) await ring.until(ring.stateWord(slot), word);
      else if (ring.filler.become(filling, this.#worker)) return 'unfilled';
      else ring.wait(FILLER, filling);
    }
    return undefined;
  }

  /**
   * A slot's word, once it is worth while to look at it. While all threads are busy, a slot fills.
   * A thread that has nothing else to do takes the lines that are there at once, since nobody knows
   * when more will come; only when they come in floods it waits a little, for each batch costs some
   * 50 µs beside the work on its lines.
   */
  #gathered(slot: number): number {
    const ring = this.#ring;
    const word = ring.loadState(slot);
    const octets = stateOf(word) === OPEN ? linesOf(word) : 0;
    if (octets < FLOOD_OCTETS || octets >= ring.regions.batchOctets / 2 || !ring.mayBlock) {
      return word;
    }
    ring.waitForFiller(slot, GATHER);
    return ring.loadState(slot);
  }
}

/**
 * Reads a regular file: whoever has the lock reads the next batch into the next slot, for itself.
 */
export class FileIntake implements Intake {
  readonly #ring: Ring;
  readonly #cutter: Cutter;
  readonly #worker: number;
  readonly #descriptor: number;
  readonly #end: FileEnd;

  /**
   * @param size octets that the file had before the first read of all workers; by default what it
   * has now
   */
  constructor(ring: Ring, worker: number, descriptor: number, size?: number) {
    this.#ring = ring;
    this.#cutter = new Cutter(ring);
    this.#worker = worker;
    this.#descriptor = descriptor;
    this.#end = new FileEnd(descriptor, size);
  }

  async next(): Promise<Batch | undefined> {
    if (!(await this.#ring.lock(this.#worker))) return undefined;
    const batch = await this.#take();
    this.#ring.unlock();
    return batch;
  }

  async #take(): Promise<Batch | undefined> {
    const ring = this.#ring;
    const slot = ring.nextSlot;
    while (!ring.stopped) {
      const word = ring.loadState(slot);
      switch (stateOf(word)) {
        case FREE:
          return this.#fill(slot);
        case ENDED:
          return undefined;
      }
      await ring.until(ring.stateWord(slot), word);
    }
    return undefined;
  }

  async #fill(slot: number): Promise<Batch | undefined> {
    const ring = this.#ring;
    this.#cutter.open(slot);
    const ended = ring.input.ended || (await this.#read());
    if (ring.stopped) return undefined;
    // The end of a file that was truncated is no line, but a part of one.
    if (ended) this.#cutter.finish(!ring.input.truncated);
    const { position, skipping } = this.#cutter;
    ring.input.setRest(slot, { position, skipping, ended });
    const batch = ring.takeBatch(ring.loadState(slot), this.#worker);
    if (batch === undefined) {
      ring.jumbo.give(slot);
      ring.setState(slot, ENDED);
    } else {
      ring.input.proceedBehind(slot);
      this.#cutter.passOn();
      ring.advance();
    }
    return batch;
  }

  /** Whether the file was found truncated after a read of so many octets. */
  #isTruncated(octets: number): boolean {
    const { read } = this.#ring.input;
    try {
      return this.#end.isTruncated(read, octets);
    } catch (error) {
      throw new DescriptorError('input', error, read);
    }
  }

  /**
   * Reads until the batch is full or the file ends; says whether it has ended. A file ends where it
   * is found truncated.
   */
  async #read(): Promise<boolean> {
    const ring = this.#ring;
    while (!ring.stopped) {
      const room = this.#cutter.room();
      if (room === undefined) {
        const { word } = ring.jumbo;
        if (word !== 0) await ring.until(JUMBO, word);
        continue;
      }
      const octets = readInto(ring, this.#descriptor, room, ring.input.read);
      if (ring.stopped) return false;
      if (this.#isTruncated(octets)) {
        ring.input.truncated = true;
        return true;
      }
      if (octets === 0) return true;
      if (this.#cutter.accept(octets)) return false;
    }
    return false;
  }
}
