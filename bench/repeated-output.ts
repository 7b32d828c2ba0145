import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Writable } from 'node:stream';

const LF = 0x0a;

/**
 * An output that must be a file's content so many times in a row: compares each octet as it comes,
 * counts lines, and keeps a running checksum of their order.
 */
export class RepeatedOutput extends Writable {
  /** Lines so far. */
  records = 0;
  readonly #descriptor: number;
  readonly #octets: number;
  readonly #expected: number;
  readonly #digest = createHash('sha256');
  #passed = 0;
  #buffer = Buffer.alloc(1 << 20);

  constructor(path: string, times: number) {
    super({ highWaterMark: 1 << 22 });
    this.#descriptor = openSync(path, 'r');
    this.#octets = fstatSync(this.#descriptor).size;
    this.#expected = times * this.#octets;
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    let at = 0;
    while (at < chunk.length) {
      const position = this.#passed % this.#octets;
      const want = Math.min(chunk.length - at, this.#octets - position, this.#buffer.length);
      const got = readSync(this.#descriptor, this.#buffer, 0, want, position);
      const part = chunk.subarray(at, at + got);
      if (got === 0 || !part.equals(this.#buffer.subarray(0, got)) || this.#isOver(got)) {
        done(
          new Error(`the output differs behind octet ${this.#passed}, in record ${this.records}`),
        );
        return;
      }
      this.#passed += got;
      at += got;
    }
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, end + 1)) this.records++;
    this.#digest.update(chunk);
    done();
  }

  #isOver(octets: number): boolean {
    return this.#passed + octets > this.#expected;
  }

  /**
   * The checksum of all that came, in hexadecimal digits.
   *
   * @throws Error when something is missing
   */
  finish(): string {
    closeSync(this.#descriptor);
    if (this.#passed !== this.#expected) {
      throw new Error(`the output ends at octet ${this.#passed} of ${this.#expected}`);
    }
    return this.#digest.digest('hex');
  }
}
