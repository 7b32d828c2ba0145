import { COLON, CR, HASH, LF, NUL } from '../ascii.js';

/**
 * Walks the lines of a body, which CR, LF or CRLF end, without allocating. Each byte is read at
 * most three times. The fields describe the current line.
 */
export class LineCursor {
  /** Number of the line, from 1. */
  number = 0;
  /** Offset of the line's first byte. */
  start = 0;
  /**
   * Offset after the line's content. A line end, a comment, a NUL or the limit ends the content.
   */
  end = 0;
  /** Offset of the first colon before `end`, or -1. */
  colon = -1;
  /** Whether a NUL set `end`. */
  endsAtNul = false;
  /** Whether a NUL is anywhere in the line, its comment included. */
  holdsNul = false;
  /** Whether the limit on lines set `end`. */
  isTruncated = false;

  readonly #bytes: Uint8Array;
  readonly #length: number;
  readonly #lineBytes: number;
  #next: number;

  /** @param lineBytes the limit on the content of a line */
  constructor(bytes: Uint8Array, from: number, to: number, lineBytes: number) {
    this.#bytes = bytes;
    this.#length = to;
    this.#lineBytes = lineBytes;
    this.#next = from;
  }

  /** Moves to the next line; false at the end of the body. */
  advance(): boolean {
    const bytes = this.#bytes;
    const length = this.#length;
    const start = this.#next;
    if (start >= length) return false;

    // All offsets stay below `length`, so no byte read here is undefined.
    const stop = Math.min(length, start + this.#lineBytes);
    let at = start;
    let colon = -1;
    let byte = -1;
    for (; at < stop; at++) {
      byte = bytes[at] as number;
      if (byte > COLON) continue;
      if (byte === COLON) {
        colon = at;
        break;
      }
      if (byte === HASH || byte === LF || byte === CR || byte === NUL) break;
    }
    if (colon >= 0) {
      for (at++; at < stop; at++) {
        byte = bytes[at] as number;
        if (byte > HASH) continue;
        if (byte === HASH || byte === LF || byte === CR || byte === NUL) break;
      }
    }
    const end = at;
    const endsAtNul = byte === NUL;

    let holdsNul = endsAtNul;
    for (; at < length; at++) {
      byte = bytes[at] as number;
      if (byte > CR) continue;
      if (byte === LF || byte === CR) break;
      if (byte === NUL) holdsNul = true;
    }

    this.number++;
    this.start = start;
    this.end = end;
    this.colon = colon;
    this.endsAtNul = endsAtNul;
    this.holdsNul = holdsNul;
    this.isTruncated = end === stop && at > stop;
    this.#next = byte === CR && at + 1 < length && bytes[at + 1] === LF ? at + 2 : at + 1;
    return true;
  }
}
