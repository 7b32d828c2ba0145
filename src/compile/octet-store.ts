import { getRandomValues } from 'node:crypto';
import { Numbers } from './numbers.js';
import { OctetChunks } from './octet-chunks.js';

const INITIAL_ITEMS = 64;

/** Shorter strings are compared octet by octet, which beats a call into the engine. */
const SHORT = 32;

/** From this length on it pays to read words rather than octets. */
const LONG = 64;

/**
 * So many strings are touched at a time: more than a processor waits for at once, and few enough to
 * stay in its cache.
 */
export const TOUCHED_AT_ONCE = 64;

/** Words in a line of a processor's cache. */
const LINE_WORDS = 16;
const NO_WORDS = new Int32Array(0);

/** Whether words in memory have their low octet first. */
const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/**
 * Words that describe a string in `StoreGrowth`: its chunk, its offset there, its octets, its hash.
 */
export const GROWTH_WORDS = 4;
const WORD_CHUNK = 0;
const WORD_START = 1;
const WORD_LENGTH = 2;
const WORD_HASH = 3;

/**
 * What was new in a store since it was asked last, for the thread that merges stores: nothing in it
 * is a copy.
 */
export interface StoreGrowth {
  /** The chunks that were added; they may go on to be filled. */
  readonly chunks: readonly Uint8Array[];
  /** GROWTH_WORDS for each new string, by number; chunks are counted from the store's first. */
  readonly items: Uint32Array;
}

/**
 * What hashes depend on, two words: the strings come from outside, and without it nobody can make
 * strings that collide.
 */
export type HashKey = Int32Array;

/** A key drawn at random. */
export function drawKey(): HashKey {
  return getRandomValues(new Int32Array(2));
}

/**
 * Strings of octets, each distinct one once, known by a number from 0 in the order in which they
 * came. They lie in chunks that never move, each at a multiple of 4 in its memory: no object for
 * any of them.
 *
 * Nothing that is read out depends on the key of the hash. Stores of which one is merged into the
 * other must have the same.
 */
export class OctetStore {
  /** How many distinct strings there are. */
  count = 0;
  /** Octets of all distinct strings. */
  octets = 0;
  /** Comes of what was touched, so that the engine does not leave out to read it. */
  touched = 0;

  readonly #key: HashKey;
  readonly #chunks: OctetChunks;
  /** The chunks as words, as far as somebody asked. */
  readonly #words: (Uint32Array | undefined)[] = [];
  /**
   * GROWTH_WORDS for each string: who asks for one of them mostly needs another, and they share a
   * cache line.
   */
  #items = new Uint32Array(GROWTH_WORDS * INITIAL_ITEMS);
  /** Open addressing with linear probing: numbers plus one; 0 is free. At most half are used. */
  #slots = new Uint32Array(2 * INITIAL_ITEMS);
  /** What `growth` has told of. */
  #toldItems = 0;
  #toldChunks = 0;

  /** `shared` memory can be read by other threads. */
  constructor(key = drawKey(), shared = false) {
    this.#key = key;
    this.#chunks = new OctetChunks(shared);
  }

  /** The number of the string, which is copied if it is new. */
  add(octets: Uint8Array): number {
    const hash = hashOctets(octets, this.#key);
    const slot = this.#find(octets, 0, octets.length, hash);
    const item = (this.#slots[slot] as number) - 1;
    if (item >= 0) return item;
    this.#chunks.keep(octets);
    return this.#take(slot, this.#chunks.chunk, this.#chunks.start, octets.length, hash);
  }

  /** Takes in a chunk of strings that another store has filled; returns its number, for `addAt`. */
  adopt(chunk: Uint8Array): number {
    return this.#chunks.adopt(chunk);
  }

  /**
   * The number of a string that lies in an adopted chunk, at a multiple of 4; it stays there.
   * `hash` is that of `hashOctets`.
   */
  addAt(chunk: number, start: number, length: number, hash: number): number {
    const slot = this.#find(this.#chunks.list[chunk] as Buffer, start, length, hash);
    const item = (this.#slots[slot] as number) - 1;
    return item >= 0 ? item : this.#take(slot, chunk, start, length, hash);
  }

  length(item: number): number {
    return this.#word(item, WORD_LENGTH);
  }

  /** A view of the string. */
  get(item: number): Uint8Array {
    const chunk = this.#chunkOf(item);
    const start = this.#word(item, WORD_START);
    // Not `subarray`, which of a Buffer makes another and takes three times as long.
    return new Uint8Array(chunk.buffer, chunk.byteOffset + start, this.#word(item, WORD_LENGTH));
  }

  /** The memory that the string lies in, and its offset there. */
  memory(item: number): Uint8Array {
    return this.#chunkOf(item);
  }

  offset(item: number): number {
    return this.#word(item, WORD_START);
  }

  /** The same as words of 32 bits, and the number of the string's first there. */
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
   * Copies the string, word by word: what the engine has for it goes octet by octet where memory is
   * shared, unless both ends lie alike. All its cache lines are touched first: a processor waits
   * for them together, but for those of the copy one after the other.
   */
  copy(item: number, to: DataView, at: number): void {
    const words = this.words(item);
    const first = this.firstWord(item);
    const length = this.#word(item, WORD_LENGTH);
    const end = first + (length >> 2);
    let touched = 0;
    for (let word = first; word < end; word += LINE_WORDS) touched ^= words[word] as number;
    this.touched = touched;
    const whole = length & ~3;
    for (let word = 0; word < whole; word += 4) {
      to.setUint32(at + word, words[first + (word >> 2)] as number, LITTLE_ENDIAN);
    }
    const chunk = this.#chunkOf(item);
    const start = this.#word(item, WORD_START);
    for (let octet = whole; octet < length; octet++) {
      to.setUint8(at + octet, chunk[start + octet] as number);
    }
  }

  /**
   * Touches the beginnings of the strings `items[from]` to `items[to - 1]`, and what says where
   * they lie. Who goes on with strings that lie anywhere waits for all of them at once so, and not
   * for each in turn.
   */
  touch(items: Int32Array | Uint32Array, from: number, to: number): void {
    let touched = 0;
    for (let index = from; index < to; index++) {
      touched ^= this.#word(items[index] as number, WORD_CHUNK);
    }
    for (let index = from; index < to; index++) {
      const item = items[index] as number;
      touched ^= this.#chunkOf(item)[this.#word(item, WORD_START)] as number;
    }
    this.touched = touched;
  }

  /** Four octets of a string, the first the highest; zeros behind its end. */
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

  /** What is new since the last call. */
  growth(): StoreGrowth {
    const items = this.#items.slice(GROWTH_WORDS * this.#toldItems, GROWTH_WORDS * this.count);
    this.#toldItems = this.count;
    const chunks = this.#chunks.list.slice(this.#toldChunks);
    this.#toldChunks = this.#chunks.list.length;
    return { chunks, items };
  }

  #word(item: number, word: number): number {
    return this.#items[GROWTH_WORDS * item + word] as number;
  }

  #chunkOf(item: number): Buffer {
    return this.#chunks.list[this.#word(item, WORD_CHUNK)] as Buffer;
  }

  /** The slot of a string, or the free one in which it belongs. */
  #find(octets: Uint8Array, start: number, length: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const item = (slots[slot] as number) - 1;
      if (item < 0) return slot;
      if ((this.#word(item, WORD_HASH) | 0) === hash && this.#equals(item, octets, start, length))
        return slot;
      slot = (slot + 1) & mask;
    }
  }

  #equals(item: number, octets: Uint8Array, from: number, length: number): boolean {
    if (this.#word(item, WORD_LENGTH) !== length) return false;
    const chunk = this.#chunkOf(item);
    const start = this.#word(item, WORD_START);
    if (length > SHORT) {
      return chunk.compare(octets, from, from + length, start, start + length) === 0;
    }
    for (let at = 0; at < length; at++) {
      if (chunk[start + at] !== octets[from + at]) return false;
    }
    return true;
  }

  /** Gives the next number to a string that is in its place. */
  #take(slot: number, chunk: number, start: number, length: number, hash: number): number {
    const item = this.count++;
    const at = GROWTH_WORDS * item;
    if (at === this.#items.length) this.#grow();
    this.#items[at + WORD_CHUNK] = chunk;
    this.#items[at + WORD_START] = start;
    this.#items[at + WORD_LENGTH] = length;
    this.#items[at + WORD_HASH] = hash;
    this.octets += length;
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

/**
 * Takes in what another store is given on another thread, as it grows. Strings stay where they are.
 */
export class StoreMerger {
  /** For each string of the other store its number in this one. */
  readonly numbers = new Numbers();
  readonly #into: OctetStore;
  /** For each chunk of the other store its number in this one. */
  readonly #chunks: number[] = [];

  constructor(into: OctetStore) {
    this.#into = into;
  }

  /** Growths have to come in the order in which they were taken. */
  merge({ chunks, items }: StoreGrowth): void {
    for (const chunk of chunks) this.#chunks.push(this.#into.adopt(chunk));
    for (let at = 0; at < items.length; at += GROWTH_WORDS) {
      const chunk = this.#chunks[items[at + WORD_CHUNK] as number] as number;
      const start = items[at + WORD_START] as number;
      const length = items[at + WORD_LENGTH] as number;
      const hash = (items[at + WORD_HASH] as number) | 0;
      this.numbers.push(this.#into.addAt(chunk, start, length, hash));
    }
  }
}

/**
 * HalfSipHash-1-3 (Aumasson and Bernstein, 2012): an add, rotate and exclusive-or round for each
 * word of four octets, three more at the end. A hash that takes its seed at the start alone, as
 * MurmurHash3 does, has collisions that hold for every seed.
 */
export function hashOctets(octets: Uint8Array, key: HashKey): number {
  const { length } = octets;
  const whole = length & ~3;
  const aligned = LITTLE_ENDIAN && length >= LONG && (octets.byteOffset & 3) === 0;
  const words = aligned ? new Int32Array(octets.buffer, octets.byteOffset, whole >> 2) : NO_WORDS;
  let v0 = key[0] as number;
  let v1 = key[1] as number;
  let v2 = v0 ^ 0x6c796765;
  let v3 = v1 ^ 0x74656462;
  // Behind the words of the string: what is left of it with its length, then three words of
  // nothing.
  for (let at = 0; at <= whole + 12; at += 4) {
    let word = 0;
    if (at < whole) {
      word = aligned
        ? (words[at >> 2] as number)
        : (octets[at] as number) |
          ((octets[at + 1] as number) << 8) |
          ((octets[at + 2] as number) << 16) |
          ((octets[at + 3] as number) << 24);
    } else if (at === whole) {
      word = length << 24;
      for (let rest = at; rest < length; rest++) {
        word |= (octets[rest] as number) << (8 * (rest - at));
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
