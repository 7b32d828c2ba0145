import { closeSync, openSync, readSync } from 'node:fs';
import { Writable } from 'node:stream';

const LINE_FEED = 0x0a;

/**
 * The lines of a file without line feeds: an index, since millions of Buffers would not fit into
 * memory.
 */
export class Lines {
  readonly bytes: Buffer;
  readonly #ends: Uint32Array;

  /** @param bytes less than 4 GiB; the last line needs no line feed */
  constructor(bytes: Buffer) {
    this.bytes = bytes;
    let count = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, end + 1)) {
      count++;
    }
    const unended = bytes.length > 0 && bytes[bytes.length - 1] !== LINE_FEED;
    this.#ends = new Uint32Array(unended ? count + 1 : count);
    let from = 0;
    for (let line = 0; line < count; line++) {
      const end = bytes.indexOf(LINE_FEED, from);
      this.#ends[line] = end;
      from = end + 1;
    }
    if (unended) this.#ends[count] = bytes.length;
  }

  get length(): number {
    return this.#ends.length;
  }

  /** A view of one line, counted from 0; `undefined` past the last. */
  at(index: number): Buffer | undefined {
    const end = this.#ends[index];
    if (end === undefined) return undefined;
    const start = index === 0 ? 0 : (this.#ends[index - 1] ?? 0) + 1;
    return this.bytes.subarray(start, end);
  }
}

/** Passes on each line without its line feed; the last line needs none. */
export class LineSink extends Writable {
  readonly #line: (bytes: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(line: (bytes: Buffer) => void) {
    super();
    this.#line = line;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      this.#line(bytes.subarray(start, end));
      start = end + 1;
    }
    this.#rest = bytes.subarray(start);
    done();
  }

  override _final(done: () => void): void {
    if (this.#rest.length > 0) this.#line(this.#rest);
    done();
  }
}

/** The first bytes of a file, or the whole file if it is shorter. */
export function firstBytes(path: string, most: number): Buffer {
  const bytes = Buffer.alloc(most);
  const descriptor = openSync(path, 'r');
  const read = readSync(descriptor, bytes);
  closeSync(descriptor);
  return bytes.subarray(0, read);
}
