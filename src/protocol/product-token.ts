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
