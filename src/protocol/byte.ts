import { CR, DIGIT_0, DIGIT_9, LF, LOWER_A, LOWER_CASE_BIT, LOWER_Z } from '../ascii.js';

/** Whether a byte is an ASCII letter. */
export function isLetter(byte: number): boolean {
  const lower = byte | LOWER_CASE_BIT;
  return lower >= LOWER_A && lower <= LOWER_Z;
}

/** Whether a byte is an ASCII digit. */
export function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9;
}

/** Whether a byte is `A–Z a–z 0–9 - . _ ~`: RFC 3986 section 2.3. */
export function isUnreserved(byte: number): boolean {
  return isLetter(byte) || isDigit(byte) || '-._~'.includes(String.fromCharCode(byte));
}

/** Whether a byte ends a line (RFC 9309 section 2.2, EOL). */
export function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}
