/**
 * Finding the URL in a JSON object on one line, as JSON.parse would find it: escapes, nesting, key
 * order and white space do not matter, and of duplicate keys the last counts. The line is read once
 * in blocks of 64 bytes, as sets of positions (block.ts).
 *
 * The structure of the objects that lead to the URL is checked: keys, colons, values, commas.
 * Of other objects and arrays only strings and brackets count (container.ts), and a number or
 * literal is any run of bytes without a meaning in JSON. With QUERY_STRICT all containers are
 * checked, and all values (strict.ts).
 */

import {
  BACKSLASH,
  COLON,
  COMMA,
  CR,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from '../../../ascii';
import {
  LINE_BRACE,
  LINE_NEWLINE,
  LINE_URL,
  QUERY_FIELD_COUNT,
  QUERY_FIELDS,
  QUERY_FLAGS,
  QUERY_STRICT,
  REASON_NO_JSON,
  REASON_NO_OBJECT,
} from '../../layout';
import { equal } from '../bytes/search';
import { claimScratch } from '../memory/scratch';
import {
  bracketsOf,
  controlsOf,
  escapesOf,
  holds,
  holdsControl,
  positionsOf,
  strings,
} from './block';
import { skipContainer } from './container';
import { invalidEscapes, invalidScalars } from './strict';
import { holdsEscape, skipString, unescapeString } from './string';

/** The URL, or its absence, is known. */
export const LOCATED: i32 = -1;

/** White space within a line. */
function isSpace(byte: i32): bool {
  return byte <= SPACE && (byte === SPACE || byte === TAB || byte === CR);
}

function skipSpace(at: usize, end: usize): usize {
  while (at < end && isSpace(load<u8>(at))) at++;
  return at;
}

/** The last byte before `at` that is not white space. */
function byteBefore(at: usize): i32 {
  do at--;
  while (isSpace(load<u8>(at)));
  return load<u8>(at);
}

/**
 * Address of the inside of the string that ends with the quote at `quote`. Every quote within it
 * stands after an odd number of backslashes.
 */
function insideOf(quote: usize): usize {
  while (true) {
    while (load<u8>(--quote) !== QUOTE) {}
    let at = quote;
    while (load<u8>(at - 1) === BACKSLASH) at--;
    if (((quote - at) & 1) === 0) return quote + 1;
    quote = at;
  }
}

/** Address and length of the key of the field's path at a level. */
function keyAt(query: usize, level: i32): usize {
  return <usize>load<u32>(query, QUERY_FIELDS) + <usize>level * 8;
}

/**
 * Whether a key, `from`–`end` between its quotes, is the wanted one. An escape is never shorter
 * than its character.
 */
function isKey(wanted: usize, from: usize, end: usize, scratch: usize): bool {
  const text: usize = load<u32>(wanted);
  const bytes = load<i32>(wanted, 4);
  const length = <i32>(end - from);
  if (length < bytes) return false;
  if (length === bytes) return equal(text, from, bytes) && !holdsEscape(from, end);
  if (!holdsEscape(from, end)) return false;
  claimScratch(scratch, end - from);
  const decoded = unescapeString(from, end, scratch);
  return decoded !== 0 && <i32>(decoded - scratch) === bytes && equal(text, scratch, bytes);
}

/** Whether the line ends after its value, which ends at `at`. Stores where the line ends. */
function endsAt(line: usize, at: usize, end: usize): bool {
  at = skipSpace(at, end);
  store<u32>(line, at, LINE_NEWLINE);
  return at === end || load<u8>(at) === LF;
}

/** The value of the member whose key ends at `quote`; `end` if there is none. */
function memberValue(quote: usize, end: usize): usize {
  const colon = skipSpace(quote + 1, end);
  return colon < end && load<u8>(colon) === COLON ? skipSpace(colon + 1, end) : end;
}

/**
 * Reads the object of the line at `at`, which ends at `end` at the latest. Stores the inside of the
 * string of the URL field, whose end is not known (LINE_URL is 0 if there is none), the object's
 * closing brace, and the line's newline. Returns LOCATED, or the reason why the line is not an
 * object. `scratch` takes a bit for each bracket from the 65th level on, and a key with escapes.
 */
export function locateUrl(query: usize, line: usize, at: usize, end: usize, scratch: usize): i32 {
  store<u32>(line, 0, LINE_URL);
  at = skipSpace(at, end);
  if (at === end || load<u8>(at) !== OPEN_BRACE) return REASON_NO_OBJECT;
  at++;
  const strict = (load<u32>(query, QUERY_FLAGS) & QUERY_STRICT) !== 0;
  const last = load<i32>(query, QUERY_FIELD_COUNT) - 1;
  // The level of the field's path whose object is the innermost one entered.
  let level = 0;
  let wanted = keyAt(query, 0);
  // Whether the next bracket opens the object of the next level.
  let leads = false;
  // The containers entered, and a bit for each, the innermost lowest: 1 for an object.
  let depth = 1;
  let objects: u64 = 1;
  // Whether a token was the last, not a separator, and whether a colon, not a comma: 0 or 1.
  let afterToken: u64 = 0;
  let inValue: u64 = 0;
  while (true) {
    // What a block leaves to the next.
    let inString: u64 = 0;
    let inScalar: u64 = 0;
    let escaped: u64 = 0;
    let openingBefore: u64 = 0;
    let holdsEscapes = false;
    let passed: u64 = 0;
    let values: u64 = 0;
    let stop: u64 = 0;
    while (true) {
      const a = v128.load(at);
      const b = v128.load(at, 16);
      const c = v128.load(at, 32);
      const d = v128.load(at, 48);
      let quotes = positionsOf(QUOTE, a, b, c, d);
      let faults: u64 = 0;
      let escapes: u64 = 0;
      if (escaped !== 0 || holds(BACKSLASH, a, b, c, d)) {
        // Outside strings it is a fault.
        faults = positionsOf(BACKSLASH, a, b, c, d);
        escapes = escapesOf(faults, escaped);
        quotes &= ~((escapes << 1) | escaped);
        escaped = escapes >>> 63;
        holdsEscapes = true;
      }
      const inside = strings(quotes) ^ inString;
      const outside = ~inside;
      faults &= outside;
      let blanks = positionsOf(SPACE, a, b, c, d);
      // The next bracket, or the end of the line.
      let stops = bracketsOf(a, b, c, d) & outside;
      stop = stops & -stops;
      if (end - at < 64 || holdsControl(a, b, c, d)) {
        let controls = controlsOf(a, b, c, d);
        if (end - at < 64) controls |= (<u64>1) << (<u64>(end - at));
        if ((controls & (stop - 1)) !== 0) {
          stops |= positionsOf(LF, a, b, c, d);
          if (end - at < 64) stops |= (<u64>1) << (<u64>(end - at));
          stop = stops & -stops;
          const spaces = positionsOf(TAB, a, b, c, d) | positionsOf(CR, a, b, c, d);
          blanks |= spaces;
          faults |= controls & ~spaces & outside;
          if (strict) faults |= controls & inside;
        }
      }
      const opening = quotes & inside;
      const colons = positionsOf(COLON, a, b, c, d) & outside;
      const commas = positionsOf(COMMA, a, b, c, d) & outside;
      const separators = colons | commas;
      // Numbers and literals, and where they begin.
      const scalars = outside & ~(quotes | separators | blanks | stops);
      const scalarStarts = scalars & ~((scalars << 1) | inScalar);
      const tokens = opening | scalarStarts;
      // The positions after a token, up to a separator; and after a colon, up to a comma.
      // Subtraction borrows from the one to the other.
      passed = separators - tokens - afterToken;
      values = commas - colons - inValue;
      faults |= (passed & (separators | tokens)) ^ tokens;
      let misplaced = ((values & separators) ^ colons) | (scalarStarts & ~values);
      if (strict) {
        if ((objects & 1) === 0) misplaced = colons;
        faults |= invalidEscapes(at, escapes & (stop - 1));
        faults |= invalidScalars(at, scalarStarts & (stop - 1), end);
      }
      if (((faults | misplaced) & (stop - 1)) !== 0) return REASON_NO_JSON;
      if (depth === level + 1) {
        const bytes: usize = load<u32>(wanted, 4);
        let keys = quotes & ~(inside | values) & (stop - 1);
        if (bytes < 63 && !holdsEscapes) {
          keys &= (opening << (<u64>bytes + 1)) | (openingBefore >>> (63 - <u64>bytes));
        }
        while (keys !== 0) {
          const key = keys & -keys;
          const quote = at + <usize>ctz(key);
          const begun = opening & (key - 1);
          keys ^= key;
          let from = at - <usize>clz(openingBefore);
          if (begun !== 0) from = at + 64 - <usize>clz(begun);
          else if (openingBefore === 0) from = insideOf(quote);
          if (holdsEscapes) {
            if (!isKey(wanted, from, quote, scratch + ((<usize>(depth >> 6)) << 3))) continue;
          } else if (quote - from !== bytes || !equal(load<u32>(wanted), from, <i32>bytes)) {
            continue;
          }
          const value = memberValue(quote, end);
          const byte: i32 = value < end ? <i32>load<u8>(value) : 0;
          // The last of duplicate keys counts.
          store<u32>(line, level === last && byte === QUOTE ? value + 1 : 0, LINE_URL);
          leads = level < last && byte === OPEN_BRACE;
        }
      }
      if (stop !== 0) break;
      afterToken = passed >>> 63;
      inValue = values >>> 63;
      openingBefore = opening;
      inString = <u64>(<i64>inside >> 63);
      inScalar = scalars >>> 63;
      holdsEscapes = holdsEscapes && inString !== 0;
      at += 64;
    }
    afterToken = <u64>((passed & stop) !== 0);
    inValue = <u64>((values & stop) !== 0);
    at += <usize>ctz(stop);
    if (at === end) return REASON_NO_JSON;
    const bracket: i32 = load<u8>(at);
    if (bracket === LF) return REASON_NO_JSON;
    const isObject = (<u64>bracket >> 5) & 1;
    if (bracket === OPEN_BRACE || bracket === OPEN_BRACKET) {
      // A value may begin here, but no key.
      if (afterToken !== 0 || (inValue & 1) < (objects & 1)) return REASON_NO_JSON;
      if (!strict && !leads) {
        at = skipContainer(at, end);
        if (at === 0) return REASON_NO_JSON;
        afterToken = 1;
        continue;
      }
      if ((depth & 63) === 0) {
        const words = scratch + ((<usize>(depth >> 6)) << 3) - 8;
        claimScratch(words, 8);
        store<u64>(words, objects);
      }
      objects = (objects << 1) | isObject;
      depth++;
      if (leads) {
        level++;
        wanted = keyAt(query, level);
        leads = false;
      }
      afterToken = 0;
      inValue = 0;
    } else {
      if ((objects & 1) !== isObject) return REASON_NO_JSON;
      if (afterToken === 0) {
        const opener = byteBefore(at);
        if (opener !== OPEN_BRACE && opener !== OPEN_BRACKET) return REASON_NO_JSON;
      } else if (inValue < isObject) {
        return REASON_NO_JSON;
      }
      depth--;
      if (depth === 0) {
        store<u32>(line, at, LINE_BRACE);
        return endsAt(line, at + 1, end) ? LOCATED : REASON_NO_JSON;
      }
      objects =
        (depth & 63) === 0 ? load<u64>(scratch + ((<usize>(depth >> 6)) << 3) - 8) : objects >>> 1;
      if (level === depth) {
        level--;
        wanted = keyAt(query, level);
      }
      afterToken = 1;
      inValue = objects & 1;
    }
    at++;
  }
}

/**
 * Stores the inside of the string that is the whole line at `at` as the URL, as `locateUrl` does.
 * Returns LOCATED, or the reason why the line is not a string.
 */
export function locateString(line: usize, at: usize, end: usize): i32 {
  at = skipSpace(at, end);
  if (at === end || load<u8>(at) !== QUOTE) return REASON_NO_OBJECT;
  const from = at + 1;
  store<u32>(line, from, LINE_URL);
  store<u32>(line, 0, LINE_BRACE);
  at = skipString(from, end);
  return at < end && endsAt(line, at + 1, end) ? LOCATED : REASON_NO_JSON;
}
