/** The windows of wildcard rules: docs/design.md. */

import { ANY, COMPILE_RARITY, ITEM_PREFIX_END, ITEM_SEGMENTS } from '../../compile-layout';
import { first, firstEnd, nextSegment, second, secondEnd } from './item';

/** Bytes of a window. */
export const WINDOW_BYTES = 3;
const WORD = 4;
/** A window: WINDOW_BYTES words. */
export const WINDOW_WORDS = WINDOW_BYTES * WORD;

let best = -1;

/**
 * Chooses the windows of an item; returns their number. A window is three consecutive bytes that
 * every matching text contains; the last ones are ANY if the segment is shorter. The rarest is
 * chosen. An item has two windows, one for each form, if all its segments have a second form: the
 * text decides which form of a segment it holds, so either window may be the one there. An item
 * without segments has none.
 */
export function chooseWindows(block: usize, item: usize, windows: usize): i32 {
  best = -1;
  const segments = load<u32>(item, ITEM_SEGMENTS);
  const prefixEnd: usize = load<u32>(item, ITEM_PREFIX_END);
  let segment = prefixEnd;
  for (let left = segments; left > 0; left--) {
    segment = nextSegment(item, segment);
    if (second === 0) consider(block, first, firstEnd, windows);
  }
  if (best >= 0) return 1;
  if (segments === 0) return 0;
  nextSegment(item, prefixEnd);
  consider(block, first, firstEnd, windows);
  best = -1;
  consider(block, second, secondEnd, windows + WINDOW_WORDS);
  return 2;
}

function consider(block: usize, from: usize, end: usize, window: usize): void {
  const rarities = block + COMPILE_RARITY;
  for (let at = from; at === from || at + WINDOW_BYTES <= end; at++) {
    const a: u32 = load<u8>(at);
    const b: u32 = at + 1 < end ? <u32>load<u8>(at, 1) : ANY;
    const c: u32 = at + 2 < end ? <u32>load<u8>(at, 2) : ANY;
    const rarity =
      <i32>load<u8>(rarities + a) + <i32>load<u8>(rarities + b) + <i32>load<u8>(rarities + c);
    if (rarity <= best) continue;
    best = rarity;
    store<u32>(window, a);
    store<u32>(window, b, WORD);
    store<u32>(window, c, 2 * WORD);
  }
}
