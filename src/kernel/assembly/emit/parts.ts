/** The parts of text records and JSON records. All words are fragments of the query. */

import {
  ASTERISK,
  BACKSLASH,
  CR,
  DELETE,
  DOLLAR,
  LF,
  PERCENT,
  QUOTE,
  SPACE,
} from '../../../base/ascii';
import {
  AUTHORITY_HOST,
  AUTHORITY_NUMBER,
  AUTHORITY_SOURCE,
  HISTORY_AUTHORITY,
  HISTORY_VERSION_BYTES,
  HOST_AUTHORITY,
  HOST_FORM,
  HOST_SEVERAL,
  RULE_END,
  RULE_IN_BLOCK,
  RULE_LONGER,
  RULE_SINGLE,
  RULE_STAR,
  RULE_TEXT,
  RULE_TWO_FORMS,
  SOURCE_FIXED_BYTES,
  SOURCE_LIMIT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
  TEXT_LIMIT,
} from '../../../table/format';
import {
  AGENT_VERDICTS,
  CHAIN_BYTES,
  CHAIN_TEXT,
  FRAGMENT_ALLOW,
  FRAGMENT_DISALLOW,
  FRAGMENT_SHARD_END,
  INVALID,
  QUERY_ADDS_SHARD,
  QUERY_FRAGMENTS,
  REASON_BITS,
  REASON_POLICY_TOKEN,
} from '../../layout';
import {
  BACKSLASH_U00,
  copy,
  copyShort,
  decimal,
  isControlOrSpace,
  lowerHex,
  splat,
  upperHex,
} from '../bytes';
import { firstVersion, hasHistory, hostOf, versionCount } from '../hosts';
import { lineWidth, number, offsetWidth, sizeWidth } from '../match';
import { Agent, elementOf, Line, nextOf, Pair, Query, Result, Signal, Worker } from '../memory';
import { isDropped } from '../url';

/** Writes a fragment of the query. */
export function fragment(query: Query, index: i32, to: usize): usize {
  const fragments = changetype<Pair>(changetype<usize>(query) + QUERY_FRAGMENTS);
  const pair = elementOf(fragments, index);
  return copyShort(pair.start, pair.bytes, to);
}

/** Writes one byte. */
export function byte(value: i32, to: usize): usize {
  store<u8>(to, value);
  return to + 1;
}

/** The result of the agent with this index. */
export function resultOf(worker: Worker, index: i32): Result {
  return elementOf(worker.results, index);
}

/** The agent with this index. */
export function agentOf(query: Query, index: i32): Agent {
  return elementOf(query.agents, index);
}

/** Writes the name of the query's only agent. Names from records need no quotes and no escapes. */
export function agentName(query: Query, to: usize): usize {
  const agent = query.agents;
  return copyShort(agent.name, agent.nameBytes, to);
}

/**
 * Writes the rule that decided, `Disallow: /path`, or the signal, as `Content-Usage: /a search=n`,
 * escaped as in a JSON string.
 */
export function ruleText(query: Query, agent: Agent, result: Result, to: usize): usize {
  const allows = (result.rank & 1) !== 0;
  if (agent.signalCount !== 0) {
    const signal = changetype<Signal>(result.groupsList);
    if (signal.reason !== REASON_POLICY_TOKEN) return signalText(signal, result, to);
  }
  to = fragment(query, allows ? FRAGMENT_ALLOW : FRAGMENT_DISALLOW, to);
  return patternText(result, to);
}

/** Writes a signal as it stands in a robots.txt, or would stand there alone. */
function signalText(signal: Signal, result: Result, to: usize): usize {
  const rank = result.rank;
  to = copyShort(signal.text, signal.textBytes, to);
  // The path of one byte is that of the whole site.
  if (rank >> 1 > 1) to = byte(SPACE, patternText(result, to));
  return (rank & 1) !== 0
    ? copyShort(signal.refused, signal.refusedBytes, to)
    : copyShort(signal.granted, signal.grantedBytes, to);
}

/**
 * Writes the product token of the groups that decided: a link of the agent's chain, or `*`; or the
 * policy token of a use.
 */
export function tokenText(agent: Agent, result: Result, to: usize): usize {
  if (agent.signalCount !== 0) {
    const signal = changetype<Signal>(result.groupsList);
    if (signal.reason === REASON_POLICY_TOKEN) {
      return copyShort(signal.text, signal.textBytes, to);
    }
  }
  const link = result.groupsLink;
  if (link < 0) return byte(ASTERISK, to);
  const text = agent.chain + <usize>link * CHAIN_BYTES + CHAIN_TEXT;
  return copyShort(load<u32>(text), load<i32>(text, 4), to);
}

/**
 * Writes the verdicts of all agents in the words of the format; there is at least one agent. With
 * QUERY_ADDS_SHARD the number of the shard follows, unless the URL is invalid.
 */
export function verdicts(query: Query, worker: Worker, to: usize): usize {
  let agent = query.agents;
  let result = worker.results;
  let left = query.agentCount;
  const addsShard = (query.flags & QUERY_ADDS_SHARD) !== 0;
  const isInvalid = result.outcome >> REASON_BITS === INVALID;
  do {
    const verdict = changetype<usize>(agent) + <usize>((result.outcome >> REASON_BITS) << 3);
    to = copyShort(load<u32>(verdict, AGENT_VERDICTS), load<i32>(verdict, AGENT_VERDICTS + 4), to);
    agent = nextOf(agent);
    result = nextOf(result);
  } while (--left > 0);
  if (!addsShard || isInvalid) return to;
  return fragment(query, FRAGMENT_SHARD_END, decimal(worker.shard, to));
}

// ---- Lines as read

/** Length that most lines do not exceed: see `copy`. */
const USUAL_LINE: i32 = 128;

/** Writes the line as read. */
export function pass(line: Line, to: usize): usize {
  const start = line.start;
  return copy(start, <i32>(line.end - start), to, USUAL_LINE);
}

/**
 * Ends a record with the line end of its line, LF or CRLF; with LF if the input ended without a
 * line end.
 */
export function lineEnd(line: Line, to: usize): usize {
  if (line.end !== line.newline) to = byte(CR, to);
  return byte(LF, to);
}

/** Ends a line with LF. */
export function newline(to: usize): usize {
  return byte(LF, to);
}

// ---- The texts that explain a decision: the rule, and the source of its robots.txt. Layout:
// table/format.ts.

/** The longest text that a table keeps: each of TEXT_LIMIT bytes may be escaped as six. */
const MAX_KEPT_TEXT: i32 = 6 * TEXT_LIMIT;

/**
 * Writes the pattern of the rule that decided a result, as written in the robots.txt, escaped as in
 * a JSON string; returns its end. Most patterns begin as the path that they match, so the path of
 * the result must still be in memory. The length is bounded by the longest text that a table may
 * keep, whatever the table says.
 */
export function patternText(result: Result, to: usize): usize {
  const path = result.path;
  const prefix = min(result.prefix, TEXT_LIMIT);
  const formAt = result.form;
  if (formAt === 0) return copyShort(path, prefix, to);
  const automaton = result.automaton;
  const widths: i32 = load<u8>(automaton);
  const form: i32 = load<u8>(formAt);
  const inBlock = (form & RULE_IN_BLOCK) !== 0;
  const sizes = sizeWidth(widths);
  let field = formAt + 1 + (1 << lineWidth(widths));
  if (!inBlock && (form & RULE_LONGER) !== 0) field += 4;
  if ((form & RULE_TEXT) !== 0) {
    const offsets = offsetWidth(widths);
    const text =
      automaton + number(automaton + 1 + (2 << offsets), offsets) + number(field, offsets);
    return copyShort(text + 2, min(<i32>load<u16>(text), MAX_KEPT_TEXT), to);
  }
  to = copyShort(path, prefix, to);
  if (inBlock) {
    const last = formAt + number(formAt - (1 << sizes), sizes);
    to = segmentTexts(form, sizes, field, last, to);
  }
  if ((form & RULE_END) !== 0) store<u8>(to++, DOLLAR);
  if ((form & RULE_STAR) !== 0) store<u8>(to++, ASTERISK);
  return to;
}

/** Writes the first forms of the segments `segment`–`last`, each after a `*`. */
function segmentTexts(form: i32, sizes: i32, segment: usize, last: usize, to: usize): usize {
  const limit = to + TEXT_LIMIT;
  if ((form & RULE_SINGLE) !== 0) {
    store<u8>(to++, ASTERISK);
    return copyText(segment, <i32>(last - segment), to);
  }
  while (segment < last && to < limit) {
    const first = number(segment, sizes);
    segment += 1 << sizes;
    store<u8>(to++, ASTERISK);
    to = copyText(segment, <i32>first, to);
    segment += first;
    if ((form & RULE_TWO_FORMS) !== 0) segment += number(segment, sizes) + (1 << sizes);
  }
  return to;
}

/**
 * Copies a part of a text. In a forged table the length of the part may be negative, or beyond any
 * text.
 */
function copyText(from: usize, bytes: i32, to: usize): usize {
  return copyShort(from, max(min(bytes, TEXT_LIMIT), 0), to);
}

/**
 * Writes the source of a result's robots.txt, escaped as in a JSON string, if the source is known.
 */
export function sourceText(query: Query, result: Result, to: usize): usize {
  const authority = result.source;
  if (authority === 0) return to;
  const table = query.table;
  const version = result.version;
  const source = table + load<u32>(version, AUTHORITY_SOURCE);
  const kind: i32 = load<u8>(source);
  const before = min(<i32>load<u16>(source, 1), SOURCE_LIMIT);
  const after = min(<i32>load<u16>(source, 3), SOURCE_LIMIT - before);
  to = copyShort(source + SOURCE_FIXED_BYTES, before, to);
  if (kind === SOURCE_WITH_HOST) {
    const several = <i32>load<u8>(authority - (HOST_AUTHORITY - HOST_FORM)) >= HOST_SEVERAL;
    const record = several
      ? table + load<u32>(authority, AUTHORITY_HOST)
      : authority - HOST_AUTHORITY;
    to = copyShort(hostOf(record), load<u8>(record), to);
  } else if (kind === SOURCE_WITH_NUMBER) {
    to = decimal(load<u32>(version, AUTHORITY_NUMBER), to);
  }
  return copyShort(source + SOURCE_FIXED_BYTES + before, after, to);
}

/**
 * The time from which the version that decided a result was in force, in seconds since 1970; 0 if
 * it is not known.
 */
export function sinceOf(query: Query, result: Result): u32 {
  const authority = result.source;
  if (authority === 0 || !hasHistory(authority)) return 0;
  const table = query.table;
  let version = result.version;
  if (version === authority) {
    // The authority stands for its newest version.
    const count = <usize>versionCount(table, authority);
    if (count === 0) return 0;
    version = firstVersion(table, authority) + (count - 1) * HISTORY_VERSION_BYTES;
    if (load<u32>(version) !== load<u32>(authority)) return 0;
  }
  return load<u32>(version - HISTORY_AUTHORITY);
}

// ---- Escaping of text in JSON strings, in rows, in lines of URLs, and repair of UTF-8

/** U+FFFD in UTF-8: EF BF BD. */
const REPLACEMENT_START: i32 = 0xbfef;
const REPLACEMENT_END: i32 = 0xbd;
/** Most fields have no more bytes: see `copy`. */
const USUAL_FIELD: i32 = 128;
/** A bit after those of a vector's sixteen bytes. */
const PAST_VECTOR: i32 = 1 << 16;

/** Bytes of the well-formed UTF-8 sequence at `at`, 0 if there is none (RFC 3629 section 4). */
function sequenceBytes(at: usize, end: usize): i32 {
  const lead: i32 = load<u8>(at);
  let bytes = 0;
  let low = 0x80;
  let high = 0xbf;
  if (lead >= 0xc2 && lead < 0xe0) {
    bytes = 2;
  } else if (lead >= 0xe0 && lead < 0xf0) {
    bytes = 3;
    if (lead === 0xe0) low = 0xa0;
    if (lead === 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead < 0xf5) {
    bytes = 4;
    if (lead === 0xf0) low = 0x90;
    if (lead === 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  if (<isize>(end - at) < <isize>bytes) return 0;
  const second: i32 = load<u8>(at, 1);
  if (second < low || second > high) return 0;
  for (let i = 2; i < bytes; i++) if ((load<u8>(at + i) & 0xc0) !== 0x80) return 0;
  return bytes;
}

/**
 * Writes the character at `at` if it is well-formed UTF-8, otherwise U+FFFD for its first byte.
 * Returns the end of what was written; `characterEnd` has the end of what was read.
 */
function character(at: usize, end: usize, to: usize): usize {
  const bytes = sequenceBytes(at, end);
  if (bytes === 0) {
    store<u16>(to, REPLACEMENT_START);
    store<u8>(to, REPLACEMENT_END, 2);
    return to + 3;
  }
  memory.copy(to, at, bytes);
  return to + bytes;
}

/** The end of the character at `at`, or of the byte that is not UTF-8. */
function characterEnd(at: usize, end: usize): usize {
  return at + max(sequenceBytes(at, end), 1);
}

/**
 * Writes a text as the inside of a JSON string: at most six bytes for each byte. Bytes that are not
 * UTF-8 become U+FFFD. Reads 16 bytes past `end`, and writes 16 bytes past what it returns.
 */
export function escapeString(at: usize, end: usize, to: usize): usize {
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(to, bytes);
    // As signed bytes, those of other characters than ASCII are below the control characters.
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.lt_s(bytes, splat(SPACE)), i8x16.eq(bytes, splat(DELETE))),
        v128.or(i8x16.eq(bytes, splat(QUOTE)), i8x16.eq(bytes, splat(BACKSLASH))),
      ),
    );
    const plain = min(<usize>ctz(special | PAST_VECTOR), end - at);
    at += plain;
    to += plain;
    if (plain === 16 || at === end) continue;
    const value: i32 = load<u8>(at);
    if (value >= 0x80) {
      to = character(at, end, to);
      at = characterEnd(at, end);
      continue;
    }
    if (value === QUOTE || value === BACKSLASH) {
      to = byte(BACKSLASH, to);
      to = byte(value, to);
    } else {
      store<u32>(to, BACKSLASH_U00);
      store<u8>(to, lowerHex(value >> 4), 4);
      store<u8>(to, lowerHex(value & 15), 5);
      to += 6;
    }
    at++;
  }
  return to;
}

/**
 * Writes a text as UTF-8: at most three bytes for each byte. Bytes that are not UTF-8 become
 * U+FFFD. Reads and writes as `escapeString`.
 */
export function repairUtf8(at: usize, end: usize, to: usize): usize {
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(to, bytes);
    const plain = min(<usize>ctz(i8x16.bitmask(bytes) | PAST_VECTOR), end - at);
    at += plain;
    to += plain;
    if (plain === 16 || at === end) continue;
    to = character(at, end, to);
    at = characterEnd(at, end);
  }
  return to;
}

/**
 * Writes a URL as a line, or a column of text: at most three bytes for each byte. It stays the same
 * URL for the URL Standard, which strips white space and control characters at the ends, drops tabs
 * and line ends, and percent-encodes other control characters. Reads and writes as `escapeString`.
 */
export function escapeUrl(at: usize, end: usize, to: usize): usize {
  while (at < end && isControlOrSpace(load<u8>(at))) at++;
  while (at < end && isControlOrSpace(load<u8>(end - 1))) end--;
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(to, bytes);
    const special = i8x16.bitmask(
      v128.or(i8x16.lt_u(bytes, splat(SPACE)), i8x16.eq(bytes, splat(DELETE))),
    );
    const plain = min(<usize>ctz(special | PAST_VECTOR), end - at);
    at += plain;
    to += plain;
    if (plain === 16 || at === end) continue;
    const value: i32 = load<u8>(at++);
    if (isDropped(value)) continue;
    to = byte(PERCENT, to);
    to = byte(upperHex(value >> 4), to);
    to = byte(upperHex(value & 15), to);
  }
  return to;
}

/**
 * Writes a text as a field of a row, in quotes if it needs them: at most two bytes for each byte,
 * and two quotes. Reads and writes as `escapeString`.
 */
export function quoteField(at: usize, end: usize, delimiter: i32, to: usize): usize {
  if (!needsQuotes(at, end, delimiter)) {
    return copy(at, <i32>(end - at), to, USUAL_FIELD);
  }
  to = byte(QUOTE, to);
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(to, bytes);
    const quotes = i8x16.bitmask(i8x16.eq(bytes, splat(QUOTE)));
    const plain = min(<usize>ctz(quotes | PAST_VECTOR), end - at);
    at += plain;
    to += plain;
    if (plain === 16 || at === end) continue;
    at++;
    to = byte(QUOTE, to);
    to = byte(QUOTE, to);
  }
  return byte(QUOTE, to);
}

/** Whether a field must be quoted (RFC 4180 section 2). */
function needsQuotes(at: usize, end: usize, delimiter: i32): bool {
  const limit = splat(delimiter);
  for (; at < end; at += 16) {
    const bytes = v128.load(at);
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, splat(QUOTE)), i8x16.eq(bytes, limit)),
        v128.or(i8x16.eq(bytes, splat(CR)), i8x16.eq(bytes, splat(LF))),
      ),
    );
    if (special !== 0) return at + <usize>ctz(special) < end;
  }
  return false;
}
