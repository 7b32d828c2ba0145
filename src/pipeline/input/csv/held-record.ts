/** Maximum length of a buffer, in bytes, that is kept for the next record. */
const KEPT_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/** The bytes of an unfinished record from earlier pieces. */
export class HeldRecord {
  readonly #maxBytes: number;
  #buffer: Buffer = NOTHING;
  #length = 0;

  /** @param maxBytes maximum number of bytes that the buffer ever holds */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** A view of the bytes. It stays valid until bytes are appended after `clear`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  append(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#buffer.length) {
      // Doubling keeps the total cost of copying linear.
      const wanted = Math.min(2 * length, this.#maxBytes);
      const grown = Buffer.allocUnsafeSlow(Math.max(wanted, length));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    bytes.copy(this.#buffer, this.#length);
    this.#length = length;
  }

  /** Empties the buffer, which stays for the next record. */
  clear(): void {
    this.#length = 0;
  }

  /** Frees the memory of a large buffer. */
  shrink(): void {
    if (this.#buffer.length > KEPT_BYTES) this.release();
  }

  /** Empties the buffer and frees its memory. */
  release(): void {
    this.#buffer = NOTHING;
    this.#length = 0;
  }
}
