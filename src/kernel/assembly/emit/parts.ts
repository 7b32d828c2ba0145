/** The parts of text records and JSON records. All words are fragments of the query. */

import { ASTERISK } from '../../../ascii';
import {
  AGENT_BYTES,
  AGENT_CHAIN,
  AGENT_VERDICTS,
  CHAIN_BYTES,
  CHAIN_TEXT,
  FRAGMENT_ALLOW,
  FRAGMENT_DISALLOW,
  FRAGMENT_SHARD_END,
  GROUPS_LINK,
  INVALID,
  QUERY_ADDS_SHARD,
  QUERY_AGENT_COUNT,
  QUERY_AGENTS,
  QUERY_FLAGS,
  QUERY_FRAGMENTS,
  RESULT_BYTES,
  RESULT_GROUPS,
  RESULT_OUTCOME,
  RESULT_RANK,
  WORKER_RESULTS,
  WORKER_SHARD,
} from '../../layout';
import { copyShort } from '../bytes/copy';
import { decimal } from '../bytes/decimal';
import { patternText } from './rule';

/** Writes a fragment of the query. */
export function fragment(query: usize, index: i32, to: usize): usize {
  const pair = query + QUERY_FRAGMENTS + <usize>index * 8;
  return copyShort(load<u32>(pair), load<i32>(pair, 4), to);
}

/** Writes one byte. */
export function byte(value: i32, to: usize): usize {
  store<u8>(to, value);
  return to + 1;
}

/** The result of the agent with this index. */
export function resultOf(worker: usize, index: i32): usize {
  return worker + WORKER_RESULTS + <usize>index * RESULT_BYTES;
}

/** The agent with this index. */
export function agentOf(query: usize, index: i32): usize {
  return <usize>load<u32>(query, QUERY_AGENTS) + <usize>index * AGENT_BYTES;
}
/** Writes the rule that decided, `Disallow: /path`, escaped as in a JSON string. */
export function ruleText(query: usize, result: usize, to: usize): usize {
  const allows = (load<i32>(result, RESULT_RANK) & 1) !== 0;
  to = fragment(query, allows ? FRAGMENT_ALLOW : FRAGMENT_DISALLOW, to);
  return patternText(result, to);
}

/** Writes the product token of the groups that decided: a link of the agent's chain, or `*`. */
export function tokenText(agent: usize, result: usize, to: usize): usize {
  const link = load<i32>(result, RESULT_GROUPS + GROUPS_LINK);
  if (link < 0) return byte(ASTERISK, to);
  const text = <usize>load<u32>(agent, AGENT_CHAIN) + <usize>link * CHAIN_BYTES + CHAIN_TEXT;
  return copyShort(load<u32>(text), load<i32>(text, 4), to);
}

/**
 * Writes the verdicts of all agents in the words of the format; there is at least one agent. With
 * QUERY_ADDS_SHARD the number of the shard follows, unless the URL is invalid.
 */
export function verdicts(query: usize, worker: usize, to: usize): usize {
  let agent: usize = load<u32>(query, QUERY_AGENTS);
  let result = worker + WORKER_RESULTS;
  let left = load<i32>(query, QUERY_AGENT_COUNT);
  const addsShard = (load<u32>(query, QUERY_FLAGS) & QUERY_ADDS_SHARD) !== 0;
  const isInvalid = load<i32>(result, RESULT_OUTCOME) >> 4 === INVALID;
  do {
    const verdict = agent + <usize>((load<i32>(result, RESULT_OUTCOME) >> 4) << 3);
    to = copyShort(load<u32>(verdict, AGENT_VERDICTS), load<i32>(verdict, AGENT_VERDICTS + 4), to);
    agent += AGENT_BYTES;
    result += RESULT_BYTES;
  } while (--left > 0);
  if (!addsShard || isInvalid) return to;
  return fragment(query, FRAGMENT_SHARD_END, decimal(load<u32>(worker, WORKER_SHARD), to));
}
