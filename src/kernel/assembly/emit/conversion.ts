/**
 * Conversions: the URL and the verdicts in place of a record. Layout: kernel/layout.ts, CONVERT_…
 */

import { CLOSE_BRACE, COMMA, LF, LOWER_S, QUOTE, SPACE, TAB } from '../../../base/ascii';
import { SCHEME_HTTPS } from '../../../table/format';
import {
  BAD_INPUT_LIMIT,
  CONVERT_CSV,
  CONVERT_NDJSON,
  CONVERT_OUTCOMES,
  CONVERT_PARQUET,
  CONVERT_TEXT,
  CONVERT_TSV,
  FORMAT_LOG,
  FORMAT_TEXT,
  FRAGMENT_STRING_CLOSE,
  FRAGMENT_STRING_OPEN,
  INVALID,
  MARGIN,
  NO_SHARD,
  OUTPUT_ANNOTATE,
  QUERY_ADDS_SHARD,
  QUERY_DATED,
  QUERY_EXPLAIN,
  QUERY_FRAMES,
  QUERY_NAMES_AGENT,
  QUERY_PARQUET,
  REASON_BITS,
  REASON_INVALID_URL,
  REASON_MASK,
  REASON_NO_TIME,
  REASON_NO_URL,
  REASON_RETURN_IN_LINE,
  REASON_TAB_IN_LINE,
  REFUSED_BYTES,
} from '../../layout';
import { COLON_SLASH_SLASH, copy, copyShort, findByte, HTTP } from '../bytes';
import { unescapeString } from '../json/string';
import { refusedReason } from '../locate';
import { unescapeLog } from '../log';
import { Line, Query, Worker } from '../memory';
import { holdsRows, rowStart, standInOf, unquote } from '../rows';
import {
  agentName,
  agentOf,
  byte,
  escapeString,
  escapeUrl,
  fragment,
  newline,
  quoteField,
  repairUtf8,
  resultOf,
  ruleText,
  sinceOf,
  verdicts,
} from './parts';
import { members, rowColumns, textColumns } from './records';

/** Bytes of `https://`. */
const SCHEME_ROOM: usize = 8;
/** Length that most URLs do not exceed: see `copy`. */
const USUAL_URL: i32 = 128;

/** Writes what the query puts in place of a record. The line is not empty. */
export function convert(query: Query, worker: Worker, line: Line, to: usize): usize {
  const conversion = query.conversion;
  const annotates = query.output === OUTPUT_ANNOTATE;
  if (conversion === CONVERT_OUTCOMES) return outcomes(query, worker, to);
  if (conversion === CONVERT_PARQUET) {
    const end = url(query, line, to + 4);
    store<u32>(to, end - to - 4);
    return annotates ? outcomes(query, worker, end) : end;
  }
  if (conversion === CONVERT_NDJSON) {
    to = url(query, line, fragment(query, FRAGMENT_STRING_OPEN, to));
    to = fragment(query, FRAGMENT_STRING_CLOSE, to);
    if (annotates) to = members(query, worker, byte(COMMA, to));
    return newline(byte(CLOSE_BRACE, to));
  }
  if (conversion === CONVERT_TEXT) {
    to = url(query, line, annotates ? verdicts(query, worker, to) : to);
    return newline(annotates ? textColumns(query, worker, to) : to);
  }
  to = url(query, line, to);
  return newline(annotates ? rowColumns(query, worker, conversionDelimiter(conversion), to) : to);
}

/** The byte between the fields of the rows that are written. */
function conversionDelimiter(conversion: i32): i32 {
  if (conversion === CONVERT_TSV) return TAB;
  if (conversion !== CONVERT_CSV) unreachable();
  return COMMA;
}

/**
 * Writes the URL of a record as the output has it. If the record has no URL, its first
 * BAD_INPUT_LIMIT bytes stand in the URL's place.
 */
function url(query: Query, line: Line, to: usize): usize {
  const start = line.start;
  const end = line.end;
  if (!holdsUrl(query, line.outcome)) return beginning(query, line, to);
  const first = line.url;
  if (isLogPath(query, line)) {
    const room = <usize>query.baseBytes + SCHEME_ROOM + (line.sourceEnd - start);
    const from = afterRoom(query, room, to);
    return encode(query, from, logUrl(query, line, from), to);
  }
  if (first >= start && first <= end) {
    return encode(query, first, line.urlEnd, to);
  }
  const source = line.sourceEnd - line.source;
  const held = afterRoom(query, source, to);
  return encode(query, held, decodeUrl(query, line, held), to);
}

/** Whether the line is that of a log, with a path and no URL. */
function isLogPath(query: Query, line: Line): bool {
  return query.format === FORMAT_LOG && line.path === line.url;
}

/** Writes the URL of a path of a log: the server, which may stand in the line, and the path. */
function logUrl(query: Query, line: Line, to: usize): usize {
  if (query.hostBytes !== 0)
    return decodeUrl(query, line, copyShort(query.base, query.baseBytes, to));
  store<i32>(to, HTTP);
  to += 4;
  if (line.scheme === SCHEME_HTTPS) to = byte(LOWER_S, to);
  store<i32>(to, COLON_SLASH_SLASH);
  const start = line.start;
  const server = findByte(SPACE, start, line.end);
  return decodeUrl(query, line, copy(start, <i32>(server - start), to + 3, USUAL_URL));
}

/** Decodes the URL anew: what lies in scratch memory may have been changed since. */
function decodeUrl(query: Query, line: Line, to: usize): usize {
  const from = line.source;
  const end = line.sourceEnd;
  if (query.format === FORMAT_LOG) return unescapeLog(from, end, to);
  return holdsRows(query) ? unquote(from, end, standInOf(line), to) : unescapeString(from, end, to);
}

/** Writes the bytes of the URL of a record, if it has one. */
export function rawUrl(query: Query, line: Line, to: usize): usize {
  if (!holdsUrl(query, line.outcome)) return to;
  if (isLogPath(query, line)) return logUrl(query, line, to);
  const first = line.url;
  if (first < line.start || first > line.end) {
    return decodeUrl(query, line, to);
  }
  return copy(first, <i32>(line.urlEnd - first), to, USUAL_URL);
}

/** Whether a record of this outcome has a URL, be it valid or not. */
function holdsUrl(query: Query, outcome: i32): bool {
  if (outcome < 0) return true;
  const reason = outcome & REASON_MASK;
  if (query.format === FORMAT_TEXT) {
    return (
      reason === REASON_INVALID_URL ||
      reason === REASON_TAB_IN_LINE ||
      reason === REASON_RETURN_IN_LINE
    );
  }
  // Of a line of a log, the server may be what is no URL.
  const isInvalid = reason === REASON_INVALID_URL && query.format !== FORMAT_LOG;
  return isInvalid || reason === REASON_NO_TIME;
}

/** Writes the first bytes of a record without a URL. */
function beginning(query: Query, line: Line, to: usize): usize {
  let start = line.start;
  const lineEnd = line.end;
  if (holdsRows(query)) {
    start = rowStart(line);
    const end = min(lineEnd, start + BAD_INPUT_LIMIT);
    const standIn = standInOf(line);
    const held = afterRoom(query, end - start, to);
    for (let at = start; at < end; at++) {
      const value: i32 = load<u8>(at);
      store<u8>(held + (at - start), value === standIn ? LF : value);
    }
    return encode(query, held, held + (end - start), to);
  }
  const isNull = (query.flags & QUERY_PARQUET) !== 0;
  if (isNull && (line.outcome & REASON_MASK) === REASON_NO_URL) start = lineEnd;
  else if (refusedReason(query, start, lineEnd) !== 0) start += <usize>REFUSED_BYTES;
  return encode(query, start, min(lineEnd, start + BAD_INPUT_LIMIT), to);
}

/**
 * Where a text of `bytes` bytes can lie while it is written at `to` as the output has it. See
 * `lineFactor` in kernel/query.ts.
 */
function afterRoom(query: Query, bytes: usize, to: usize): usize {
  const isFramed = (query.flags & QUERY_FRAMES) !== 0;
  const expansion = query.lineFactor - (isFramed ? 2 : 1);
  return to + <usize>expansion * bytes + MARGIN;
}

/** Writes a text as the output has it. */
function encode(query: Query, at: usize, end: usize, to: usize): usize {
  const conversion = query.conversion;
  if (conversion === CONVERT_TEXT) return escapeUrl(at, end, to);
  if (conversion === CONVERT_NDJSON) return byte(QUOTE, escapeString(at, end, byte(QUOTE, to)));
  if (conversion === CONVERT_PARQUET) return repairUtf8(at, end, to);
  return quoteField(at, end, conversionDelimiter(conversion), to);
}

/** Writes the outcomes of all agents: see CONVERT_PARQUET; or the shard: see CONVERT_OUTCOMES. */
function outcomes(query: Query, worker: Worker, to: usize): usize {
  if ((query.flags & QUERY_ADDS_SHARD) !== 0) {
    const isInvalid = resultOf(worker, 0).outcome >> REASON_BITS === INVALID;
    store<u32>(to, isInvalid ? NO_SHARD : worker.shard);
    return to + 4;
  }
  const explains = (query.flags & QUERY_EXPLAIN) !== 0;
  const dated = (query.flags & QUERY_DATED) !== 0;
  const agents = query.agentCount;
  for (let i = 0; i < agents; i++) {
    const result = resultOf(worker, i);
    to = byte(result.outcome, to);
    if (!explains) continue;
    if (dated) {
      store<u32>(to, sinceOf(query, result));
      to += 4;
    }
    const ruled = result.rank !== 0;
    const end = ruled ? ruleText(query, agentOf(query, i), result, to + 6) : to + 6;
    store<u32>(to, ruled ? result.line : 0);
    store<u16>(to, end - to - 6, 4);
    to = end;
  }
  if (!explains || (query.flags & QUERY_NAMES_AGENT) === 0) return to;
  const end = query.name === 0 ? to + 2 : agentName(query, to + 2);
  store<u16>(to, end - to - 2);
  return end;
}
