/** A set of offsets: a bit for each that is possible. Used again and again. */
export class OctetSet {
  #words = new Uint32Array(64);

  /** Empties it, and makes room for offsets less than `octets`. */
  clear(octets: number): void {
    const words = Math.ceil(octets / 32);
    if (words > this.#words.length) this.#words = new Uint32Array(words);
    else this.#words.fill(0, 0, words);
  }

  add(offset: number): void {
    const index = offset >>> 5;
    this.#words[index] = (this.#words[index] as number) | (1 << (offset & 31));
  }

  has(offset: number): boolean {
    return (((this.#words[offset >>> 5] as number) >>> (offset & 31)) & 1) !== 0;
  }
}
