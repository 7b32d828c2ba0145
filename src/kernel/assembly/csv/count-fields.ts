/** Counts the fields of a row, 64 bytes at a time. Sets of positions: see bytes/vectors.ts. */

import { CR, QUOTE } from '../../../ascii';
import { findByte } from '../bytes/search';
import { positionsOf, quotedIn } from '../bytes/vectors';
import { closingQuote } from './locate-field';

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
export function countFields(from: usize, end: usize, delimiter: i32): i32 {
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
    const quotes = positionsOf(QUOTE, a, b, c, d) & here;
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
