/**
 * Makes outside text safe to print: a host or record with an escape sequence would act on the
 * terminal that shows it.
 */

import { isUtf8 } from 'node:buffer';
import { DELETE, LF, SPACE } from './ascii.js';

/**
 * Whether a UTF-16 code unit acts on a terminal, or reorders text, instead of being shown: C0 and
 * C1 controls and DEL, which begin escape sequences; the controls of the bidirectional algorithm
 * (Unicode Standard Annex #9 section 2); and the line and paragraph separators.
 */
export function isControl(unit: number): boolean {
  return (
    unit < SPACE ||
    (unit >= DELETE && unit <= 0x9f) ||
    unit === 0x061c ||
    unit === 0x200e ||
    unit === 0x200f ||
    (unit >= 0x2028 && unit <= 0x202e) ||
    (unit >= 0x2066 && unit <= 0x2069)
  );
}

/**
 * Escapes control characters as `\xNN` or `\u{NNNN}`, in outside text (names, records, system
 * messages) that goes to a terminal. Backslashes stay: the result is for people, not for decoding.
 * Escaping it again changes nothing.
 */
export function printable(text: string): string {
  return replaceControls(text, (unit) => {
    const digits = unit.toString(16).padStart(2, '0');
    return unit < 0x100 ? `\\x${digits}` : `\\u{${digits}}`;
  });
}

/**
 * Formats a value as JSON that is safe on a terminal: `JSON.stringify` does not escape DEL, C1 and
 * the bidirectional controls. The meaning stays, because the only control characters outside
 * strings are the line ends of `indent`.
 */
export function printableJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  return replaceControls(json, (unit) =>
    unit === LF ? '\n' : `\\u${unit.toString(16).padStart(4, '0')}`,
  );
}

/**
 * A field of CSV (RFC 4180), in quotes if it needs them.
 *
 * @param also another character that needs quotes
 */
export function csvField(text: string, also = ','): string {
  const needsQuotes = [',', '"', '\n', '\r', also].some((mark) => text.includes(mark));
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}

function replaceControls(text: string, replacement: (unit: number) => string): string {
  let replaced = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (!isControl(unit)) continue;
    replaced += text.slice(from, at) + replacement(unit);
    from = at + 1;
  }
  return replaced + text.slice(from);
}

/** The result of `decodeBytes`. */
interface DecodedBytes {
  readonly text: string;
  /** The bytes at the end, at most three, that begin a character and were not decoded. */
  readonly left: number;
}

/** Decodes UTF-8. Each byte that is not part of a well-formed character becomes `\xNN`. Linear. */
export function decodeBytes(bytes: Buffer): DecodedBytes {
  let text = '';
  let from = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = characterBytes(bytes[at] as number);
    if (at + length > bytes.length) break;
    if (length === 1 || (length > 1 && isUtf8(bytes.subarray(at, at + length)))) {
      at += length;
      continue;
    }
    text += `${bytes.toString('utf8', from, at)}${escapeByte(bytes[at] as number)}`;
    at++;
    from = at;
  }
  return { text: text + bytes.toString('utf8', from, at), left: bytes.length - at };
}

/** A byte as `\xNN`. */
export function escapeByte(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

/** Length of the UTF-8 character that begins with `byte`; 0 if none does (RFC 3629 section 4). */
function characterBytes(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc2 || byte > 0xf4) return 0;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
