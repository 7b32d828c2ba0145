/**
 * Finding the URL in a JSON object on one line, as JSON.parse would find it: escapes, nesting, key
 * order and white space do not matter, and of duplicate keys the last counts. Strings are read by
 * their marks (marks.ts), and what stands between them byte by byte.
 *
 * The structure of the objects that lead to the URL is checked: keys, colons, values, commas. Of
 * other objects and arrays only strings and brackets count (kernel/assembly/json/marks.ts), and a
 * number or literal is any run of bytes without a meaning in JSON. With QUERY_STRICT all containers
 * are checked, and all values.
 */

import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  DIGIT_0,
  DOT,
  HYPHEN,
  LF,
  LOWER_CASE_BIT,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  QUOTE,
  SPACE,
} from '../../../base/ascii';
import {
  COPY_MARGIN,
  QUERY_NAMES_AGENT,
  QUERY_STRICT,
  QUERY_TIMED,
  REASON_NO_JSON,
  REASON_NO_OBJECT,
} from '../../layout';
import {
  equal,
  FALS,
  isDigit,
  isInNoClass,
  NULL,
  QUOTE_BRACE,
  QUOTE_COLON,
  QUOTE_COMMA,
  TRUE,
} from '../bytes';
import { claimScratch, Line, Marks, Query, setWhen, setWho } from '../memory';
import { beforeClosing, markAt, skipContainer } from './marks';
import { byteAt, holdsEscape, memberValue, skipSpace, skipString, unescapeString } from './string';

/** The URL, or its absence, is known. */
export const LOCATED: i32 = -1;

/**
 * What is read of an object: its URL alone, or its time as well, or its agent. The types are told
 * apart by their size when the kernel is compiled, so that the reader of URLs alone does not pay
 * for times: 8 % of a run over rows of 434 bytes.
 */
@unmanaged
class UrlAlone {}

@unmanaged
class UrlAndTime {
  time: u32;
}

/** Also the agent; the time if there is a path to it. */
@unmanaged
class UrlAndAgent {
  time: u32;
  agent: u32;
}

/** Whether `Wanted` has a time, and whether it has an agent. */
function hasTime<Wanted>(): bool {
  return offsetof<Wanted>() !== 0;
}

function hasAgent<Wanted>(): bool {
  return offsetof<Wanted>() > sizeof<u32>();
}

/** No key is so long. */
const NO_KEY: u32 = 0xffff_ffff;

/** Address and length of the key of a field's path at a level. */
function keyAt(fields: usize, level: i32): usize {
  return fields + <usize>level * 8;
}

/**
 * Bytes of the key of a field's path that is wanted in an object; NO_KEY if the objects around it
 * are not all on the path.
 */
function wantedBytes(fields: usize, level: i32, depth: i32): usize {
  return level === depth ? load<u32>(keyAt(fields, level), 4) : NO_KEY;
}

/**
 * Whether a key, `from`–`end` between its quotes, is the wanted one, which has so many bytes.
 */
function isKey(
  wanted: usize,
  bytes: usize,
  from: usize,
  end: usize,
  marks: Marks,
  scratch: usize,
): bool {
  const length = end - from;
  if (length === bytes) {
    return (
      equal(load<u32>(wanted), from, <i32>bytes) &&
      (marks.backslashes === 0 || !holdsEscape(from, end))
    );
  }
  // An escape is longer than its character.
  return length > bytes && marks.backslashes !== 0 && isEscapedKey(wanted, from, end, scratch);
}

/** Whether a key with escapes is the wanted one. */
function isEscapedKey(wanted: usize, from: usize, end: usize, scratch: usize): bool {
  if (!holdsEscape(from, end)) return false;
  const bytes = load<i32>(wanted, 4);
  claimScratch(scratch, end - from + COPY_MARGIN);
  const decoded = unescapeString(from, end, scratch);
  return (
    decoded !== 0 && <i32>(decoded - scratch) === bytes && equal(load<u32>(wanted), scratch, bytes)
  );
}

/** Whether the line ends after its value, which ends at `at`. Stores where the line ends. */
function endsAt(line: Line, at: usize, end: usize): bool {
  at = skipSpace(at, end);
  line.newline = at;
  return at === end || load<u8>(at) === LF;
}

/** Stores that the object ends right before the newline whose mark is at `cursor`. */
function endsBefore(newline: usize, line: Line, marks: Marks, cursor: usize): i32 {
  line.brace = newline - 1;
  line.newline = newline;
  marks.cursor = cursor + 4;
  return LOCATED;
}

/** The positions among 16 of bytes without a meaning in JSON: those of numbers and literals. */
function scalars(at: usize): i32 {
  const low = i8x16(3, 1, 3, 1, 1, 1, 1, 1, 1, 1, 5, 25, 11, 25, 1, 1);
  const high = i8x16(1, 1, 2, 4, 0, 8, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0);
  return i8x16.bitmask(isInNoClass(low, high, v128.load(at)));
}

/** End of the number or literal at `at`. */
function scalarEnd(at: usize, end: usize): usize {
  while (at < end) {
    const others = ~scalars(at) & 0xffff;
    if (others !== 0) return min(at + <usize>ctz(others), end);
    at += 16;
  }
  return end;
}

/** Whether the mark is that of a newline at `at`. */
function isNewline(mark: usize, at: usize): bool {
  return mark === at && load<u8>(at) === LF;
}

/**
 * Passes members of the usual form: there is at most one space after colon and comma, a comma comes
 * right after the value, and the value is a string, or a number or literal of up to 16 bytes. With
 * `strict` only strings are passed. Stops at a key of a wanted length, and at a longer one with
 * escapes. Returns the mark after these members. If the object and its line end right after the
 * last of them, that is the mark of the newline, with the brace before it.
 */
function passPlainMembers<Wanted>(
  marks: Marks,
  cursor: usize,
  urlBytes: usize,
  timeBytes: usize,
  agentBytes: usize,
  strict: bool,
): usize {
  const end = marks.plain;
  const readsTime = hasTime<Wanted>();
  const readsAgent = hasAgent<Wanted>();
  let least = readsTime ? min(urlBytes, timeBytes) : urlBytes;
  if (readsAgent) least = min(least, agentBytes);
  while (cursor < end) {
    const from: usize = load<u32>(cursor);
    const quote: usize = load<u32>(cursor, 4);
    // The mark may be that of a control character after the comma.
    if (load<u8>(from) !== QUOTE) break;
    const keyBytes = quote - from - 1;
    if (keyBytes >= least) {
      if (keyBytes === urlBytes || (readsTime && keyBytes === timeBytes)) break;
      if (readsAgent && keyBytes === agentBytes) break;
      if (marks.backslashes !== 0 && holdsEscape(from, quote)) break;
    }
    let value = quote + 2;
    let byte: i32 = load<u8>(value);
    if (byte === SPACE) byte = load<u8>(++value);
    if (<i32>load<u16>(quote) !== QUOTE_COLON) break;
    if (byte === QUOTE) {
      // The next mark; the one after it closes the string.
      const closing: usize = load<u32>(cursor, 12);
      const ending = <i32>load<u16>(closing);
      if (ending === QUOTE_BRACE && isNewline(load<u32>(cursor, 16), closing + 2))
        return cursor + 16;
      if (ending !== QUOTE_COMMA) break;
      const after: i32 = load<u8>(closing, 2);
      if (<usize>load<u32>(cursor, 16) !== closing + 2 + <usize>(after === SPACE)) break;
      cursor += 16;
    } else {
      if (strict) break;
      const key: usize = load<u32>(cursor, 8);
      const comma = key - 1 - <usize>(load<u8>(key - 1) === SPACE);
      if (comma - value > <usize>16 || comma === value) break;
      const others = ~scalars(value) & ((1 << (<i32>(comma - value))) - 1);
      if (others !== 0) break;
      if (load<u8>(comma) !== COMMA) {
        if (load<u8>(comma) !== CLOSE_BRACE || !isNewline(key, comma + 1)) break;
        return cursor + 8;
      }
      cursor += 8;
    }
  }
  return cursor;
}

/**
 * Reads the object of the line at `at`, which ends at `end` at the latest. Stores the string of the
 * URL field without its quotes (LINE_URL is 0 if there is none), the object's closing brace, and
 * the line's newline; with QUERY_TIMED also the string, number or literal of the time field
 * (`when`), and with QUERY_NAMES_AGENT the string of the agent field (`who`). Returns LOCATED, or
 * the reason why the line is not an object. `scratch` takes a key with escapes, or a bit for each
 * open bracket.
 */
export function locateUrl(
  query: Query,
  line: Line,
  at: usize,
  end: usize,
  marks: Marks,
  scratch: usize,
): i32 {
  if ((query.flags & QUERY_NAMES_AGENT) !== 0) {
    return readObject<UrlAndAgent>(query, line, at, end, marks, scratch);
  }
  // Without a path, the time stands elsewhere in the line.
  return (query.flags & QUERY_TIMED) !== 0 && query.timeFieldCount > 0
    ? readObject<UrlAndTime>(query, line, at, end, marks, scratch)
    : readObject<UrlAlone>(query, line, at, end, marks, scratch);
}

/** As `locateUrl`. `Wanted` is UrlAlone, UrlAndTime or UrlAndAgent. */
function readObject<Wanted>(
  query: Query,
  line: Line,
  at: usize,
  end: usize,
  marks: Marks,
  scratch: usize,
): i32 {
  const readsTime = hasTime<Wanted>();
  const readsAgent = hasAgent<Wanted>();
  line.url = 0;
  // Without a path, the time has been found elsewhere.
  if (readsTime && (!readsAgent || query.timeFieldCount > 0)) setWhen(0, 0);
  if (readsAgent) setWho(0, 0);
  if (byteAt(at, end) !== OPEN_BRACE) {
    at = skipSpace(at, end);
    if (byteAt(at, end) !== OPEN_BRACE) return REASON_NO_OBJECT;
  }
  at++;
  if (byteAt(at, end) !== QUOTE) at = skipSpace(at, end);
  const strict = (query.flags & QUERY_STRICT) !== 0;
  // The first mark in a string before this address closes the string.
  const simple: usize = strict ? 0 : end;
  const fields = query.fields;
  const last = query.fieldCount - 1;
  const timeFields = readsTime ? query.timeFields : 0;
  const timeLast = readsTime ? query.timeFieldCount - 1 : -1;
  const agentFields = readsAgent ? query.agentFields : 0;
  const agentLast = readsAgent ? query.agentFieldCount - 1 : -1;
  // Open objects around the one that is read, and how many of them are on the paths to the URL, the
  // time and the agent: the outer ones.
  let depth = 0;
  let level = 0;
  let timeLevel = 0;
  let agentLevel = 0;
  let urlBytes = wantedBytes(fields, level, depth);
  let timeBytes = readsTime ? wantedBytes(timeFields, timeLevel, depth) : NO_KEY;
  let agentBytes = readsAgent ? wantedBytes(agentFields, agentLevel, depth) : NO_KEY;
  let isEmpty = true;
  // Where `passPlainMembers` has stopped.
  let passed: usize = 0;
  let cursor = marks.cursor;
  while (true) {
    // A member begins at `at`, or an empty object ends there.
    if (at >= end) return REASON_NO_JSON;
    if (load<u8>(at) === QUOTE) {
      if (<usize>load<u32>(cursor) !== at) cursor = markAt(marks, cursor, at, end, strict);
      if (cursor !== passed) {
        passed = passPlainMembers<Wanted>(marks, cursor, urlBytes, timeBytes, agentBytes, strict);
        if (passed !== cursor) {
          cursor = passed;
          isEmpty = false;
          at = load<u32>(cursor);
          if (<i32>load<u8>(at) <= SPACE) {
            // Before any other mark stands a comma or a space.
            if (load<u8>(at - 1) === CLOSE_BRACE && depth === 0) {
              return endsBefore(at, line, marks, cursor);
            }
            at = skipSpace(at, end);
          }
          continue;
        }
      }
      if (<usize>load<u32>(cursor, 4) >= simple) {
        cursor = beforeClosing(marks, cursor, end, strict);
        if (cursor === 0) return REASON_NO_JSON;
      }
      let quote: usize = load<u32>(cursor, 4);
      const key = at + 1;
      at = quote + 2;
      let byte: i32 = load<u8>(at);
      if (byte === SPACE) byte = load<u8>(++at);
      if (<i32>load<u16>(quote) !== QUOTE_COLON) byte = 0;
      if (byte <= SPACE) {
        at = memberValue(quote, end);
        byte = byteAt(at, end);
      }
      cursor += 8;
      let isUrl = false;
      let isTime = false;
      let isAgent = false;
      let enters = false;
      if (isKey(keyAt(fields, level), urlBytes, key, quote, marks, scratch)) {
        // The last of duplicate keys counts.
        line.url = 0;
        isUrl = level === last;
        if (!isUrl && byte === OPEN_BRACE) {
          level++;
          enters = true;
        }
      }
      if (readsTime && isKey(keyAt(timeFields, timeLevel), timeBytes, key, quote, marks, scratch)) {
        setWhen(0, 0);
        isTime = timeLevel === timeLast;
        if (!isTime && byte === OPEN_BRACE) {
          timeLevel++;
          enters = true;
        }
      }
      if (
        readsAgent &&
        isKey(keyAt(agentFields, agentLevel), agentBytes, key, quote, marks, scratch)
      ) {
        setWho(0, 0);
        isAgent = agentLevel === agentLast;
        if (!isAgent && byte === OPEN_BRACE) {
          agentLevel++;
          enters = true;
        }
      }
      if (enters) {
        depth++;
        urlBytes = wantedBytes(fields, level, depth);
        if (readsTime) timeBytes = wantedBytes(timeFields, timeLevel, depth);
        if (readsAgent) agentBytes = wantedBytes(agentFields, agentLevel, depth);
        at = skipSpace(at + 1, end);
        isEmpty = true;
        continue;
      }
      if (at >= end) return REASON_NO_JSON;
      if (byte === QUOTE) {
        if (<usize>load<u32>(cursor) !== at) cursor = markAt(marks, cursor, at, end, strict);
        if (<usize>load<u32>(cursor, 4) >= simple) {
          cursor = beforeClosing(marks, cursor, end, strict);
          if (cursor === 0) return REASON_NO_JSON;
        }
        quote = load<u32>(cursor, 4);
        if (isUrl) {
          line.url = at + 1;
          line.urlEnd = quote;
        }
        if (readsTime && isTime) setWhen(at + 1, quote);
        if (readsAgent && isAgent) setWho(at + 1, quote);
        if (load<u8>(quote) !== QUOTE) return REASON_NO_JSON;
        cursor += 8;
        at = quote + 1;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (strict) {
          at = checkedContainer(marks, cursor, at, end, scratch);
          cursor = marks.cursor;
        } else {
          at = skipContainer(at, end);
        }
        if (at === 0) return REASON_NO_JSON;
      } else {
        const after = strict ? validScalarEnd(at, end) : scalarEnd(at, end);
        // With `strict`, 0 if there is none.
        if (after <= at) return REASON_NO_JSON;
        if (readsTime && isTime) setWhen(at, after);
        at = after;
      }
      byte = byteAt(at, end);
      if (byte <= SPACE) {
        at = skipSpace(at, end);
        byte = byteAt(at, end);
      }
      if (byte === COMMA) {
        byte = load<u8>(++at);
        if (byte === SPACE) byte = load<u8>(++at);
        if (byte <= SPACE) at = skipSpace(at, end);
        isEmpty = false;
        continue;
      }
    } else if (!isEmpty) {
      return REASON_NO_JSON;
    }
    // The object ends, and perhaps those around it.
    while (true) {
      if (byteAt(at, end) !== CLOSE_BRACE) return REASON_NO_JSON;
      if (depth === 0) {
        // The mark says where the next line begins before it is known where this value ends.
        const newline: usize = load<u32>(cursor);
        if (newline === at + 1 && load<u8>(newline) === LF) {
          return endsBefore(newline, line, marks, cursor);
        }
        line.brace = at;
        marks.cursor = cursor;
        return endsAt(line, at + 1, end) ? LOCATED : REASON_NO_JSON;
      }
      depth--;
      level = min(level, depth);
      urlBytes = wantedBytes(fields, level, depth);
      if (readsTime) {
        timeLevel = min(timeLevel, depth);
        timeBytes = wantedBytes(timeFields, timeLevel, depth);
      }
      if (readsAgent) {
        agentLevel = min(agentLevel, depth);
        agentBytes = wantedBytes(agentFields, agentLevel, depth);
      }
      at = skipSpace(at + 1, end);
      if (byteAt(at, end) === COMMA) break;
    }
    at = skipSpace(at + 1, end);
    isEmpty = false;
  }
}

/**
 * Stores the inside of the string that is the whole line at `at` as the URL, as `locateUrl` does.
 * Returns LOCATED, or the reason why the line is not a string.
 */
export function locateString(line: Line, at: usize, end: usize): i32 {
  at = skipSpace(at, end);
  if (at === end || load<u8>(at) !== QUOTE) return REASON_NO_OBJECT;
  const from = at + 1;
  line.url = from;
  line.brace = 0;
  at = skipString(from, end);
  line.urlEnd = at;
  return at < end && endsAt(line, at + 1, end) ? LOCATED : REASON_NO_JSON;
}

// ---- What `--strict` checks of JSON (RFC 8259) beyond its structure: values and strings

/**
 * End of the literal at `at`, 0 if the literal is not there. `word` is its first four characters.
 */
function literal(at: usize, end: usize, word: i32, bytes: i32): usize {
  return <i32>(end - at) >= bytes && load<i32>(at) === word ? at + bytes : 0;
}

function digitsEnd(at: usize, end: usize): usize {
  while (at < end && isDigit(load<u8>(at))) at++;
  return at;
}

/** End of the number at `at`, 0 if there is none. */
function numberEnd(at: usize, end: usize): usize {
  if (at < end && load<u8>(at) === HYPHEN) at++;
  const integer = at;
  at = digitsEnd(at, end);
  if (at === integer || (load<u8>(integer) === DIGIT_0 && at - integer > 1)) return 0;
  if (at < end && load<u8>(at) === DOT) {
    const fraction = ++at;
    at = digitsEnd(at, end);
    if (at === fraction) return 0;
  }
  if (at < end && (load<u8>(at) | LOWER_CASE_BIT) === LOWER_E) {
    at++;
    if (at < end && (load<u8>(at) === PLUS || load<u8>(at) === HYPHEN)) at++;
    const exponent = at;
    at = digitsEnd(at, end);
    if (at === exponent) return 0;
  }
  return at;
}

/** End of the number or literal at `at`, 0 if there is none. */
function validScalarEnd(at: usize, end: usize): usize {
  const byte: i32 = load<u8>(at);
  if (byte === LOWER_T) return literal(at, end, TRUE, 4);
  if (byte === LOWER_N) return literal(at, end, NULL, 4);
  if (byte === LOWER_F)
    return load<u8>(end > at + 4 ? at + 4 : at) === LOWER_E ? literal(at, end, FALS, 5) : 0;
  return numberEnd(at, end);
}

/** Whether a control character stands in a string. */
export function holdsControl(at: usize, end: usize): bool {
  while (at < end) if (<i32>load<u8>(at++) < SPACE) return true;
  return false;
}

/**
 * End of the object or array at `at`, which is checked whole; 0 if it is not valid, or the line
 * ends before. Keeps the mark after it as `marks.cursor`. `scratch` takes a bit for each bracket
 * from the 65th level on.
 */
function checkedContainer(
  marks: Marks,
  cursor: usize,
  at: usize,
  end: usize,
  scratch: usize,
): usize {
  // The containers entered, and a bit for each, the innermost lowest: 1 for an object.
  let depth = 0;
  let objects: u64 = 0;
  let isEmpty = false;
  while (true) {
    // A member begins at `at`, or a value, or an empty container ends there.
    let byte = byteAt(at, end);
    if (!isEmpty || byte !== closerOf(objects)) {
      if ((objects & 1) !== 0) {
        if (byte !== QUOTE) return 0;
        cursor = beforeClosing(marks, markAt(marks, cursor, at, end, true), end, true);
        if (cursor === 0) return 0;
        at = memberValue(load<u32>(cursor, 4), end);
        cursor += 8;
        byte = byteAt(at, end);
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if ((depth & 63) === 0 && depth > 0) {
          const words = scratch + ((<usize>(depth >> 6)) << 3) - 8;
          claimScratch(words, 8);
          store<u64>(words, objects);
        }
        objects = (objects << 1) | <u64>(byte === OPEN_BRACE);
        depth++;
        isEmpty = true;
        at = skipSpace(at + 1, end);
        continue;
      }
      if (byte === QUOTE) {
        cursor = beforeClosing(marks, markAt(marks, cursor, at, end, true), end, true);
        if (cursor === 0) return 0;
        at = <usize>load<u32>(cursor, 4) + 1;
        cursor += 8;
      } else {
        at = validScalarEnd(at, end);
        if (at === 0) return 0;
      }
    }
    // Containers may end, and then a comma follows.
    while (true) {
      at = skipSpace(at, end);
      byte = byteAt(at, end);
      if (byte === COMMA) break;
      if (byte !== closerOf(objects)) return 0;
      at++;
      depth--;
      if (depth === 0) {
        marks.cursor = cursor;
        return at;
      }
      objects =
        (depth & 63) === 0 ? load<u64>(scratch + ((<usize>(depth >> 6)) << 3) - 8) : objects >>> 1;
    }
    at = skipSpace(at + 1, end);
    isEmpty = false;
  }
}

/** The byte that ends the innermost of the containers. */
function closerOf(objects: u64): i32 {
  return (objects & 1) !== 0 ? CLOSE_BRACE : CLOSE_BRACKET;
}
