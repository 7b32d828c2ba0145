/** The middle phases of a line, each a step further into the table: slot, host record, robots record. */

import {
  QUERY_AGENTS,
  QUERY_ANY_HOST,
  QUERY_FLAGS,
  QUERY_GOOGLE,
  QUERY_SEEN,
  QUERY_TABLE,
  QUERY_UNKNOWN,
  REASON_UNKNOWN_HOST,
} from '../layout';
import { findAuthority, isRecordOf, probe, probeHost, recordOf, slotIndex } from './host';
import { groupsLink, judge, judgeAlike, resolveGroups } from './judge';
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
 * Finds what the table has about the first lines of the worker's group. Each step is a loop of its own, and so is each touch: the shorter
 * a loop, the more of its cache misses a processor has under way at once.
 */
export function lookUp(query: usize, worker: usize, lines: i32): void {
  const first = lineEntry(worker, 0);
  const last = lineEntry(worker, lines);
  if (load<u32>(query, QUERY_ANY_HOST) === 0) {
    touchSlots(first, last);
    findSlots(query, first, last);
    findAuthorities(query, worker, first, last);
    touchRobots(query, first, last);
  }
  findGroups(query, first, last);
  touchAutomata(query, first, last);
}

/** Touches for each line the home slot of its host. */
function touchSlots(first: usize, last: usize): void {
  for (let line = first; line < last; line += LINE_OCTETS) {
    if (load<i32>(line, LINE_OUTCOME) !== PENDING) continue;
    store<u32>(line, load<u32>(load<u32>(line, LINE_SLOT)), LINE_TOUCHED);
  }
}

/** Finds for each line the first slot with the hash of its host, 0 if there is none, and touches the host's record. */
function findSlots(query: usize, first: usize, last: usize): void {
  const table: usize = load<u32>(query, QUERY_TABLE);
  for (let line = first; line < last; line += LINE_OCTETS) {
    if (load<i32>(line, LINE_OUTCOME) !== PENDING) continue;
    const slot = probe(table, load<u32>(line, LINE_SLOT), load<i32>(line, LINE_HASH));
    store<u32>(line, slot, LINE_SLOT);
    store<u32>(line, slot !== 0 ? load<u32>(recordOf(table, slot)) : 0, LINE_TOUCHED);
  }
}

/** Compares for each line the host and finds the entry of its authority, 0 if there is none, and touches its robots record. */
function findAuthorities(query: usize, worker: usize, first: usize, last: usize): void {
  const table: usize = load<u32>(query, QUERY_TABLE);
  const seen: usize = load<u32>(query, QUERY_SEEN);
  for (let line = first; line < last; line += LINE_OCTETS) {
    if (load<i32>(line, LINE_OUTCOME) !== PENDING) continue;
    let slot: usize = load<u32>(line, LINE_SLOT);
    store<u32>(line, 0, LINE_AUTHORITY);
    if (slot === 0) continue;
    const host: usize = load<u32>(line, LINE_HOST);
    const octets = load<i32>(line, LINE_HOST_OCTETS);
    if (!isRecordOf(recordOf(table, slot), host, octets)) {
      slot = probeHost(table, load<i32>(line, LINE_HASH), host, octets);
      if (slot === 0) continue;
    }
    if (seen !== 0) {
      const index = slotIndex(table, slot);
      const octet = worker + seen + (index >> 3);
      store<u8>(octet, <i32>load<u8>(octet) | (1 << (<i32>index & 7)));
    }
    const scheme = load<i32>(line, LINE_SCHEME);
    const authority = findAuthority(recordOf(table, slot), scheme, load<i32>(line, LINE_PORT));
    if (authority === 0) continue;
    store<u32>(line, authority, LINE_AUTHORITY);
  }
}

/** Touches for each line the robots record of its authority. */
function touchRobots(query: usize, first: usize, last: usize): void {
  const table: usize = load<u32>(query, QUERY_TABLE);
  for (let line = first; line < last; line += LINE_OCTETS) {
    if (load<i32>(line, LINE_OUTCOME) !== PENDING) continue;
    const authority: usize = load<u32>(line, LINE_AUTHORITY);
    if (authority === 0) continue;
    store<u32>(line, load<u32>(table + load<u32>(authority)), LINE_TOUCHED);
  }
}

/** Finds for each line the robots record, and in it the groups that the first agent obeys. */
function findGroups(query: usize, first: usize, last: usize): void {
  const table: usize = load<u32>(query, QUERY_TABLE);
  const anyHost: usize = load<u32>(query, QUERY_ANY_HOST);
  const agent: usize = load<u32>(query, QUERY_AGENTS);
  for (let line = first; line < last; line += LINE_OCTETS) {
    if (load<i32>(line, LINE_OUTCOME) !== PENDING) continue;
    let robots = anyHost;
    if (robots === 0) {
      const authority: usize = load<u32>(line, LINE_AUTHORITY);
      if (authority !== 0) robots = load<u32>(authority);
    }
    store<u32>(line, robots, LINE_ROBOTS);
    if (robots === 0) continue;
    store<u32>(line, resolveGroups(agent, table, robots), LINE_LIST);
    store<i32>(line, groupsLink, LINE_LINK);
  }
}

/**
 * Touches for each line the automaton of the first of these groups: five cache lines of it, where most end. The walk would come from
 * one to the next and wait for each in turn. Reads 259 octets past the automaton's start.
 */
function touchAutomata(query: usize, first: usize, last: usize): void {
  const table: usize = load<u32>(query, QUERY_TABLE);
  for (let line = first; line < last; line += LINE_OCTETS) {
    if (load<i32>(line, LINE_OUTCOME) !== PENDING || load<u32>(line, LINE_ROBOTS) === 0) continue;
    const list: usize = load<u32>(line, LINE_LIST);
    if (list === 0) continue;
    const automaton = table + load<u32>(table + list);
    const touched =
      load<u32>(automaton) +
      load<u32>(automaton, 64) +
      load<u32>(automaton, 128) +
      load<u32>(automaton, 192) +
      load<u32>(automaton, 256);
    store<u32>(line, touched, LINE_TOUCHED);
  }
}

/** The last phase: leaves a result for each agent in the worker block. `scratch` has room for four times the URL's octets. */
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
