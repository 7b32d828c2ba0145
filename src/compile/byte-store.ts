/** Stores byte strings once each and numbers them: a hash table without objects. */

import { getRandomValues, hash } from 'node:crypto';

const INITIAL_ITEMS = 64;

/** Strings up to this length are compared byte by byte, which is faster than a native call. */
const SHORT = 32;

/** Number of strings that `prefetch` reads at a time. */
export const PREFETCHED = 64;

/** Words of a string in `StoreGrowth`: its chunk, its offset there, its length, its hash. */
export const GROWTH_WORDS = 4;
const WORD_CHUNK = 0;
const WORD_START = 1;
const WORD_LENGTH = 2;
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
const INITIAL_CHUNK_BYTES = 1 << 12;
const MAX_CHUNK_BYTES = 1 << 24;

/**
 * The engine copies shared memory by words of 8 bytes only if both ends have the same alignment.
 */
const ALIGNMENT = 8;

/**
 * Stores strings of bytes, each at a multiple of 8 in chunks of memory that never move. The memory
 * may be shared. Another thread can then read a string once that thread knows its place.
 */
export class ByteChunks {
  /** All chunks, by number. */
  readonly list: Buffer[] = [];
  /** Chunk and offset of the last string. */
  chunk = 0;
  start = 0;

  readonly #shared: boolean;
  /** The chunk that is being filled, and its first free byte. */
  #open = -1;
  #free = 0;
  #bytes = 0;

  constructor(shared = false) {
    this.#shared = shared;
  }

  /** Appends a copy of a string. */
  keep(bytes: Uint8Array): void {
    const { length } = bytes;
    let chunk = this.list[this.#open];
    if (chunk === undefined || this.#free + length > chunk.length) {
      this.#bytes = Math.max(
        length,
        Math.min(2 * this.#bytes, MAX_CHUNK_BYTES),
        INITIAL_CHUNK_BYTES,
      );
      chunk = this.#shared
        ? Buffer.from(new SharedArrayBuffer(this.#bytes))
        : Buffer.from(new ArrayBuffer(this.#bytes));
      this.#open = this.list.push(chunk) - 1;
      this.#free = 0;
    }
    chunk.set(bytes, this.#free);
    this.chunk = this.#open;
    this.start = this.#free;
    this.#free = (this.#free + length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Takes over a chunk that was filled elsewhere; returns its number. */
  adopt(chunk: Uint8Array): number {
    return this.list.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)) - 1;
  }
}
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

/** From this length on, strings are hashed by words instead of bytes. */
const LONG = 64;

const NO_WORDS = new Int32Array(0);

/**
 * Two random words. Strings come from outside: without the key nobody can choose strings that
 * collide.
 */
export type HashKey = Int32Array;

/** Draws a key at random. */
export function drawKey(): HashKey {
  return getRandomValues(new Int32Array(2));
}

/**
 * HalfSipHash-1-3 (Aumasson and Bernstein, 2012): one round for each word of four bytes, and three
 * rounds at the end. MurmurHash3, which is seeded only at the start, would have collisions that
 * hold for every seed.
 */
export function hashBytes(bytes: Uint8Array, key: HashKey): number {
  const { length } = bytes;
  const whole = length & ~3;
  const aligned = length >= LONG && (bytes.byteOffset & 3) === 0;
  const words = aligned ? new Int32Array(bytes.buffer, bytes.byteOffset, whole >> 2) : NO_WORDS;
  let v0 = key[0] as number;
  let v1 = key[1] as number;
  let v2 = v0 ^ 0x6c796765;
  let v3 = v1 ^ 0x74656462;
  // After the whole words come the remaining bytes with the length, then three zero words.
  for (let at = 0; at <= whole + 12; at += 4) {
    let word = 0;
    if (at < whole) {
      word = aligned
        ? (words[at >> 2] as number)
        : (bytes[at] as number) |
          ((bytes[at + 1] as number) << 8) |
          ((bytes[at + 2] as number) << 16) |
          ((bytes[at + 3] as number) << 24);
    } else if (at === whole) {
      word = length << 24;
      for (let rest = at; rest < length; rest++) {
        word |= (bytes[rest] as number) << (8 * (rest - at));
      }
    } else if (at === whole + 4) {
      v2 ^= 0xff;
    }
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return v1 ^ v3;
}

/** Length of a SHA-256 digest. */
export const DIGEST_BYTES = 32;

const digest = Buffer.alloc(DIGEST_BYTES);

/**
 * The SHA-256 digest of a body; the next call overwrites the digest. The digest is returned through
 * a string, because allocating and collecting a Buffer for each body is slower.
 */
export function digestOf(body: Uint8Array): Buffer {
  digest.write(hash('sha256', body, 'binary'), 'binary');
  return digest;
}

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
