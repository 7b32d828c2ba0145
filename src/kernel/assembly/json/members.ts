/**
 * Skipping the members of an object that do not matter, 64 bytes at a time, by sets of positions. A
 * set is a `u64` whose lowest bit is the first byte. Only plainly well-formed members are skipped;
 * the walk of locate-url.ts reads the rest. The sets of quotes and of strings are those of simdjson
 * (Langdale and Lemire, 2019).
 */

import { QUERY_FIELDS } from '../../layout';
import { equal } from '../bytes/search';
import { positions } from '../bytes/vectors';
import { recall, remember, shapeAt } from './shape';

/** The position after each position of a set, with spaces skipped. */
function after(set: u64, spaces: u64): u64 {
  const next = set << 1;
  // Adding the first of a run of spaces carries to the position after the run.
  return (((next & spaces) + spaces) | next) & ~spaces;
}

/** The positions from each opening quote up to its closing quote, exclusive. */
function strings(quotes: u64): u64 {
  quotes ^= quotes << 1;
  quotes ^= quotes << 2;
  quotes ^= quotes << 4;
  quotes ^= quotes << 8;
  quotes ^= quotes << 16;
  return quotes ^ (quotes << 32);
}

/**
 * The roles of 16 bytes, a bit each: 1 quote, 2 comma, 4 colon, 8 space, 16 closing brace. Bytes
 * below 0x20, `[ \ ]` and `{` end what can be skipped: they have one or more of 32, 64 and 128. All
 * other bytes have no role. A byte has the bits that the entries of its two halves share.
 */
function rolesOf(bytes: v128): v128 {
  const low = i8x16(40, 32, 33, 32, 32, 32, 32, 32, 32, 32, 36, -32, 98, 112, 32, 32);
  const high = i8x16(32, 32, 11, 4, 0, 64, 0, -112, 0, 0, 0, 0, 0, 0, 0, 0);
  const half = i8x16.splat(15);
  return v128.and(
    i8x16.swizzle(low, v128.and(bytes, half)),
    i8x16.swizzle(high, v128.and(i16x8.shr_u(bytes, 4), half)),
  );
}

/** How far the bit of a role is from the highest bit of its byte. */
const QUOTE: i32 = 7;
const COMMA: i32 = 6;
const COLON: i32 = 5;
const SPACE: i32 = 4;
const BRACE: i32 = 3;

/** The positions of a role among 64 bytes. */
function positionsOf(role: i32, a: v128, b: v128, c: v128, d: v128): u64 {
  return positions(
    i8x16.bitmask(i16x8.shl(a, role)),
    i8x16.bitmask(i16x8.shl(b, role)),
    i8x16.bitmask(i16x8.shl(c, role)),
    i8x16.bitmask(i16x8.shl(d, role)),
  );
}

/** The positions among 16 bytes that do not end what can be skipped. */
function plainOf(roles: v128): i32 {
  return i8x16.bitmask(i8x16.eq(v128.and(roles, i8x16.splat(-32)), i8x16.splat(0)));
}

/**
 * Skips members of an object, from the opening brace or the comma at `at`. Returns the address of
 * the comma or closing brace after the last skipped member; `at` if none could be skipped. Reads up
 * to 63 bytes past `end`.
 *
 * A member can be skipped if its key is not the first key of the URL field's path, its value is a
 * string, a number or a literal (any run of bytes without a mark of JSON), and it holds no
 * backslash and no byte below 0x20.
 */
export function skipMembers(query: usize, worker: usize, at: usize, end: usize): usize {
  const segment: usize = load<u32>(query, QUERY_FIELDS);
  const bytes = load<i32>(segment, 4);
  if (<u32>(bytes - 1) >= 32) return at;
  const a = rolesOf(v128.load(at));
  const b = rolesOf(v128.load(at, 16));
  const c = rolesOf(v128.load(at, 32));
  const d = rolesOf(v128.load(at, 48));
  // The first byte is a comma or a brace.
  const plain = positions(plainOf(a), plainOf(b), plainOf(c), plainOf(d)) | 1;
  const shape = shapeAt(worker, ctz(~plain));
  const known = recall(shape, a, b, c, d);
  if (known !== 0 && known < end - at) return at + known;
  let quotes = positionsOf(QUOTE, a, b, c, d);
  let commas = positionsOf(COMMA, a, b, c, d);
  let colons = positionsOf(COLON, a, b, c, d);
  let spaces = positionsOf(SPACE, a, b, c, d);
  let braces = positionsOf(BRACE, a, b, c, d);
  // The first byte counts as a comma, whether comma or brace.
  let within = plain & ~(plain + 1);
  if (end - at < 64) within &= ((<u64>1) << (<u64>(end - at))) - 1;
  quotes &= within;
  let inside = strings(quotes) & within;
  within &= ~inside;
  commas = (commas & within) | 1;
  spaces &= within;
  let candidates = (after(commas, spaces) << (bytes + 1)) & quotes;
  // A key as long as the wanted key must be compared each time.
  const isRepeatable = candidates === 0;
  while (candidates !== 0) {
    // A key as long as the wanted key ends here.
    const key = at + <usize>ctz(candidates) - bytes;
    if (equal(load<u32>(segment), key, bytes)) {
      within &= ((<u64>1) << (<u64>(key - at))) - 1;
      break;
    }
    candidates &= candidates - 1;
  }
  braces &= within;
  const ends = ((commas & within) | braces) & ~1;
  if (ends === 0) return at;
  const end64 = 63 - clz(ends);
  const before = ((<u64>1) << end64) - 1;
  if ((braces & before) !== 0) return at;
  // Everything up to the last separator must be well-formed, the separator included.
  quotes &= before;
  inside &= before;
  const separators = (commas | braces) & ((before << 1) | 1);
  colons &= before & ~inside;
  spaces &= before;
  const keys = after(commas & before, spaces);
  const closing = quotes & ~inside;
  const keysEnds = (keys + inside) & closing;
  const values = after(colons, spaces);
  const scalars = before & ~(inside | quotes | separators | colons | spaces);
  const opening = quotes & inside;
  const faults =
    (keys & ~opening) |
    (colons ^ after(keysEnds, spaces)) |
    (opening & ~(keys | values)) |
    (values & ~(opening | scalars)) |
    (after(closing & ~keysEnds, spaces) & ~separators) |
    (scalars & ~((scalars << 1) | values)) |
    (after(scalars, spaces) & ~(scalars | separators));
  if (faults !== 0) return at;
  if (isRepeatable) remember(shape, a, b, c, d, end64);
  return at + <usize>end64;
}
