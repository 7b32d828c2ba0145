/**
 * Reading an object as one before it: the records of a source mostly differ only in their values.
 * If the URL is the first member, and what follows the URL has the same bytes with a meaning in
 * JSON at the same places as in a record before, the reader of marks (locate-url.ts) would read it
 * in the same way, so it need not. (Mison speculates so on the places of fields: Li et al., VLDB
 * 2017.)
 *
 * Comparing pays for short records that repeat. Records that differ use up the batch's `credit`;
 * then the rest of the batch is not compared.
 */

import { CLOSE_BRACE, CR, LF, OPEN_BRACE, QUOTE, SPACE } from '../../../base/ascii';
import {
  FORMAT_JSON,
  FORMAT_NDJSON,
  QUERY_NAMES_AGENT,
  QUERY_STRICT,
  QUERY_TIMED,
  SHAPE_BYTES,
} from '../../layout';
import { equal, positions, positionsOf, QUOTE_COLON, quotedIn } from '../bytes';
import { Line, Query, Shapes } from '../memory';
import { splitPlain } from '../url';
import { holdsEscape, skipString } from './string';

/**
 * The credit of a batch: a record that is not alike costs two, and one that is alike returns one.
 */
const MOST_CREDIT: i32 = 64;

/** With a key of 63 bytes or more, the shift by its length in `rememberShape` would wrap. */
const MOST_KEY_BYTES: u32 = 32;

/**
 * Forgets all shapes: they hold for one query. Gives credit if records of the query can be alike.
 */
export function forgetShapes(shapes: Shapes, query: Query): void {
  shapes.credit = 0;
  const isJson = query.format === FORMAT_NDJSON || query.format === FORMAT_JSON;
  // A shape does not say where the time is, or the agent.
  const others = QUERY_TIMED | QUERY_NAMES_AGENT;
  if (!isJson || (query.flags & (QUERY_STRICT | others)) !== 0) return;
  if (load<u32>(query.fields, 4) > MOST_KEY_BYTES) return;
  shapes.credit = MOST_CREDIT;
  // No shape is alike without its last brace.
  for (let bytes = 1; bytes < SHAPE_BYTES; bytes++) store<u8>(shapes.of(bytes) + bytes - 1, 0);
}

/**
 * The meanings of 16 bytes, a bit each: 1 quote, 2 comma, 4 colon, 8 space, 16 closing brace. Bytes
 * below 0x20, `[ \ ]` and `{` end a shape: they have one or more of 32, 64 and 128. All other bytes
 * have 0. A byte has the bits that the entries of its two halves share.
 */
function meaningsOf(bytes: v128): v128 {
  const low = i8x16(40, 32, 33, 32, 32, 32, 32, 32, 32, 32, 36, -32, 98, 112, 32, 32);
  const high = i8x16(32, 32, 11, 4, 0, 64, 0, -112, 0, 0, 0, 0, 0, 0, 0, 0);
  const half = i8x16.splat(15);
  return v128.and(
    i8x16.swizzle(low, v128.and(bytes, half)),
    i8x16.swizzle(high, v128.and(i16x8.shr_u(bytes, 4), half)),
  );
}

/** The positions among 16 of the bytes that end a shape. */
function endsOf(meanings: v128): i32 {
  return i8x16.bitmask(i8x16.gt_u(meanings, i8x16.splat(31)));
}

/** Address of the URL in a line that begins with it: `{"url":"`; 0 if the line does not. */
function firstUrl(query: Query, start: usize): usize {
  if (load<u8>(start) !== OPEN_BRACE || load<u8>(start, 1) !== QUOTE) return 0;
  const bytes = load<i32>(query.fields, 4);
  const key = start + 2;
  if (!equal(load<u32>(query.fields), key, bytes)) return 0;
  const quote = key + bytes;
  if (<i32>load<u16>(quote) !== QUOTE_COLON) return 0;
  const value = quote + 2 + <usize>(load<u8>(quote, 2) === SPACE);
  return load<u8>(value) === QUOTE ? value + 1 : 0;
}

/**
 * As `locateUrl` and then `splitPlain`, for an object as one that `rememberShape` has seen. Returns
 * where `splitPlain` stopped; 0 for any other line, whose entry is then undefined.
 */
export function locateAlike(query: Query, line: Line, end: usize, shapes: Shapes): usize {
  const url = firstUrl(query, line.start);
  if (url === 0 || url >= end) return 0;
  const stop = splitPlain(line, url, end);
  if (stop === 0) return 0;
  let quote = stop;
  if (load<u8>(stop) !== QUOTE) {
    quote = skipString(stop, end);
    if (holdsEscape(stop, quote)) return 0;
  }
  const brace = lastBrace(shapes, quote + 1);
  if (brace === 0) return 0;
  const newline = brace + 1 + <usize>(load<u8>(brace, 1) === CR);
  if (newline >= end || load<u8>(newline) !== LF) return 0;
  line.url = url;
  line.urlEnd = quote;
  line.brace = brace;
  line.newline = newline;
  return stop;
}

/** Address of the brace that ends a known shape at `at`; 0 if the shape is not known. */
function lastBrace(shapes: Shapes, at: usize): usize {
  const a = meaningsOf(v128.load(at));
  const b = meaningsOf(v128.load(at, 16));
  const c = meaningsOf(v128.load(at, 32));
  const d = meaningsOf(v128.load(at, 48));
  const bytes = <i32>ctz(positions(endsOf(a), endsOf(b), endsOf(c), endsOf(d)));
  if (bytes === 0 || bytes >= SHAPE_BYTES) return 0;
  const shape = shapes.of(bytes);
  const alike = positions(
    i8x16.bitmask(i8x16.eq(a, v128.load(shape))),
    i8x16.bitmask(i8x16.eq(b, v128.load(shape, 16))),
    i8x16.bitmask(i8x16.eq(c, v128.load(shape, 32))),
    i8x16.bitmask(i8x16.eq(d, v128.load(shape, 48))),
  );
  if ((~alike & (((<u64>1) << (<u64>bytes)) - 1)) !== 0) return 0;
  const brace = at + <usize>bytes - 1;
  return load<u8>(brace) === CLOSE_BRACE ? brace : 0;
}

/** Remembers the shape of an object that `locateUrl` has read, if others can be alike. */
export function rememberShape(query: Query, line: Line, shapes: Shapes): void {
  const url = line.url;
  if (url === 0 || url !== firstUrl(query, line.start)) return;
  const at = line.urlEnd + 1;
  const bytes = line.brace + 1 - at;
  if (bytes >= <usize>SHAPE_BYTES) return;
  const a = v128.load(at);
  const b = v128.load(at, 16);
  const c = v128.load(at, 32);
  const d = v128.load(at, 48);
  // A string as long as the wanted key may be that key in the next record, and the last one counts.
  const quotes = positionsOf(QUOTE, a, b, c, d) & (((<u64>1) << (<u64>bytes)) - 1);
  const opening = quotes & quotedIn(quotes);
  const closing = quotes ^ opening;
  if ((opening & (closing >>> (<u64>load<u32>(query.fields, 4) + 1))) !== 0) return;
  const shape = shapes.of(<i32>bytes);
  v128.store(shape, meaningsOf(a));
  v128.store(shape, meaningsOf(b), 16);
  v128.store(shape, meaningsOf(c), 32);
  v128.store(shape, meaningsOf(d), 48);
}

/** Notes whether a line was alike. */
export function noteAlike(shapes: Shapes, isAlike: bool): void {
  const credit = shapes.credit + (isAlike ? 1 : -2);
  shapes.credit = min(credit, MOST_CREDIT);
}
