import { writeOutput } from '../process/standard-streams.js';

/** Characters that are collected for one write. */
const BATCH_LENGTH = 1 << 18;

/** Writes texts to standard output, many at a time, until the reader goes away. */
export class TextBatches {
  /** Whether the reader has gone away. */
  isClosed = false;
  #held: string[] = [];
  #length = 0;

  add(text: string): void {
    this.#held.push(text);
    this.#length += text.length;
    if (this.#length >= BATCH_LENGTH) this.flush();
  }

  flush(): void {
    if (this.#length > 0 && !this.isClosed) this.isClosed = !writeOutput(this.#held.join(''));
    this.#held = [];
    this.#length = 0;
  }
}
