import { QUERY_SEEN } from '../kernel/layout.js';

/** Slots that a word has marks of. */
const WORD_SLOTS = 32;

/** The hosts of a table that URLs were of, by the slots that the kernel has marked. */
export class SeenHosts {
  readonly #marks: Uint32Array;

  /** @param slots slots of the table */
  constructor(slots: number) {
    this.#marks = new Uint32Array(Math.ceil(slots / WORD_SLOTS));
  }

  /**
   * Takes over what threads have marked in their worker blocks, for the query at `query`. The marks
   * there begin at a multiple of 8, and room to spare follows them (encodeQuery).
   */
  add(memory: WebAssembly.Memory, query: number, workerBlocks: readonly number[]): void {
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

/**
 * How many bits of a word are set: of two, then of four, then of eight bits each, which the product
 * adds up in its highest octet.
 */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
