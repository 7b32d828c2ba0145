/** Fills the ring with batches of whole lines, from a stream, a pipe or zstd data. */

import { FileEnd } from '../files/openings.js';
import { BlockDecoder } from '../files/zstd/decoder.js';
import { FrameScanner, UnsupportedZstdError, ZstdError } from '../files/zstd/frames.js';
import { BatchSplitter } from './batch-splitter.js';
import { DescriptorError, descriptorEnd, readInto } from './descriptor.js';
import type { PipeSource, TaskEnd, ZstdSource } from './messages.js';
import type { Ring } from './ring/ring.js';
import { ENDED, FREE, JUMBO, stateOf, type Word } from './ring/words.js';

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
      // The byte that wakes a thread from its read is not input (pipeline/input/raw-input.ts).
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

/** Bytes of one read. */
const READ_BYTES = 1 << 18;

/**
 * Fills the ring from a file in zstd, on a thread of its own, which may block. The lines before
 * damage are passed on, except an unfinished last one.
 */
export class ZstdProducer {
  readonly #ring: Ring;
  readonly #source: ZstdSource;
  readonly #producer: Producer;
  readonly #end: FileEnd;
  readonly #scanner = new FrameScanner();
  /** Bytes that have come out, and those of them that are yet to be dropped. */
  #decoded = 0;
  #toDrop: number;

  constructor(ring: Ring, source: ZstdSource) {
    this.#ring = ring;
    this.#source = source;
    this.#producer = new Producer(ring);
    this.#end = new FileEnd(source.descriptor, source.bytes);
    this.#toDrop = source.dropped;
  }

  /** Reads the file to its end, or until the run is stopped. */
  fill(): TaskEnd {
    let failure: TaskEnd | undefined;
    try {
      this.#decode();
    } catch (error) {
      failure = this.#failure(error);
    }
    while (!this.#ring.stopped && !this.#producer.end(failure === undefined)) this.#wait();
    return this.#ring.stopped ? { end: 'stopped' } : (failure ?? { end: 'done' });
  }

  /** @throws ZstdError, DescriptorError */
  #decode(): void {
    const decoder = new BlockDecoder(this.#source.codec);
    const buffer = new Uint8Array(READ_BYTES);
    for (let position = this.#source.offset; !this.#ring.stopped; ) {
      const bytes = this.#read(buffer, position);
      if (this.#ring.stopped) return;
      if (bytes === 0) break;
      position += bytes;
      Atomics.store(this.#source.progress, 0, BigInt(position));
      for (const unit of this.#scanner.scan(buffer.subarray(0, bytes))) {
        const content = decoder.decode(unit);
        this.#decoded += content.length;
        if (!this.#pour(content)) return;
      }
    }
    this.#scanner.end();
  }

  /** @throws DescriptorError also if the file was truncated */
  #read(buffer: Uint8Array, position: number): number {
    const { descriptor } = this.#source;
    try {
      const bytes = readInto(this.#ring, descriptor, buffer, position);
      if (!this.#ring.stopped) this.#end.check(position, bytes);
      return bytes;
    } catch (error) {
      const cause = error instanceof DescriptorError ? error.cause : error;
      throw new DescriptorError('input', cause, position);
    }
  }

  /** Puts content into the ring; returns false if the run was stopped. */
  #pour(content: Uint8Array): boolean {
    const dropped = Math.min(this.#toDrop, content.length);
    this.#toDrop -= dropped;
    let rest = content.subarray(dropped);
    while (!this.#ring.stopped) {
      const room = this.#producer.room();
      if (room === undefined) {
        this.#wait();
        continue;
      }
      if (rest.length === 0) return true;
      const part = rest.subarray(0, room.length);
      room.set(part);
      rest = rest.subarray(part.length);
      this.#producer.accept(part.length);
    }
    return false;
  }

  #wait(): void {
    this.#ring.waits.block(this.#producer.awaitedWord, this.#producer.awaitedValue);
  }

  #failure(error: unknown): TaskEnd {
    if (error instanceof DescriptorError) return descriptorEnd(error);
    if (!(error instanceof ZstdError)) throw error;
    const remedy = error instanceof UnsupportedZstdError ? error.remedy : undefined;
    return { end: 'damaged', message: error.message, remedy, bytes: this.#decoded };
  }
}
