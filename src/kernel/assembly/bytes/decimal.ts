import { DIGIT_0 } from '../../../ascii';

/** Writes a number in decimal digits; returns its end. */
export function decimal(value: u64, to: usize): usize {
  let digits = 1;
  for (let rest = value; rest >= 10; rest /= 10) digits++;
  for (let i = digits - 1; i >= 0; i--) {
    store<u8>(to + i, DIGIT_0 + <i32>(value % 10));
    value /= 10;
  }
  return to + digits;
}
