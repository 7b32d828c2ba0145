/** From a robots record and the agents of a query to outcomes (RFC 9309 sections 2.2.1 and 2.3.1). */

import {
  ACCESS_SUCCESSFUL,
  ACCESS_UNAVAILABLE,
  ROBOTS_FIXED_OCTETS,
  TOKEN_ANY,
} from '../../compile/format';
import {
  AGENT_CHAIN,
  AGENT_CHAIN_COUNT,
  AGENT_OCTETS,
  ALLOW,
  CHAIN_OCTETS,
  DENY,
  QUERY_AGENT_COUNT,
  QUERY_AGENTS,
  QUERY_FLAGS,
  QUERY_GOOGLE,
  REASON_NO_GROUP,
  REASON_NO_RULE,
  REASON_OVER_BUDGET,
  REASON_ROBOTS_TXT,
  REASON_RULE,
  REASON_UNAVAILABLE,
  REASON_UNREACHABLE,
  RESULT_AUTOMATON,
  RESULT_LINES,
  RESULT_LINK,
  RESULT_LIST,
  RESULT_OCTETS,
  RESULT_OUTCOME,
  RESULT_RANK,
  RESULT_SOURCE,
  WORKER_RESULTS,
} from '../layout';
import { grantBudget, match, OVER_BUDGET, specificity } from './match';

/** Gives every agent the same outcome. */
export function judgeAlike(query: usize, worker: usize, outcome: i32, source: usize): void {
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  let result = worker + WORKER_RESULTS;
  for (let i = 0; i < agents; i++) {
    store<i32>(result, outcome, RESULT_OUTCOME);
    store<i32>(result, 0, RESULT_RANK);
    store<u32>(result, source, RESULT_SOURCE);
    result += RESULT_OCTETS;
  }
}

/** `/robots.txt`, exactly: implicitly allowed (RFC 9309 section 2.2.2). */
function isRobotsTxt(path: usize, end: usize): bool {
  return (
    end - path === 11 &&
    load<u32>(path) === 0x626f722f && // "/rob"
    load<u32>(path, 4) === 0x2e73746f && // "ots."
    load<u32>(path, 7) === 0x7478742e // ".txt"
  );
}

/**
 * Judges the path `path`–`end` by a robots record of the table, for every agent of the query; `list` and `link` are what
 * `resolveGroups` says for the first.
 */
export function judge(
  query: usize,
  worker: usize,
  table: usize,
  robots: usize,
  source: usize,
  list: usize,
  link: i32,
  path: usize,
  end: usize,
): void {
  const google = (load<u32>(query, QUERY_FLAGS) & QUERY_GOOGLE) !== 0;
  const access = load<i32>(robots);
  if (!google && isRobotsTxt(path, end)) {
    judgeAlike(query, worker, (ALLOW << 4) | REASON_ROBOTS_TXT, source);
    return;
  }
  if (access !== ACCESS_SUCCESSFUL) {
    const outcome =
      access === ACCESS_UNAVAILABLE
        ? (ALLOW << 4) | REASON_UNAVAILABLE
        : (DENY << 4) | REASON_UNREACHABLE;
    judgeAlike(query, worker, outcome, source);
    return;
  }
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  let agent: usize = load<u32>(query, QUERY_AGENTS);
  let result = worker + WORKER_RESULTS;
  for (let i = 0; i < agents; i++) {
    if (i > 0) {
      list = resolveGroups(agent, robots);
      link = groupsLink;
    }
    judgeAgent(agent, result, i, list, link, table, robots, path, end, google);
    store<u32>(result, source, RESULT_SOURCE);
    agent += AGENT_OCTETS;
    result += RESULT_OCTETS;
  }
}

/** How many earlier agents are looked at for one that asked the same groups. */
const REMEMBERED: i32 = 8;

/** Result of `resolveGroups`: the link of the chain that the groups name, -1 for `*`. */
export let groupsLink: i32 = -1;

/**
 * Start of the list of groups that an agent obeys: those of the first product token of its chain that some group names,
 * else those of `*`; 0 if there are none.
 */
export function resolveGroups(agent: usize, robots: usize): usize {
  const links = load<i32>(agent, AGENT_CHAIN_COUNT);
  let chain: usize = load<u32>(agent, AGENT_CHAIN);
  for (let link = 0; link < links; link++) {
    const list = groupsOf(robots, load<i32>(chain));
    if (list !== 0) {
      groupsLink = link;
      return list;
    }
    chain += CHAIN_OCTETS;
  }
  groupsLink = -1;
  return groupsOf(robots, TOKEN_ANY);
}

/** Judges for one agent, the `index`th, that obeys these groups. */
function judgeAgent(
  agent: usize,
  result: usize,
  index: i32,
  list: usize,
  link: i32,
  table: usize,
  robots: usize,
  path: usize,
  end: usize,
  google: bool,
): void {
  const links = load<i32>(agent, AGENT_CHAIN_COUNT);
  store<i32>(result, link, RESULT_LINK);
  store<u32>(result, list, RESULT_LIST);
  store<i32>(result, 0, RESULT_RANK);
  if (list === 0) {
    store<i32>(result, (ALLOW << 4) | REASON_NO_GROUP, RESULT_OUTCOME);
    return;
  }
  const merged = google && links > 1 && link >= 0;
  if (!merged) {
    const earliest = max(index - REMEMBERED, 0);
    for (let i = index - 1; i >= earliest; i--) {
      const earlier = result - <usize>(index - i) * RESULT_OCTETS;
      if (<usize>load<u32>(earlier, RESULT_LIST) === list) {
        store<u64>(result, load<u64>(earlier, RESULT_OUTCOME), RESULT_OUTCOME);
        store<u64>(result, load<u64>(earlier, RESULT_RANK), RESULT_RANK);
        return;
      }
    }
  }
  grantBudget(end - path);
  let affordable = consider(result, table, table + list, path, end);
  if (merged) {
    // google/robotstxt merges all groups that name any of the chain's tokens; such a result is no other agent's.
    store<u32>(result, 0, RESULT_LIST);
    const chain: usize = load<u32>(agent, AGENT_CHAIN);
    for (let i = link + 1; affordable && i < links; i++) {
      const further = groupsOf(robots, load<i32>(chain + <usize>i * CHAIN_OCTETS));
      if (further !== 0) affordable = consider(result, table, table + further, path, end);
    }
  }
  if (!affordable) {
    store<i32>(result, 0, RESULT_RANK);
    store<i32>(result, (DENY << 4) | REASON_OVER_BUDGET, RESULT_OUTCOME);
    return;
  }
  const rank = load<i32>(result, RESULT_RANK);
  let outcome = (ALLOW << 4) | REASON_NO_RULE;
  if (rank !== 0) outcome = ((rank & 1) !== 0 ? ALLOW << 4 : DENY << 4) | REASON_RULE;
  store<i32>(result, outcome, RESULT_OUTCOME);
}

/** Start of the list of groups that name the token, 0 if none does. Binary search by number; `*` can only be the first. */
function groupsOf(robots: usize, token: i32): usize {
  const count = load<i32>(robots, 4);
  if (count === 0) return 0;
  let at = robots + ROBOTS_FIXED_OCTETS;
  if (token !== TOKEN_ANY) {
    // The last number that is not greater, or the first. No branch depends on what is compared.
    let numbers = count;
    while (numbers > 1) {
      const half = numbers >> 1;
      at += load<i32>(at + <usize>half * 4) <= token ? <usize>half * 4 : 0;
      numbers -= half;
    }
  }
  return load<i32>(at) === token ? <usize>load<u32>(at + <usize>count * 4) : 0;
}

/**
 * Matches the path against the groups of a list; a rule that wins over the one in `result` replaces it. Returns false if the budget
 * was not enough, and then nothing is known.
 */
function consider(result: usize, table: usize, list: usize, path: usize, end: usize): bool {
  let groups = load<i32>(list);
  list += 4;
  for (; groups > 0; groups--) {
    const offset = load<u32>(list);
    const lines = table + load<u32>(list, 4);
    list += 8;
    if (offset === 0) continue;
    const automaton = table + offset;
    const rank = match(automaton, path, end);
    if (rank === OVER_BUDGET) return false;
    if (rank === 0) continue;
    if (load<i32>(result, RESULT_RANK) !== 0) {
      const held = load<u32>(result, RESULT_AUTOMATON);
      const heldRank = load<i32>(result, RESULT_RANK);
      const precedence = (specificity(automaton, rank) << 1) | (rank & 1);
      const heldPrecedence = (specificity(held, heldRank) << 1) | (heldRank & 1);
      if (precedence < heldPrecedence) continue;
      if (precedence === heldPrecedence && lineOf(lines, rank) >= ruleLine(result)) continue;
    }
    store<u32>(result, automaton, RESULT_AUTOMATON);
    store<i32>(result, rank, RESULT_RANK);
    store<u32>(result, lines, RESULT_LINES);
  }
  return true;
}

/** Number of the line of the rule that decided a result. */
export function ruleLine(result: usize): u32 {
  return lineOf(load<u32>(result, RESULT_LINES), load<i32>(result, RESULT_RANK));
}

/** Number of the line of the rule with this rank. */
function lineOf(lines: usize, rank: i32): u32 {
  const index: usize = (rank >> 1) - 1;
  return load<u32>(lines) === 2
    ? <u32>load<u16>(lines + 4 + index * 2)
    : load<u32>(lines + 4 + index * 4);
}
