import { HYPHEN, UNDERSCORE } from '../ascii.js';
import { isLetter } from './byte.js';

/** Length of the leading characters of a text that a product token may hold: letters, `-`, `_`. */
export function endOfTokenText(text: string): number {
  let end = 0;
  while (end < text.length && isTokenByte(text.charCodeAt(end))) end++;
  return end;
}

function isTokenByte(code: number): boolean {
  return isLetter(code) || code === HYPHEN || code === UNDERSCORE;
}
