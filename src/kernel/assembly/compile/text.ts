/** The texts of rules: patterns as written, escaped as in a JSON string (table/format.ts). */

import { ASTERISK, BACKSLASH, DELETE, DOLLAR, QUOTE, SPACE } from '../../../ascii';
import { RULE_STAR, RULE_TEXT, TEXT_LENGTH_BYTES, TEXT_LIMIT } from '../../../table/format';
import {
  ITEM_KIND,
  ITEM_PREFIX_END,
  ITEM_SEGMENTS,
  ITEM_START,
  ITEM_TEXT,
  ITEM_TEXT_BYTES,
  ITEM_WRITTEN,
  ITEM_WRITTEN_END,
  KIND_END,
  KIND_WILDCARDS_END,
} from '../../compile-layout';
import { equal } from '../bytes/search';
import { first, firstEnd, nextSegment, prefixBytes } from './item';
import { endPart, freeStart, reserve } from './work-memory';

/** U+2026 in UTF-8, which ends a truncated text. */
const ELLIPSIS: u32 = 0xa6_80e2;
const ELLIPSIS_BYTES = 3;

/**
 * How the text of an item's rule derives from the item: 0 if they are equal, RULE_STAR if the text
 * has one more `*` at its end, RULE_TEXT if the text must be kept.
 */
export function textForm(item: usize, google: bool): u32 {
  let at: usize = load<u32>(item, ITEM_WRITTEN);
  const end: usize = load<u32>(item, ITEM_WRITTEN_END);
  if (end - at > <usize>TEXT_LIMIT) return RULE_TEXT;
  const start: usize = load<u32>(item, ITEM_START);
  const bytes = prefixBytes(item);
  if (bytes > end - at || !isLiteral(at, start, bytes, google)) return RULE_TEXT;
  at += bytes;
  let segment: usize = load<u32>(item, ITEM_PREFIX_END);
  for (let left = load<u32>(item, ITEM_SEGMENTS); left > 0; left--) {
    segment = nextSegment(item, segment);
    const literal = firstEnd - first;
    if (literal + 1 > end - at || load<u8>(at) !== ASTERISK) return RULE_TEXT;
    if (!isLiteral(at + 1, first, literal, google)) return RULE_TEXT;
    at += 1 + literal;
  }
  const kind = load<u32>(item, ITEM_KIND);
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
export function textOf(item: usize): bool {
  const written: usize = load<u32>(item, ITEM_WRITTEN);
  const bytes: usize = <usize>load<u32>(item, ITEM_WRITTEN_END) - written;
  const kept = min<usize>(bytes, TEXT_LIMIT);
  store<u32>(item, written, ITEM_TEXT);
  store<u32>(item, 0, ITEM_TEXT_BYTES);
  if (needsEscape(written, written + kept)) return false;
  store<u32>(item, kept, ITEM_TEXT_BYTES);
  if (bytes <= <usize>TEXT_LIMIT) return true;
  const text = freeStart();
  reserve(text, TEXT_LIMIT);
  memory.copy(text, written, TEXT_LIMIT - ELLIPSIS_BYTES);
  store<u32>(text + TEXT_LIMIT - ELLIPSIS_BYTES, ELLIPSIS);
  endPart(text + TEXT_LIMIT);
  store<u32>(item, text, ITEM_TEXT);
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
export function keepText(item: usize): u32 {
  const offset = <u32>(textsEnd - texts);
  const bytes = load<u32>(item, ITEM_TEXT_BYTES);
  store<u16>(textsEnd, <u16>bytes);
  memory.copy(textsEnd + TEXT_LENGTH_BYTES, load<u32>(item, ITEM_TEXT), bytes);
  textsEnd += TEXT_LENGTH_BYTES + bytes;
  return offset;
}
