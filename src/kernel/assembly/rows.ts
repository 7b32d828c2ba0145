/**
 * Finds the URL in a row of CSV or TSV (RFC 4180), or in a line of CDX. Marked rows:
 * kernel/layout.ts, ROW_MARKED.
 */

import { COMMA, CR, LF, QUOTE, SPACE, TAB } from '../../base/ascii';
import {
  COPY_MARGIN,
  FORMAT_CDX,
  FORMAT_CSV,
  FORMAT_TSV,
  ROW_MARK_BYTES,
  ROW_MARKED,
  ROW_REFUSED,
} from '../layout';
import { findByte, positions, positionsOf, quotedIn, splat } from './bytes';
import { claimScratch, Line, Query, setWhen, setWho } from './memory';

/** Whether the lines of a query are rows. */
export function holdsRows(query: Query): bool {
  const format = query.format;
  return format === FORMAT_CSV || format === FORMAT_TSV || format === FORMAT_CDX;
}

/** The byte between two fields. */
export function delimiterOf(query: Query): i32 {
  const format = query.format;
  if (format === FORMAT_CDX) return SPACE;
  return format === FORMAT_TSV ? TAB : COMMA;
}

/** The byte around a quoted field; in CDX, which has no quotes, LF, which no line holds. */
function quoteOf(query: Query): i32 {
  return query.format === FORMAT_CDX ? LF : QUOTE;
}

/**
 * The byte that stands for newlines in a marked row. In any other row it is LF, which no line
 * holds.
 */
export function standInOf(line: Line): i32 {
  const start = line.start;
  return rowStart(line) === start ? LF : <i32>load<u8>(start, 1);
}

/** Address of the row, after its mark if it has one. In CDX any byte may begin a line. */
export function rowStart(line: Line): usize {
  const start = line.start;
  if (line.end - start < <usize>ROW_MARK_BYTES) return start;
  const first: i32 = load<u8>(start);
  if (first !== ROW_MARKED && first !== ROW_REFUSED) return start;
  return line.query.format === FORMAT_CDX ? start : start + <usize>ROW_MARK_BYTES;
}

/** Whether the reader of rows has refused this row. */
export function isRefusedRow(line: Line): bool {
  const start = line.start;
  return rowStart(line) !== start && load<u8>(start) === ROW_REFUSED;
}

/** Address of the quote that closes a field, from its inside on; `end` if the row has none. */
function closingQuote(at: usize, end: usize): usize {
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
export function locateField(query: Query, line: Line, scratch: usize): usize {
  const end = line.end;
  const delimiter = delimiterOf(query);
  const quote = quoteOf(query);
  const at = fieldAt(rowStart(line), end, delimiter, quote, query.column);
  const fieldEnd: usize = at === 0 ? 0 : endOfField(at, end, delimiter, quote);
  if (fieldEnd <= at) return 0;
  if (load<u8>(at) !== quote) return useBytes(line, at, fieldEnd, scratch);
  return useQuoted(line, at + 1, fieldEnd - 1, scratch);
}

/**
 * Stores the field in the column of times, without quotes around it; `when` is 0 if the row has
 * none. A field in which quotes or newlines are written differently is no time anyway.
 */
export function locateTimeField(query: Query, line: Line): void {
  storeField(query, line, query.timeColumn, true);
}

/**
 * Stores the field that names the agent, as it stands in the row without quotes around it; `who` is
 * 0 if the row has none.
 */
export function locateAgentField(query: Query, line: Line): void {
  storeField(query, line, query.agentColumn, false);
}

/** Stores a field as that of the time, or of the agent. */
function storeField(query: Query, line: Line, column: i32, isTime: bool): void {
  const end = line.end;
  const delimiter = delimiterOf(query);
  const quote = quoteOf(query);
  const at = fieldAt(rowStart(line), end, delimiter, quote, column);
  const fieldEnd: usize = at === 0 ? 0 : endOfField(at, end, delimiter, quote);
  const isFound = fieldEnd > at;
  const isQuoted = <usize>(isFound && load<u8>(at) === quote);
  const from = isFound ? at + isQuoted : 0;
  const to = isFound ? fieldEnd - isQuoted : 0;
  if (isTime) setWhen(from, to);
  else setWho(from, to);
}

/**
 * Address where the field of a column begins; 0 if the row has no such column, or a quote before it
 * is not closed.
 */
function fieldAt(at: usize, end: usize, delimiter: i32, quote: i32, column: i32): usize {
  for (let left = column; left > 0; left--) {
    const isQuoted = at < end && load<u8>(at) === quote;
    const close = isQuoted ? closingQuote(at + 1, end) : at;
    if (isQuoted && close === end) return 0;
    const fieldEnd = findByte(delimiter, isQuoted ? close + 1 : at, end);
    if (fieldEnd === end) return 0;
    at = fieldEnd + 1;
  }
  return at;
}

/**
 * The end of the field at `at`, with its quotes; 0 if its quote is not closed, or is closed before
 * the field ends.
 */
function endOfField(at: usize, end: usize, delimiter: i32, quote: i32): usize {
  if (at === end || load<u8>(at) !== quote) return findByte(delimiter, at, end);
  const close = closingQuote(at + 1, end);
  if (close === end) return 0;
  const after = close + 1;
  return after === end || load<u8>(after) === delimiter ? after : 0;
}

/** Stores a field unchanged. A field without quotes around it has no newline. */
function useBytes(line: Line, from: usize, end: usize, scratch: usize): usize {
  line.url = from;
  line.urlEnd = end;
  return scratch;
}

/** Stores the inside of a quoted field, where two quotes stand for one. */
function useQuoted(line: Line, from: usize, end: usize, scratch: usize): usize {
  if (from === end) return 0;
  const standIn = standInOf(line);
  if (findByte(QUOTE, from, end) === end && findByte(standIn, from, end) === end) {
    return useBytes(line, from, end, scratch);
  }
  claimScratch(scratch, end - from + COPY_MARGIN);
  const to = unquote(from, end, standIn, scratch);
  line.source = from;
  line.sourceEnd = end;
  line.url = scratch;
  line.urlEnd = to;
  line.owned = 1;
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

// ---- Counts the fields of a row, 64 bytes at a time. Sets of positions: see
// kernel/assembly/bytes.ts

const BLOCK: usize = 64;
/** The highest bit of a set, moved to the lowest. */
const LAST: u64 = 63;

/**
 * Returns the number of fields in `from`–`end`, a row without its mark and its line end. Returns 0
 * if a CR stands outside quotes: the row is then several rows with CRs as line ends.
 *
 * Reads up to 63 bytes after `end`. One pass, or two if a field that begins without a quote has
 * one.
 */
export function countFields(query: Query, from: usize, end: usize): i32 {
  const delimiter = delimiterOf(query);
  const quote = quoteOf(query);
  let fields: i32 = 1;
  // Whether the block begins inside quotes: all bits, or none.
  let isQuoted: u64 = 0;
  // Bit 0: whether a quoted field may begin, or be opened again, with the block's first byte.
  let openableBefore: u64 = 1;
  for (let at = from; at < end; at += BLOCK) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const here: u64 = end - at < BLOCK ? ((<u64>1) << (<u64>(end - at))) - 1 : ~(<u64>0);
    const quotes = positionsOf(quote, a, b, c, d) & here;
    let delimiters = positionsOf(delimiter, a, b, c, d) & here;
    let returns = positionsOf(CR, a, b, c, d) & here;
    if ((quotes | isQuoted) !== 0) {
      const quoted = quotedIn(quotes) ^ isQuoted;
      delimiters &= ~quoted;
      returns &= ~quoted;
      // A quote after a closing quote stands with it for one quote, and opens the field again.
      const openable = delimiters | (quotes & ~quoted);
      if ((quotes & quoted & ~((openable << 1) | openableBefore)) !== 0) {
        return countOneByOne(from, end, delimiter);
      }
      isQuoted = <u64>(<i64>quoted >> LAST);
      openableBefore = openable >> LAST;
    } else {
      openableBefore = delimiters >> LAST;
    }
    if (returns !== 0) return 0;
    fields += <i32>popcnt(delimiters);
  }
  return fields;
}

/** As `countFields`, for a row that has quotes in fields that begin without one. */
function countOneByOne(from: usize, end: usize, delimiter: i32): i32 {
  let fields: i32 = 0;
  let at = from;
  while (true) {
    fields++;
    if (at < end && load<u8>(at) === QUOTE) at = min(closingQuote(at + 1, end) + 1, end);
    const fieldEnd = findByte(delimiter, at, end);
    if (findByte(CR, at, fieldEnd) < fieldEnd) return 0;
    if (fieldEnd === end) return fields;
    at = fieldEnd + 1;
  }
}

// ---- Finds rows (RFC 4180) that are lines as they stand, 64 bytes at a time. A `u64` is a set of
// positions in a block, the first byte in the lowest bit: see kernel/assembly/bytes.ts.

/**
 * Returns the address after the last row that is plain, with all rows before it. A row is plain if
 * it ends at a newline, has no newline in a quoted field, has no quote in a field that begins
 * without one, and does not begin with ROW_MARKED or ROW_REFUSED. The first row begins at `from`.
 *
 * Reads up to 63 bytes after `end`, one pass.
 */
export function endOfPlainRows(from: usize, end: usize, delimiter: i32): usize {
  let rowEnd = from;
  // Whether the block begins inside quotes: all bits, or none.
  let isQuoted: u64 = 0;
  // Bit 0: whether a row or a field may begin with the block's first byte.
  let rowBefore: u64 = 1;
  let fieldBefore: u64 = 1;
  for (let at = from; at < end; at += BLOCK) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const here: u64 = end - at < BLOCK ? ((<u64>1) << (<u64>(end - at))) - 1 : ~(<u64>0);
    const quotes = positionsOf(QUOTE, a, b, c, d) & here;
    const newlines = positionsOf(LF, a, b, c, d) & here;
    const quoted = quotedIn(quotes) ^ isQuoted;
    // A quote after a closing quote stands with it for one quote, and opens the field again.
    const fieldEnds = newlines | (quotes & ~quoted) | positionsOf(delimiter, a, b, c, d);
    const rowEnds = newlines & ~quoted;
    const inFields = quotes & quoted & ~((fieldEnds << 1) | fieldBefore);
    const marks = rowMarksOf(a, b, c, d) & here & ((rowEnds << 1) | rowBefore);
    const others = inFields | (newlines & quoted) | marks;
    const plain = others === 0 ? rowEnds : rowEnds & (lowest(others) - 1);
    if (plain !== 0) rowEnd = at + BLOCK - <usize>clz(plain);
    if (others !== 0) return rowEnd;
    isQuoted = <u64>(<i64>quoted >> LAST);
    rowBefore = rowEnds >> LAST;
    fieldBefore = fieldEnds >> LAST;
  }
  return rowEnd;
}

/** The first position of a set. */
function lowest(set: u64): u64 {
  return set & -set;
}

/** The positions of ROW_MARKED and ROW_REFUSED. */
function rowMarksOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return positions(
    i8x16.bitmask(isRowMark(a)),
    i8x16.bitmask(isRowMark(b)),
    i8x16.bitmask(isRowMark(c)),
    i8x16.bitmask(isRowMark(d)),
  );
}

function isRowMark(bytes: v128): v128 {
  return v128.or(i8x16.eq(bytes, splat(ROW_MARKED)), i8x16.eq(bytes, splat(ROW_REFUSED)));
}
