/**
 * The agents that records name. The query of each line becomes one that asks for the line's agent.
 * What agent a value names, the host decides (workers/record-agents.ts), once for each value.
 */

import { FORMAT_TEXT, MOST_VALUE_BYTES, REGISTER_SLOT_COUNT } from '../layout';
import { equal } from './bytes';
import { Entry, Line, PENDING, Query, Register, Worker, who, whoEnd } from './memory';
import { holdsRows, locateAgentField } from './rows';

/** The first prime of XXH32. */
const FACTOR: u64 = 0x9e37_79b1;

/**
 * Gives the line that was located last the query for its agent; false if the register does not have
 * the agent, and says which one is missing. An invalid record needs no agent.
 */
export function findAgent(query: Query, worker: Worker, line: Line): bool {
  if (line.outcome !== PENDING) return true;
  if (holdsRows(query)) locateAgentField(query, line);
  const asked = queryOf(query, line);
  const from = query.format === FORMAT_TEXT ? 0 : who;
  const bytes: usize = from === 0 ? 0 : min(whoEnd - from, <usize>MOST_VALUE_BYTES);
  const hash = hashOf(from, bytes);
  const register = changetype<Register>(changetype<usize>(worker) + query.register);
  const slots = register.slots;
  let slot = hash;
  while (true) {
    const place = slots + ((<usize>(slot & (REGISTER_SLOT_COUNT - 1))) << 2);
    const at: usize = load<u32>(place);
    if (at === 0) break;
    const entry = changetype<Entry>(at);
    const isSame = entry.hash === hash && entry.asked === asked && entry.valueBytes === <u32>bytes;
    if (isSame && equal(entry.value, from, <i32>bytes)) {
      line.query = entry.query;
      return true;
    }
    slot++;
  }
  register.value = from;
  register.valueEnd = from + bytes;
  register.hash = hash;
  register.query = asked;
  return false;
}

/** The query for the line's shard: that of a line whose leader has an agent of its own as well. */
function queryOf(query: Query, line: Line): Query {
  const queries = query.shardQueries;
  return queries === 0 ? query : load<Query>(queries + ((<usize>line.shard) << 2));
}

/** Reads up to 7 bytes past the value. */
function hashOf(from: usize, bytes: usize): u32 {
  let hash: u64 = bytes;
  for (let at: usize = 0; at < bytes; at += 8) {
    const left = bytes - at;
    const word = load<u64>(from + at);
    const own = left >= 8 ? word : word & (((<u64>1) << (<u64>(left << 3))) - 1);
    hash = (hash ^ own) * FACTOR;
    hash ^= hash >>> 32;
  }
  return <u32>hash;
}
