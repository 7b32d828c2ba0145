/** The first phase of a line: its record, the URL in it, the URL's host and the host's hash. */

import { HEADER_HOST_KEY } from '../../compile/format';
import {
  COPY_MARGIN,
  FORMAT_JSON,
  FORMAT_TEXT,
  INVALID,
  QUERY_ANY_HOST,
  QUERY_FLAGS,
  QUERY_FORMAT,
  QUERY_GOOGLE,
  QUERY_MAX_LINE,
  QUERY_STRICT,
  QUERY_TABLE,
  REASON_INVALID_URL,
  REASON_LINE_TOO_LONG,
  REASON_NESTED_TOO_DEEP,
  REASON_NO_JSON,
  REASON_NO_URL,
  REASON_RETURN_IN_LINE,
  REASON_TAB_IN_LINE,
  REFUSED_OCTETS,
  REFUSED_REASON,
  REFUSED_RECORD,
} from '../layout';
import { homeBucket } from './host';
import { hashHost } from './host-hash';
import {
  afterValue,
  closingBrace,
  LOCATED,
  locatePlain,
  locateString,
  locateUrl,
  plainStop,
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
  LINE_IRREGULAR,
  LINE_NEWLINE,
  LINE_OUTCOME,
  LINE_OWNED,
  LINE_PATH,
  LINE_PATH_END,
  LINE_SLOT,
  LINE_START,
  LINE_URL,
  LINE_URL_END,
  PENDING,
} from './line';
import { claimScratch } from './scratch';
import { findOctet } from './search';
import { isJson } from './strict';
import { splitAny, splitPlain } from './url';

function fail(line: usize, reason: i32): void {
  store<i32>(line, (INVALID << 4) | reason, LINE_OUTCOME);
}

/** Enters where a line ends: before its LF, or CR and LF. */
function endLine(line: usize, newline: usize, end: usize): void {
  const start: usize = load<u32>(line, LINE_START);
  const carriage = newline < end && newline > start && load<u8>(newline - 1) === 0x0d;
  store<u32>(line, carriage ? newline - 1 : newline, LINE_END);
  store<u32>(line, newline, LINE_NEWLINE);
}

function isTooLong(query: usize, line: usize): bool {
  return load<u32>(line, LINE_END) - load<u32>(line, LINE_START) > load<u32>(query, QUERY_MAX_LINE);
}

/**
 * Fills in the entry of a line that begins at LINE_START and ends at `end` at the latest. `scratch`
 * takes copies of the URL; returns its first address that is free for the next line.
 */
export function locate(
  query: usize,
  worker: usize,
  line: usize,
  end: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  store<u32>(line, 0, LINE_OWNED);
  return load<i32>(query, QUERY_FORMAT) === FORMAT_TEXT
    ? locateInText(query, line, end, hostSpace, scratch)
    : locateInJson(query, worker, line, end, hostSpace, scratch);
}

/** The line is the URL: most are read in one pass, which finds their newline as well. */
function locateInText(
  query: usize,
  line: usize,
  end: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const start: usize = load<u32>(line, LINE_START);
  const stop = splitPlain(line, start, end);
  const ended = stop !== 0 && stop < end && load<u8>(stop) === 0x0a;
  endLine(line, ended ? stop : findOctet(0x0a, stop !== 0 ? stop : start, end), end);
  const lineEnd: usize = load<u32>(line, LINE_END);
  if (isTooLong(query, line)) {
    fail(line, REASON_LINE_TOO_LONG);
    return scratch;
  }
  store<u32>(line, start, LINE_URL);
  store<u32>(line, lineEnd, LINE_URL_END);
  // What `splitPlain` has read holds neither tab nor CR.
  const reason =
    stop < lineEnd ? severalUrls(stop !== 0 ? stop : afterBlanks(start, lineEnd), lineEnd) : 0;
  if (reason !== 0) {
    fail(line, reason);
    return scratch;
  }
  if (stop !== 0) return resolvePlain(query, line, stop, hostSpace, scratch);
  if (isBlank(start, lineEnd)) {
    store<i32>(line, EMPTY, LINE_OUTCOME);
    return scratch;
  }
  return resolveAny(query, line, hostSpace, scratch);
}

/** The first octet that the URL Standard does not strip from the beginning. */
function afterBlanks(at: usize, end: usize): usize {
  while (at < end && load<u8>(at) <= 0x20) at++;
  return at;
}

/**
 * The reason why the line is more than one URL: a tab separates columns, a CR lines. 0 if neither
 * is there but among the blanks at the end, which the URL Standard strips.
 */
function severalUrls(from: usize, end: usize): i32 {
  const tab = findOctet(0x09, from, end);
  const carriageReturn = findOctet(0x0d, from, end);
  if (tab === end && carriageReturn === end) return 0;
  while (end > from && load<u8>(end - 1) <= 0x20) end--;
  if (tab < end) return REASON_TAB_IN_LINE;
  return carriageReturn < end ? REASON_RETURN_IN_LINE : 0;
}

/** The line is an object with the URL in it, or with FORMAT_JSON the URL as a string. */
function locateInJson(
  query: usize,
  worker: usize,
  line: usize,
  end: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const start: usize = load<u32>(line, LINE_START);
  if ((load<u32>(query, QUERY_FLAGS) & QUERY_STRICT) === 0) {
    const stop = locatePlain(query, worker, line, start, end);
    if (stop !== 0 && !isTooLong(query, line)) {
      return resolvePlain(query, line, stop, hostSpace, scratch);
    }
  }
  let located = locateUrl(query, line, start, end, scratch);
  if (located !== LOCATED && load<i32>(query, QUERY_FORMAT) === FORMAT_JSON) {
    const string = locateString(line, start, end);
    if (string === LOCATED) located = string;
  }
  endLine(line, located === LOCATED ? afterValue : findOctet(0x0a, start, end), end);
  const lineEnd: usize = load<u32>(line, LINE_END);
  if (located !== LOCATED && isBlank(start, lineEnd)) {
    store<i32>(line, EMPTY, LINE_OUTCOME);
    return scratch;
  }
  const refusal = located !== LOCATED ? refusedReason(query, start, lineEnd) : 0;
  if (refusal !== 0) {
    fail(line, refusal);
    return scratch;
  }
  if (isTooLong(query, line)) {
    fail(line, REASON_LINE_TOO_LONG);
    return scratch;
  }
  if (located !== LOCATED) {
    fail(line, located);
    return scratch;
  }
  if ((load<u32>(query, QUERY_FLAGS) & QUERY_STRICT) !== 0 && !isJson(start, lineEnd, scratch)) {
    fail(line, REASON_NO_JSON);
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
    if (plainStop !== 0) return resolvePlain(query, line, plainStop, hostSpace, scratch);
    return resolveAny(query, line, hostSpace, scratch);
  }
  claimScratch(scratch, stringEnd - stringStart + COPY_MARGIN);
  const decodedEnd = unescapeString(stringStart, stringEnd, scratch);
  if (decodedEnd === 0) {
    fail(line, REASON_NO_JSON);
    return scratch;
  }
  store<u32>(line, scratch, LINE_URL);
  store<u32>(line, decodedEnd, LINE_URL_END);
  store<u32>(line, 1, LINE_OWNED);
  return resolve(query, line, hostSpace, decodedEnd + COPY_MARGIN);
}

/**
 * Why the reader of JSON has refused the record that the line stands for; 0 if the line is no such
 * one. See REFUSED_RECORD.
 */
export function refusedReason(query: usize, start: usize, end: usize): i32 {
  if (load<i32>(query, QUERY_FORMAT) !== FORMAT_JSON || end - start < <usize>REFUSED_OCTETS)
    return 0;
  if (load<u8>(start) !== REFUSED_RECORD) return 0;
  const reason = <i32>load<u8>(start, 1) - REFUSED_REASON;
  return reason === REASON_LINE_TOO_LONG || reason === REASON_NESTED_TOO_DEEP ? reason : 0;
}

/** Whether nothing but white space stands on the line. Ends at the first other octet. */
function isBlank(at: usize, end: usize): bool {
  while (at < end) {
    const octet: i32 = load<u8>(at++);
    if (octet !== 0x20 && octet !== 0x09 && octet !== 0x0d) return false;
  }
  return true;
}

/**
 * Fills in what the URL of a line entry says, from LINE_URL to LINE_URL_END; returns the first
 * address of scratch memory that is free.
 */
export function resolve(query: usize, line: usize, hostSpace: usize, scratch: usize): usize {
  const stop = splitPlain(line, load<u32>(line, LINE_URL), load<u32>(line, LINE_URL_END));
  return stop !== 0
    ? resolvePlain(query, line, stop, hostSpace, scratch)
    : resolveAny(query, line, hostSpace, scratch);
}

/** As `resolve`, where `splitPlain` has read the URL up to `stop`. */
function resolvePlain(
  query: usize,
  line: usize,
  stop: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const end: usize = load<u32>(line, LINE_URL_END);
  if (stop < end) {
    // White space at the end is not part of the URL; and without a path only a query or a fragment
    // follows a host.
    if (load<u8>(end - 1) <= 0x20) return resolveAny(query, line, hostSpace, scratch);
    const octet: i32 = load<u8>(stop);
    if (<usize>load<u32>(line, LINE_PATH) === stop && octet !== 0x3f && octet !== 0x23) {
      return resolveAny(query, line, hostSpace, scratch);
    }
  }
  store<u32>(line, end, LINE_PATH_END);
  store<u32>(line, min(stop, end), LINE_IRREGULAR);
  settle(query, line);
  return scratch;
}

/** As `resolve`, for a URL of any form. */
function resolveAny(query: usize, line: usize, hostSpace: usize, scratch: usize): usize {
  const google = (load<u32>(query, QUERY_FLAGS) & QUERY_GOOGLE) !== 0;
  const anyHost = load<u32>(query, QUERY_ANY_HOST) !== 0;
  // google/robotstxt takes any string for a URL.
  if (google && anyHost) {
    store<i32>(line, PENDING, LINE_OUTCOME);
    return scratch;
  }
  // The URL itself is what google/robotstxt matches: the copy is not to be overwritten.
  if (google) store<u32>(line, 0, LINE_OWNED);
  const octets: usize = load<u32>(line, LINE_URL_END) - load<u32>(line, LINE_URL);
  const owned = load<u32>(line, LINE_OWNED);
  if (!splitAny(line, hostSpace, scratch, anyHost)) {
    fail(line, REASON_INVALID_URL);
    return scratch;
  }
  settle(query, line);
  const copied = load<u32>(line, LINE_OWNED) !== owned;
  return copied ? scratch + octets + COPY_MARGIN : scratch;
}

/** The URL is fine: hashes its host, if that is to be looked up. */
function settle(query: usize, line: usize): void {
  store<i32>(line, PENDING, LINE_OUTCOME);
  if (load<u32>(query, QUERY_ANY_HOST) !== 0) return;
  const table: usize = load<u32>(query, QUERY_TABLE);
  const hash = hashHost(
    table + HEADER_HOST_KEY,
    load<u32>(line, LINE_HOST),
    load<i32>(line, LINE_HOST_OCTETS),
  );
  const bucket = homeBucket(table, hash);
  store<i32>(line, hash, LINE_HASH);
  store<u32>(line, bucket, LINE_SLOT);
}
