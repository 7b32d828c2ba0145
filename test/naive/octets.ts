/**
 * Octets as a string of characters U+0000 to U+00FF, one for each: slow, and easy to read and to
 * print. Text is its UTF-8 form, a lone surrogate being U+FFFD.
 */
export function octetsOf(text: Uint8Array | string): string {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  let octets = '';
  for (const byte of bytes) octets += String.fromCharCode(byte);
  return octets;
}

/** The octets as UTF-8 text; what is no UTF-8 becomes U+FFFD, and a byte order mark stays. */
export function textOf(octets: string): string {
  const bytes = Uint8Array.from(octets, (octet) => octet.charCodeAt(0));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** Whether the octets at `index` are `%` and two hex digits. */
export function isEscape(octets: string, index: number): boolean {
  return octets[index] === '%' && isHex(octets[index + 1]) && isHex(octets[index + 2]);
}

function isHex(octet: string | undefined): boolean {
  return octet !== undefined && '0123456789ABCDEFabcdef'.includes(octet);
}

/** `%XX` in upper case, for one octet. */
export function escapeOf(octet: string): string {
  return `%${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Upper case, or lower case, for `A` to `Z` alone. */
export function toLowerAscii(text: string): string {
  let lower = '';
  for (const character of text) {
    lower += character >= 'A' && character <= 'Z' ? character.toLowerCase() : character;
  }
  return lower;
}
