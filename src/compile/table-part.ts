/** Compiles robots.txt files one after another into a part of a table; parts are merged later. */

import { Buffer } from 'node:buffer';
import { BACKSLASH, DIGIT_0, LOWER_U } from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import type { Authority } from '../protocol/authority.js';
import type { Warning, WarningCode } from '../protocol/robots-file.js';
import type { Profile } from '../protocol/verdict.js';
import { displaySource } from '../table/display-text.js';
import {
  SOURCE_FIXED_BYTES,
  SOURCE_TEXT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
} from '../table/format.js';
import { authorityKey, checkAuthority } from './authority-set.js';
import { BodyCompiler, type CompileOptions } from './body-compiler.js';
import {
  ByteChunks,
  DIGEST_BYTES,
  digestOf,
  type HashKey,
  hashBytes,
  type StoreGrowth,
} from './byte-store.js';
import {
  accessOf,
  type CompiledGrowth,
  secondsOf,
  type VersionDetails,
} from './compiled-robots.js';
import { writeNumber } from './host-records.js';

/**
 * Words of an entry. They are the place of the authority's key (four words: chunk, offset, length,
 * hash), the place of its source's template (the same four words), the number of the source, the
 * body, the length of the body as received, and the date of its fetch in seconds since 1970, 0 if
 * unknown.
 */
export const ENTRY_WORDS = 12;
export const ENTRY_KEY = 0;
export const ENTRY_SOURCE = 4;
export const ENTRY_SOURCE_NUMBER = 8;
export const ENTRY_BODY = 9;
export const ENTRY_BODY_BYTES = 10;
export const ENTRY_DATE = 11;
/** Set in the word of the body: see VersionDetails.isAgain and isGuess. */
export const ENTRY_AGAIN = 2 ** 31;
export const ENTRY_GUESS = 2 ** 30;

/** Numbers of bodies that were not fetched; the distinct fetched bodies follow. */
export const BODY_UNAVAILABLE = 0;
export const BODY_UNREACHABLE = 1;
/** In histories alone: from then on nothing is known. */
export const BODY_UNKNOWN = 2;
export const FIRST_BODY = 3;

/** In place of the number of a robots record: another builder has claimed the body. */
export const COMPILED_ELSEWHERE = 0xffff_ffff;

/**
 * Some robots.txt files of a table, compiled by a PartBuilder, perhaps on another thread. A part
 * refers to earlier parts of the same builder. Its bytes stay where the builder has put them.
 */
export interface TablePart {
  readonly compiled: CompiledGrowth;
  readonly digests: StoreGrowth;
  /** For each new body, the number of its robots record or COMPILED_ELSEWHERE. */
  readonly robotsRecords: Uint32Array;
  /** For each new body, the number of the list of its other records plus one; 0 if it has none. */
  readonly recordLists: Uint32Array;
  /** The warning codes of each new body that has any, in the order of lines. */
  readonly warnings: readonly (readonly [body: number, codes: readonly WarningCode[]])[];
  /** New chunks of memory for keys and sources. */
  readonly strings: readonly Uint8Array[];
  /** ENTRY_WORDS for each authority, in order. */
  readonly entries: Uint32Array;
  /** Calls of `add`, and bytes of their bodies. */
  readonly files: number;
  readonly bytes: number;
}

/** The place of a string among the strings of a part: chunk, offset, length, hash. */
type Place = readonly [number, number, number, number];

export function countEntries({ entries }: TablePart): number {
  return entries.length / ENTRY_WORDS;
}

/** Settings that the PartBuilders of a table share. */
interface PartSettings {
  /** The key of the TableContents. */
  readonly key: HashKey;
  /** Claims on bodies; needed if other builders compile the same table. */
  readonly claims?: BodyClaims | undefined;
  /** Whether the parts are merged on another thread; default false. */
  readonly shared?: boolean | undefined;
  /** Called for each warning about a body that this builder compiles. */
  readonly onWarning?: ((source: string, warning: Warning) => void) | undefined;
}

/** Compiles robots.txt files for a table, part by part. */
export class PartBuilder {
  readonly #bodies: BodyCompiler;
  readonly #profile: Profile;
  readonly #key: HashKey;
  readonly #claims: BodyClaims | undefined;
  readonly #keepsDates: boolean;
  readonly #keepsHistories: boolean;
  readonly #onWarning: PartSettings['onWarning'];
  readonly #strings: ByteChunks;
  readonly #sources = new SourceTemplates();
  /** The last template that was kept, and the four words of its place. */
  #template: Uint8Array | undefined;
  #templateWords: Place = [0, 0, 0, 0];
  /** Chunks of `#strings` that `take` has returned. */
  #takenStrings = 0;
  #entries: number[] = [];
  #robotsRecords: number[] = [];
  #recordLists: number[] = [];
  #warnings: (readonly [number, readonly WarningCode[]])[] = [];
  #files = 0;
  #bytes = 0;

  /**
   * @throws RobotsFilterError `usage` for an unknown profile or a `maxBytes` out of range
   */
  constructor(options: CompileOptions, settings: PartSettings) {
    const { key, claims, shared = false, onWarning } = settings;
    const warnings = onWarning === undefined ? 'codes' : 'messages';
    this.#bodies = new BodyCompiler(options, key, shared, warnings);
    this.#strings = new ByteChunks(shared);
    this.#profile = options.profile ?? 'rfc9309';
    this.#key = key;
    this.#claims = claims;
    this.#keepsHistories = options.history ?? false;
    this.#keepsDates = (options.records ?? false) || this.#keepsHistories;
    this.#onWarning = onWarning;
  }

  /** Number of entries since the last part was taken. */
  get count(): number {
    return this.#entries.length / ENTRY_WORDS;
  }

  /** Adds a file: see `TableBuilder.add`. */
  add(authority: Authority, body: Uint8Array, details: VersionDetails): void {
    checkAuthority(authority, details.source);
    const date = this.#keepsDates ? secondsOf(details.date) : 0;
    // A history leaves the entry out. Other builders would wait for a body claimed for it.
    const isLeftOut = this.#keepsHistories && date === 0;
    // Steps that can throw come first: an entry is added whole or not at all.
    const number = isLeftOut ? BODY_UNKNOWN : this.#numberOf(body, details);
    const sources = this.#sources;
    sources.split(displaySource(details.source), authority.host);
    const bytes = details.compiledFrom ?? body.length;
    const isAgain = details.isAgain === true;
    if (!isAgain) this.#files++;
    if (!isAgain || details.compiledFrom !== undefined) this.#bytes += bytes;
    const key = this.#keep(authorityKey(authority));
    if (sources.template !== this.#template) {
      this.#templateWords = this.#keep(sources.template);
      this.#template = sources.template;
    }
    this.#pushPlace(key);
    this.#pushPlace(this.#templateWords);
    const flags = (isAgain ? ENTRY_AGAIN : 0) + (details.isGuess === true ? ENTRY_GUESS : 0);
    this.#entries.push(sources.number, number + flags, bytes, date);
  }

  /**
   * Adds the body of a successful fetch that no authority has yet. `TableContents.addEntry` binds
   * it later.
   *
   * @param source shown in warnings about the body
   * @returns the body's number among the bodies of this builder
   */
  addBody(body: Uint8Array, source: string): number {
    return this.#numberOf(body, { source });
  }

  /** Takes everything that was added since the last call. */
  take(): TablePart {
    const part = {
      compiled: this.#bodies.compiled.growth(),
      digests: this.#bodies.digests.growth(),
      robotsRecords: Uint32Array.from(this.#robotsRecords),
      recordLists: Uint32Array.from(this.#recordLists),
      warnings: this.#warnings,
      strings: this.#strings.list.slice(this.#takenStrings),
      entries: Uint32Array.from(this.#entries),
      files: this.#files,
      bytes: this.#bytes,
    };
    this.#takenStrings = this.#strings.list.length;
    this.#entries = [];
    this.#robotsRecords = [];
    this.#recordLists = [];
    this.#warnings = [];
    this.#files = 0;
    this.#bytes = 0;
    return part;
  }

  /** Copies a string; returns the four words of its place. */
  #keep(bytes: Uint8Array): Place {
    const strings = this.#strings;
    strings.keep(bytes);
    return [strings.chunk, strings.start, bytes.length, hashBytes(bytes, this.#key) >>> 0];
  }

  /** Appends a place to the entries; calls with a spread argument would be slower. */
  #pushPlace([chunk, start, length, hash]: Place): void {
    this.#entries.push(chunk, start, length, hash);
  }

  /** The number of a file's body, which is compiled if it is new. */
  #numberOf(body: Uint8Array, details: VersionDetails): number {
    const access = accessOf(details, this.#profile);
    if (access === 'unavailable') return BODY_UNAVAILABLE;
    if (access === 'unreachable') return BODY_UNREACHABLE;
    if (access === 'unknown') return BODY_UNKNOWN;
    const known = this.#bodies.digests.count;
    const isCompiled = details.compiledFrom !== undefined;
    const digest = digestOf(body);
    // A robots.txt with the bytes of a compiled body is another body. Its digest is not known to be
    // the complement of any digest.
    if (isCompiled) for (const [at, byte] of digest.entries()) digest[at] = ~byte;
    const index = this.#bodies.digests.add(digest);
    const number = FIRST_BODY + index;
    if (index < known) return number;
    // Each new digest gets a place for its robots record, even if compiling the body throws.
    const place = this.#robotsRecords.push(COMPILED_ELSEWHERE) - 1;
    this.#recordLists.push(0);
    if (this.#claims?.claim(digest) === false) return number;
    const { record, recordList, warnings } = isCompiled
      ? this.#bodies.takeOver(body)
      : this.#bodies.compile(body);
    this.#robotsRecords[place] = record;
    this.#recordLists[place] = recordList;
    if (warnings.length > 0) this.#warnings.push([number, warnings.map(({ code }) => code)]);
    for (const warning of warnings) this.#onWarning?.(details.source, warning);
    return number;
  }
}

/**
 * Maximum number of claimed bodies. Further bodies are compiled by every thread that meets them.
 */
const CAPACITY = 1 << 20;
const SLOTS = 2 * CAPACITY;

/** Maximum number of slots that a claim probes, because bodies can be made to collide. */
const MAX_PROBES = 64;

/** States of a slot, other than the number of its digest plus one. */
const FREE = 0;
const BEING_WRITTEN = -1;

/** Maximum number of reads of a slot that is being written. Writing a slot takes less time. */
const MAX_READS = 10_000;

/**
 * Records which bodies of robots.txt some thread already compiles, so that no other thread compiles
 * them. A missed claim only costs time. Bodies are distinguished by their whole digests.
 *
 * The shared memory holds the number of digests, SLOTS slots in open addressing, then the digests
 * in order of arrival.
 */
export class BodyClaims {
  /** Pass this memory to the BodyClaims of other threads. */
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #digests: Buffer;

  constructor(memory = new SharedArrayBuffer(4 * (1 + SLOTS) + DIGEST_BYTES * CAPACITY)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, 1 + SLOTS);
    this.#digests = Buffer.from(memory, 4 * (1 + SLOTS));
  }

  /** Claims a SHA-256 digest; returns true for the first caller, which then compiles the body. */
  claim(digest: Buffer): boolean {
    const words = this.#words;
    let slot = digest.readUInt32LE(0) % SLOTS;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      let state = Atomics.compareExchange(words, 1 + slot, FREE, BEING_WRITTEN);
      if (state === FREE) {
        const number = Atomics.add(words, 0, 1);
        if (number >= CAPACITY) {
          Atomics.store(words, 0, CAPACITY);
          Atomics.store(words, 1 + slot, FREE);
          return true;
        }
        this.#digests.set(digest, DIGEST_BYTES * number);
        Atomics.store(words, 1 + slot, number + 1);
        return true;
      }
      for (let look = 0; state === BEING_WRITTEN; look++) {
        if (look === MAX_READS) return true;
        state = Atomics.load(words, 1 + slot);
      }
      if (state === FREE) return true; // the other thread has found no room
      const start = DIGEST_BYTES * (state - 1);
      if (this.#digests.compare(digest, 0, DIGEST_BYTES, start, start + DIGEST_BYTES) === 0) {
        return false;
      }
      slot = (slot + 1) % SLOTS;
    }
    return true;
  }
}

/** Length of the longest escape sequence, `\\u1234`. */
const LONGEST_ESCAPE = 6;
/** Maximum number of digits with which every number fits into 32 bits. */
const MAX_DIGITS = 9;

/**
 * Splits sources into a template and a part that differs between hosts. A source says where a
 * robots.txt came from. Files of a directory differ by their host, which the host's record holds
 * anyway; records of a list differ by their line number. So most sources share a template.
 */
export class SourceTemplates {
  /**
   * The template of the last source, in the table's format; the same object while the template
   * stays the same.
   */
  template = encode(SOURCE_TEXT, '', '');
  /** The number of the last source; 0 if its template needs no number. */
  number = 0;
  #kind = SOURCE_TEXT;
  #before = '';
  #after = '';

  /** Splits the escaped source of an authority of a host. */
  split(source: string, host: string): void {
    const at = source.lastIndexOf(host);
    if (at >= 0 && !isWithinEscape(source, at)) {
      this.#set(SOURCE_WITH_HOST, source.slice(0, at), source.slice(at + host.length), 0);
      return;
    }
    let digits = numberAtEnd(source);
    if (isWithinEscape(source, source.length - digits)) digits = 0;
    const before = source.slice(0, source.length - digits);
    if (digits === 0) this.#set(SOURCE_TEXT, before, '', 0);
    else this.#set(SOURCE_WITH_NUMBER, before, '', Number(source.slice(before.length)));
  }

  #set(kind: number, before: string, after: string, number: number): void {
    this.number = number;
    if (kind === this.#kind && before === this.#before && after === this.#after) return;
    this.#kind = kind;
    this.#before = before;
    this.#after = after;
    this.template = encode(kind, before, after);
  }
}

/** Returns the source that a template and a number make for a host. */
export function sourceOf(template: Uint8Array, number: number, host: Uint8Array): string {
  const [kind = 0, low = 0, high = 0] = template;
  const after = SOURCE_FIXED_BYTES + low + 256 * high;
  let own: Uint8Array = new Uint8Array(0);
  if (kind === SOURCE_WITH_HOST) own = host;
  else if (kind === SOURCE_WITH_NUMBER) own = Buffer.from(String(number));
  const texts = [template.subarray(SOURCE_FIXED_BYTES, after), own, template.subarray(after)];
  return Buffer.concat(texts).toString();
}

/** Length of the decimal number at the end of a text: 32 bits, without leading zeros. */
function numberAtEnd(text: string): number {
  let digits = 0;
  while (digits < text.length && isDigit(text.charCodeAt(text.length - digits - 1))) digits++;
  digits = Math.min(digits, MAX_DIGITS);
  while (digits > 1 && text.charCodeAt(text.length - digits) === DIGIT_0) digits--;
  return digits;
}

/** Whether `at` is inside an escape sequence, which a template must not split. */
function isWithinEscape(source: string, at: number): boolean {
  for (let start = Math.max(at - LONGEST_ESCAPE + 1, 0); start < at; start++) {
    if (source.charCodeAt(start) !== BACKSLASH) continue;
    let first = start;
    while (first > 0 && source.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((start - first) % 2 !== 0) continue;
    const bytes = source.charCodeAt(start + 1) === LOWER_U ? LONGEST_ESCAPE : 2;
    if (start + bytes > at) return true;
  }
  return false;
}

function encode(kind: number, before: string, after: string): Uint8Array {
  const [first, last] = [Buffer.from(before), Buffer.from(after)];
  const template = new Uint8Array(SOURCE_FIXED_BYTES + first.length + last.length);
  template[0] = kind;
  writeNumber(template, 1, first.length, 1);
  writeNumber(template, 3, last.length, 1);
  template.set(first, SOURCE_FIXED_BYTES);
  template.set(last, SOURCE_FIXED_BYTES + first.length);
  return template;
}
