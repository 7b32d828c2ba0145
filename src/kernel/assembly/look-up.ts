/**
 * The middle phases of a line, each a step further into the table: slot, host record, robots
 * record, automaton.
 */

import {
  ACCESS_SUCCESSFUL,
  ACCESS_UNAVAILABLE,
  GROUP_LINE,
  HOST_AUTHORITY,
  HOST_FORM,
  HOST_SEVERAL,
  ROBOTS_ACCESS,
  ROBOTS_WIDE,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  TOKEN_ANY,
  VERSION_CONFIRMED,
} from '../../table/format';
import {
  ALLOW,
  CHAIN_BYTES,
  CHAIN_TOKEN,
  DENY,
  HOST_COUNTS_BYTES,
  LATEST,
  LINE_BYTES,
  QUERY_EVER,
  QUERY_NAMES_AGENT,
  QUERY_TIMED,
  REASON_BEFORE_FIRST_CAPTURE,
  REASON_BITS,
  REASON_NO_GROUP,
  REASON_NO_RECENT_CAPTURE,
  REASON_NO_RULE,
  REASON_UNAVAILABLE,
  REASON_UNREACHABLE,
  REMEMBERED_AUTOMATON,
  REMEMBERED_NOTHING,
  REMEMBERED_OUTCOME,
  WORKER_FOLLOWERS,
  WORKER_OPEN,
} from '../layout';
import {
  findAuthority,
  firstSlot,
  hasHistory,
  isRecordOf,
  isUnknown,
  newestKnown,
  probe,
  probeHost,
  recordOf,
  slotAfter,
  slotIndex,
  versionAt,
} from './hosts';
import { Agent, Groups, Line, lineAt, PENDING, Query, tableOf, Worker } from './memory';

/**
 * Finds the table's data for the first lines of the worker's group.
 *
 * - Each step is a separate loop, and so is each prefetch. A processor overlaps only the cache
 *   misses of some three hundred instructions. A prefetch-only loop keeps more misses in flight
 *   than a loop that also uses the data.
 * - Each prefetched cache line has its own store: V8 issues the loads of a sum in reverse, and
 *   the processor's own prefetching goes upwards.
 * - The loops follow a list of open lines, and a line leaves the list when nothing more can be
 *   found. A branch in its place would often be mispredicted.
 */
export function lookUp(query: Query, worker: Worker, lines: i32): void {
  const open = changetype<usize>(worker) + WORKER_OPEN;
  const first = lineAt(worker, 0);
  const last = lineAt(worker, lines);
  const followers = changetype<usize>(worker) + WORKER_FOLLOWERS;
  const end = openLines(open, followers, first, last, query.anyHost !== 0);
  // Each is compiled alone, because a run needs only one of them.
  if (isCommon(query)) lookUpCommon(query, worker, open, end);
  else lookUpAny(query, worker, open, end);
  followLeaders(followers);
}

/** As `lookUp`, for the open lines of any query. */
function lookUpAny(query: Query, worker: Worker, open: usize, end: usize): void {
  if (query.anyHost === 0) {
    prefetchBuckets(open, end);
    end = findHosts(open, end);
    // Lines of one authority may have other versions of its robots.txt, or other agents.
    const areOwn = (query.flags & (QUERY_TIMED | QUERY_NAMES_AGENT)) !== 0;
    if (areOwn) end = joinFollowers(changetype<usize>(worker) + WORKER_FOLLOWERS, end);
    prefetchRecords(open, end);
    end = findAuthorities(worker, open, end);
    if (query.counts !== 0) prefetchCounters(open, end);
  } else {
    giveRobots(query, open, end);
  }
  end = findGroups(open, end);
  prefetchAutomata(open, end);
}

/**
 * Lists the lines whose URLs are fine; returns the end of the list. The lines with a leader are
 * listed in `followers` instead: their leader becomes the listed line with their authority. With
 * `anyHost` no line has an authority, and all are listed.
 */
function openLines(open: usize, followers: usize, first: Line, last: Line, anyHost: bool): usize {
  let end = open;
  let leader: usize = 0;
  for (let at = changetype<usize>(first); at < changetype<usize>(last); at += LINE_BYTES) {
    const line = changetype<Line>(at);
    line.robots = 0;
    line.remembered = 0;
    if (line.outcome !== PENDING) continue;
    if (line.leader !== 0 && leader !== 0) {
      line.leader = leader;
      store<Line>(followers, line);
      followers += 4;
      continue;
    }
    if (!anyHost) leader = at;
    end = keep(line, true, end);
  }
  store<u32>(followers, 0);
  return end;
}

/** Appends a line to a list if `isWanted`, without a branch; returns the new end of the list. */
function keep(line: Line, isWanted: bool, end: usize): usize {
  store<Line>(end, line);
  return end + ((<usize>isWanted) << 2);
}

/** Gives each line of a list that ends with 0 what was found for its leader. */
function followLeaders(followers: usize): void {
  while (true) {
    const found: usize = load<u32>(followers);
    if (found === 0) return;
    const line = changetype<Line>(found);
    followers += 4;
    const leader = changetype<Line>(line.leader);
    line.slot = leader.slot;
    line.authority = leader.authority;
    line.version = leader.version;
    line.robots = leader.robots;
    line.remembered = leader.remembered;
    line.groupsList = leader.groupsList;
    line.groupsLink = leader.groupsLink;
  }
}

/**
 * Gives each line of a list that ends with 0 the slot of its leader, since its version or its agent
 * may be another; appends the line to the list of open lines, whose new end is returned. The list
 * is empty afterwards.
 */
function joinFollowers(followers: usize, end: usize): usize {
  for (let at = followers; ; at += 4) {
    const found: usize = load<u32>(at);
    if (found === 0) break;
    const line = changetype<Line>(found);
    const leader = changetype<Line>(line.leader);
    line.hash = leader.hash;
    line.slot = leader.slot;
    line.record = leader.record;
    end = keep(line, line.slot !== 0, end);
  }
  store<u32>(followers, 0);
  return end;
}

/** Prefetches for each line the bucket where the search for its host begins. */
function prefetchBuckets(open: usize, end: usize): void {
  for (let at = open; at < end; at += 4) {
    const line = load<Line>(at);
    line.prefetched = load<u32>(line.slot);
  }
}

/** Finds for each line a slot with the tag of its host, and the slot's record. */
function findHosts(open: usize, end: usize): usize {
  let found = open;
  for (let at = open; at < end; at += 4) {
    const line = load<Line>(at);
    found = findHost(line, tableOf(line), found);
  }
  return found;
}

/** As `findHosts`, for a line; returns the end of the list. */
function findHost(line: Line, table: usize, end: usize): usize {
  const slot = probe(table, line.slot, line.hash);
  line.slot = slot;
  // Without a slot, this address is not a record. The line leaves the list, so nobody reads it.
  line.record = recordOf(table, slot);
  return keep(line, slot !== 0, end);
}

/** Prefetches the records of the lines' hosts, and what is remembered of their slots. */
function prefetchRecords(open: usize, end: usize): void {
  for (let at = open; at < end; at += 4) {
    const line = load<Line>(at);
    const remembered = line.query.remembered;
    if (remembered !== 0) {
      line.prefetched = load<u32>(remembered + (slotIndex(tableOf(line), line.slot) << 2));
    }
    prefetchRecord(line);
  }
}

/**
 * Prefetches three cache lines from the record of a line's host on: the robots record and most
 * often the automaton follow it. Reads 131 bytes past the record's start.
 */
function prefetchRecord(line: Line): void {
  const record = line.record;
  line.prefetched = load<u32>(record);
  line.prefetched = load<u32>(record, 64);
  line.prefetched = load<u32>(record, 128);
}

/** Compares the host of each line; finds the entry of its authority, and its robots record. */
function findAuthorities(worker: Worker, open: usize, end: usize): usize {
  let found = open;
  for (let at = open; at < end; at += 4) {
    const line = load<Line>(at);
    const query = line.query;
    const table = tableOf(line);
    let slot = line.slot;
    let record = line.record;
    const host = line.host;
    const bytes = line.hostBytes;
    if (!isRecordOf(record, host, bytes)) {
      slot = probeHost(table, line.hash, host, bytes);
      if (slot === 0) continue;
      record = recordOf(table, slot);
    }
    const scheme = line.scheme;
    const authority = findAuthority(record, scheme, line.port);
    if (authority === 0) continue;
    const version =
      query.at === <u32>LATEST ? authority : versionFor(query, line, table, authority);
    if (version === 0) {
      // Of all versions, nothing is known.
      if ((query.flags & QUERY_EVER) !== 0) continue;
      const outcome = (query.unknown << REASON_BITS) | REASON_BEFORE_FIRST_CAPTURE;
      line.remembered = REMEMBERED_OUTCOME + outcome;
      continue;
    }
    const robots: usize = load<u32>(version);
    if (isUnknown(table, record, robots)) continue;
    if (query.maxAge !== <u32>LATEST && isTooOld(query, line, authority, version)) {
      const outcome = (query.unknown << REASON_BITS) | REASON_NO_RECENT_CAPTURE;
      line.remembered = REMEMBERED_OUTCOME + outcome;
      continue;
    }
    line.authority = authority;
    line.version = version;
    line.robots = robots;
    const index = slotIndex(table, slot);
    const seen = query.seen;
    if (seen !== 0) {
      const byte = changetype<usize>(worker) + seen + (index >> 3);
      store<u8>(byte, <i32>load<u8>(byte) | (1 << (<i32>index & 7)));
    }
    const counts = query.counts;
    if (counts !== 0) {
      const hostBytes: usize = <usize>query.agentCount * HOST_COUNTS_BYTES;
      line.slot = changetype<usize>(worker) + counts + index * hostBytes;
    }
    const remembered = query.remembered;
    let word: u32 = 0;
    if (remembered !== 0) {
      const place = remembered + (index << 2);
      word = load<u32>(place);
      if (word === 0) {
        word = whatIsFound(line, record);
        store<u32>(place, word);
      }
      if (word !== REMEMBERED_NOTHING) line.remembered = word;
    }
    // A line whose outcome is known has no automaton to prefetch.
    found = keep(line, word < <u32>REMEMBERED_OUTCOME || word >= <u32>REMEMBERED_AUTOMATON, found);
  }
  return found;
}

/** As `versionAt`, for the time of the query or of the line, or for all times. */
function versionFor(query: Query, line: Line, table: usize, authority: usize): usize {
  if ((query.flags & QUERY_EVER) !== 0) return newestKnown(table, authority);
  return versionAt(table, authority, timeFor(query, line));
}

/** The time for which a line is judged. */
function timeFor(query: Query, line: Line): u32 {
  return (query.flags & QUERY_TIMED) !== 0 ? line.time : query.at;
}

/**
 * Whether the version of a line was found for the last time longer ago than the query permits. If
 * it was found again after the line's time, it is not old.
 */
function isTooOld(query: Query, line: Line, authority: usize, version: usize): bool {
  if (!hasHistory(authority) || version === authority) return false;
  const time = timeFor(query, line);
  const confirmed = load<u32>(version, VERSION_CONFIRMED);
  return time > confirmed && time - confirmed > query.maxAge;
}

/**
 * What the query's only agent finds for each path of the line's host: REMEMBERED_…. Overwrites the
 * groups of the line.
 */
function whatIsFound(line: Line, record: usize): u32 {
  if (<i32>load<u8>(record, HOST_FORM) >= HOST_SEVERAL) return REMEMBERED_NOTHING;
  const table = tableOf(line);
  const robots = line.robots;
  const access = <i32>load<u8>(table + robots) & ROBOTS_ACCESS;
  if (access !== ACCESS_SUCCESSFUL) return REMEMBERED_OUTCOME + outcomeOfAccess(access);
  resolveGroups(line.query.agents, table, robots, groupsOfAny(table, robots), line.groups);
  const list = line.groupsList;
  if (list === 0) return REMEMBERED_OUTCOME + ((ALLOW << REASON_BITS) | REASON_NO_GROUP);
  if ((load<u32>(table + list, GROUP_LINE) & 1) !== 0) return REMEMBERED_NOTHING;
  const automaton = load<u32>(table + list);
  return automaton !== 0
    ? automaton
    : REMEMBERED_OUTCOME + ((ALLOW << REASON_BITS) | REASON_NO_RULE);
}

/** The outcome of a path without rules: RFC 9309 sections 2.3.1.3 and 2.3.1.4. */
export function outcomeOfAccess(access: i32): i32 {
  return access === ACCESS_UNAVAILABLE
    ? (ALLOW << REASON_BITS) | REASON_UNAVAILABLE
    : (DENY << REASON_BITS) | REASON_UNREACHABLE;
}

/** Prefetches for each line the counters of its host, which are needed when the line is written. */
function prefetchCounters(open: usize, end: usize): void {
  for (let at = open; at < end; at += 4) {
    const line = load<Line>(at);
    line.prefetched = load<u32>(line.slot);
  }
}

/** Gives each line the robots record that applies to every host. */
function giveRobots(query: Query, open: usize, end: usize): void {
  const robots = query.anyHost;
  for (let at = open; at < end; at += 4) {
    const line = load<Line>(at);
    line.robots = robots;
    line.authority = 0;
  }
}

/** Finds for each line the groups that the first agent obeys. */
function findGroups(open: usize, end: usize): usize {
  let found = open;
  for (let at = open; at < end; at += 4) {
    const line = load<Line>(at);
    let isFound = true;
    if (line.remembered === 0) {
      const table = tableOf(line);
      const agent = line.query.agents;
      const robots = line.robots;
      resolveGroups(agent, table, robots, groupsOfAny(table, robots), line.groups);
      isFound = line.groupsList !== 0;
    }
    found = keep(line, isFound, found);
  }
  return found;
}

/** Prefetches the automaton of each line's first group. */
function prefetchAutomata(open: usize, end: usize): void {
  for (let at = open; at < end; at += 4) {
    const line = load<Line>(at);
    const table = tableOf(line);
    const remembered = line.remembered;
    const offset = remembered !== 0 ? remembered : load<u32>(table + line.groupsList);
    prefetchAutomaton(line, table + offset);
  }
}

/**
 * Prefetches five cache lines of an automaton; most automata end there. Without this, the matcher's
 * walk would wait for each cache line in turn. Reads 259 bytes past the automaton's start.
 */
function prefetchAutomaton(line: Line, automaton: usize): void {
  line.prefetched = load<u32>(automaton);
  line.prefetched = load<u32>(automaton, 64);
  line.prefetched = load<u32>(automaton, 128);
  line.prefetched = load<u32>(automaton, 192);
  line.prefetched = load<u32>(automaton, 256);
}

// ---- The common query: one agent asks one table about now, and nothing is counted or explained.
// Then all is the same for every line but its host, and once an agent has been at a host, a word
// has what the agent found. The phases are those of `lookUp`, without what such a query never asks.

/** Whether a query is common. */
function isCommon(query: Query): bool {
  return (
    query.remembered !== 0 &&
    query.shards === 0 &&
    query.seen === 0 &&
    query.counts === 0 &&
    query.at === <u32>LATEST &&
    query.maxAge === <u32>LATEST &&
    (query.flags & (QUERY_EVER | QUERY_TIMED | QUERY_NAMES_AGENT)) === 0
  );
}

/** As `lookUp`, for the open lines of a common query. */
function lookUpCommon(query: Query, worker: Worker, open: usize, end: usize): void {
  const table = query.table;
  const remembered = query.remembered;
  const first = firstSlot(table);
  prefetchBuckets(open, end);
  let found = open;
  for (let at = open; at < end; at += 4) found = findHost(load<Line>(at), table, found);
  for (let at = open; at < found; at += 4) {
    const line = load<Line>(at);
    line.prefetched = load<u32>(remembered + (slotAfter(first, line.slot) << 2));
    prefetchRecord(line);
  }
  end = findRemembered(worker, remembered, first, open, found);
  for (let at = open; at < end; at += 4) {
    const line = load<Line>(at);
    prefetchAutomaton(line, table + line.remembered);
  }
}

/**
 * As `findAuthorities` and `findGroups`, by what is remembered. A host of which something is
 * remembered has one authority, that of http and https on their default ports.
 *
 * @param first the table's first slot
 */
function findRemembered(
  worker: Worker,
  remembered: usize,
  first: usize,
  open: usize,
  end: usize,
): usize {
  let found = open;
  for (let at = open; at < end; at += 4) {
    const line = load<Line>(at);
    const record = line.record;
    const word = load<u32>(remembered + (slotAfter(first, line.slot) << 2));
    if (
      word > <u32>REMEMBERED_NOTHING &&
      line.port === 0 &&
      (line.scheme & (SCHEME_HTTP | SCHEME_HTTPS)) !== 0 &&
      isRecordOf(record, line.host, line.hostBytes)
    ) {
      line.robots = load<u32>(record, HOST_AUTHORITY);
      line.remembered = word;
      found = keep(line, word >= <u32>REMEMBERED_AUTOMATON, found);
    } else {
      found = findUsual(worker, line, found);
    }
  }
  return found;
}

/** As `findAuthorities` and `findGroups`, for a line; returns the end of the list. */
function findUsual(worker: Worker, line: Line, end: usize): usize {
  store<Line>(end, line);
  return findGroups(end, findAuthorities(worker, end, end + 4));
}

// ---- Finds the groups that an agent obeys in a robots record (RFC 9309 section 2.2.1). Layout:
// table/format.ts.

/** Start of the list of the groups of `*`; 0 if there are none. */
export function groupsOfAny(table: usize, robots: usize): usize {
  return groupsOf(table, robots, TOKEN_ANY);
}

/**
 * Fills in `groups` (GROUPS_…): the groups of the first product token of the agent's chain that
 * some group names. If no group names any token, they are `any`, the groups of `*`, or none if
 * the agent disregards them. No branch depends on which token it is.
 */
export function resolveGroups(
  agent: Agent,
  table: usize,
  robots: usize,
  any: usize,
  groups: Groups,
): void {
  const chain = agent.chain;
  let list = select(0, any, agent.disregardsAny !== 0);
  let followed = -1;
  for (let link = agent.chainCount - 1; link >= 0; link--) {
    const token = load<i32>(chain + <usize>link * CHAIN_BYTES, CHAIN_TOKEN);
    const named = token === TOKEN_ANY ? any : groupsOf(table, robots, token);
    list = select(named, list, named !== 0);
    followed = select(link, followed, named !== 0);
  }
  groups.list = list;
  groups.link = followed;
}

/** Start of the list of the groups that name the token, 0 if no group does. */
export function groupsOf(table: usize, robots: usize, token: i32): usize {
  const record = table + robots;
  const list =
    (load<u8>(record) & ROBOTS_WIDE) === 0
      ? listOf<u16>(record + 1, token)
      : listOf<u32>(record + 1, token);
  return select(robots + list, 0, list !== 0);
}

/** Product tokens that are compared at once: enough for the groups of most files. */
const TOKENS_AT_ONCE: i32 = 16;

/**
 * The list's offset from the start of the robots record, 0 if no group names the token. `fields` is
 * the address of the record's token numbers. Reads up to 132 bytes past them.
 */
function listOf<T>(fields: usize, token: i32): usize {
  const count = <i32>load<T>(fields);
  const numbers = fields + sizeof<T>();
  // With more tokens, halve the range until it holds the last numbers that are not greater.
  let left = count;
  let at = numbers;
  while (left > TOKENS_AT_ONCE) {
    const half = left >> 1;
    const middle = at + <usize>half * sizeof<T>();
    at = select(middle, at, <i32>load<T>(middle) <= token);
    left -= half;
  }
  const places = sizeof<T>() === 2 ? places16(at, token) : places32(at, token);
  const found = places & ((1 << left) - 1);
  const list = at + <usize>(count + ctz(found)) * sizeof<T>();
  return select(<usize>load<T>(list), 0, found !== 0);
}

/**
 * A bit for each of 16 two-byte numbers that equals the token's number, the first number in the
 * lowest bit. No number is 0xffff, so -1, a token that no robots.txt names, equals none of them.
 */
function places16(numbers: usize, token: i32): i32 {
  const wanted = i16x8.splat(<i16>token);
  const low = i16x8.bitmask(i16x8.eq(v128.load(numbers), wanted));
  const high = i16x8.bitmask(i16x8.eq(v128.load(numbers, 16), wanted));
  return low | (high << 8);
}

/** As `places16`, for four-byte numbers. */
function places32(numbers: usize, token: i32): i32 {
  const wanted = i32x4.splat(token);
  const a = i32x4.bitmask(i32x4.eq(v128.load(numbers), wanted));
  const b = i32x4.bitmask(i32x4.eq(v128.load(numbers, 16), wanted));
  const c = i32x4.bitmask(i32x4.eq(v128.load(numbers, 32), wanted));
  const d = i32x4.bitmask(i32x4.eq(v128.load(numbers, 48), wanted));
  return a | (b << 4) | (c << 8) | (d << 12);
}
