import { CR, LF, SEMICOLON, SPACE, TAB } from '../ascii.js';

/** Maximum number of digits of a chunk's length. A longer length would exceed any body. */
const MAX_DIGITS = 12;

/** What the next byte belongs to. */
type Place = 'size' | 'blank' | 'extension' | 'line end' | 'data' | 'after data' | 'end' | 'broken';

/**
 * Joins the chunks of a body (RFC 9112 section 7.1), whose bytes may come in any pieces. Lines may
 * end in a bare LF. Chunk extensions are skipped. The last chunk ends the body: trailer fields, and
 * whether they are complete, do not matter.
 */
export class ChunkJoiner {
  #place: Place = 'size';
  #size = 0;
  #digits = 0;
  #hasBegun = false;

  /** Whether the line before the first chunk was read. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether the last chunk was found. */
  get isWhole(): boolean {
    return this.#place === 'end';
  }

  /** Whether the bytes are not chunks. Further bytes are ignored. */
  get isBroken(): boolean {
    return this.#place === 'broken';
  }

  /** Takes the next bytes; passes on those that belong to the body. */
  take(bytes: Buffer, onData: (data: Buffer) => void): void {
    for (let at = 0; at < bytes.length && !this.isWhole && !this.isBroken; ) {
      if (this.#place !== 'data') {
        this.#place = this.#after(bytes[at++] as number);
        continue;
      }
      const data = bytes.subarray(at, at + this.#size);
      onData(data);
      at += data.length;
      this.#size -= data.length;
      if (this.#size === 0) this.#place = 'after data';
    }
  }

  /** The place after a byte that is not data. */
  #after(byte: number): Place {
    if (this.#place === 'after data') {
      if (byte === CR) return 'after data';
      this.#digits = 0;
      return byte === LF ? 'size' : 'broken';
    }
    if (this.#place === 'size') {
      const digit = hexValue(byte);
      if (digit >= 0) {
        this.#size = this.#digits === 0 ? digit : this.#size * 16 + digit;
        return ++this.#digits > MAX_DIGITS ? 'broken' : 'size';
      }
      if (this.#digits === 0) return 'broken';
    }
    if (byte === LF) {
      this.#hasBegun = true;
      return this.#size === 0 ? 'end' : 'data';
    }
    if (this.#place === 'extension') return 'extension';
    if (this.#place === 'line end') return 'broken';
    if (byte === SEMICOLON) return 'extension';
    if (byte === CR) return 'line end';
    return byte === SPACE || byte === TAB ? 'blank' : 'broken';
  }
}

/** A body after its chunks were joined. */
export interface Dechunked {
  readonly body: Buffer;
  /** Whether the last chunk was found. */
  readonly isWhole: boolean;
}

/**
 * Joins the chunks of a body. `undefined` if the body does not begin with a chunk: crawlers that
 * join the chunks often keep the header.
 */
export function dechunk(bytes: Buffer): Dechunked | undefined {
  const joiner = new ChunkJoiner();
  const pieces: Buffer[] = [];
  joiner.take(bytes, (data) => pieces.push(data));
  if (!joiner.hasBegun) return undefined;
  return { body: Buffer.concat(pieces), isWhole: joiner.isWhole };
}

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
