/**
 * Memory for the captures of archives: words instead of objects, because an archive may have
 * millions; and a filter of URLs that were left out.
 */

import { addTo } from '../base/maps.js';
import { ByteStore, type HashKey, hashBytes, Uint32List } from '../compile/byte-store.js';

/** Words of a capture. The first two hold its date, as a floating-point number. */
const WORDS = 9;
/** The number of the file plus one; 0 if there is no such capture. */
const FILE = 2;
const OFFSET_HIGH = 3;
const OFFSET_LOW = 4;
const KIND = 5;
const VALUE = 6;
const BODY_BYTES = 7;
const SEQUENCE = 8;

const WORD = 2 ** 32;

/** Memory for a date and its two words. */
const scratch = new Float64Array(1);
const scratchWords = new Uint32Array(scratch.buffer);

/** Where a capture lies. */
export interface CapturePlace {
  readonly file: number;
  readonly offset: number;
}

/** The place of a capture among all others. */
export interface OrderedPlace extends CapturePlace {
  /** Ascending among the captures at one offset: those in one gzip member or zstd frame. */
  readonly sequence: number;
}

/** A finding, and the capture that has it. */
export interface Found extends OrderedPlace {
  /** Milliseconds since 1970, with a fraction. */
  readonly date: number;
  /** KIND_BODY, KIND_ACCESS or KIND_REDIRECT. */
  readonly kind: number;
  /** The number of the body, or of the URL that the redirect leads to. */
  readonly value: number;
  readonly bodyBytes: number;
}

/** A list of findings, some of which may be missing. */
export class FoundCaptures {
  readonly #words = new Uint32List();

  has(number: number): boolean {
    return this.#words.get(WORDS * number + FILE) !== 0;
  }

  get(number: number): Found | undefined {
    const words = this.#words;
    const at = WORDS * number;
    const file = words.get(at + FILE) - 1;
    if (file < 0) return undefined;
    for (const word of [0, 1]) scratchWords[word] = words.get(at + word);
    return {
      date: scratch[0] as number,
      kind: words.get(at + KIND),
      value: words.get(at + VALUE),
      bodyBytes: words.get(at + BODY_BYTES),
      file,
      offset: words.get(at + OFFSET_HIGH) * WORD + words.get(at + OFFSET_LOW),
      sequence: words.get(at + SEQUENCE),
    };
  }

  set(number: number, found: Found): void {
    const { kind, value, bodyBytes, file, offset, sequence } = found;
    const words = this.#words;
    const at = WORDS * number;
    scratch[0] = found.date;
    for (const word of [0, 1]) words.set(at + word, scratchWords[word] as number);
    words.set(at + FILE, file + 1);
    words.set(at + OFFSET_HIGH, Math.floor(offset / WORD));
    words.set(at + OFFSET_LOW, offset % WORD);
    words.set(at + KIND, kind);
    words.set(at + VALUE, value);
    words.set(at + BODY_BYTES, bodyBytes);
    words.set(at + SEQUENCE, sequence);
  }
}

/**
 * Findings that are not the latest ones of their URLs, one for each URL and millisecond. Only
 * revisits refer to them.
 */
export class EarlierCaptures {
  /** Each key is the number of a URL and a date. */
  readonly #keys: ByteStore;
  readonly #found = new FoundCaptures();
  readonly #key = Buffer.alloc(12);

  constructor(key: HashKey) {
    this.#keys = new ByteStore(key);
  }

  add(url: number, found: Found): void {
    this.#found.set(this.#keys.add(this.#keyOf(url, found.date)), found);
  }

  find(url: number, date: number): Found | undefined {
    return this.#found.get(this.#keys.add(this.#keyOf(url, date)));
  }

  #keyOf(url: number, date: number): Buffer {
    this.#key.writeUInt32LE(url);
    // Some programs that write revisits drop the microseconds of the date to which they refer.
    this.#key.writeDoubleLE(Math.floor(date), 4);
    return this.#key;
  }
}

/** Words of a capture that was left out: hash of its URL, number of its file, offset (high and low
 * word). */
const LEFT_OUT_WORDS = 4;

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
    for (let at = 0; at < words.length; at += LEFT_OUT_WORDS) {
      if (!hashes.has(words.get(at))) continue;
      const file = words.get(at + 1);
      const offset = words.get(at + 2) * WORD + words.get(at + 3);
      addTo(places, file, offset);
    }
    return places;
  }
}

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
