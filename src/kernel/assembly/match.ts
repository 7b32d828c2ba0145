/**
 * The matcher (RFC 9309 section 2.2.2): an automaton and the octets of a path, in canonical form, to the rank of
 * the rule that decides. Layout of automata: compile/format.ts.
 *
 * Bound. Let n be the octets of the path. The trie costs O(n): each state's label is compared once, and
 * its edges are at most 255. A wildcard rule costs O(n + octets of the rule), by leftmost search
 * for each segment, which is exact for `*` and literals: whatever a later choice could match, the leftmost
 * leaves room for as well; `$` is a comparison with the end. Nothing is ever tried twice. With the w wildcard rules
 * whose literal prefix the path begins with, a path costs at most O(n + w·n); rules that
 * cannot win any more, and those that the masks rule out, are not tried.
 *
 * As both w and n are up to strangers, the product has a bound of its own: a budget for each path and agent of
 * BUDGET_OF_OCTET·n + BUDGET_OF_PATH. Where that is not enough no rank is known, and the verdict is the safe one.
 */

import {
  AUTOMATON_ROOT,
  AUTOMATON_RULES,
  AUTOMATON_WIDTH,
  BLOCK_MASK_OCTETS,
  BLOCK_MASKS,
  NODE_END_RULE,
  NODE_FIXED_OCTETS,
  NODE_PREFIX_RULE,
  NODE_WILDCARDS,
  WILDCARD_END,
  WILDCARD_TWO_FORMS,
} from '../../compile/format';
import { equal, find, findOctet } from './search';

/**
 * What all groups that an agent obeys may spend on a path, counted in octets that a rule is compared with, which are two steps each at
 * most. It lets 64 wildcard rules be tried on a path of any length, and on one of 32 KiB two thousand: twice the most
 * that are found in 14,483 real files.
 */
const BUDGET_OF_PATH: i64 = 1 << 26;
const BUDGET_OF_OCTET: i64 = 64;
/** What a group, a block and a rule cost besides the octets that they are compared with. */
const GROUP_COST: i64 = 64;
const BLOCK_COST: i64 = 32;
const RULE_COST: i64 = 16;

/** In place of a rank: the budget was not enough. */
export const OVER_BUDGET: i32 = -1;

let budget: i64 = 0;

/** Begins the matching of a path of so many octets for an agent. */
export function grantBudget(octets: usize): void {
  budget = BUDGET_OF_PATH + BUDGET_OF_OCTET * <i64>octets;
}

/**
 * Rank of the rule that decides about the path `text`–`end`; 0 if none matches, OVER_BUDGET if that would cost more than is
 * left. Reads 32 octets past `end`.
 */
export function match(automaton: usize, text: usize, end: usize): i32 {
  budget -= GROUP_COST;
  return load<u32>(automaton, AUTOMATON_WIDTH) === 2
    ? walk<u16>(automaton, text, end)
    : walk<u32>(automaton, text, end);
}

/** How many octets the pattern of the rule with this rank has. */
export function specificity(automaton: usize, rank: i32): i32 {
  const rules = automaton + load<u32>(automaton, AUTOMATON_RULES);
  const index: usize = (rank >> 1) - 1;
  return load<u32>(automaton, AUTOMATON_WIDTH) === 2
    ? <i32>load<u16>(rules + index * 4, 2)
    : load<i32>(rules + index * 8, 4);
}

function reference<T>(address: usize): i32 {
  return <i32>load<T>(address);
}

function walk<T>(automaton: usize, text: usize, end: usize): i32 {
  let node = automaton + AUTOMATON_ROOT;
  let at = text;
  let best = 0;
  while (true) {
    const flags: i32 = load<u8>(node);
    const label: i32 = load<u8>(node, 1);
    const edges: i32 = load<u8>(node, 2);
    let field = node + NODE_FIXED_OCTETS;
    if (label !== 0) {
      if (<i32>(end - at) < label || !equal(field, at, label)) return best;
      at += label;
      field += label;
    }
    const firsts = field;
    field += edges;
    const targets = field;
    field += edges * sizeof<T>();
    if (flags !== 0) {
      if ((flags & NODE_PREFIX_RULE) !== 0) {
        best = max(best, reference<T>(field));
        field += sizeof<T>();
      }
      if ((flags & NODE_END_RULE) !== 0) {
        if (at === end) best = max(best, reference<T>(field));
        field += sizeof<T>();
      }
      if ((flags & NODE_WILDCARDS) !== 0) {
        best = wildcards<T>(field, text, at, end, best);
        if (best === OVER_BUDGET) return best;
      }
    }
    if (at === end) return best;
    const edge = edgeOf(load<u8>(at), firsts, edges);
    if (edge < 0) return best;
    const distance = reference<T>(targets + edge * sizeof<T>());
    // Only forwards, so that a forged table cannot lead the walk in a circle.
    if (distance <= 0) return best;
    node += distance;
  }
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

/**
 * The greater of `best` and the highest rank among the wildcard rules of a state that match `at`–`end`; or OVER_BUDGET.
 */
function wildcards<T>(field: usize, text: usize, at: usize, end: usize, best: i32): i32 {
  const rest = <i64>(end - at);
  let blocks = reference<T>(field);
  let block = field + sizeof<T>();
  while (blocks-- > 0) {
    const octets = reference<T>(block + 2);
    if (reference<T>(block + 2 + sizeof<T>()) <= best) return best;
    let rule = block + 2 + 2 * sizeof<T>();
    let candidates = 255;
    budget -= BLOCK_COST;
    if ((load<u8>(block, 1) & BLOCK_MASKS) !== 0) {
      // A vector of octets at a time, and some ten instructions for each.
      budget -= rest >> 3;
      candidates = bucketsFound(rule, at, end);
      rule += BLOCK_MASK_OCTETS;
    }
    for (let rules: i32 = load<u8>(block); rules > 0; rules--) {
      const rank = reference<T>(rule);
      if (rank <= best) break;
      const fields = rule + 2 * sizeof<T>();
      const buckets: i32 = load<u8>(fields);
      if (buckets === 255 || (buckets & candidates) !== 0) {
        budget -= RULE_COST + rest;
        if (budget < 0) return OVER_BUDGET;
        if (matches<T>(fields + 1, text, at, end)) {
          best = rank;
          break;
        }
      }
      rule += reference<T>(rule + sizeof<T>());
    }
    if (budget < 0) return OVER_BUDGET;
    block += octets;
  }
  return best;
}

/** The buckets of a block for which some window of the path fits the masks (Teddy, after Hyperscan). */
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

/** Whether a wildcard rule (its fields from the flags on) matches `at`–`end`, the rest of the path behind its prefix. */
function matches<T>(fields: usize, text: usize, at: usize, end: usize): bool {
  const flags: i32 = load<u8>(fields);
  let segments = reference<T>(fields + 1);
  let segment = fields + 1 + sizeof<T>();
  if ((flags & WILDCARD_TWO_FORMS) !== 0) {
    return matchesInTwoForms<T>(segment, segments, (flags & WILDCARD_END) !== 0, text, at, end);
  }
  while (segments-- > 0) {
    const octets = reference<T>(segment);
    segment += sizeof<T>();
    if (segments === 0 && (flags & WILDCARD_END) !== 0) {
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
 * As `matches`, for a rule whose segments read differently in the query (spec note A): one that starts at or
 * before the first `?` of the path is taken in its first form, one that starts behind it in its
 * second. The first form found there is the leftmost of either, so greed stays exact.
 */
function matchesInTwoForms<T>(
  segment: usize,
  segments: i32,
  anchored: bool,
  text: usize,
  at: usize,
  end: usize,
): bool {
  const query = findOctet(0x3f, text, end);
  while (segments-- > 0) {
    const octets = reference<T>(segment);
    const first = segment + sizeof<T>();
    const secondOctets = reference<T>(first + octets);
    const second = first + octets + sizeof<T>();
    segment = second + secondOctets;
    if (segments === 0 && anchored) {
      const room = <i32>(end - at);
      return (
        (room >= octets && end - octets <= query && equal(first, end - octets, octets)) ||
        (room >= secondOctets &&
          end - secondOctets > query &&
          equal(second, end - secondOctets, secondOctets))
      );
    }
    let found: usize = 0;
    if (at <= query) {
      // A match may start at the `?` at the latest, and reaches at most `octets` beyond it.
      const limit = query + octets < end ? query + octets : end;
      found = find(first, octets, at, limit);
    }
    if (found !== 0) {
      at = found + octets;
      continue;
    }
    found = find(second, secondOctets, at > query ? at : query + 1, end);
    if (found === 0) return false;
    at = found + secondOctets;
  }
  return true;
}
