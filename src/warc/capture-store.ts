/**
 * Memory for the captures of archives: words instead of objects, because an archive may have
 * millions; and a filter of URLs that were left out.
 */

import { addTo } from '../base/maps.js';
import { ByteStore, type HashKey, hashBytes, Uint32List } from '../compile/byte-store.js';
import { KIND_BODY, KIND_REDIRECT, KIND_REVISIT } from './captures.js';

/** Revisits of a URL with different references that are kept: the latest ones. */
export const MAX_REVISITS = 64;

/**
 * Redirects of a URL to different targets at one moment that are kept: the last ones. A hostile
 * archive could have many, and each robots.txt that leads to the URL would follow all of them.
 */
const MAX_REDIRECTS = 16;

/**
 * Captures of one millisecond among which a revisit finds the one that it refers to. An archive may
 * have any number, at different fractions of the millisecond.
 */
const MAX_REFERRED = 256;

const INITIAL_CAPTURES = 64;

/** Growth of the memory for captures. To double it would leave a third of it unused. */
const GROWTH = 1.25;

/** Words of a capture. */
const WORDS = 6;
const URL_NUMBER = 0;
const FILE = 1;
const OFFSET_LOW = 2;
/** The high word of the offset, of 21 bits; IS_FIRST; and the kind. */
const OFFSET_HIGH = 3;
const VALUE = 4;
const BODY_BYTES = 5;

const KIND_BITS = 0b111;
const IS_FIRST = 0b1000;
const OFFSET_SHIFT = 4;

const WORD = 2 ** 32;

/** Where a capture lies. */
export interface CapturePlace {
  readonly file: number;
  readonly offset: number;
}

/** A capture. */
export interface Found extends CapturePlace {
  /** Milliseconds since 1970, with a fraction. */
  readonly date: number;
  /** KIND_BODY, KIND_ACCESS, KIND_REDIRECT or KIND_REVISIT. */
  readonly kind: number;
  /** The number of the body, of the URL that the redirect leads to, or of the reference. */
  readonly value: number;
  readonly bodyBytes: number;
}

/** The capture to which a revisit refers. */
interface Referred {
  readonly found: Found;
  /** The date of the last capture without which this would be another one. */
  readonly since: number;
}

/** Captures by URL, and those of each URL by date; captures of one date in the archive's order. */
interface Runs {
  /** The numbers of the captures. */
  readonly numbers: Uint32Array;
  /** For each URL its first place among the numbers; and the end of the last URL. */
  readonly starts: Uint32Array;
}

const NO_RUNS: Runs = { numbers: new Uint32Array(0), starts: new Uint32Array(1) };

/**
 * The captures of all URLs, as far as anything can depend on them. Without a history that is what
 * can decide at the end, or what a revisit may refer to.
 *
 * The captures are numbered in the order in which they were added. Once something is asked, they
 * are sorted: 36 bytes for each capture, and 4 for each URL; with a history at most 40, and 8.
 */
export class Captures {
  readonly #orderOf: (file: number) => number;
  readonly #hasHistory: boolean;
  #count = 0;
  /** Number of URLs: the greatest of a capture, plus one. */
  #urls = 0;
  #dates = new Float64Array(INITIAL_CAPTURES);
  #words = new Uint32Array(WORDS * INITIAL_CAPTURES);
  /** Number of captures after the last sorting. */
  #sorted = 0;
  #all = NO_RUNS;
  /** With a history, without captures that say the same as those of the date before. */
  #steps = NO_RUNS;

  /**
   * @param hasHistory whether it can be asked what was known at any time
   * @param orderOf the place of a file in the archive, for its number; of files at the same place,
   *   the one with the greater number comes later
   */
  constructor(hasHistory: boolean, orderOf: (file: number) => number) {
    this.#hasHistory = hasHistory;
    this.#orderOf = orderOf;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Adds a capture.
   *
   * @param isFirst whether it comes before all others at its offset, and not after those that were
   *   added before
   */
  add(url: number, capture: Found, isFirst: boolean): void {
    if (this.#count === this.#dates.length) this.#makeRoom();
    const { date, kind, value, bodyBytes, file, offset } = capture;
    const words = this.#words;
    const at = WORDS * this.#count;
    words[at + URL_NUMBER] = url;
    words[at + FILE] = file;
    words[at + OFFSET_LOW] = offset % WORD;
    words[at + OFFSET_HIGH] =
      (Math.floor(offset / WORD) << OFFSET_SHIFT) | (isFirst ? IS_FIRST : 0) | kind;
    words[at + VALUE] = value;
    words[at + BODY_BYTES] = bodyBytes;
    this.#dates[this.#count++] = date;
    if (url >= this.#urls) this.#urls = url + 1;
  }

  /** Whether a URL was captured at its latest moment only once, and that led nowhere else. */
  isPlain(url: number): boolean {
    const first = this.first(url);
    const last = this.end(url, Number.POSITIVE_INFINITY) - 1;
    if (last < first) return true;
    const number = this.numberAt(last);
    const kind = this.kind(number);
    if (kind === KIND_REDIRECT || kind === KIND_REVISIT) return false;
    return last === first || this.date(this.numberAt(last - 1)) !== this.date(number);
  }

  /** The first of the places that the captures of a URL have among all captures. */
  first(url: number): number {
    this.#sort();
    return startOf(this.#steps, url);
  }

  /** The captures of a URL between two times, both excluded, that count; the latest first. */
  between(
    url: number,
    { since, before }: { readonly since: number; readonly before: number },
    counts: (capture: Found) => boolean,
  ): Found[] {
    this.#sort();
    const found: Found[] = [];
    const first = startOf(this.#all, url);
    for (let place = this.#endOf(this.#all, url, before) - 1; place >= first; place--) {
      const number = this.#all.numbers[place] as number;
      if (this.date(number) <= since) break;
      const capture = this.get(number);
      if (counts(capture)) found.push(capture);
    }
    return found;
  }

  /** The place after the last capture of a URL that is older than a time. */
  end(url: number, before: number): number {
    this.#sort();
    return this.#endOf(this.#steps, url, before);
  }

  /** The number of the capture at a place. */
  numberAt(place: number): number {
    return this.#steps.numbers[place] as number;
  }

  date(number: number): number {
    return this.#dates[number] as number;
  }

  kind(number: number): number {
    return this.#word(number, OFFSET_HIGH) & KIND_BITS;
  }

  value(number: number): number {
    return this.#word(number, VALUE);
  }

  get(number: number): Found {
    return {
      date: this.date(number),
      kind: this.kind(number),
      value: this.value(number),
      bodyBytes: this.#word(number, BODY_BYTES),
      file: this.#word(number, FILE),
      offset: this.#offset(number),
    };
  }

  /** The date of the last capture of a URL that is no revisit. */
  lastFoundDate(url: number): number | undefined {
    const first = this.first(url);
    for (let place = this.end(url, Number.POSITIVE_INFINITY) - 1; place >= first; place--) {
      const number = this.numberAt(place);
      if (this.kind(number) !== KIND_REVISIT) return this.date(number);
    }
    return undefined;
  }

  /**
   * The capture of a URL that a revisit means by a date: of its millisecond the last one with a
   * body, or else the last one. Some programs that write revisits drop the microseconds of the date
   * to which they refer.
   *
   * @param before captures of this time, and later ones, do not count
   */
  referred(url: number, date: number, before: number): Referred | undefined {
    this.#sort();
    const millisecond = Math.floor(date);
    const start = startOf(this.#all, url);
    const end = this.#endOf(this.#all, url, Math.min(before, millisecond + 1));
    const found: number[] = [];
    for (let at = end - 1; at >= Math.max(start, end - MAX_REFERRED); at--) {
      const number = this.#all.numbers[at] as number;
      if (this.date(number) < millisecond) break;
      if (this.kind(number) !== KIND_REVISIT) found.push(number);
    }
    const [latest, oldest] = [found[0], found.at(-1)];
    if (latest === undefined || oldest === undefined) return undefined;
    let since = this.date(latest);
    let candidates = found;
    if (this.date(oldest) < since) {
      // Of the latest captures of the URL, only those of one moment count.
      const later = this.#foundAfter(url, end, before);
      if (later !== undefined) since = this.date(later);
      else candidates = found.filter((number) => this.date(number) === since);
    }
    const isBody = (number: number): boolean => this.kind(number) === KIND_BODY;
    const chosen = candidates.reduce((best, number) => {
      if (isBody(best) !== isBody(number)) return isBody(best) ? best : number;
      return this.#compare(number, best) > 0 ? number : best;
    });
    return { found: this.get(chosen), since };
  }

  /** The first capture of a URL from a place on that is no revisit, and older than a time. */
  #foundAfter(url: number, from: number, before: number): number | undefined {
    const end = this.#endOf(this.#all, url, before);
    for (let at = from; at < Math.min(end, from + MAX_REFERRED); at++) {
      const number = this.#all.numbers[at] as number;
      if (this.kind(number) !== KIND_REVISIT) return number;
    }
    return undefined;
  }

  #endOf(runs: Runs, url: number, before: number): number {
    const end = startOf(runs, url + 1);
    if (before === Number.POSITIVE_INFINITY) return end;
    const { numbers } = runs;
    const isBefore = (at: number): boolean => this.date(numbers[at] as number) < before;
    return partitionPoint(startOf(runs, url), end, isBefore);
  }

  #word(number: number, word: number): number {
    return this.#words[WORDS * number + word] as number;
  }

  #offset(number: number): number {
    const high = this.#word(number, OFFSET_HIGH) >>> OFFSET_SHIFT;
    return high * WORD + this.#word(number, OFFSET_LOW);
  }

  /** Compares the places of two captures in the archive. */
  #compare(a: number, b: number): number {
    const [fileA, fileB] = [this.#word(a, FILE), this.#word(b, FILE)];
    return (
      this.#orderOf(fileA) - this.#orderOf(fileB) ||
      fileA - fileB ||
      this.#offset(a) - this.#offset(b) ||
      (this.#word(b, OFFSET_HIGH) & IS_FIRST) - (this.#word(a, OFFSET_HIGH) & IS_FIRST) ||
      a - b
    );
  }

  #makeRoom(): void {
    // With fewer captures, most are the only ones of their URLs, and nothing can be dropped.
    if (this.#count > 2 * Math.max(this.#urls, this.#sorted)) this.#sort();
    const room = this.#dates.length;
    if (this.#count < room / GROWTH) return;
    const capacity = Math.ceil(GROWTH * room);
    const dates = new Float64Array(capacity);
    dates.set(this.#dates);
    this.#dates = dates;
    const words = new Uint32Array(WORDS * capacity);
    words.set(this.#words);
    this.#words = words;
  }

  /** Sorts the captures, and drops those that no answer depends on. */
  #sort(): void {
    if (this.#sorted === this.#count) return;
    const { numbers, starts } = this.#byUrl();
    const compare = (a: number, b: number): number =>
      this.date(a) - this.date(b) || this.#compare(a, b);
    let end = 0;
    for (let url = 0; url < this.#urls; url++) {
      const [from, to] = [starts[url] as number, starts[url + 1] as number];
      starts[url] = end;
      if (to - from < 2) {
        if (to > from) numbers[end++] = numbers[from] as number;
        continue;
      }
      const run = numbers.subarray(from, to);
      if (!isAscending(run, compare)) run.sort(compare);
      for (const number of this.#kept(run)) numbers[end++] = number;
    }
    starts[this.#urls] = end;
    this.#all = { numbers: end < numbers.length ? numbers.slice(0, end) : numbers, starts };
    if (end < this.#count) this.#compact();
    this.#steps = this.#hasHistory ? this.#stepsOf(this.#all) : this.#all;
    this.#sorted = this.#count;
  }

  /** The captures of each URL, in the order in which they were added. */
  #byUrl(): Runs {
    const starts = new Uint32Array(this.#urls + 1);
    for (let number = 0; number < this.#count; number++) {
      const url = this.#word(number, URL_NUMBER);
      starts[url] = (starts[url] as number) + 1;
    }
    let end = 0;
    for (let url = 0; url <= this.#urls; url++) {
      end += starts[url] as number;
      starts[url] = end;
    }
    const numbers = new Uint32Array(this.#count);
    for (let number = this.#count - 1; number >= 0; number--) {
      const url = this.#word(number, URL_NUMBER);
      const at = (starts[url] as number) - 1;
      starts[url] = at;
      numbers[at] = number;
    }
    return { numbers, starts };
  }

  /**
   * The captures of a URL that can count. At one moment that is the last body, the last access
   * result, the last redirect to each target, and the last revisit with each reference. Without a
   * history, only the last revisit with a reference can count, and none that is older than the
   * last capture of another kind.
   *
   * @param run all captures of the URL, sorted
   */
  #kept(run: Uint32Array): number[] {
    const kept: number[] = [];
    const others = new Set<number>();
    const revisits = new Set<number>();
    let date = Number.NaN;
    let redirects = 0;
    let hasFound = false;
    let takesRevisits = true;
    for (let at = run.length - 1; at >= 0; at--) {
      const number = run[at] as number;
      if (this.date(number) !== date) {
        date = this.date(number);
        others.clear();
        redirects = 0;
        if (this.#hasHistory) revisits.clear();
        else if (hasFound) takesRevisits = false;
      }
      const kind = this.kind(number);
      const value = this.value(number);
      if (kind === KIND_REVISIT) {
        if (!takesRevisits || revisits.has(value) || revisits.size === MAX_REVISITS) continue;
        revisits.add(value);
      } else {
        hasFound = true;
        const isRedirect = kind === KIND_REDIRECT;
        const what = isRedirect ? value : -1 - kind;
        if (others.has(what) || (isRedirect && redirects === MAX_REDIRECTS)) continue;
        others.add(what);
        if (isRedirect) redirects++;
      }
      kept.push(number);
    }
    return kept.reverse();
  }

  /** Drops the captures that are not among `#all`, and numbers the others anew. */
  #compact(): void {
    const { numbers } = this.#all;
    const renumbered = new Uint32Array(this.#count);
    for (const number of numbers) renumbered[number] = 1;
    let end = 0;
    for (let number = 0; number < this.#count; number++) {
      if (renumbered[number] === 0) continue;
      this.#dates[end] = this.date(number);
      this.#words.copyWithin(WORDS * end, WORDS * number, WORDS * (number + 1));
      renumbered[number] = end++;
    }
    this.#count = end;
    for (let at = 0; at < end; at++) numbers[at] = renumbered[numbers[at] as number] as number;
  }

  /** Leaves out the captures of each date that say the same as those of the date before. */
  #stepsOf(all: Runs): Runs {
    const numbers = new Uint32Array(all.numbers.length);
    const starts = new Uint32Array(all.starts.length);
    let end = 0;
    for (let url = 0; url < this.#urls; url++) {
      starts[url] = end;
      const stop = startOf(all, url + 1);
      let before = startOf(all, url);
      let from = before;
      while (from < stop) {
        const date = this.date(all.numbers[from] as number);
        let to = from + 1;
        while (to < stop && this.date(all.numbers[to] as number) === date) to++;
        if (!this.#saysSame(all.numbers, before, from, to)) {
          for (let at = from; at < to; at++) numbers[end++] = all.numbers[at] as number;
        }
        before = from;
        from = to;
      }
    }
    starts[this.#urls] = end;
    return { numbers: numbers.slice(0, end), starts };
  }

  /** Whether the captures at places from `middle` to `end` say what those before them say. */
  #saysSame(numbers: Uint32Array, start: number, middle: number, end: number): boolean {
    const length = end - middle;
    if (middle - start !== length) return false;
    for (let at = start; at < middle; at++) {
      const [one, other] = [numbers[at] as number, numbers[at + length] as number];
      const isSame = this.kind(one) === this.kind(other) && this.value(one) === this.value(other);
      if (!isSame) return false;
    }
    return true;
  }
}

/** The first place of the captures of a URL. A URL may be known from redirects to it alone. */
function startOf({ starts, numbers }: Runs, url: number): number {
  return starts[url] ?? numbers.length;
}

function isAscending(run: Uint32Array, compare: (a: number, b: number) => number): boolean {
  return run.every((number, at) => at === 0 || compare(run[at - 1] as number, number) <= 0);
}

/** The first place in a range for which a condition does not hold; it holds for all before. */
function partitionPoint(from: number, to: number, holds: (at: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What a revisit refers to. */
export interface Reference {
  /** The number of the payload digest; -1 if there is none. */
  readonly digest: number;
  /** The number of the URL that it refers to; -1 if there is none. */
  readonly url: number;
  /** Milliseconds since 1970; NaN if unknown. */
  readonly date: number;
  /** Whether the server said that nothing has changed. */
  readonly isUnmodified: boolean;
}

/** Bytes of a reference: digest, URL, date, and whether it is unmodified. */
const REFERENCE_BYTES = 17;

/** The distinct references of revisits, by number. */
export class References {
  readonly #references: ByteStore;
  readonly #bytes = Buffer.alloc(REFERENCE_BYTES);

  constructor(key: HashKey) {
    this.#references = new ByteStore(key);
  }

  /** Adds a reference; returns its number. */
  add({ digest, url, date, isUnmodified }: Reference): number {
    const bytes = this.#bytes;
    bytes.writeInt32LE(digest, 0);
    bytes.writeInt32LE(url, 4);
    bytes.writeDoubleLE(date, 8);
    bytes.writeUInt8(isUnmodified ? 1 : 0, 16);
    return this.#references.add(bytes);
  }

  get(number: number): Reference {
    const { buffer, byteOffset } = this.#references.get(number);
    const view = new DataView(buffer, byteOffset, REFERENCE_BYTES);
    return {
      digest: view.getInt32(0, true),
      url: view.getInt32(4, true),
      date: view.getFloat64(8, true),
      isUnmodified: view.getUint8(16) === 1,
    };
  }
}

/** The body with a digest. */
export interface Payload {
  readonly body: number;
  readonly bodyBytes: number;
  /** The date of a capture with it, in milliseconds since 1970; -Infinity without a history. */
  readonly date: number;
}

/**
 * The body with each payload digest. If captures give one digest to different bodies, the capture
 * that was added last counts.
 */
export class Payloads {
  /** For each digest the number of the body plus one, and its length. */
  readonly #words = new Uint32List();
  readonly #hasHistory: boolean;
  /** With a history, the date of each. */
  #dates = new Float64Array(0);
  /**
   * With a history, for some digests the bodies that count before that date, by date: captures that
   * were added before, and are older.
   */
  readonly #earlier = new Map<number, Payload[]>();

  constructor(hasHistory: boolean) {
    this.#hasHistory = hasHistory;
  }

  add(digest: number, payload: Payload): void {
    const latest = this.#hasHistory ? this.#latest(digest) : undefined;
    if (latest === undefined) {
      this.#set(digest, payload);
      return;
    }
    const earlier = this.#earlier.get(digest) ?? [];
    // From its date on, a capture counts before all that were added before.
    let before: Payload | undefined = latest;
    while (before !== undefined && before.date >= payload.date) before = earlier.pop();
    const isSame = before?.body === payload.body && before.bodyBytes === payload.bodyBytes;
    if (before !== undefined && !isSame) earlier.push(before);
    this.#set(digest, before !== undefined && isSame ? before : payload);
    if (earlier.length > 0) this.#earlier.set(digest, earlier);
    else this.#earlier.delete(digest);
  }

  /** The body with a digest, by the captures that are older than a time. */
  get(digest: number, before: number): Payload | undefined {
    const latest = this.#latest(digest);
    if (latest === undefined || latest.date < before) return latest;
    const earlier = this.#earlier.get(digest) ?? [];
    const isBefore = (at: number): boolean => (earlier[at] as Payload).date < before;
    return earlier[partitionPoint(0, earlier.length, isBefore) - 1];
  }

  #latest(digest: number): Payload | undefined {
    const body = this.#words.get(2 * digest) - 1;
    if (body < 0) return undefined;
    const bodyBytes = this.#words.get(2 * digest + 1);
    return { body, bodyBytes, date: this.#dates[digest] ?? Number.NEGATIVE_INFINITY };
  }

  #set(digest: number, { body, bodyBytes, date }: Payload): void {
    this.#words.set(2 * digest, body + 1);
    this.#words.set(2 * digest + 1, bodyBytes);
    if (!this.#hasHistory) return;
    if (digest >= this.#dates.length) {
      const dates = new Float64Array(Math.max(2 * this.#dates.length, digest + 1));
      dates.set(this.#dates);
      this.#dates = dates;
    }
    this.#dates[digest] = date;
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
