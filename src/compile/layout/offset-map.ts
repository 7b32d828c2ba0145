/** Stands for an offset: no item of a table starts at its greatest length. */
const NOT_PLACED = 0xffff_ffff;

/**
 * The offsets of numbered items, in the order in which they were placed. Offsets have 32 bits:
 * a table with higher ones is too long, and is not written.
 */
export class OffsetMap {
  /** Number of placed items. */
  count = 0;
  /** The placed items, in order. */
  readonly #items: Uint32Array;
  readonly #starts: Uint32Array;

  /** @param items number of items */
  constructor(items: number) {
    this.#items = new Uint32Array(items);
    this.#starts = new Uint32Array(items).fill(NOT_PLACED);
  }

  has(item: number): boolean {
    return this.#starts[item] !== NOT_PLACED;
  }

  /** Places an item, unless it has been placed already; returns whether the item was new. */
  place(item: number, start: number): boolean {
    if (this.has(item)) return false;
    this.#starts[item] = start;
    this.#items[this.count++] = item;
    return true;
  }

  /** The placed items, in order. */
  get items(): Uint32Array {
    return this.#items.subarray(0, this.count);
  }

  /** The item placed at this index, from 0. */
  item(index: number): number {
    return this.#items[index] as number;
  }

  /** The offset of a placed item. */
  start(item: number): number {
    return this.#starts[item] as number;
  }
}
