/**
 * Texts of a table that people read: rules and sources, escaped as in a JSON string and truncated.
 */

import { Buffer } from 'node:buffer';
import { BACKSLASH, DELETE, QUOTE, SPACE } from '../base/ascii.js';
import { isControl } from '../base/control-characters.js';
import { SOURCE_LIMIT, TEXT_LIMIT } from './format.js';

/** Maximum growth of a text by escaping: six bytes, `\u0000`, for one control character. */
export const ESCAPE_GROWTH = 6;

/** Maximum bytes in UTF-8 of one UTF-16 unit. */
const UNIT_BYTES = 3;

const ELLIPSIS = Uint8Array.of(0xe2, 0x80, 0xa6);

/** Bytes that need no escape: printable ASCII except `"` and `\`. */
export const UNESCAPED = new Uint8Array(256).fill(1, SPACE, DELETE);
UNESCAPED[QUOTE] = 0;
UNESCAPED[BACKSLASH] = 0;

/** `ignoreBOM` keeps a byte order mark at the start. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Writes the bytes of a rule to `out` at `at`, escaped as in a JSON string; returns the offset
 * after them. Invalid UTF-8 becomes U+FFFD. A text of more than TEXT_LIMIT bytes is truncated and
 * ends in U+2026. `out` needs room for ESCAPE_GROWTH times the length of the text, TEXT_LIMIT at
 * most.
 */
export function writeDisplayText(bytes: Uint8Array, out: Uint8Array, at: number): number {
  const isTruncated = bytes.length > TEXT_LIMIT;
  const length = isTruncated ? characterStart(bytes, TEXT_LIMIT - ELLIPSIS.length) : bytes.length;
  let end = at;
  for (let index = 0; index < length; index++) {
    const byte = bytes[index] as number;
    if (UNESCAPED[byte] === 0) {
      end = at + writeEscaped(decoder.decode(bytes.subarray(0, length)), out, at);
      break;
    }
    out[end++] = byte;
  }
  if (!isTruncated) return end;
  out.set(ELLIPSIS, end);
  return end + ELLIPSIS.length;
}

/** Minimum bytes of a truncated text, before escaping. */
const MIN_TRUNCATED = TEXT_LIMIT - 2 * ELLIPSIS.length;

/** Whether the text of a rule, without escapes, surely has all bytes of its rule, and no other. */
export function isWholeText(text: string): boolean {
  const isTruncated = text.endsWith('\u2026') && Buffer.byteLength(text) >= MIN_TRUNCATED;
  return !isTruncated && !text.includes('\ufffd');
}

/** The greatest offset up to `at` that does not split a UTF-8 character. */
function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > at - 3 && ((bytes[start] as number) & 0xc0) === 0x80) start--;
  return start;
}

function writeEscaped(text: string, out: Uint8Array, at: number): number {
  return Buffer.from(out.buffer, out.byteOffset, out.byteLength).write(escapeText(text), at);
}

/**
 * Escapes a source as in a JSON string. A source of more than SOURCE_LIMIT bytes is truncated to
 * U+2026 and its end.
 */
export function displaySource(source: string): string {
  if (source.length <= SOURCE_LIMIT) {
    const whole = escapeText(source);
    if (fitsSource(whole)) return whole;
  }
  for (let kept = Math.min(source.length, SOURCE_LIMIT); ; ) {
    const truncated = `\u2026${escapeText(lastUnits(source, kept))}`;
    if (fitsSource(truncated)) return truncated;
    kept -= Math.ceil((Buffer.byteLength(truncated) - SOURCE_LIMIT) / ESCAPE_GROWTH);
  }
}

function fitsSource(text: string): boolean {
  return UNIT_BYTES * text.length <= SOURCE_LIMIT || Buffer.byteLength(text) <= SOURCE_LIMIT;
}

/** The last UTF-16 units of a text, without a split surrogate pair at the start. */
function lastUnits(text: string, units: number): string {
  const start = text.length - units;
  const first = text.charCodeAt(start);
  return text.slice(first >= 0xdc00 && first <= 0xdfff ? start + 1 : start);
}

/**
 * Escapes the characters that a JSON string may not hold, and those that could control a terminal
 * or reverse the direction of its text.
 */
export function escapeText(text: string): string {
  let escaped = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (!isEscaped(unit)) continue;
    const sequence =
      unit === QUOTE || unit === BACKSLASH
        ? `\\${text.charAt(at)}`
        : `\\u${unit.toString(16).padStart(4, '0')}`;
    escaped += text.slice(from, at) + sequence;
    from = at + 1;
  }
  return escaped + text.slice(from);
}

/** The characters that `escapeText` escapes. */
function isEscaped(unit: number): boolean {
  return unit === QUOTE || unit === BACKSLASH || isControl(unit);
}
