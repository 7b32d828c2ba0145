/** Conversions: the URL and the verdicts in place of a record. Layout: layout.ts, CONVERT_… */

import { CLOSE_BRACE, COMMA, LF, QUOTE, TAB } from '../../../base/ascii';
import {
  BAD_INPUT_LIMIT,
  CONVERT_CSV,
  CONVERT_NDJSON,
  CONVERT_OUTCOMES,
  CONVERT_PARQUET,
  CONVERT_TEXT,
  FORMAT_TEXT,
  FRAGMENT_STRING_CLOSE,
  FRAGMENT_STRING_OPEN,
  INVALID,
  LINE_END,
  LINE_OUTCOME,
  LINE_SOURCE,
  LINE_SOURCE_END,
  LINE_START,
  LINE_URL,
  LINE_URL_END,
  MARGIN,
  NO_SHARD,
  OUTPUT_ANNOTATE,
  QUERY_ADDS_SHARD,
  QUERY_AGENT_COUNT,
  QUERY_CONVERSION,
  QUERY_EXPLAIN,
  QUERY_FLAGS,
  QUERY_FORMAT,
  QUERY_FRAMES,
  QUERY_LINE_FACTOR,
  QUERY_OUTPUT,
  QUERY_PARQUET,
  REASON_INVALID_URL,
  REASON_NO_URL,
  REASON_RETURN_IN_LINE,
  REASON_TAB_IN_LINE,
  REFUSED_BYTES,
  RESULT_LINE,
  RESULT_OUTCOME,
  RESULT_RANK,
  WORKER_SHARD,
} from '../../layout';
import { copy } from '../bytes';
import { unescapeString } from '../json/string';
import { refusedReason } from '../locate';
import { holdsRows, rowStart, standInOf, unquote } from '../rows';
import {
  byte,
  escapeString,
  escapeUrl,
  fragment,
  newline,
  quoteField,
  repairUtf8,
  resultOf,
  ruleText,
  verdicts,
} from './parts';
import { members, rowColumns, textColumns } from './records';

/** Length that most URLs do not exceed: see `copy`. */
const USUAL_URL: i32 = 128;

/** Writes what the query puts in place of a record. The line is not empty. */
export function convert(query: usize, worker: usize, line: usize, to: usize): usize {
  const conversion = load<i32>(query, QUERY_CONVERSION);
  const annotates = load<i32>(query, QUERY_OUTPUT) === OUTPUT_ANNOTATE;
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
  return newline(annotates ? rowColumns(query, worker, delimiterOf(conversion), to) : to);
}

/** The byte between the fields of the rows that are written. */
function delimiterOf(conversion: i32): i32 {
  return conversion === CONVERT_CSV ? COMMA : TAB;
}

/**
 * Writes the URL of a record as the output has it. If the record has no URL, its first
 * BAD_INPUT_LIMIT bytes stand in the URL's place.
 */
function url(query: usize, line: usize, to: usize): usize {
  const start: usize = load<u32>(line, LINE_START);
  const end: usize = load<u32>(line, LINE_END);
  if (!holdsUrl(query, load<i32>(line, LINE_OUTCOME))) return beginning(query, line, to);
  const first: usize = load<u32>(line, LINE_URL);
  if (first >= start && first <= end) {
    return encode(query, first, load<u32>(line, LINE_URL_END), to);
  }
  const source = load<u32>(line, LINE_SOURCE_END) - load<u32>(line, LINE_SOURCE);
  const held = afterRoom(query, source, to);
  return encode(query, held, decodeUrl(query, line, held), to);
}

/** Decodes the URL anew: what lies in scratch memory may have been changed since. */
function decodeUrl(query: usize, line: usize, to: usize): usize {
  const from: usize = load<u32>(line, LINE_SOURCE);
  const end: usize = load<u32>(line, LINE_SOURCE_END);
  return holdsRows(query) ? unquote(from, end, standInOf(line), to) : unescapeString(from, end, to);
}

/** Writes the bytes of the URL of a record, if it has one. */
export function rawUrl(query: usize, line: usize, to: usize): usize {
  if (!holdsUrl(query, load<i32>(line, LINE_OUTCOME))) return to;
  const first: usize = load<u32>(line, LINE_URL);
  if (first < <usize>load<u32>(line, LINE_START) || first > <usize>load<u32>(line, LINE_END)) {
    return decodeUrl(query, line, to);
  }
  return copy(first, <i32>(<usize>load<u32>(line, LINE_URL_END) - first), to, USUAL_URL);
}

/** Whether a record of this outcome has a URL, be it valid or not. */
function holdsUrl(query: usize, outcome: i32): bool {
  if (outcome < 0) return true;
  const reason = outcome & 15;
  if (load<i32>(query, QUERY_FORMAT) === FORMAT_TEXT) {
    return (
      reason === REASON_INVALID_URL ||
      reason === REASON_TAB_IN_LINE ||
      reason === REASON_RETURN_IN_LINE
    );
  }
  return reason === REASON_INVALID_URL;
}

/** Writes the first bytes of a record without a URL. */
function beginning(query: usize, line: usize, to: usize): usize {
  let start: usize = load<u32>(line, LINE_START);
  const lineEnd: usize = load<u32>(line, LINE_END);
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
  const isNull = (load<u32>(query, QUERY_FLAGS) & QUERY_PARQUET) !== 0;
  if (isNull && (load<i32>(line, LINE_OUTCOME) & 15) === REASON_NO_URL) start = lineEnd;
  else if (refusedReason(query, start, lineEnd) !== 0) start += <usize>REFUSED_BYTES;
  return encode(query, start, min(lineEnd, start + BAD_INPUT_LIMIT), to);
}

/**
 * Where a text of `bytes` bytes can lie while it is written at `to` as the output has it. See
 * `lineFactor` in kernel/query.ts.
 */
function afterRoom(query: usize, bytes: usize, to: usize): usize {
  const isFramed = (load<u32>(query, QUERY_FLAGS) & QUERY_FRAMES) !== 0;
  const expansion = load<u32>(query, QUERY_LINE_FACTOR) - (isFramed ? 2 : 1);
  return to + <usize>expansion * bytes + MARGIN;
}

/** Writes a text as the output has it. */
function encode(query: usize, at: usize, end: usize, to: usize): usize {
  const conversion = load<i32>(query, QUERY_CONVERSION);
  if (conversion === CONVERT_TEXT) return escapeUrl(at, end, to);
  if (conversion === CONVERT_NDJSON) return byte(QUOTE, escapeString(at, end, byte(QUOTE, to)));
  if (conversion === CONVERT_PARQUET) return repairUtf8(at, end, to);
  return quoteField(at, end, delimiterOf(conversion), to);
}

/** Writes the outcomes of all agents: see CONVERT_PARQUET; or the shard: see CONVERT_OUTCOMES. */
function outcomes(query: usize, worker: usize, to: usize): usize {
  if ((load<u32>(query, QUERY_FLAGS) & QUERY_ADDS_SHARD) !== 0) {
    const isInvalid = load<i32>(resultOf(worker, 0), RESULT_OUTCOME) >> 4 === INVALID;
    store<u32>(to, isInvalid ? NO_SHARD : load<u32>(worker, WORKER_SHARD));
    return to + 4;
  }
  const explains = (load<u32>(query, QUERY_FLAGS) & QUERY_EXPLAIN) !== 0;
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  for (let i = 0; i < agents; i++) {
    const result = resultOf(worker, i);
    to = byte(load<i32>(result, RESULT_OUTCOME), to);
    if (!explains) continue;
    const ruled = load<i32>(result, RESULT_RANK) !== 0;
    const end = ruled ? ruleText(query, result, to + 6) : to + 6;
    store<u32>(to, ruled ? load<u32>(result, RESULT_LINE) : 0);
    store<u16>(to, end - to - 6, 4);
    to = end;
  }
  return to;
}
