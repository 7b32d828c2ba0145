/**
 * What a URL's content may be used for: the answers of the agents that are asked about uses, after
 * the verdicts of all agents are known. Signals are groups of rules (protocol/signals.ts).
 */

import { ACCESS_SUCCESSFUL, ROBOTS_ACCESS } from '../../table/format';
import {
  ALLOW,
  DENY,
  INVALID,
  QUERY_EVER,
  QUERY_GOOGLE,
  REASON_BITS,
  REASON_CONTENT_USAGE,
  REASON_NO_SIGNAL,
  REASON_NOT_ALLOWED,
  REASON_OVER_BUDGET,
  REASON_POLICY_TOKEN,
  UNKNOWN,
} from '../layout';
import { consider, isRobotsTxt } from './decide';
import { firstVersion, hasHistory, knownBefore } from './hosts';
import { groupsOf, groupsOfAny, resolveGroups } from './look-up';
import { grantBudget } from './match';
import { Agent, elementOf, Line, nextOf, PENDING, Query, Result, Signal, Worker } from './memory';

const UNSTATED: i32 = (UNKNOWN << REASON_BITS) | REASON_NO_SIGNAL;
const NOT_ALLOWED: i32 = (INVALID << REASON_BITS) | REASON_NOT_ALLOWED;

/** Leaves an answer for each agent that is asked about a use, after `decide`. */
export function decideUses(query: Query, worker: Worker, line: Line): void {
  // `decide` has given these agents the outcome of a record without a valid URL.
  if (line.outcome !== PENDING) return;
  const agents = query.agentCount;
  const first = query.firstUse;
  let agent = elementOf(query.agents, first);
  let result = elementOf(worker.results, first);
  for (let i = first; i < agents; i++) {
    result.rank = 0;
    result.groupsList = 0;
    const verdict = elementOf(worker.results, agent.of);
    result.source = verdict.source;
    result.version = verdict.version;
    if (verdict.outcome >> REASON_BITS !== ALLOW) {
      result.outcome = NOT_ALLOWED;
    } else if (line.robots === 0) {
      result.outcome = UNSTATED;
      result.source = 0;
    } else if (agent.signalCount === 0) {
      // No robots.txt of the table has any of the signals.
      result.outcome = UNSTATED;
    } else if ((query.flags & QUERY_EVER) !== 0) {
      answerByAll(query, line, agent, result);
    } else {
      answer(query, line, line.robots, agent, result);
    }
    agent = nextOf(agent);
    result = nextOf(result);
  }
}

/**
 * Answers by all versions of the line's robots.txt, of which `line.version` is the newest: refused
 * if any version refuses, and the newest such version explains. Otherwise the newest counts.
 */
function answerByAll(query: Query, line: Line, agent: Agent, result: Result): void {
  const newest = line.version;
  const authority = line.authority;
  const table = query.table;
  result.version = newest;
  answer(query, line, line.robots, agent, result);
  if (authority === 0 || !hasHistory(authority)) return;
  const first = firstVersion(table, authority);
  let version = newest;
  while (result.outcome >> REASON_BITS !== DENY) {
    version = knownBefore(table, first, version);
    if (version === 0) {
      if (result.version !== newest) {
        result.version = newest;
        answer(query, line, line.robots, agent, result);
      }
      return;
    }
    result.version = version;
    answer(query, line, load<u32>(version), agent, result);
  }
}

/** Answers by the robots record at `robots`. */
function answer(query: Query, line: Line, robots: usize, agent: Agent, result: Result): void {
  const table = query.table;
  result.outcome = UNSTATED;
  result.rank = 0;
  result.groupsList = 0;
  if ((<i32>load<u8>(table + robots) & ROBOTS_ACCESS) !== ACCESS_SUCCESSFUL) return;
  resolveGroups(agent, table, robots, groupsOfAny(table, robots), result.groups);
  const hasGroups = result.groupsList !== 0;
  const link = result.groupsLink;
  result.groupsList = 0;
  grantBudget(line.textEnd - line.text);
  let granted: Signal = changetype<Signal>(0);
  let first = v128.splat<i32>(0);
  let second = v128.splat<i32>(0);
  let signal = agent.signals;
  for (let left = agent.signalCount; left > 0; left--) {
    result.rank = 0;
    const says = statement(query, line, robots, agent, signal, hasGroups, link, result);
    // A rule without a line stands for more signals than are counted (protocol/signals.ts).
    const isBeyond = says === DENY && result.line === 0 && signal.reason !== REASON_POLICY_TOKEN;
    if (says === DENY && !isBeyond) {
      result.outcome = (DENY << REASON_BITS) | signal.reason;
      result.groupsList = changetype<usize>(signal);
      return;
    }
    if (says === OVER || isBeyond) {
      result.rank = 0;
      result.outcome = (DENY << REASON_BITS) | REASON_OVER_BUDGET;
      return;
    }
    if (says === ALLOW && changetype<usize>(granted) === 0) {
      granted = signal;
      first = v128.load(changetype<usize>(result));
      second = v128.load(changetype<usize>(result), 16);
    }
    signal = nextOf(signal);
  }
  result.rank = 0;
  if (changetype<usize>(granted) === 0) return;
  // The rule that grants, as it was before the other signals were asked.
  v128.store(changetype<usize>(result), first);
  v128.store(changetype<usize>(result), second, 16);
  result.outcome = (ALLOW << REASON_BITS) | granted.reason;
  result.groupsList = changetype<usize>(granted);
}

/** The budget was not enough. */
const OVER: i32 = -1;

/**
 * What a signal says about the line's path: ALLOW if it grants, DENY if it refuses, UNKNOWN if it
 * says nothing, or OVER.
 *
 * @param hasGroups whether any groups of the robots.txt are for the agent
 * @param link the link of the chain that they name, -1 for `*`
 */
function statement(
  query: Query,
  line: Line,
  robots: usize,
  agent: Agent,
  signal: Signal,
  hasGroups: bool,
  link: i32,
  result: Result,
): i32 {
  const table = query.table;
  const tokens = signal.tokens;
  if (signal.reason === REASON_POLICY_TOKEN) {
    const list = listAt(table, robots, tokens, 0);
    if (list === 0) return UNKNOWN;
    const isGoogle = (query.flags & QUERY_GOOGLE) !== 0;
    if (!isGoogle && isRobotsTxt(line.text, line.textEnd)) return ALLOW;
    if (!consider(line, result, table, list)) return OVER;
    // A group that has no rule for the path allows.
    return result.rank === 0 || (result.rank & 1) !== 0 ? ALLOW : DENY;
  }
  const links = agent.chainCount;
  if (hasGroups) {
    // google/robotstxt merges all groups that name any of the chain's tokens.
    const isMerged = (query.flags & QUERY_GOOGLE) !== 0 && link >= 0;
    const from = link < 0 ? links : link;
    const to = isMerged ? links : from + 1;
    let longest: i32 = 0;
    if (signal.reason === REASON_CONTENT_USAGE) {
      const ofAnyKey = tokens + ((<usize>(links + 2)) << 2);
      if (!considerAll(line, robots, table, ofAnyKey, from, to, result)) return OVER;
      longest = result.rank;
      result.rank = 0;
    }
    if (!considerAll(line, robots, table, tokens, from, to, result)) return OVER;
    // A line with a longer path counts, and does not say anything about this key.
    if (result.rank < longest) return UNKNOWN;
  }
  const ofEveryone = listAt(table, robots, tokens, links + 1);
  if (ofEveryone !== 0) {
    const held = result.rank;
    const heldLine = result.line;
    if (!consider(line, result, table, ofEveryone)) return OVER;
    // Such a line stands in no group, so the agent's own is not the one to name.
    if (result.rank !== held || result.line !== heldLine) result.groupsLink = -1;
  }
  if (result.rank === 0) return UNKNOWN;
  return (result.rank & 1) !== 0 ? DENY : ALLOW;
}

/**
 * Start of the list of the groups that a number of `tokens` names, 0 if there are none. Most tables
 * do not have most of these names, and that is the same for every line.
 */
function listAt(table: usize, robots: usize, tokens: usize, at: i32): usize {
  const token = load<i32>(tokens + ((<usize>at) << 2));
  return token < 0 ? 0 : groupsOf(table, robots, token);
}

/** Considers the groups of several tokens of `tokens`; false if the budget was not enough. */
function considerAll(
  line: Line,
  robots: usize,
  table: usize,
  tokens: usize,
  from: i32,
  to: i32,
  result: Result,
): bool {
  for (let at = from; at < to; at++) {
    const list = listAt(table, robots, tokens, at);
    if (list !== 0 && !consider(line, result, table, list)) return false;
  }
  return true;
}
