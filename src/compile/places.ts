const NOT_PLACED = -1;

/** Where things of one kind lie, each in the place that it was given first. */
export class Places {
  /** The things that have a place, in the order in which they were given it. */
  readonly items: number[] = [];
  readonly #starts: Float64Array;

  /** `count` things are numbered from 0. */
  constructor(count: number) {
    this.#starts = new Float64Array(count).fill(NOT_PLACED);
  }

  /** Gives the thing a place if it has none yet; returns whether it does. */
  place(item: number, start: number): boolean {
    if (this.#starts[item] !== NOT_PLACED) return false;
    this.#starts[item] = start;
    this.items.push(item);
    return true;
  }

  /** Where a thing lies that has a place. */
  start(item: number): number {
    return this.#starts[item] as number;
  }
}
