import { COLON, CR, HASH, LF, NUL } from './octet.js';

/**
 * Walks the lines of a body, which CR, LF or CRLF end, without an object or a string for any of
 * them. No octet is read more than three times. The fields tell of the line at which `advance` last
 * stopped.
 */
export class LineCursor {
  /** Number of the line, from 1. */
  number = 0;
  /** Offset of the line's first octet. */
  start = 0;
  /**
   * Offset after what counts of the line: its end, its comment, its first NUL, or the longest line.
   */
  end = 0;
  /** Offset of the first colon before `end`, or -1. */
  colon = -1;
  /** Whether a NUL set `end`. */
  endsAtNul = false;
  /** Whether a NUL is anywhere in the line, its comment included. */
  holdsNul = false;
  /** Whether the line is longer than the longest that counts, and this set `end`. */
  isCut = false;

  readonly #octets: Uint8Array;
  readonly #length: number;
  readonly #lineOctets: number;
  #next: number;

  /**
   * The lines of `octets` from offset `from` to offset `to`, of each at most `lineOctets` octets.
   */
  constructor(octets: Uint8Array, from: number, to: number, lineOctets: number) {
    this.#octets = octets;
    this.#length = to;
    this.#lineOctets = lineOctets;
    this.#next = from;
  }

  /** Goes on to the next line; false at the end of the body. */
  advance(): boolean {
    const octets = this.#octets;
    const length = this.#length;
    const start = this.#next;
    if (start >= length) return false;

    // All offsets stay below `length`, so no octet read here is undefined.
    const stop = Math.min(length, start + this.#lineOctets);
    let at = start;
    let colon = -1;
    let octet = -1;
    for (; at < stop; at++) {
      octet = octets[at] as number;
      if (octet > COLON) continue;
      if (octet === COLON) {
        colon = at;
        break;
      }
      if (octet === HASH || octet === LF || octet === CR || octet === NUL) break;
    }
    if (colon >= 0) {
      for (at++; at < stop; at++) {
        octet = octets[at] as number;
        if (octet > HASH) continue;
        if (octet === HASH || octet === LF || octet === CR || octet === NUL) break;
      }
    }
    const end = at;
    const endsAtNul = octet === NUL;

    let holdsNul = endsAtNul;
    for (; at < length; at++) {
      octet = octets[at] as number;
      if (octet > CR) continue;
      if (octet === LF || octet === CR) break;
      if (octet === NUL) holdsNul = true;
    }

    this.number++;
    this.start = start;
    this.end = end;
    this.colon = colon;
    this.endsAtNul = endsAtNul;
    this.holdsNul = holdsNul;
    this.isCut = end === stop && at > stop;
    this.#next = octet === CR && at + 1 < length && octets[at + 1] === LF ? at + 2 : at + 1;
    return true;
  }
}
