const NOT_PLACED = -1;

/** Where things of one kind lie, each in the place that it was given first. */
export class Places {
  /** How many things have a place. */
  count = 0;
  /** Those things, in the order in which they were given it. */
  readonly #items: Uint32Array;
  readonly #starts: Float64Array;

  /** `things` of them are numbered from 0. */
  constructor(things: number) {
    this.#items = new Uint32Array(things);
    this.#starts = new Float64Array(things).fill(NOT_PLACED);
  }

  has(item: number): boolean {
    return this.#starts[item] !== NOT_PLACED;
  }

  /** Gives the thing a place if it has none yet; returns whether it does. */
  place(item: number, start: number): boolean {
    if (this.has(item)) return false;
    this.#starts[item] = start;
    this.#items[this.count++] = item;
    return true;
  }

  /** The thing that was given a place as the `index`th, from 0. */
  item(index: number): number {
    return this.#items[index] as number;
  }

  /** Where a thing lies that has a place. */
  start(item: number): number {
    return this.#starts[item] as number;
  }
}
