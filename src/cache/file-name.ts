import { isUtf8 } from 'node:buffer';
import { SPACE, TILDE } from '../ascii.js';
import { decodeBytes, escapeByte, printable } from '../control-characters.js';

/*
 * Names are bytes to the file system. Lists of names hold strings with one character per byte
 * ("byte names"). Such strings take half the memory of buffers, and sort in the order of the bytes.
 */

function isPlain(byteName: string): boolean {
  for (let i = 0; i < byteName.length; i++) {
    const byte = byteName.charCodeAt(i);
    if (byte < SPACE || byte > TILDE) return false;
  }
  return true;
}

/** The text of a byte name; `undefined` if it is not UTF-8. */
export function decodeName(byteName: string): string | undefined {
  if (isPlain(byteName)) return byteName;
  const bytes = Buffer.from(byteName, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/**
 * Formats a byte name for display on one line: control characters, and bytes that are not UTF-8,
 * become `\xNN` or `\u{NNNN}`.
 */
export function displayName(byteName: string): string {
  if (isPlain(byteName)) return byteName;
  const bytes = Buffer.from(byteName, 'latin1');
  const { text, left } = decodeBytes(bytes);
  return printable(text) + Array.from(bytes.subarray(bytes.length - left), escapeByte).join('');
}
