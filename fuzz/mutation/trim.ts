import { replaced } from './octets.js';

/**
 * The input without what can be left out so that `holds` still does: ever smaller ranges are tried,
 * `tries` of them at most. Deterministic.
 */
export function trim(
  input: Uint8Array,
  tries: number,
  holds: (input: Uint8Array) => boolean,
): Uint8Array {
  let smallest = input;
  let left = tries;
  for (let octets = 1 << 20; octets >= 1; octets >>= 1) {
    if (octets > smallest.length) continue;
    for (let at = 0; at < smallest.length && left > 0; ) {
      const candidate = replaced(
        smallest,
        at,
        Math.min(at + octets, smallest.length),
        new Uint8Array(0),
      );
      left--;
      if (holds(candidate)) smallest = candidate;
      else at += octets;
    }
  }
  return smallest;
}
