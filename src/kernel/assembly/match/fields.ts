/** Numbers of an automaton, and their widths. Layout: table/format.ts. */

import {
  AUTOMATON_LINE_WIDTH,
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_WIDE,
} from '../../../table/format';

/** A number of `1 << width` bytes. Reads up to three bytes past the number. */
export function number(address: usize, width: i32): u32 {
  return load<u32>(address) & (0xffffffff >>> (32 - (8 << width)));
}

/** Log2 of the size of a line number, in bytes, from the automaton's first byte. */
export function lineWidth(widths: i32): i32 {
  return widths & AUTOMATON_LINE_WIDTH;
}

/** The same for a rank or a length. */
export function sizeWidth(widths: i32): i32 {
  return (widths >> AUTOMATON_SIZE_WIDTH_SHIFT) & 3;
}

/** The same for an offset. */
export function offsetWidth(widths: i32): i32 {
  return (widths & AUTOMATON_WIDE) !== 0 ? 2 : 1;
}
