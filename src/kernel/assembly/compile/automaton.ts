/**
 * Writes automata (table/format.ts). Nodes are in pre-order, and the smallest subtree of a node
 * comes first. Most targets of edges are therefore close, often in the same cache line.
 */

import {
  AUTOMATON_SIZE_WIDTH_SHIFT,
  AUTOMATON_TEXTS,
  AUTOMATON_WIDE,
  MAX_LABEL_BYTES,
  NODE_BLOCKS,
  NODE_DISTANCE_WIDTH_SHIFT,
  NODE_EDGES,
  NODE_FIXED_BYTES,
  NODE_RULE_ALLOW,
  NODE_RULE_DISALLOW,
  NODE_RULE_OTHER,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_STAR,
  RULE_TEXT,
  SURPLUS_BYTES,
} from '../../../table/format';
import {
  COMPILE_END,
  COMPILE_LENGTH,
  ITEM_FORM,
  ITEM_KIND,
  ITEM_LINE,
  ITEM_RANK,
  ITEM_START,
  KIND_PREFIX,
} from '../../compile-layout';
import { copyShort } from '../bytes';
import { maxBlockBytes, writeBlocks } from './blocks';
import {
  appendNumber,
  BELOW,
  BLOCKS_END,
  BYTES,
  claim,
  DISTANCE_WIDTH,
  EDGES,
  EDGES_START,
  EDGES_WRITTEN,
  FIRST_BELOW,
  FIRST_TARGET,
  FORM,
  freeStart,
  GREATEST_BELOW,
  LABEL,
  LABEL_BYTES,
  lineWidth,
  NEXT,
  NODE_BYTES,
  NONE,
  offsetWidth,
  PARENT,
  putNumber,
  RULE,
  setWidths,
  sizeWidth,
  TEXT,
  WIDE,
  widenOffsets,
  widthOf,
} from './memory';
import { keepText, keepTextsAt, prefixBytes, texts, textsEnd } from './patterns';
import {
  allPrefixBytes,
  allTextBytes,
  firstLine,
  greatestSize,
  lastLine,
  rules,
  sort,
  sorted,
  spare,
} from './rules';

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

/**
 * Lays out an automaton: the place of each of its parts (table/format.ts).
 *
 * The rules are sorted by prefix, so the rules below a node are one range. All rules of a range
 * share the common prefix of the first and the last rule. An explicit stack holds the waiting
 * ranges, because a trie may be as deep as a body is long. Each byte of a label is read once, and
 * each rule once for each node on its path, so the time is linear in the bytes of the rules.
 *
 * The nodes are laid out in pre-order. Then the lengths of the subtrees are summed up from the last
 * node to the first, which gives the widths of the distances.
 */

/** Maximum number of edges of a node: one for each byte, and fewer than 255 bytes are canonical. */
const MAX_EDGES = 255;

/** Maximum length of an automaton with offsets of two bytes. */
const MAX_NARROW_BYTES: usize = 0xffff;

/** The nodes, the root first. */
let nodes: usize = 0;
let nodesEnd: usize = 0;
/** The blocks of all nodes, in order. */
let blocks: usize = 0;
let blocksEnd: usize = 0;
/** The waiting ranges: first rule, end, depth and parent node, a word each. */
let ranges: usize = 0;
const RANGE_BYTES = 16;
/** The first rule of each edge, and the end of the last one's. */
let edgeLow: usize = 0;
/** Addresses of the items of a node's blocks. */
let blockItems: usize = 0;

/** Plans the automaton of at least one rule; returns its length. */
function plan(block: usize): usize {
  nodes = claim(NODE_BYTES * (2 * rules + 1 + allPrefixBytes / MAX_LABEL_BYTES + 1));
  ranges = claim(RANGE_BYTES * (rules + 1));
  edgeLow = claim(4 * (MAX_EDGES + 2));
  blockItems = claim(4 * rules);
  blocks = claim(maxBlockBytes());
  const texts = claim(allTextBytes);
  setWidths(lastLine - firstLine, greatestSize);
  keepTextsAt(texts);
  const bytes = planNodes(block);
  if (bytes <= MAX_NARROW_BYTES) return bytes;
  widenOffsets();
  keepTextsAt(texts);
  return planNodes(block);
}

/** Start of a node's blocks. */
function blocksStart(node: usize): usize {
  return node === nodes ? blocks : <usize>load<u32>(node - NODE_BYTES, BLOCKS_END);
}

/** The bytes by which the pattern of a prefix rule is longer than its prefix: stars at its end. */
function surplusBytes(item: usize): u32 {
  return (load<u32>(item, ITEM_RANK) >>> 1) - <u32>prefixBytes(item);
}

/** Plans all nodes, writes blocks and texts; returns the length of the automaton. */
function planNodes(block: usize): usize {
  nodesEnd = nodes;
  blocksEnd = blocks;
  let waiting = ranges;
  push(waiting, 0, rules, 0, NONE);
  waiting += RANGE_BYTES;
  while (waiting > ranges) {
    waiting -= RANGE_BYTES;
    const low = load<u32>(waiting);
    const high = load<u32>(waiting, 4);
    let depth = load<u32>(waiting, 8);
    let above: usize = load<u32>(waiting, 12);
    const start = load<u32>(itemAt(low), ITEM_START);
    const shared = sharedEnd(itemAt(low), itemAt(high - 1), depth);
    while (shared - depth > <u32>MAX_LABEL_BYTES) {
      above = addNode(above, start + depth, MAX_LABEL_BYTES);
      finishNode(above, 1, NONE);
      depth += MAX_LABEL_BYTES + 1;
    }
    const node = addNode(above, start + depth, shared - depth);
    let deeper = low;
    while (deeper < high && prefixBytes(itemAt(deeper)) === shared) deeper++;
    const edges = deeper === high ? 0 : findEdges(deeper, high, shared);
    for (let edge = edges - 1; edge >= 0; edge--) {
      const below = edgeLow + 4 * edge;
      push(waiting, load<u32>(below), load<u32>(below, 4), shared + 1, node);
      waiting += RANGE_BYTES;
    }
    finishNode(node, edges, planRules(block, low, deeper));
  }
  // A part that is longer than its bound has overwritten the next one.
  if (nodesEnd > ranges || blocksEnd > texts || textsEnd > freeStart()) unreachable();
  return sumUp();
}

function itemAt(index: u32): usize {
  return load<u32>(sorted + 4 * index);
}

function push(range: usize, low: u32, high: u32, depth: u32, above: usize): void {
  store<u32>(range, low);
  store<u32>(range, high, 4);
  store<u32>(range, depth, 8);
  store<u32>(range, <u32>above, 12);
}

/** Length of the common prefix of two items that are equal up to `depth`. */
function sharedEnd(item: usize, last: usize, depth: u32): u32 {
  const bytes = prefixBytes(item);
  if (item === last) return <u32>bytes;
  const start: usize = load<u32>(item, ITEM_START);
  const other: usize = load<u32>(last, ITEM_START);
  const end = min(bytes, prefixBytes(last));
  for (let at: usize = depth; at < end; at += 8) {
    const difference = load<u64>(start + at) ^ load<u64>(other + at);
    if (difference !== 0) return <u32>min(end, at + <usize>(ctz(difference) >>> 3));
  }
  return <u32>end;
}

function addNode(parent: usize, label: usize, labelBytes: u32): usize {
  const node = nodesEnd;
  nodesEnd += NODE_BYTES;
  store<u32>(node, <u32>parent, PARENT);
  store<u32>(node, <u32>label, LABEL);
  store<u32>(node, labelBytes, LABEL_BYTES);
  return node;
}

/** Completes a node, after its blocks have been written. */
function finishNode(node: usize, edges: u32, rule: usize): void {
  const blockBytes = <u32>(blocksEnd - blocksStart(node));
  store<u32>(node, edges, EDGES);
  store<u32>(node, <u32>rule, RULE);
  store<u32>(node, <u32>blocksEnd, BLOCKS_END);
  store<u32>(node, 0, BELOW);
  store<u32>(node, 0, GREATEST_BELOW);
  store<u32>(node, <u32>NONE, FIRST_BELOW);
  let bytes = NODE_FIXED_BYTES + load<u32>(node, LABEL_BYTES) + blockBytes;
  if (edges > 0) bytes += 1 + edges + (blockBytes > 0 ? 1 << offsetWidth : 0);
  if (rule !== NONE) {
    const form = prefixForm(rule);
    store<u32>(node, form, FORM);
    bytes += (1 << lineWidth) + ((form & ~RULE_ALLOW) === 0 ? 0 : 1);
    if ((form & RULE_LONGER) !== 0) bytes += SURPLUS_BYTES;
    if ((form & RULE_TEXT) !== 0) {
      bytes += 1 << offsetWidth;
      store<u32>(node, keepText(rule), TEXT);
    }
  }
  store<u32>(node, bytes, BYTES);
}

/** The form of a prefix rule; RULE_ALLOW or 0 if the flags of its node suffice. */
function prefixForm(item: usize): u32 {
  const text = load<u32>(item, ITEM_FORM);
  const form = text | ((load<u32>(item, ITEM_RANK) & 1) !== 0 ? RULE_ALLOW : 0);
  if (text !== RULE_TEXT) return form;
  const surplus = surplusBytes(item);
  if (surplus === 0) return form;
  return form | (surplus === 1 ? RULE_STAR : RULE_LONGER);
}

/** Splits the rules from `low` to `high` by their byte at `depth`; returns the number of edges. */
function findEdges(low: u32, high: u32, depth: usize): i32 {
  let edges = 0;
  let previous = -1;
  for (let index = low; index < high; index++) {
    const start: usize = load<u32>(itemAt(index), ITEM_START);
    const byte: i32 = load<u8>(start + depth);
    if (byte === previous) continue;
    previous = byte;
    if (edges === MAX_EDGES) unreachable();
    store<u32>(edgeLow + 4 * edges++, index);
  }
  store<u32>(edgeLow + 4 * edges, high);
  return edges;
}

/** Writes the blocks of the rules from `low` to `high`; returns the prefix rule, or NONE. */
function planRules(block: usize, low: u32, high: u32): usize {
  if (low === high) return NONE;
  const item = itemAt(low);
  const isPrefix = load<u32>(item, ITEM_KIND) === KIND_PREFIX;
  const from = isPrefix ? low + 1 : low;
  const count = high - from;
  if (count > 0) {
    memory.copy(blockItems, sorted + 4 * from, 4 * count);
    sort(blockItems, spare, count, true);
    blocksEnd = writeBlocks(block, blockItems, count, blocksEnd);
  }
  return isPrefix ? item : NONE;
}

/** Sums up the lengths of the subtrees; returns the length of the automaton. */
function sumUp(): usize {
  for (let node = nodesEnd - NODE_BYTES; node >= nodes; node -= NODE_BYTES) {
    const below = load<u32>(node, BELOW);
    const edges = load<u32>(node, EDGES);
    let bytes = load<u32>(node, BYTES) + below;
    if (edges > 1) {
      // Distances count from the first target; the last one is the greatest.
      const width = widthOf(below - load<u32>(node, GREATEST_BELOW));
      store<u32>(node, width, DISTANCE_WIDTH);
      bytes += (edges - 1) << width;
    }
    store<u32>(node, bytes, BYTES);
    const parent: usize = load<u32>(node, PARENT);
    if (parent === NONE) continue;
    store<u32>(parent, load<u32>(parent, BELOW) + bytes, BELOW);
    if (bytes > load<u32>(parent, GREATEST_BELOW)) store<u32>(parent, bytes, GREATEST_BELOW);
    store<u32>(node, load<u32>(parent, FIRST_BELOW), NEXT);
    store<u32>(parent, <u32>node, FIRST_BELOW);
  }
  const textBytes = textsEnd - texts;
  const fields: u32 = textBytes > 0 ? 3 : 2;
  return 1 + (fields << offsetWidth) + load<u32>(nodes, BYTES) + textBytes;
}
