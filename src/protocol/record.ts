import { LOWER_CASE_BIT, SPACE, TAB } from '../ascii.js';
import type { Grammar, Key } from './grammar.js';
import type { LineCursor } from './lines.js';

/** The form of a line: a record, only white space or a comment, or neither. */
export type LineForm = 'record' | 'blank' | 'no-separator' | 'no-key';

/** Locates the key and the value of a line (RFC 9309 section 2.2), for one line after another. */
export class RecordCursor {
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;

  readonly #bytes: Uint8Array;
  readonly #grammar: Grammar;

  constructor(bytes: Uint8Array, grammar: Grammar) {
    this.#bytes = bytes;
    this.#grammar = grammar;
  }

  /** Finds key and value of a line. The offsets are valid only if the result is 'record'. */
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

  /** The key of the last record read. */
  key(): Key {
    const bytes = this.#bytes;
    const start = this.keyStart;
    const length = this.keyEnd - start;
    for (const { key, bytes: word, whole } of this.#grammar.spellings) {
      if (whole ? length !== word.length : length < word.length) continue;
      // The bit turns CR and NUL into '-' and ' ', but a key can contain neither CR nor NUL.
      let at = 0;
      while (at < word.length && ((bytes[start + at] as number) | LOWER_CASE_BIT) === word[at])
        at++;
      if (at === word.length) return key;
    }
    return 'other';
  }

  /** Whether a byte, other than a line end, is white space in the profile. */
  isWhiteSpace(byte: number | undefined): boolean {
    if (byte === undefined) return false;
    return byte === SPACE || (byte >= TAB && byte <= this.#grammar.lastWhiteSpaceControl);
  }

  #skipWhiteSpace(start: number, end: number): number {
    let at = start;
    while (at < end && this.isWhiteSpace(this.#bytes[at])) at++;
    return at;
  }

  #dropWhiteSpace(start: number, end: number): number {
    let at = end;
    while (at > start && this.isWhiteSpace(this.#bytes[at - 1])) at--;
    return at;
  }

  /** Offset of the first space or tab if no second run of them follows; otherwise -1. */
  #spaceBetweenTwoWords(start: number, end: number): number {
    const bytes = this.#bytes;
    let separator = start;
    while (separator < end && !isSpaceOrTab(bytes[separator])) separator++;
    if (separator === end) return -1;
    let at = separator;
    while (at < end && isSpaceOrTab(bytes[at])) at++;
    while (at < end && !isSpaceOrTab(bytes[at])) at++;
    return at === end ? separator : -1;
  }
}

function isSpaceOrTab(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}
