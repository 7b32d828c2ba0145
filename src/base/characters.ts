/** Classes of ASCII characters: a letter, digit or space of another script is none of them. */

import { CR, DIGIT_0, DIGIT_9, LF, LOWER_A, LOWER_CASE_BIT, LOWER_Z, SPACE, TAB } from './ascii.js';

/** Whether a byte or UTF-16 code unit is an ASCII letter. */
export function isLetter(unit: number): boolean {
  const lower = unit | LOWER_CASE_BIT;
  return lower >= LOWER_A && lower <= LOWER_Z;
}

/** Whether a byte or code unit is an ASCII digit; `undefined`, after the last one, is not. */
export function isDigit(unit: number | undefined): boolean {
  return unit !== undefined && unit >= DIGIT_0 && unit <= DIGIT_9;
}

/** Whether a text is one or more digits. */
export function isDigits(text: string): boolean {
  return text !== '' && [...text].every((character) => character >= '0' && character <= '9');
}

/** Whether a byte is a space, a tab or of a line end; `undefined`, after the last one, is not. */
export function isWhiteSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CR || byte === LF;
}
