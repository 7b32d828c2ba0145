const INITIAL_CHUNK_BYTES = 1 << 12;
const MAX_CHUNK_BYTES = 1 << 24;

/**
 * The engine copies shared memory by words of 8 bytes only if both ends have the same alignment.
 */
const ALIGNMENT = 8;

/**
 * Stores strings of bytes, each at a multiple of 8 in chunks of memory that never move. The memory
 * may be shared. Another thread can then read a string once that thread knows its place.
 */
export class ByteChunks {
  /** All chunks, by number. */
  readonly list: Buffer[] = [];
  /** Chunk and offset of the last string. */
  chunk = 0;
  start = 0;

  readonly #shared: boolean;
  /** The chunk that is being filled, and its first free byte. */
  #open = -1;
  #free = 0;
  #bytes = 0;

  constructor(shared = false) {
    this.#shared = shared;
  }

  /** Appends a copy of a string. */
  keep(bytes: Uint8Array): void {
    const { length } = bytes;
    let chunk = this.list[this.#open];
    if (chunk === undefined || this.#free + length > chunk.length) {
      this.#bytes = Math.max(
        length,
        Math.min(2 * this.#bytes, MAX_CHUNK_BYTES),
        INITIAL_CHUNK_BYTES,
      );
      chunk = this.#shared
        ? Buffer.from(new SharedArrayBuffer(this.#bytes))
        : Buffer.from(new ArrayBuffer(this.#bytes));
      this.#open = this.list.push(chunk) - 1;
      this.#free = 0;
    }
    chunk.set(bytes, this.#free);
    this.chunk = this.#open;
    this.start = this.#free;
    this.#free = (this.#free + length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Takes over a chunk that was filled elsewhere; returns its number. */
  adopt(chunk: Uint8Array): number {
    return this.list.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)) - 1;
  }
}
