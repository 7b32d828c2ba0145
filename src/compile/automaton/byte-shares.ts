import { ANY } from '../../kernel/compile-layout.js';

/** Bytes of canonical paths and queries by descending frequency, from 450,000 real URLs. */
const BY_FREQUENCY =
  "/etsai-ronl02cumgpd1h%b83wf5946y7.kvE_=BAxj?CFzDSPq&LTMINRGWOHJUV+KYQZ)X:~@,;[(]!'";

/** Rank of all other bytes in this order. */
const OTHER_PLACE = BY_FREQUENCY.length + 20;

/**
 * Information content of a byte, in tenths of a bit: `-log2` of its share in these URLs. The share
 * starts at 9 % and falls by about a fifteenth from each byte to the next.
 */
export const RARITY = rarities();

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

/** Sets of halves of bytes, eight halves each. */
const SETS = 256;

/** Made once: 65,536 additions take longer than compiling a usual file. */
let shares: Float64Array | undefined;

/**
 * The share of the bytes whose half is in a set, in the order of COMPILE_SHARES: sets of the low
 * halves 0 to 7 and 8 to 15, then sets of high halves.
 */
export function sharesOfSets(): Float64Array {
  shares ??= makeShares();
  return shares;
}

function makeShares(): Float64Array {
  const shares = new Float64Array(4 * SETS);
  for (let byte = 0; byte < 256; byte++) {
    addShare(shares.subarray(0, 2 * SETS), byte & 15, shareOf(byte));
    addShare(shares.subarray(2 * SETS), byte >> 4, shareOf(byte));
  }
  return shares;
}

function addShare(shares: Float64Array, half: number, share: number): void {
  const from = half < 8 ? 0 : SETS;
  for (let set = 0; set < SETS; set++) {
    if ((set >> (half & 7)) & 1) shares[from + set] = (shares[from + set] as number) + share;
  }
}
