/**
 * The matcher (RFC 9309 section 2.2.2): an automaton and the octets of a path, in canonical form,
 * to the rank of the rule that decides. Layout of automata: compile/format.ts.
 *
 * Bound. Let n be the octets of the path. The trie costs O(n): each state's label is compared once,
 * and its edges are at most 255. A wildcard rule costs O(n + octets of the rule), by leftmost
 * search for each segment, which is exact for `*` and literals: whatever a later choice could
 * match, the leftmost leaves room for as well; `$` is a comparison with the end. Nothing is ever
 * tried twice, but the segments of a rule with two forms (spec note A) are searched for once in
 * each. With the w wildcard rules whose literal prefix the path begins with, a path costs at most
 * O(n + w·n); rules that cannot win any more, and those that the masks rule out, are not tried.
 *
 * As both w and n are up to strangers, the product has a bound of its own: a budget for each path
 * and agent of BUDGET_OF_OCTET·n + BUDGET_OF_PATH. Where that is not enough no rank is known, and
 * the verdict is the safe one.
 */

import {
  AUTOMATON_LINE_WIDTH,
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  BLOCK_FOLLOWED,
  BLOCK_MASK_OCTETS,
  BLOCK_MASKS,
  BLOCK_RULES,
  BLOCK_WIDE,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_OCTETS,
  NODE_RULE,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_END,
  RULE_LONGER,
  RULE_SINGLE,
  RULE_STAR,
  RULE_TEXT,
  RULE_TWO_FORMS,
} from '../../compile/format';
import { equal, find, findOctet } from './search';

/**
 * What all groups that an agent obeys may spend on a path, counted in octets that a rule is
 * compared with, which are two steps each at most. It lets 64 wildcard rules be tried on a path of
 * any length, and on one of 32 KiB two thousand: twice the most that are found in 14,483 real
 * files. Rules of two forms count twice where the path has a query.
 */
const BUDGET_OF_PATH: i64 = 1 << 26;
const BUDGET_OF_OCTET: i64 = 64;
/**
 * What a group, a block and a rule cost besides the octets that they are compared with; of a group,
 * those of the path that led down its trie.
 */
const GROUP_COST: i64 = 64;
const BLOCK_COST: i64 = 32;
const RULE_COST: i64 = 16;

/** In place of a rank: the budget was not enough. */
export const OVER_BUDGET: i32 = -1;

/** In place of a rule's form: the same. */
const UNAFFORDABLE: usize = 0xffffffff;

let budget: i64 = 0;

/** Whether nothing is left for a further group. */
export function isSpent(): bool {
  return budget < 0;
}

/** Charges a group that has no automaton. */
export function chargeGroup(): void {
  budget -= GROUP_COST;
}

/** Begins the matching of a path of so many octets for an agent. */
export function grantBudget(octets: usize): void {
  budget = BUDGET_OF_PATH + BUDGET_OF_OCTET * <i64>octets;
}

/**
 * Second results of `match`, where it found a rule: the line of the rule, counted as in the
 * automaton; how much of the path the rule's prefix is; and the address of the rule's form, 0 for a
 * prefix rule of which its node says it all.
 */
export let matchedLine: u32 = 0;
export let matchedPrefix: i32 = 0;
export let matchedForm: usize = 0;

/** A number of `1 << width` octets. Reads up to three octets past it. */
export function number(address: usize, width: i32): u32 {
  return load<u32>(address) & (0xffffffff >>> (32 - (8 << width)));
}

/** Log2 of the octets of the automaton's fields, from its first octet. */
export function lineWidth(widths: i32): i32 {
  return widths & AUTOMATON_LINE_WIDTH;
}

export function sizeWidth(widths: i32): i32 {
  return (widths >> AUTOMATON_SIZE_WIDTH_SHIFT) & 3;
}

export function offsetWidth(widths: i32): i32 {
  return (widths & AUTOMATON_WIDE) !== 0 ? 2 : 1;
}

function rootOf(automaton: usize, widths: i32): usize {
  const fields = (widths & AUTOMATON_TEXTS) !== 0 ? 3 : 2;
  return automaton + 1 + (fields << offsetWidth(widths));
}

/**
 * Rank of the rule that decides about the path `text`–`end`; 0 if none matches. Of rules of the
 * same rank the one with the first line decides. OVER_BUDGET if that would cost more than is left.
 * Reads 64 octets past `end`.
 */
export function match(automaton: usize, text: usize, end: usize): i32 {
  const widths: i32 = load<u8>(automaton);
  const lines = lineWidth(widths);
  let node = rootOf(automaton, widths);
  let at = text;
  // The best rule so far: its rank, the addresses of its line and its form, and where its prefix
  // ends.
  let best = 0;
  let bestLine: usize = 0;
  let bestForm: usize = 0;
  let bestAt = text;
  while (true) {
    const flags: i32 = load<u8>(node);
    const label: i32 = load<u8>(node, 1);
    let field = node + NODE_FIXED_OCTETS;
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
      if (form !== 0) field += otherOctets(load<u8>(form), widths);
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
    // Before the first distance stand the edges' octets; for the first edge, which has none, they
    // are read and not used.
    const further = number(firsts + edges + ((edge - 1) << distanceWidth), distanceWidth);
    const distance = <i32>further & -(<i32>(edge > 0));
    // Only forwards, so that a forged table cannot lead the walk in a circle.
    if (distance < 0) break;
    node = field + distance;
  }
  budget -= GROUP_COST + <i64>(at - text);
  if (best !== 0) {
    matchedLine = number(bestLine, lines);
    matchedPrefix = <i32>(bestAt - text);
    matchedForm = bestForm;
  }
  return best;
}

/**
 * Rank of a prefix rule of another form, whose prefix has so many octets; `surplus` is where its
 * surplus may be.
 */
function prefixRank(form: usize, surplus: usize, prefix: i32): i32 {
  const flags: i32 = load<u8>(form);
  let octets = prefix;
  if ((flags & RULE_LONGER) !== 0) octets += load<i32>(surplus);
  else if ((flags & RULE_STAR) !== 0) octets++;
  return (octets << 1) | (flags & RULE_ALLOW);
}

/** Octets that such a rule has behind its line. */
function otherOctets(form: i32, widths: i32): i32 {
  const text = (form & RULE_TEXT) !== 0 ? 1 << offsetWidth(widths) : 0;
  return (form & RULE_LONGER) !== 0 ? text + 4 : text;
}

/** Which of the edges begins with the octet; -1 if none. */
function edgeOf(octet: i32, firsts: usize, edges: i32): i32 {
  const wanted = i8x16.splat(<i8>octet);
  for (let i = 0; i < edges; i += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(firsts + i), wanted));
    if (found !== 0) {
      const edge = i + ctz(found);
      return edge < edges ? edge : -1;
    }
  }
  return -1;
}

/** Rank of a rule of a block, from its form. */
function rankOf(form: usize, sizes: i32): i32 {
  return number(form - (2 << sizes), sizes);
}

/**
 * Form of the first rule of a state's blocks that matches `at`–`end`; 0 if none does that has a
 * rank greater than `best`, or that and a line before the one at `bestLine`; UNAFFORDABLE if the
 * budget was not enough.
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
    budget -= BLOCK_COST;
    const head: i32 = load<u8>(block);
    const count = (head & BLOCK_RULES) + 1;
    let rule = block + 1;
    // A bit for each rule that is to be tried, the first lowest.
    let candidates: u32 = 0xffffffff >>> (32 - count);
    let places: usize = 0;
    let placeWidth = 0;
    let rules: usize = 0;
    let next: usize = 0;
    if ((head & BLOCK_MASKS) !== 0) {
      const buckets = rule + BLOCK_MASK_OCTETS;
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
      // A vector of octets at a time, and some ten instructions for each.
      budget -= <i64>(end - at) >> 3;
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
      budget -= RULE_COST;
      if (matches(widths, form, last, at, end)) return form;
      if (budget < 0) return UNAFFORDABLE;
    }
    if (budget < 0) return UNAFFORDABLE;
    if ((head & BLOCK_FOLLOWED) === 0) return 0;
    block = next;
  }
}

/**
 * A bit for each rule of a block that is in one of these buckets, the first lowest. Reads 32
 * octets.
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
 * The buckets of a block for which some window of the path fits the masks (Teddy, after Hyperscan).
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
    const octets0 = v128.load(at);
    const octets1 = v128.load(at, 1);
    const octets2 = v128.load(at, 2);
    let fits = v128.and(
      i8x16.swizzle(low0, v128.and(octets0, half)),
      i8x16.swizzle(high0, i8x16.shr_u(octets0, 4)),
    );
    fits = v128.and(
      fits,
      v128.and(
        i8x16.swizzle(low1, v128.and(octets1, half)),
        i8x16.swizzle(high1, i8x16.shr_u(octets1, 4)),
      ),
    );
    fits = v128.and(
      fits,
      v128.and(
        i8x16.swizzle(low2, v128.and(octets2, half)),
        i8x16.swizzle(high2, i8x16.shr_u(octets2, 4)),
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

/**
 * Whether a rule of a block, which ends at `last`, matches `at`–`end`, the rest of the path behind
 * its prefix. To look for segments costs the rest's octets; nothing is known if that is more than
 * is left of the budget.
 */
function matches(widths: i32, form: usize, last: usize, at: usize, end: usize): bool {
  const flags: i32 = load<u8>(form);
  const sizes = sizeWidth(widths);
  const anchored = (flags & RULE_END) !== 0;
  let segment = form + 1 + (1 << lineWidth(widths));
  if ((flags & RULE_TEXT) !== 0) segment += 1 << offsetWidth(widths);
  if (segment === last) return at === end;
  budget -= <i64>(end - at);
  if (budget < 0) return false;
  if ((flags & RULE_SINGLE) !== 0) {
    const octets = <i32>(last - segment);
    if (anchored) return <i32>(end - at) >= octets && equal(segment, end - octets, octets);
    return find(segment, octets, at, end) !== 0;
  }
  if ((flags & RULE_TWO_FORMS) !== 0) {
    return matchesInTwoForms(sizes, segment, last, anchored, at, end);
  }
  while (segment < last) {
    const octets = <i32>number(segment, sizes);
    segment += 1 << sizes;
    if (anchored && segment + octets >= last) {
      return <i32>(end - at) >= octets && equal(segment, end - octets, octets);
    }
    at = find(segment, octets, at, end);
    if (at === 0) return false;
    at += octets;
    segment += octets;
  }
  return true;
}

/**
 * As `matches`, for a rule whose segments read differently in the query (spec note A). A reading
 * takes the segments before some `*` in their first form, lets that `*` swallow a `?`, and takes
 * all others in their second form; or it takes all in their first. Of all readings the leftmost
 * place is kept that each form has reached, and no other could leave more room.
 */
function matchesInTwoForms(
  sizes: i32,
  segment: usize,
  last: usize,
  anchored: bool,
  at: usize,
  end: usize,
): bool {
  // Up to where the segments so far match in their first form, and the earliest place for the next
  // one's second; beyond `end` where there is none.
  let reached = at;
  let question = findOctet(0x3f, at, end);
  let second = question + 1;
  if (second <= end) {
    budget -= <i64>(end - at);
    if (budget < 0) return false;
  }
  while (true) {
    const firstOctets = <i32>number(segment, sizes);
    const first = segment + (1 << sizes);
    const secondOctets = <i32>number(first + firstOctets, sizes);
    const other = first + firstOctets + (1 << sizes);
    segment = other + secondOctets;
    if (anchored && segment >= last) {
      return (
        endsWith(first, firstOctets, reached, end) || endsWith(other, secondOctets, second, end)
      );
    }
    reached = findBehind(first, firstOctets, reached, end);
    second = findBehind(other, secondOctets, second, end);
    if (reached > end && second > end) return false;
    if (segment >= last) return true;
    if (reached > question) question = findOctet(0x3f, min(reached, end), end);
    if (second <= question + 1) continue;
    // The octets from there on are searched once more, as often as there are segments.
    budget -= <i64>(second - question);
    if (budget < 0) return false;
    second = question + 1;
  }
}

/** Whether `at`–`end`, which may be less than nothing, ends with these octets. */
function endsWith(needle: usize, octets: i32, at: usize, end: usize): bool {
  return <isize>(end - at) >= <isize>octets && equal(needle, end - octets, octets);
}

/**
 * The end of the first occurrence in `at`–`end`, which may be less than nothing; beyond `end` if
 * there is none.
 */
function findBehind(needle: usize, octets: i32, at: usize, end: usize): usize {
  const found = find(needle, octets, at, end);
  return found === 0 ? end + 1 : found + octets;
}
