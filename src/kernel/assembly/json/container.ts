/** Skipping a JSON object or array whose members do not matter. */

import { BACKSLASH, LF, QUOTE } from '../../../ascii';
import { closersOf, escapesOf, openersOf, positionsOf, strings } from './block';

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
    const backslashes = positionsOf(BACKSLASH, a, b, c, d);
    let quotes = positionsOf(QUOTE, a, b, c, d);
    if ((backslashes | escaped) !== 0) {
      const escapes = escapesOf(backslashes, escaped);
      quotes &= ~((escapes << 1) | escaped);
      escaped = escapes >>> 63;
    }
    const inside = strings(quotes) ^ inString;
    const openers = openersOf(a, b, c, d) & ~inside;
    const closers = closersOf(a, b, c, d) & ~inside;
    const stray = backslashes & ~inside;
    let ends = positionsOf(LF, a, b, c, d);
    if (end - at < 64) ends |= (<u64>1) << (<u64>(end - at));
    // The container may end here.
    if ((ends | stray) !== 0 || depth <= popcnt(closers)) {
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
