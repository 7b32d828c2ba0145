/** The buckets of a block, and their masks: docs/design.md. */

import { BLOCK_MASK_BYTES, MAX_BLOCK_RULES } from '../../../table/format';
import { ANY, COMPILE_BUCKETS, COMPILE_SHARES, SHARES_OF_SET } from '../../compile-layout';
import { chooseWindows, WINDOW_BYTES, WINDOW_WORDS } from './windows';

/** One bucket for each bit of a mask's entry. */
const BUCKETS = 8;

/**
 * For each byte of a window, a set of its low halves and a set of its high halves: bit n is value
 * n.
 */
const SETS = 2 * WINDOW_BYTES;
const FULL_SET: u32 = 0xffff;

/** Two windows, WINDOW_WORDS each. */
const BUCKETS_WINDOWS = 0;
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
export function dealBuckets(block: usize, items: usize, count: i32): i32 {
  const memory = block + COMPILE_BUCKETS;
  const windows = memory + BUCKETS_WINDOWS;
  for (let rule = 0; rule < count; rule++) {
    store<u8>(memory + rule, rule, BUCKETS_OF);
    store<u8>(memory + rule, 1, BUCKETS_RULES);
    const sets = setsOf(memory, rule);
    for (let set = 0; set < SETS; set++) store<u16>(sets + 2 * set, 0);
    const chosen = chooseWindows(block, load<u32>(items + 4 * rule), windows);
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
export function bitOfBucket(block: usize, rule: i32): u8 {
  const bucket: i32 = load<u8>(block + COMPILE_BUCKETS + rule, BUCKETS_OF);
  return <u8>((<i32>1) << bucket);
}

/** Writes the masks of the buckets: BLOCK_MASK_BYTES. */
export function writeMasks(block: usize, buckets: i32, to: usize): void {
  memory.fill(to, 0, BLOCK_MASK_BYTES);
  for (let bucket = 0; bucket < buckets; bucket++) {
    const bit = <u8>((<i32>1) << bucket);
    const sets = setsOf(block + COMPILE_BUCKETS, bucket);
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
function costOf(block: usize, memory: usize, a: i32, b: i32): f64 {
  const setsA = setsOf(memory, a);
  const setsB = setsOf(memory, b);
  const lowShares = block + COMPILE_SHARES;
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

function weigh(block: usize, memory: usize, a: i32, b: i32): void {
  const added = costOf(block, memory, a, b) - costOfBucket(memory, a) - costOfBucket(memory, b);
  store<f64>(joined(memory, min(a, b), max(a, b)), added);
}

function joinCheapest(block: usize, memory: usize, count: i32): void {
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
