/** Rows of CSV and TSV: the row as it came, and the columns that the query adds. */

import { LF, QUOTE } from '../../../ascii';
import {
  BAD_INPUT_LIMIT,
  FRAGMENT_REASONS,
  LINE_END,
  LINE_MISSING,
  LINE_OUTCOME,
  LINE_START,
  QUERY_AGENT_COUNT,
  QUERY_EXPLAIN,
  QUERY_FLAGS,
  QUERY_ROW_FIELDS,
  REASON_LINE_TOO_LONG,
  REASON_RETURN_IN_LINE,
  RESULT_LINE,
  RESULT_OUTCOME,
  RESULT_RANK,
} from '../../layout';
import { decimal } from '../bytes/decimal';
import { splat } from '../bytes/vectors';
import { delimiterOf, isRefusedRow, rowStart, standInOf } from '../csv/locate-field';
import { pass } from './line';
import { agentOf, byte, fragment, resultOf, ruleText, tokenText, verdicts } from './parts';
import { sourceText } from './rule';

/** Writes the row as it came, with its newlines. */
export function passRow(line: usize, to: usize): usize {
  let at = rowStart(line);
  if (at === <usize>load<u32>(line, LINE_START)) return pass(line, to);
  const end: usize = load<u32>(line, LINE_END);
  const standIn = standInOf(line);
  for (; at < end; at++) {
    const value: i32 = load<u8>(at);
    to = byte(value === standIn ? LF : value, to);
  }
  return to;
}

/**
 * Writes the row and its verdicts; with QUERY_EXPLAIN five more columns for each agent. The row
 * gets the fields that it lacks, so that the verdicts stand in their columns.
 */
export function annotateRow(query: usize, worker: usize, line: usize, to: usize): usize {
  const outcome = load<i32>(line, LINE_OUTCOME);
  if (outcome >= 0) {
    const reason = outcome & 15;
    if (reason === REASON_LINE_TOO_LONG || isRefusedRow(line)) {
      return describeBadRow(query, worker, line, BAD_INPUT_LIMIT, to);
    }
    if (reason === REASON_RETURN_IN_LINE || load<i32>(line, LINE_MISSING) < 0) {
      return describeBadRow(query, worker, line, usize.MAX_VALUE, to);
    }
  }
  const delimiter = delimiterOf(query);
  to = pad(delimiter, load<i32>(line, LINE_MISSING), passRow(line, to));
  return rowColumns(query, worker, delimiter, to);
}

/**
 * Writes the first `limit` bytes of a row as one quoted field, the other fields as empty, and the
 * verdicts. As it came, an open quote in the row would swallow the rows after it, a CR would end
 * it, and a field too many would take the place of a verdict.
 */
function describeBadRow(query: usize, worker: usize, line: usize, limit: usize, to: usize): usize {
  const delimiter = delimiterOf(query);
  const start = rowStart(line);
  const bytes = <usize>load<u32>(line, LINE_END) - start;
  const end = start + min(bytes, limit);
  const standIn = standInOf(line);
  to = byte(QUOTE, to);
  for (let at = start; at < end; at++) {
    const value: i32 = load<u8>(at);
    if (value === QUOTE) to = byte(QUOTE, to);
    to = byte(value === standIn ? LF : value, to);
  }
  to = pad(delimiter, load<i32>(query, QUERY_ROW_FIELDS) - 1, byte(QUOTE, to));
  return rowColumns(query, worker, delimiter, to);
}

/** Writes delimiters, which add empty fields; none if `fields` is not positive. */
function pad(delimiter: i32, fields: i32, to: usize): usize {
  if (fields <= 0) return to;
  const delimiters = splat(delimiter);
  const end = to + <usize>fields;
  for (; to < end; to += 16) v128.store(to, delimiters);
  return end;
}

/**
 * Writes the verdicts, each after a delimiter; with QUERY_EXPLAIN also for each agent, each after a
 * delimiter: reason, line, rule, agent, source.
 */
export function rowColumns(query: usize, worker: usize, delimiter: i32, to: usize): usize {
  to = verdicts(query, worker, to);
  if ((load<u32>(query, QUERY_FLAGS) & QUERY_EXPLAIN) === 0) return to;
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  for (let i = 0; i < agents; i++) {
    const result = resultOf(worker, i);
    const ruled = load<i32>(result, RESULT_RANK) !== 0;
    to = byte(delimiter, to);
    to = fragment(query, FRAGMENT_REASONS + (load<i32>(result, RESULT_OUTCOME) & 15), to);
    to = byte(delimiter, to);
    if (ruled) to = decimal(load<u32>(result, RESULT_LINE), to);
    to = byte(delimiter, to);
    if (ruled) to = quoted(to, ruleText(query, result, to + 1));
    to = byte(delimiter, to);
    if (ruled) to = quoted(to, tokenText(agentOf(query, i), result, to + 1));
    to = byte(delimiter, to);
    const sourceEnd = sourceText(query, result, to + 1);
    if (sourceEnd !== to + 1) to = quoted(to, sourceEnd);
  }
  return to;
}

/** Encloses the text after `start` in quotes, the first at `start`, and doubles those in it. */
function quoted(start: usize, end: usize): usize {
  store<u8>(start, QUOTE);
  let quotes: usize = 0;
  for (let at = start + 1; at < end; at++) if (load<u8>(at) === QUOTE) quotes++;
  const last = end + quotes;
  let to = last;
  for (let at = end - 1; quotes > 0; at--) {
    const value: i32 = load<u8>(at);
    store<u8>(--to, value);
    if (value !== QUOTE) continue;
    store<u8>(--to, QUOTE);
    quotes--;
  }
  return byte(QUOTE, last);
}
