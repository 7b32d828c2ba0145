/**
 * Bytes as a string of characters U+0000 to U+00FF, one for each: slow, and easy to read and to
 * print. Text is given as UTF-8, with a lone surrogate as U+FFFD.
 */
export function charactersOf(text: Uint8Array | string): string {
  const bytes =
    typeof text === 'string'
      ? Buffer.from(text)
      : Buffer.from(text.buffer, text.byteOffset, text.length);
  return bytes.toString('latin1');
}

/** The bytes of a string of characters U+0000 to U+00FF. */
export function bytesOf(characters: string): Uint8Array {
  return new Uint8Array(Buffer.from(characters, 'latin1'));
}

/** The bytes as UTF-8 text; invalid UTF-8 becomes U+FFFD, and a byte order mark is kept. */
export function textOf(characters: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesOf(characters));
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

/** Lower case for `A` to `Z` only. */
export function toLowerAscii(text: string): string {
  let lower = '';
  for (const character of text) {
    lower += character >= 'A' && character <= 'Z' ? character.toLowerCase() : character;
  }
  return lower;
}

/** The text without the bytes at both ends that are in `space`. */
export function trimmed(text: string, space: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && space.includes(text.charAt(start))) start++;
  while (end > start && space.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** What the URL Standard strips at both ends of a URL: C0 controls and the space. */
export const STRIPPED = Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(code)).join(
  '',
);
