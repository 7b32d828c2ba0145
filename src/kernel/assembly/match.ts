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
 * Second results of `match`, where it found a rule: the line of the rule, counted as in the automaton; how much of the path
 * the rule's prefix is; and the address of the rule's form, 0 for a prefix rule of which its node says it all.
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
 * Rank of the rule that decides about the path `text`–`end`; 0 if none matches. Of rules of the same rank the one with the first
 * line decides. Reads 32 octets past `end`.
 */
export function match(automaton: usize, text: usize, end: usize): i32 {
  const widths: i32 = load<u8>(automaton);
  const lines = lineWidth(widths);
  let node = rootOf(automaton, widths);
  let at = text;
  let best = 0;
  while (true) {
    const flags: i32 = load<u8>(node);
    const label: i32 = load<u8>(node, 1);
    let field = node + NODE_FIXED_OCTETS;
    if (label !== 0) {
      if (<i32>(end - at) < label || !equal(field, at, label)) return best;
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
      let form: usize = 0;
      let rank = (<i32>(at - text) << 1) | (kind >> 1);
      let longer: usize = 0;
      if (kind === NODE_RULE_OTHER) {
        form = field++;
        rank = prefixRank(form, field + (1 << lines), <i32>(at - text));
        longer = otherOctets(load<u8>(form), widths);
      }
      if (rank >= best) {
        const line = number(field, lines);
        if (rank > best || line < matchedLine) {
          best = rank;
          matchedLine = line;
          matchedPrefix = <i32>(at - text);
          matchedForm = form;
        }
      }
      field += (1 << lines) + longer;
    }
    if ((flags & NODE_BLOCKS) !== 0) {
      let blocks = field;
      if (edges !== 0) {
        const offsets = offsetWidth(widths);
        blocks += 1 << offsets;
        field = blocks + number(field, offsets);
      }
      best = blockRank(widths, blocks, text, at, end, best);
    }
    if (edges === 0 || at === end) return best;
    const edge = edgeOf(load<u8>(at), firsts, edges);
    if (edge < 0) return best;
    at++;
    let distance = 0;
    if (edge > 0) {
      distance = number(firsts + edges + ((edge - 1) << distanceWidth), distanceWidth);
    }
    // Only forwards, so that a forged table cannot lead the walk in a circle.
    if (distance < 0) return best;
    node = field + distance;
  }
}

/** Rank of a prefix rule of another form, whose prefix has so many octets; `surplus` is where its surplus may be. */
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

/** The greater of `best` and the highest rank among the rules of a state's blocks that match `at`–`end`. */
function blockRank(widths: i32, block: usize, text: usize, at: usize, end: usize, best: i32): i32 {
  const sizes = sizeWidth(widths);
  const lines = lineWidth(widths);
  while (true) {
    const head: i32 = load<u8>(block);
    const masked = (head & BLOCK_MASKS) !== 0;
    let rule = block + 1;
    let candidates = 255;
    if (masked) {
      rule += BLOCK_MASK_OCTETS;
      if (<i32>number(rule, sizes) < best) return best;
      candidates = bucketsFound(block + 1, at, end);
    }
    for (let left = head & BLOCK_RULES; left >= 0; left--) {
      const rank = <i32>number(rule, sizes);
      if (rank < best) return best;
      let form = rule + (1 << sizes);
      let buckets = 255;
      if (masked) buckets = load<u8>(form++);
      const flags: i32 = load<u8>(form);
      const size = form + 1;
      const lineAt = size + (1 << sizes);
      let segments = lineAt + (1 << lines);
      if ((flags & RULE_TEXT) !== 0) segments += 1 << offsetWidth(widths);
      rule = segments + number(size, sizes);
      if (buckets !== 255 && (buckets & candidates) === 0) continue;
      const line = number(lineAt, lines);
      if (rank === best && line >= matchedLine) continue;
      if (!matches(flags, sizes, segments, rule, text, at, end)) continue;
      matchedLine = line;
      matchedPrefix = <i32>(at - text);
      matchedForm = form;
      return rank;
    }
    if ((head & BLOCK_FOLLOWED) === 0) return best;
    block = rule;
  }
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

/** Whether a rule with the segments `segment`–`last` matches `at`–`end`, the rest of the path behind its prefix. */
function matches(
  form: i32,
  sizes: i32,
  segment: usize,
  last: usize,
  text: usize,
  at: usize,
  end: usize,
): bool {
  const anchored = (form & RULE_END) !== 0;
  if ((form & RULE_SINGLE) !== 0) {
    const octets = <i32>(last - segment);
    if (anchored) return <i32>(end - at) >= octets && equal(segment, end - octets, octets);
    return find(segment, octets, at, end) !== 0;
  }
  if ((form & RULE_TWO_FORMS) !== 0) {
    return matchesInTwoForms(sizes, segment, last, anchored, text, at, end);
  }
  if (segment === last) return at === end;
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
 * As `matches`, for a rule whose segments read differently in the query (spec note A): one that starts at or
 * before the first `?` of the path is taken in its first form, one that starts behind it in its
 * second. The first form found there is the leftmost of either, so greed stays exact.
 */
function matchesInTwoForms(
  sizes: i32,
  segment: usize,
  last: usize,
  anchored: bool,
  text: usize,
  at: usize,
  end: usize,
): bool {
  const query = findOctet(0x3f, text, end);
  while (segment < last) {
    const octets = <i32>number(segment, sizes);
    const first = segment + (1 << sizes);
    const secondOctets = <i32>number(first + octets, sizes);
    const second = first + octets + (1 << sizes);
    segment = second + secondOctets;
    if (anchored && segment >= last) {
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
