/** Items: the patterns of rules in canonical form. Layout: ITEM_… in kernel/compile-layout.ts. */

import {
  ASTERISK,
  BACKSLASH,
  DELETE,
  DOLLAR,
  PERCENT,
  QUESTION_MARK,
  QUOTE,
  SLASH,
  SPACE,
} from '../../../base/ascii';
import { RULE_STAR, RULE_TEXT, TEXT_LENGTH_BYTES, TEXT_LIMIT } from '../../../table/format';
import {
  KIND_END,
  KIND_PREFIX,
  KIND_WILDCARDS,
  KIND_WILDCARDS_END,
  SECOND_FORM,
} from '../../compile-layout';
import { equal, findByte } from '../bytes';
import { canonicalise, escapePattern } from '../canonical';
import { endPart, freeStart, Item, reserve } from './memory';

/** Bytes of a canonical form for each byte of its pattern: two literals, and what precedes them. */
const GROWTH: usize = 8;
/** Bytes that vectors write after a literal. */
const VECTOR_MARGIN = 32;

/** The fields that count towards a rule's size: form, line and offset of its text. */
const COUNTED_BYTES = 1 + 4 + 4;

/**
 * Reads the pattern `from`–`end` into an item; returns false if the pattern can match no text,
 * because it is empty or starts with neither `/` nor `*`.
 *
 * The canonical form is the prefix, then `*` and a segment for each literal of at least one byte.
 * If the segment's form is another where an earlier `*` matched the text's `?` (spec note A), the
 * byte SECOND_FORM and that form follow. Items with equal forms and kinds match the same texts.
 */
export function readPattern(item: Item, from: usize, end: usize, allow: u32, google: bool): bool {
  if (from === end) return false;
  const initial: i32 = load<u8>(from);
  if (initial !== SLASH && initial !== ASTERISK) return false;
  let anchored = load<u8>(end - 1) === DOLLAR;
  if (anchored) end--;
  const start = freeStart();
  reserve(start, GROWTH * (end - from) + VECTOR_MARGIN);
  let at = findByte(ASTERISK, from, end);
  let to = google ? escapePattern(from, at, start) : canonicalise(from, at, start, false);
  item.start = start;
  item.prefixEnd = to;
  storeBeginning(item, start, to - start);
  // The specificity: spec notes, note B.
  let bytes = to - start + <usize>anchored;
  if (at === end) {
    finish(item, to, ((<u32>bytes) << 1) | allow, anchored ? KIND_END : KIND_PREFIX);
    item.segments = 0;
    item.twoForms = 0;
    item.size = max(<u32>COUNTED_BYTES, ((<u32>bytes) << 1) | allow);
    return true;
  }
  let inQuery = google || findByte(QUESTION_MARK, from, at) < at;
  let endsInLiteral = to > start;
  let segments: u32 = 0;
  let twoForms = false;
  // The literals in their first form, and in the form for the query.
  let firstForms: usize = 0;
  let secondForms: usize = 0;
  while (at < end) {
    bytes++;
    const literal = at + 1;
    at = findByte(ASTERISK, literal, end);
    endsInLiteral = at > literal;
    if (!endsInLiteral) continue;
    store<u8>(to++, ASTERISK);
    const form = to;
    to = google ? escapePattern(literal, at, to) : canonicalise(literal, at, to, inQuery);
    const formEnd = to;
    bytes += formEnd - form;
    firstForms += formEnd - form;
    segments++;
    if (!inQuery) to = appendSecondForm(literal, at, form, formEnd);
    const hasSecond = to > formEnd;
    secondForms += hasSecond ? to - formEnd - 1 : formEnd - form;
    twoForms = twoForms || hasSecond;
    inQuery = inQuery || findByte(QUESTION_MARK, literal, at) < at;
  }
  anchored = anchored && endsInLiteral;
  const rank = ((<u32>bytes) << 1) | allow;
  const kind = segments > 0 ? (anchored ? KIND_WILDCARDS_END : KIND_WILDCARDS) : KIND_PREFIX;
  finish(item, to, rank, kind);
  item.segments = segments;
  item.twoForms = twoForms;
  const forms = <u32>(firstForms + (twoForms ? secondForms : 0)) + COUNTED_BYTES;
  const numbers = twoForms ? 2 * segments : segments;
  const narrow = forms + numbers;
  item.size = max(rank, narrow <= 0xff ? narrow : forms + 2 * numbers);
  return true;
}

/**
 * Appends the form of a literal in a query to its form `form`–`to`, if the two differ; returns the
 * end.
 */
function appendSecondForm(literal: usize, literalEnd: usize, form: usize, to: usize): usize {
  if (findByte(PERCENT, literal, literalEnd) === literalEnd) return to;
  const other = to + 1;
  const otherEnd = canonicalise(literal, literalEnd, other, true);
  const bytes = to - form;
  if (otherEnd - other === bytes && equal(form, other, <i32>bytes)) return to;
  store<u8>(to, SECOND_FORM);
  return otherEnd;
}

function finish(item: Item, end: usize, rank: u32, kind: u32): void {
  item.end = end;
  item.rank = rank;
  item.kind = kind;
  endPart(end);
}

function storeBeginning(item: Item, start: usize, bytes: usize): void {
  const beginning = bswap(load<u64>(start));
  const beyond = (<u64>(8 - min<usize>(bytes, 8))) << 3;
  // A shift by all 64 bits would be none.
  item.beginning = bytes === 0 ? 0 : (beginning >>> beyond) << beyond;
}

export function prefixBytes(item: Item): usize {
  return item.prefixEnd - item.start;
}

/** The segments of an item: of the last call of `nextSegment`. */
export let first: usize = 0;
export let firstEnd: usize = 0;
/** The second form; 0 if it is the same. */
export let second: usize = 0;
export let secondEnd: usize = 0;

/** Reads the segment after `at`, which ends the prefix or the last segment; returns its end. */
export function nextSegment(item: Item, at: usize): usize {
  const end = findByte(ASTERISK, at + 1, item.end);
  first = at + 1;
  firstEnd = end;
  second = 0;
  if (item.twoForms !== 0) {
    firstEnd = findByte(SECOND_FORM, first, end);
    if (firstEnd < end) {
      second = firstEnd + 1;
      secondEnd = end;
    }
  }
  return end;
}

// ---- The texts of rules: patterns as written, escaped as in a JSON string (table/format.ts)

/** U+2026 in UTF-8, which ends a truncated text. */
const ELLIPSIS: u32 = 0xa6_80e2;
const ELLIPSIS_BYTES = 3;

/**
 * How the text of an item's rule derives from the item: 0 if they are equal, RULE_STAR if the text
 * has one more `*` at its end, RULE_TEXT if the text must be kept.
 */
export function textForm(item: Item, google: bool): u32 {
  let at = item.written;
  const end = item.writtenEnd;
  if (end - at > <usize>TEXT_LIMIT) return RULE_TEXT;
  const start = item.start;
  const bytes = prefixBytes(item);
  if (bytes > end - at || !isLiteral(at, start, bytes, google)) return RULE_TEXT;
  at += bytes;
  let segment = item.prefixEnd;
  for (let left = item.segments; left > 0; left--) {
    segment = nextSegment(item, segment);
    const literal = firstEnd - first;
    if (literal + 1 > end - at || load<u8>(at) !== ASTERISK) return RULE_TEXT;
    if (!isLiteral(at + 1, first, literal, google)) return RULE_TEXT;
    at += 1 + literal;
  }
  const kind = item.kind;
  if (kind === KIND_END || kind === KIND_WILDCARDS_END) {
    if (at === end || load<u8>(at) !== DOLLAR) return RULE_TEXT;
    at++;
  }
  if (at === end) return 0;
  return at === end - 1 && load<u8>(at) === ASTERISK ? RULE_STAR : RULE_TEXT;
}

/** Whether a literal stands at `at` and needs no escape. RFC 9309's canonical forms need none. */
function isLiteral(at: usize, literal: usize, bytes: usize, google: bool): bool {
  return equal(at, literal, <i32>bytes) && (!google || !needsEscape(literal, literal + bytes));
}

/** Whether a byte needs an escape, or is no ASCII: all but printable ASCII without `"` and `\`. */
function needsEscape(at: usize, end: usize): bool {
  for (; at < end; at++) {
    const byte: i32 = load<u8>(at);
    if (byte < SPACE || byte >= DELETE || byte === QUOTE || byte === BACKSLASH) return true;
  }
  return false;
}

/** Stores the text of an item with RULE_TEXT; returns false if the text needs an escape. */
export function textOf(item: Item): bool {
  const written = item.written;
  const bytes: usize = item.writtenEnd - written;
  const kept = min<usize>(bytes, TEXT_LIMIT);
  item.text = written;
  item.textBytes = 0;
  if (needsEscape(written, written + kept)) return false;
  item.textBytes = kept;
  if (bytes <= <usize>TEXT_LIMIT) return true;
  const text = freeStart();
  reserve(text, TEXT_LIMIT);
  memory.copy(text, written, TEXT_LIMIT - ELLIPSIS_BYTES);
  store<u32>(text + TEXT_LIMIT - ELLIPSIS_BYTES, ELLIPSIS);
  endPart(text + TEXT_LIMIT);
  item.text = text;
  return true;
}

/** The texts that the automaton keeps. */
export let texts: usize = 0;
export let textsEnd: usize = 0;

/** Keeps no text yet. The memory at `at` has room for all. */
export function keepTextsAt(at: usize): void {
  texts = at;
  textsEnd = at;
}

/** Keeps the text of an item's rule; returns its offset among the texts. */
export function keepText(item: Item): u32 {
  const offset = <u32>(textsEnd - texts);
  const bytes = item.textBytes;
  store<u16>(textsEnd, <u16>bytes);
  memory.copy(textsEnd + TEXT_LENGTH_BYTES, item.text, bytes);
  textsEnd += TEXT_LENGTH_BYTES + bytes;
  return offset;
}
