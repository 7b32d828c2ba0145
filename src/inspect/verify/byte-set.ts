/** A set of offsets, as a bitmap that is reused. */
export class ByteSet {
  #words = new Uint32Array(64);

  /** Empties the set, and makes room for offsets less than `bytes`. */
  clear(bytes: number): void {
    const words = Math.ceil(bytes / 32);
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
