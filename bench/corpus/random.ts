/**
 * A seeded source of numbers: sfc32, which needs 32-bit integer arithmetic only and so
 * gives the same numbers on every machine. Not for secrets.
 */
export class Random {
  #a: number;
  #b: number;
  #c = 0x9e3779b9;
  #counter = 1;

  /**
   * @param seed any integer; its low 32 bits count
   * @param stream numbers from different streams of one seed are unrelated
   */
  constructor(seed: number, stream = 0) {
    this.#a = seed | 0;
    this.#b = stream | 0;
    for (let round = 0; round < 15; round++) this.uint32();
  }

  /** An integer from 0 to 2^32 - 1. */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** A number from 0 (inclusive) to 1 (exclusive), in steps of 2^-32. */
  fraction(): number {
    return this.uint32() / 0x1_0000_0000;
  }

  /** An integer from 0 (inclusive) to `limit` (exclusive; 1 to 2^32). */
  below(limit: number): number {
    return Math.floor((this.uint32() / 0x1_0000_0000) * limit);
  }

  /** An integer from `low` to `high`, both inclusive. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True with the given probability, 0 to 1. */
  chance(probability: number): boolean {
    return this.uint32() < probability * 0x1_0000_0000;
  }

  /** One item of a list that is not empty. */
  pick<Item>(list: readonly Item[]): Item {
    const item = list[this.below(list.length)];
    if (item === undefined) throw new RangeError('cannot pick from an empty list');
    return item;
  }

  /** Shuffles a list in place. */
  shuffle<Item>(list: { readonly length: number; [index: number]: Item }): void {
    for (let last = list.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      const kept = list[last] as Item; // both places lie inside the list
      list[last] = list[other] as Item;
      list[other] = kept;
    }
  }
}
