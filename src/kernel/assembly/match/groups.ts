/**
 * Finds the groups that an agent obeys in a robots record (RFC 9309 section 2.2.1). Layout:
 * table/format.ts.
 */

import { ROBOTS_WIDE, TOKEN_ANY } from '../../../table/format';
import {
  AGENT_CHAIN,
  AGENT_CHAIN_COUNT,
  CHAIN_BYTES,
  CHAIN_TOKEN,
  GROUPS_LINK,
  GROUPS_LIST,
} from '../../layout';

/** Start of the list of the groups of `*`; 0 if there are none. */
export function groupsOfAny(table: usize, robots: usize): usize {
  return groupsOf(table, robots, TOKEN_ANY);
}

/**
 * Fills in `groups` (GROUPS_…): the groups of the first product token of the agent's chain that
 * some group names. If no group names any token, they are `any`, the groups of `*`. No branch
 * depends on which token it is.
 */
export function resolveGroups(
  agent: usize,
  table: usize,
  robots: usize,
  any: usize,
  groups: usize,
): void {
  const chain: usize = load<u32>(agent, AGENT_CHAIN);
  let list = any;
  let followed = -1;
  for (let link = load<i32>(agent, AGENT_CHAIN_COUNT) - 1; link >= 0; link--) {
    const token = load<i32>(chain + <usize>link * CHAIN_BYTES, CHAIN_TOKEN);
    const named = token === TOKEN_ANY ? any : groupsOf(table, robots, token);
    list = select(named, list, named !== 0);
    followed = select(link, followed, named !== 0);
  }
  store<u32>(groups, list, GROUPS_LIST);
  store<i32>(groups, followed, GROUPS_LINK);
}

/** Start of the list of the groups that name the token, 0 if no group does. */
export function groupsOf(table: usize, robots: usize, token: i32): usize {
  const record = table + robots;
  const list =
    (load<u8>(record) & ROBOTS_WIDE) === 0
      ? listOf<u16>(record + 1, token)
      : listOf<u32>(record + 1, token);
  return select(robots + list, 0, list !== 0);
}

/** Product tokens that are compared at once: enough for the groups of most files. */
const TOKENS_AT_ONCE: i32 = 16;

/**
 * The list's offset from the start of the robots record, 0 if no group names the token. `fields` is
 * the address of the record's token numbers. Reads up to 132 bytes past them.
 */
function listOf<T>(fields: usize, token: i32): usize {
  const count = <i32>load<T>(fields);
  const numbers = fields + sizeof<T>();
  // With more tokens, halve the range until it holds the last numbers that are not greater.
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
 * A bit for each of 16 two-byte numbers that equals the token's number, the first number in the
 * lowest bit. No number is 0xffff, so -1, a token that no robots.txt names, equals none of them.
 */
function places16(numbers: usize, token: i32): i32 {
  const wanted = i16x8.splat(<i16>token);
  const low = i16x8.bitmask(i16x8.eq(v128.load(numbers), wanted));
  const high = i16x8.bitmask(i16x8.eq(v128.load(numbers, 16), wanted));
  return low | (high << 8);
}

/** As `places16`, for four-byte numbers. */
function places32(numbers: usize, token: i32): i32 {
  const wanted = i32x4.splat(token);
  const a = i32x4.bitmask(i32x4.eq(v128.load(numbers), wanted));
  const b = i32x4.bitmask(i32x4.eq(v128.load(numbers, 16), wanted));
  const c = i32x4.bitmask(i32x4.eq(v128.load(numbers, 32), wanted));
  const d = i32x4.bitmask(i32x4.eq(v128.load(numbers, 48), wanted));
  return a | (b << 4) | (c << 8) | (d << 12);
}
