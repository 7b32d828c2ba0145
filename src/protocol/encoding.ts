/** The encoding of a robots.txt: byte order marks, UTF-16, and bytes that are no text. */

import { CR, DELETE, ESCAPE, LF, SPACE, TAB } from '../base/ascii.js';
import { isLineEnd } from './agent.js';
import type { Grammar } from './lines.js';

/** The part of a body that is parsed. */
export interface Text {
  /** The body itself, or its decoded form. */
  readonly bytes: Uint8Array;
  /** Offset of the first byte after the byte order mark. */
  readonly start: number;
  /**
   * Offset after the last byte within the limit. If the body is longer than the limit, offset after
   * the last whole line.
   */
  readonly end: number;
  /** Number of bytes of the body, as received, beyond the limit. */
  readonly ignoredBytes: number;
  /** Whether `bytes` was decoded from UTF-16. */
  readonly utf16: boolean;
}

/** The number of bytes of EF BB BF at the start of a body. */
function byteOrderMarkBytes(body: Uint8Array): number {
  if (body[0] !== 0xef) return 0;
  if (body[1] !== 0xbb) return 1;
  return body[2] === 0xbf ? 3 : 2;
}

/** The byte order of UTF-16 by the byte order mark of a body; `undefined` without one. */
export function utf16Order(body: Uint8Array): 'little' | 'big' | undefined {
  if (body[0] === 0xff && body[1] === 0xfe) return 'little';
  return body[0] === 0xfe && body[1] === 0xff ? 'big' : undefined;
}

/** Offset after the last line end between `start` and `end`, or `start`. */
export function endOfLastLine(bytes: Uint8Array, start: number, end: number): number {
  const text = bytes.subarray(start, end);
  const afterLf = text.lastIndexOf(LF) + 1;
  return start + afterLf + text.subarray(afterLf).lastIndexOf(CR) + 1;
}

/**
 * Decodes UTF-16 from offset `start` to `end`. As in the Encoding Standard, lone surrogates become
 * U+FFFD.
 */
function decodeUtf16(
  body: Uint8Array,
  start: number,
  end: number,
  littleEndian: boolean,
): Uint8Array {
  const view = new DataView(body.buffer, body.byteOffset + start, end - start);
  const lastUnit = view.byteLength - 2;
  // A code unit becomes at most three bytes, and a surrogate pair four.
  const bytes = new Uint8Array(Math.ceil(view.byteLength / 2) * 3);
  let length = 0;
  for (let at = 0; at < view.byteLength; at += 2) {
    let point = at <= lastUnit ? view.getUint16(at, littleEndian) : 0xfffd;
    if (point >= 0xd800 && point <= 0xdfff) {
      const low = point < 0xdc00 && at + 2 <= lastUnit ? view.getUint16(at + 2, littleEndian) : 0;
      if (low >= 0xdc00 && low <= 0xdfff) {
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        at += 2;
      } else {
        // A lone high surrogate swallows an odd byte after it: one error, as in the standard.
        if (point < 0xdc00 && at + 2 > lastUnit) at += 2;
        point = 0xfffd;
      }
    }
    if (point < 0x80) {
      bytes[length++] = point;
    } else if (point < 0x800) {
      bytes[length++] = 0xc0 | (point >> 6);
      bytes[length++] = 0x80 | (point & 0x3f);
    } else if (point < 0x10000) {
      bytes[length++] = 0xe0 | (point >> 12);
      bytes[length++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[length++] = 0x80 | (point & 0x3f);
    } else {
      bytes[length++] = 0xf0 | (point >> 18);
      bytes[length++] = 0x80 | ((point >> 12) & 0x3f);
      bytes[length++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[length++] = 0x80 | (point & 0x3f);
    }
  }
  return bytes.subarray(0, length);
}

/**
 * The part of a body that a profile parses: without the byte order mark, decoded from UTF-16 (RFC
 * 9309 section 2.2.2 allows other encodings), and within `maxBytes` bytes as received (section
 * 2.5). A line that the limit truncates is dropped. A line is whole if its line end is the first
 * byte beyond the limit. A caller that stops reading early must therefore keep one byte more than
 * the limit, or two of UTF-16.
 */
export function textOf(body: Uint8Array, grammar: Grammar, maxBytes: number): Text {
  const limited = grammar.limited && body.length > maxBytes;
  const limit = limited ? maxBytes : body.length;
  const ignoredBytes = body.length - limit;

  const order = grammar.utf16 ? utf16Order(body) : undefined;
  if (order !== undefined) {
    const littleEndian = order === 'little';
    const cut = limited ? limit - (limit % 2) : limit;
    const bytes = decodeUtf16(body, 2, cut, littleEndian);
    const [high, low] = littleEndian ? [body[cut + 1], body[cut]] : [body[cut], body[cut + 1]];
    const whole = !limited || (high === 0 && isLineEnd(low));
    const end = whole ? bytes.length : endOfLastLine(bytes, 0, bytes.length);
    return { bytes, start: 0, end, ignoredBytes, utf16: true };
  }

  const mark = byteOrderMarkBytes(body);
  const start = mark === 3 || grammar.partialByteOrderMark ? mark : 0;
  const whole = !limited || isLineEnd(body[limit]);
  const end = whole ? limit : endOfLastLine(body, start, limit);
  return { bytes: body, start, end, ignoredBytes, utf16: false };
}

/** Number of bytes at the beginning of a body that are examined. */
const EXAMINED_BYTES = 1024;

const REPLACEMENT = 0xfffd;

/**
 * Whether a body is binary data: compressed without magic bytes, UTF-32, or UTF-16 without a byte
 * order mark. More than 5 % of its first characters are then controls. U+FFFD, which a decoder
 * writes for invalid bytes, counts as a control, but not alone: comments in another encoding become
 * U+FFFD, while the rules beside them are valid.
 */
export function isBinary(body: Uint8Array): boolean {
  const order = utf16Order(body);
  const length = Math.min(body.length, EXAMINED_BYTES);
  if (order !== undefined) return isBinaryUtf16(body, length >> 1, order === 'little');
  const controls = controlsIn(body, length);
  // Text has hardly any controls, so the second pass is rare.
  return mayBeMany(controls, length) && areMany(controls, replacements(body, length), length);
}

/** The number of controls among the first bytes, looked up four at a time. */
function controlsIn(body: Uint8Array, length: number): number {
  let controls = 0;
  let at = 0;
  for (; at + 3 < length; at += 4) {
    const first =
      (CONTROLS[body[at] as number] as number) + (CONTROLS[body[at + 1] as number] as number);
    const second =
      (CONTROLS[body[at + 2] as number] as number) + (CONTROLS[body[at + 3] as number] as number);
    controls += first + second;
  }
  for (; at < length; at++) controls += CONTROLS[body[at] as number] as number;
  return controls;
}

function isBinaryUtf16(body: Uint8Array, units: number, isLittle: boolean): boolean {
  const view = new DataView(body.buffer, body.byteOffset, units * 2);
  let controls = 0;
  let replacements = 0;
  for (let at = 0; at < units; at++) {
    const unit = view.getUint16(at * 2, isLittle);
    if (isControl(unit)) controls++;
    else if (unit === REPLACEMENT) replacements++;
  }
  return mayBeMany(controls, units) && areMany(controls, replacements, units);
}

/** The number of U+FFFD that lie within the first `length` bytes, in UTF-8. */
function replacements(body: Uint8Array, length: number): number {
  let count = 0;
  for (let at = 0; at + 2 < length; at++) {
    if (body[at] === 0xef && body[at + 1] === 0xbf && body[at + 2] === 0xbd) count++;
  }
  return count;
}

/** Whether there are enough controls for replacements to count. */
function mayBeMany(controls: number, characters: number): boolean {
  return controls * 100 > characters;
}

function areMany(controls: number, replacements: number, characters: number): boolean {
  return (controls + replacements) * 20 > characters;
}

/** Whether a character is a control other than tabs, line ends, form feeds and ESC. */
function isControl(character: number): boolean {
  if (character >= SPACE) return character === DELETE;
  return character < TAB || (character > CR && character !== ESCAPE);
}

/** 1 for each byte that is a control, else 0. */
const CONTROLS = Uint8Array.from({ length: 256 }, (_, byte) => (isControl(byte) ? 1 : 0));
