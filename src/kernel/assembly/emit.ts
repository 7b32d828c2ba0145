/**
 * Writing records: the line as it came, and what the query wants to be added. All words come as
 * fragments of the query.
 */

import {
  AGENT_CHAIN,
  AGENT_NAME,
  AGENT_OCTETS,
  AGENT_VERDICTS,
  BAD_INPUT_LIMIT,
  CHAIN_OCTETS,
  CHAIN_TEXT,
  FRAGMENT_AGENT,
  FRAGMENT_ALLOW,
  FRAGMENT_BAD_END,
  FRAGMENT_BAD_INPUT,
  FRAGMENT_BAD_LINE,
  FRAGMENT_DISALLOW,
  FRAGMENT_LINE,
  FRAGMENT_REASON,
  FRAGMENT_REASONS,
  FRAGMENT_REASONS_OPEN,
  FRAGMENT_RULE,
  FRAGMENT_RULES_OPEN,
  FRAGMENT_SOURCE,
  FRAGMENT_STRING_CLOSE,
  FRAGMENT_STRING_OPEN,
  FRAGMENT_TEXT,
  QUERY_AGENT_COUNT,
  QUERY_AGENTS,
  QUERY_EXPLAIN,
  QUERY_FLAGS,
  QUERY_FRAGMENTS,
  REFUSED_OCTETS,
  RESULT_LINE,
  RESULT_LINK,
  RESULT_OCTETS,
  RESULT_OUTCOME,
  RESULT_RANK,
  RESULT_SOURCE,
  WORKER_RESULTS,
} from '../layout';
import { copy, copyShort } from './copy';
import { LINE_BRACE, LINE_END, LINE_NEWLINE, LINE_START } from './line';
import { refusedReason } from './locate';
import { patternText, sourceText } from './rule';

/** What most lines have at most, of text and of JSON: see `copy`. */
const USUAL_LINE: i32 = 128;
const USUAL_RECORD: i32 = 192;

function fragment(query: usize, index: i32, to: usize): usize {
  const pair = query + QUERY_FRAGMENTS + <usize>index * 8;
  return copyShort(load<u32>(pair), load<i32>(pair, 4), to);
}

function octet(value: i32, to: usize): usize {
  store<u8>(to, value);
  return to + 1;
}

/** Writes a number in decimal digits. */
export function decimal(value: u64, to: usize): usize {
  let digits = 1;
  for (let rest = value; rest >= 10; rest /= 10) digits++;
  for (let i = digits - 1; i >= 0; i--) {
    store<u8>(to + i, 0x30 + <i32>(value % 10));
    value /= 10;
  }
  return to + digits;
}

function resultOf(worker: usize, index: i32): usize {
  return worker + WORKER_RESULTS + <usize>index * RESULT_OCTETS;
}

function agentOf(query: usize, index: i32): usize {
  return <usize>load<u32>(query, QUERY_AGENTS) + <usize>index * AGENT_OCTETS;
}

/** Writes the text of the rule that decided, `Disallow: /path`, escaped as in a JSON string. */
function ruleText(query: usize, result: usize, to: usize): usize {
  const allows = (load<i32>(result, RESULT_RANK) & 1) !== 0;
  to = fragment(query, allows ? FRAGMENT_ALLOW : FRAGMENT_DISALLOW, to);
  return patternText(result, to);
}

/**
 * Writes the product token of the groups that decided: the link of the agent's chain that they
 * name, or `*`.
 */
function tokenText(agent: usize, result: usize, to: usize): usize {
  const link = load<i32>(result, RESULT_LINK);
  if (link < 0) return octet(0x2a, to);
  const text = <usize>load<u32>(agent, AGENT_CHAIN) + <usize>link * CHAIN_OCTETS + CHAIN_TEXT;
  return copyShort(load<u32>(text), load<i32>(text, 4), to);
}

/**
 * Writes the name of an agent as the key of a member, quotes and colon included, after a comma but
 * for the first.
 */
function memberKey(agent: usize, first: bool, to: usize): usize {
  if (!first) to = octet(0x2c, to);
  to = octet(0x22, to);
  to = copyShort(load<u32>(agent, AGENT_NAME), load<i32>(agent, AGENT_NAME + 4), to);
  to = octet(0x22, to);
  return octet(0x3a, to);
}

/** Writes a fragment between quotes. */
function quoted(query: usize, index: i32, to: usize): usize {
  to = octet(0x22, to);
  to = fragment(query, index, to);
  return octet(0x22, to);
}

/** Writes `{"line":12,"text":"…","agent":"…","source":"…"}`. */
function ruleObject(query: usize, agent: usize, result: usize, to: usize): usize {
  to = fragment(query, FRAGMENT_LINE, to);
  to = decimal(load<u32>(result, RESULT_LINE), to);
  to = fragment(query, FRAGMENT_TEXT, to);
  to = ruleText(query, result, to);
  to = octet(0x22, to);
  to = fragment(query, FRAGMENT_AGENT, to);
  to = tokenText(agent, result, to);
  to = octet(0x22, to);
  if (load<u32>(result, RESULT_SOURCE) !== 0) {
    to = fragment(query, FRAGMENT_SOURCE, to);
    to = sourceText(query, result, to);
    to = octet(0x22, to);
  }
  return octet(0x7d, to);
}

/**
 * Writes the verdicts of all agents, of which there is one at least, in the words of the format.
 */
function verdicts(query: usize, worker: usize, to: usize): usize {
  let agent: usize = load<u32>(query, QUERY_AGENTS);
  let result = worker + WORKER_RESULTS;
  let left = load<i32>(query, QUERY_AGENT_COUNT);
  do {
    const verdict = agent + <usize>((load<i32>(result, RESULT_OUTCOME) >> 4) << 3);
    to = copyShort(load<u32>(verdict, AGENT_VERDICTS), load<i32>(verdict, AGENT_VERDICTS + 4), to);
    agent += AGENT_OCTETS;
    result += RESULT_OCTETS;
  } while (--left > 0);
  return to;
}

/** Writes the members that annotate an object, without a comma before them. */
function members(query: usize, worker: usize, to: usize): usize {
  to = verdicts(query, worker, to);
  if ((load<u32>(query, QUERY_FLAGS) & QUERY_EXPLAIN) === 0) return to;
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  if (agents === 1) {
    const result = resultOf(worker, 0);
    to = octet(0x2c, to);
    to = fragment(query, FRAGMENT_REASON, to);
    to = quoted(query, FRAGMENT_REASONS + (load<i32>(result, RESULT_OUTCOME) & 15), to);
    if (load<i32>(result, RESULT_RANK) === 0) return to;
    to = octet(0x2c, to);
    to = fragment(query, FRAGMENT_RULE, to);
    return ruleObject(query, agentOf(query, 0), result, to);
  }
  to = octet(0x2c, to);
  to = fragment(query, FRAGMENT_REASONS_OPEN, to);
  for (let i = 0; i < agents; i++) {
    to = memberKey(agentOf(query, i), i === 0, to);
    to = quoted(
      query,
      FRAGMENT_REASONS + (load<i32>(resultOf(worker, i), RESULT_OUTCOME) & 15),
      to,
    );
  }
  to = octet(0x7d, to);
  let first = true;
  for (let i = 0; i < agents; i++) {
    const result = resultOf(worker, i);
    if (load<i32>(result, RESULT_RANK) === 0) continue;
    if (first) {
      to = octet(0x2c, to);
      to = fragment(query, FRAGMENT_RULES_OPEN, to);
    }
    to = memberKey(agentOf(query, i), first, to);
    to = ruleObject(query, agentOf(query, i), result, to);
    first = false;
  }
  return first ? to : octet(0x7d, to);
}

/** Writes the line of an object or a JSON string with the verdict as a further member. */
export function annotateJson(query: usize, worker: usize, line: usize, to: usize): usize {
  const start: usize = load<u32>(line, LINE_START);
  const end: usize = load<u32>(line, LINE_END);
  const brace: usize = load<u32>(line, LINE_BRACE);
  if (brace === 0) {
    to = fragment(query, FRAGMENT_STRING_OPEN, to);
    to = copy(start, <i32>(end - start), to, USUAL_LINE);
    to = fragment(query, FRAGMENT_STRING_CLOSE, to);
    to = octet(0x2c, to);
    to = members(query, worker, to);
    return octet(0x7d, to);
  }
  to = copy(start, <i32>(brace - start), to, USUAL_RECORD);
  let before = brace - 1;
  while (load<u8>(before) <= 0x20) before--;
  // The comma is written anyway, and taken back behind the brace of an empty object.
  to = octet(0x2c, to);
  if (load<u8>(before) === 0x7b) to--;
  to = members(query, worker, to);
  return copyShort(brace, <i32>(end - brace), to);
}

/** Writes a record for a line that is no object: verdict, number and beginning of the line. */
export function describeBadLine(
  query: usize,
  worker: usize,
  line: usize,
  number: u64,
  to: usize,
): usize {
  to = octet(0x7b, to);
  to = members(query, worker, to);
  to = fragment(query, FRAGMENT_BAD_LINE, to);
  to = decimal(number, to);
  to = fragment(query, FRAGMENT_BAD_INPUT, to);
  const end: usize = load<u32>(line, LINE_END);
  let start: usize = load<u32>(line, LINE_START);
  if (refusedReason(query, start, end) !== 0) start += <usize>REFUSED_OCTETS;
  to = escapeString(start, min(end, start + BAD_INPUT_LIMIT), to);
  return fragment(query, FRAGMENT_BAD_END, to);
}

/**
 * Writes the line of a URL behind its verdicts, and with QUERY_EXPLAIN five columns for each agent
 * behind it.
 */
export function annotateText(query: usize, worker: usize, line: usize, to: usize): usize {
  to = verdicts(query, worker, to);
  const start: usize = load<u32>(line, LINE_START);
  to = copy(start, <i32>(<usize>load<u32>(line, LINE_END) - start), to, USUAL_LINE);
  return (load<u32>(query, QUERY_FLAGS) & QUERY_EXPLAIN) === 0 ? to : columns(query, worker, to);
}

/** Writes, each behind a tab: reason, line, rule, agent, source; for each agent. */
function columns(query: usize, worker: usize, to: usize): usize {
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  for (let i = 0; i < agents; i++) {
    const result = resultOf(worker, i);
    const ruled = load<i32>(result, RESULT_RANK) !== 0;
    to = octet(0x09, to);
    to = fragment(query, FRAGMENT_REASONS + (load<i32>(result, RESULT_OUTCOME) & 15), to);
    to = octet(0x09, to);
    if (ruled) to = decimal(load<u32>(result, RESULT_LINE), to);
    to = octet(0x09, to);
    if (ruled) to = ruleText(query, result, to);
    to = octet(0x09, to);
    if (ruled) to = tokenText(agentOf(query, i), result, to);
    to = octet(0x09, to);
    to = sourceText(query, result, to);
  }
  return to;
}

/** Octets of the well-formed UTF-8 sequence that begins at `at`, 0 if there is none (RFC 3629). */
function sequenceOctets(at: usize, end: usize): i32 {
  const lead: i32 = load<u8>(at);
  let octets = 0;
  let low = 0x80;
  let high = 0xbf;
  if (lead >= 0xc2 && lead < 0xe0) {
    octets = 2;
  } else if (lead >= 0xe0 && lead < 0xf0) {
    octets = 3;
    if (lead === 0xe0) low = 0xa0;
    if (lead === 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead < 0xf5) {
    octets = 4;
    if (lead === 0xf0) low = 0x90;
    if (lead === 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  if (<isize>(end - at) < <isize>octets) return 0;
  const second: i32 = load<u8>(at, 1);
  if (second < low || second > high) return 0;
  for (let i = 2; i < octets; i++) if ((load<u8>(at + i) & 0xc0) !== 0x80) return 0;
  return octets;
}

/**
 * Writes octets as the inside of a JSON string; what is no UTF-8 becomes U+FFFD. At most six octets
 * for each.
 */
function escapeString(at: usize, end: usize, to: usize): usize {
  while (at < end) {
    const value: i32 = load<u8>(at);
    if (value >= 0x80) {
      const octets = sequenceOctets(at, end);
      if (octets === 0) {
        store<u16>(to, 0xbfef);
        store<u8>(to, 0xbd, 2);
        to += 3;
        at++;
      } else {
        memory.copy(to, at, octets);
        to += octets;
        at += octets;
      }
      continue;
    }
    if (value === 0x22 || value === 0x5c) {
      to = octet(0x5c, to);
      to = octet(value, to);
    } else if (value < 0x20 || value === 0x7f) {
      store<u32>(to, 0x3030755c); // "\u00"
      const low = value & 15;
      store<u8>(to, 0x30 + (value >> 4), 4);
      store<u8>(to, low + (low < 10 ? 0x30 : 0x57), 5);
      to += 6;
    } else {
      to = octet(value, to);
    }
    at++;
  }
  return to;
}

/** Writes the line as it came. */
export function pass(line: usize, to: usize): usize {
  const start: usize = load<u32>(line, LINE_START);
  return copy(start, <i32>(<usize>load<u32>(line, LINE_END) - start), to, USUAL_LINE);
}

/** Ends a record as its line ended: with LF or CRLF; with LF where the input ended without. */
export function lineEnd(line: usize, to: usize): usize {
  if (load<u32>(line, LINE_END) !== load<u32>(line, LINE_NEWLINE)) to = octet(0x0d, to);
  return octet(0x0a, to);
}
