/** Log2 of the octets of a number: 1, 2 or 4 of them. */
export type Width = 0 | 1 | 2;

/** The least width in which a number can be written. */
export function widthOf(greatest: number): Width {
  return greatest <= 0xff ? 0 : greatest <= 0xffff ? 1 : 2;
}

/** Writes a number; returns the offset behind it. */
export function writeNumber(out: Uint8Array, at: number, value: number, width: Width): number {
  out[at] = value;
  if (width === 0) return at + 1;
  out[at + 1] = value >>> 8;
  if (width === 1) return at + 2;
  out[at + 2] = value >>> 16;
  out[at + 3] = value >>> 24;
  return at + 4;
}

/** Reads a number that was written so. */
export function readNumber(from: Uint8Array, at: number, width: Width): number {
  let value = 0;
  for (let octet = (1 << width) - 1; octet >= 0; octet--) {
    value = value * 256 + (from[at + octet] as number);
  }
  return value;
}
