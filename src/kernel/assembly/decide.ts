/**
 * The last phase of a line (RFC 9309 sections 2.2.1 and 2.3.1): the line's robots record and the
 * query's agents give a result for each agent.
 */

import {
  BACKSLASH,
  COLON,
  CR,
  DIGIT_2,
  DOT,
  HASH,
  LF,
  LOWER_CASE_BIT,
  LOWER_E,
  PERCENT,
  QUESTION_MARK,
  SEMICOLON,
  SLASH,
  TAB,
} from '../../base/ascii';
import { ACCESS_SUCCESSFUL, GROUP_BYTES, GROUP_LINE, ROBOTS_ACCESS } from '../../table/format';
import {
  ALLOW,
  CHAIN_BYTES,
  CHAIN_TOKEN,
  COPY_MARGIN,
  DENY,
  FORMAT_LOG,
  QUERY_EVER,
  QUERY_GOOGLE,
  REASON_BITS,
  REASON_NO_GROUP,
  REASON_NO_RULE,
  REASON_OVER_BUDGET,
  REASON_ROBOTS_TXT,
  REASON_RULE,
  REASON_UNKNOWN_HOST,
  REMEMBERED_AUTOMATON,
  REMEMBERED_OUTCOME,
} from '../layout';
import { copyShort, DOT_TXT, findByte, OTS_DOT, SLASH_ROB, SLASH_SLASH, splat } from './bytes';
import { canonicalise } from './canonical';
import { firstVersion, hasHistory, knownBefore } from './hosts';
import { groupsOf, groupsOfAny, outcomeOfAccess, resolveGroups } from './look-up';
import { charge, GROUP_COST, grantBudget, isSpent, match, OVER_BUDGET } from './match';
import {
  Agent,
  claimScratch,
  elementOf,
  Line,
  nextOf,
  PENDING,
  Query,
  Result,
  Worker,
} from './memory';
import { dropWhiteSpace, holdsDropped, isSlash } from './url';

/**
 * Leaves a result for each agent in the worker block. `scratch` has the room that `preparePath`
 * asks for.
 */
export function decide(query: Query, worker: Worker, line: Line, scratch: usize): void {
  const outcome = line.outcome;
  if (outcome !== PENDING) {
    giveOutcome(query, worker, outcome, 0, 0, false);
    return;
  }
  if (line.robots === 0) {
    const found = line.remembered;
    const unknown = (query.unknown << REASON_BITS) | REASON_UNKNOWN_HOST;
    giveOutcome(query, worker, found === 0 ? unknown : found - REMEMBERED_OUTCOME, 0, 0, false);
    return;
  }
  if (isGoogle(query)) prepareGooglePath(query, line, scratch);
  else preparePath(line, scratch);
  if (line.remembered !== 0) decideByMemory(query, worker, line);
  else if ((query.flags & QUERY_EVER) !== 0) decideByAll(query, worker, line);
  else decideByVersion(query, worker, line, line.version, false);
}

/**
 * Decides about the line's path by all versions of the line's robots.txt, of which `line.version`
 * is the newest: an agent is denied if any version denies, and the newest such version explains.
 * Otherwise the newest version counts. The work is that of one decision for each version.
 */
function decideByAll(query: Query, worker: Worker, line: Line): void {
  const newest = line.version;
  decideByVersion(query, worker, line, newest, false);
  const authority = line.authority;
  if (authority === 0 || !hasHistory(authority)) return;
  const table = query.table;
  const first = firstVersion(table, authority);
  let version = knownBefore(table, first, newest);
  if (version === 0) return;
  for (; version !== 0; version = knownBefore(table, first, version)) {
    if (isDeniedForAll(query, worker)) return;
    decideByVersion(query, worker, line, version, true);
  }
  decideByVersion(query, worker, line, newest, true);
}

function isDeniedForAll(query: Query, worker: Worker): bool {
  let result = worker.results;
  for (let i = query.firstUse; i > 0; i--) {
    if (!isDenied(result)) return false;
    result = nextOf(result);
  }
  return true;
}

function isDenied(result: Result): bool {
  return result.outcome >> REASON_BITS === DENY;
}

/**
 * Decides about the line's path by what the query's only agent found at its host before. Without
 * google profile, explanation and counters of rules nothing else is read of the result.
 */
function decideByMemory(query: Query, worker: Worker, line: Line): void {
  const path = line.text;
  const end = line.textEnd;
  const remembered = line.remembered;
  const result = worker.results;
  result.rank = 0;
  if (isRobotsTxt(path, end)) {
    result.outcome = (ALLOW << REASON_BITS) | REASON_ROBOTS_TXT;
  } else if (remembered < <u32>REMEMBERED_AUTOMATON) {
    result.outcome = remembered - REMEMBERED_OUTCOME;
  } else {
    grantBudget(end - path);
    const rank = match(query.table + remembered, path, end, result.match);
    result.rank = max(rank, 0);
    result.outcome = outcomeOf(rank);
  }
}

/** The outcome of a path by the rank of the rule that decides. */
function outcomeOf(rank: i32): i32 {
  if (rank === 0) return (ALLOW << REASON_BITS) | REASON_NO_RULE;
  if (rank === OVER_BUDGET) return (DENY << REASON_BITS) | REASON_OVER_BUDGET;
  return ((rank & 1) !== 0 ? ALLOW << REASON_BITS : DENY << REASON_BITS) | REASON_RULE;
}

function isGoogle(query: Query): bool {
  return (query.flags & QUERY_GOOGLE) !== 0;
}

/**
 * Gives every agent the same outcome. What uses are granted, `decideUses` says later.
 *
 * @param source as in Result, with the version
 * @param keepsDenied whether agents that are denied keep their outcome
 */
function giveOutcome(
  query: Query,
  worker: Worker,
  outcome: i32,
  source: usize,
  version: usize,
  keepsDenied: bool,
): void {
  const agents = query.agentCount;
  let result = worker.results;
  for (let i = 0; i < agents; i++) {
    if (!keepsDenied || !isDenied(result)) {
      result.outcome = outcome;
      result.rank = 0;
      // No other agent shares this result, in whichever version.
      result.groupsList = 0;
      result.source = source;
      result.version = version;
    }
    result = nextOf(result);
  }
}

/** `/robots.txt`, exactly: implicitly allowed (RFC 9309 section 2.2.2). */
export function isRobotsTxt(path: usize, end: usize): bool {
  return (
    end - path === 11 &&
    load<i32>(path) === SLASH_ROB &&
    load<i32>(path, 4) === OTS_DOT &&
    load<i32>(path, 7) === DOT_TXT
  );
}

/**
 * Decides about the line's path by a version of the line's robots.txt, for every agent of the
 * query.
 *
 * @param keepsDenied whether agents that are denied keep their result
 */
function decideByVersion(
  query: Query,
  worker: Worker,
  line: Line,
  version: usize,
  keepsDenied: bool,
): void {
  const table = query.table;
  const isFound = version === line.version;
  const robots = isFound ? line.robots : <usize>load<u32>(version);
  const source = line.authority;
  const access = <i32>load<u8>(table + robots) & ROBOTS_ACCESS;
  if (!isGoogle(query) && isRobotsTxt(line.text, line.textEnd)) {
    giveOutcome(
      query,
      worker,
      (ALLOW << REASON_BITS) | REASON_ROBOTS_TXT,
      source,
      version,
      keepsDenied,
    );
    return;
  }
  if (access !== ACCESS_SUCCESSFUL) {
    giveOutcome(query, worker, outcomeOfAccess(access), source, version, keepsDenied);
    return;
  }
  const agents = query.firstUse;
  const any = agents > 1 || !isFound ? groupsOfAny(table, robots) : 0;
  let agent = query.agents;
  let result = worker.results;
  for (let i = 0; i < agents; i++) {
    if (!keepsDenied || !isDenied(result)) {
      // The first agent's groups are known from the look-up.
      if (i === 0 && isFound) {
        result.groupsList = line.groupsList;
        result.groupsLink = line.groupsLink;
      } else {
        resolveGroups(agent, table, robots, any, result.groups);
      }
      decideForAgent(query, line, robots, agent, result, i);
      result.source = source;
      result.version = version;
    }
    agent = nextOf(agent);
    result = nextOf(result);
  }
}

/**
 * Fills in the result of the agent with this index. RESULT_GROUPS has the groups that the agent
 * obeys.
 */
function decideForAgent(
  query: Query,
  line: Line,
  robots: usize,
  agent: Agent,
  result: Result,
  index: i32,
): void {
  const links = agent.chainCount;
  const link = result.groupsLink;
  const list = result.groupsList;
  result.rank = 0;
  if (list === 0) {
    result.outcome = (ALLOW << REASON_BITS) | REASON_NO_GROUP;
    return;
  }
  // google/robotstxt merges all groups that name any of the chain's tokens.
  const merged = isGoogle(query) && links > 1 && link >= 0;
  if (!merged && isDecidedBefore(result, index, list)) return;
  grantBudget(line.textEnd - line.text);
  const table = query.table;
  let affordable = consider(line, result, table, list);
  if (merged) {
    // No other agent shares such a result.
    result.groupsList = 0;
    const chain = agent.chain;
    for (let i = link + 1; affordable && i < links; i++) {
      const token = load<i32>(chain + <usize>i * CHAIN_BYTES, CHAIN_TOKEN);
      const further = groupsOf(table, robots, token);
      if (further !== 0) affordable = consider(line, result, table, further);
    }
  }
  if (!affordable) {
    result.rank = 0;
    result.outcome = (DENY << REASON_BITS) | REASON_OVER_BUDGET;
    return;
  }
  result.outcome = outcomeOf(result.rank);
}

/** How many earlier agents are searched for one with the same groups. */
const REMEMBERED: i32 = 8;

/**
 * Copies the result of an earlier agent with the same list of groups; returns false if there is no
 * such agent. The two vectors are a Result as far as `groupsList`.
 */
function isDecidedBefore(result: Result, index: i32, list: usize): bool {
  const earliest = max(index - REMEMBERED, 0);
  for (let i = index - 1; i >= earliest; i--) {
    const earlier = elementOf(result, i - index);
    if (earlier.groupsList !== list) continue;
    const from = changetype<usize>(earlier);
    const to = changetype<usize>(result);
    v128.store(to, v128.load(from));
    v128.store(to, v128.load(from, 16), 16);
    return true;
  }
  return false;
}

/**
 * Matches the line's path against the groups of a list; a rule that wins over the rule in `result`
 * replaces it. Returns false if the budget was not enough: then `result` is undefined.
 */
export function consider(line: Line, result: Result, table: usize, list: usize): bool {
  const path = line.text;
  const end = line.textEnd;
  const found = result.match;
  let group = table + list;
  for (let followed = true; followed; group += GROUP_BYTES) {
    const offset = load<u32>(group);
    const lineAndFollowed = load<u32>(group, GROUP_LINE);
    followed = (lineAndFollowed & 1) !== 0;
    // The first group is always affordable, so a single group is matched without asking.
    if (followed && isSpent()) return false;
    if (offset === 0) {
      charge(GROUP_COST);
      continue;
    }
    const automaton = table + offset;
    const rank = match(automaton, path, end, found);
    if (rank === OVER_BUDGET) return false;
    const held = result.rank;
    if (rank === 0 || rank < held) continue;
    const ruleLine = (lineAndFollowed >> 1) + found.line;
    if (rank === held && ruleLine >= result.line) continue;
    result.automaton = automaton;
    result.rank = rank;
    result.line = ruleLine;
    result.form = found.form;
    result.prefix = found.prefix;
    result.path = path;
  }
  return true;
}

// ---- Turns the raw path and query of a URL into the text that patterns are compared with (spec
// note C). Dot segments are removed as the WHATWG URL Standard says, and the rest is in canonical
// form. Most paths are canonical already, and are matched in place.

/** Bytes that `copyShort` and `canonicalise` may write after the address that they return. */
const VECTOR_MARGIN: usize = 32;

/** Stores the text that patterns are compared with; readable up to 64 bytes past its end. */
function setText(line: Line, from: usize, end: usize): void {
  line.text = from;
  line.textEnd = end;
}

/**
 * Prepares the path and query of a line. `scratch` has room for four times their bytes and
 * SCRATCH_MARGIN.
 */
function preparePath(line: Line, scratch: usize): void {
  const from = line.path;
  const nonCanonical = line.nonCanonical;
  let end = line.pathEnd;
  if (nonCanonical > from && (nonCanonical === end || load<u8>(nonCanonical) === HASH)) {
    setText(line, from, nonCanonical);
    return;
  }
  end = findByte(HASH, nonCanonical, end);
  if (nonCanonical <= from || mayNeedRewriting(nonCanonical, end)) {
    rewritePath(line, from, end, scratch);
    return;
  }
  claimScratch(scratch, 3 * (end - from) + VECTOR_MARGIN);
  const copied = copyShort(from, <i32>(nonCanonical - from), scratch);
  const inQuery = findByte(QUESTION_MARK, from, nonCanonical) < nonCanonical;
  setText(line, scratch, canonicalise(nonCanonical, end, copied, inQuery));
}

/**
 * Prepares the path and query `from`–`end`, which may hold dot segments, backslashes, or bytes that
 * the URL Standard drops. If the line owns these bytes, they are overwritten, and so may be
 * COPY_MARGIN after them.
 */
function rewritePath(line: Line, from: usize, end: usize, scratch: usize): void {
  let owned = line.owned !== 0;
  if (holdsDropped(from, end)) {
    if (!owned) claimScratch(scratch, end - from + COPY_MARGIN);
    const copy = owned ? from : scratch;
    end = dropWhiteSpace(from, end, copy);
    if (!owned) scratch = end + COPY_MARGIN;
    from = copy;
    owned = true;
  }
  if (!owned) {
    claimScratch(scratch, end - from + 1);
    end = removeDotSegments(from, end, scratch);
    from = scratch;
    scratch = end;
  } else if (from < end && isSlash(load<u8>(from))) {
    // A path that begins with a slash never grows, so it is rewritten in place.
    end = removeDotSegments(from, end, from);
  } else {
    // Make room for the missing slash of the path.
    memory.copy(from + 1, from, end - from);
    end = removeDotSegments(from + 1, end + 1, from);
  }
  claimScratch(scratch, 3 * (end - from) + VECTOR_MARGIN);
  setText(line, scratch, canonicalise(from, end, scratch, false));
}

/**
 * Whether `at`–`end` may hold a dot segment, a backslash, or a byte that the URL Standard drops.
 * Reads 16 bytes past `end`, and one before `at`.
 */
function mayNeedRewriting(at: usize, end: usize): bool {
  while (at < end) {
    const bytes = v128.load(at);
    const dots = v128.or(
      i8x16.eq(bytes, splat(DOT)),
      v128.and(i8x16.eq(bytes, splat(PERCENT)), i8x16.eq(v128.load(at, 1), splat(DIGIT_2))),
    );
    const segments = v128.and(dots, i8x16.eq(v128.load(at - 1), splat(SLASH)));
    const dropped = v128.or(
      i8x16.eq(bytes, splat(CR)),
      v128.or(i8x16.eq(bytes, splat(TAB)), i8x16.eq(bytes, splat(LF))),
    );
    const backslashes = i8x16.eq(bytes, splat(BACKSLASH));
    const found = i8x16.bitmask(v128.or(segments, v128.or(dropped, backslashes)));
    if (found !== 0) return at + <usize>ctz(found) < end;
    at += 16;
  }
  return false;
}

/**
 * Prepares the text that google/robotstxt matches: the URL as given (docs/verdicts.md, google
 * profile, point 8). `scratch` has room for the URL and SCRATCH_MARGIN.
 */
function prepareGooglePath(query: Query, line: Line, scratch: usize): void {
  const url = line.url;
  let end = line.urlEnd;
  const isPath = query.format === FORMAT_LOG && line.path === url;
  const start = end - url >= 2 && load<u16>(url) === SLASH_SLASH && !isPath ? url + 2 : url;
  let from = start;
  // The `://` of a scheme, unless a path, parameters or a query begin before it.
  for (let at = start; at < end; at++) {
    const byte: i32 = load<u8>(at);
    if (byte === SLASH || byte === QUESTION_MARK || byte === SEMICOLON) break;
    if (byte === COLON && end - at >= 3 && load<u16>(at, 1) === SLASH_SLASH) {
      from = at + 3;
      break;
    }
  }
  while (from < end) {
    const byte: i32 = load<u8>(from);
    if (byte === SLASH || byte === QUESTION_MARK || byte === SEMICOLON) break;
    from++;
  }
  const fragment = findByte(HASH, start, end);
  if (fragment < from) from = end;
  else end = fragment;
  const nul = findByte(0, from, end);
  if (from < end && load<u8>(from) === SLASH) {
    setText(line, from, nul);
    return;
  }
  claimScratch(scratch, nul - from + 1);
  store<u8>(scratch, SLASH);
  memory.copy(scratch + 1, from, nul - from);
  setText(line, scratch, scratch + 1 + (nul - from));
}

/** 1 for the segment `.`, 2 for `..`, 0 for any other; `%2e` is a dot. */
function dotsOf(from: usize, end: usize): i32 {
  let dots = 0;
  while (from < end) {
    if (load<u8>(from) === DOT) {
      from++;
    } else if (
      end - from >= 3 &&
      load<u8>(from) === PERCENT &&
      load<u8>(from, 1) === DIGIT_2 &&
      (load<u8>(from, 2) | LOWER_CASE_BIT) === LOWER_E
    ) {
      from += 3;
    } else {
      return 0;
    }
    if (++dots > 2) return 0;
  }
  return dots;
}

/**
 * Writes the path and query `from`–`end` to `to`; returns the end of the written bytes. The path
 * loses its dot segments, and `\` becomes `/`. `to` is `from`, the byte before it, or elsewhere.
 * The result begins with a slash. It is longer than the source only if the source lacks that slash.
 */
function removeDotSegments(from: usize, end: usize, to: usize): usize {
  const query = findByte(QUESTION_MARK, from, end);
  const start = to;
  if (from < query && isSlash(load<u8>(from))) from++;
  while (true) {
    const segment = from;
    while (from < query && !isSlash(load<u8>(from))) from++;
    const last = from >= query;
    const dots = dotsOf(segment, from);
    if (dots === 0) {
      const bytes = from - segment;
      store<u8>(to, SLASH);
      memory.copy(to + 1, segment, bytes);
      to += bytes + 1;
    } else {
      if (dots === 2 && to > start) {
        to--;
        while (load<u8>(to) !== SLASH) to--;
      }
      if (last) store<u8>(to++, SLASH);
    }
    if (last) break;
    from++;
  }
  memory.copy(to, query, end - query);
  return to + (end - query);
}
