import type { Segment } from './pattern.js';

/** Stands in a window for any octet. */
export const ANY = 256;

/**
 * Octets of canonical paths and queries by falling frequency, from some 450,000 real URLs; no other
 * is frequent.
 */
const BY_FREQUENCY =
  "/etsai-ronl02cumgpd1h%b83wf5946y7.kvE_=BAxj?CFzDSPq&LTMINRGWOHJUV+KYQZ)X:~@,;[(]!'";

/** Of any other octet. */
const OTHER_PLACE = BY_FREQUENCY.length + 20;

/**
 * How much the sight of an octet tells, in tenths of a bit: `-log2` of its share in the URLs above,
 * which falls from 9 % by about a fourteenth from each octet to the next.
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
 * The powers of 2 with exponents of 0, -0.1 to -0.9. Written down, since what `**` makes of a
 * fraction differs in its last bit from one engine to another, and a table is to be the same
 * whichever compiles it.
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

/** The share of texts' octets that an octet has by the same reckoning. */
export function shareOf(octet: number): number {
  const rarity = RARITY[octet] as number;
  return (TENTHS[rarity % 10] as number) / (1 << Math.floor(rarity / 10));
}

/**
 * Three octets that follow one another somewhere in every text that a wildcard rule matches; the
 * last may be ANY where the segment that they are from is shorter. A rule whose segments all differ
 * in their second form has one for each form.
 */
export class Windows {
  /** The octets of the windows, three each. */
  readonly octets = new Uint16Array(6);
  count = 0;
  #best = -1;

  /** Finds the rarest window of `segments`. */
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
    // Which form a segment is found in depends on the text, so either may be the one that must be
    // there.
    const [segment] = segments;
    if (segment?.second === undefined) return;
    this.#consider(segment.first, 0);
    this.#best = -1;
    this.#consider(segment.second, 3);
    this.count = 2;
  }

  #consider(octets: Uint8Array, at: number): void {
    const { length } = octets;
    for (let start = 0; start === 0 || start + 3 <= length; start++) {
      const a = octets[start] as number;
      const b = length > start + 1 ? (octets[start + 1] as number) : ANY;
      const c = length > start + 2 ? (octets[start + 2] as number) : ANY;
      const rarity = (RARITY[a] as number) + (RARITY[b] as number) + (RARITY[c] as number);
      if (rarity <= this.#best) continue;
      this.#best = rarity;
      this.octets[at] = a;
      this.octets[at + 1] = b;
      this.octets[at + 2] = c;
    }
  }
}
