import { replaced } from './bytes.js';

/**
 * The smallest input found for which `holds` is still true: ever smaller ranges are removed, with
 * at most `tries` attempts. Deterministic.
 */
export async function trim(
  input: Uint8Array,
  tries: number,
  holds: (input: Uint8Array) => Promise<boolean>,
): Promise<Uint8Array> {
  let smallest = input;
  let left = tries;
  for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1) {
    if (bytes > smallest.length) continue;
    for (let at = 0; at < smallest.length && left > 0; ) {
      const candidate = replaced(
        smallest,
        at,
        Math.min(at + bytes, smallest.length),
        new Uint8Array(0),
      );
      left--;
      if (await holds(candidate)) smallest = candidate;
      else at += bytes;
    }
  }
  return smallest;
}
