import type { Segment } from './pattern.js';

/** Stands for any byte in a window. */
export const ANY = 256;

/** Bytes of canonical paths and queries by descending frequency, from 450,000 real URLs. */
const BY_FREQUENCY =
  "/etsai-ronl02cumgpd1h%b83wf5946y7.kvE_=BAxj?CFzDSPq&LTMINRGWOHJUV+KYQZ)X:~@,;[(]!'";

/** Rank of all other bytes in this order. */
const OTHER_PLACE = BY_FREQUENCY.length + 20;

/**
 * Information content of a byte, in tenths of a bit: `-log2` of its share in these URLs. The share
 * starts at 9 % and falls by about a fifteenth from each byte to the next.
 */
const RARITY = rarities();

function rarities(): Uint8Array {
  const rarity = new Uint8Array(ANY + 1).fill(34 + OTHER_PLACE);
  for (let place = 0; place < BY_FREQUENCY.length; place++) {
    rarity[BY_FREQUENCY.charCodeAt(place)] = 34 + place;
  }
  rarity[ANY] = 0;
  return rarity;
}

/**
 * 2 to the power of 0, -0.1 to -0.9. Constants, because the last bit of `**` differs between
 * engines, and all engines must compile the same table.
 */
const TENTHS = [
  1,
  0.9330329915368074,
  0.8705505632961241,
  0.8122523963562355,
  0.757858283255199,
  Math.SQRT1_2,
  0.6597539553864471,
  0.6155722066724582,
  0.5743491774985175,
  0.5358867312681466,
] as const;

/** The estimated share of a byte in URLs. */
export function shareOf(byte: number): number {
  const rarity = RARITY[byte] as number;
  return (TENTHS[rarity % 10] as number) / (1 << Math.floor(rarity / 10));
}

/**
 * Chooses the windows of a wildcard rule. A window is three consecutive bytes that every matching
 * text contains; the last ones are ANY if the segment is shorter. A rule has two windows, one for
 * each form, if all its segments have a second form.
 */
export class Windows {
  /** The bytes of the windows, three for each. */
  readonly bytes = new Uint16Array(6);
  count = 0;
  #best = -1;

  /** Chooses the rarest windows of `segments`. */
  choose(segments: readonly Segment[]): void {
    this.count = 0;
    this.#best = -1;
    for (const { first, second } of segments) {
      if (second === undefined) this.#consider(first, 0);
    }
    if (this.#best >= 0) {
      this.count = 1;
      return;
    }
    // The text decides which form of a segment it holds, so either window may be the one there.
    const [segment] = segments;
    if (segment?.second === undefined) return;
    this.#consider(segment.first, 0);
    this.#best = -1;
    this.#consider(segment.second, 3);
    this.count = 2;
  }

  #consider(bytes: Uint8Array, at: number): void {
    const { length } = bytes;
    for (let start = 0; start === 0 || start + 3 <= length; start++) {
      const a = bytes[start] as number;
      const b = length > start + 1 ? (bytes[start + 1] as number) : ANY;
      const c = length > start + 2 ? (bytes[start + 2] as number) : ANY;
      const rarity = (RARITY[a] as number) + (RARITY[b] as number) + (RARITY[c] as number);
      if (rarity <= this.#best) continue;
      this.#best = rarity;
      this.bytes[at] = a;
      this.bytes[at + 1] = b;
      this.bytes[at + 2] = c;
    }
  }
}
