import type { ReplacementFile } from '../../files/replacement-file.js';

/** Number of characters that are collected for one write. */
const BATCH_LENGTH = 64 * 1024;

/** Writes lines to a file in order, many at a time. */
export class ReportLines {
  readonly #file: ReplacementFile | undefined;
  #text = '';
  #writing: Promise<void> = Promise.resolve();

  /** @param file undefined drops all lines */
  constructor(file: ReplacementFile | undefined) {
    this.#file = file;
    // `flush` reports the error of the first write that failed.
    this.#writing.catch(() => {});
  }

  add(line: string): void {
    if (this.#file === undefined) return;
    this.#text += line;
    if (this.#text.length >= BATCH_LENGTH) this.#write();
  }

  /** Waits until all lines are written; fails if any write failed. */
  flush(): Promise<void> {
    this.#write();
    return this.#writing;
  }

  #write(): void {
    const text = this.#text;
    this.#text = '';
    this.#writing = this.#writing.then(() => this.#file?.write(Buffer.from(text)));
    this.#writing.catch(() => {});
  }
}
