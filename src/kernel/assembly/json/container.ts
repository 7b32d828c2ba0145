/** Skipping a JSON object or array whose members do not matter. */

import { BACKSLASH, LF, QUOTE } from '../../../ascii';
import { positionsOf, quotedIn } from '../bytes/vectors';
import { closersOf, escapesOf, holds, openersOf } from './block';

/**
 * End of the object or array at `at`; 0 if the line ends before. Of its structure only strings and
 * brackets count.
 */
export function skipContainer(at: usize, end: usize): usize {
  let depth: u64 = 0;
  let inString: u64 = 0;
  let escaped: u64 = 0;
  while (true) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    let quotes = positionsOf(QUOTE, a, b, c, d);
    let stray: u64 = 0;
    if (escaped !== 0 || holds(BACKSLASH, a, b, c, d)) {
      // Outside strings it is a fault.
      stray = positionsOf(BACKSLASH, a, b, c, d);
      const escapes = escapesOf(stray, escaped);
      quotes &= ~((escapes << 1) | escaped);
      escaped = escapes >>> 63;
    }
    const inside = quotedIn(quotes) ^ inString;
    const openers = openersOf(a, b, c, d) & ~inside;
    const closers = closersOf(a, b, c, d) & ~inside;
    stray &= ~inside;
    // The container may end here, or the line.
    if (stray !== 0 || depth <= popcnt(closers) || end - at < 64 || holds(LF, a, b, c, d)) {
      let ends = positionsOf(LF, a, b, c, d);
      if (end - at < 64) ends |= (<u64>1) << (<u64>(end - at));
      let events = openers | closers | stray | ends;
      while (events !== 0) {
        const event = events & -events;
        if ((openers & event) !== 0) {
          depth++;
        } else {
          if ((closers & event) === 0) return 0;
          depth--;
          if (depth === 0) return at + <usize>ctz(event) + 1;
        }
        events ^= event;
      }
    } else {
      depth += popcnt(openers) - popcnt(closers);
    }
    inString = <u64>(<i64>inside >> 63);
    at += 64;
  }
}
