/**
 * Where a thread takes batches from, and where it hands them over: the ring, a file, a descriptor.
 */

import { FileEnd } from '../files/openings.js';
import { BatchSplitter } from './batch-splitter.js';
import { DescriptorError, readInto, writeAll } from './descriptor.js';
import type { PipeProducer } from './producer.js';
import type { ListedRecord, Ring } from './ring/ring.js';
import type { Batch } from './ring/slots.js';
import {
  ENDED,
  FREE,
  JUDGED,
  JUMBO,
  linesOf,
  OPEN,
  ownedWord,
  PRODUCER,
  REFUSED,
  stateOf,
  YIELDED,
} from './ring/words.js';

/** Number of bytes from which a slot looks like part of a flood: half of the capacity of a pipe. */
const FLOOD_BYTES = 1 << 15;
/** Milliseconds that an otherwise idle thread lets a flood gather. */
const GATHER = 0.5;

/**
 * Takes batches that a producer has put into the ring. The producer is another thread or, if the
 * workers read a pipe, the worker that finds nothing to take.
 */
export class RingBatchSource implements BatchSource {
  readonly #ring: Ring;
  readonly #worker: number;
  readonly #producer: PipeProducer | undefined;

  /**
   * @param producer fills the ring when this worker is the producer; undefined if this worker never
   *   is the producer
   */
  constructor(ring: Ring, worker: number, producer?: PipeProducer) {
    this.#ring = ring;
    this.#worker = worker;
    this.#producer = producer;
  }

  async next(): Promise<Batch | undefined> {
    const ring = this.#ring;
    while (await ring.consumer.lock()) {
      const batch = await this.#take();
      ring.consumer.unlock();
      if (batch !== 'unfilled') return batch;
      this.#producer?.fill();
      ring.producer.resign();
    }
    return undefined;
  }

  /** Returns `unfilled` if there is nothing to take and this worker has become the producer. */
  async #take(): Promise<Batch | 'unfilled' | undefined> {
    const ring = this.#ring;
    const { slot } = ring.consumer;
    while (!ring.consumer.stopped) {
      const filling = ring.producer.word;
      const word = this.#gathered(slot);
      const batch = ring.consumer.take(word, this.#worker);
      if (batch !== undefined) {
        ring.consumer.advance();
        return batch;
      }
      if (stateOf(word) === ENDED) return undefined;
      if (this.#producer === undefined) await ring.waits.while(ring.slots.stateWord(slot), word);
      else if (ring.producer.become(filling, this.#worker)) return 'unfilled';
      else ring.waits.block(PRODUCER, filling);
    }
    return undefined;
  }

  /**
   * Returns the slot's word once the batch is worth taking. An otherwise idle thread takes the
   * available lines at once, because more lines may never come. In a flood of lines the thread
   * waits a little, because each batch has a fixed cost.
   */
  #gathered(slot: number): number {
    const ring = this.#ring;
    const word = ring.slots.state(slot);
    const bytes = stateOf(word) === OPEN ? linesOf(word) : 0;
    if (bytes < FLOOD_BYTES || bytes >= ring.regions.batchBytes / 2 || !ring.waits.mayBlock) {
      return word;
    }
    this.#gather(slot);
    return ring.slots.state(slot);
  }

  /** Sleeps for GATHER, or until the producer leaves the slot or the run is stopped. */
  #gather(slot: number): void {
    const { slots, producer, waits } = this.#ring;
    const end = performance.now() + GATHER;
    for (let left = GATHER; left > 0; left = end - performance.now()) {
      const bell = slots.bell(slot);
      if (producer.slot !== slot || waits.stopped) return;
      waits.block(slots.bellWord(slot), bell, left);
    }
  }
}

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

/** Where a worker gets its batches. */
export interface BatchSource {
  /**
   * The next batch; undefined if the input has ended or no further batch may be taken.
   *
   * @throws DescriptorError
   */
  next(): Promise<Batch | undefined>;
}

/** Where a worker hands over its batches. Their output lies in a slot of the ring. */
export interface BatchSink {
  /**
   * Hands over output of an unfinished batch. Returns when the output is written and the slot's
   * turn has come; false if the run was stopped.
   */
  yield(slot: number): Promise<boolean>;
  /**
   * Hands over the last output of a batch, to be written after the output of all earlier batches;
   * false if the run was stopped.
   */
  finish(slot: number): Promise<boolean>;
  /**
   * As `finish`, for a batch that ends before the bad record at which a strict run stops. Returns
   * that record if its line is known.
   */
  refuse(slot: number): Promise<ListedRecord | undefined>;
}

/** Leaves the output in its slot for the main thread to write. */
export class RingBatchSink implements BatchSink {
  readonly #ring: Ring;
  readonly #worker: number;

  constructor(ring: Ring, worker: number) {
    this.#ring = ring;
    this.#worker = worker;
  }

  async yield(slot: number): Promise<boolean> {
    const { slots, waits } = this.#ring;
    const yielded = ownedWord(YIELDED, this.#worker);
    slots.setState(slot, yielded);
    while (slots.state(slot) === yielded) {
      if (waits.stopped) return false;
      await waits.while(slots.stateWord(slot), yielded);
    }
    return true;
  }

  async finish(slot: number): Promise<boolean> {
    this.#ring.slots.setState(slot, ownedWord(JUDGED, this.#worker));
    return true;
  }

  async refuse(slot: number): Promise<undefined> {
    this.#ring.slots.setState(slot, REFUSED);
  }
}

/** Writes all output that is due to a descriptor, whichever worker judged it. */
export class DescriptorBatchSink implements BatchSink {
  readonly #ring: Ring;
  readonly #worker: number;
  readonly #descriptor: number;

  constructor(ring: Ring, worker: number, descriptor: number) {
    this.#ring = ring;
    this.#worker = worker;
    this.#descriptor = descriptor;
  }

  /** @throws DescriptorError */
  async yield(slot: number): Promise<boolean> {
    if (!(await this.#ring.writer.awaitTurn(slot))) return false;
    writeAll(this.#ring, slot, this.#descriptor);
    this.#ring.badRecords.list(slot);
    return true;
  }

  /** @throws DescriptorError */
  async finish(slot: number): Promise<boolean> {
    this.#ring.slots.setState(slot, ownedWord(JUDGED, this.#worker));
    writeDue(this.#ring, this.#worker, this.#descriptor);
    return !this.#ring.stopped;
  }

  /** @throws DescriptorError */
  async refuse(slot: number): Promise<ListedRecord | undefined> {
    if (!(await this.#ring.writer.awaitTurn(slot))) return undefined;
    writeAll(this.#ring, slot, this.#descriptor);
    return this.#ring.badRecords.strict(slot);
  }
}

/**
 * Writes all output that is due, unless another worker is the writer.
 *
 * @throws DescriptorError
 */
export function writeDue(ring: Ring, worker: number, descriptor: number): void {
  const { writer, badRecords } = ring;
  while (writer.due !== undefined && writer.become(worker)) {
    for (let slot = writer.due; slot !== undefined && !ring.stopped; slot = writer.due) {
      writeAll(ring, slot, descriptor);
      badRecords.list(slot);
      writer.retire(slot);
    }
    writer.resign();
    if (ring.stopped) return;
  }
}
