/** JSON records: the line as read, and the members that the query adds. */

import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  DIGIT_0,
  HYPHEN,
  LF,
  OPEN_BRACE,
  QUOTE,
  SPACE,
  TAB,
} from '../../../base/ascii';
import {
  BAD_INPUT_LIMIT,
  FORMAT_CDX,
  FRAGMENT_AGENT,
  FRAGMENT_BAD_END,
  FRAGMENT_BAD_INPUT,
  FRAGMENT_BAD_LINE,
  FRAGMENT_JUDGED_AS,
  FRAGMENT_LINE,
  FRAGMENT_REASON,
  FRAGMENT_REASONS,
  FRAGMENT_REASONS_OPEN,
  FRAGMENT_RULE,
  FRAGMENT_RULES_OPEN,
  FRAGMENT_SIGNAL,
  FRAGMENT_SIGNALS_OPEN,
  FRAGMENT_SOURCE,
  FRAGMENT_STRING_CLOSE,
  FRAGMENT_STRING_OPEN,
  FRAGMENT_TEXT,
  FRAGMENT_USE_REASON,
  FRAGMENT_USE_REASONS_OPEN,
  FRAGMENT_USE_VERSION,
  FRAGMENT_USE_VERSIONS_OPEN,
  FRAGMENT_VERSION,
  FRAGMENT_VERSIONS_OPEN,
  QUERY_DATED,
  QUERY_EXPLAIN,
  QUERY_NAMES_AGENT,
  REASON_LINE_TOO_LONG,
  REASON_MASK,
  REASON_RETURN_IN_LINE,
  REFUSED_BYTES,
} from '../../layout';
import { copy, copyShort, decimal, isControlOrSpace, NULL, splat } from '../bytes';
import { refusedReason } from '../locate';
import { Agent, Line, Query, Result, Worker } from '../memory';
import { delimiterOf, isRefusedRow, rowStart, standInOf } from '../rows';
import { writeTime } from '../time';
import {
  agentName,
  agentOf,
  byte,
  escapeString,
  fragment,
  pass,
  resultOf,
  ruleText,
  sinceOf,
  sourceText,
  tokenText,
  verdicts,
} from './parts';

/** Length that most objects and strings do not exceed: see `copy`. */
const USUAL_RECORD: i32 = 192;
const USUAL_STRING: i32 = 128;
/** `%2` as a word. */
const PERCENT_2: i32 = 0x3225;

/**
 * Writes an agent's name as the key of a member, with quotes and colon. Unless it is the first, a
 * comma stands before it.
 */
function memberKey(agent: Agent, first: bool, to: usize): usize {
  if (!first) to = byte(COMMA, to);
  to = byte(QUOTE, to);
  to = copyShort(agent.name, agent.nameBytes, to);
  to = byte(QUOTE, to);
  return byte(COLON, to);
}

/** Writes a fragment between quotes. */
function quotedFragment(query: Query, index: i32, to: usize): usize {
  to = byte(QUOTE, to);
  to = fragment(query, index, to);
  return byte(QUOTE, to);
}

/** Writes `{"line":12,"text":"…","agent":"…","source":"…"}`. */
function ruleObject(query: Query, agent: Agent, result: Result, to: usize): usize {
  to = fragment(query, FRAGMENT_LINE, to);
  to = decimal(result.line, to);
  to = fragment(query, FRAGMENT_TEXT, to);
  to = ruleText(query, agent, result, to);
  to = byte(QUOTE, to);
  to = fragment(query, FRAGMENT_AGENT, to);
  to = tokenText(agent, result, to);
  to = byte(QUOTE, to);
  if (result.source !== 0) {
    to = fragment(query, FRAGMENT_SOURCE, to);
    to = sourceText(query, result, to);
    to = byte(QUOTE, to);
  }
  return byte(CLOSE_BRACE, to);
}

/** Writes the members that annotate an object, without a comma before them. */
export function members(query: Query, worker: Worker, to: usize): usize {
  to = verdicts(query, worker, to);
  if ((query.flags & QUERY_EXPLAIN) === 0) return to;
  const first = query.firstUse;
  const end = query.agentCount;
  to = explanation(query, worker, 0, first, to);
  if (first < end) to = explanation(query, worker, first, end, to);
  return (query.flags & QUERY_NAMES_AGENT) !== 0 ? judgedAs(query, to) : to;
}

/** Writes the member with the agent that the record names; null if the record is invalid. */
function judgedAs(query: Query, to: usize): usize {
  to = fragment(query, FRAGMENT_JUDGED_AS, byte(COMMA, to));
  if (query.name !== 0) return byte(QUOTE, agentName(query, byte(QUOTE, to)));
  store<i32>(to, NULL);
  return to + 4;
}

/** With QUERY_NAMES_AGENT, writes a delimiter and the agent that the record names. */
function agentColumn(query: Query, delimiter: i32, to: usize): usize {
  if ((query.flags & QUERY_NAMES_AGENT) === 0) return to;
  to = byte(delimiter, to);
  return query.name === 0 ? empty(delimiter, to) : agentName(query, to);
}

/**
 * Writes the explanations of the agents from `first` to `end`, all of which are asked for verdicts,
 * or all about uses.
 */
function explanation(query: Query, worker: Worker, first: i32, end: i32, to: usize): usize {
  if (end - first > 1) return explanations(query, worker, first, end, to);
  const isUse = first !== 0;
  const result = resultOf(worker, first);
  to = byte(COMMA, to);
  to = fragment(query, isUse ? FRAGMENT_USE_REASON : FRAGMENT_REASON, to);
  to = quotedFragment(query, FRAGMENT_REASONS + (result.outcome & REASON_MASK), to);
  const since = dateOf(query, result);
  if (since !== 0) {
    to = fragment(query, isUse ? FRAGMENT_USE_VERSION : FRAGMENT_VERSION, byte(COMMA, to));
    to = byte(QUOTE, writeTime(since, to));
  }
  if (result.rank === 0) return to;
  to = byte(COMMA, to);
  to = fragment(query, isUse ? FRAGMENT_SIGNAL : FRAGMENT_RULE, to);
  return ruleObject(query, agentOf(query, first), result, to);
}

/** As `sinceOf`, if the query wants the time; otherwise 0. */
function dateOf(query: Query, result: Result): u32 {
  return (query.flags & QUERY_DATED) !== 0 ? sinceOf(query, result) : 0;
}

/**
 * Writes reasons, versions and rules of several agents, each in an object with the agents' names as
 * keys.
 */
function explanations(query: Query, worker: Worker, first: i32, end: i32, to: usize): usize {
  const isUse = first !== 0;
  to = byte(COMMA, to);
  to = fragment(query, isUse ? FRAGMENT_USE_REASONS_OPEN : FRAGMENT_REASONS_OPEN, to);
  for (let i = first; i < end; i++) {
    to = memberKey(agentOf(query, i), i === first, to);
    to = quotedFragment(query, FRAGMENT_REASONS + (resultOf(worker, i).outcome & REASON_MASK), to);
  }
  to = versionsOf(query, worker, first, end, byte(CLOSE_BRACE, to));
  let isFirst = true;
  for (let i = first; i < end; i++) {
    const result = resultOf(worker, i);
    if (result.rank === 0) continue;
    if (isFirst) {
      to = byte(COMMA, to);
      to = fragment(query, isUse ? FRAGMENT_SIGNALS_OPEN : FRAGMENT_RULES_OPEN, to);
    }
    to = memberKey(agentOf(query, i), isFirst, to);
    to = ruleObject(query, agentOf(query, i), result, to);
    isFirst = false;
  }
  return isFirst ? to : byte(CLOSE_BRACE, to);
}

/** Writes the times of the versions that decided, of agents that have one. */
function versionsOf(query: Query, worker: Worker, first: i32, end: i32, to: usize): usize {
  let isFirst = true;
  for (let i = first; i < end; i++) {
    const since = dateOf(query, resultOf(worker, i));
    if (since === 0) continue;
    if (isFirst) {
      const open = first === 0 ? FRAGMENT_VERSIONS_OPEN : FRAGMENT_USE_VERSIONS_OPEN;
      to = fragment(query, open, byte(COMMA, to));
    }
    to = byte(QUOTE, memberKey(agentOf(query, i), isFirst, to));
    to = byte(QUOTE, writeTime(since, to));
    isFirst = false;
  }
  return isFirst ? to : byte(CLOSE_BRACE, to);
}

/** Writes the beginning of an object that holds the line, which is a JSON string. */
function openString(query: Query, line: Line, to: usize): usize {
  const start = line.start;
  const bytes = <i32>(line.end - start);
  to = fragment(query, FRAGMENT_STRING_OPEN, to);
  to = copy(start, bytes, to, USUAL_STRING);
  return fragment(query, FRAGMENT_STRING_CLOSE, to);
}

/** Writes the line of an object as read, or an object that holds the line's JSON string. */
export function passJson(query: Query, line: Line, to: usize): usize {
  if (line.brace !== 0) return pass(line, to);
  return byte(CLOSE_BRACE, openString(query, line, to));
}

/** Writes the line of an object or a JSON string, with the verdict as an additional member. */
export function annotateJson(query: Query, worker: Worker, line: Line, to: usize): usize {
  const start = line.start;
  const end = line.end;
  const brace = line.brace;
  if (brace === 0) {
    to = openString(query, line, to);
    to = byte(COMMA, to);
    to = members(query, worker, to);
    return byte(CLOSE_BRACE, to);
  }
  to = copy(start, <i32>(brace - start), to, USUAL_RECORD);
  let before = brace - 1;
  while (isControlOrSpace(load<u8>(before))) before--;
  // The comma is always written, and removed after the brace of an empty object.
  to = byte(COMMA, to);
  if (load<u8>(before) === OPEN_BRACE) to--;
  to = members(query, worker, to);
  return copyShort(brace, <i32>(end - brace), to);
}

/**
 * Writes a record about a line that is not an object: verdict, number and beginning of the line.
 */
export function describeBadLine(
  query: Query,
  worker: Worker,
  line: Line,
  number: u64,
  to: usize,
): usize {
  to = byte(OPEN_BRACE, to);
  to = members(query, worker, to);
  to = fragment(query, FRAGMENT_BAD_LINE, to);
  to = decimal(number, to);
  to = fragment(query, FRAGMENT_BAD_INPUT, to);
  const end = line.end;
  let start = line.start;
  if (refusedReason(query, start, end) !== 0) start += <usize>REFUSED_BYTES;
  to = escapeString(start, min(end, start + BAD_INPUT_LIMIT), to);
  return fragment(query, FRAGMENT_BAD_END, to);
}

// ---- Rows of CSV, TSV and CDX: the row as it came, and the columns that the query adds

/** Writes the row as it came, with its newlines. */
export function passRow(line: Line, to: usize): usize {
  let at = rowStart(line);
  if (at === line.start) return pass(line, to);
  const end = line.end;
  const standIn = standInOf(line);
  for (; at < end; at++) {
    const value: i32 = load<u8>(at);
    to = byte(value === standIn ? LF : value, to);
  }
  return to;
}

/**
 * Writes the row and its verdicts; with QUERY_EXPLAIN five more columns for each agent. The row
 * gets the fields that it lacks, so that the verdicts stand in their columns. A line of CDX stays
 * as it came, whatever its fields: the added ones are the last.
 */
export function annotateRow(query: Query, worker: Worker, line: Line, to: usize): usize {
  if (query.format === FORMAT_CDX) return rowColumns(query, worker, SPACE, pass(line, to));
  const outcome = line.outcome;
  if (outcome >= 0) {
    const reason = outcome & REASON_MASK;
    if (reason === REASON_LINE_TOO_LONG || isRefusedRow(line)) {
      return describeBadRow(query, worker, line, BAD_INPUT_LIMIT, to);
    }
    if (reason === REASON_RETURN_IN_LINE || line.missing < 0) {
      return describeBadRow(query, worker, line, usize.MAX_VALUE, to);
    }
  }
  const delimiter = delimiterOf(query);
  to = pad(delimiter, line.missing, passRow(line, to));
  return rowColumns(query, worker, delimiter, to);
}

/**
 * Writes the first `limit` bytes of a row as one quoted field, the other fields as empty, and the
 * verdicts. As it came, an open quote in the row would swallow the rows after it, a CR would end
 * it, and a field too many would take the place of a verdict.
 */
function describeBadRow(query: Query, worker: Worker, line: Line, limit: usize, to: usize): usize {
  const delimiter = delimiterOf(query);
  const start = rowStart(line);
  const bytes = line.end - start;
  const end = start + min(bytes, limit);
  const standIn = standInOf(line);
  to = byte(QUOTE, to);
  for (let at = start; at < end; at++) {
    const value: i32 = load<u8>(at);
    if (value === QUOTE) to = byte(QUOTE, to);
    to = byte(value === standIn ? LF : value, to);
  }
  to = pad(delimiter, query.rowFields - 1, byte(QUOTE, to));
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
 * delimiter: reason, line, rule, agent, source; with QUERY_DATED the time of the version. Between
 * spaces no field is empty or holds one.
 */
export function rowColumns(query: Query, worker: Worker, delimiter: i32, to: usize): usize {
  to = verdicts(query, worker, to);
  if ((query.flags & QUERY_EXPLAIN) === 0) return to;
  const agents = query.agentCount;
  for (let i = 0; i < agents; i++) {
    const agent = agentOf(query, i);
    const result = resultOf(worker, i);
    const ruled = result.rank !== 0;
    to = byte(delimiter, to);
    to = fragment(query, FRAGMENT_REASONS + (result.outcome & REASON_MASK), to);
    to = byte(delimiter, to);
    to = ruled ? decimal(result.line, to) : empty(delimiter, to);
    to = byte(delimiter, to);
    to = field(delimiter, to, ruled ? ruleText(query, agent, result, to + 1) : to + 1);
    to = byte(delimiter, to);
    to = field(delimiter, to, ruled ? tokenText(agent, result, to + 1) : to + 1);
    to = byte(delimiter, to);
    to = field(delimiter, to, sourceText(query, result, to + 1));
    to = versionColumn(query, result, delimiter, to);
  }
  return agentColumn(query, delimiter, to);
}

/** Ends a field whose text stands after the byte at `start`; it is empty if there is no text. */
function field(delimiter: i32, start: usize, end: usize): usize {
  if (end === start + 1) return empty(delimiter, start);
  return delimiter === SPACE ? unspaced(start, end) : quoted(start, end);
}

/** Writes an empty field: between spaces a `-`. */
function empty(delimiter: i32, to: usize): usize {
  return delimiter === SPACE ? byte(HYPHEN, to) : to;
}

/** With QUERY_DATED writes the time of the version that decided, after a delimiter. */
function versionColumn(query: Query, result: Result, delimiter: i32, to: usize): usize {
  if ((query.flags & QUERY_DATED) === 0) return to;
  const since = sinceOf(query, result);
  to = byte(delimiter, to);
  return since === 0 ? empty(delimiter, to) : writeTime(since, to);
}

/** Moves the text after the byte at `start` to it, with `%20` for each space. */
function unspaced(start: usize, end: usize): usize {
  let spaces: usize = 0;
  for (let at = start + 1; at < end; at++) if (load<u8>(at) === SPACE) spaces++;
  // Written from the end, the text does not overwrite what is still to be read.
  const last = end + 2 * spaces;
  let to = last;
  for (let at = end - 1; at > start; at--) {
    const value: i32 = load<u8>(at);
    if (value === SPACE) {
      to -= 3;
      store<u16>(to, PERCENT_2);
      store<u8>(to, DIGIT_0, 2);
    } else store<u8>(--to, value);
  }
  memory.copy(start, start + 1, last - start - 1);
  return last - 1;
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

// ---- Text records: verdicts, the line, and columns that explain the verdicts

/** Writes verdicts and the line; with QUERY_EXPLAIN five additional columns for each agent. */
export function annotateText(query: Query, worker: Worker, line: Line, to: usize): usize {
  to = verdicts(query, worker, to);
  return textColumns(query, worker, pass(line, to));
}

/** With QUERY_EXPLAIN writes for each agent reason, line, rule, agent, source, after tabs. */
export function textColumns(query: Query, worker: Worker, to: usize): usize {
  return (query.flags & QUERY_EXPLAIN) === 0 ? to : columns(query, worker, to);
}

function columns(query: Query, worker: Worker, to: usize): usize {
  const agents = query.agentCount;
  for (let i = 0; i < agents; i++) {
    const agent = agentOf(query, i);
    const result = resultOf(worker, i);
    const ruled = result.rank !== 0;
    to = byte(TAB, to);
    to = fragment(query, FRAGMENT_REASONS + (result.outcome & REASON_MASK), to);
    to = byte(TAB, to);
    if (ruled) to = decimal(result.line, to);
    to = byte(TAB, to);
    if (ruled) to = ruleText(query, agent, result, to);
    to = byte(TAB, to);
    if (ruled) to = tokenText(agent, result, to);
    to = byte(TAB, to);
    to = sourceText(query, result, to);
    to = versionColumn(query, result, TAB, to);
  }
  return agentColumn(query, TAB, to);
}
