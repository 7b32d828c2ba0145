import { ByteStore } from '../compile/intern/byte-store.js';
import type { HashKey } from '../compile/intern/hash-bytes.js';
import { Uint32List } from '../compile/intern/uint32-list.js';

/** Words of a capture. */
const WORDS = 8;
const DATE_HIGH = 0;
const DATE_LOW = 1;
/** The number of the file plus one; 0 if there is no such capture. */
const FILE = 2;
const OFFSET_HIGH = 3;
const OFFSET_LOW = 4;
const IS_REDIRECT = 5;
const VALUE = 6;
const BODY_BYTES = 7;

const WORD = 2 ** 32;

/** Milliseconds that are added to dates, so that dates before 1970 are positive too. */
const EPOCH_SHIFT = 2 ** 52;

/** Where a capture lies. */
export interface CapturePlace {
  readonly file: number;
  readonly offset: number;
}

/** A finding, and the capture that has it. */
export interface Found extends CapturePlace {
  /** Milliseconds since 1970. */
  readonly date: number;
  readonly isRedirect: boolean;
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

  /** The date of a finding that the list has. */
  dateOf(number: number): number {
    const at = WORDS * number;
    return this.#number(at + DATE_HIGH) - EPOCH_SHIFT;
  }

  get(number: number): Found | undefined {
    const words = this.#words;
    const at = WORDS * number;
    const file = words.get(at + FILE) - 1;
    if (file < 0) return undefined;
    return {
      date: this.dateOf(number),
      isRedirect: words.get(at + IS_REDIRECT) !== 0,
      value: words.get(at + VALUE),
      bodyBytes: words.get(at + BODY_BYTES),
      file,
      offset: this.#number(at + OFFSET_HIGH),
    };
  }

  set(number: number, { date, isRedirect, value, bodyBytes, file, offset }: Found): void {
    const words = this.#words;
    const at = WORDS * number;
    const shifted = date + EPOCH_SHIFT;
    words.set(at + DATE_HIGH, Math.floor(shifted / WORD));
    words.set(at + DATE_LOW, shifted % WORD);
    words.set(at + FILE, file + 1);
    words.set(at + OFFSET_HIGH, Math.floor(offset / WORD));
    words.set(at + OFFSET_LOW, offset % WORD);
    words.set(at + IS_REDIRECT, isRedirect ? 1 : 0);
    words.set(at + VALUE, value);
    words.set(at + BODY_BYTES, bodyBytes);
  }

  /** A number of two words. */
  #number(at: number): number {
    return this.#words.get(at) * WORD + this.#words.get(at + 1);
  }
}

/** Findings that are not the latest ones of their URLs. Only revisits refer to them. */
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
    this.#key.writeDoubleLE(date, 4);
    return this.#key;
  }
}
