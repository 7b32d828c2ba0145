import { writeOutput } from '../process/standard-streams.js';

/** Bytes that are collected for one write. */
const BATCH_BYTES = 1 << 18;

/** Maximum bytes of a UTF-16 code unit in UTF-8. */
const UNIT_BYTES = 3;

/** Writes texts to standard output, many at a time, until the reader goes away. */
export class TextBatches {
  /** Whether the reader has gone away. */
  isClosed = false;
  readonly #held = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #length = 0;

  add(text: string): void {
    if (UNIT_BYTES * text.length > BATCH_BYTES - this.#length) {
      this.flush();
      if (UNIT_BYTES * text.length > BATCH_BYTES) {
        this.#write(Buffer.from(text));
        return;
      }
    }
    this.#length += this.#held.write(text, this.#length);
  }

  flush(): void {
    if (this.#length > 0) this.#write(this.#held.subarray(0, this.#length));
    this.#length = 0;
  }

  #write(bytes: Buffer): void {
    if (!this.isClosed) this.isClosed = !writeOutput(bytes);
  }
}
