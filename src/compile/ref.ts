/** Octets of the fields marked `ref` in an automaton: 2 where all its offsets and ranks fit, else 4. */
export type RefWidth = 2 | 4;

/** The greatest number that a field of two octets holds. */
export const MAX_NARROW_REF = 0xffff;

/** Writes a field marked `ref`; returns the offset behind it. */
export function writeRef(out: Uint8Array, at: number, value: number, width: RefWidth): number {
  out[at] = value;
  out[at + 1] = value >>> 8;
  if (width === 4) {
    out[at + 2] = value >>> 16;
    out[at + 3] = value >>> 24;
  }
  return at + width;
}
