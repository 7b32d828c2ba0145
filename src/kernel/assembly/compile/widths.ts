/** The widths of an automaton's fields: log2 of their bytes. */

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
