/** Whether a wildcard rule matches the rest of a path: literal segments, each after a `*`. */

import { QUESTION_MARK } from '../../../ascii';
import { RULE_END, RULE_SINGLE, RULE_TEXT, RULE_TWO_FORMS } from '../../../table/format';
import { equal, find, findByte } from '../bytes/search';
import { charge, isSpent } from './budget';
import { lineWidth, number, offsetWidth, sizeWidth } from './fields';

/**
 * Whether a rule of a block, which ends at `last`, matches `at`–`end`: the rest of the path after
 * the rule's prefix. Searching for segments is charged to the budget, byte by byte. If the budget
 * is spent, the result is undefined.
 */
export function matches(widths: i32, form: usize, last: usize, at: usize, end: usize): bool {
  const flags: i32 = load<u8>(form);
  const sizes = sizeWidth(widths);
  const anchored = (flags & RULE_END) !== 0;
  let segment = form + 1 + (1 << lineWidth(widths));
  if ((flags & RULE_TEXT) !== 0) segment += 1 << offsetWidth(widths);
  if (segment === last) return at === end;
  charge(<i64>(end - at));
  if (isSpent()) return false;
  if ((flags & RULE_SINGLE) !== 0) {
    const bytes = <i32>(last - segment);
    if (anchored) return <i32>(end - at) >= bytes && equal(segment, end - bytes, bytes);
    return find(segment, bytes, at, end) !== 0;
  }
  if ((flags & RULE_TWO_FORMS) !== 0) {
    return matchesInTwoForms(sizes, segment, last, anchored, at, end);
  }
  while (segment < last) {
    const bytes = <i32>number(segment, sizes);
    segment += 1 << sizes;
    if (anchored && segment + bytes >= last) {
      return <i32>(end - at) >= bytes && equal(segment, end - bytes, bytes);
    }
    at = find(segment, bytes, at, end);
    if (at === 0) return false;
    at += bytes;
    segment += bytes;
  }
  return true;
}

/**
 * As `matches`, for a rule whose segments read differently in the query (spec note A). A reading
 * takes the segments before some `*` in their first form, lets that `*` swallow a `?`, and takes
 * all later segments in their second form; or it takes all segments in their first form. For each
 * form the leftmost place that any reading reaches is kept: no other place leaves more room.
 */
function matchesInTwoForms(
  sizes: i32,
  segment: usize,
  last: usize,
  anchored: bool,
  at: usize,
  end: usize,
): bool {
  // `reached`: the end of the segments so far in their first form. `second`: the earliest place for
  // the next segment's second form. Beyond `end`: there is no such place.
  let reached = at;
  let question = findByte(QUESTION_MARK, at, end);
  let second = question + 1;
  if (second <= end) {
    charge(<i64>(end - at));
    if (isSpent()) return false;
  }
  while (true) {
    const firstBytes = <i32>number(segment, sizes);
    const first = segment + (1 << sizes);
    const secondBytes = <i32>number(first + firstBytes, sizes);
    const other = first + firstBytes + (1 << sizes);
    segment = other + secondBytes;
    if (anchored && segment >= last) {
      return endsWith(first, firstBytes, reached, end) || endsWith(other, secondBytes, second, end);
    }
    reached = endOfFirst(first, firstBytes, reached, end);
    second = endOfFirst(other, secondBytes, second, end);
    if (reached > end && second > end) return false;
    if (segment >= last) return true;
    if (reached > question) question = findByte(QUESTION_MARK, min(reached, end), end);
    if (second <= question + 1) continue;
    // The bytes from the question mark on are searched again, at most once for each segment.
    charge(<i64>(second - question));
    if (isSpent()) return false;
    second = question + 1;
  }
}

/** Whether `at`–`end` ends with the needle. `at` may lie beyond `end`. */
function endsWith(needle: usize, bytes: i32, at: usize, end: usize): bool {
  return <isize>(end - at) >= <isize>bytes && equal(needle, end - bytes, bytes);
}

/**
 * The end of the needle's first occurrence in `at`–`end`; beyond `end` if there is none. `at` may
 * lie beyond `end`.
 */
function endOfFirst(needle: usize, bytes: i32, at: usize, end: usize): usize {
  const found = find(needle, bytes, at, end);
  return found === 0 ? end + 1 : found + bytes;
}
