import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Writable } from 'node:stream';

const LINE_FEED = 0x0a;

/** An output that must repeat a file's content; compares each byte and counts lines. */
export class RepeatedOutput extends Writable {
  /** Lines so far. */
  records = 0;
  readonly #descriptor: number;
  readonly #fileBytes: number;
  readonly #expectedBytes: number;
  readonly #digest = createHash('sha256');
  readonly #buffer = Buffer.alloc(1 << 20);
  #passed = 0;

  /** @param times number of repetitions */
  constructor(path: string, times: number) {
    super({ highWaterMark: 1 << 22 });
    this.#descriptor = openSync(path, 'r');
    this.#fileBytes = fstatSync(this.#descriptor).size;
    this.#expectedBytes = times * this.#fileBytes;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    let at = 0;
    while (at < chunk.length) {
      const position = this.#passed % this.#fileBytes;
      const want = Math.min(chunk.length - at, this.#fileBytes - position, this.#buffer.length);
      const got = readSync(this.#descriptor, this.#buffer, 0, want, position);
      const piece = chunk.subarray(at, at + got);
      const isOver = this.#passed + got > this.#expectedBytes;
      if (got === 0 || isOver || !piece.equals(this.#buffer.subarray(0, got))) {
        const place = `after byte ${this.#passed}, in record ${this.records + 1}`;
        done(new Error(`the output differs ${place}`));
        return;
      }
      this.#passed += got;
      at += got;
    }
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, end + 1)) {
      this.records++;
    }
    this.#digest.update(chunk);
    done();
  }

  /**
   * @returns SHA-256 of the whole output, in hexadecimal
   * @throws Error when the output is too short
   */
  finish(): string {
    closeSync(this.#descriptor);
    if (this.#passed !== this.#expectedBytes) {
      throw new Error(`the output ends at byte ${this.#passed} of ${this.#expectedBytes}`);
    }
    return this.#digest.digest('hex');
  }
}
