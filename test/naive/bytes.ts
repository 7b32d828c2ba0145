/**
 * Bytes as a string of characters U+0000 to U+00FF, one for each: slow, and easy to read and to
 * print. Text is given as UTF-8, with a lone surrogate as U+FFFD.
 */
export function bytesOf(text: Uint8Array | string): string {
  const encoded = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  let bytes = '';
  for (const byte of encoded) bytes += String.fromCharCode(byte);
  return bytes;
}

/** The bytes as UTF-8 text; invalid UTF-8 becomes U+FFFD, and a byte order mark is kept. */
export function textOf(bytes: string): string {
  const encoded = Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(encoded);
}

/** Whether the bytes at `index` are `%` and two hex digits. */
export function isEscape(bytes: string, index: number): boolean {
  return bytes[index] === '%' && isHex(bytes[index + 1]) && isHex(bytes[index + 2]);
}

function isHex(byte: string | undefined): boolean {
  return byte !== undefined && '0123456789ABCDEFabcdef'.includes(byte);
}

/** `%XX` in upper case, for one byte. */
export function escapeOf(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Upper case, or lower case, for `A` to `Z` only. */
export function toLowerAscii(text: string): string {
  let lower = '';
  for (const character of text) {
    lower += character >= 'A' && character <= 'Z' ? character.toLowerCase() : character;
  }
  return lower;
}
