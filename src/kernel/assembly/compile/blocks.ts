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
import {
  ITEM_FORM,
  ITEM_KIND,
  ITEM_LINE,
  ITEM_PREFIX_END,
  ITEM_RANK,
  ITEM_SEGMENTS,
  ITEM_TWO_FORMS,
  KIND_END,
  KIND_WILDCARDS_END,
} from '../../compile-layout';
import { bitOfBucket, dealBuckets, writeMasks } from './buckets';
import { first, firstEnd, nextSegment, second, secondEnd } from './item';
import { appendNumber, putNumber } from './numbers';
import { allSegmentBytes, allSegments, blockRules, firstLine } from './rules';
import { keepText } from './text';
import { lineWidth, offsetWidth, sizeWidth } from './widths';

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
export function writeBlocks(block: usize, items: usize, count: u32, to: usize): usize {
  for (let low: u32 = 0; low < count; low += MAX_BLOCK_RULES) {
    const rules = min<u32>(count - low, MAX_BLOCK_RULES);
    const isFollowed = low + rules < count;
    to = writeBlock(block, items + 4 * low, rules, isFollowed, to);
  }
  return to;
}

function writeBlock(block: usize, items: usize, rules: u32, isFollowed: bool, to: usize): usize {
  const head = to++;
  let flags = (rules - 1) | (isFollowed ? BLOCK_FOLLOWED : 0);
  if (rules < MIN_MASKED_RULES) {
    store<u8>(head, flags);
    for (let index: u32 = 0; index < rules; index++) {
      to = writeRule(load<u32>(items + 4 * index), to);
    }
    return to;
  }
  const buckets = dealBuckets(block, items, rules);
  writeMasks(block, buckets, to);
  to += BLOCK_MASK_BYTES;
  for (let index: u32 = 0; index < rules; index++) {
    const item: usize = load<u32>(items + 4 * index);
    const hasWindow = load<u32>(item, ITEM_SEGMENTS) !== 0;
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
    rule = writeRule(load<u32>(items + 4 * index), rule);
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
function writeRule(item: usize, start: usize): usize {
  const segments = load<u32>(item, ITEM_SEGMENTS);
  const twoForms = load<u32>(item, ITEM_TWO_FORMS) !== 0;
  const kind = load<u32>(item, ITEM_KIND);
  const text = load<u32>(item, ITEM_FORM);
  const isSingle = segments === 1 && !twoForms;
  const size = appendNumber(start, load<u32>(item, ITEM_RANK), sizeWidth);
  const form = size + ((<usize>1) << sizeWidth);
  let flags = RULE_IN_BLOCK | text;
  if (kind === KIND_END || kind === KIND_WILDCARDS_END) flags |= RULE_END;
  if (twoForms) flags |= RULE_TWO_FORMS;
  if (isSingle) flags |= RULE_SINGLE;
  store<u8>(form, flags);
  let to = appendNumber(form + 1, load<u32>(item, ITEM_LINE) - firstLine, lineWidth);
  if (text === RULE_TEXT) to = appendNumber(to, keepText(item), offsetWidth);
  let segment: usize = load<u32>(item, ITEM_PREFIX_END);
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
