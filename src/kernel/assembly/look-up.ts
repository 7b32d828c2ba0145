/**
 * The middle phases of a line, each a step further into the table: slot, host record, robots
 * record, automaton.
 */

import {
  QUERY_AGENTS,
  QUERY_ANY_HOST,
  QUERY_FLAGS,
  QUERY_GOOGLE,
  QUERY_SEEN,
  QUERY_TABLE,
  QUERY_UNKNOWN,
  REASON_UNKNOWN_HOST,
  WORKER_OPEN,
} from '../layout';
import { findAuthority, isRecordOf, probe, probeHost, recordOf, slotIndex } from './host';
import { groupsLink, groupsOfAny, judge, judgeAlike, resolveGroups } from './judge';
import {
  LINE_AUTHORITY,
  LINE_HASH,
  LINE_HOST,
  LINE_HOST_OCTETS,
  LINE_IRREGULAR,
  LINE_LINK,
  LINE_LIST,
  LINE_OCTETS,
  LINE_OUTCOME,
  LINE_OWNED,
  LINE_PATH,
  LINE_PATH_END,
  LINE_PORT,
  LINE_RECORD,
  LINE_ROBOTS,
  LINE_SCHEME,
  LINE_SLOT,
  LINE_TOUCHED,
  LINE_URL,
  LINE_URL_END,
  lineEntry,
  PENDING,
} from './line';
import { pathEnd, pathStart, prepareGooglePath, preparePath } from './path';

/**
 * Finds what the table has about the first lines of the worker's group. Each step is a loop of its
 * own, and so is each touch: a processor has no more cache misses under way than lie within some
 * three hundred instructions, so that a loop that does nothing but touch comes by ten times as many
 * at once as one that works with what it reads. What is read of each cache line has a store of its
 * own, which keeps the lines in order: of a sum, V8 reads the last one first, and a processor that
 * fetches ahead does so upwards. The loops go through a list of lines, from which a line drops out
 * when no more can be found: a branch on that would often be foreseen wrongly.
 */
export function lookUp(query: usize, worker: usize, lines: i32): void {
  const open = worker + WORKER_OPEN;
  let end = openLines(open, lineEntry(worker, 0), lineEntry(worker, lines));
  if (load<u32>(query, QUERY_ANY_HOST) === 0) {
    touchSlots(open, end);
    end = findHosts(query, open, end);
    touchHosts(open, end);
    end = findAuthorities(query, worker, open, end);
  } else {
    giveRobots(query, open, end);
  }
  end = findGroups(query, open, end);
  touchAutomata(query, open, end);
}

/** Lists the lines that are to be looked up; returns the end of the list. */
function openLines(open: usize, first: usize, last: usize): usize {
  let end = open;
  for (let line = first; line < last; line += LINE_OCTETS) {
    store<u32>(line, 0, LINE_ROBOTS);
    end = keep(line, load<i32>(line, LINE_OUTCOME) === PENDING, end);
  }
  return end;
}

/** Puts a line at the end of a list if it is wanted there, without a branch; returns the end. */
function keep(line: usize, isWanted: bool, end: usize): usize {
  store<u32>(end, line);
  return end + ((<usize>isWanted) << 2);
}

/** Touches for each line the home bucket of its host. */
function touchSlots(open: usize, end: usize): void {
  for (let at = open; at < end; at += 4) {
    const line: usize = load<u32>(at);
    store<u32>(line, load<u32>(load<u32>(line, LINE_SLOT)), LINE_TOUCHED);
  }
}

/** Finds for each line a slot with the tag of its host, and that slot's record. */
function findHosts(query: usize, open: usize, end: usize): usize {
  const table: usize = load<u32>(query, QUERY_TABLE);
  let found = open;
  for (let at = open; at < end; at += 4) {
    const line: usize = load<u32>(at);
    const slot = probe(table, load<u32>(line, LINE_SLOT), load<i32>(line, LINE_HASH));
    store<u32>(line, slot, LINE_SLOT);
    // Of no slot this is no record, and nobody reads it.
    store<u32>(line, recordOf(table, slot), LINE_RECORD);
    found = keep(line, slot !== 0, found);
  }
  return found;
}

/**
 * Touches for each line the record of its host: three cache lines of it, as its robots record and
 * most often the automaton follow. Reads 131 octets past its start.
 */
function touchHosts(open: usize, end: usize): void {
  for (let at = open; at < end; at += 4) {
    const line: usize = load<u32>(at);
    const record: usize = load<u32>(line, LINE_RECORD);
    store<u32>(line, load<u32>(record), LINE_TOUCHED);
    store<u32>(line, load<u32>(record, 64), LINE_TOUCHED);
    store<u32>(line, load<u32>(record, 128), LINE_TOUCHED);
  }
}

/** Compares for each line the host, and finds the entry of its authority and its robots record. */
function findAuthorities(query: usize, worker: usize, open: usize, end: usize): usize {
  const table: usize = load<u32>(query, QUERY_TABLE);
  const seen: usize = load<u32>(query, QUERY_SEEN);
  let found = open;
  for (let at = open; at < end; at += 4) {
    const line: usize = load<u32>(at);
    let slot: usize = load<u32>(line, LINE_SLOT);
    let record: usize = load<u32>(line, LINE_RECORD);
    const host: usize = load<u32>(line, LINE_HOST);
    const octets = load<i32>(line, LINE_HOST_OCTETS);
    if (!isRecordOf(record, host, octets)) {
      slot = probeHost(table, load<i32>(line, LINE_HASH), host, octets);
      if (slot === 0) continue;
      record = recordOf(table, slot);
    }
    if (seen !== 0) {
      const index = slotIndex(table, slot);
      const octet = worker + seen + (index >> 3);
      store<u8>(octet, <i32>load<u8>(octet) | (1 << (<i32>index & 7)));
    }
    const scheme = load<i32>(line, LINE_SCHEME);
    const authority = findAuthority(record, scheme, load<i32>(line, LINE_PORT));
    if (authority === 0) continue;
    store<u32>(line, authority, LINE_AUTHORITY);
    store<u32>(line, load<u32>(authority), LINE_ROBOTS);
    found = keep(line, true, found);
  }
  return found;
}

/** Gives each line the one robots record that counts whatever its host. */
function giveRobots(query: usize, open: usize, end: usize): void {
  const robots = load<u32>(query, QUERY_ANY_HOST);
  for (let at = open; at < end; at += 4) store<u32>(load<u32>(at), robots, LINE_ROBOTS);
}

/** Finds for each line the groups that the first agent obeys. */
function findGroups(query: usize, open: usize, end: usize): usize {
  const table: usize = load<u32>(query, QUERY_TABLE);
  const agent: usize = load<u32>(query, QUERY_AGENTS);
  let found = open;
  for (let at = open; at < end; at += 4) {
    const line: usize = load<u32>(at);
    const robots: usize = load<u32>(line, LINE_ROBOTS);
    const groups = resolveGroups(agent, table, robots, groupsOfAny(table, robots));
    store<u32>(line, groups, LINE_LIST);
    store<i32>(line, groupsLink, LINE_LINK);
    found = keep(line, groups !== 0, found);
  }
  return found;
}

/**
 * Touches for each line the automaton of the first of these groups: five cache lines of it, where
 * most end. The walk would come from one to the next and wait for each in turn. Reads 259 octets
 * past the automaton's start.
 */
function touchAutomata(query: usize, open: usize, end: usize): void {
  const table: usize = load<u32>(query, QUERY_TABLE);
  for (let at = open; at < end; at += 4) {
    const line: usize = load<u32>(at);
    const automaton = table + load<u32>(table + load<u32>(line, LINE_LIST));
    store<u32>(line, load<u32>(automaton), LINE_TOUCHED);
    store<u32>(line, load<u32>(automaton, 64), LINE_TOUCHED);
    store<u32>(line, load<u32>(automaton, 128), LINE_TOUCHED);
    store<u32>(line, load<u32>(automaton, 192), LINE_TOUCHED);
    store<u32>(line, load<u32>(automaton, 256), LINE_TOUCHED);
  }
}

/**
 * The last phase: leaves a result for each agent in the worker block. `scratch` has room for what
 * `preparePath` asks.
 */
export function decide(
  query: usize,
  worker: usize,
  table: usize,
  line: usize,
  scratch: usize,
): void {
  const outcome = load<i32>(line, LINE_OUTCOME);
  if (outcome !== PENDING) {
    judgeAlike(query, worker, outcome, 0);
    return;
  }
  const robots: usize = load<u32>(line, LINE_ROBOTS);
  if (robots === 0) {
    judgeAlike(query, worker, (load<i32>(query, QUERY_UNKNOWN) << 4) | REASON_UNKNOWN_HOST, 0);
    return;
  }
  const isKnown = load<u32>(query, QUERY_ANY_HOST) === 0;
  const source: usize = isKnown ? <usize>load<u32>(line, LINE_AUTHORITY) : 0;
  if ((load<u32>(query, QUERY_FLAGS) & QUERY_GOOGLE) !== 0) {
    prepareGooglePath(load<u32>(line, LINE_URL), load<u32>(line, LINE_URL_END), scratch);
  } else {
    preparePath(
      load<u32>(line, LINE_PATH),
      load<u32>(line, LINE_PATH_END),
      load<u32>(line, LINE_IRREGULAR),
      scratch,
      load<u32>(line, LINE_OWNED) !== 0,
    );
  }
  const list: usize = load<u32>(line, LINE_LIST);
  const link = load<i32>(line, LINE_LINK);
  judge(query, worker, table, robots, source, list, link, pathStart, pathEnd);
}
