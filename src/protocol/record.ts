import type { Grammar, Key } from './grammar.js';
import type { LineCursor } from './lines.js';
import { LOWER_CASE_BIT, SPACE, TAB } from './octet.js';

/** What a line is: a record, nothing but white space or a comment, or neither. */
export type LineForm = 'record' | 'blank' | 'no-separator' | 'no-key';

/**
 * Where the key and the value of a line are (RFC 9309 section 2.2). One cursor serves all lines of
 * a body.
 */
export class RecordCursor {
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;

  readonly #octets: Uint8Array;
  readonly #grammar: Grammar;

  constructor(octets: Uint8Array, grammar: Grammar) {
    this.#octets = octets;
    this.#grammar = grammar;
  }

  /** Finds key and value of a line; unless it returns 'record' the offsets are void. */
  read(line: LineCursor): LineForm {
    const start = this.#skipWhiteSpace(line.start, line.end);
    const end = this.#dropWhiteSpace(start, line.end);
    if (start === end) return 'blank';
    let separator = line.colon;
    if (separator < 0) {
      separator = this.#grammar.colonRequired ? -1 : this.#spaceBetweenTwoWords(start, end);
      if (separator < 0) return 'no-separator';
    }
    const keyEnd = this.#dropWhiteSpace(start, separator);
    if (keyEnd === start) return 'no-key';
    this.keyStart = start;
    this.keyEnd = keyEnd;
    this.valueStart = this.#skipWhiteSpace(separator + 1, end);
    this.valueEnd = end;
    return 'record';
  }

  /** The key of the record that was last read. */
  key(): Key {
    const octets = this.#octets;
    const start = this.keyStart;
    const length = this.keyEnd - start;
    for (const { key, octets: word, whole } of this.#grammar.spellings) {
      if (whole ? length !== word.length : length < word.length) continue;
      // Neither CR nor NUL can be in a key, so no octet but '-' and ' ' becomes one of these by the
      // bit.
      let at = 0;
      while (at < word.length && ((octets[start + at] as number) | LOWER_CASE_BIT) === word[at])
        at++;
      if (at === word.length) return key;
    }
    return 'other';
  }

  /** Whether the profile takes this octet, not one that ends a line, for white space. */
  isWhiteSpace(octet: number | undefined): boolean {
    if (octet === undefined) return false;
    return octet === SPACE || (octet >= TAB && octet <= this.#grammar.lastWhiteSpaceControl);
  }

  #skipWhiteSpace(start: number, end: number): number {
    let at = start;
    while (at < end && this.isWhiteSpace(this.#octets[at])) at++;
    return at;
  }

  #dropWhiteSpace(start: number, end: number): number {
    let at = end;
    while (at > start && this.isWhiteSpace(this.#octets[at - 1])) at--;
    return at;
  }

  /**
   * Offset of the first space or tab if no other run of them follows, else -1. White space at the
   * ends is gone already.
   */
  #spaceBetweenTwoWords(start: number, end: number): number {
    const octets = this.#octets;
    let separator = start;
    while (separator < end && !isSpaceOrTab(octets[separator])) separator++;
    if (separator === end) return -1;
    let at = separator;
    while (at < end && isSpaceOrTab(octets[at])) at++;
    while (at < end && !isSpaceOrTab(octets[at])) at++;
    return at === end ? separator : -1;
  }
}

function isSpaceOrTab(octet: number | undefined): boolean {
  return octet === SPACE || octet === TAB;
}
