import { BLOCK_MASK_OCTETS } from '../format.js';
import type { TableOctets } from './table-octets.js';

/** Entries of a mask for one half of an octet. */
const HALVES = 16;
const ALL_BUCKETS = 255;

/**
 * The masks of a block, asked for what they let pass (kernel/assembly/match.ts, `bucketsFound`).
 */
export class Masks {
  readonly #octets: Uint8Array;
  #start = 0;
  /** For the second and third octet of a window the buckets that let any octet pass. */
  #anySecond = 0;
  #anyThird = 0;

  constructor(table: TableOctets) {
    this.#octets = table.octets;
  }

  /** Takes the masks at `start`; returns where they end. */
  enter(start: number): number {
    this.#start = start;
    this.#anySecond = this.#bucketsOfAny(1);
    this.#anyThird = this.#bucketsOfAny(2);
    return start + BLOCK_MASK_OCTETS;
  }

  /**
   * Whether some of these buckets lets a window pass which every text has that holds the octets
   * from `from` to `to`, at least one. A window reaches beyond what is shorter, into any octets.
   */
  pass(buckets: number, from: number, to: number): boolean {
    if (buckets === 0) return false;
    const octets = this.#octets;
    for (let at = from; at === from || at + 3 <= to; at++) {
      let found = buckets & this.#bucketsAt(0, octets[at] as number);
      found &= at + 1 < to ? this.#bucketsAt(1, octets[at + 1] as number) : this.#anySecond;
      found &= at + 2 < to ? this.#bucketsAt(2, octets[at + 2] as number) : this.#anyThird;
      if (found !== 0) return true;
    }
    return false;
  }

  #bucketsAt(place: number, octet: number): number {
    const entries = this.#start + 2 * HALVES * place;
    const low = this.#octets[entries + (octet & 15)] as number;
    return low & (this.#octets[entries + HALVES + (octet >> 4)] as number);
  }

  #bucketsOfAny(place: number): number {
    let buckets = ALL_BUCKETS;
    const entries = this.#start + 2 * HALVES * place;
    for (let at = entries; at < entries + 2 * HALVES; at++) buckets &= this.#octets[at] as number;
    return buckets;
  }
}
