/**
 * The step limit: the steps that all groups of an agent may spend on one path. A step compares a
 * rule with one byte.
 */

/**
 * 64 wildcard rules can be tried on a path of any length, and two thousand on a path of 32 KiB. A
 * rule of two forms costs twice as much if the path has a query.
 */
const BUDGET_OF_PATH: i64 = 1 << 26;
const BUDGET_OF_BYTE: i64 = 64;

/** The cost of a group, in addition to the bytes of the path that led down its trie. */
export const GROUP_COST: i64 = 64;
/** The cost of a block or a rule, in addition to the bytes compared with it. */
export const BLOCK_COST: i64 = 32;
export const RULE_COST: i64 = 16;

/** Stands for a rank if the budget was not enough. */
export const OVER_BUDGET: i32 = -1;

let budget: i64 = 0;

/** Begins the matching of a path of `bytes` bytes for an agent. */
export function grantBudget(bytes: usize): void {
  budget = BUDGET_OF_PATH + BUDGET_OF_BYTE * <i64>bytes;
}

export function charge(steps: i64): void {
  budget -= steps;
}

/** Whether more was charged than granted. */
export function isSpent(): bool {
  return budget < 0;
}
