import { UNESCAPED } from '../display-text.js';

/**
 * Whether all octets from `from` to `to` can be shown as they are, in a JSON string and on a
 * terminal.
 */
export function arePlain(octets: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (UNESCAPED[octets[at] as number] === 0) return false;
  return true;
}
