/**
 * The last phase of a line (RFC 9309 sections 2.2.1 and 2.3.1): the line's robots record and the
 * query's agents give a result for each agent.
 */

import {
  ACCESS_SUCCESSFUL,
  ACCESS_UNAVAILABLE,
  GROUP_BYTES,
  GROUP_LINE,
  ROBOTS_ACCESS,
} from '../../../table/format';
import {
  AGENT_BYTES,
  AGENT_CHAIN,
  AGENT_CHAIN_COUNT,
  ALLOW,
  CHAIN_BYTES,
  CHAIN_TOKEN,
  DENY,
  GROUPS_LINK,
  GROUPS_LIST,
  LINE_AUTHORITY,
  LINE_GROUPS,
  LINE_OUTCOME,
  LINE_ROBOTS,
  LINE_TEXT,
  LINE_TEXT_END,
  MATCH_FORM,
  MATCH_LINE,
  MATCH_PREFIX,
  QUERY_AGENT_COUNT,
  QUERY_AGENTS,
  QUERY_FLAGS,
  QUERY_GOOGLE,
  QUERY_TABLE,
  QUERY_UNKNOWN,
  REASON_NO_GROUP,
  REASON_NO_RULE,
  REASON_OVER_BUDGET,
  REASON_ROBOTS_TXT,
  REASON_RULE,
  REASON_UNAVAILABLE,
  REASON_UNKNOWN_HOST,
  REASON_UNREACHABLE,
  RESULT_AUTOMATON,
  RESULT_BYTES,
  RESULT_FORM,
  RESULT_GROUPS,
  RESULT_LINE,
  RESULT_MATCH,
  RESULT_OUTCOME,
  RESULT_PATH,
  RESULT_PREFIX,
  RESULT_RANK,
  RESULT_SOURCE,
  WORKER_RESULTS,
} from '../../layout';
import { DOT_TXT, OTS_DOT, SLASH_ROB } from '../bytes/words';
import { PENDING } from '../memory/line';
import { prepareGooglePath, preparePath } from '../url/path';
import { charge, GROUP_COST, grantBudget, isSpent, OVER_BUDGET } from './budget';
import { groupsOf, groupsOfAny, resolveGroups } from './groups';
import { match } from './match';

/**
 * Leaves a result for each agent in the worker block. `scratch` has the room that `preparePath`
 * asks for.
 */
export function decide(query: usize, worker: usize, line: usize, scratch: usize): void {
  const outcome = load<i32>(line, LINE_OUTCOME);
  if (outcome !== PENDING) {
    giveOutcome(query, worker, outcome, 0);
    return;
  }
  if (load<u32>(line, LINE_ROBOTS) === 0) {
    giveOutcome(query, worker, (load<i32>(query, QUERY_UNKNOWN) << 4) | REASON_UNKNOWN_HOST, 0);
    return;
  }
  if (isGoogle(query)) prepareGooglePath(line, scratch);
  else preparePath(line, scratch);
  decideByRobots(query, worker, line);
}

function isGoogle(query: usize): bool {
  return (load<u32>(query, QUERY_FLAGS) & QUERY_GOOGLE) !== 0;
}

/** Gives every agent the same outcome. */
function giveOutcome(query: usize, worker: usize, outcome: i32, source: usize): void {
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  let result = worker + WORKER_RESULTS;
  for (let i = 0; i < agents; i++) {
    store<i32>(result, outcome, RESULT_OUTCOME);
    store<i32>(result, 0, RESULT_RANK);
    store<u32>(result, source, RESULT_SOURCE);
    result += RESULT_BYTES;
  }
}

/** `/robots.txt`, exactly: implicitly allowed (RFC 9309 section 2.2.2). */
function isRobotsTxt(path: usize, end: usize): bool {
  return (
    end - path === 11 &&
    load<i32>(path) === SLASH_ROB &&
    load<i32>(path, 4) === OTS_DOT &&
    load<i32>(path, 7) === DOT_TXT
  );
}

/** Decides about the line's path by the line's robots record, for every agent of the query. */
function decideByRobots(query: usize, worker: usize, line: usize): void {
  const table: usize = load<u32>(query, QUERY_TABLE);
  const robots: usize = load<u32>(line, LINE_ROBOTS);
  const source: usize = load<u32>(line, LINE_AUTHORITY);
  const access = <i32>load<u8>(table + robots) & ROBOTS_ACCESS;
  if (!isGoogle(query) && isRobotsTxt(load<u32>(line, LINE_TEXT), load<u32>(line, LINE_TEXT_END))) {
    giveOutcome(query, worker, (ALLOW << 4) | REASON_ROBOTS_TXT, source);
    return;
  }
  if (access !== ACCESS_SUCCESSFUL) {
    const outcome =
      access === ACCESS_UNAVAILABLE
        ? (ALLOW << 4) | REASON_UNAVAILABLE
        : (DENY << 4) | REASON_UNREACHABLE;
    giveOutcome(query, worker, outcome, source);
    return;
  }
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  const any = agents > 1 ? groupsOfAny(table, robots) : 0;
  let agent: usize = load<u32>(query, QUERY_AGENTS);
  let result = worker + WORKER_RESULTS;
  for (let i = 0; i < agents; i++) {
    // The first agent's groups are known from the look-up.
    if (i === 0) store<u64>(result, load<u64>(line, LINE_GROUPS), RESULT_GROUPS);
    else resolveGroups(agent, table, robots, any, result + RESULT_GROUPS);
    decideForAgent(query, line, agent, result, i);
    store<u32>(result, source, RESULT_SOURCE);
    agent += AGENT_BYTES;
    result += RESULT_BYTES;
  }
}

/**
 * Fills in the result of the agent with this index. RESULT_GROUPS has the groups that the agent
 * obeys.
 */
function decideForAgent(query: usize, line: usize, agent: usize, result: usize, index: i32): void {
  const links = load<i32>(agent, AGENT_CHAIN_COUNT);
  const link = load<i32>(result, RESULT_GROUPS + GROUPS_LINK);
  const list: usize = load<u32>(result, RESULT_GROUPS + GROUPS_LIST);
  store<i32>(result, 0, RESULT_RANK);
  if (list === 0) {
    store<i32>(result, (ALLOW << 4) | REASON_NO_GROUP, RESULT_OUTCOME);
    return;
  }
  // google/robotstxt merges all groups that name any of the chain's tokens.
  const merged = isGoogle(query) && links > 1 && link >= 0;
  if (!merged && isDecidedBefore(result, index, list)) return;
  grantBudget(load<u32>(line, LINE_TEXT_END) - load<u32>(line, LINE_TEXT));
  const table: usize = load<u32>(query, QUERY_TABLE);
  let affordable = consider(line, result, table, list);
  if (merged) {
    // No other agent shares such a result.
    store<u32>(result, 0, RESULT_GROUPS + GROUPS_LIST);
    const robots: usize = load<u32>(line, LINE_ROBOTS);
    const chain: usize = load<u32>(agent, AGENT_CHAIN);
    for (let i = link + 1; affordable && i < links; i++) {
      const token = load<i32>(chain + <usize>i * CHAIN_BYTES, CHAIN_TOKEN);
      const further = groupsOf(table, robots, token);
      if (further !== 0) affordable = consider(line, result, table, further);
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

/** How many earlier agents are searched for one with the same groups. */
const REMEMBERED: i32 = 8;

/**
 * Copies the result of an earlier agent with the same list of groups; returns false if there is no
 * such agent. The two vectors are RESULT_SHARED_BYTES.
 */
function isDecidedBefore(result: usize, index: i32, list: usize): bool {
  const earliest = max(index - REMEMBERED, 0);
  for (let i = index - 1; i >= earliest; i--) {
    const earlier = result - <usize>(index - i) * RESULT_BYTES;
    if (<usize>load<u32>(earlier, RESULT_GROUPS + GROUPS_LIST) !== list) continue;
    v128.store(result, v128.load(earlier));
    v128.store(result, v128.load(earlier, 16), 16);
    return true;
  }
  return false;
}

/**
 * Matches the line's path against the groups of a list; a rule that wins over the rule in `result`
 * replaces it. Returns false if the budget was not enough: then `result` is undefined.
 */
function consider(line: usize, result: usize, table: usize, list: usize): bool {
  const path: usize = load<u32>(line, LINE_TEXT);
  const end: usize = load<u32>(line, LINE_TEXT_END);
  const found = result + RESULT_MATCH;
  let group = table + list;
  for (let followed = true; followed; group += GROUP_BYTES) {
    const offset = load<u32>(group);
    const lines = load<u32>(group, GROUP_LINE);
    followed = (lines & 1) !== 0;
    // The first group is always affordable, so a single group is matched without asking.
    if (followed && isSpent()) return false;
    if (offset === 0) {
      charge(GROUP_COST);
      continue;
    }
    const automaton = table + offset;
    const rank = match(automaton, path, end, found);
    if (rank === OVER_BUDGET) return false;
    const held = load<i32>(result, RESULT_RANK);
    if (rank === 0 || rank < held) continue;
    const ruleLine = (lines >> 1) + load<u32>(found, MATCH_LINE);
    if (rank === held && ruleLine >= load<u32>(result, RESULT_LINE)) continue;
    store<u32>(result, automaton, RESULT_AUTOMATON);
    store<i32>(result, rank, RESULT_RANK);
    store<u32>(result, ruleLine, RESULT_LINE);
    store<u32>(result, load<u32>(found, MATCH_FORM), RESULT_FORM);
    store<u32>(result, load<u32>(found, MATCH_PREFIX), RESULT_PREFIX);
    store<u32>(result, path, RESULT_PATH);
  }
  return true;
}
