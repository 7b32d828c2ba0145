/**
 * Finding the URL in a JSON object on one line, as JSON.parse would find it: escapes, nesting, key
 * order and white space do not matter, and of duplicate keys the last counts. The object is
 * followed from its first brace to the end of the line; what lies between strings and brackets
 * elsewhere is not judged (strict.ts does that).
 */

import {
  QUERY_FIELD_COUNT,
  QUERY_FIELDS,
  QUERY_KEY,
  QUERY_KEY_BITS,
  REASON_NO_JSON,
  REASON_NO_OBJECT,
} from '../layout';
import { LINE_BRACE, LINE_END, LINE_NEWLINE, LINE_URL, LINE_URL_END } from './line';
import { skipMembers } from './members';
import { hexDigit } from './octets';
import { claimScratch } from './scratch';
import { equal } from './search';
import { splitPlain } from './url';

/**
 * Results of `locateUrl`: the string's octets between its quotes, and whether it holds escapes; 0
 * where there is no such string.
 */
export let stringStart: usize = 0;
export let stringEnd: usize = 0;
export let stringEscaped: bool = false;
/** Where `splitPlain` stopped reading the string as a URL, 0 if it did not read it. */
export let plainStop: usize = 0;
/** The closing brace of the object. */
export let closingBrace: usize = 0;
/** The newline behind the value, or the end of the input. */
export let afterValue: usize = 0;

/** `locateUrl` found an object. */
export const LOCATED: i32 = -1;

/** Set by `skipString`: whether the string holds a backslash. */
let escapes: bool = false;

/**
 * Address of the quote that ends the string of which `from` is the first octet, or a later one;
 * `end` if its line has none. Reads 16 octets past `end`.
 */
function skipString(from: usize, end: usize): usize {
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  const newline = i8x16.splat(0x0a);
  escapes = false;
  while (from < end) {
    const octets = v128.load(from);
    const found = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(octets, quote), i8x16.eq(octets, backslash)),
        i8x16.eq(octets, newline),
      ),
    );
    if (found === 0) {
      from += 16;
      continue;
    }
    from += ctz(found);
    if (from >= end) return end;
    const octet: i32 = load<u8>(from);
    if (octet === 0x22) return from;
    if (octet === 0x0a) return end;
    escapes = true;
    // What is escaped is skipped; an escaped newline is none, and ends the line.
    from += from + 1 < end && load<u8>(from, 1) === 0x0a ? 1 : 2;
  }
  return end;
}

/** White space within a line. */
function isSpace(octet: i32): bool {
  return octet <= 0x20 && (octet === 0x20 || octet === 0x09 || octet === 0x0d);
}

function skipSpace(at: usize, end: usize): usize {
  while (at < end && isSpace(load<u8>(at))) at++;
  return at;
}

/** Address behind the array or object that begins at `at`; `end` if it does not end on its line. */
function skipContainer(at: usize, end: usize): usize {
  let depth = 0;
  while (at < end) {
    const octet: i32 = load<u8>(at);
    if (octet === 0x22) {
      at = skipString(at + 1, end);
      if (at === end) return end;
    } else if (octet === 0x7b || octet === 0x5b) {
      depth++;
    } else if (octet === 0x7d || octet === 0x5d) {
      if (--depth === 0) return at + 1;
    } else if (octet === 0x0a) {
      return end;
    }
    at++;
  }
  return end;
}

/** Whether a key, between its quotes, is the segment of the field's path at this level. */
function isKey(
  query: usize,
  level: i32,
  from: usize,
  end: usize,
  escaped: bool,
  scratch: usize,
): bool {
  const segment = <usize>load<u32>(query, QUERY_FIELDS) + <usize>level * 8;
  const octets = load<i32>(segment, 4);
  if (!escaped) return <i32>(end - from) === octets && equal(load<u32>(segment), from, octets);
  if (<i32>(end - from) < octets) return false;
  claimScratch(scratch, end - from);
  const decoded = unescapeString(from, end, scratch);
  return (
    decoded !== 0 &&
    <i32>(decoded - scratch) === octets &&
    equal(load<u32>(segment), scratch, octets)
  );
}

/** Whether the line ends behind its value, of which `at` is the end; leaves where. */
function endsAt(at: usize, end: usize): bool {
  at = skipSpace(at, end);
  afterValue = at;
  return at === end || load<u8>(at) === 0x0a;
}

/**
 * Reads the string that begins at `at` as the URL, in one pass where it is of the plain form.
 * Returns the address of the quote that ends it; `end` if there is none.
 */
function readUrlString(line: usize, at: usize, end: usize): usize {
  plainStop = splitPlain(line, at, end);
  const quote = skipString(plainStop !== 0 ? plainStop : at, end);
  stringStart = at;
  stringEnd = quote;
  stringEscaped = escapes;
  return quote;
}

/** Address behind `"url":` and a space, either side, if that begins at `at`; 0 if not. */
function behindKey(query: usize, at: usize): usize {
  at += <usize>(load<u8>(at) === 0x20);
  const bits = load<i32>(query, QUERY_KEY_BITS);
  const equal = i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(query, QUERY_KEY)));
  if ((equal & bits) !== bits || bits === 0) return 0;
  at += <usize>ctz(~bits);
  return at + <usize>(load<u8>(at) === 0x20);
}

/**
 * As `locateUrl` for most lines: an object whose members but for the URL `skipMembers` skips, and
 * whose URL is a string without escapes that `splitPlain` reads. Fills in all that the line entry
 * says of these, its end included, and returns where `splitPlain` stopped; 0, and then no more than
 * a hint, if the line is of another form.
 */
export function locatePlain(
  query: usize,
  worker: usize,
  line: usize,
  start: usize,
  end: usize,
): usize {
  if (load<u8>(start) !== 0x7b) return 0;
  let at = start;
  let value = behindKey(query, at + 1);
  while (value === 0) {
    const further = skipMembers(query, worker, at, end);
    if (further === at || load<u8>(further) !== 0x2c) return 0;
    at = further;
    value = behindKey(query, at + 1);
  }
  if (load<u8>(value) !== 0x22) return 0;
  const url = value + 1;
  if (url >= end) return 0;
  const stop = splitPlain(line, url, end);
  if (stop === 0) return 0;
  let quote = stop;
  if (load<u8>(quote) !== 0x22) {
    quote = skipString(stop, end);
    if (escapes) return 0;
  }
  at = quote + 1;
  while (at < end && load<u8>(at) === 0x2c) {
    const further = skipMembers(query, worker, at, end);
    if (further === at) return 0;
    at = further;
  }
  let newline = at + 1;
  newline += <usize>(load<u8>(newline) === 0x0d);
  if (newline >= end || load<u8>(at) !== 0x7d || load<u8>(newline) !== 0x0a) return 0;
  store<u32>(line, url, LINE_URL);
  store<u32>(line, quote, LINE_URL_END);
  store<u32>(line, at, LINE_BRACE);
  store<u32>(line, at + 1, LINE_END);
  store<u32>(line, newline, LINE_NEWLINE);
  return stop;
}

/**
 * Walks the object at `at`, whose line ends at `end` at the latest, and leaves the string of the
 * URL field. Returns LOCATED, or the reason why the line is no object. `scratch` takes a key that
 * has to be decoded. One pass; nesting costs no stack.
 */
export function locateUrl(query: usize, line: usize, at: usize, end: usize, scratch: usize): i32 {
  const segments = load<i32>(query, QUERY_FIELD_COUNT);
  stringStart = 0;
  at = skipSpace(at, end);
  if (at === end || load<u8>(at) !== 0x7b) return REASON_NO_OBJECT;
  let level = 0;
  at = skipSpace(at + 1, end);
  if (at < end && load<u8>(at) === 0x7d) {
    closingBrace = at;
    return endsAt(at + 1, end) ? LOCATED : REASON_NO_JSON;
  }
  while (true) {
    // A member begins here.
    if (at >= end || load<u8>(at) !== 0x22) return REASON_NO_JSON;
    const key = at + 1;
    at = skipString(key, end);
    if (at === end) return REASON_NO_JSON;
    const wanted = isKey(query, level, key, at, escapes, scratch);
    at = skipSpace(at + 1, end);
    if (at >= end || load<u8>(at) !== 0x3a) return REASON_NO_JSON;
    at = skipSpace(at + 1, end);
    if (at >= end) return REASON_NO_JSON;
    if (wanted) stringStart = 0;
    const first: i32 = load<u8>(at);
    if (first === 0x22) {
      const isUrl = wanted && level === segments - 1;
      at = isUrl ? readUrlString(line, at + 1, end) : skipString(at + 1, end);
      if (at === end) return REASON_NO_JSON;
      at++;
    } else if (first === 0x7b && wanted && level < segments - 1) {
      at = skipSpace(at + 1, end);
      if (at < end && load<u8>(at) === 0x7d) {
        at++;
      } else {
        level++;
        continue;
      }
    } else if (first === 0x7b || first === 0x5b) {
      at = skipContainer(at, end);
    } else {
      const value = at;
      at = skipScalar(at, end);
      if (at === value) return REASON_NO_JSON;
    }
    // A member ends here, and with it perhaps objects that were entered.
    while (true) {
      at = skipSpace(at, end);
      if (at >= end) return REASON_NO_JSON;
      const octet: i32 = load<u8>(at);
      if (octet === 0x2c) {
        at = skipSpace(at + 1, end);
        break;
      }
      if (octet !== 0x7d) return REASON_NO_JSON;
      if (level === 0) {
        closingBrace = at;
        return endsAt(at + 1, end) ? LOCATED : REASON_NO_JSON;
      }
      level--;
      at++;
    }
  }
}

/**
 * Address behind a number or literal: of the first octet that ends it. Reads 16 octets past `end`.
 */
function skipScalar(at: usize, end: usize): usize {
  // Octets up to space and `" , : [ ] { }` end it: those of which the entries of the two halves
  // share a bit.
  const low = i8x16(3, 1, 3, 1, 1, 1, 1, 1, 1, 1, 5, 9, 3, 9, 1, 1);
  const high = i8x16(1, 1, 2, 4, 0, 8, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0);
  const half = i8x16.splat(15);
  while (at < end) {
    const octets = v128.load(at);
    const ends = v128.and(
      i8x16.swizzle(low, v128.and(octets, half)),
      i8x16.swizzle(high, i8x16.shr_u(octets, 4)),
    );
    const found = i8x16.bitmask(i8x16.ne(ends, i8x16.splat(0)));
    if (found !== 0) return min(at + ctz(found), end);
    at += 16;
  }
  return end;
}

/**
 * Leaves the string that is the whole line at `at`. Returns LOCATED, or the reason why the line is
 * no string.
 */
export function locateString(line: usize, at: usize, end: usize): i32 {
  at = skipSpace(at, end);
  if (at === end || load<u8>(at) !== 0x22) return REASON_NO_OBJECT;
  at = readUrlString(line, at + 1, end);
  closingBrace = 0;
  return at < end && endsAt(at + 1, end) ? LOCATED : REASON_NO_JSON;
}

/** The code unit that four hexadecimal digits say, -1 if they are not four. */
function codeUnit(at: usize, end: usize): i32 {
  if (<isize>(end - at) < 4) return -1;
  const a = hexDigit(load<u8>(at));
  const b = hexDigit(load<u8>(at, 1));
  const c = hexDigit(load<u8>(at, 2));
  const d = hexDigit(load<u8>(at, 3));
  if ((a | b | c | d) < 0) return -1;
  return (a << 12) | (b << 8) | (c << 4) | d;
}

/** Writes a code point in UTF-8; returns the address behind it. */
function writeCodePoint(point: i32, to: usize): usize {
  if (point < 0x80) {
    store<u8>(to, point);
    return to + 1;
  }
  if (point < 0x800) {
    store<u8>(to, 0xc0 | (point >> 6));
    store<u8>(to, 0x80 | (point & 63), 1);
    return to + 2;
  }
  if (point < 0x10000) {
    store<u8>(to, 0xe0 | (point >> 12));
    store<u8>(to, 0x80 | ((point >> 6) & 63), 1);
    store<u8>(to, 0x80 | (point & 63), 2);
    return to + 3;
  }
  store<u8>(to, 0xf0 | (point >> 18));
  store<u8>(to, 0x80 | ((point >> 12) & 63), 1);
  store<u8>(to, 0x80 | ((point >> 6) & 63), 2);
  store<u8>(to, 0x80 | (point & 63), 3);
  return to + 4;
}

/** The octet that a one-letter escape stands for, 0 if there is no such escape. */
function simpleEscape(letter: i32): i32 {
  if (letter === 0x22 || letter === 0x5c || letter === 0x2f) return letter;
  if (letter === 0x62) return 0x08;
  if (letter === 0x66) return 0x0c;
  if (letter === 0x6e) return 0x0a;
  if (letter === 0x72) return 0x0d;
  if (letter === 0x74) return 0x09;
  return 0;
}

/** Set by `decodeEscape`: the address behind the escape. */
let behindEscape: usize = 0;

/**
 * Writes what the escape whose backslash stands before `from` stands for; returns the address
 * behind that, 0 if it is not valid. A lone surrogate becomes U+FFFD, as the URL Standard's
 * conversion to scalar values has it.
 */
function decodeEscape(from: usize, end: usize, to: usize): usize {
  if (from >= end) return 0;
  const letter: i32 = load<u8>(from++);
  behindEscape = from;
  if (letter !== 0x75) {
    const simple = simpleEscape(letter);
    store<u8>(to, simple);
    return simple === 0 ? 0 : to + 1;
  }
  let point = codeUnit(from, end);
  if (point < 0) return 0;
  from += 4;
  if ((point & 0xf800) === 0xd800) {
    let low = -1;
    if (point < 0xdc00 && end - from >= 6 && load<u16>(from) === 0x755c)
      low = codeUnit(from + 2, end);
    if (low >= 0xdc00 && low < 0xe000) {
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
      from += 6;
    } else {
      point = 0xfffd;
    }
  }
  behindEscape = from;
  return writeCodePoint(point, to);
}

/**
 * Decodes a JSON string between its quotes to `to`, never longer than the string; returns its end,
 * 0 if an escape is not valid.
 */
export function unescapeString(from: usize, end: usize, to: usize): usize {
  while (from < end) {
    const octet: i32 = load<u8>(from++);
    if (octet !== 0x5c) {
      store<u8>(to++, octet);
      continue;
    }
    to = decodeEscape(from, end, to);
    if (to === 0) return 0;
    from = behindEscape;
  }
  return to;
}

/**
 * Decodes the JSON string whose first octet behind the quote is at `from` to `to`, and leaves the
 * address of its closing quote at `quote`. Returns the end of what it decodes to, which is never
 * longer than the string; 0 if there is no valid string that ends before `end`. Reads 16 octets
 * past `end`, and writes as many past what it returns.
 */
export function decodeString(from: usize, end: usize, to: usize, quote: usize): usize {
  while (from < end) {
    const octets = v128.load(from);
    v128.store(to, octets);
    const found = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(octets, i8x16.splat(0x22)), i8x16.eq(octets, i8x16.splat(0x5c))),
        i8x16.lt_u(octets, i8x16.splat(0x20)),
      ),
    );
    if (found === 0) {
      from += 16;
      to += 16;
      continue;
    }
    from += ctz(found);
    to += ctz(found);
    if (from >= end) return 0;
    const octet: i32 = load<u8>(from);
    if (octet === 0x22) {
      store<u32>(quote, from);
      return to;
    }
    if (octet !== 0x5c) return 0;
    to = decodeEscape(from + 1, end, to);
    if (to === 0) return 0;
    from = behindEscape;
  }
  return 0;
}
