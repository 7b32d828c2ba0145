/**
 * From a robots record and the agents of a query to outcomes (RFC 9309 sections 2.2.1 and 2.3.1).
 */

import {
  ACCESS_SUCCESSFUL,
  ACCESS_UNAVAILABLE,
  GROUP_LINE,
  GROUP_OCTETS,
  ROBOTS_ACCESS,
  ROBOTS_WIDE,
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
  RESULT_FORM,
  RESULT_LINE,
  RESULT_LINK,
  RESULT_LIST,
  RESULT_OCTETS,
  RESULT_OUTCOME,
  RESULT_PATH,
  RESULT_PREFIX,
  RESULT_RANK,
  RESULT_SOURCE,
  WORKER_RESULTS,
} from '../layout';
import {
  chargeGroup,
  grantBudget,
  isSpent,
  match,
  matchedForm,
  matchedLine,
  matchedPrefix,
  OVER_BUDGET,
} from './match';

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
 * Judges the path `path`–`end` by the robots record at `robots` in the table, for every agent of
 * the query; `list` and `link` are what `resolveGroups` says for the first.
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
  const access = <i32>load<u8>(table + robots) & ROBOTS_ACCESS;
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
  const any = agents > 1 ? groupsOfAny(table, robots) : 0;
  let agent: usize = load<u32>(query, QUERY_AGENTS);
  let result = worker + WORKER_RESULTS;
  for (let i = 0; i < agents; i++) {
    if (i > 0) {
      list = resolveGroups(agent, table, robots, any);
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

/** Start of the list of the groups of `*`; 0 if there are none. */
export function groupsOfAny(table: usize, robots: usize): usize {
  return groupsOf(table, robots, TOKEN_ANY);
}

/**
 * Start of the list of groups that an agent obeys: those of the first product token of its chain
 * that some group names, else `any`, those of `*`; 0 if there are none. No branch depends on which
 * it is.
 */
export function resolveGroups(agent: usize, table: usize, robots: usize, any: usize): usize {
  const chain: usize = load<u32>(agent, AGENT_CHAIN);
  let list = any;
  let followed = -1;
  for (let link = load<i32>(agent, AGENT_CHAIN_COUNT) - 1; link >= 0; link--) {
    const token = load<i32>(chain + <usize>link * CHAIN_OCTETS);
    const named = token === TOKEN_ANY ? any : groupsOf(table, robots, token);
    list = select(named, list, named !== 0);
    followed = select(link, followed, named !== 0);
  }
  groupsLink = followed;
  return list;
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
        store<u64>(result, load<u64>(earlier, RESULT_FORM), RESULT_FORM);
        store<u32>(result, load<u32>(earlier, RESULT_PATH), RESULT_PATH);
        return;
      }
    }
  }
  grantBudget(end - path);
  let affordable = consider(result, table, table + list, path, end);
  if (merged) {
    // google/robotstxt merges all groups that name any of the chain's tokens; such a result is no
    // other agent's.
    store<u32>(result, 0, RESULT_LIST);
    const chain: usize = load<u32>(agent, AGENT_CHAIN);
    for (let i = link + 1; affordable && i < links; i++) {
      const further = groupsOf(table, robots, load<i32>(chain + <usize>i * CHAIN_OCTETS));
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

/** Start of the list of groups that name the token, 0 if none does. */
function groupsOf(table: usize, robots: usize, token: i32): usize {
  const record = table + robots;
  const list =
    (load<u8>(record) & ROBOTS_WIDE) === 0
      ? listOf<u16>(record + 1, token)
      : listOf<u32>(record + 1, token);
  return select(robots + list, 0, list !== 0);
}

/** Product tokens that are compared at once: the groups of most files name no more. */
const TOKENS_AT_ONCE: i32 = 16;

/**
 * The same by a record's numbers, from the record's start; the list cannot start there. Reads up to
 * 132 octets past the numbers.
 */
function listOf<T>(fields: usize, token: i32): usize {
  const count = <i32>load<T>(fields);
  const numbers = fields + sizeof<T>();
  // Of more, by halves, the last that are not greater, or the first.
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
 * At which of 16 numbers of two octets the token's is, the first lowest. None of them is 0xffff: so
 * -1, of a token that no robots.txt names, is none of them.
 */
function places16(numbers: usize, token: i32): i32 {
  const wanted = i16x8.splat(<i16>token);
  const low = i16x8.bitmask(i16x8.eq(v128.load(numbers), wanted));
  const high = i16x8.bitmask(i16x8.eq(v128.load(numbers, 16), wanted));
  return low | (high << 8);
}

/** The same of four octets. */
function places32(numbers: usize, token: i32): i32 {
  const wanted = i32x4.splat(token);
  const a = i32x4.bitmask(i32x4.eq(v128.load(numbers), wanted));
  const b = i32x4.bitmask(i32x4.eq(v128.load(numbers, 16), wanted));
  const c = i32x4.bitmask(i32x4.eq(v128.load(numbers, 32), wanted));
  const d = i32x4.bitmask(i32x4.eq(v128.load(numbers, 48), wanted));
  return a | (b << 4) | (c << 8) | (d << 12);
}

/**
 * Matches the path against the groups of a list; a rule that wins over the one in `result` replaces
 * it. Returns false if the budget was not enough, and then nothing is known.
 */
function consider(result: usize, table: usize, list: usize, path: usize, end: usize): bool {
  for (let followed = true; followed; list += GROUP_OCTETS) {
    const offset = load<u32>(list);
    const lines = load<u32>(list, GROUP_LINE);
    followed = (lines & 1) !== 0;
    // A first group is always affordable: one that is alone, as most are, asks for no budget here.
    if (followed && isSpent()) return false;
    if (offset === 0) {
      chargeGroup();
      continue;
    }
    const automaton = table + offset;
    const rank = match(automaton, path, end);
    if (rank === OVER_BUDGET) return false;
    const held = load<i32>(result, RESULT_RANK);
    if (rank === 0 || rank < held) continue;
    const line = (lines >> 1) + matchedLine;
    if (rank === held && line >= load<u32>(result, RESULT_LINE)) continue;
    store<u32>(result, automaton, RESULT_AUTOMATON);
    store<i32>(result, rank, RESULT_RANK);
    store<u32>(result, line, RESULT_LINE);
    store<u32>(result, matchedForm, RESULT_FORM);
    store<i32>(result, matchedPrefix, RESULT_PREFIX);
    store<u32>(result, path, RESULT_PATH);
  }
  return true;
}
