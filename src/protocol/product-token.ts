import { HYPHEN, LOWER_CASE_BIT, UNDERSCORE, UPPER_A, UPPER_Z } from '../ascii.js';
import { isLetter } from './byte.js';

/**
 * Offset after the product token that starts at `start`: its longest run of `A-Z a-z _ -` (RFC 9309
 * section 2.2.1).
 */
export function endOfProductToken(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    if (!isLetter(byte) && byte !== HYPHEN && byte !== UNDERSCORE) break;
  }
  return at;
}

/** Some product tokens in lower case, found by the bytes of a robots.txt. */
export class ProductTokens {
  readonly #tokens: readonly string[];

  constructor(tokens: Iterable<string>) {
    this.#tokens = [...new Set(tokens)];
  }

  /** The token that the bytes from `start` to `end` spell, in any case; `undefined` for others. */
  find(bytes: Uint8Array, start: number, end: number): string | undefined {
    for (const token of this.#tokens) {
      if (token.length !== end - start) continue;
      let at = 0;
      while (at < token.length && lowerCase(bytes[start + at] as number) === token.charCodeAt(at)) {
        at++;
      }
      if (at === token.length) return token;
    }
    return undefined;
  }
}

function lowerCase(byte: number): number {
  return byte >= UPPER_A && byte <= UPPER_Z ? byte | LOWER_CASE_BIT : byte;
}

/** The text with only `A–Z` in lower case, so that U+212A KELVIN SIGN stays. Linear. */
export function lowerCaseAscii(text: string): string {
  let lower = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < UPPER_A || unit > UPPER_Z) continue;
    lower += text.slice(copied, at) + String.fromCharCode(unit | LOWER_CASE_BIT);
    copied = at + 1;
  }
  return copied === 0 ? text : lower + text.slice(copied);
}
