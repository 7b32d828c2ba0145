/** Finds the URL in a row of CSV or TSV (RFC 4180). Marked rows: layout.ts, ROW_MARKED. */

import { COMMA, LF, QUOTE, TAB } from '../../../ascii';
import {
  COPY_MARGIN,
  FORMAT_CSV,
  FORMAT_TSV,
  LINE_END,
  LINE_OWNED,
  LINE_SOURCE,
  LINE_SOURCE_END,
  LINE_START,
  LINE_URL,
  LINE_URL_END,
  QUERY_COLUMN,
  QUERY_FORMAT,
  ROW_MARK_BYTES,
  ROW_MARKED,
  ROW_REFUSED,
} from '../../layout';
import { findByte } from '../bytes/search';
import { claimScratch } from '../memory/scratch';

/** Whether the lines of a query are rows. */
export function holdsRows(query: usize): bool {
  const format = load<i32>(query, QUERY_FORMAT);
  return format === FORMAT_CSV || format === FORMAT_TSV;
}

/** The byte between two fields. */
export function delimiterOf(query: usize): i32 {
  return load<i32>(query, QUERY_FORMAT) === FORMAT_TSV ? TAB : COMMA;
}

/**
 * The byte that stands for newlines in a marked row. In any other row it is LF, which no line
 * holds.
 */
export function standInOf(line: usize): i32 {
  return rowStart(line) === <usize>load<u32>(line, LINE_START)
    ? LF
    : <i32>load<u8>(load<u32>(line, LINE_START), 1);
}

/** Address of the row, after its mark if it has one. */
export function rowStart(line: usize): usize {
  const start: usize = load<u32>(line, LINE_START);
  if (<usize>load<u32>(line, LINE_END) - start < <usize>ROW_MARK_BYTES) return start;
  const first: i32 = load<u8>(start);
  return first === ROW_MARKED || first === ROW_REFUSED ? start + <usize>ROW_MARK_BYTES : start;
}

/** Whether the reader of rows has refused this row. */
export function isRefusedRow(line: usize): bool {
  const start: usize = load<u32>(line, LINE_START);
  return rowStart(line) !== start && load<u8>(start) === ROW_REFUSED;
}

/** Address of the quote that closes a field, from its inside on; `end` if the row has none. */
export function closingQuote(at: usize, end: usize): usize {
  while (at < end) {
    at = findByte(QUOTE, at, end);
    if (at + 1 >= end || load<u8>(at, 1) !== QUOTE) return at;
    at += 2;
  }
  return end;
}

/**
 * Stores the URL in the column of the query: in the row, or as a copy in scratch memory if quotes
 * or newlines in it are written differently. Returns the first address of scratch memory that is
 * then free. Returns 0 if the row has no such column, or a quoted field that does not end at a
 * delimiter.
 */
export function locateField(query: usize, line: usize, scratch: usize): usize {
  const delimiter = delimiterOf(query);
  const end: usize = load<u32>(line, LINE_END);
  let at = rowStart(line);
  let left = load<i32>(query, QUERY_COLUMN);
  while (true) {
    const isQuoted = at < end && load<u8>(at) === QUOTE;
    const close = isQuoted ? closingQuote(at + 1, end) : at;
    if (isQuoted && close === end) return 0;
    const fieldEnd = findByte(delimiter, isQuoted ? close + 1 : at, end);
    if (left === 0) {
      if (isQuoted) return close + 1 === fieldEnd ? useQuoted(line, at + 1, close, scratch) : 0;
      return at === fieldEnd ? 0 : useBytes(line, at, fieldEnd, scratch);
    }
    if (fieldEnd === end) return 0;
    at = fieldEnd + 1;
    left--;
  }
}

/** Stores a field unchanged. A field without quotes around it has no newline. */
function useBytes(line: usize, from: usize, end: usize, scratch: usize): usize {
  store<u32>(line, from, LINE_URL);
  store<u32>(line, end, LINE_URL_END);
  return scratch;
}

/** Stores the inside of a quoted field, where two quotes stand for one. */
function useQuoted(line: usize, from: usize, end: usize, scratch: usize): usize {
  if (from === end) return 0;
  const standIn = standInOf(line);
  if (findByte(QUOTE, from, end) === end && findByte(standIn, from, end) === end) {
    return useBytes(line, from, end, scratch);
  }
  claimScratch(scratch, end - from + COPY_MARGIN);
  const to = unquote(from, end, standIn, scratch);
  store<u32>(line, from, LINE_SOURCE);
  store<u32>(line, end, LINE_SOURCE_END);
  store<u32>(line, scratch, LINE_URL);
  store<u32>(line, to, LINE_URL_END);
  store<u32>(line, 1, LINE_OWNED);
  return to + COPY_MARGIN;
}

/**
 * Copies the inside of a quoted field as it is meant: one quote for two, and a newline for its
 * stand-in. Returns the end of the copy.
 */
export function unquote(from: usize, end: usize, standIn: i32, to: usize): usize {
  while (from < end) {
    const byte: i32 = load<u8>(from);
    store<u8>(to++, byte === standIn ? LF : byte);
    from += byte === QUOTE ? 2 : 1;
  }
  return to;
}
