const NOT_PLACED = -1;

/** Things of one kind in the order in which they are first asked for, each with its offset in the section that they make up. */
export class Section {
  /** Octets of all things placed so far. */
  octets = 0;
  /** The things, in their order. */
  readonly items: number[] = [];
  readonly #starts: Float64Array;

  /** `count` things are numbered from 0. */
  constructor(count: number) {
    this.#starts = new Float64Array(count).fill(NOT_PLACED);
  }

  /** Gives the thing a place if it has none yet. */
  place(item: number, octets: number): void {
    if (this.#starts[item] !== NOT_PLACED) return;
    this.#starts[item] = this.octets;
    this.octets += octets;
    this.items.push(item);
  }

  /** Offset within the section; the thing must have a place. */
  start(item: number): number {
    return this.#starts[item] as number;
  }
}
