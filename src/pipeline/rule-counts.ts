import { QUERY_RULES } from '../kernel/layout.js';
import { RuleCounters } from '../kernel/rule-counts.js';
import type { CountedBlocks } from './counted-blocks.js';
import { type PlacedCounters, type WantedRules, wantedAuthorities } from './wanted-rules.js';

/** How many URLs a rule decided for an agent. */
export interface RuleCount {
  /** Offset of the authority in the table. */
  readonly authority: number;
  readonly line: number;
  /** Index of the agent. */
  readonly agent: number;
  readonly allow: boolean;
  readonly count: number;
}

/** The rules that decided, over all threads. */
export interface RuleCounts {
  readonly rules: readonly RuleCount[];
  /**
   * An upper bound of what any count may lack; 0 if all are exact. Counters of rules have a fixed
   * size, so rare rules are dropped if there are too many.
   */
  readonly missed: number;
}

/** Worker blocks that count rules. */
export interface RuleBlocks extends CountedBlocks {
  /** The offset, as the table's view has it, of an address in their memory. */
  offsetOf(address: number): number;
}

/**
 * Adds up the rules that the kernel counted.
 *
 * @param wanted the rules that must be among them; all if undefined
 */
export function sumRules(blocks: readonly RuleBlocks[], wanted?: WantedRules): RuleCounts {
  const counting = blocks
    .filter(({ memory, query }) => new DataView(memory.buffer).getUint32(query + QUERY_RULES, true))
    .flatMap(({ memory, query, workerBlocks, offsetOf }) =>
      workerBlocks.map((block): PlacedCounters => {
        return { counters: new RuleCounters(memory.buffer, query, block), offsetOf };
      }),
    );
  const authorities = wanted === undefined ? undefined : wantedAuthorities(counting, wanted);
  const rules: RuleCount[] = [];
  let missed = 0;
  for (const { counters, offsetOf } of counting) {
    missed += counters.missed;
    counters.each((address, line, agent, count) => {
      const authority = offsetOf(address);
      if (authorities?.has(authority) === false) return;
      rules.push({ authority, line, agent: agent >>> 1, allow: (agent & 1) !== 0, count });
    });
  }
  return { rules: merged(rules.sort(byPlace)), missed };
}

/** By agent, then by the place of the rule. */
function byPlace(a: RuleCount, b: RuleCount): number {
  return a.agent - b.agent || a.authority - b.authority || a.line - b.line;
}

/** Adds up neighbours for the same rule and agent. */
function merged(sorted: readonly RuleCount[]): RuleCount[] {
  const sums: RuleCount[] = [];
  for (const rule of sorted) {
    const last = sums.at(-1);
    if (last === undefined || byPlace(last, rule) !== 0) sums.push(rule);
    else sums[sums.length - 1] = { ...last, count: last.count + rule.count };
  }
  return sums;
}
