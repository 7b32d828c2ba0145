/** The wildcard rules of a node, in blocks of at most 32. Layout: table/format.ts. */

import {
  BLOCK_FOLLOWED,
  BLOCK_MASK_BYTES,
  BLOCK_MASKS,
  BLOCK_RULES,
  BLOCK_WIDE,
} from '../../../table/format';
import { BLOCK_COST, charge, isSpent, RULE_COST } from './budget';
import { lineWidth, number, offsetWidth, sizeWidth } from './fields';
import { matches } from './wildcard';

/** Stands for the address of a form if the budget was not enough. */
export const UNAFFORDABLE: usize = 0xffffffff;

/** Rank of a rule of a block, by the address of its form. */
export function rankOf(form: usize, sizes: i32): i32 {
  return number(form - (2 << sizes), sizes);
}

/**
 * Form of the first rule of a node's blocks that matches `at`–`end` and wins over the best rule so
 * far. A rule wins if its rank is greater than `best`, or equal with a line before the line at
 * `bestLine`. 0 if no rule wins. UNAFFORDABLE if the budget was not enough.
 */
export function ruleOfBlocks(
  widths: i32,
  block: usize,
  at: usize,
  end: usize,
  best: i32,
  bestLine: usize,
): usize {
  const sizes = sizeWidth(widths);
  const lines = lineWidth(widths);
  while (true) {
    charge(BLOCK_COST);
    const head: i32 = load<u8>(block);
    const count = (head & BLOCK_RULES) + 1;
    let rule = block + 1;
    // A bit for each rule to try, the first rule in the lowest bit.
    let candidates: u32 = 0xffffffff >>> (32 - count);
    let places: usize = 0;
    let placeWidth = 0;
    let rules: usize = 0;
    let next: usize = 0;
    if ((head & BLOCK_MASKS) !== 0) {
      const buckets = rule + BLOCK_MASK_BYTES;
      places = buckets + count;
      if ((head & BLOCK_FOLLOWED) !== 0) {
        const offsets = offsetWidth(widths);
        next = number(places, offsets);
        places += 1 << offsets;
        next += places;
      }
      if ((head & BLOCK_WIDE) !== 0) placeWidth = offsetWidth(widths);
      rules = places + (count << placeWidth);
      if (<i32>number(rules, sizes) < best) return 0;
      // The masks examine 16 bytes at a time, with a few instructions for each.
      charge(<i64>(end - at) >> 3);
      if (at !== end) candidates &= rulesIn(buckets, bucketsFound(block + 1, at, end));
    }
    for (; candidates !== 0; candidates &= candidates - 1) {
      if (places !== 0)
        rule = rules + number(places + ((<usize>ctz(candidates)) << placeWidth), placeWidth);
      const rank = <i32>number(rule, sizes);
      if (rank < best) return 0;
      const form = rule + (2 << sizes);
      const last = form + number(rule + (1 << sizes), sizes);
      rule = last;
      if (rank === best && number(form + 1, lines) >= number(bestLine, lines)) continue;
      charge(RULE_COST);
      if (matches(widths, form, last, at, end)) return form;
      if (isSpent()) return UNAFFORDABLE;
    }
    if (isSpent()) return UNAFFORDABLE;
    if ((head & BLOCK_FOLLOWED) === 0) return 0;
    block = next;
  }
}

/**
 * A bit for each rule of a block that is in one of the buckets `found`, the first rule in the
 * lowest bit. Reads 32 bytes.
 */
function rulesIn(buckets: usize, found: i32): u32 {
  if (found === 0) return 0;
  const wanted = i8x16.splat(<i8>found);
  const none = i8x16.splat(0);
  const low = i8x16.ne(v128.and(v128.load(buckets), wanted), none);
  const high = i8x16.ne(v128.and(v128.load(buckets, 16), wanted), none);
  return i8x16.bitmask(low) | (i8x16.bitmask(high) << 16);
}

/**
 * The buckets whose masks match some window of the path (Teddy, after Hyperscan; docs/design.md).
 */
function bucketsFound(masks: usize, at: usize, end: usize): i32 {
  const half = i8x16.splat(15);
  const low0 = v128.load(masks);
  const high0 = v128.load(masks, 16);
  const low1 = v128.load(masks, 32);
  const high1 = v128.load(masks, 48);
  const low2 = v128.load(masks, 64);
  const high2 = v128.load(masks, 80);
  let found = i8x16.splat(0);
  while (at < end) {
    const bytes0 = v128.load(at);
    const bytes1 = v128.load(at, 1);
    const bytes2 = v128.load(at, 2);
    let fits = v128.and(
      i8x16.swizzle(low0, v128.and(bytes0, half)),
      i8x16.swizzle(high0, v128.and(i16x8.shr_u(bytes0, 4), half)),
    );
    fits = v128.and(
      fits,
      v128.and(
        i8x16.swizzle(low1, v128.and(bytes1, half)),
        i8x16.swizzle(high1, v128.and(i16x8.shr_u(bytes1, 4), half)),
      ),
    );
    fits = v128.and(
      fits,
      v128.and(
        i8x16.swizzle(low2, v128.and(bytes2, half)),
        i8x16.swizzle(high2, v128.and(i16x8.shr_u(bytes2, 4), half)),
      ),
    );
    found = v128.or(found, fits);
    at += 16;
  }
  let folded = i64x2.extract_lane(found, 0) | i64x2.extract_lane(found, 1);
  folded |= folded >> 32;
  folded |= folded >> 16;
  folded |= folded >> 8;
  return <i32>folded & 255;
}
