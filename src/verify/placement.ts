/** Which bytes of a table belong to what, so that no two things overlap. */

import { BACKSLASH, LOWER_A, LOWER_CASE_BIT, LOWER_F, LOWER_U, QUOTE } from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import { isControl } from '../base/control-characters.js';
import { RobotsFilterError } from '../base/errors.js';
import type { SectionName } from '../table/check.js';
import { ESCAPE_GROWTH, UNESCAPED } from '../table/display-text.js';
import { TEXT_LENGTH_BYTES, TEXT_LIMIT } from '../table/format.js';

/** The kinds of parts in the hosts section. */
export const HOST = 1;
export const ROBOTS = 2;
export const AUTOMATON = 3;

type Kind = typeof HOST | typeof ROBOTS | typeof AUTOMATON;

const NAMES: Readonly<Record<Kind, string>> = {
  [HOST]: 'host',
  [ROBOTS]: 'robots record',
  [AUTOMATON]: 'automaton',
};

/** Bytes for each word of the map, as a shift: two bits for each byte. */
const BYTES_OF_WORD_SHIFT = 4;

/**
 * A map of the parts that start in the hosts section, filled as references are met. The first
 * reference to a part precedes the part, so one pass visits all parts. Parts must not overlap.
 */
export class Placement {
  readonly start: number;
  readonly end: number;
  readonly #table: TableBytes;
  readonly #words: Uint32Array;
  /** Start of the current part. */
  #at = -1;

  constructor(table: TableBytes, start: number, end: number) {
    this.#table = table;
    this.start = start;
    this.end = end;
    this.#words = new Uint32Array(Math.ceil((end - start) / (1 << BYTES_OF_WORD_SHIFT)));
  }

  /** Marks a host record; returns whether it is new. */
  addHost(at: number): boolean {
    if (this.#kindAt(at) !== 0) return false;
    this.#mark(at, HOST);
    return true;
  }

  has(at: number): boolean {
    return at >= this.start && at < this.end;
  }

  /** Marks the part at `to`, to which the number at `from` in the current part refers. */
  refer(from: number, to: number, kind: Kind): void {
    if (!this.has(to)) {
      throw this.#fault(from, `refers to the ${NAMES[kind]} at ${to}, outside the section`);
    }
    const there = this.#kindAt(to);
    if (there === kind) return;
    if (there !== 0 || to <= this.#at) {
      throw this.#fault(from, `refers to the ${NAMES[kind]} at ${to}, where none starts`);
    }
    this.#mark(to, kind);
  }

  /** Visits all parts in order; `check` returns the end of a part. */
  visit(check: (kind: Kind, at: number) => number): void {
    let end = this.start;
    for (let at = this.#next(end); at < this.end; at = this.#next(at + 1)) {
      const kind = this.#kindAt(at) as Kind;
      if (at < end) {
        throw this.#fault(
          at,
          `the ${NAMES[kind]} starts within another part, which ends at ${end}`,
        );
      }
      this.#table.zeros('hosts', end, at);
      this.#at = at;
      end = check(kind, at);
    }
    this.#table.zeros('hosts', end, this.end);
  }

  #kindAt(at: number): number {
    const offset = at - this.start;
    const word = this.#words[offset >>> BYTES_OF_WORD_SHIFT] as number;
    return (word >>> ((offset & 15) << 1)) & 3;
  }

  #mark(at: number, kind: Kind): void {
    const offset = at - this.start;
    const index = offset >>> BYTES_OF_WORD_SHIFT;
    this.#words[index] = (this.#words[index] as number) | (kind << ((offset & 15) << 1));
  }

  /** The next start of a part from `at` on; the end of the section if there is none. */
  #next(at: number): number {
    const words = this.#words;
    const offset = at - this.start;
    let index = offset >>> BYTES_OF_WORD_SHIFT;
    if (index >= words.length) return this.end;
    let bits = (words[index] as number) & (-1 << ((offset & 15) << 1));
    while (bits === 0) {
      if (++index === words.length) return this.end;
      bits = words[index] as number;
    }
    const lowest = 31 - Math.clz32(bits & -bits);
    return this.start + index * (1 << BYTES_OF_WORD_SHIFT) + (lowest >> 1);
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}

/** Reads the numbers of a table that is being verified; the caller has checked the bounds. */
export class TableBytes {
  readonly bytes: Uint8Array;
  readonly #name: string;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, name: string) {
    this.bytes = bytes;
    this.#name = name;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(at: number): number {
    return this.#view.getUint8(at);
  }

  u16(at: number): number {
    return this.#view.getUint16(at, true);
  }

  u32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  /** A number of 1, 2 or 4 bytes. */
  number(at: number, bytes: number): number {
    if (bytes === 1) return this.u8(at);
    return bytes === 2 ? this.u16(at) : this.u32(at);
  }

  /** Checks that a section is zero from `from` to `to`. */
  zeros(section: SectionName, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      if (this.bytes[at] !== 0) {
        throw this.fault(section, at, 'nothing refers to this byte, and it is not zero');
      }
    }
  }

  /** The error for a table that no compiler writes, with the offset in the file. */
  fault(section: SectionName | 'header', at: number, what: string): RobotsFilterError {
    return new RobotsFilterError(
      'table',
      `${this.#name}: not a sound table: section ${section}, byte ${at}: ${what}: do not use it. Compile the robots.txt files again`,
    );
  }
}

/** A set of offsets, as a bitmap that is reused. */
export class ByteSet {
  #words = new Uint32Array(64);

  /** Empties the set, and makes room for offsets less than `bytes`. */
  clear(bytes: number): void {
    const words = Math.ceil(bytes / 32);
    if (words > this.#words.length) this.#words = new Uint32Array(words);
    else this.#words.fill(0, 0, words);
  }

  add(offset: number): void {
    const index = offset >>> 5;
    this.#words[index] = (this.#words[index] as number) | (1 << (offset & 31));
  }

  has(offset: number): boolean {
    return (((this.#words[offset >>> 5] as number) >>> (offset & 31)) & 1) !== 0;
  }
}

/** Whether all bytes from `from` to `to` can be shown unescaped. */
export function arePlain(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (UNESCAPED[bytes[at] as number] === 0) return false;
  return true;
}

const MAX_KEPT_BYTES = ESCAPE_GROWTH * TEXT_LIMIT;

/** Checks the kept texts of an automaton, and keeps where each text starts. */
export class TextCheck {
  count = 0;
  readonly #table: TableBytes;
  readonly #starts = new ByteSet();
  #bytes = 0;

  constructor(table: TableBytes) {
    this.#table = table;
  }

  /** Checks the texts of the next automaton. */
  check(start: number, end: number): void {
    const table = this.#table;
    this.#bytes = end - start;
    this.#starts.clear(this.#bytes);
    for (let at = start; at < end; ) {
      const text = at + TEXT_LENGTH_BYTES;
      // In bounds: TAIL_BYTES follow the section.
      const next = text + table.u16(at);
      if (next > end) throw table.fault('hosts', at, 'the text ends beyond its automaton');
      if (next - text > MAX_KEPT_BYTES) throw table.fault('hosts', at, 'the text is too long');
      if (!isEscaped(table.bytes, text, next)) {
        throw table.fault('hosts', at, 'the text is not escaped as in a JSON string');
      }
      this.#starts.add(at - start);
      this.count++;
      at = next;
    }
  }

  /** Whether a text starts at an offset from the end of the nodes. */
  has(offset: number): boolean {
    return offset < this.#bytes && this.#starts.has(offset);
  }
}

/** Whether bytes are UTF-8, escaped as `escapeText` escapes it: safe in JSON and to print. */
export function isEscaped(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; ) {
    const byte = bytes[at] as number;
    const length =
      UNESCAPED[byte] === 1
        ? 1
        : byte === BACKSLASH
          ? escapeBytes(bytes, at, end)
          : characterBytes(bytes, at, end);
    if (length === 0) return false;
    at += length;
  }
  return true;
}

/** Length of the escape sequence at `at`; 0 if none ends up to `end`. */
function escapeBytes(bytes: Uint8Array, at: number, end: number): number {
  if (end - at < 2) return 0;
  const kind = bytes[at + 1] as number;
  if (kind === QUOTE || kind === BACKSLASH) return 2;
  if (kind !== LOWER_U || end - at < 6) return 0;
  for (let digit = at + 2; digit < at + 6; digit++) {
    if (!isHexDigit(bytes[digit] as number)) return 0;
  }
  return 6;
}

function isHexDigit(byte: number): boolean {
  const letter = byte | LOWER_CASE_BIT;
  return isDigit(byte) || (letter >= LOWER_A && letter <= LOWER_F);
}

/**
 * Length of the non-ASCII character at `at` that needs no escape (RFC 3629 section 4); 0 if there
 * is none.
 */
function characterBytes(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] as number;
  const length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || end - at < length) return 0;
  let code = lead & (0x7f >> length);
  for (let next = at + 1; next < at + length; next++) {
    const byte = bytes[next] as number;
    if ((byte & 0xc0) !== 0x80) return 0;
    code = (code << 6) | (byte & 0x3f);
  }
  if (length === 3)
    return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) || isControl(code) ? 0 : 3;
  if (length === 4) return code < 0x1_0000 || code > 0x10_ffff ? 0 : 4;
  return isControl(code) ? 0 : 2;
}
