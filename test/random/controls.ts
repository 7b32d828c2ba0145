/**
 * Control characters of a text for a terminal, with their number in hexadecimal; CR LF, LF and tabs
 * are allowed.
 */
export function actingOn(text: string): string[] {
  return Array.from(text.replaceAll('\r\n', '\n').replaceAll('\n', '').replaceAll('\t', ''))
    .filter((character) => /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(character))
    .map((character) => (character.codePointAt(0) ?? 0).toString(16));
}
