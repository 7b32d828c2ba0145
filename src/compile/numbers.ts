const INITIAL_ROOM = 64;

/**
 * Numbers of 32 bits in a row that grows, in half the memory that an array takes. What was never
 * set is 0.
 */
export class Numbers {
  #words = new Uint32Array(INITIAL_ROOM);
  #length = 0;

  push(number: number): void {
    this.set(this.#length, number);
  }

  set(at: number, number: number): void {
    if (at >= this.#words.length) {
      const words = this.#words;
      this.#words = new Uint32Array(Math.max(2 * words.length, at + 1));
      this.#words.set(words);
    }
    this.#words[at] = number;
    if (at >= this.#length) this.#length = at + 1;
  }

  get(at: number): number {
    return at < this.#length ? (this.#words[at] as number) : 0;
  }
}
