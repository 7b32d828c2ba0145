import {
  type ByteStore,
  GROWTH_WORDS,
  type StoreGrowth,
  WORD_CHUNK,
  WORD_HASH,
  WORD_LENGTH,
  WORD_START,
} from './byte-store.js';
import { Uint32List } from './uint32-list.js';

/**
 * Adds the strings of another store to this store, as the other store grows. The strings do not
 * move.
 */
export class StoreMerger {
  /** The number in this store of each string of the other store. */
  readonly numbers = new Uint32List();
  readonly #into: ByteStore;
  /** The number in this store of each chunk of the other store. */
  readonly #chunks: number[] = [];

  constructor(into: ByteStore) {
    this.#into = into;
  }

  /** Merges a growth. Growths must come in the order in which they were taken. */
  merge({ chunks, items }: StoreGrowth): void {
    for (const chunk of chunks) this.#chunks.push(this.#into.adopt(chunk));
    this.#into.prefetchSlots(items, WORD_HASH, items.length, GROWTH_WORDS);
    for (let at = 0; at < items.length; at += GROWTH_WORDS) {
      const chunk = this.#chunks[items[at + WORD_CHUNK] as number] as number;
      const start = items[at + WORD_START] as number;
      const length = items[at + WORD_LENGTH] as number;
      const hash = (items[at + WORD_HASH] as number) | 0;
      this.numbers.push(this.#into.addAt(chunk, start, length, hash));
    }
  }
}
