/** Address of a 32-bit word, in bytes from the start of the ring. */
export type Word = number & { readonly width: 32 };
/** Address of a 64-bit word, likewise. */
export type Word64 = number & { readonly width: 64 };

/**
 * Words of memory that several threads use. Each access is atomic, so no access tears and none is
 * reordered.
 */
export class SharedWords {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #words64: BigInt64Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer, address: number, bytes: number) {
    this.#words = new Int32Array(memory, address, bytes / 4);
    this.#words64 = new BigInt64Array(memory, address, bytes / 8);
  }

  load(word: Word): number {
    return Atomics.load(this.#words, word / 4);
  }

  store(word: Word, value: number): void {
    Atomics.store(this.#words, word / 4, value);
  }

  load64(word: Word64): number {
    return Number(Atomics.load(this.#words64, word / 8));
  }

  store64(word: Word64, value: number): void {
    Atomics.store(this.#words64, word / 8, BigInt(value));
  }

  add(word: Word, value: number): void {
    Atomics.add(this.#words, word / 4, value);
  }

  and(word: Word, value: number): void {
    Atomics.and(this.#words, word / 4, value);
  }

  /** Returns the previous value. */
  exchange(word: Word, value: number): number {
    return Atomics.exchange(this.#words, word / 4, value);
  }

  /** Returns the previous value; if it differs from the expected value, the word is unchanged. */
  compareExchange(word: Word, expected: number, value: number): number {
    return Atomics.compareExchange(this.#words, word / 4, expected, value);
  }

  /** Wakes the threads that wait for the word. */
  notify(word: Word, count?: number): void {
    Atomics.notify(this.#words, word / 4, count);
  }

  /** Sleeps while the word has this value, for at most this many milliseconds. */
  wait(word: Word, value: number, milliseconds: number): void {
    Atomics.wait(this.#words, word / 4, value, milliseconds);
  }

  /** Waits in the event loop while the word has this value. */
  async waitAsync(word: Word, value: number): Promise<void> {
    const result = Atomics.waitAsync(this.#words, word / 4, value);
    if (result.async) await result.value;
  }

  /** Sets all words to 0. */
  clear(): void {
    this.#words.fill(0);
  }
}
