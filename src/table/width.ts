/** Log2 of the bytes of a number: 0, 1 or 2 for 1, 2 or 4 bytes. */
export type Width = 0 | 1 | 2;

/** The least width that holds a number. */
export function widthOf(greatest: number): Width {
  return greatest <= 0xff ? 0 : greatest <= 0xffff ? 1 : 2;
}

/** Writes a number; returns the offset after it. */
export function writeNumber(out: Uint8Array, at: number, value: number, width: Width): number {
  out[at] = value;
  if (width === 0) return at + 1;
  out[at + 1] = value >>> 8;
  if (width === 1) return at + 2;
  out[at + 2] = value >>> 16;
  out[at + 3] = value >>> 24;
  return at + 4;
}

/** Reads a number that `writeNumber` wrote. */
export function readNumber(from: Uint8Array, at: number, width: Width): number {
  let value = 0;
  for (let byte = (1 << width) - 1; byte >= 0; byte--) {
    value = value * 256 + (from[at + byte] as number);
  }
  return value;
}
