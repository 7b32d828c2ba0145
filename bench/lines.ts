import { Writable } from 'node:stream';

const LINE_FEED = 0x0a;

/**
 * The lines of a file's octets, without line feeds: an index of them, since millions of Buffers
 * would not fit.
 */
export class Lines {
  readonly octets: Buffer;
  readonly #ends: Uint32Array;

  /** @param octets less than 4 GiB; a last line needs no line feed */
  constructor(octets: Buffer) {
    this.octets = octets;
    let count = 0;
    for (let end = octets.indexOf(LINE_FEED); end >= 0; end = octets.indexOf(LINE_FEED, end + 1)) {
      count++;
    }
    const unended = octets.length > 0 && octets[octets.length - 1] !== LINE_FEED;
    this.#ends = new Uint32Array(unended ? count + 1 : count);
    let from = 0;
    for (let line = 0; line < count; line++) {
      const end = octets.indexOf(LINE_FEED, from);
      this.#ends[line] = end;
      from = end + 1;
    }
    if (unended) this.#ends[count] = octets.length;
  }

  get length(): number {
    return this.#ends.length;
  }

  /** A view of one line, from 0; `undefined` where there is none. */
  at(index: number): Buffer | undefined {
    const end = this.#ends[index];
    if (end === undefined) return undefined;
    const start = index === 0 ? 0 : (this.#ends[index - 1] ?? 0) + 1;
    return this.octets.subarray(start, end);
  }
}

/** Receives lines and hands each on, without its line feed; a last line needs none. */
export class LineSink extends Writable {
  readonly #line: (octets: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(line: (octets: Buffer) => void) {
    super();
    this.#line = line;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const octets = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = octets.indexOf(LINE_FEED); end >= 0; end = octets.indexOf(LINE_FEED, start)) {
      this.#line(octets.subarray(start, end));
      start = end + 1;
    }
    this.#rest = octets.subarray(start);
    done();
  }

  override _final(done: () => void): void {
    if (this.#rest.length > 0) this.#line(this.#rest);
    done();
  }
}
