/**
 * The members of an object that do not matter: skipped 64 octets at a time, by sets of positions instead of octet by octet.
 * A set is a `u64` whose lowest bit is the first octet. Only what is plainly well-formed is skipped; the
 * walk of json.ts judges the rest. Sets of quotes and of what lies between them are as in simdjson (Langdale and Lemire,
 * 2019).
 */

import { QUERY_FIELDS } from '../layout';
import { equal } from './search';
import { isInNoClass, positions } from './vectors';

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
 * Skips members of an object, from its opening brace or the comma before a member, at `at`, to the comma or closing brace
 * behind the last that could be skipped; returns the address of that, or `at`. Skipped are members whose key is not the
 * first of the URL field's path, and whose value is a string, a number or a literal (any run of octets that ends at none of
 * JSON's marks); no backslash and no octet below 0x20 stands in them. Reads up to 63 octets past `end`.
 */
export function skipMembers(query: usize, at: usize, end: usize): usize {
  const segment: usize = load<u32>(query, QUERY_FIELDS);
  const octets = load<i32>(segment, 4);
  if (<u32>(octets - 1) >= 32) return at;
  const a = v128.load(at);
  const b = v128.load(at, 16);
  const c = v128.load(at, 32);
  const d = v128.load(at, 48);
  let wanted = i8x16.splat(0x22);
  let quotes = positions(
    i8x16.bitmask(i8x16.eq(a, wanted)),
    i8x16.bitmask(i8x16.eq(b, wanted)),
    i8x16.bitmask(i8x16.eq(c, wanted)),
    i8x16.bitmask(i8x16.eq(d, wanted)),
  );
  wanted = i8x16.splat(0x2c);
  let commas = positions(
    i8x16.bitmask(i8x16.eq(a, wanted)),
    i8x16.bitmask(i8x16.eq(b, wanted)),
    i8x16.bitmask(i8x16.eq(c, wanted)),
    i8x16.bitmask(i8x16.eq(d, wanted)),
  );
  wanted = i8x16.splat(0x3a);
  let colons = positions(
    i8x16.bitmask(i8x16.eq(a, wanted)),
    i8x16.bitmask(i8x16.eq(b, wanted)),
    i8x16.bitmask(i8x16.eq(c, wanted)),
    i8x16.bitmask(i8x16.eq(d, wanted)),
  );
  wanted = i8x16.splat(0x20);
  let spaces = positions(
    i8x16.bitmask(i8x16.eq(a, wanted)),
    i8x16.bitmask(i8x16.eq(b, wanted)),
    i8x16.bitmask(i8x16.eq(c, wanted)),
    i8x16.bitmask(i8x16.eq(d, wanted)),
  );
  wanted = i8x16.splat(0x7d);
  let braces = positions(
    i8x16.bitmask(i8x16.eq(a, wanted)),
    i8x16.bitmask(i8x16.eq(b, wanted)),
    i8x16.bitmask(i8x16.eq(c, wanted)),
    i8x16.bitmask(i8x16.eq(d, wanted)),
  );
  // Octets below 0x20, `[ \ ]` and `{` end what can be skipped: those of which the entries of the two halves share a bit.
  const low = i8x16(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7, 3, 3, 1, 1);
  const high = i8x16(1, 1, 0, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0);
  const plain = positions(
    i8x16.bitmask(isInNoClass(low, high, a)),
    i8x16.bitmask(isInNoClass(low, high, b)),
    i8x16.bitmask(isInNoClass(low, high, c)),
    i8x16.bitmask(isInNoClass(low, high, d)),
  );
  // The first octet, comma or brace, counts as a comma.
  let within = (plain | 1) & ~((plain | 1) + 1);
  if (end - at < 64) within &= ((<u64>1) << (<u64>(end - at))) - 1;
  quotes &= within;
  let inside = strings(quotes) & within;
  within &= ~inside;
  commas = (commas & within) | 1;
  spaces &= within;
  let candidates = (behind(commas, spaces) << (octets + 1)) & quotes;
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
  return faults === 0 ? at + <usize>end64 : at;
}
