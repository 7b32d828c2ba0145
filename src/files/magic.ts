/** The bytes by which a format is recognised. */
export interface Magic {
  readonly magic: readonly number[];
  /** Offset of the magic bytes. Default 0. */
  readonly at?: number;
}

/** The bytes of an ASCII or Latin-1 text. */
export function magicOf(text: string): number[] {
  return [...Buffer.from(text, 'latin1')];
}

/** Whether `head` has all of `magic` at `offset`. */
export function startsWith(head: ArrayLike<number>, magic: ArrayLike<number>, offset = 0): boolean {
  if (head.length < offset + magic.length) return false;
  for (let at = 0; at < magic.length; at++) if (head[offset + at] !== magic[at]) return false;
  return true;
}

/** The first format of a list whose magic bytes `head` has. */
export function findMagic<Format extends Magic>(
  formats: readonly Format[],
  head: Uint8Array,
): Format | undefined {
  for (const format of formats) {
    const { magic, at = 0 } = format;
    if (head[at] === magic[0] && startsWith(head, magic, at)) return format;
  }
  return undefined;
}
