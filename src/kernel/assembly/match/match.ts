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
 * BUDGET_OF_BYTE·n + BUDGET_OF_PATH (budget.ts). If it is not enough, no rank is known, and the
 * verdict is the safe one.
 */

import {
  AUTOMATON_TEXTS,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_BYTES,
  NODE_RULE,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_STAR,
  RULE_TEXT,
} from '../../../table/format';
import { MATCH_FORM, MATCH_LINE, MATCH_PREFIX } from '../../layout';
import { equal } from '../bytes/search';
import { rankOf, ruleOfBlocks, UNAFFORDABLE } from './blocks';
import { charge, GROUP_COST, OVER_BUDGET } from './budget';
import { lineWidth, number, offsetWidth, sizeWidth } from './fields';

function rootOf(automaton: usize, widths: i32): usize {
  const fields = (widths & AUTOMATON_TEXTS) !== 0 ? 3 : 2;
  return automaton + 1 + (fields << offsetWidth(widths));
}

/**
 * Rank of the rule that decides about the path `text`–`end`; 0 if no rule matches. Among rules of
 * the same rank the first line decides. OVER_BUDGET if the budget is not enough. Fills in `found`,
 * MATCH_…, if a rule matches. Reads 64 bytes past `end`.
 */
export function match(automaton: usize, text: usize, end: usize, found: usize): i32 {
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
    store<u32>(found, number(bestLine, lines), MATCH_LINE);
    store<u32>(found, bestAt - text, MATCH_PREFIX);
    store<u32>(found, bestForm, MATCH_FORM);
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
