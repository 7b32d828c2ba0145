import { type HashKey, hashBytes } from '../compile/intern/hash-bytes.js';

/** Number of bits of the filter. With ten bits for each URL, one answer in a hundred is wrong. */
const BITS = 1 << 27;

/** Number of bits that are set for a URL. */
const BITS_PER_URL = 6;

/**
 * A Bloom filter of URLs whose captures were left out. "No" is always right, so most archives are
 * read once. When the filter is full, it answers "yes", and the archives are read again.
 */
export class UrlFilter {
  /** The memory, for the filters of other threads. */
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #keys: readonly [HashKey, HashKey];

  /** @param key the key of the hashes, which all threads share */
  constructor(key: HashKey, memory = new SharedArrayBuffer(BITS >> 3)) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
    // Another key gives an independent hash.
    this.#keys = [key, key.map((word) => ~word)];
  }

  add(url: Uint8Array): void {
    for (const bit of this.#bitsOf(url)) {
      Atomics.or(this.#words, bit >>> 5, 1 << (bit & 31));
    }
  }

  /** Returns false if the URL was not added; true if it was added, or perhaps was. */
  has(url: Uint8Array): boolean {
    return this.#bitsOf(url).every(
      (bit) => (Atomics.load(this.#words, bit >>> 5) & (1 << (bit & 31))) !== 0,
    );
  }

  #bitsOf(url: Uint8Array): number[] {
    const [first, second] = this.#keys.map((key) => hashBytes(url, key)) as [number, number];
    return Array.from(
      { length: BITS_PER_URL },
      (_, index) => (first + Math.imul(index, second | 1)) & (BITS - 1),
    );
  }
}
