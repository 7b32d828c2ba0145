import { UNESCAPED } from '../display-text.js';

/**
 * How far canonical octets can be shown as they are: between two characters, after the first or second octet of a unit
 * (kernel/assembly/octets.ts), or not at all.
 */
export const SPELT = 0;
const IN_UNIT = 1;
const AT_UNIT_END = 2;
const UNFIT = 3;

export type Spelling = typeof SPELT | typeof IN_UNIT | typeof AT_UNIT_END | typeof UNFIT;

/** What octets from `from` to `to` make of a spelling. */
export function spell(state: Spelling, octets: Uint8Array, from: number, to: number): Spelling {
  let spelling = state;
  for (let at = from; at < to && spelling !== UNFIT; at++) {
    const octet = octets[at] as number;
    if (octet < 0x80) {
      if (spelling !== SPELT || UNESCAPED[octet] === 0) spelling = UNFIT;
    } else {
      spelling = inUnit(spelling, octet);
    }
  }
  return spelling;
}

function inUnit(spelling: Spelling, octet: number): Spelling {
  if (spelling === SPELT && octet <= 0x8f) return IN_UNIT;
  if (spelling === IN_UNIT && octet >= 0xa0 && octet <= 0xaf) return AT_UNIT_END;
  return spelling === AT_UNIT_END && octet === 0xc0 ? SPELT : UNFIT;
}
