const INITIAL_ROOM = 64;

/** A growing list of 32-bit numbers that needs half the memory of an array. Unset numbers are 0. */
export class Uint32List {
  #words = new Uint32Array(INITIAL_ROOM);
  #length = 0;

  get length(): number {
    return this.#length;
  }

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
