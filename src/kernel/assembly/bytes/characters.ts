/** Classes of ASCII characters. */

import { DIGIT_0, LOWER_A, LOWER_CASE_BIT, SPACE, UPPER_A } from '../../../ascii';

export function isDigit(byte: i32): bool {
  return <u32>(byte - DIGIT_0) < 10;
}

export function isLetter(byte: i32): bool {
  return <u32>((byte | LOWER_CASE_BIT) - LOWER_A) < 26;
}

/** The URL Standard strips these characters from both ends of a URL. */
export function isControlOrSpace(byte: i32): bool {
  return byte <= SPACE;
}

/** The value of a hexadecimal digit, or -1. */
export function hexDigit(byte: i32): i32 {
  if (isDigit(byte)) return byte - DIGIT_0;
  const letter = (byte | LOWER_CASE_BIT) - LOWER_A;
  return <u32>letter < 6 ? letter + 10 : -1;
}

/** The digits `0` to `9` and `A` to `F`. */
export function upperHex(half: i32): i32 {
  return half < 10 ? DIGIT_0 + half : UPPER_A - 10 + half;
}

/** The digits `0` to `9` and `a` to `f`. */
export function lowerHex(half: i32): i32 {
  return half < 10 ? DIGIT_0 + half : LOWER_A - 10 + half;
}
