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
import { KIND_PREFIX } from '../../compile-layout';
import { copyShort } from '../bytes';
import { maxBlockBytes, writeBlocks } from './blocks';
import {
  appendNumber,
  CompileBlock,
  claim,
  freeStart,
  Item,
  lineWidth,
  Node,
  offsetWidth,
  putNumber,
  setWidths,
  sizeWidth,
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
export function writeAutomaton(block: CompileBlock): usize {
  const bytes = plan(block);
  const textBytes = textsEnd - texts;
  // Each waiting node leads to a different rule.
  const waiting = claim(4 * (rules + 1));
  const start = claim(bytes);
  block.length = <u32>bytes;
  block.end = freeStart();
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
  store<usize>(waiting, nodes);
  let top = waiting + 4;
  while (top > waiting) {
    top -= 4;
    const node = load<Node>(top);
    top = pushBelow(node, top);
    const label = node.label;
    const parent = node.parent;
    if (parent !== null) writeEdge(parent, load<u8>(label - 1), to);
    const flagsAt = to;
    let flags: u32 = 0;
    const labelBytes = node.labelBytes;
    store<u8>(to, labelBytes, 1);
    to = copyShort(label, labelBytes, to + NODE_FIXED_BYTES);
    const edges = node.edges;
    if (edges > 0) {
      flags |= NODE_EDGES;
      store<u8>(to++, edges);
      node.edgesStart = to;
      node.edgesWritten = 0;
      to += edges;
      if (edges > 1) {
        const width = node.distanceWidth;
        flags |= width << NODE_DISTANCE_WIDTH_SHIFT;
        to += (edges - 1) << width;
      }
    }
    const rule = node.rule;
    if (rule !== null) {
      const form = node.form;
      if ((form & ~RULE_ALLOW) !== 0) flags |= NODE_RULE_OTHER;
      else flags |= form === 0 ? NODE_RULE_DISALLOW : NODE_RULE_ALLOW;
      to = writePrefixRule(rule, form, node.text, to);
    }
    const from = blocksStart(node);
    const blockBytes = node.blocksEnd - <u32>from;
    if (blockBytes > 0) {
      flags |= NODE_BLOCKS;
      if (edges > 0) to = appendNumber(to, blockBytes, offsetWidth);
      memory.copy(to, from, blockBytes);
      to += blockBytes;
    }
    node.firstTarget = <u32>to;
    store<u8>(flagsAt, flags);
  }
  return to;
}

/** Pushes the nodes below a node, the smallest subtree last; returns the end of the stack. */
function pushBelow(node: Node, top: usize): usize {
  let end = top;
  let below = node.firstBelow;
  while (below !== null) {
    let at = end;
    end += 4;
    const own = below.bytes;
    // Insertion sort: a node has at most as many children as there are bytes.
    for (; at > top; at -= 4) {
      const other = load<Node>(at - 4);
      if (other.bytes > own) break;
      store<Node>(at, other);
    }
    store<Node>(at, below);
    below = below.next;
  }
  return end;
}

/** Writes the next edge of a node, to `target`. */
function writeEdge(node: Node, byte: u32, target: usize): void {
  const edge = node.edgesWritten;
  const edgesStart = node.edgesStart;
  node.edgesWritten = edge + 1;
  store<u8>(edgesStart + edge, byte);
  if (edge === 0) return;
  const width = node.distanceWidth;
  const distances = edgesStart + node.edges;
  const distance = <u32>target - node.firstTarget;
  putNumber(distances + ((edge - 1) << width), distance, width);
}

/** Writes a prefix rule; `text` is the offset of a kept text. Returns its end. */
function writePrefixRule(item: Item, form: u32, text: u32, to: usize): usize {
  if ((form & ~RULE_ALLOW) !== 0) store<u8>(to++, form);
  to = appendNumber(to, item.line - firstLine, lineWidth);
  if ((form & RULE_LONGER) !== 0) to = appendNumber(to, surplusBytes(item), SURPLUS_WIDTH);
  if ((form & RULE_TEXT) !== 0) to = appendNumber(to, text, offsetWidth);
  return to;
}

// ---- Lays out an automaton: the place of each of its parts (table/format.ts).
//
// The rules are sorted by prefix, so the rules below a node are one range. All rules of a range
// share the common prefix of the first and the last rule. An explicit stack holds the waiting
// ranges, because a trie may be as deep as a body is long. Each byte of a label is read once, and
// each rule once for each node on its path, so the time is linear in the bytes of the rules.
//
// The nodes are laid out in pre-order. Then the lengths of the subtrees are summed up from the last
// node to the first, which gives the widths of the distances.

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
/** The waiting ranges. */
let ranges: usize = 0;
const RANGE_BYTES = 16;
/** The first rule of each edge, and the end of the last one's. */
let edgeLow: usize = 0;
/** Addresses of the items of a node's blocks. */
let blockItems: usize = 0;

/** A range of rules whose nodes are not planned yet: first rule, end, depth, and node above. */
@unmanaged
class Range {
  low: u32;
  high: u32;
  depth: u32;
  above: Node | null;
}

/** Plans the automaton of at least one rule; returns its length. */
function plan(block: CompileBlock): usize {
  nodes = claim(offsetof<Node>() * (2 * rules + 1 + allPrefixBytes / MAX_LABEL_BYTES + 1));
  ranges = claim(RANGE_BYTES * (rules + 1));
  edgeLow = claim(4 * (MAX_EDGES + 2));
  blockItems = claim(4 * rules);
  blocks = claim(maxBlockBytes());
  const textRoom = claim(allTextBytes);
  setWidths(lastLine - firstLine, greatestSize);
  keepTextsAt(textRoom);
  const bytes = planNodes(block);
  if (bytes <= MAX_NARROW_BYTES) return bytes;
  widenOffsets();
  keepTextsAt(textRoom);
  return planNodes(block);
}

/** Start of a node's blocks. */
function blocksStart(node: Node): usize {
  const at = changetype<usize>(node);
  return at === nodes ? blocks : changetype<Node>(at - offsetof<Node>()).blocksEnd;
}

/** The bytes by which the pattern of a prefix rule is longer than its prefix: stars at its end. */
function surplusBytes(item: Item): u32 {
  return (item.rank >>> 1) - <u32>prefixBytes(item);
}

/** Plans all nodes, writes blocks and texts; returns the length of the automaton. */
function planNodes(block: CompileBlock): usize {
  nodesEnd = nodes;
  blocksEnd = blocks;
  let waiting = ranges;
  push(waiting, 0, rules, 0, null);
  waiting += RANGE_BYTES;
  while (waiting > ranges) {
    waiting -= RANGE_BYTES;
    const range = changetype<Range>(waiting);
    const low = range.low;
    const high = range.high;
    let depth = range.depth;
    let above = range.above;
    const start = itemAt(low).start;
    const shared = sharedEnd(itemAt(low), itemAt(high - 1), depth);
    while (shared - depth > <u32>MAX_LABEL_BYTES) {
      const upper = addNode(above, start + depth, MAX_LABEL_BYTES);
      finishNode(upper, 1, null);
      above = upper;
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

function itemAt(index: u32): Item {
  return load<Item>(sorted + 4 * index);
}

function push(at: usize, low: u32, high: u32, depth: u32, above: Node | null): void {
  const range = changetype<Range>(at);
  range.low = low;
  range.high = high;
  range.depth = depth;
  range.above = above;
}

/** Length of the common prefix of two items that are equal up to `depth`. */
function sharedEnd(item: Item, last: Item, depth: u32): u32 {
  const bytes = prefixBytes(item);
  if (item === last) return <u32>bytes;
  const start = item.start;
  const other = last.start;
  const end = min(bytes, prefixBytes(last));
  for (let at: usize = depth; at < end; at += 8) {
    const difference = load<u64>(start + at) ^ load<u64>(other + at);
    if (difference !== 0) return <u32>min(end, at + <usize>(ctz(difference) >>> 3));
  }
  return <u32>end;
}

function addNode(parent: Node | null, label: usize, labelBytes: u32): Node {
  const node = changetype<Node>(nodesEnd);
  nodesEnd += offsetof<Node>();
  node.parent = parent;
  node.label = label;
  node.labelBytes = labelBytes;
  return node;
}

/** Completes a node, after its blocks have been written. */
function finishNode(node: Node, edges: u32, rule: Item | null): void {
  const blockBytes = <u32>(blocksEnd - blocksStart(node));
  node.edges = edges;
  node.rule = rule;
  node.blocksEnd = blocksEnd;
  node.below = 0;
  node.greatestBelow = 0;
  node.firstBelow = null;
  let bytes = NODE_FIXED_BYTES + node.labelBytes + blockBytes;
  if (edges > 0) bytes += 1 + edges + (blockBytes > 0 ? 1 << offsetWidth : 0);
  if (rule !== null) {
    const form = prefixForm(rule);
    node.form = form;
    bytes += (1 << lineWidth) + ((form & ~RULE_ALLOW) === 0 ? 0 : 1);
    if ((form & RULE_LONGER) !== 0) bytes += SURPLUS_BYTES;
    if ((form & RULE_TEXT) !== 0) {
      bytes += 1 << offsetWidth;
      node.text = keepText(rule);
    }
  }
  node.bytes = bytes;
}

/** The form of a prefix rule; RULE_ALLOW or 0 if the flags of its node suffice. */
function prefixForm(item: Item): u32 {
  const text = item.form;
  const form = text | ((item.rank & 1) !== 0 ? RULE_ALLOW : 0);
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
    const start = itemAt(index).start;
    const byte: i32 = load<u8>(start + depth);
    if (byte === previous) continue;
    previous = byte;
    if (edges === MAX_EDGES) unreachable();
    store<u32>(edgeLow + 4 * edges++, index);
  }
  store<u32>(edgeLow + 4 * edges, high);
  return edges;
}

/**
 * Writes the blocks of the rules from `low` to `high`; returns the prefix rule, if there is one.
 */
function planRules(block: CompileBlock, low: u32, high: u32): Item | null {
  if (low === high) return null;
  const item = itemAt(low);
  const isPrefix = item.kind === KIND_PREFIX;
  const from = isPrefix ? low + 1 : low;
  const count = high - from;
  if (count > 0) {
    memory.copy(blockItems, sorted + 4 * from, 4 * count);
    sort(blockItems, spare, count, true);
    blocksEnd = writeBlocks(block, blockItems, count, blocksEnd);
  }
  return isPrefix ? item : null;
}

/** Sums up the lengths of the subtrees; returns the length of the automaton. */
function sumUp(): usize {
  for (let at = nodesEnd - offsetof<Node>(); at >= nodes; at -= offsetof<Node>()) {
    const node = changetype<Node>(at);
    const below = node.below;
    const edges = node.edges;
    let bytes = node.bytes + below;
    if (edges > 1) {
      // Distances count from the first target; the last one is the greatest.
      const width = widthOf(below - node.greatestBelow);
      node.distanceWidth = width;
      bytes += (edges - 1) << width;
    }
    node.bytes = bytes;
    const parent = node.parent;
    if (parent === null) continue;
    parent.below = parent.below + bytes;
    if (bytes > parent.greatestBelow) parent.greatestBelow = bytes;
    node.next = parent.firstBelow;
    parent.firstBelow = node;
  }
  const textBytes = textsEnd - texts;
  const fields: u32 = textBytes > 0 ? 3 : 2;
  return 1 + (fields << offsetWidth) + changetype<Node>(nodes).bytes + textBytes;
}
