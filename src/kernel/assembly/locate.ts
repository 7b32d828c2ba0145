/** The first phase of a line: its record, the URL in it, the URL's host and the host's hash. */

import { CR, HASH, LF, QUESTION_MARK, SLASH, SPACE, TAB } from '../../base/ascii';
import { HEADER_HOST_KEY } from '../../table/format';
import {
  COPY_MARGIN,
  FORMAT_JSON,
  FORMAT_OFFSETS,
  FORMAT_TEXT,
  INVALID,
  LINE_END,
  LINE_HASH,
  LINE_HOST,
  LINE_HOST_BYTES,
  LINE_LEADER,
  LINE_MISSING,
  LINE_NEWLINE,
  LINE_NON_CANONICAL,
  LINE_OUTCOME,
  LINE_OWNED,
  LINE_PATH,
  LINE_PATH_END,
  LINE_QUERY,
  LINE_ROOT_BYTES,
  LINE_SHARD,
  LINE_SLOT,
  LINE_SOURCE,
  LINE_SOURCE_END,
  LINE_START,
  LINE_URL,
  LINE_URL_END,
  OFFSET_BYTES,
  QUERY_ANY_HOST,
  QUERY_FLAGS,
  QUERY_FORMAT,
  QUERY_GOOGLE,
  QUERY_MAX_LINE,
  QUERY_ROW_FIELDS,
  QUERY_STRICT,
  REASON_INVALID_URL,
  REASON_LINE_TOO_LONG,
  REASON_NESTED_TOO_DEEP,
  REASON_NO_JSON,
  REASON_NO_URL,
  REASON_RETURN_IN_LINE,
  REASON_TAB_IN_LINE,
  REFUSED_BYTES,
  REFUSED_REASON,
  REFUSED_RECORD,
  WORKER_MARKS,
} from '../layout';
import { findByte, isControlOrSpace } from './bytes';
import { bucketOf, findShard, hashHost } from './hosts';
import { holdsControl, LOCATED, locateString, locateUrl } from './json/locate-url';
import { holdsEscape, unescapeString } from './json/string';
import { claimScratch, EMPTY, PENDING, tableOf } from './memory';
import { countFields, delimiterOf, holdsRows, isRefusedRow, locateField, rowStart } from './rows';
import { splitAny, splitPlain } from './url';

function fail(line: usize, reason: i32): void {
  store<i32>(line, (INVALID << 4) | reason, LINE_OUTCOME);
}

/** Stores where a line ends: before its LF, or its CR and LF. */
function endLine(line: usize, newline: usize, end: usize): void {
  const start: usize = load<u32>(line, LINE_START);
  const carriage = newline < end && newline > start && load<u8>(newline - 1) === CR;
  store<u32>(line, carriage ? newline - 1 : newline, LINE_END);
  store<u32>(line, newline, LINE_NEWLINE);
}

function isTooLong(query: usize, line: usize): bool {
  return load<u32>(line, LINE_END) - load<u32>(line, LINE_START) > load<u32>(query, QUERY_MAX_LINE);
}

/**
 * Fills in the entry of the line that begins at LINE_START and ends at `end` at the latest. A copy
 * of the URL goes to `scratch`; returns the first address of scratch memory that is then free.
 */
export function locate(
  query: usize,
  line: usize,
  end: usize,
  worker: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  store<u32>(line, 0, LINE_OWNED);
  store<u32>(line, 0, LINE_ROOT_BYTES);
  if (load<i32>(query, QUERY_FORMAT) === FORMAT_TEXT) {
    return locateInText(query, line, end, hostSpace, scratch);
  }
  if (load<i32>(query, QUERY_FORMAT) === FORMAT_OFFSETS) {
    return locateByOffset(query, line, end, hostSpace, scratch);
  }
  return holdsRows(query)
    ? locateInRow(query, line, end, hostSpace, scratch)
    : locateInJson(query, line, end, worker + WORKER_MARKS, hostSpace, scratch);
}

/** The line is the URL. Most URLs are read in one pass, which finds their newline as well. */
function locateInText(
  query: usize,
  line: usize,
  end: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const start: usize = load<u32>(line, LINE_START);
  const stop = splitPlain(line, start, end);
  const ended = stop !== 0 && stop < end && load<u8>(stop) === LF;
  endLine(line, ended ? stop : findByte(LF, stop !== 0 ? stop : start, end), end);
  const lineEnd: usize = load<u32>(line, LINE_END);
  if (isTooLong(query, line)) {
    fail(line, REASON_LINE_TOO_LONG);
    return scratch;
  }
  store<u32>(line, start, LINE_URL);
  store<u32>(line, lineEnd, LINE_URL_END);
  // `splitPlain` accepts neither tabs nor CRs.
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

/** The first byte that the URL Standard does not strip from the beginning. */
function afterBlanks(at: usize, end: usize): usize {
  while (at < end && isControlOrSpace(load<u8>(at))) at++;
  return at;
}

/**
 * The reason why the line is more than one URL: a tab separates columns, a CR separates lines. 0 if
 * the line is one URL. Blanks at the end, which the URL Standard strips, do not count.
 */
function severalUrls(from: usize, end: usize): i32 {
  const tab = findByte(TAB, from, end);
  const carriageReturn = findByte(CR, from, end);
  if (tab === end && carriageReturn === end) return 0;
  while (end > from && isControlOrSpace(load<u8>(end - 1))) end--;
  if (tab < end) return REASON_TAB_IN_LINE;
  return carriageReturn < end ? REASON_RETURN_IN_LINE : 0;
}

/** The line is the offset of a value, which is the URL. */
function locateByOffset(
  query: usize,
  line: usize,
  end: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const start: usize = load<u32>(line, LINE_START);
  const last = start + OFFSET_BYTES - 1;
  store<u32>(line, last, LINE_END);
  store<u32>(line, last, LINE_NEWLINE);
  const values = end + OFFSET_BYTES;
  const url: usize = values + load<u32>(start);
  const urlEnd: usize = values + load<u32>(start, OFFSET_BYTES);
  store<u32>(line, url, LINE_URL);
  store<u32>(line, urlEnd, LINE_URL_END);
  if (urlEnd - url > <usize>load<u32>(query, QUERY_MAX_LINE)) {
    fail(line, REASON_LINE_TOO_LONG);
    return scratch;
  }
  return resolve(query, line, hostSpace, scratch);
}

/** The line is a row with the URL in a column. An empty line is no row. */
function locateInRow(
  query: usize,
  line: usize,
  end: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const start: usize = load<u32>(line, LINE_START);
  endLine(line, findByte(LF, start, end), end);
  const lineEnd: usize = load<u32>(line, LINE_END);
  if (start === lineEnd) {
    store<i32>(line, EMPTY, LINE_OUTCOME);
    return scratch;
  }
  if (lineEnd - rowStart(line) > <usize>load<u32>(query, QUERY_MAX_LINE)) {
    fail(line, REASON_LINE_TOO_LONG);
    return scratch;
  }
  if (isRefusedRow(line)) {
    fail(line, REASON_NO_URL);
    return scratch;
  }
  const fields = countFields(rowStart(line), lineEnd, delimiterOf(query));
  if (fields === 0) {
    fail(line, REASON_RETURN_IN_LINE);
    return scratch;
  }
  const wanted = load<i32>(query, QUERY_ROW_FIELDS);
  const missing = wanted === 0 ? 0 : wanted - fields;
  store<i32>(line, missing, LINE_MISSING);
  // A delimiter too many may be part of the URL, which is then longer than its field.
  const free: usize = missing < 0 ? 0 : locateField(query, line, scratch);
  if (free === 0) {
    fail(line, REASON_NO_URL);
    return scratch;
  }
  return resolve(query, line, hostSpace, free);
}

/**
 * The line is an object that holds the URL; with FORMAT_JSON the line may also be the URL as a
 * string.
 */
function locateInJson(
  query: usize,
  line: usize,
  end: usize,
  marks: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const start: usize = load<u32>(line, LINE_START);
  const located = locateUrl(query, line, start, end, marks, scratch);
  const isString =
    located !== LOCATED &&
    load<i32>(query, QUERY_FORMAT) === FORMAT_JSON &&
    locateString(line, start, end) === LOCATED;
  if (located !== LOCATED && !isString) {
    endLine(line, findByte(LF, start, end), end);
    const lineEnd: usize = load<u32>(line, LINE_END);
    if (isBlank(start, lineEnd)) store<i32>(line, EMPTY, LINE_OUTCOME);
    else fail(line, faultOf(query, line, located));
    return scratch;
  }
  endLine(line, load<u32>(line, LINE_NEWLINE), end);
  const url: usize = load<u32>(line, LINE_URL);
  if (isTooLong(query, line) || url === 0) {
    fail(line, isTooLong(query, line) ? REASON_LINE_TOO_LONG : REASON_NO_URL);
    return scratch;
  }
  const urlEnd: usize = load<u32>(line, LINE_URL_END);
  const stop = splitPlain(line, url, urlEnd);
  const from = stop !== 0 ? stop : url;
  const strict = (load<u32>(query, QUERY_FLAGS) & QUERY_STRICT) !== 0;
  if (isString && strict && holdsControl(url, urlEnd)) {
    fail(line, REASON_NO_JSON);
    return scratch;
  }
  if (from === urlEnd || !holdsEscape(from, urlEnd)) {
    return stop !== 0
      ? resolvePlain(query, line, stop, hostSpace, scratch)
      : resolveAny(query, line, hostSpace, scratch);
  }
  claimScratch(scratch, urlEnd - url + COPY_MARGIN);
  const decodedEnd = unescapeString(url, urlEnd, scratch);
  if (decodedEnd === 0) {
    fail(line, REASON_NO_JSON);
    return scratch;
  }
  store<u32>(line, url, LINE_SOURCE);
  store<u32>(line, urlEnd, LINE_SOURCE_END);
  store<u32>(line, scratch, LINE_URL);
  store<u32>(line, decodedEnd, LINE_URL_END);
  store<u32>(line, 1, LINE_OWNED);
  return resolve(query, line, hostSpace, decodedEnd + COPY_MARGIN);
}

/** The reason why a line that is not blank is no record. */
function faultOf(query: usize, line: usize, located: i32): i32 {
  const start: usize = load<u32>(line, LINE_START);
  const refusal = refusedReason(query, start, load<u32>(line, LINE_END));
  if (refusal !== 0) return refusal;
  return isTooLong(query, line) ? REASON_LINE_TOO_LONG : located;
}

/**
 * Why the reader of JSON has refused this record; 0 if the record was accepted. See REFUSED_RECORD.
 */
export function refusedReason(query: usize, start: usize, end: usize): i32 {
  if (load<i32>(query, QUERY_FORMAT) !== FORMAT_JSON || end - start < <usize>REFUSED_BYTES)
    return 0;
  if (load<u8>(start) !== REFUSED_RECORD) return 0;
  const reason = <i32>load<u8>(start, 1) - REFUSED_REASON;
  return reason === REASON_LINE_TOO_LONG || reason === REASON_NESTED_TOO_DEEP ? reason : 0;
}

/** Whether a line is empty or white space. Stops at the first other byte. */
function isBlank(at: usize, end: usize): bool {
  while (at < end) {
    const byte: i32 = load<u8>(at++);
    if (byte !== SPACE && byte !== TAB && byte !== CR) return false;
  }
  return true;
}

/**
 * Fills in the entry's host, scheme, port and path from its URL; returns the first address of
 * scratch memory that is then free.
 */
export function resolve(query: usize, line: usize, hostSpace: usize, scratch: usize): usize {
  const stop = splitPlain(line, load<u32>(line, LINE_URL), load<u32>(line, LINE_URL_END));
  return stop !== 0
    ? resolvePlain(query, line, stop, hostSpace, scratch)
    : resolveAny(query, line, hostSpace, scratch);
}

/** As `resolve`, if `splitPlain` has read the URL up to `stop`. */
function resolvePlain(
  query: usize,
  line: usize,
  stop: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const end: usize = load<u32>(line, LINE_URL_END);
  if (stop < end) {
    // White space at the end is not part of the URL. Without a path only a query or a fragment may
    // follow the host.
    if (isControlOrSpace(load<u8>(end - 1))) return resolveAny(query, line, hostSpace, scratch);
    const byte: i32 = load<u8>(stop);
    if (<usize>load<u32>(line, LINE_PATH) === stop && byte !== QUESTION_MARK && byte !== HASH) {
      return resolveAny(query, line, hostSpace, scratch);
    }
  }
  store<u32>(line, end, LINE_PATH_END);
  store<u32>(line, min(stop, end), LINE_NON_CANONICAL);
  const path: usize = load<u32>(line, LINE_PATH);
  if (path < end && load<u8>(path) === SLASH) {
    store<u32>(line, path + 1 - <usize>load<u32>(line, LINE_URL), LINE_ROOT_BYTES);
  }
  if (load<u32>(line, LINE_LEADER) === 0) settle(query, line);
  else settleAsLeader(line);
  return scratch;
}

/** As `resolve`, for a URL of any form. */
function resolveAny(query: usize, line: usize, hostSpace: usize, scratch: usize): usize {
  store<u32>(line, 0, LINE_LEADER);
  const google = (load<u32>(query, QUERY_FLAGS) & QUERY_GOOGLE) !== 0;
  const anyHost = load<u32>(query, QUERY_ANY_HOST) !== 0;
  // google/robotstxt accepts any string as a URL.
  if (google && anyHost) {
    store<i32>(line, PENDING, LINE_OUTCOME);
    return scratch;
  }
  // google/robotstxt matches the URL itself: its copy must not be overwritten.
  if (google) store<u32>(line, 0, LINE_OWNED);
  const bytes: usize = load<u32>(line, LINE_URL_END) - load<u32>(line, LINE_URL);
  const owned = load<u32>(line, LINE_OWNED);
  if (!splitAny(line, hostSpace, scratch, anyHost)) {
    fail(line, REASON_INVALID_URL);
    return scratch;
  }
  settle(query, line);
  const copied = load<u32>(line, LINE_OWNED) !== owned;
  return copied ? scratch + bytes + COPY_MARGIN : scratch;
}

/** Marks the URL as fine, and hashes its host if the host must be looked up. */
function settle(query: usize, line: usize): void {
  store<i32>(line, PENDING, LINE_OUTCOME);
  if (load<u32>(query, QUERY_ANY_HOST) !== 0) return;
  findShard(query, line);
  const table = tableOf(line);
  const hash = hashHost(
    table + HEADER_HOST_KEY,
    load<u32>(line, LINE_HOST),
    load<i32>(line, LINE_HOST_BYTES),
  );
  const bucket = bucketOf(table, hash);
  store<i32>(line, hash, LINE_HASH);
  store<u32>(line, bucket, LINE_SLOT);
}

/** As `settle`, for a line whose leader is the line before. */
function settleAsLeader(line: usize): void {
  const leader: usize = load<u32>(line, LINE_LEADER);
  store<i32>(line, PENDING, LINE_OUTCOME);
  store<u32>(line, load<u32>(leader, LINE_QUERY), LINE_QUERY);
  store<u32>(line, load<u32>(leader, LINE_SHARD), LINE_SHARD);
}
