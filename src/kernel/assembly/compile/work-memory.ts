/** The memory for compiling a group: parts of any length, one after another. */

import { MARGIN } from '../../layout';

/** The first free byte, and the end of the instance's memory. */
let free: usize = 0;
let limit: usize = 0;

/** Parts begin at multiples of this. */
const ALIGNMENT: usize = 64;

/** Frees all parts. The next one begins at or after `start`. */
export function freeAll(start: usize): void {
  limit = (<usize>memory.size()) << 16;
  free = start;
  claim(0);
}

/** The first free byte: the start of the part that is being written. */
export function freeStart(): usize {
  return free;
}

/** Ends the part that is being written. */
export function endPart(end: usize): void {
  free = end;
}

/** Claims a part of this many bytes; returns its start. */
export function claim(bytes: usize): usize {
  const start = (free + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
  reserve(start, bytes);
  free = start + bytes + MARGIN;
  return start;
}

/** Makes sure that `bytes` bytes and a MARGIN after them may be written at `at`. */
export function reserve(at: usize, bytes: usize): void {
  const end = <u64>at + <u64>bytes + MARGIN;
  if (end > <u64>limit) grow(end);
}

/** Traps if the memory cannot grow. The budget of a file bounds what its groups need. */
function grow(end: u64): void {
  const pages = (end - <u64>limit + 0xffff) >> 16;
  if (pages > 0xffff || memory.grow(<i32>pages) < 0) unreachable();
  limit = (<usize>memory.size()) << 16;
}
