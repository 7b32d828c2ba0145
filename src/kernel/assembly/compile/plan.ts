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

import {
  MAX_LABEL_BYTES,
  NODE_FIXED_BYTES,
  RULE_ALLOW,
  RULE_LONGER,
  RULE_STAR,
  RULE_TEXT,
  SURPLUS_BYTES,
} from '../../../table/format';
import { ITEM_FORM, ITEM_KIND, ITEM_RANK, ITEM_START, KIND_PREFIX } from '../../compile-layout';
import { maxBlockBytes, writeBlocks } from './blocks';
import { prefixBytes } from './item';
import {
  BELOW,
  BLOCKS_END,
  BYTES,
  DISTANCE_WIDTH,
  EDGES,
  FIRST_BELOW,
  FORM,
  GREATEST_BELOW,
  LABEL,
  LABEL_BYTES,
  NEXT,
  NODE_BYTES,
  NONE,
  PARENT,
  RULE,
  TEXT,
} from './node';
import {
  allPrefixBytes,
  allTextBytes,
  firstLine,
  greatestSize,
  lastLine,
  rules,
  sorted,
  spare,
} from './rules';
import { sort } from './sort';
import { keepText, keepTextsAt, texts, textsEnd } from './text';
import { lineWidth, offsetWidth, setWidths, widenOffsets, widthOf } from './widths';
import { claim, freeStart } from './work-memory';

/** Maximum number of edges of a node: one for each byte, and fewer than 255 bytes are canonical. */
const MAX_EDGES = 255;

/** Maximum length of an automaton with offsets of two bytes. */
const MAX_NARROW_BYTES: usize = 0xffff;

/** The nodes, the root first. */
export let nodes: usize = 0;
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
export function plan(block: usize): usize {
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
export function blocksStart(node: usize): usize {
  return node === nodes ? blocks : <usize>load<u32>(node - NODE_BYTES, BLOCKS_END);
}

/** The bytes by which the pattern of a prefix rule is longer than its prefix: stars at its end. */
export function surplusBytes(item: usize): u32 {
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
