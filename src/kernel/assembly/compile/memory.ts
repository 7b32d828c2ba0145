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
} /** Writing the numbers of an automaton. `number` of kernel/assembly/match.ts reads them. */

/** Appends a number; writes up to three bytes past it. Returns its end. */
export function appendNumber(to: usize, value: u32, width: u32): usize {
  store<u32>(to, value);
  return to + ((<usize>1) << width);
}

/** Writes a number, and no byte past it. */
export function putNumber(at: usize, value: u32, width: u32): void {
  if (width === 0) store<u8>(at, <u8>value);
  else if (width === 1) store<u16>(at, <u16>value);
  else store<u32>(at, value);
} /** The widths of an automaton's fields: log2 of their bytes. */

const NARROW: u32 = 1;
export const WIDE: u32 = 2;

/** Of a field marked `line`, `size` or `offset` in table/format.ts. */
export let lineWidth: u32 = 0;
export let sizeWidth: u32 = 0;
export let offsetWidth: u32 = 0;

/** Sets the widths by the greatest numbers; offsets are narrow. */
export function setWidths(greatestLine: u32, greatestSize: u32): void {
  lineWidth = widthOf(greatestLine);
  sizeWidth = widthOf(greatestSize);
  offsetWidth = NARROW;
}

export function widenOffsets(): void {
  offsetWidth = WIDE;
}

/** The least width that holds a number. */
export function widthOf(greatest: u32): u32 {
  return greatest <= 0xff ? 0 : greatest <= 0xffff ? 1 : 2;
} /** The words of a node that is planned: 64 bytes, one cache line. A node is its address. */

export const NODE_BYTES: usize = 64;

/** Stands for no item or no node. */
export const NONE: usize = 0;

/** The parent node; NONE for the root. */
export const PARENT = 0;
/** Address of the label, in its item's canonical form, and its length. */
export const LABEL = 4;
export const LABEL_BYTES = 8;
/** Number of edges. */
export const EDGES = 12;
/** Item of the prefix rule, or NONE; its form; offset of its text, if kept. */
export const RULE = 16;
export const FORM = 20;
export const TEXT = 24;
/** End of the node's blocks; they start where the previous node's end. */
export const BLOCKS_END = 28;
/** Length of the subtree. */
export const BYTES = 32;
/**
 * Total length of the subtrees below, and length of the greatest of them, whose edge is written
 * last.
 */
export const BELOW = 36;
export const GREATEST_BELOW = 40;
/** Width of the distances, in the word of GREATEST_BELOW. */
export const DISTANCE_WIDTH = 40;
/** The first node below, and the next sibling; NONE if there is none. */
export const FIRST_BELOW = 44;
export const NEXT = 48;
/** While writing: start of the edges' bytes, number of edges written, target of the first edge. */
export const EDGES_START = 52;
export const EDGES_WRITTEN = 56;
export const FIRST_TARGET = 60;
