/** An invariant that does not hold. */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** Throws a fault unless the actual value equals the expected value. */
export function agree(what: string, actual: unknown, expected: unknown): void {
  if (actual === expected) return;
  throw new Fault(`${what}: ${shown(actual)}, should be ${shown(expected)}`);
}

/** As JSON in ASCII only. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'undefined' : JSON.stringify(value);
  return Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code >= 0x20 && code <= 0x7e ? character : `\\u{${code.toString(16)}}`;
  }).join('');
}
