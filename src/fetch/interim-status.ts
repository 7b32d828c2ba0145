import { FetchFailure } from './failure.js';

const LF = 0x0a;
const CR = 0x0d;
const [ZERO, TWO, NINE] = [0x30, 0x32, 0x39];

/** Bytes of a status line and of blank lines before it; undici bounds all other lines of a head. */
const LONGEST_STATUS_LINE = 16_384;

/** How the status line of an interim response begins; `#` is a digit. */
const INTERIM = 'HTTP/#.# 1##';

/** Where the three digits of a status begin and end. */
const STATUS = INTERIM.indexOf('1');
const STATUS_END = INTERIM.length - 1;

/**
 * Renames each `100 Continue` before an answer to 102, in the bytes as they come. undici refuses a
 * 100, which nobody asked for, but passes over a 102. To a client that sends no body both mean the
 * same. All other bytes stay as they are, so undici alone judges them.
 *
 * Pieces may be cut anywhere. No byte is kept, and none is looked at twice.
 */
export class InterimStatus {
  /**
   * Whether the status line of the final response is over: nothing after it concerns this class.
   */
  #passed = false;
  #inStatusLine = true;
  /** Bytes of the current line; in a status line, without blank lines before it. */
  #column = 0;
  /** Bytes of the current status line, with blank lines before it. */
  #length = 0;
  #isInterim = true;
  /** The second digit of a status is a zero. */
  #isTen = false;

  /**
   * Takes the next piece and changes it in place.
   *
   * @throws FetchFailure `protocol-error` for a status line of more than 16 KiB.
   */
  rename(piece: Uint8Array): void {
    for (let at = 0; at < piece.length && !this.#passed; at++) {
      const byte = piece[at] ?? 0;
      if (!this.#inStatusLine) this.#takeField(byte);
      else if (this.#takeStatus(byte)) piece[at] = TWO;
    }
  }

  /** @returns whether the byte is the last digit of a 100 */
  #takeStatus(byte: number): boolean {
    if (++this.#length > LONGEST_STATUS_LINE) {
      throw new FetchFailure(
        'protocol-error',
        `a status line of more than ${LONGEST_STATUS_LINE} bytes`,
      );
    }
    if (this.#column === 0 && (byte === CR || byte === LF)) return false;
    const at = this.#column++;
    if (byte === LF) {
      this.#passed = !this.#isInterim || at <= STATUS_END;
      this.#inStatusLine = false;
      this.#column = 0;
      return false;
    }
    if (at > STATUS_END || !this.#isInterim) return false;
    this.#isInterim = isExpected(byte, at);
    if (at === STATUS + 1) this.#isTen = byte === ZERO;
    return at === STATUS_END && this.#isTen && byte === ZERO;
  }

  #takeField(byte: number): void {
    if (byte === CR) return;
    if (byte !== LF) {
      this.#column++;
      return;
    }
    if (this.#column === 0) {
      this.#inStatusLine = true;
      this.#length = 0;
    }
    this.#column = 0;
  }
}

function isExpected(byte: number, at: number): boolean {
  const expected = INTERIM[at];
  if (expected === '#') return byte >= ZERO && byte <= NINE;
  return byte === expected?.charCodeAt(0);
}
