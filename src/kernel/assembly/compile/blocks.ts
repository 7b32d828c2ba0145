/** Writing the blocks of a node: its rules other than the prefix rule. Layout: table/format.ts. */

import {
  BLOCK_FOLLOWED,
  BLOCK_MASK_BYTES,
  BLOCK_MASKS,
  BLOCK_WIDE,
  MAX_BLOCK_RULES,
  RULE_END,
  RULE_IN_BLOCK,
  RULE_SINGLE,
  RULE_TEXT,
  RULE_TWO_FORMS,
} from '../../../table/format';
import { ANY, KIND_END, KIND_WILDCARDS_END, SHARES_OF_SET } from '../../compile-layout';
import {
  appendNumber,
  CompileBlock,
  Item,
  lineWidth,
  offsetWidth,
  putNumber,
  sizeWidth,
} from './memory';
import { first, firstEnd, keepText, nextSegment, second, secondEnd } from './patterns';
import { allSegmentBytes, allSegments, blockRules, firstLine } from './rules';

/**
 * Minimum number of rules for masks: trying fewer rules costs no more than searching for windows.
 */
const MIN_MASKED_RULES: u32 = 4;

/** The buckets of a rule without segments, and so without windows. */
const ALL_BUCKETS = 255;

/**
 * Maximum length of a block without its rules (first byte, masks, offset), and of a rule without
 * its segments, but with its bucket and place.
 */
const BLOCK_BYTES = 1 + BLOCK_MASK_BYTES + 4;
const RULE_BYTES = 1 + 4 + 4 + 4 + 1 + 4 + 4;

/** An upper bound on the length of all blocks; each segment may be written in two forms. */
export function maxBlockBytes(): usize {
  return blockRules * (BLOCK_BYTES + RULE_BYTES) + 8 * allSegments + 2 * allSegmentBytes;
}

/**
 * Writes the blocks of items, by descending rank and ascending line; returns their end.
 *
 * @param items addresses of the items
 */
export function writeBlocks(block: CompileBlock, items: usize, count: u32, to: usize): usize {
  for (let low: u32 = 0; low < count; low += MAX_BLOCK_RULES) {
    const rules = min<u32>(count - low, MAX_BLOCK_RULES);
    const isFollowed = low + rules < count;
    to = writeBlock(block, items + 4 * low, rules, isFollowed, to);
  }
  return to;
}

function writeBlock(
  block: CompileBlock,
  items: usize,
  rules: u32,
  isFollowed: bool,
  to: usize,
): usize {
  const head = to++;
  let flags = (rules - 1) | (isFollowed ? BLOCK_FOLLOWED : 0);
  if (rules < MIN_MASKED_RULES) {
    store<u8>(head, flags);
    for (let index: u32 = 0; index < rules; index++) {
      to = writeRule(load<Item>(items + 4 * index), to);
    }
    return to;
  }
  const buckets = dealBuckets(block, items, rules);
  writeMasks(block, buckets, to);
  to += BLOCK_MASK_BYTES;
  for (let index: u32 = 0; index < rules; index++) {
    const item = load<Item>(items + 4 * index);
    const hasWindow = item.segments !== 0;
    store<u8>(to++, hasWindow ? bitOfBucket(block, index) : ALL_BUCKETS);
  }
  const length = to;
  if (isFollowed) to += (<usize>1) << offsetWidth;
  const places = to;
  // Rules are written after room for the widest places, then moved to where the places end.
  const firstRule = places + 4 * rules;
  let rule = firstRule;
  for (let index: u32 = 0; index < rules; index++) {
    store<u32>(places + 4 * index, <u32>(rule - firstRule));
    rule = writeRule(load<Item>(items + 4 * index), rule);
  }
  const isWide = load<u32>(places + 4 * (rules - 1)) > 0xff;
  const width = isWide ? offsetWidth : 0;
  // A place never ends after the word that it is read from.
  for (let index: u32 = 0; index < rules; index++) {
    const place = load<u32>(places + 4 * index);
    putNumber(to, place, width);
    to += (<usize>1) << width;
  }
  memory.copy(to, firstRule, rule - firstRule);
  to += rule - firstRule;
  if (isFollowed) putNumber(length, <u32>(to - places), offsetWidth);
  if (isWide) flags |= BLOCK_WIDE;
  store<u8>(head, flags | BLOCK_MASKS);
  return to;
}

/** Writes a wildcard rule; returns its end. */
function writeRule(item: Item, start: usize): usize {
  const segments = item.segments;
  const twoForms = item.twoForms !== 0;
  const kind = item.kind;
  const text = item.form;
  const isSingle = segments === 1 && !twoForms;
  const size = appendNumber(start, item.rank, sizeWidth);
  const form = size + ((<usize>1) << sizeWidth);
  let flags = RULE_IN_BLOCK | text;
  if (kind === KIND_END || kind === KIND_WILDCARDS_END) flags |= RULE_END;
  if (twoForms) flags |= RULE_TWO_FORMS;
  if (isSingle) flags |= RULE_SINGLE;
  store<u8>(form, flags);
  let to = appendNumber(form + 1, item.line - firstLine, lineWidth);
  if (text === RULE_TEXT) to = appendNumber(to, keepText(item), offsetWidth);
  let segment = item.prefixEnd;
  for (let left = segments; left > 0; left--) {
    segment = nextSegment(item, segment);
    if (!isSingle) to = appendNumber(to, <u32>(firstEnd - first), sizeWidth);
    to = append(first, firstEnd, to);
    if (!twoForms) continue;
    const other = second === 0 ? first : second;
    const otherEnd = second === 0 ? firstEnd : secondEnd;
    to = append(other, otherEnd, appendNumber(to, <u32>(otherEnd - other), sizeWidth));
  }
  putNumber(size, <u32>(to - form), sizeWidth);
  return to;
}

function append(from: usize, end: usize, to: usize): usize {
  memory.copy(to, from, end - from);
  return to + (end - from);
}

// ---- The buckets of a block, and their masks: docs/design.md

/** One bucket for each bit of a mask's entry. */
const BUCKETS = 8;

/** Bytes of a window. */
const WINDOW_BYTES = 3;

/**
 * For each byte of a window, a set of its low halves and a set of its high halves: bit n is value
 * n.
 */
const SETS = 2 * WINDOW_BYTES;
const FULL_SET: u32 = 0xffff;

/** Two windows, WINDOW_WORDS each. */
const BUCKETS_WINDOWS = 0;
const WORD = 4;
/** A window: WINDOW_BYTES words. */
const WINDOW_WORDS = WINDOW_BYTES * WORD;
/** For each rule u8 its bucket, and for each bucket u8 the number of its rules. */
const BUCKETS_OF = BUCKETS_WINDOWS + 2 * WINDOW_WORDS;
const BUCKETS_RULES = BUCKETS_OF + MAX_BLOCK_RULES;
/** For each bucket u16[SETS]. */
const BUCKETS_SETS = BUCKETS_RULES + MAX_BLOCK_RULES;
const SETS_BYTES = 2 * SETS;
/** f64: the cost of each bucket. */
const BUCKETS_COST = (BUCKETS_SETS + MAX_BLOCK_RULES * SETS_BYTES + 7) & -8;
/** f64: the cost added by joining two buckets, the lower number first. */
const BUCKETS_JOINED = BUCKETS_COST + 8 * MAX_BLOCK_RULES;

/**
 * Deals the `count` rules of a block into at most BUCKETS buckets, so that rules with similar
 * windows share one; returns the number of buckets.
 *
 * Starts with one bucket for each rule. While there are too many buckets, joins the two whose union
 * adds least to the cost. The cost is the expected number of rules that are tried in vain: for each
 * bucket, its number of rules times the share of windows that its masks pass. All pairs are
 * weighed, because a block is small.
 *
 * @param items addresses of the rules' items
 */
function dealBuckets(block: CompileBlock, items: usize, count: i32): i32 {
  const memory = block.buckets;
  const windows = memory + BUCKETS_WINDOWS;
  for (let rule = 0; rule < count; rule++) {
    store<u8>(memory + rule, rule, BUCKETS_OF);
    store<u8>(memory + rule, 1, BUCKETS_RULES);
    const sets = setsOf(memory, rule);
    for (let set = 0; set < SETS; set++) store<u16>(sets + 2 * set, 0);
    const chosen = chooseWindows(block, load<Item>(items + 4 * rule), windows);
    for (let window = 0; window < chosen; window++) {
      addWindow(sets, windows + WINDOW_WORDS * window);
    }
    store<f64>(memory + 8 * rule, costOf(block, memory, rule, rule), BUCKETS_COST);
  }
  if (count <= BUCKETS) return count;
  for (let a = 0; a < count; a++) {
    for (let b = a + 1; b < count; b++) weigh(block, memory, a, b);
  }
  for (let left = count; left > BUCKETS; left--) joinCheapest(block, memory, count);
  return renumber(memory, count);
}

/** The bit of a rule's bucket after `dealBuckets`. */
function bitOfBucket(block: CompileBlock, rule: i32): u8 {
  const bucket: i32 = load<u8>(block.buckets + rule, BUCKETS_OF);
  return <u8>((<i32>1) << bucket);
}

/** Writes the masks of the buckets: BLOCK_MASK_BYTES. */
function writeMasks(block: CompileBlock, buckets: i32, to: usize): void {
  memory.fill(to, 0, BLOCK_MASK_BYTES);
  for (let bucket = 0; bucket < buckets; bucket++) {
    const bit = <u8>((<i32>1) << bucket);
    const sets = setsOf(block.buckets, bucket);
    for (let set = 0; set < SETS; set++) {
      for (let values: u32 = load<u16>(sets + 2 * set); values !== 0; values &= values - 1) {
        const entry = to + 16 * set + ctz(values);
        store<u8>(entry, load<u8>(entry) | bit);
      }
    }
  }
}

function setsOf(memory: usize, bucket: i32): usize {
  return memory + BUCKETS_SETS + SETS_BYTES * bucket;
}

function addWindow(sets: usize, window: usize): void {
  for (let place = 0; place < WINDOW_BYTES; place++) {
    const byte = load<u32>(window + 4 * place);
    const low = byte === ANY ? FULL_SET : 1 << (byte & 15);
    const high = byte === ANY ? FULL_SET : 1 << (byte >> 4);
    const set = sets + 4 * place;
    store<u16>(set, load<u16>(set) | low);
    store<u16>(set, load<u16>(set, 2) | high, 2);
  }
}

/** The cost of the union of two buckets, or of one. */
function costOf(block: CompileBlock, memory: usize, a: i32, b: i32): f64 {
  const setsA = setsOf(memory, a);
  const setsB = setsOf(memory, b);
  const lowShares = block.shares;
  let share: f64 = 1;
  for (let place = 0; place < WINDOW_BYTES; place++) {
    const low = setsA + 4 * place;
    const other = setsB + 4 * place;
    share *= shareOfSet(lowShares, load<u16>(low) | load<u16>(other));
    share *= shareOfSet(lowShares + 2 * SHARES_OF_SET, load<u16>(low, 2) | load<u16>(other, 2));
  }
  const rules = <i32>load<u8>(memory + a, BUCKETS_RULES);
  return share * <f64>(a === b ? rules : rules + <i32>load<u8>(memory + b, BUCKETS_RULES));
}

function shareOfSet(shares: usize, set: u32): f64 {
  return load<f64>(shares + 8 * (set & 255)) + load<f64>(shares + SHARES_OF_SET + 8 * (set >> 8));
}

function joined(memory: usize, a: i32, b: i32): usize {
  return memory + BUCKETS_JOINED + 8 * (a * MAX_BLOCK_RULES + b);
}

function costOfBucket(memory: usize, bucket: i32): f64 {
  return load<f64>(memory + 8 * bucket, BUCKETS_COST);
}

function weigh(block: CompileBlock, memory: usize, a: i32, b: i32): void {
  const added = costOf(block, memory, a, b) - costOfBucket(memory, a) - costOfBucket(memory, b);
  store<f64>(joined(memory, min(a, b), max(a, b)), added);
}

function joinCheapest(block: CompileBlock, memory: usize, count: i32): void {
  let least = Infinity;
  let into = 0;
  let from = 0;
  for (let a = 0; a < count; a++) {
    if (load<u8>(memory + a, BUCKETS_RULES) === 0) continue;
    for (let b = a + 1; b < count; b++) {
      const added = load<f64>(joined(memory, a, b));
      if (added >= least || load<u8>(memory + b, BUCKETS_RULES) === 0) continue;
      least = added;
      into = a;
      from = b;
    }
  }
  const sets = setsOf(memory, into);
  const others = setsOf(memory, from);
  for (let at: usize = 0; at < <usize>SETS_BYTES; at += 2) {
    store<u16>(sets + at, load<u16>(sets + at) | load<u16>(others + at));
  }
  const rules = memory + BUCKETS_RULES;
  store<u8>(rules + into, load<u8>(rules + into) + load<u8>(rules + from));
  store<u8>(rules + from, 0);
  store<f64>(memory + 8 * into, costOf(block, memory, into, into), BUCKETS_COST);
  for (let rule = 0; rule < count; rule++) {
    if (load<u8>(memory + rule, BUCKETS_OF) === from) store<u8>(memory + rule, into, BUCKETS_OF);
    if (rule !== into && load<u8>(rules + rule) !== 0) weigh(block, memory, into, rule);
  }
}

/** Renumbers the remaining buckets from 0; returns their number. */
function renumber(memory: usize, count: i32): i32 {
  let next = 0;
  for (let bucket = 0; bucket < count; bucket++) {
    if (load<u8>(memory + bucket, BUCKETS_RULES) === 0) continue;
    copySets(setsOf(memory, bucket), setsOf(memory, next));
    for (let rule = 0; rule < count; rule++) {
      if (load<u8>(memory + rule, BUCKETS_OF) === bucket)
        store<u8>(memory + rule, next, BUCKETS_OF);
    }
    next++;
  }
  return next;
}

function copySets(from: usize, to: usize): void {
  store<u64>(to, load<u64>(from));
  store<u32>(to, load<u32>(from, 8), 8);
}

/** The windows of wildcard rules: docs/design.md. */

let best = -1;

/**
 * Chooses the windows of an item; returns their number. A window is three consecutive bytes that
 * every matching text contains; the last ones are ANY if the segment is shorter. The rarest is
 * chosen. An item has two windows, one for each form, if all its segments have a second form: the
 * text decides which form of a segment it holds, so either window may be the one there. An item
 * without segments has none.
 */
function chooseWindows(block: CompileBlock, item: Item, windows: usize): i32 {
  best = -1;
  const segments = item.segments;
  const prefixEnd = item.prefixEnd;
  let segment = prefixEnd;
  for (let left = segments; left > 0; left--) {
    segment = nextSegment(item, segment);
    if (second === 0) consider(block, first, firstEnd, windows);
  }
  if (best >= 0) return 1;
  if (segments === 0) return 0;
  nextSegment(item, prefixEnd);
  consider(block, first, firstEnd, windows);
  best = -1;
  consider(block, second, secondEnd, windows + WINDOW_WORDS);
  return 2;
}

function consider(block: CompileBlock, from: usize, end: usize, window: usize): void {
  const rarities = block.rarity;
  for (let at = from; at === from || at + WINDOW_BYTES <= end; at++) {
    const a: u32 = load<u8>(at);
    const b: u32 = at + 1 < end ? <u32>load<u8>(at, 1) : ANY;
    const c: u32 = at + 2 < end ? <u32>load<u8>(at, 2) : ANY;
    const rarity =
      <i32>load<u8>(rarities + a) + <i32>load<u8>(rarities + b) + <i32>load<u8>(rarities + c);
    if (rarity <= best) continue;
    best = rarity;
    store<u32>(window, a);
    store<u32>(window, b, WORD);
    store<u32>(window, c, 2 * WORD);
  }
}
