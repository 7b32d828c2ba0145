/**
 * The agents that records name. The query of each line becomes one that asks for the line's agent.
 * What agent a value names, the host decides (workers/record-agents.ts), once for each value.
 */

import { FORMAT_TEXT, MOST_VALUE_BYTES, REGISTER_SLOT_COUNT } from '../layout';
import { equal } from './bytes';
import { hashHost } from './hosts';
import { Line, PENDING, Query, Register, Value, Worker, who, whoEnd } from './memory';
import { holdsRows, locateAgentField } from './rows';

/** Bytes of a value that are hashed at a time: the key has no words for more than 255. */
const PIECE_BYTES: i32 = 240;
/** The first prime of XXH32. */
const FACTOR: u32 = 0x9e37_79b1;

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
  const register = changetype<Register>(changetype<usize>(worker) + query.register);
  const hash = hashOf(register.key, from, <i32>bytes);
  const slots = register.slots;
  let slot = hash;
  while (true) {
    const place = slots + ((<usize>(slot & (REGISTER_SLOT_COUNT - 1))) << 2);
    const at: usize = load<u32>(place);
    if (at === 0) break;
    const value = changetype<Value>(at);
    const isSame = value.hash === hash && value.asked === asked && value.length === <u32>bytes;
    if (isSame && equal(value.text, from, <i32>bytes)) {
      line.query = value.query;
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

/**
 * The hash of a value. Without the key nobody can choose values that collide, which would make each
 * search as long as the register. Reads up to 15 bytes past the value.
 */
function hashOf(key: usize, from: usize, bytes: i32): u32 {
  let hash: u32 = bytes;
  for (; bytes > PIECE_BYTES; bytes -= PIECE_BYTES) {
    hash = hash * FACTOR + hashHost(key, from, PIECE_BYTES);
    from += PIECE_BYTES;
  }
  return hash * FACTOR + hashHost(key, from, bytes);
}
