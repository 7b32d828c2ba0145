/** The lines of a robots.txt, and the key and value of each, by the profile's grammar. */

import { COLON, CR, HASH, LF, LOWER_CASE_BIT, NUL, SPACE, TAB } from '../base/ascii.js';
import type { Profile } from './verdict.js';

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

/**
 * The meaning of a line. All keys but `user-agent`, `allow` and `disallow` are "other records" (RFC
 * 9309 section 2.2.4).
 */
export type Key = 'user-agent' | 'allow' | 'disallow' | 'sitemap' | 'crawl-delay' | 'other';

/** One spelling of a key. */
interface Spelling {
  readonly key: Key;
  /** The key in lower case. */
  readonly bytes: Uint8Array;
  /** Whether a longer key that begins with these bytes is another key. */
  readonly whole: boolean;
}

/** The way in which a profile reads lines, keys and records (RFC 9309 section 2.2). */
export interface Grammar {
  /** Whether the body is limited in size (RFC 9309 section 2.5). */
  readonly limited: boolean;
  /** Whether any prefix of the UTF-8 byte order mark is skipped too. */
  readonly partialByteOrderMark: boolean;
  /** Whether a body that starts with the byte order mark of UTF-16 is decoded. */
  readonly utf16: boolean;
  /** Maximum length of a line, in bytes. The rest of a longer line is dropped. */
  readonly lineBytes: number;
  /** Whether a NUL ends a line's content; otherwise the line is ignored. */
  readonly nulEndsLine: boolean;
  /** The last of the controls from TAB on that count as white space, like the space. */
  readonly lastWhiteSpaceControl: number;
  /** Whether a key needs a colon; otherwise white space separates exactly two words. */
  readonly colonRequired: boolean;
  /** The spellings of keys, in the order in which they are tried. */
  readonly spellings: readonly Spelling[];
  /** Whether the empty string is a product token. */
  readonly emptyProductToken: boolean;
}

function spelling(key: Key, text: string, whole: boolean): Spelling {
  return { key, bytes: Uint8Array.from(text, (letter) => letter.charCodeAt(0)), whole };
}

const RFC9309: Grammar = {
  limited: true,
  partialByteOrderMark: false,
  utf16: true,
  lineBytes: Number.POSITIVE_INFINITY,
  nulEndsLine: false,
  lastWhiteSpaceControl: TAB,
  colonRequired: true,
  spellings: [
    spelling('disallow', 'disallow', true),
    spelling('allow', 'allow', true),
    spelling('user-agent', 'user-agent', true),
    spelling('sitemap', 'sitemap', true),
    spelling('crawl-delay', 'crawl-delay', true),
  ],
  emptyProductToken: false,
};

const GOOGLE: Grammar = {
  limited: false,
  partialByteOrderMark: true,
  utf16: false,
  lineBytes: 2083 * 8 - 1,
  nulEndsLine: true,
  lastWhiteSpaceControl: CR,
  colonRequired: false,
  spellings: [
    spelling('user-agent', 'user-agent', false),
    spelling('user-agent', 'useragent', false),
    spelling('user-agent', 'user agent', false),
    spelling('allow', 'allow', false),
    spelling('disallow', 'disallow', false),
    spelling('disallow', 'dissallow', false),
    spelling('disallow', 'dissalow', false),
    spelling('disallow', 'disalow', false),
    spelling('disallow', 'diasllow', false),
    spelling('disallow', 'disallaw', false),
    spelling('sitemap', 'sitemap', false),
    spelling('sitemap', 'site-map', false),
    spelling('crawl-delay', 'crawl-delay', true),
  ],
  emptyProductToken: true,
};

/** The grammar of each profile. The draft differs from the RFC only in protocol/robots-file.ts. */
export const GRAMMARS: Readonly<Record<Profile, Grammar>> = {
  rfc9309: RFC9309,
  google: GOOGLE,
  'draft-koster-rep-00': RFC9309,
};
