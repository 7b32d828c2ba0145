/**
 * Writes automata (table/format.ts). Nodes are in pre-order, and the smallest subtree of a node
 * comes first. Most targets of edges are therefore close, often in the same cache line.
 */

import {
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_BYTES,
  NODE_RULE_ALLOW,
  NODE_RULE_DISALLOW,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_TEXT,
} from '../../../table/format';
import { COMPILE_END, COMPILE_LENGTH, ITEM_LINE } from '../../compile-layout';
import { copyShort } from '../bytes/copy';
import {
  BLOCKS_END,
  BYTES,
  DISTANCE_WIDTH,
  EDGES,
  EDGES_START,
  EDGES_WRITTEN,
  FIRST_BELOW,
  FIRST_TARGET,
  FORM,
  LABEL,
  LABEL_BYTES,
  NEXT,
  NONE,
  PARENT,
  RULE,
  TEXT,
} from './node';
import { appendNumber, putNumber } from './numbers';
import { blocksStart, nodes, plan, surplusBytes } from './plan';
import { firstLine, rules } from './rules';
import { texts, textsEnd } from './text';
import { lineWidth, offsetWidth, sizeWidth, WIDE } from './widths';
import { claim, freeStart } from './work-memory';

/** Log2 of the bytes of the number that RULE_LONGER adds. */
const SURPLUS_WIDTH = 2;

/** Writes the automaton of the loaded rules, of which there must be one; returns its address. */
export function writeAutomaton(block: usize): usize {
  const bytes = plan(block);
  const textBytes = textsEnd - texts;
  // Each waiting node leads to a different rule.
  const waiting = claim(4 * (rules + 1));
  const start = claim(bytes);
  store<u32>(block, <u32>bytes, COMPILE_LENGTH);
  store<u32>(block, <u32>freeStart(), COMPILE_END);
  store<u8>(
    start,
    lineWidth |
      (sizeWidth << AUTOMATON_SIZE_WIDTH_SHIFT) |
      (offsetWidth === WIDE ? AUTOMATON_WIDE : 0) |
      (textBytes > 0 ? AUTOMATON_TEXTS : 0),
  );
  let to = appendNumber(start + 1, <u32>bytes, offsetWidth);
  to = appendNumber(to, rules, offsetWidth);
  if (textBytes > 0) to = appendNumber(to, <u32>(bytes - textBytes), offsetWidth);
  const end = writeNodes(waiting, to);
  memory.copy(end, texts, textBytes);
  // The nodes are as long as planned, or the edges lead elsewhere.
  if (end + textBytes !== start + bytes) unreachable();
  return start;
}

/** Writes the nodes; returns their end. */
function writeNodes(waiting: usize, to: usize): usize {
  store<u32>(waiting, <u32>nodes);
  let top = waiting + 4;
  while (top > waiting) {
    top -= 4;
    const node: usize = load<u32>(top);
    top = pushBelow(node, top);
    const label: usize = load<u32>(node, LABEL);
    const parent: usize = load<u32>(node, PARENT);
    if (parent !== NONE) writeEdge(parent, load<u8>(label - 1), to);
    const flagsAt = to;
    let flags: u32 = 0;
    const labelBytes = load<u32>(node, LABEL_BYTES);
    store<u8>(to, labelBytes, 1);
    to = copyShort(label, labelBytes, to + NODE_FIXED_BYTES);
    const edges = load<u32>(node, EDGES);
    if (edges > 0) {
      flags |= NODE_EDGES;
      store<u8>(to++, edges);
      store<u32>(node, <u32>to, EDGES_START);
      store<u32>(node, 0, EDGES_WRITTEN);
      to += edges;
      if (edges > 1) {
        const width = load<u32>(node, DISTANCE_WIDTH);
        flags |= width << NODE_DISTANCE_WIDTH_SHIFT;
        to += (edges - 1) << width;
      }
    }
    const rule: usize = load<u32>(node, RULE);
    if (rule !== NONE) {
      const form = load<u32>(node, FORM);
      if ((form & ~RULE_ALLOW) !== 0) flags |= NODE_RULE_OTHER;
      else flags |= form === 0 ? NODE_RULE_DISALLOW : NODE_RULE_ALLOW;
      to = writePrefixRule(rule, form, load<u32>(node, TEXT), to);
    }
    const from = blocksStart(node);
    const blockBytes = load<u32>(node, BLOCKS_END) - <u32>from;
    if (blockBytes > 0) {
      flags |= NODE_BLOCKS;
      if (edges > 0) to = appendNumber(to, blockBytes, offsetWidth);
      memory.copy(to, from, blockBytes);
      to += blockBytes;
    }
    store<u32>(node, <u32>to, FIRST_TARGET);
    store<u8>(flagsAt, flags);
  }
  return to;
}

/** Pushes the nodes below a node, the smallest subtree last; returns the end of the stack. */
function pushBelow(node: usize, top: usize): usize {
  let end = top;
  let below: usize = load<u32>(node, FIRST_BELOW);
  while (below !== NONE) {
    let at = end;
    end += 4;
    const own = load<u32>(below, BYTES);
    // Insertion sort: a node has at most as many children as there are bytes.
    for (; at > top; at -= 4) {
      const other: usize = load<u32>(at - 4);
      if (load<u32>(other, BYTES) > own) break;
      store<u32>(at, <u32>other);
    }
    store<u32>(at, <u32>below);
    below = load<u32>(below, NEXT);
  }
  return end;
}

/** Writes the next edge of a node, to `target`. */
function writeEdge(node: usize, byte: u32, target: usize): void {
  const edge = load<u32>(node, EDGES_WRITTEN);
  const edgesStart: usize = load<u32>(node, EDGES_START);
  store<u32>(node, edge + 1, EDGES_WRITTEN);
  store<u8>(edgesStart + edge, byte);
  if (edge === 0) return;
  const width = load<u32>(node, DISTANCE_WIDTH);
  const distances = edgesStart + load<u32>(node, EDGES);
  const distance = <u32>target - load<u32>(node, FIRST_TARGET);
  putNumber(distances + ((edge - 1) << width), distance, width);
}

/** Writes a prefix rule; `text` is the offset of a kept text. Returns its end. */
function writePrefixRule(item: usize, form: u32, text: u32, to: usize): usize {
  if ((form & ~RULE_ALLOW) !== 0) store<u8>(to++, form);
  to = appendNumber(to, load<u32>(item, ITEM_LINE) - firstLine, lineWidth);
  if ((form & RULE_LONGER) !== 0) to = appendNumber(to, surplusBytes(item), SURPLUS_WIDTH);
  if ((form & RULE_TEXT) !== 0) to = appendNumber(to, text, offsetWidth);
  return to;
}
