import { ByteChunks } from './byte-chunks.js';
import { drawKey, type HashKey, hashBytes } from './hash-bytes.js';

const INITIAL_ITEMS = 64;

/** Strings up to this length are compared byte by byte, which is faster than a native call. */
const SHORT = 32;

/** Number of strings that `prefetch` reads at a time. */
export const PREFETCHED = 64;

/** Words of a string in `StoreGrowth`: its chunk, its offset there, its length, its hash. */
export const GROWTH_WORDS = 4;
export const WORD_CHUNK = 0;
export const WORD_START = 1;
export const WORD_LENGTH = 2;
export const WORD_HASH = 3;

/** The additions to a store since the last call of `growth`; views, not copies. */
export interface StoreGrowth {
  /** The new chunks; the last one may still be filled further. */
  readonly chunks: readonly Uint8Array[];
  /** GROWTH_WORDS for each new string; chunks are numbered from the store's first. */
  readonly items: Uint32Array;
}

/**
 * Distinct strings of bytes, numbered from 0 in order of arrival. They lie in chunks that never
 * move, each at a multiple of 4; no string has an object.
 *
 * No result depends on the key of the hash. A store and the stores that are merged into it have the
 * same key.
 */
export class ByteStore {
  /** Number of strings. */
  count = 0;
  /** Total length of the strings. */
  bytes = 0;

  /** Keeps the reads of `prefetch` from being optimised away. */
  prefetched = 0;

  readonly #key: HashKey;
  readonly #chunks: ByteChunks;
  /** The chunks as words, made on the first use. */
  readonly #words: (Uint32Array | undefined)[] = [];
  /** GROWTH_WORDS for each string. */
  #items = new Uint32Array(GROWTH_WORDS * INITIAL_ITEMS);
  /**
   * Open addressing with linear probing: numbers plus one; 0 is free. At most half of the slots are
   * used.
   */
  #slots = new Uint32Array(2 * INITIAL_ITEMS);
  /** The counts that `growth` has returned. */
  #takenItems = 0;
  #takenChunks = 0;

  /** @param shared whether other threads read the memory */
  constructor(key = drawKey(), shared = false) {
    this.#key = key;
    this.#chunks = new ByteChunks(shared);
  }

  /** Adds a string, which is copied if it is new; returns its number. */
  add(bytes: Uint8Array): number {
    const hash = hashBytes(bytes, this.#key);
    const slot = this.#find(bytes, 0, bytes.length, hash);
    const item = (this.#slots[slot] as number) - 1;
    if (item >= 0) return item;
    this.#chunks.keep(bytes);
    return this.#take(slot, this.#chunks.chunk, this.#chunks.start, bytes.length, hash);
  }

  has(bytes: Uint8Array): boolean {
    const slot = this.#find(bytes, 0, bytes.length, hashBytes(bytes, this.#key));
    return this.#slots[slot] !== 0;
  }

  /** Takes over a chunk that another store has filled; returns its number, for `addAt`. */
  adopt(chunk: Uint8Array): number {
    return this.#chunks.adopt(chunk);
  }

  /**
   * Adds a string that lies in an adopted chunk at a multiple of 4, and stays there; returns its
   * number.
   *
   * @param hash as `hashBytes` returns it
   */
  addAt(chunk: number, start: number, length: number, hash: number): number {
    const slot = this.#find(this.#chunks.list[chunk] as Buffer, start, length, hash);
    const item = (this.#slots[slot] as number) - 1;
    return item >= 0 ? item : this.#take(slot, chunk, start, length, hash);
  }

  /**
   * Brings the slots of strings into the cache before they are added: see `prefetch`.
   *
   * @param words has the hash of each string, `step` words from the one before
   * @param from place of the first hash
   * @param to place after the last
   */
  prefetchSlots(words: Uint32Array, from: number, to: number, step: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let sum = 0;
    for (let hash = from; hash < to; hash += step) {
      const next = slots[(words[hash] as number) & mask] as number;
      sum ^= this.#items[Math.max(GROWTH_WORDS * next - 1, 0)] as number;
    }
    this.prefetched = sum;
  }

  length(item: number): number {
    return this.#word(item, WORD_LENGTH);
  }

  /** Returns a view of the string. */
  get(item: number): Uint8Array {
    const chunk = this.#chunkOf(item);
    const start = this.#word(item, WORD_START);
    // `subarray` of a Buffer makes a Buffer, which is slower.
    return new Uint8Array(chunk.buffer, chunk.byteOffset + start, this.#word(item, WORD_LENGTH));
  }

  /** The memory that holds the string; `offset` says where. */
  memory(item: number): Uint8Array {
    return this.#chunkOf(item);
  }

  offset(item: number): number {
    return this.#word(item, WORD_START);
  }

  /** The memory that holds the string, as words; `firstWord` says where. */
  words(item: number): Uint32Array {
    const number = this.#word(item, WORD_CHUNK);
    let words = this.#words[number];
    if (words === undefined) {
      const { buffer, byteOffset, length } = this.#chunkOf(item);
      words = new Uint32Array(buffer, byteOffset, length >> 2);
      this.#words[number] = words;
    }
    return words;
  }

  firstWord(item: number): number {
    return this.#word(item, WORD_START) >> 2;
  }

  /**
   * Copies a string of at least one byte to `to`. The engine's `set` copies shared memory byte by
   * byte unless both ends have the same alignment; `fill` always copies as fast as it can.
   */
  copy(item: number, to: Buffer, at: number): void {
    to.fill(this.get(item), at, at + this.length(item));
  }

  /** Four bytes of a string from an offset, big-endian; zeros after its end. */
  word(item: number, offset: number): number {
    const chunk = this.#chunkOf(item);
    const at = this.#word(item, WORD_START) + offset;
    const left = this.#word(item, WORD_LENGTH) - offset;
    if (left >= 4) {
      return (
        ((chunk[at] as number) << 24) |
        ((chunk[at + 1] as number) << 16) |
        ((chunk[at + 2] as number) << 8) |
        (chunk[at + 3] as number)
      );
    }
    let word = 0;
    for (let index = 0; index < left; index++)
      word |= (chunk[at + index] as number) << (24 - 8 * index);
    return word;
  }

  /**
   * Brings the next strings of a list into the processor's cache; call it for each index, in order,
   * before the string is read. Reads that follow each other wait for memory one by one; those here
   * wait together, because none depends on another.
   */
  prefetch(items: Int32Array | Uint32Array, index: number): void {
    if (index % PREFETCHED !== 0) return;
    const end = Math.min(index + PREFETCHED, items.length);
    let sum = 0;
    for (let next = index; next < end; next++) {
      const item = items[next] as number;
      sum ^= this.#chunkOf(item)[this.#word(item, WORD_START)] as number;
    }
    this.prefetched = sum;
  }

  /** The additions since the last call. */
  growth(): StoreGrowth {
    const items = this.#items.slice(GROWTH_WORDS * this.#takenItems, GROWTH_WORDS * this.count);
    this.#takenItems = this.count;
    const chunks = this.#chunks.list.slice(this.#takenChunks);
    this.#takenChunks = this.#chunks.list.length;
    return { chunks, items };
  }

  #word(item: number, word: number): number {
    return this.#items[GROWTH_WORDS * item + word] as number;
  }

  #chunkOf(item: number): Buffer {
    return this.#chunks.list[this.#word(item, WORD_CHUNK)] as Buffer;
  }

  /** Finds the slot of a string, or the free slot where the string belongs. */
  #find(bytes: Uint8Array, start: number, length: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const item = (slots[slot] as number) - 1;
      if (item < 0) return slot;
      if ((this.#word(item, WORD_HASH) | 0) === hash && this.#equals(item, bytes, start, length))
        return slot;
      slot = (slot + 1) & mask;
    }
  }

  #equals(item: number, bytes: Uint8Array, from: number, length: number): boolean {
    if (this.#word(item, WORD_LENGTH) !== length) return false;
    const chunk = this.#chunkOf(item);
    const start = this.#word(item, WORD_START);
    if (length > SHORT) {
      return chunk.compare(bytes, from, from + length, start, start + length) === 0;
    }
    for (let at = 0; at < length; at++) {
      if (chunk[start + at] !== bytes[from + at]) return false;
    }
    return true;
  }

  /** Gives a string that lies in a chunk the next number. */
  #take(slot: number, chunk: number, start: number, length: number, hash: number): number {
    const item = this.count++;
    const at = GROWTH_WORDS * item;
    if (at === this.#items.length) this.#grow();
    this.#items[at + WORD_CHUNK] = chunk;
    this.#items[at + WORD_START] = start;
    this.#items[at + WORD_LENGTH] = length;
    this.#items[at + WORD_HASH] = hash;
    this.bytes += length;
    this.#slots[slot] = item + 1;
    if (2 * this.count > this.#slots.length) this.#rehash();
    return item;
  }

  #grow(): void {
    const items = this.#items;
    this.#items = new Uint32Array(2 * items.length);
    this.#items.set(items);
  }

  #rehash(): void {
    const slots = new Uint32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let item = 0; item < this.count; item++) {
      let slot = this.#word(item, WORD_HASH) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = item + 1;
    }
    this.#slots = slots;
  }
}
