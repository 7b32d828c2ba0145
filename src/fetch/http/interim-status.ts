import { CR, DIGIT_0, DIGIT_2, DIGIT_9, LF } from '../../ascii.js';
import { FetchFailure } from '../transport/failure.js';

/**
 * Maximum bytes of a status line with the blank lines before it. undici bounds all other lines of a
 * head.
 */
const LONGEST_STATUS_LINE = 16_384;

/** How the status line of an interim response begins; `#` is a digit. */
const INTERIM = 'HTTP/#.# 1##';

/** Start and end of the three digits of a status. */
const STATUS = INTERIM.indexOf('1');
const STATUS_END = INTERIM.length - 1;

/**
 * Renames each `100 Continue` before an answer to 102, in place. undici refuses a 100 that it did
 * not request, but skips a 102. For a client that sends no body, both mean the same. All other
 * bytes stay unchanged, so that undici alone judges them.
 *
 * Pieces may be split anywhere. No byte is kept, and each is examined once.
 */
export class InterimStatus {
  /** Whether the status line of the final response has passed: the rest stays as it is. */
  #passed = false;
  #inStatusLine = true;
  /** Bytes of the current line, without blank lines before it. */
  #column = 0;
  /** Bytes of the current status line and of blank lines before it. */
  #length = 0;
  #isInterim = true;
  /** Whether the second digit of the status is a zero. */
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
      else if (this.#takeStatus(byte)) piece[at] = DIGIT_2;
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
    if (at === STATUS + 1) this.#isTen = byte === DIGIT_0;
    return at === STATUS_END && this.#isTen && byte === DIGIT_0;
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
  if (expected === '#') return byte >= DIGIT_0 && byte <= DIGIT_9;
  return byte === expected?.charCodeAt(0);
}
