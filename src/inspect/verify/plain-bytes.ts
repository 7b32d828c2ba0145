import { UNESCAPED } from '../../table/display-text.js';

/** Whether all bytes from `from` to `to` can be shown unescaped. */
export function arePlain(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (UNESCAPED[bytes[at] as number] === 0) return false;
  return true;
}
