/** Sorting items. */

import {
  ITEM_BEGINNING,
  ITEM_END,
  ITEM_KIND,
  ITEM_PREFIX_END,
  ITEM_RANK,
  ITEM_START,
} from '../../compile-layout';
import { prefixBytes } from './item';

/** Runs of this length are sorted by insertion. */
const RUN: u32 = 8;

/** Addresses are words. */
const WORD: usize = 4;

/**
 * Sorts the addresses of items; `spare` has the same length. A merge sort without recursion: each
 * comparison costs the shorter of two forms and places an item. Forms of N bytes in total therefore
 * take O(N log count), however much they share.
 *
 * @param byRank by falling rank and rising line; otherwise by pattern, see `precedes`
 */
export function sort(items: usize, spare: usize, count: u32, byRank: bool): void {
  for (let low: u32 = 0; low < count; low += RUN) {
    const start = items + WORD * low;
    const end = items + WORD * min(low + RUN, count);
    for (let next = start + WORD; next < end; next += WORD) {
      const item: usize = load<u32>(next);
      let at = next;
      for (; at > start; at -= WORD) {
        const other: usize = load<u32>(at - WORD);
        if (isBefore(other, item, byRank)) break;
        store<u32>(at, other);
      }
      store<u32>(at, item);
    }
  }
  let from = items;
  let to = spare;
  for (let run = RUN; run < count; run *= 2) {
    for (let low: u32 = 0; low < count; low += 2 * run) {
      const middle = min(low + run, count);
      const high = min(low + 2 * run, count);
      merge(from + WORD * low, from + WORD * middle, from + WORD * high, to + WORD * low, byRank);
    }
    const sorted = to;
    to = from;
    from = sorted;
  }
  if (from !== items) memory.copy(items, from, WORD * count);
}

/** Merges the runs `left`–`right` and `right`–`end` to `to`. */
function merge(left: usize, right: usize, end: usize, to: usize, byRank: bool): void {
  const middle = right;
  if (middle === end || isBefore(load<u32>(middle - WORD), load<u32>(middle), byRank)) {
    memory.copy(to, left, end - left);
    return;
  }
  while (left < middle && right < end) {
    const one: usize = load<u32>(left);
    const other: usize = load<u32>(right);
    const takesLeft = isBefore(one, other, byRank);
    store<u32>(to, takesLeft ? one : other);
    if (takesLeft) left += WORD;
    else right += WORD;
    to += WORD;
  }
  memory.copy(to, left, middle - left);
  memory.copy(to + (middle - left), right, end - right);
}

function isBefore(a: usize, b: usize, byRank: bool): bool {
  if (!byRank) return precedes(a, b);
  const rankA = load<u32>(a, ITEM_RANK);
  const rankB = load<u32>(b, ITEM_RANK);
  return rankA !== rankB ? rankA > rankB : a < b;
}

/**
 * Whether an item comes before another by prefix, kind and the rest. Items that match the same
 * texts come by descending precedence (RFC 9309 section 2.2.2): items are numbered in the order of
 * lines.
 */
function precedes(a: usize, b: usize): bool {
  const beginningA = load<u64>(a, ITEM_BEGINNING);
  const beginningB = load<u64>(b, ITEM_BEGINNING);
  if (beginningA !== beginningB) return beginningA < beginningB;
  const prefixA = prefixBytes(a);
  const prefixB = prefixBytes(b);
  // Most prefixes end within the beginning.
  const prefixes = compareBytes(
    load<u32>(a, ITEM_START) + 8,
    load<u32>(b, ITEM_START) + 8,
    <isize>min(prefixA, prefixB) - 8,
  );
  if (prefixes !== 0) return prefixes < 0;
  if (prefixA !== prefixB) return prefixA < prefixB;
  const kindA = load<u32>(a, ITEM_KIND);
  const kindB = load<u32>(b, ITEM_KIND);
  if (kindA !== kindB) return kindA < kindB;
  const rest = load<u32>(a, ITEM_PREFIX_END);
  const restOfB = load<u32>(b, ITEM_PREFIX_END);
  const bytes = load<u32>(a, ITEM_END) - rest;
  const bytesOfB = load<u32>(b, ITEM_END) - restOfB;
  if (bytes !== bytesOfB) return bytes < bytesOfB;
  const rests = compareBytes(rest, restOfB, <isize>bytes);
  if (rests !== 0) return rests < 0;
  const rankA = load<u32>(a, ITEM_RANK);
  const rankB = load<u32>(b, ITEM_RANK);
  return rankA !== rankB ? rankA > rankB : a < b;
}

/** Compares bytes; negative if `a` comes first. Reads up to 7 bytes past the last. */
function compareBytes(a: usize, b: usize, bytes: isize): i32 {
  for (; bytes > 0; bytes -= 8, a += 8, b += 8) {
    const one = bswap(load<u64>(a));
    const other = bswap(load<u64>(b));
    if (one === other) continue;
    if (<isize>(clz(one ^ other) >>> 3) >= bytes) return 0;
    return one < other ? -1 : 1;
  }
  return 0;
}

/** Whether two items match the same texts. */
export function matchesTheSame(a: usize, b: usize): bool {
  if (load<u32>(a, ITEM_KIND) !== load<u32>(b, ITEM_KIND)) return false;
  const start = load<u32>(a, ITEM_START);
  const other = load<u32>(b, ITEM_START);
  const bytes = load<u32>(a, ITEM_END) - start;
  if (bytes !== load<u32>(b, ITEM_END) - other) return false;
  if (prefixBytes(a) !== prefixBytes(b)) return false;
  return compareBytes(start, other, <isize>bytes) === 0;
}
