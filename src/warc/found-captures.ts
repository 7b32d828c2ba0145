import { ByteStore } from '../compile/intern/byte-store.js';
import type { HashKey } from '../compile/intern/hash-bytes.js';
import { Uint32List } from '../compile/intern/uint32-list.js';

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
