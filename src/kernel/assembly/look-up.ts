/** The middle phases of a line, each a step further into the table: slot, host record, robots record. */

import {
  QUERY_AGENTS,
  QUERY_ANY_HOST,
  QUERY_FLAGS,
  QUERY_GOOGLE,
  QUERY_SEEN,
  QUERY_UNKNOWN,
  REASON_UNKNOWN_HOST,
} from '../layout';
import { findAuthority, homeSlot, isRecordOf, probe, probeHost, recordOf, slotIndex } from './host';
import { groupsLink, judge, judgeAlike, resolveGroups } from './judge';
import {
  LINE_AUTHORITY,
  LINE_HASH,
  LINE_HOST,
  LINE_HOST_OCTETS,
  LINE_IRREGULAR,
  LINE_LINK,
  LINE_LIST,
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
  PENDING,
} from './line';
import { pathEnd, pathStart, prepareGooglePath, preparePath } from './path';

/** Finds the first slot with the hash of the line's host. */
export function findSlot(table: usize, line: usize): void {
  const hash = load<i32>(line, LINE_HASH);
  store<u32>(line, probe(table, homeSlot(table, hash), hash), LINE_SLOT);
}

/** Compares the host and finds the authority's entry. */
export function findEntry(query: usize, worker: usize, table: usize, line: usize): void {
  let slot: usize = load<u32>(line, LINE_SLOT);
  store<u32>(line, 0, LINE_AUTHORITY);
  if (slot === 0) return;
  const host: usize = load<u32>(line, LINE_HOST);
  const octets = load<i32>(line, LINE_HOST_OCTETS);
  if (!isRecordOf(recordOf(table, slot), host, octets)) {
    slot = probeHost(table, load<i32>(line, LINE_HASH), host, octets);
    if (slot === 0) return;
  }
  const seen: usize = load<u32>(query, QUERY_SEEN);
  if (seen !== 0) {
    const index = slotIndex(table, slot);
    const octet = worker + seen + (index >> 3);
    store<u8>(octet, <i32>load<u8>(octet) | (1 << (<i32>index & 7)));
  }
  store<u32>(
    line,
    findAuthority(recordOf(table, slot), load<i32>(line, LINE_SCHEME), load<i32>(line, LINE_PORT)),
    LINE_AUTHORITY,
  );
}

/** Finds the robots record, and in it the groups that the first agent obeys. */
export function findGroups(query: usize, table: usize, line: usize): void {
  let robots: usize = load<u32>(query, QUERY_ANY_HOST);
  if (robots === 0) {
    const authority: usize = load<u32>(line, LINE_AUTHORITY);
    if (authority !== 0) robots = load<u32>(authority);
  }
  store<u32>(line, robots, LINE_ROBOTS);
  if (robots === 0) return;
  store<u32>(line, resolveGroups(load<u32>(query, QUERY_AGENTS), table, robots), LINE_LIST);
  store<i32>(line, groupsLink, LINE_LINK);
}

/** Brings the automaton of the first of these groups into the cache. */
export function touchAutomaton(table: usize, line: usize): void {
  if (load<u32>(line, LINE_ROBOTS) === 0) return;
  const list: usize = load<u32>(line, LINE_LIST);
  if (list === 0) return;
  store<u32>(line, load<u32>(table + load<u32>(table + list)), LINE_TOUCHED);
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
