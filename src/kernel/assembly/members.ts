/**
 * The members of an object that do not matter: skipped 64 octets at a time, by sets of positions
 * instead of octet by octet. A set is a `u64` whose lowest bit is the first octet. Only what is
 * plainly well-formed is skipped; the walk of json.ts judges the rest. Sets of quotes and of what
 * lies between them are as in simdjson (Langdale and Lemire, 2019).
 */

import { QUERY_FIELDS } from '../layout';
import { equal } from './search';
import { recall, remember, shapeAt } from './shape';
import { positions } from './vectors';

/** The positions behind each of a set, spaces skipped. */
function behind(set: u64, spaces: u64): u64 {
  const next = set << 1;
  // Adding the first of a run of spaces carries to the position behind the run.
  return (((next & spaces) + spaces) | next) & ~spaces;
}

/** The positions from each opening quote up to, but without, its closing quote. */
function strings(quotes: u64): u64 {
  quotes ^= quotes << 1;
  quotes ^= quotes << 2;
  quotes ^= quotes << 4;
  quotes ^= quotes << 8;
  quotes ^= quotes << 16;
  return quotes ^ (quotes << 32);
}

/**
 * The roles of 16 octets, a bit each: 1 quote, 2 comma, 4 colon, 8 space, 16 closing brace; one or
 * more of 32, 64 and 128 for octets below 0x20, `[ \ ]` and `{`, which end what can be skipped. All
 * others have none. An octet has the bits that the entries of its two halves share.
 */
function rolesOf(octets: v128): v128 {
  const low = i8x16(40, 32, 33, 32, 32, 32, 32, 32, 32, 32, 36, -32, 98, 112, 32, 32);
  const high = i8x16(32, 32, 11, 4, 0, 64, 0, -112, 0, 0, 0, 0, 0, 0, 0, 0);
  const half = i8x16.splat(15);
  return v128.and(
    i8x16.swizzle(low, v128.and(octets, half)),
    i8x16.swizzle(high, v128.and(i16x8.shr_u(octets, 4), half)),
  );
}

/** How far the bit of a role is from the highest of its octet. */
const QUOTE: i32 = 7;
const COMMA: i32 = 6;
const COLON: i32 = 5;
const SPACE: i32 = 4;
const BRACE: i32 = 3;

/** The positions of a role among 64 octets. */
function positionsOf(role: i32, a: v128, b: v128, c: v128, d: v128): u64 {
  return positions(
    i8x16.bitmask(i16x8.shl(a, role)),
    i8x16.bitmask(i16x8.shl(b, role)),
    i8x16.bitmask(i16x8.shl(c, role)),
    i8x16.bitmask(i16x8.shl(d, role)),
  );
}

/** The positions among 16 octets of those that do not end what can be skipped. */
function plainOf(roles: v128): i32 {
  return i8x16.bitmask(i8x16.eq(v128.and(roles, i8x16.splat(-32)), i8x16.splat(0)));
}

/**
 * Skips members of an object, from its opening brace or the comma before a member, at `at`, to the
 * comma or closing brace behind the last that could be skipped; returns the address of that, or
 * `at`. Skipped are members whose key is not the first of the URL field's path, and whose value is
 * a string, a number or a literal (any run of octets that ends at none of JSON's marks); no
 * backslash and no octet below 0x20 stands in them. Reads up to 63 octets past `end`.
 */
export function skipMembers(query: usize, worker: usize, at: usize, end: usize): usize {
  const segment: usize = load<u32>(query, QUERY_FIELDS);
  const octets = load<i32>(segment, 4);
  if (<u32>(octets - 1) >= 32) return at;
  const a = rolesOf(v128.load(at));
  const b = rolesOf(v128.load(at, 16));
  const c = rolesOf(v128.load(at, 32));
  const d = rolesOf(v128.load(at, 48));
  // The first octet is a comma or a brace.
  const plain = positions(plainOf(a), plainOf(b), plainOf(c), plainOf(d)) | 1;
  const shape = shapeAt(worker, ctz(~plain));
  const known = recall(shape, a, b, c, d);
  if (known !== 0 && known < end - at) return at + known;
  let quotes = positionsOf(QUOTE, a, b, c, d);
  let commas = positionsOf(COMMA, a, b, c, d);
  let colons = positionsOf(COLON, a, b, c, d);
  let spaces = positionsOf(SPACE, a, b, c, d);
  let braces = positionsOf(BRACE, a, b, c, d);
  // The first octet counts as a comma, whichever it is.
  let within = plain & ~(plain + 1);
  if (end - at < 64) within &= ((<u64>1) << (<u64>(end - at))) - 1;
  quotes &= within;
  let inside = strings(quotes) & within;
  within &= ~inside;
  commas = (commas & within) | 1;
  spaces &= within;
  let candidates = (behind(commas, spaces) << (octets + 1)) & quotes;
  // Keys as long as the wanted one have to be read each time.
  const isRepeatable = candidates === 0;
  while (candidates !== 0) {
    // A key as long as the wanted one ends here.
    const key = at + <usize>ctz(candidates) - octets;
    if (equal(load<u32>(segment), key, octets)) {
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
  // Up to and with the last separator all must be as it has to be.
  quotes &= before;
  inside &= before;
  const separators = (commas | braces) & ((before << 1) | 1);
  colons &= before & ~inside;
  spaces &= before;
  const keys = behind(commas & before, spaces);
  const closing = quotes & ~inside;
  const keysEnds = (keys + inside) & closing;
  const values = behind(colons, spaces);
  const scalars = before & ~(inside | quotes | separators | colons | spaces);
  const opening = quotes & inside;
  const faults =
    (keys & ~opening) |
    (colons ^ behind(keysEnds, spaces)) |
    (opening & ~(keys | values)) |
    (values & ~(opening | scalars)) |
    (behind(closing & ~keysEnds, spaces) & ~separators) |
    (scalars & ~((scalars << 1) | values)) |
    (behind(scalars, spaces) & ~(scalars | separators));
  if (faults !== 0) return at;
  if (isRepeatable) remember(shape, a, b, c, d, end64);
  return at + <usize>end64;
}
