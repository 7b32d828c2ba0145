import { FileEnd } from '../files/file-end.js';
import { BlockDecoder } from '../files/zstd/block-decoder.js';
import { FrameScanner, UnsupportedZstdError, ZstdError } from '../files/zstd/frame-scanner.js';
import { DescriptorError, descriptorEnd, readInto } from './descriptor.js';
import type { TaskEnd, ZstdSource } from './messages.js';
import { Producer } from './producer.js';
import type { Ring } from './ring/ring.js';

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
