import { BLOCK_MASK_BYTES } from '../../table/format.js';
import type { TableBytes } from './table-bytes.js';

/** Entries of a mask for one half of a byte. */
const HALVES = 16;
const ALL_BUCKETS = 255;

/** The masks of a block, as `bucketsFound` in kernel/assembly/match/blocks.ts reads them. */
export class Masks {
  readonly #bytes: Uint8Array;
  #start = 0;
  /** Buckets that pass any byte as the second, and as the third, of a window. */
  #anySecond = 0;
  #anyThird = 0;

  constructor(table: TableBytes) {
    this.#bytes = table.bytes;
  }

  /** Begins the masks at `start`; returns where they end. */
  enter(start: number): number {
    this.#start = start;
    this.#anySecond = this.#bucketsOfAny(1);
    this.#anyThird = this.#bucketsOfAny(2);
    return start + BLOCK_MASK_BYTES;
  }

  /**
   * Whether one of the buckets passes a window of every text that holds the bytes from `from` to
   * `to`, at least one. A window of fewer than three bytes reaches into unknown bytes.
   */
  pass(buckets: number, from: number, to: number): boolean {
    if (buckets === 0) return false;
    const bytes = this.#bytes;
    for (let at = from; at === from || at + 3 <= to; at++) {
      let found = buckets & this.#bucketsAt(0, bytes[at] as number);
      found &= at + 1 < to ? this.#bucketsAt(1, bytes[at + 1] as number) : this.#anySecond;
      found &= at + 2 < to ? this.#bucketsAt(2, bytes[at + 2] as number) : this.#anyThird;
      if (found !== 0) return true;
    }
    return false;
  }

  #bucketsAt(place: number, byte: number): number {
    const entries = this.#start + 2 * HALVES * place;
    const low = this.#bytes[entries + (byte & 15)] as number;
    return low & (this.#bytes[entries + HALVES + (byte >> 4)] as number);
  }

  #bucketsOfAny(place: number): number {
    let buckets = ALL_BUCKETS;
    const entries = this.#start + 2 * HALVES * place;
    for (let at = entries; at < entries + 2 * HALVES; at++) buckets &= this.#bytes[at] as number;
    return buckets;
  }
}
