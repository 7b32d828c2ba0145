/** The first phase of a line: its record, the URL in it, the URL's host and the host's hash. */

import {
  FORMAT_JSON,
  FORMAT_TEXT,
  INVALID,
  MARGIN,
  QUERY_ANY_HOST,
  QUERY_FLAGS,
  QUERY_FORMAT,
  QUERY_GOOGLE,
  QUERY_MAX_LINE,
  QUERY_STRICT,
  QUERY_TABLE,
  REASON_INVALID_URL,
  REASON_LINE_TOO_LONG,
  REASON_NO_JSON,
  REASON_NO_URL,
} from '../layout';
import { hashHost } from './host';
import {
  closingBrace,
  LOCATED,
  locateString,
  locateUrl,
  stringEnd,
  stringEscaped,
  stringStart,
  unescapeString,
} from './json';
import {
  EMPTY,
  LINE_BRACE,
  LINE_END,
  LINE_HASH,
  LINE_HOST,
  LINE_HOST_OCTETS,
  LINE_OUTCOME,
  LINE_OWNED,
  LINE_START,
  LINE_URL,
  LINE_URL_END,
  PENDING,
} from './line';
import { isJson } from './strict';
import { splitAny, splitUrl } from './url';

function fail(line: usize, reason: i32): void {
  store<i32>(line, (INVALID << 4) | reason, LINE_OUTCOME);
}

/**
 * Fills in a line entry of which start and end are known. `scratch` takes copies of the URL; returns its first address
 * that is free for the next line.
 */
export function locate(query: usize, line: usize, hostSpace: usize, scratch: usize): usize {
  const start: usize = load<u32>(line, LINE_START);
  const end: usize = load<u32>(line, LINE_END);
  store<u32>(line, 0, LINE_OWNED);
  if (isBlank(start, end)) {
    store<i32>(line, EMPTY, LINE_OUTCOME);
    return scratch;
  }
  if (end - start > <usize>load<u32>(query, QUERY_MAX_LINE)) {
    fail(line, REASON_LINE_TOO_LONG);
    return scratch;
  }
  if (load<i32>(query, QUERY_FORMAT) === FORMAT_TEXT) {
    store<u32>(line, start, LINE_URL);
    store<u32>(line, end, LINE_URL_END);
    return resolve(query, line, hostSpace, scratch);
  }
  if ((load<u32>(query, QUERY_FLAGS) & QUERY_STRICT) !== 0 && !isJson(start, end, scratch)) {
    fail(line, REASON_NO_JSON);
    return scratch;
  }
  let located = locateUrl(query, start, end, scratch);
  if (located !== LOCATED && load<i32>(query, QUERY_FORMAT) === FORMAT_JSON) {
    const string = locateString(start, end);
    if (string === LOCATED) located = string;
  }
  if (located !== LOCATED) {
    fail(line, located);
    return scratch;
  }
  store<u32>(line, closingBrace, LINE_BRACE);
  if (stringStart === 0) {
    fail(line, REASON_NO_URL);
    return scratch;
  }
  if (!stringEscaped) {
    store<u32>(line, stringStart, LINE_URL);
    store<u32>(line, stringEnd, LINE_URL_END);
    return resolve(query, line, hostSpace, scratch);
  }
  const decodedEnd = unescapeString(stringStart, stringEnd, scratch);
  if (decodedEnd === 0) {
    fail(line, REASON_NO_JSON);
    return scratch;
  }
  store<u32>(line, scratch, LINE_URL);
  store<u32>(line, decodedEnd, LINE_URL_END);
  store<u32>(line, 1, LINE_OWNED);
  return resolve(query, line, hostSpace, decodedEnd + MARGIN);
}

/** Whether nothing but white space stands on the line. Ends at the first other octet. */
function isBlank(at: usize, end: usize): bool {
  while (at < end) {
    const octet: i32 = load<u8>(at++);
    if (octet !== 0x20 && octet !== 0x09 && octet !== 0x0d) return false;
  }
  return true;
}

/** Fills in what the URL of a line entry says; returns the first address of scratch memory that is free. */
export function resolve(query: usize, line: usize, hostSpace: usize, scratch: usize): usize {
  store<i32>(line, PENDING, LINE_OUTCOME);
  const google = (load<u32>(query, QUERY_FLAGS) & QUERY_GOOGLE) !== 0;
  const anyHost = load<u32>(query, QUERY_ANY_HOST) !== 0;
  // google/robotstxt takes any string for a URL.
  if (google && anyHost) return scratch;
  if (!splitUrl(line)) {
    // The URL itself is what google/robotstxt matches: the copy is not to be overwritten.
    if (google) store<u32>(line, 0, LINE_OWNED);
    const octets: usize = load<u32>(line, LINE_URL_END) - load<u32>(line, LINE_URL);
    if (!splitAny(line, hostSpace, scratch, anyHost)) {
      fail(line, REASON_INVALID_URL);
      return scratch;
    }
    if (load<u32>(line, LINE_OWNED) !== 0) scratch += octets + MARGIN;
  }
  if (!anyHost) {
    store<i32>(
      line,
      hashHost(
        load<u32>(query, QUERY_TABLE),
        load<u32>(line, LINE_HOST),
        load<i32>(line, LINE_HOST_OCTETS),
      ),
      LINE_HASH,
    );
  }
  return scratch;
}
