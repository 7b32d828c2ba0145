/**
 * The marks of JSON: the quotes that no backslash escapes, and the newlines. With QUERY_STRICT
 * also all other control characters, and the backslashes that begin an escape. Between two marks of
 * a string stands nothing that could end it.
 *
 * Marks are found 64 bytes at a time, for up to MARKS_MOST bytes together, wherever lines begin and
 * end. The worker block has the list of those that were found last.
 */

import {
  BACKSLASH,
  CLOSE_BRACE,
  LF,
  LOWER_CASE_BIT,
  OPEN_BRACE,
  QUOTE,
  SPACE,
} from '../../../base/ascii';
import { MARKS_MOST, NO_MARK } from '../../layout';
import { positions, positionsOf, quotedIn, splat } from '../bytes';
import { Marks } from '../memory';
import { isEscape } from './string';

/** Forgets all marks: the bytes may be others than before. */
export function forgetMarks(marks: Marks): void {
  marks.ahead = 64;
  marks.next = 0;
  marks.plain = 0;
  marks.first = NO_MARK;
  marks.cursor = marks.list;
}

/** -1 for each quote and newline. */
function isMark(bytes: v128): v128 {
  return v128.or(i8x16.eq(bytes, splat(QUOTE)), i8x16.eq(bytes, splat(LF)));
}

/**
 * Writes the addresses of a set of positions after `at` to `to`; returns their end. Mostly there
 * are at most twelve: a fixed number of them keeps the loop's exit predictable.
 */
function list(set: u64, at: usize, to: usize): usize {
  const end = to + ((<usize>popcnt(set)) << 2);
  do {
    store<u32>(to, at + <usize>ctz(set));
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 4);
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 8);
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 12);
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 16);
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 20);
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 24);
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 28);
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 32);
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 36);
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 40);
    set &= set - 1;
    store<u32>(to, at + <usize>ctz(set), 44);
    set &= set - 1;
    to += 48;
  } while (to < end);
  return end;
}

/** Lists the marks of the next bytes before `end`, from `to` on. */
function readMarks(marks: Marks, to: usize, end: usize, strict: bool): void {
  let at = marks.next;
  let escaped: u64 = marks.escaped;
  // A string that goes on may hold backslashes that were read before.
  let backslashes = to === marks.list ? 0 : marks.backslashes;
  const bytes = marks.ahead;
  marks.ahead = <u32>min(bytes + 64, MARKS_MOST);
  for (const stop = min(at + <usize>bytes, end); at < stop; at += 64) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    let found = positions(
      i8x16.bitmask(isMark(a)),
      i8x16.bitmask(isMark(b)),
      i8x16.bitmask(isMark(c)),
      i8x16.bitmask(isMark(d)),
    );
    if (escaped !== 0 || holds(BACKSLASH, a, b, c, d)) {
      const escapes = escapesOf(positionsOf(BACKSLASH, a, b, c, d), escaped);
      // Nothing escapes the end of the line.
      found = (found & ~((escapes << 1) | escaped)) | positionsOf(LF, a, b, c, d);
      if (strict) found |= escapes;
      escaped = escapes >>> 63;
      backslashes = 1;
    }
    if (strict) found |= controlsOf(a, b, c, d);
    if (end - at < 64) found &= ((<u64>1) << (<u64>(end - at))) - 1;
    to = list(found, at, to);
  }
  store<u32>(to, NO_MARK);
  store<u32>(to, NO_MARK, 4);
  marks.next = at;
  // A line that is no object leaves no mark of its own.
  marks.cursor = marks.list;
  marks.escaped = <u32>escaped;
  marks.backslashes = backslashes;
  marks.plain = to - 12;
}

/** Address of the mark at `at`, where a string begins. `cursor` is the mark after the last one. */
export function markAt(marks: Marks, cursor: usize, at: usize, end: usize, strict: bool): usize {
  while (<usize>load<u32>(cursor) < at) cursor += 4;
  // The next line begins here if this one turns out to be no object.
  marks.cursor = cursor;
  if (<usize>load<u32>(cursor) === at) return cursor;
  // After a container that was skipped there may be another one.
  if (at - marks.next >= 64) marks.ahead = 64;
  // No byte before a string escapes its quote.
  marks.next = at;
  marks.escaped = 0;
  readMarks(marks, marks.list, end, strict);
  return marks.list;
}

/**
 * Address of the mark before the quote that closes the string whose opening quote is the mark at
 * `cursor`; 0 if the string has no end, or with `strict` is not valid.
 */
export function beforeClosing(marks: Marks, cursor: usize, end: usize, strict: bool): usize {
  while (true) {
    const mark: usize = load<u32>(cursor, 4);
    if (mark === NO_MARK) {
      if (marks.next >= end) return 0;
      marks.first = load<u32>(cursor);
      cursor = marks.list;
      readMarks(marks, cursor + 4, end, strict);
      continue;
    }
    const byte: i32 = load<u8>(mark);
    if (byte === QUOTE) return cursor;
    if (byte !== BACKSLASH || !isEscape(mark + 1)) return 0;
    cursor += 4;
  }
}

// ---- Sets of positions in a block of 64 bytes of JSON: a `u64` whose lowest bit is the first
// byte. The set of escapes is that of simdjson (Langdale and Lemire, 2019).

/** The last byte before SPACE. */
const LAST_CONTROL: i32 = SPACE - 1;

/** The positions of the control characters. */
function controlsOf(a: v128, b: v128, c: v128, d: v128): u64 {
  const most = splat(LAST_CONTROL);
  return positions(
    i8x16.bitmask(i8x16.le_u(a, most)),
    i8x16.bitmask(i8x16.le_u(b, most)),
    i8x16.bitmask(i8x16.le_u(c, most)),
    i8x16.bitmask(i8x16.le_u(d, most)),
  );
}

/** The positions of a brace, and of the bracket that LOWER_CASE_BIT makes that brace. */
function bracketsOf(brace: i32, a: v128, b: v128, c: v128, d: v128): u64 {
  const lower = splat(LOWER_CASE_BIT);
  return positionsOf(
    brace,
    v128.or(a, lower),
    v128.or(b, lower),
    v128.or(c, lower),
    v128.or(d, lower),
  );
}

/** The positions of `[` and `{`. */
function openersOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return bracketsOf(OPEN_BRACE, a, b, c, d);
}

/** The positions of `]` and `}`. */
function closersOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return bracketsOf(CLOSE_BRACE, a, b, c, d);
}

/** Whether the block holds a byte. */
function holds(byte: i32, a: v128, b: v128, c: v128, d: v128): bool {
  const wanted = splat(byte);
  return v128.any_true(
    v128.or(
      v128.or(i8x16.eq(a, wanted), i8x16.eq(b, wanted)),
      v128.or(i8x16.eq(c, wanted), i8x16.eq(d, wanted)),
    ),
  );
}

const ODD: u64 = ((<u64>0xaaaaaaaa) << 32) | 0xaaaaaaaa;

/**
 * The backslashes that begin an escape. Bit 0 of `escaped` is set if the first byte is escaped by
 * the last byte of the block before.
 */
function escapesOf(backslashes: u64, escaped: u64): u64 {
  const candidates = backslashes & ~escaped;
  // In a run of backslashes, subtraction leaves those at an even distance from its first.
  return ((((candidates << 1) | ODD) - candidates) ^ ODD) & backslashes;
}

// ---- Skipping a JSON object or array whose members do not matter

/**
 * End of the object or array at `at`; 0 if the line ends before. Of its structure only strings and
 * brackets count.
 */
export function skipContainer(at: usize, end: usize): usize {
  let depth: u64 = 0;
  let inString: u64 = 0;
  let escaped: u64 = 0;
  while (true) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    let quotes = positionsOf(QUOTE, a, b, c, d);
    let stray: u64 = 0;
    if (escaped !== 0 || holds(BACKSLASH, a, b, c, d)) {
      // Outside strings it is a fault.
      stray = positionsOf(BACKSLASH, a, b, c, d);
      const escapes = escapesOf(stray, escaped);
      quotes &= ~((escapes << 1) | escaped);
      escaped = escapes >>> 63;
    }
    const inside = quotedIn(quotes) ^ inString;
    const openers = openersOf(a, b, c, d) & ~inside;
    const closers = closersOf(a, b, c, d) & ~inside;
    stray &= ~inside;
    // The container may end here, or the line.
    if (stray !== 0 || depth <= popcnt(closers) || end - at < 64 || holds(LF, a, b, c, d)) {
      let ends = positionsOf(LF, a, b, c, d);
      if (end - at < 64) ends |= (<u64>1) << (<u64>(end - at));
      let events = openers | closers | stray | ends;
      while (events !== 0) {
        const event = events & -events;
        if ((openers & event) !== 0) {
          depth++;
        } else {
          if ((closers & event) === 0) return 0;
          depth--;
          if (depth === 0) return at + <usize>ctz(event) + 1;
        }
        events ^= event;
      }
    } else {
      depth += popcnt(openers) - popcnt(closers);
    }
    inString = <u64>(<i64>inside >> 63);
    at += 64;
  }
}
