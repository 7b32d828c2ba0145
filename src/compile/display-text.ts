import { Buffer } from 'node:buffer';
import { isControl } from '../control-characters.js';
import { SOURCE_LIMIT, TEXT_LIMIT } from './format.js';

/**
 * A text to be shown may grow to this many octets for each that it had: `\u0000` for a control
 * character.
 */
export const ESCAPE_GROWTH = 6;

/** A UTF-16 unit has no more octets than that in UTF-8. */
const UNIT_OCTETS = 3;

const ELLIPSIS = Uint8Array.of(0xe2, 0x80, 0xa6);

/** The octets that may stand as they are: printable ASCII but `"` and `\`. */
export const UNESCAPED = new Uint8Array(256).fill(1, 0x20, 0x7f);
UNESCAPED[0x22] = 0;
UNESCAPED[0x5c] = 0;

/** Without `ignoreBOM` a byte order mark at the start would vanish. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Writes a rule's octets to `out` at `at`, escaped as in a JSON string, and returns the offset
 * behind them. What is no UTF-8 becomes U+FFFD; of more than TEXT_LIMIT octets the first are taken
 * and U+2026. `out` must have room for ESCAPE_GROWTH times the smaller of their number and
 * TEXT_LIMIT.
 */
export function writeDisplayText(octets: Uint8Array, out: Uint8Array, at: number): number {
  const isCut = octets.length > TEXT_LIMIT;
  const length = isCut ? characterStart(octets, TEXT_LIMIT - ELLIPSIS.length) : octets.length;
  let end = at;
  for (let index = 0; index < length; index++) {
    const octet = octets[index] as number;
    if (UNESCAPED[octet] === 0) {
      end = at + writeEscaped(decoder.decode(octets.subarray(0, length)), out, at);
      break;
    }
    out[end++] = octet;
  }
  if (!isCut) return end;
  out.set(ELLIPSIS, end);
  return end + ELLIPSIS.length;
}

/** The greatest offset up to `at` at which a character of UTF-8 may start. */
function characterStart(octets: Uint8Array, at: number): number {
  let start = at;
  while (start > at - 3 && ((octets[start] as number) & 0xc0) === 0x80) start--;
  return start;
}

function writeEscaped(text: string, out: Uint8Array, at: number): number {
  return Buffer.from(out.buffer, out.byteOffset, out.byteLength).write(escapeText(text), at);
}

/**
 * The name of a file, escaped as in a JSON string: of more than SOURCE_LIMIT octets U+2026 and the
 * last.
 */
export function displaySource(source: string): string {
  if (source.length <= SOURCE_LIMIT) {
    const whole = escapeText(source);
    if (fitsSource(whole)) return whole;
  }
  for (let kept = Math.min(source.length, SOURCE_LIMIT); ; ) {
    const cut = `\u2026${escapeText(lastUnits(source, kept))}`;
    if (fitsSource(cut)) return cut;
    kept -= Math.ceil((Buffer.byteLength(cut) - SOURCE_LIMIT) / ESCAPE_GROWTH);
  }
}

function fitsSource(text: string): boolean {
  return UNIT_OCTETS * text.length <= SOURCE_LIMIT || Buffer.byteLength(text) <= SOURCE_LIMIT;
}

/** The last UTF-16 units of a text, without half a character at the start. */
function lastUnits(text: string, units: number): string {
  const start = text.length - units;
  const first = text.charCodeAt(start);
  return text.slice(first >= 0xdc00 && first <= 0xdfff ? start + 1 : start);
}

/**
 * Escapes what a JSON string may not hold, and what could rule a terminal or turn the direction of
 * what it shows.
 */
export function escapeText(text: string): string {
  let escaped = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (!isEscaped(unit)) continue;
    const sequence =
      unit === 0x22 || unit === 0x5c
        ? `\\${text.charAt(at)}`
        : `\\u${unit.toString(16).padStart(4, '0')}`;
    escaped += text.slice(from, at) + sequence;
    from = at + 1;
  }
  return escaped + text.slice(from);
}

/** What `escapeText` escapes. */
function isEscaped(unit: number): boolean {
  return unit === 0x22 || unit === 0x5c || isControl(unit);
}
