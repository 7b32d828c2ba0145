const INITIAL_CHUNK_OCTETS = 1 << 12;
const MAX_CHUNK_OCTETS = 1 << 24;

/**
 * Of the engine's words: memory that is shared is copied by words only where both ends lie alike,
 * and else octet by octet.
 */
const ALIGNMENT = 8;

/**
 * Strings of octets, one behind another in chunks of memory that never move, each at a multiple of
 * 8. The memory may be shared, so that what one thread has written others need only be told the
 * place of.
 */
export class OctetChunks {
  /** All chunks, by number. */
  readonly list: Buffer[] = [];
  /** Where the string kept last lies: the number of its chunk, and its offset there. */
  chunk = 0;
  start = 0;

  readonly #shared: boolean;
  /** Number of the chunk that is being filled, and its first free octet. */
  #open = -1;
  #free = 0;
  #octets = 0;

  constructor(shared = false) {
    this.#shared = shared;
  }

  /** Copies the string. */
  keep(octets: Uint8Array): void {
    const { length } = octets;
    let chunk = this.list[this.#open];
    if (chunk === undefined || this.#free + length > chunk.length) {
      this.#octets = Math.max(
        length,
        Math.min(2 * this.#octets, MAX_CHUNK_OCTETS),
        INITIAL_CHUNK_OCTETS,
      );
      chunk = this.#shared
        ? Buffer.from(new SharedArrayBuffer(this.#octets))
        : Buffer.from(new ArrayBuffer(this.#octets));
      this.#open = this.list.push(chunk) - 1;
      this.#free = 0;
    }
    chunk.set(octets, this.#free);
    this.chunk = this.#open;
    this.start = this.#free;
    this.#free = (this.#free + length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Takes a chunk in that was filled elsewhere; returns its number. */
  adopt(chunk: Uint8Array): number {
    return this.list.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)) - 1;
  }
}
