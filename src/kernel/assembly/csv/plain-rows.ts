/**
 * Finds rows (RFC 4180) that are lines as they stand, 64 bytes at a time. A `u64` is a set of
 * positions in a block, the first byte in the lowest bit: see bytes/vectors.ts.
 */

import { LF, QUOTE } from '../../../ascii';
import { ROW_MARKED, ROW_REFUSED } from '../../layout';
import { positions, positionsOf, quotedIn, splat } from '../bytes/vectors';

const BLOCK: usize = 64;
/** The highest bit of a set, moved to the lowest. */
const LAST: u64 = 63;

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
