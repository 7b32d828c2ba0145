/**
 * The texts that explain a decision: the rule, and the source of its robots.txt. Layout:
 * table/format.ts.
 */

import { ASTERISK, DOLLAR } from '../../../ascii';
import {
  AUTHORITY_HOST,
  AUTHORITY_NUMBER,
  AUTHORITY_SOURCE,
  HOST_AUTHORITY,
  HOST_FORM,
  HOST_SEVERAL,
  RULE_END,
  RULE_IN_BLOCK,
  RULE_LONGER,
  RULE_SINGLE,
  RULE_STAR,
  RULE_TEXT,
  RULE_TWO_FORMS,
  SOURCE_FIXED_BYTES,
  SOURCE_LIMIT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
  TEXT_LIMIT,
} from '../../../table/format';
import {
  QUERY_TABLE,
  RESULT_AUTOMATON,
  RESULT_FORM,
  RESULT_PATH,
  RESULT_PREFIX,
  RESULT_SOURCE,
} from '../../layout';
import { copyShort } from '../bytes/copy';
import { decimal } from '../bytes/decimal';
import { hostOf } from '../lookup/host-slots';
import { lineWidth, number, offsetWidth, sizeWidth } from '../match/fields';

/** The longest text that a table keeps: each of TEXT_LIMIT bytes may be escaped as six. */
const MAX_KEPT_TEXT: i32 = 6 * TEXT_LIMIT;

/**
 * Writes the pattern of the rule that decided a result, as written in the robots.txt, escaped as in
 * a JSON string; returns its end. Most patterns begin as the path that they match, so the path of
 * the result must still be in memory. The length is bounded by the longest text that a table may
 * keep, whatever the table says.
 */
export function patternText(result: usize, to: usize): usize {
  const path: usize = load<u32>(result, RESULT_PATH);
  const prefix = min(load<i32>(result, RESULT_PREFIX), TEXT_LIMIT);
  const formAt: usize = load<u32>(result, RESULT_FORM);
  if (formAt === 0) return copyShort(path, prefix, to);
  const automaton: usize = load<u32>(result, RESULT_AUTOMATON);
  const widths: i32 = load<u8>(automaton);
  const form: i32 = load<u8>(formAt);
  const inBlock = (form & RULE_IN_BLOCK) !== 0;
  const sizes = sizeWidth(widths);
  let field = formAt + 1 + (1 << lineWidth(widths));
  if (!inBlock && (form & RULE_LONGER) !== 0) field += 4;
  if ((form & RULE_TEXT) !== 0) {
    const offsets = offsetWidth(widths);
    const text =
      automaton + number(automaton + 1 + (2 << offsets), offsets) + number(field, offsets);
    return copyShort(text + 2, min(<i32>load<u16>(text), MAX_KEPT_TEXT), to);
  }
  to = copyShort(path, prefix, to);
  if (inBlock) {
    const last = formAt + number(formAt - (1 << sizes), sizes);
    to = segmentTexts(form, sizes, field, last, to);
  }
  if ((form & RULE_END) !== 0) store<u8>(to++, DOLLAR);
  if ((form & RULE_STAR) !== 0) store<u8>(to++, ASTERISK);
  return to;
}

/** Writes the first forms of the segments `segment`–`last`, each after a `*`. */
function segmentTexts(form: i32, sizes: i32, segment: usize, last: usize, to: usize): usize {
  const limit = to + TEXT_LIMIT;
  if ((form & RULE_SINGLE) !== 0) {
    store<u8>(to++, ASTERISK);
    return copyText(segment, <i32>(last - segment), to);
  }
  while (segment < last && to < limit) {
    const first = number(segment, sizes);
    segment += 1 << sizes;
    store<u8>(to++, ASTERISK);
    to = copyText(segment, <i32>first, to);
    segment += first;
    if ((form & RULE_TWO_FORMS) !== 0) segment += number(segment, sizes) + (1 << sizes);
  }
  return to;
}

/**
 * Copies a part of a text. In a forged table the length of the part may be negative, or beyond any
 * text.
 */
function copyText(from: usize, bytes: i32, to: usize): usize {
  return copyShort(from, max(min(bytes, TEXT_LIMIT), 0), to);
}

/**
 * Writes the source of a result's robots.txt, escaped as in a JSON string, if the source is known.
 */
export function sourceText(query: usize, result: usize, to: usize): usize {
  const authority: usize = load<u32>(result, RESULT_SOURCE);
  if (authority === 0) return to;
  const table: usize = load<u32>(query, QUERY_TABLE);
  const source = table + load<u32>(authority, AUTHORITY_SOURCE);
  const kind: i32 = load<u8>(source);
  const before = min(<i32>load<u16>(source, 1), SOURCE_LIMIT);
  const after = min(<i32>load<u16>(source, 3), SOURCE_LIMIT - before);
  to = copyShort(source + SOURCE_FIXED_BYTES, before, to);
  if (kind === SOURCE_WITH_HOST) {
    const several = load<u8>(authority - (HOST_AUTHORITY - HOST_FORM)) === HOST_SEVERAL;
    const record = several
      ? table + load<u32>(authority, AUTHORITY_HOST)
      : authority - HOST_AUTHORITY;
    to = copyShort(hostOf(record), load<u8>(record), to);
  } else if (kind === SOURCE_WITH_NUMBER) {
    to = decimal(load<u32>(authority, AUTHORITY_NUMBER), to);
  }
  return copyShort(source + SOURCE_FIXED_BYTES + before, after, to);
}
