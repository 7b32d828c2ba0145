import { HYPHEN, isLetter, UNDERSCORE } from './octet.js';

/**
 * Offset after the product token that starts at `start`: its longest run of `A-Z a-z _ -` (RFC 9309
 * section 2.2.1).
 */
export function endOfProductToken(octets: Uint8Array, start: number, end: number): number {
  let at = start;
  for (; at < end; at++) {
    const octet = octets[at] as number;
    if (!isLetter(octet) && octet !== HYPHEN && octet !== UNDERSCORE) break;
  }
  return at;
}

/** The text with `A–Z` in lower case, and nothing else: U+212A KELVIN SIGN is no `k`. Linear. */
export function lowerCaseAscii(text: string): string {
  let lower = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x41 || unit > 0x5a) continue;
    lower += text.slice(copied, at) + String.fromCharCode(unit | 0x20);
    copied = at + 1;
  }
  return copied === 0 ? text : lower + text.slice(copied);
}
