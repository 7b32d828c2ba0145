import { LF, QUOTE } from '../../../ascii.js';

// The places at which a row may continue.
const FIELD_START = 0;
const UNQUOTED = 1;
const QUOTED = 2;
/**
 * After a quote within a quoted field. The quote is the field's end, or the first of two quotes.
 */
const AFTER_QUOTE = 3;

/**
 * Finds where rows end (RFC 4180): at a newline outside quoted fields. Only a quote at the start of
 * a field opens a quoted field; text after its closing quote belongs to the field.
 */
export class RowScanner {
  readonly #delimiter: number;
  #place: number = FIELD_START;
  /** Number of newlines within the row so far. */
  newlines = 0;

  constructor(delimiter: number) {
    this.#delimiter = delimiter;
  }

  /** Whether the row so far ends within a quoted field. */
  get isQuoted(): boolean {
    return this.#place === QUOTED;
  }

  /** Begins the next row. */
  begin(): void {
    this.#place = FIELD_START;
    this.newlines = 0;
  }

  /**
   * Continues with the row; returns the offset after it, or `undefined` if the row does not end in
   * `bytes`.
   */
  scan(bytes: Uint8Array, start: number): number | undefined {
    const delimiter = this.#delimiter;
    const end = bytes.length;
    let place = this.#place;
    let at = start;
    while (at < end) {
      if (place === QUOTED) {
        let byte = bytes[at];
        while (byte !== QUOTE && at < end) {
          if (byte === LF) this.newlines++;
          byte = bytes[++at];
        }
        if (at === end) break;
        at++;
        place = AFTER_QUOTE;
        continue;
      }
      const byte = bytes[at++];
      if (byte === delimiter) {
        place = FIELD_START;
      } else if (byte === LF) {
        return at;
      } else if (byte === QUOTE && place !== UNQUOTED) {
        place = QUOTED;
      } else {
        place = UNQUOTED;
        while (at < end && bytes[at] !== delimiter && bytes[at] !== LF) at++;
      }
    }
    this.#place = place;
    return undefined;
  }
}
