/**
 * Counts how many URLs each rule decided, in a hash table of fixed size (layout.ts, RULES_…). The
 * host prunes the table when it fills (kernel/rule-counts.ts).
 */

import { HEADER_HOST_KEY } from '../../table/format';
import {
  QUERY_AGENT_COUNT,
  QUERY_RULE_ENTRIES,
  QUERY_RULES,
  QUERY_TABLE,
  RESULT_BYTES,
  RESULT_LINE,
  RESULT_RANK,
  RESULT_SOURCE,
  RULE_AGENT,
  RULE_AUTHORITY,
  RULE_BYTES,
  RULE_COUNT,
  RULE_HASH,
  RULE_LINE,
  RULES_ENTRIES,
  RULES_USED,
  WORKER_RESULTS,
} from '../layout';

/** Whether another line might fill more than three quarters of the entries. */
export function isRoomShort(query: usize, worker: usize): bool {
  const used = load<u32>(worker + load<u32>(query, QUERY_RULES), RULES_USED);
  const entries = load<u32>(query, QUERY_RULE_ENTRIES);
  return used + load<u32>(query, QUERY_AGENT_COUNT) > entries - (entries >> 2);
}

/** Counts the rules that decided about the current line, for each agent. */
export function countRules(query: usize, worker: usize): void {
  const rules: usize = worker + load<u32>(query, QUERY_RULES);
  const mask = load<u32>(query, QUERY_RULE_ENTRIES) - 1;
  const agents = load<u32>(query, QUERY_AGENT_COUNT);
  // The key of the hosts' hash: a robots.txt cannot choose lines whose hashes collide.
  const table: usize = load<u32>(query, QUERY_TABLE);
  const key = load<u64>(table, HEADER_HOST_KEY);
  let result = worker + WORKER_RESULTS;
  for (let agent: u32 = 0; agent < agents; agent++) {
    const rank = load<u32>(result, RESULT_RANK);
    if (rank !== 0) {
      const authority = load<u32>(result, RESULT_SOURCE);
      const line = load<u32>(result, RESULT_LINE);
      countRule(rules, mask, key, authority, line, (agent << 1) | (rank & 1));
    }
    result += RESULT_BYTES;
  }
}

function countRule(rules: usize, mask: u32, key: u64, authority: u32, line: u32, agent: u32): void {
  const hash = hashOf(key, authority, line, agent);
  for (let index = hash & mask; ; index = (index + 1) & mask) {
    const entry = rules + RULES_ENTRIES + <usize>index * RULE_BYTES;
    const count = load<u64>(entry, RULE_COUNT);
    if (count === 0) {
      store<u32>(entry, authority, RULE_AUTHORITY);
      store<u32>(entry, line, RULE_LINE);
      store<u32>(entry, agent, RULE_AGENT);
      store<u32>(entry, hash, RULE_HASH);
      store<u32>(rules, load<u32>(rules, RULES_USED) + 1, RULES_USED);
    } else if (
      load<u32>(entry, RULE_AUTHORITY) !== authority ||
      load<u32>(entry, RULE_LINE) !== line ||
      load<u32>(entry, RULE_AGENT) !== agent
    ) {
      continue;
    }
    store<u64>(entry, count + 1, RULE_COUNT);
    return;
  }
}

/** Mixes the key with each half in turn: a product, and its upper half into its lower half. */
function hashOf(key: u64, authority: u32, line: u32, agent: u32): u32 {
  let hash = (((<u64>authority) << 32) | <u64>line) ^ key;
  hash *= 0x9e3779b1;
  hash ^= hash >> 32;
  hash += <u64>agent;
  hash *= 0x85ebca77;
  return <u32>(hash >> 32);
}
