/** The rules of a group, loaded and sorted. */

import { DOLLAR, SLASH } from '../../../base/ascii';
import { RULE_TEXT, TEXT_LENGTH_BYTES } from '../../../table/format';
import {
  COMPILE_DIRECTORIES,
  COMPILE_GOOGLE,
  KIND_PREFIX,
  PLACE_BYTES,
} from '../../compile-layout';
import { elementOf, nextOf } from '../memory';
import { CompileBlock, claim, endPart, freeAll, freeStart, Item, Place, reserve } from './memory';
import { prefixBytes, readPattern, textForm, textOf } from './patterns';

/** Addresses of the items that remain, in their order, and of as much spare memory. */
export let sorted: usize = 0;
export let spare: usize = 0;
/** Their number. */
export let rules: u32 = 0;
export let firstLine: u32 = 0;
export let lastLine: u32 = 0;
/** Sums over the items that remain. */
export let allPrefixBytes: usize = 0;
export let allTextBytes: usize = 0;
/** Of the items that have more than a prefix: their number, segments, bytes, greatest `size`. */
export let blockRules: usize = 0;
export let allSegments: usize = 0;
export let allSegmentBytes: usize = 0;
export let greatestSize: u32 = 0;

/** The beginning of a last path segment that also stands for its directory: `/index.htm`. */
const INDEX_FIRST: u32 = 0x646e_692f;
const INDEX_SECOND: u32 = 0x682e_7865;
const INDEX_THIRD: u16 = 0x6d74;
const INDEX_BYTES: usize = 10;

/**
 * Loads the rules of a group, in the order of the file, and omits rules that can match nothing.
 * Among those that match the same texts only the deciding one remains: most bytes, then allow, then
 * the first line (RFC 9309 section 2.2.2). The others could never decide.
 *
 * @param flags COMPILE_GOOGLE, COMPILE_DIRECTORIES
 * @returns the number of items whose text the kernel's host must write: ITEM_TEXT_BYTES is 0
 */
export function loadRules(
  block: CompileBlock,
  text: usize,
  places: usize,
  count: u32,
  flags: u32,
): u32 {
  const google = (flags & COMPILE_GOOGLE) !== 0;
  const directories = (flags & COMPILE_DIRECTORIES) !== 0;
  freeAll(places + PLACE_BYTES * count);
  // In the google profile an allow rule may become two items.
  const most = directories ? 2 * count : count;
  sorted = claim(4 * most);
  spare = claim(4 * most);
  const items = claim(offsetof<Item>() * most);
  claim(0);
  let item = changetype<Item>(items);
  let loaded: u32 = 0;
  for (let index: u32 = 0; index < count; index++) {
    const place = elementOf(changetype<Place>(places), index);
    const from = text + place.start;
    const end = text + place.end;
    const lineAndAllow = place.lineAndAllow;
    const allow = lineAndAllow & 1;
    if (readPattern(item, from, end, allow, google)) {
      addItem(item, loaded++, from, end, lineAndAllow >>> 1);
      item = nextOf(item);
    }
    if (directories && allow !== 0 && readDirectory(item, from, end)) {
      addItem(item, loaded++, from, end, lineAndAllow >>> 1);
      item = nextOf(item);
    }
  }
  sort(sorted, spare, loaded, false);
  const unwritten = keepDeciding(loaded, google);
  block.rules = rules;
  block.firstLine = firstLine;
  block.lastLine = lastLine;
  block.items = sorted;
  block.loaded = items;
  block.loadedItems = loaded;
  block.end = freeStart();
  return unwritten;
}

function addItem(item: Item, index: u32, from: usize, end: usize, line: u32): void {
  store<Item>(sorted + 4 * index, item);
  item.line = line;
  item.written = from;
  item.writtenEnd = end;
}

/**
 * Reads the second pattern of an allow rule in the google profile whose last path segment starts
 * with `/index.htm`. That pattern matches the directory: `/a/$` for `/a/index.html`
 * (docs/verdicts.md, google profile, point 10). It has its own specificity, so it ranks as a
 * separate rule. If both match, the longer one decides.
 */
function readDirectory(item: Item, from: usize, end: usize): bool {
  let slash = end;
  do {
    if (slash === from) return false;
    slash--;
  } while (load<u8>(slash) !== SLASH);
  if (end - slash < INDEX_BYTES) return false;
  if (load<u32>(slash) !== INDEX_FIRST || load<u32>(slash, 4) !== INDEX_SECOND) return false;
  if (load<u16>(slash, 8) !== INDEX_THIRD) return false;
  const bytes = slash + 1 - from;
  const copy = freeStart();
  reserve(copy, bytes + 1);
  memory.copy(copy, from, bytes);
  store<u8>(copy + bytes, DOLLAR);
  endPart(copy + bytes + 1);
  return readPattern(item, copy, copy + bytes + 1, 1, true);
}

/** Keeps the first item of each run that matches the same texts; sums up what remains. */
function keepDeciding(loaded: u32, google: bool): u32 {
  rules = 0;
  firstLine = 0xffff_ffff;
  lastLine = 0;
  allPrefixBytes = 0;
  allTextBytes = 0;
  blockRules = 0;
  allSegments = 0;
  allSegmentBytes = 0;
  greatestSize = 0;
  let unwritten: u32 = 0;
  let last: Item | null = null;
  for (let index: u32 = 0; index < loaded; index++) {
    const item = load<Item>(sorted + 4 * index);
    if (last !== null && matchesTheSame(last, item)) continue;
    last = item;
    store<Item>(sorted + 4 * rules++, item);
    const line = item.line;
    firstLine = min(firstLine, line);
    lastLine = max(lastLine, line);
    allPrefixBytes += prefixBytes(item);
    const form = textForm(item, google);
    item.form = form;
    if (form === RULE_TEXT) {
      if (!textOf(item)) unwritten++;
      allTextBytes += TEXT_LENGTH_BYTES + item.textBytes;
    }
    if (item.kind === KIND_PREFIX) continue;
    blockRules++;
    allSegments += item.segments;
    allSegmentBytes += item.end - item.prefixEnd;
    greatestSize = max(greatestSize, item.size);
  }
  return unwritten;
}

/**
 * Stores the text of a rule, which the kernel's host has written to the part that it claimed last.
 * The rest of the part is free again.
 */
export function setText(item: Item, text: usize, bytes: u32): void {
  endPart(text + bytes);
  item.text = text;
  item.textBytes = bytes;
  allTextBytes += bytes;
}

// ---- Sorting items

/** Runs of this length are sorted by insertion. */
const RUN: u32 = 8;

/** Addresses are words. */
const WORD: usize = 4;

/**
 * Sorts the addresses of items; `spare` has the same length. A merge sort without recursion: each
 * comparison costs the shorter of two forms and places an item. Forms of N bytes in total therefore
 * take O(N log count), however much they share.
 *
 * @param byRank by falling rank and rising line; otherwise by pattern, see `precedes`
 */
export function sort(items: usize, spare: usize, count: u32, byRank: bool): void {
  for (let low: u32 = 0; low < count; low += RUN) {
    const start = items + WORD * low;
    const end = items + WORD * min(low + RUN, count);
    for (let next = start + WORD; next < end; next += WORD) {
      const item = load<Item>(next);
      let at = next;
      for (; at > start; at -= WORD) {
        const other = load<Item>(at - WORD);
        if (isBefore(other, item, byRank)) break;
        store<Item>(at, other);
      }
      store<Item>(at, item);
    }
  }
  let from = items;
  let to = spare;
  for (let run = RUN; run < count; run *= 2) {
    for (let low: u32 = 0; low < count; low += 2 * run) {
      const middle = min(low + run, count);
      const high = min(low + 2 * run, count);
      merge(from + WORD * low, from + WORD * middle, from + WORD * high, to + WORD * low, byRank);
    }
    const sorted = to;
    to = from;
    from = sorted;
  }
  if (from !== items) memory.copy(items, from, WORD * count);
}

/** Merges the runs `left`–`right` and `right`–`end` to `to`. */
function merge(left: usize, right: usize, end: usize, to: usize, byRank: bool): void {
  const middle = right;
  if (middle === end || isBefore(load<Item>(middle - WORD), load<Item>(middle), byRank)) {
    memory.copy(to, left, end - left);
    return;
  }
  while (left < middle && right < end) {
    const one = load<Item>(left);
    const other = load<Item>(right);
    const takesLeft = isBefore(one, other, byRank);
    store<Item>(to, takesLeft ? one : other);
    if (takesLeft) left += WORD;
    else right += WORD;
    to += WORD;
  }
  memory.copy(to, left, middle - left);
  memory.copy(to + (middle - left), right, end - right);
}

function isBefore(a: Item, b: Item, byRank: bool): bool {
  if (!byRank) return precedes(a, b);
  const rankA = a.rank;
  const rankB = b.rank;
  return rankA !== rankB ? rankA > rankB : changetype<usize>(a) < changetype<usize>(b);
}

/**
 * Whether an item comes before another by prefix, kind and the rest. Items that match the same
 * texts come by descending precedence (RFC 9309 section 2.2.2): items lie in the order of lines.
 */
function precedes(a: Item, b: Item): bool {
  const beginningA = a.beginning;
  const beginningB = b.beginning;
  if (beginningA !== beginningB) return beginningA < beginningB;
  const prefixA = prefixBytes(a);
  const prefixB = prefixBytes(b);
  // Most prefixes end within the beginning.
  const prefixes = compareBytes(a.start + 8, b.start + 8, <isize>min(prefixA, prefixB) - 8);
  if (prefixes !== 0) return prefixes < 0;
  if (prefixA !== prefixB) return prefixA < prefixB;
  const kindA = a.kind;
  const kindB = b.kind;
  if (kindA !== kindB) return kindA < kindB;
  const rest = a.prefixEnd;
  const restOfB = b.prefixEnd;
  const bytes = a.end - rest;
  const bytesOfB = b.end - restOfB;
  if (bytes !== bytesOfB) return bytes < bytesOfB;
  const rests = compareBytes(rest, restOfB, <isize>bytes);
  if (rests !== 0) return rests < 0;
  const rankA = a.rank;
  const rankB = b.rank;
  return rankA !== rankB ? rankA > rankB : changetype<usize>(a) < changetype<usize>(b);
}

/** Compares bytes; negative if `a` comes first. Reads up to 7 bytes past the last. */
function compareBytes(a: usize, b: usize, bytes: isize): i32 {
  for (; bytes > 0; bytes -= 8, a += 8, b += 8) {
    const one = bswap(load<u64>(a));
    const other = bswap(load<u64>(b));
    if (one === other) continue;
    if (<isize>(clz(one ^ other) >>> 3) >= bytes) return 0;
    return one < other ? -1 : 1;
  }
  return 0;
}

/** Whether two items match the same texts. */
function matchesTheSame(a: Item, b: Item): bool {
  if (a.kind !== b.kind) return false;
  const start = a.start;
  const other = b.start;
  const bytes = a.end - start;
  if (bytes !== b.end - other) return false;
  if (prefixBytes(a) !== prefixBytes(b)) return false;
  return compareBytes(start, other, <isize>bytes) === 0;
}
