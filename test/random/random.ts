/**
 * A source of reproducible random choices (mulberry32): the same seed gives the same choices
 * everywhere.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 (inclusive) to 1 (exclusive). */
  number(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number from `low` to `high`, both inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.number() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.number() < probability;
  }

  /** One of the items. Throws if there is none. */
  pick<Item>(items: readonly Item[]): Item {
    const index = this.between(0, items.length - 1);
    if (index < 0 || index >= items.length) throw new RangeError('nothing to pick from');
    return items[index] as Item; // the index was checked above; the item itself may be undefined
  }

  /** A string of `low` to `high` picks, joined. */
  run(pieces: readonly string[], low: number, high: number): string {
    let text = '';
    for (let count = this.between(low, high); count > 0; count--) text += this.pick(pieces);
    return text;
  }
}
