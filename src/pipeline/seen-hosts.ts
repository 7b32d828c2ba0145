import { QUERY_SEEN } from '../kernel/layout.js';
import type { CountedBlocks } from './counted-blocks.js';

/** Number of slots whose marks one word holds. */
const WORD_SLOTS = 32;

/** The hosts of a table or bank that had URLs, as slots that the kernel has marked. */
export class SeenHosts {
  readonly #marks: Uint32Array;

  /** @param slots number of slots in the table or bank */
  constructor(slots: number) {
    this.#marks = new Uint32Array(Math.ceil(slots / WORD_SLOTS));
  }

  /**
   * Adds the marks in the worker blocks of a query for these slots. The marks begin at a multiple
   * of 8, and spare room follows them (encodeQuery).
   */
  add({ memory, query, workerBlocks }: CountedBlocks): void {
    const offset = new DataView(memory.buffer).getUint32(query + QUERY_SEEN, true);
    if (offset === 0) return;
    const all = this.#marks;
    for (const block of workerBlocks) {
      const marks = new Uint32Array(memory.buffer, block + offset, all.length);
      for (let index = 0; index < all.length; index++) {
        all[index] = (all[index] as number) | (marks[index] as number);
      }
    }
  }

  get count(): number {
    let count = 0;
    for (const word of this.#marks) count += bitsOf(word);
    return count;
  }
}

/** Counts the bits of a word: by pairs, by fours, and by bytes, which a product adds up. */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
