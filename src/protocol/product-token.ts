import { HYPHEN, isLetter, UNDERSCORE } from './octet.js';

/** Offset after the product token that starts at `start`: its longest run of `A-Z a-z _ -` (RFC 9309 section 2.2.1). */
export function endOfProductToken(octets: Uint8Array, start: number, end: number): number {
  let at = start;
  for (; at < end; at++) {
    const octet = octets[at] as number;
    if (!isLetter(octet) && octet !== HYPHEN && octet !== UNDERSCORE) break;
  }
  return at;
}
