import { type HashKey, hashBytes } from '../compile/intern/hash-bytes.js';
import { Uint32List } from '../compile/intern/uint32-list.js';

/** Words of a capture: hash of its URL, number of its file, offset (high and low word). */
const WORDS = 4;

const WORD = 2 ** 32;

/**
 * Where captures lie that were left out on the first reading: those of URLs other than robots.txt.
 * Memory: 16 bytes for each. URLs are told apart by a hash of 32 bits, so a place may be that of
 * another URL.
 */
export class LeftOutCaptures {
  readonly #key: HashKey;
  readonly #words = new Uint32List();

  constructor(key: HashKey) {
    this.#key = key;
  }

  /** Notes a capture. Those of a file must come in the order of the file. */
  add(url: Uint8Array, file: number, offset: number): void {
    this.#words.push(hashBytes(url, this.#key) >>> 0);
    this.#words.push(file);
    this.#words.push(Math.floor(offset / WORD));
    this.#words.push(offset % WORD);
  }

  /** For each file the offsets of the captures of some URLs, and perhaps of a few others. */
  find(urls: readonly string[]): Map<number, number[]> {
    const hashes = new Set(urls.map((url) => hashBytes(Buffer.from(url), this.#key) >>> 0));
    const places = new Map<number, number[]>();
    const words = this.#words;
    for (let at = 0; at < words.length; at += WORDS) {
      if (!hashes.has(words.get(at))) continue;
      const file = words.get(at + 1);
      const offset = words.get(at + 2) * WORD + words.get(at + 3);
      const known = places.get(file);
      if (known === undefined) places.set(file, [offset]);
      else known.push(offset);
    }
    return places;
  }
}
