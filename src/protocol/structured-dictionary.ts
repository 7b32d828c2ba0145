/**
 * Reads dictionaries of RFC 9651 (Structured Field Values), as `Content-Usage` has them. Only the
 * values that are tokens matter here; all others are checked and left out.
 */

import { Buffer, isUtf8 } from 'node:buffer';
import { isDigit, isLetter } from './byte.js';

/** A value that is not a token: a number, a string, an inner list or another type. */
export const OTHER_TYPE = Symbol('other type');

export type DictionaryValue = string | typeof OTHER_TYPE;

/** Maximum digits of an integer, of the whole part of a decimal, and of its fraction. */
const INTEGER_DIGITS = 15;
const WHOLE_DIGITS = 12;
const FRACTION_DIGITS = 3;

/** Digits of a byte in a display string. */
const HEX_DIGITS = 2;

const TOKEN_MARKS = "!#$%&'*+-.^_`|~:/";
const KEY_MARKS = '_-.*';

/**
 * The members of a dictionary; `undefined` if the text is not a dictionary, which makes the whole
 * field void (section 4.2). Of two members with the same key, the later one counts.
 */
export function parseDictionary(text: string): ReadonlyMap<string, DictionaryValue> | undefined {
  return new Parser(text).dictionary();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  dictionary(): ReadonlyMap<string, DictionaryValue> | undefined {
    const members = new Map<string, DictionaryValue>();
    this.#skip(' ');
    while (this.#at < this.#text.length) {
      const key = this.#key();
      if (key === undefined) return undefined;
      const value = this.#take('=') ? this.#member() : OTHER_TYPE;
      if (value === undefined || !this.#parameters()) return undefined;
      members.delete(key);
      members.set(key, value);
      this.#skip(' \t');
      if (this.#at === this.#text.length) return members;
      if (!this.#take(',')) return undefined;
      this.#skip(' \t');
      if (this.#at === this.#text.length) return undefined;
    }
    return members;
  }

  #member(): DictionaryValue | undefined {
    return this.#take('(') ? this.#innerList() : this.#item();
  }

  #innerList(): typeof OTHER_TYPE | undefined {
    for (;;) {
      const start = this.#at;
      this.#skip(' ');
      if (this.#take(')')) return OTHER_TYPE;
      const isFirst = this.#text[start - 1] === '(';
      if (!isFirst && this.#at === start) return undefined;
      if (this.#item() === undefined || !this.#parameters()) return undefined;
    }
  }

  #item(): DictionaryValue | undefined {
    const first = this.#text[this.#at] ?? '';
    const code = this.#text.charCodeAt(this.#at);
    if (first === '*' || isLetter(code)) return this.#token();
    if (first === '-' || isDigit(code)) return this.#number(true);
    this.#at++;
    switch (first) {
      case '"':
        return this.#string();
      case ':':
        return this.#until(':', (other) => isLetter(other) || isDigit(other) || isBase64(other));
      case '?':
        return this.#take('0') || this.#take('1') ? OTHER_TYPE : undefined;
      case '@':
        return this.#number(false);
      case '%':
        return this.#take('"') ? this.#displayString() : undefined;
      default:
        return undefined;
    }
  }

  #token(): string {
    const start = this.#at++;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (isLetter(code) || isDigit(code)) continue;
      if (!TOKEN_MARKS.includes(this.#text.charAt(this.#at))) break;
    }
    return this.#text.slice(start, this.#at);
  }

  #number(mayBeDecimal: boolean): typeof OTHER_TYPE | undefined {
    this.#take('-');
    const whole = this.#digits();
    if (whole === 0 || whole > INTEGER_DIGITS) return undefined;
    if (!mayBeDecimal || !this.#take('.')) return OTHER_TYPE;
    const fraction = this.#digits();
    const isDecimal = whole <= WHOLE_DIGITS && fraction > 0 && fraction <= FRACTION_DIGITS;
    return isDecimal ? OTHER_TYPE : undefined;
  }

  #digits(): number {
    const start = this.#at;
    while (isDigit(this.#text.charCodeAt(this.#at))) this.#at++;
    return this.#at - start;
  }

  #string(): typeof OTHER_TYPE | undefined {
    while (this.#at < this.#text.length) {
      const character = this.#text.charAt(this.#at);
      if (!isPrintable(this.#text.charCodeAt(this.#at++))) return undefined;
      if (character === '"') return OTHER_TYPE;
      if (character === '\\' && !this.#take('"') && !this.#take('\\')) return undefined;
    }
    return undefined;
  }

  /** Each `%` begins two lower-case hexadecimal digits; the bytes are UTF-8 (section 4.2.10). */
  #displayString(): typeof OTHER_TYPE | undefined {
    const start = this.#at;
    if (this.#until('"', isPrintable) === undefined) return undefined;
    const [first = '', ...escaped] = this.#text.slice(start, this.#at - 1).split('%');
    const bytes = [Buffer.from(first)];
    for (const part of escaped) {
      const digits = part.slice(0, HEX_DIGITS);
      const byte = Buffer.from(digits, 'hex');
      if (byte.toString('hex') !== digits || byte.length !== 1) return undefined;
      bytes.push(byte, Buffer.from(part.slice(HEX_DIGITS)));
    }
    return isUtf8(Buffer.concat(bytes)) ? OTHER_TYPE : undefined;
  }

  #until(end: string, accepts: (code: number) => boolean): typeof OTHER_TYPE | undefined {
    while (this.#at < this.#text.length) {
      if (this.#take(end)) return OTHER_TYPE;
      if (!accepts(this.#text.charCodeAt(this.#at++))) return undefined;
    }
    return undefined;
  }

  /** Skips the parameters of a member; false if they are malformed. */
  #parameters(): boolean {
    while (this.#take(';')) {
      this.#skip(' ');
      if (this.#key() === undefined) return false;
      if (this.#take('=') && this.#item() === undefined) return false;
    }
    return true;
  }

  #key(): string | undefined {
    const start = this.#at;
    const first = this.#text[start] ?? '';
    if (first !== '*' && !isLowerCase(first)) return undefined;
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const character = this.#text.charAt(this.#at);
      const isKey = isLowerCase(character) || isDigit(character.charCodeAt(0));
      if (!isKey && !KEY_MARKS.includes(character)) break;
    }
    return this.#text.slice(start, this.#at);
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skip(characters: string): void {
    while (this.#at < this.#text.length && characters.includes(this.#text.charAt(this.#at))) {
      this.#at++;
    }
  }
}

function isLowerCase(character: string): boolean {
  return character >= 'a' && character <= 'z' && character.length === 1;
}

function isBase64(code: number): boolean {
  return '+/='.includes(String.fromCharCode(code));
}

function isPrintable(code: number): boolean {
  return code >= 0x20 && code <= 0x7e;
}
