/**
 * The matcher (RFC 9309 section 2.2.2): an automaton and a path in canonical form give the rank of
 * the rule that decides. Layout of automata: table/format.ts.
 *
 * Bound. Let n be the bytes of the path. The trie costs O(n): each node's label is compared once,
 * and a node has at most 255 edges. A wildcard rule costs O(n + bytes of the rule): each segment is
 * searched for once, from the left. That is exact for `*` and literals: if the rest of the rule
 * fits after a later place, it also fits after the leftmost. `$` is a comparison with the end.
 * Nothing is tried twice; a rule with two forms (spec note A) has each segment searched for once in
 * each form. If the path begins with the literal prefixes of w wildcard rules, it costs at most O(n
 * + w·n). Rules that cannot win any more, and rules that the masks exclude, are not tried.
 *
 * Site owners choose w, and the authors of links choose n. So each path and agent has a budget,
 * BUDGET_OF_BYTE·n + BUDGET_OF_PATH. If it is not enough, no rank is known, and the
 * verdict is the safe one.
 */

import { QUESTION_MARK } from '../../base/ascii';
import {
  AUTOMATON_LINE_WIDTH,
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  BLOCK_FOLLOWED,
  BLOCK_MASK_BYTES,
  BLOCK_MASKS,
  BLOCK_RULES,
  BLOCK_WIDE,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_BYTES,
  NODE_RULE,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_END,
  RULE_LONGER,
  RULE_SINGLE,
  RULE_STAR,
  RULE_TEXT,
  RULE_TWO_FORMS,
} from '../../table/format';
import { equal, find, findByte } from './bytes';
import { Match } from './memory';

function rootOf(automaton: usize, widths: i32): usize {
  const fields = (widths & AUTOMATON_TEXTS) !== 0 ? 3 : 2;
  return automaton + 1 + (fields << offsetWidth(widths));
}

/**
 * Rank of the rule that decides about the path `text`–`end`; 0 if no rule matches. Among rules of
 * the same rank the first line decides. OVER_BUDGET if the budget is not enough. Fills in `found`
 * if a rule matches. Reads 64 bytes past `end`.
 */
export function match(automaton: usize, text: usize, end: usize, found: Match): i32 {
  const widths: i32 = load<u8>(automaton);
  const lines = lineWidth(widths);
  let node = rootOf(automaton, widths);
  let at = text;
  // The best rule so far: its rank, the addresses of its line and form, the end of its prefix.
  let best = 0;
  let bestLine: usize = 0;
  let bestForm: usize = 0;
  let bestAt = text;
  while (true) {
    const flags: i32 = load<u8>(node);
    const label: i32 = load<u8>(node, 1);
    let field = node + NODE_FIXED_BYTES;
    if (label !== 0) {
      if (<i32>(end - at) < label || !equal(field, at, label)) break;
      at += label;
      field += label;
    }
    let edges = 0;
    const firsts = field + 1;
    const distanceWidth = (flags >> NODE_DISTANCE_WIDTH_SHIFT) & 3;
    if ((flags & NODE_EDGES) !== 0) {
      edges = load<u8>(field);
      field = firsts + edges + ((edges - 1) << distanceWidth);
    }
    const kind = flags & NODE_RULE;
    if (kind !== 0) {
      let rank = ((<i32>(at - text)) << 1) | (kind >> 1);
      let form: usize = 0;
      if (kind === NODE_RULE_OTHER) {
        form = field++;
        rank = prefixRank(form, field + (1 << lines), <i32>(at - text));
      }
      if (rank > best || (rank === best && number(field, lines) < number(bestLine, lines))) {
        best = rank;
        bestLine = field;
        bestForm = form;
        bestAt = at;
      }
      field += 1 << lines;
      if (form !== 0) field += otherBytes(load<u8>(form), widths);
    }
    if ((flags & NODE_BLOCKS) !== 0) {
      let blocks = field;
      if (edges !== 0) {
        const offsets = offsetWidth(widths);
        blocks += 1 << offsets;
        field = blocks + number(field, offsets);
      }
      const form = ruleOfBlocks(widths, blocks, at, end, best, bestLine);
      if (form === UNAFFORDABLE) return OVER_BUDGET;
      if (form !== 0) {
        best = rankOf(form, sizeWidth(widths));
        bestLine = form + 1;
        bestForm = form;
        bestAt = at;
      }
    }
    if (edges === 0 || at === end) break;
    const edge = edgeOf(load<u8>(at), firsts, edges);
    if (edge < 0) break;
    at++;
    // The first edge has no distance: the bytes of the edges are read instead, and masked out.
    const further = number(firsts + edges + ((edge - 1) << distanceWidth), distanceWidth);
    const distance = <i32>further & -(<i32>(edge > 0));
    // The walk only goes forwards, so a forged table cannot lead it in a circle.
    if (distance < 0) break;
    node = field + distance;
  }
  charge(GROUP_COST + <i64>(at - text));
  if (best !== 0) {
    found.line = number(bestLine, lines);
    found.prefix = bestAt - text;
    found.form = bestForm;
  }
  return best;
}

/**
 * Rank of a prefix rule that has another form, after a prefix of `prefix` bytes. `surplus` is the
 * address where the rule's surplus would be.
 */
function prefixRank(form: usize, surplus: usize, prefix: i32): i32 {
  const flags: i32 = load<u8>(form);
  let bytes = prefix;
  if ((flags & RULE_LONGER) !== 0) bytes += load<i32>(surplus);
  else if ((flags & RULE_STAR) !== 0) bytes++;
  return (bytes << 1) | (flags & RULE_ALLOW);
}

/** Bytes after the line of such a rule. */
function otherBytes(form: i32, widths: i32): i32 {
  const text = (form & RULE_TEXT) !== 0 ? 1 << offsetWidth(widths) : 0;
  return (form & RULE_LONGER) !== 0 ? text + 4 : text;
}

/** Index of the edge that begins with the byte, -1 if there is none. */
function edgeOf(byte: i32, firsts: usize, edges: i32): i32 {
  const wanted = i8x16.splat(<i8>byte);
  for (let i = 0; i < edges; i += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(firsts + i), wanted));
    if (found !== 0) {
      const edge = i + ctz(found);
      return edge < edges ? edge : -1;
    }
  }
  return -1;
}

// ---- The wildcard rules of a node, in blocks of at most 32. Layout: table/format.ts

/** Stands for the address of a form if the budget was not enough. */
const UNAFFORDABLE: usize = 0xffffffff;

/** Rank of a rule of a block, by the address of its form. */
function rankOf(form: usize, sizes: i32): i32 {
  return number(form - (2 << sizes), sizes);
}

/**
 * Form of the first rule of a node's blocks that matches `at`–`end` and wins over the best rule so
 * far. A rule wins if its rank is greater than `best`, or equal with a line before the line at
 * `bestLine`. 0 if no rule wins. UNAFFORDABLE if the budget was not enough.
 */
function ruleOfBlocks(
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

// ---- Whether a wildcard rule matches the rest of a path: literal segments, each after a `*`

/**
 * Whether a rule of a block, which ends at `last`, matches `at`–`end`: the rest of the path after
 * the rule's prefix. Searching for segments is charged to the budget, byte by byte. If the budget
 * is spent, the result is undefined.
 */
function matches(widths: i32, form: usize, last: usize, at: usize, end: usize): bool {
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

// ---- The step limit: the steps that all groups of an agent may spend on one path. A step compares
// a rule with one byte.

/**
 * 64 wildcard rules can be tried on a path of any length, and two thousand on a path of 32 KiB. A
 * rule of two forms costs twice as much if the path has a query.
 */
const BUDGET_OF_PATH: i64 = 1 << 26;
const BUDGET_OF_BYTE: i64 = 64;

/** The cost of a group, in addition to the bytes of the path that led down its trie. */
export const GROUP_COST: i64 = 64;
/** The cost of a block or a rule, in addition to the bytes compared with it. */
const BLOCK_COST: i64 = 32;
const RULE_COST: i64 = 16;

/** Stands for a rank if the budget was not enough. */
export const OVER_BUDGET: i32 = -1;

let budget: i64 = 0;

/** Begins the matching of a path of `bytes` bytes for an agent. */
export function grantBudget(bytes: usize): void {
  budget = BUDGET_OF_PATH + BUDGET_OF_BYTE * <i64>bytes;
}

export function charge(steps: i64): void {
  budget -= steps;
}

/** Whether more was charged than granted. */
export function isSpent(): bool {
  return budget < 0;
}

// ---- Numbers of an automaton, and their widths. Layout: table/format.ts

/** A number of `1 << width` bytes. Reads up to three bytes past the number. */
export function number(address: usize, width: i32): u32 {
  return load<u32>(address) & (0xffffffff >>> (32 - (8 << width)));
}

/** Log2 of the size of a line number, in bytes, from the automaton's first byte. */
export function lineWidth(widths: i32): i32 {
  return widths & AUTOMATON_LINE_WIDTH;
}

/** The same for a rank or a length. */
export function sizeWidth(widths: i32): i32 {
  return (widths >> AUTOMATON_SIZE_WIDTH_SHIFT) & 3;
}

/** The same for an offset. */
export function offsetWidth(widths: i32): i32 {
  return (widths & AUTOMATON_WIDE) !== 0 ? 2 : 1;
}
