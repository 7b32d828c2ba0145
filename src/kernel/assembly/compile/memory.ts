/** The memory for compiling a group: parts of any length, one after another. */

import { COMPILE_BUCKETS, COMPILE_RARITY, COMPILE_SHARES } from '../../compile-layout';
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

// ---- Writing the numbers of an automaton. `number` of kernel/assembly/match.ts reads them

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
}

// ---- The widths of an automaton's fields: log2 of their bytes

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
}

/** What a group is compiled from and to: COMPILE_… in kernel/compile-layout.ts. */
@unmanaged
export class CompileBlock {
  rules: u32;
  firstLine: u32;
  lastLine: u32;
  items: usize;
  loaded: usize;
  loadedItems: u32;
  length: u32;
  end: usize;

  get rarity(): usize {
    return changetype<usize>(this) + COMPILE_RARITY;
  }

  get shares(): usize {
    return changetype<usize>(this) + COMPILE_SHARES;
  }

  get buckets(): usize {
    return changetype<usize>(this) + COMPILE_BUCKETS;
  }
}

/** Where the pattern of a rule stands in the text, and `line << 1 | allow`. */
@unmanaged
export class Place {
  start: u32;
  end: u32;
  lineAndAllow: u32;
}

/** A pattern of a rule, in one cache line. The host reads some fields: ITEM_…. */
@unmanaged
export class Item {
  /** Big-endian: the first bytes of the prefix, and zeros after its end. */
  beginning: u64;
  /** Addresses of the canonical form: its start, the end of its prefix, and its end. */
  start: usize;
  prefixEnd: usize;
  end: usize;
  /** `bytes << 1 | allow`: table/format.ts. */
  rank: u32;
  /** KIND_… */
  kind: u32;
  /** Number of segments, and whether one of them has a second form. */
  segments: u32;
  twoForms: u32;
  /** The greatest number in a field `size` of the rule. */
  size: u32;
  line: u32;
  /** Addresses of the pattern as written, and of the byte after it. */
  written: usize;
  writtenEnd: usize;
  /** How the rule's text derives from the pattern: RULE_STAR, RULE_TEXT or 0. */
  form: u32;
  /**
   * With RULE_TEXT the text: address and length. A length of 0 means that the pattern as written
   * needs escapes: the kernel's host writes the text.
   */
  text: usize;
  textBytes: u32;
}

/** A node that is planned: 64 bytes, one cache line. */
@unmanaged
export class Node {
  /** null for the root. */
  parent: Node | null;
  /** Address of the label, in its item's canonical form, and its length. */
  label: usize;
  labelBytes: u32;
  /** Number of edges. */
  edges: u32;
  /** Item of the prefix rule; its form; offset of its text, if kept. */
  rule: Item | null;
  form: u32;
  text: u32;
  /** End of the node's blocks; they start where the previous node's end. */
  blocksEnd: usize;
  /** Length of the subtree. */
  bytes: u32;
  /**
   * Total length of the subtrees below, and length of the greatest of them, whose edge is written
   * last.
   */
  below: u32;
  /** Once the subtrees are summed up, the width of the distances. */
  greatestBelow: u32;
  /** The first node below, and the next sibling. */
  firstBelow: Node | null;
  next: Node | null;
  /**
   * While writing: start of the edges' bytes, number of edges written, target of the first edge.
   */
  edgesStart: usize;
  edgesWritten: u32;
  firstTarget: u32;

  get distanceWidth(): u32 {
    return this.greatestBelow;
  }

  set distanceWidth(width: u32) {
    this.greatestBelow = width;
  }
}
