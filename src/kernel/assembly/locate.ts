/** The first phase of a line: its record, the URL in it, the URL's host and the host's hash. */

import { BACKSLASH, CR, HASH, LF, QUESTION_MARK, SLASH, SPACE, TAB } from '../../base/ascii';
import { HEADER_HOST_KEY } from '../../table/format';
import {
  COPY_MARGIN,
  FORMAT_CDX,
  FORMAT_CDXJ,
  FORMAT_JSON,
  FORMAT_LOG,
  FORMAT_OFFSETS,
  FORMAT_TEXT,
  INVALID,
  LAST_TIME,
  LATEST,
  OFFSET_BYTES,
  QUERY_GOOGLE,
  QUERY_STRICT,
  REASON_BITS,
  REASON_INVALID_URL,
  REASON_LINE_TOO_LONG,
  REASON_NESTED_TOO_DEEP,
  REASON_NO_JSON,
  REASON_NO_OBJECT,
  REASON_NO_TIME,
  REASON_NO_URL,
  REASON_RETURN_IN_LINE,
  REASON_TAB_IN_LINE,
  REFUSED_BYTES,
  REFUSED_REASON,
  REFUSED_RECORD,
} from '../layout';
import { findByte, isControlOrSpace } from './bytes';
import { firstNonCanonical } from './canonical';
import { bucketOf, findShard, hashHost } from './hosts';
import { locateAlike, noteAlike, rememberShape } from './json/alike';
import { holdsControl, LOCATED, locateString, locateUrl } from './json/locate-url';
import { holdsEscape, unescapeString } from './json/string';
import { readLogLine, unescapeLog } from './log';
import {
  claimScratch,
  EMPTY,
  Line,
  PENDING,
  Query,
  setWhen,
  tableOf,
  Worker,
  when,
  whenEnd,
} from './memory';
import {
  countFields,
  holdsRows,
  isRefusedRow,
  locateField,
  locateTimeField,
  rowStart,
} from './rows';
import { NO_TIME, timeOf } from './time';
import { splitAny, splitPlain, splitServer } from './url';

function fail(line: Line, reason: i32): void {
  line.outcome = (INVALID << REASON_BITS) | reason;
}

/** Stores where a line ends: before its LF, or its CR and LF. */
function endLine(line: Line, newline: usize, end: usize): void {
  const start = line.start;
  const carriage = newline < end && newline > start && load<u8>(newline - 1) === CR;
  line.end = carriage ? newline - 1 : newline;
  line.newline = newline;
}

function isTooLong(query: Query, line: Line): bool {
  return line.end - line.start > query.maxLine;
}

/**
 * Fills in the entry of the line that begins at `line.start` and ends at `end` at the latest. A
 * copy of the URL goes to `scratch`; returns the first address of scratch memory that is then free.
 */
export function locate(
  query: Query,
  line: Line,
  end: usize,
  worker: Worker,
  hostSpace: usize,
  scratch: usize,
): usize {
  line.owned = 0;
  line.rootBytes = 0;
  if (query.format === FORMAT_TEXT) {
    return locateInText(query, line, end, hostSpace, scratch);
  }
  if (query.format === FORMAT_OFFSETS) {
    return locateByOffset(query, line, end, hostSpace, scratch);
  }
  if (holdsRows(query)) return locateInRow(query, line, end, hostSpace, scratch);
  return query.format === FORMAT_LOG
    ? locateInLog(query, line, end, hostSpace, scratch)
    : locateInJson(query, line, end, worker, hostSpace, scratch);
}

/** A longer text, as a string of JSON may have it with escapes, is no time. */
const LONGEST_TIME: usize = 256;

/**
 * With QUERY_TIMED: fills in the time of the record that was located last. Without a time, the
 * record is invalid.
 */
export function readTime(query: Query, line: Line, scratch: usize): void {
  if (line.outcome !== PENDING) return;
  const times = query.times;
  line.time =
    times !== 0
      ? load<u32>(times + ((<usize>line.number) << 2))
      : timeOfRecord(query, line, scratch);
  if (line.time !== <u32>LATEST) return;
  fail(line, REASON_NO_TIME);
  // The next line must not take over an authority that is not looked up.
  line.rootBytes = 0;
}

/** The time that a record states, in seconds since 1970; LATEST if it states none. */
function timeOfRecord(query: Query, line: Line, scratch: usize): u32 {
  const isRow = holdsRows(query);
  const isJson = !isRow && query.format !== FORMAT_LOG;
  if (isRow) locateTimeField(query, line);
  // The lines of text have no other values than their URLs.
  let from: usize = query.format === FORMAT_TEXT ? 0 : when;
  let end = whenEnd;
  if (from === 0 || end - from > LONGEST_TIME) return LATEST;
  if (isJson && holdsEscape(from, end)) {
    // Some writers escape the plus of an offset: `\u002b`.
    claimScratch(scratch, end - from + COPY_MARGIN);
    end = unescapeString(from, end, scratch);
    from = scratch;
    if (end === 0) return LATEST;
  }
  const time = timeOf(from, end);
  if (time === NO_TIME) return LATEST;
  return <u32>min(max(time / 1000, 0), <i64>(<u32>LAST_TIME));
}

/** The line is the URL. Most URLs are read in one pass, which finds their newline as well. */
function locateInText(
  query: Query,
  line: Line,
  end: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const start = line.start;
  const stop = splitPlain(line, start, end);
  const ended = stop !== 0 && stop < end && load<u8>(stop) === LF;
  endLine(line, ended ? stop : findByte(LF, stop !== 0 ? stop : start, end), end);
  const lineEnd = line.end;
  if (isTooLong(query, line)) {
    fail(line, REASON_LINE_TOO_LONG);
    return scratch;
  }
  line.url = start;
  line.urlEnd = lineEnd;
  // `splitPlain` accepts neither tabs nor CRs.
  const reason =
    stop < lineEnd ? severalUrls(stop !== 0 ? stop : afterBlanks(start, lineEnd), lineEnd) : 0;
  if (reason !== 0) {
    fail(line, reason);
    return scratch;
  }
  if (stop !== 0) return resolvePlain(query, line, stop, hostSpace, scratch);
  if (isBlank(start, lineEnd)) {
    line.outcome = EMPTY;
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
  query: Query,
  line: Line,
  end: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const start = line.start;
  const last = start + OFFSET_BYTES - 1;
  line.end = last;
  line.newline = last;
  const values = end + OFFSET_BYTES;
  const url: usize = values + load<u32>(start);
  const urlEnd: usize = values + load<u32>(start, OFFSET_BYTES);
  line.url = url;
  line.urlEnd = urlEnd;
  if (urlEnd - url > <usize>query.maxLine) {
    fail(line, REASON_LINE_TOO_LONG);
    return scratch;
  }
  return resolve(query, line, hostSpace, scratch);
}

/** The line is a row with the URL in a column. An empty line is no row, nor is a blank in CDX. */
function locateInRow(
  query: Query,
  line: Line,
  end: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const start = line.start;
  endLine(line, findByte(LF, start, end), end);
  const lineEnd = line.end;
  const isIndex = query.format === FORMAT_CDX;
  if (start === lineEnd || (isIndex && isBlank(start, lineEnd))) {
    line.outcome = EMPTY;
    return scratch;
  }
  if (lineEnd - rowStart(line) > <usize>query.maxLine) {
    fail(line, REASON_LINE_TOO_LONG);
    return scratch;
  }
  if (isRefusedRow(line)) {
    fail(line, REASON_NO_URL);
    return scratch;
  }
  const fields = countFields(query, rowStart(line), lineEnd);
  if (fields === 0) {
    fail(line, REASON_RETURN_IN_LINE);
    return scratch;
  }
  const wanted = query.rowFields;
  const missing = wanted === 0 ? 0 : wanted - fields;
  line.missing = missing;
  // A delimiter too many may be part of the URL, which is then longer than its field. A line of an
  // index with too few fields may have been cut within the URL.
  const isWrong = missing < 0 || (isIndex && missing > 0);
  const free: usize = isWrong ? 0 : locateField(query, line, scratch);
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
  query: Query,
  line: Line,
  end: usize,
  worker: Worker,
  hostSpace: usize,
  scratch: usize,
): usize {
  const isIndex = query.format === FORMAT_CDXJ;
  const start = isIndex ? objectInIndex(line.start, end) : line.start;
  if (start === 0) {
    endLine(line, findByte(LF, line.start, end), end);
    if (isBlank(line.start, line.end)) line.outcome = EMPTY;
    else fail(line, isTooLong(query, line) ? REASON_LINE_TOO_LONG : REASON_NO_OBJECT);
    return scratch;
  }
  const shapes = worker.shapes;
  const triesShapes = shapes.credit > 0;
  if (triesShapes) {
    const stop = locateAlike(query, line, end, shapes);
    noteAlike(shapes, stop !== 0);
    if (stop !== 0) {
      endLine(line, line.newline, end);
      if (!isTooLong(query, line)) return resolvePlain(query, line, stop, hostSpace, scratch);
      fail(line, REASON_LINE_TOO_LONG);
      return scratch;
    }
  }
  const located = locateUrl(query, line, start, end, worker.marks, scratch);
  if (triesShapes && located === LOCATED) rememberShape(query, line, shapes);
  const isString =
    located !== LOCATED &&
    query.format === FORMAT_JSON &&
    locateString(line, start, end) === LOCATED;
  if (located !== LOCATED && !isString) {
    endLine(line, findByte(LF, start, end), end);
    const lineEnd = line.end;
    if (!isIndex && isBlank(start, lineEnd)) line.outcome = EMPTY;
    else fail(line, faultOf(query, line, located));
    return scratch;
  }
  endLine(line, line.newline, end);
  const url = line.url;
  if (isTooLong(query, line) || url === 0) {
    fail(line, isTooLong(query, line) ? REASON_LINE_TOO_LONG : REASON_NO_URL);
    return scratch;
  }
  const urlEnd = line.urlEnd;
  const stop = splitPlain(line, url, urlEnd);
  const from = stop !== 0 ? stop : url;
  const strict = (query.flags & QUERY_STRICT) !== 0;
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
  line.source = url;
  line.sourceEnd = urlEnd;
  line.url = scratch;
  line.urlEnd = decodedEnd;
  line.owned = 1;
  return resolve(query, line, hostSpace, decodedEnd + COPY_MARGIN);
}

/**
 * The object in a line of FORMAT_CDXJ, after its second space; 0 if there is no second space. The
 * time stands between the two.
 */
function objectInIndex(start: usize, end: usize): usize {
  // A search beyond the line would read the rest of the batch for each line without a space.
  const lineEnd = findByte(LF, start, end);
  const key = findByte(SPACE, start, lineEnd);
  const time = key < lineEnd ? findByte(SPACE, key + 1, lineEnd) : lineEnd;
  if (time === lineEnd) return 0;
  setWhen(key + 1, time);
  return time + 1;
}

/**
 * The line is that of a web server's log. Its request has a path, or a whole URL, as those that ask
 * a proxy have.
 */
function locateInLog(
  query: Query,
  line: Line,
  end: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const start = line.start;
  endLine(line, findByte(LF, start, end), end);
  const lineEnd = line.end;
  if (isBlank(start, lineEnd)) {
    line.outcome = EMPTY;
    return scratch;
  }
  if (isTooLong(query, line)) {
    fail(line, REASON_LINE_TOO_LONG);
    return scratch;
  }
  if (!readLogLine(line)) {
    fail(line, REASON_NO_URL);
    return scratch;
  }
  let from = line.source;
  let to = line.sourceEnd;
  if (findByte(BACKSLASH, from, to) < to) {
    claimScratch(scratch, to - from + COPY_MARGIN);
    to = unescapeLog(from, to, scratch);
    from = scratch;
    scratch = to + COPY_MARGIN;
    line.owned = 1;
  }
  line.url = from;
  line.urlEnd = to;
  if (load<u8>(from) !== SLASH) return resolve(query, line, hostSpace, scratch);
  line.leader = 0;
  line.path = from;
  if (query.hostBytes !== 0) {
    line.host = query.host;
    line.hostBytes = query.hostBytes;
    line.scheme = query.scheme;
    line.port = query.port;
  } else if (!splitServer(line, start, findByte(SPACE, start, lineEnd), hostSpace)) {
    fail(line, REASON_INVALID_URL);
    return scratch;
  }
  while (isControlOrSpace(load<u8>(to - 1))) to--;
  line.pathEnd = to;
  line.nonCanonical = firstNonCanonical(from, to);
  // google/robotstxt matches the URL itself: its copy must not be overwritten.
  if ((query.flags & QUERY_GOOGLE) !== 0) line.owned = 0;
  settle(query, line);
  return scratch;
}

/** The reason why a line that is not blank is no record. */
function faultOf(query: Query, line: Line, located: i32): i32 {
  const start = line.start;
  const refusal = refusedReason(query, start, line.end);
  if (refusal !== 0) return refusal;
  return isTooLong(query, line) ? REASON_LINE_TOO_LONG : located;
}

/**
 * Why the reader of JSON has refused this record; 0 if the record was accepted. See REFUSED_RECORD.
 */
export function refusedReason(query: Query, start: usize, end: usize): i32 {
  if (query.format !== FORMAT_JSON || end - start < <usize>REFUSED_BYTES) return 0;
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
export function resolve(query: Query, line: Line, hostSpace: usize, scratch: usize): usize {
  const stop = splitPlain(line, line.url, line.urlEnd);
  return stop !== 0
    ? resolvePlain(query, line, stop, hostSpace, scratch)
    : resolveAny(query, line, hostSpace, scratch);
}

/** As `resolve`, if `splitPlain` has read the URL up to `stop`. */
function resolvePlain(
  query: Query,
  line: Line,
  stop: usize,
  hostSpace: usize,
  scratch: usize,
): usize {
  const end = line.urlEnd;
  if (stop < end) {
    // White space at the end is not part of the URL. Without a path only a query or a fragment may
    // follow the host.
    if (isControlOrSpace(load<u8>(end - 1))) return resolveAny(query, line, hostSpace, scratch);
    const byte: i32 = load<u8>(stop);
    if (line.path === stop && byte !== QUESTION_MARK && byte !== HASH) {
      return resolveAny(query, line, hostSpace, scratch);
    }
  }
  line.pathEnd = end;
  line.nonCanonical = min(stop, end);
  const path = line.path;
  if (path < end && load<u8>(path) === SLASH) {
    line.rootBytes = path + 1 - line.url;
  }
  if (line.leader === 0) settle(query, line);
  else settleAsLeader(line);
  return scratch;
}

/** As `resolve`, for a URL of any form. */
function resolveAny(query: Query, line: Line, hostSpace: usize, scratch: usize): usize {
  line.leader = 0;
  const google = (query.flags & QUERY_GOOGLE) !== 0;
  const anyHost = query.anyHost !== 0;
  // google/robotstxt accepts any string as a URL.
  if (google && anyHost) {
    line.outcome = PENDING;
    return scratch;
  }
  // google/robotstxt matches the URL itself: its copy must not be overwritten.
  if (google) line.owned = 0;
  const bytes: usize = line.urlEnd - line.url;
  const owned = line.owned;
  if (!splitAny(line, hostSpace, scratch, anyHost)) {
    fail(line, REASON_INVALID_URL);
    return scratch;
  }
  settle(query, line);
  const copied = line.owned !== owned;
  return copied ? scratch + bytes + COPY_MARGIN : scratch;
}

/** Marks the URL as fine, and hashes its host if the host must be looked up. */
function settle(query: Query, line: Line): void {
  line.outcome = PENDING;
  if (query.anyHost !== 0) return;
  findShard(query, line);
  const table = tableOf(line);
  const hash = hashHost(table + HEADER_HOST_KEY, line.host, line.hostBytes);
  const bucket = bucketOf(table, hash);
  line.hash = hash;
  line.slot = bucket;
}

/** As `settle`, for a line whose leader is the line before. */
function settleAsLeader(line: Line): void {
  const leader = changetype<Line>(line.leader);
  line.outcome = PENDING;
  line.query = leader.query;
  line.shard = leader.shard;
}
