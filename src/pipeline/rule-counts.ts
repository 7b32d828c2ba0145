import { QUERY_RULES } from '../kernel/layout.js';
import { RuleCounters } from '../kernel/rule-counts.js';
import type { CountedBlocks } from './counted-blocks.js';
import { type CountersOfBank, type WantedRules, wantedPlaces } from './wanted-rules.js';

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

/** Worker blocks in one memory. */
export interface RuleBank {
  readonly blocks: readonly CountedBlocks[];
  /** The offset, as the table's view has it, of an address in the memory. */
  offsetOf(address: number): number;
}

/**
 * Adds up the rules that the kernel counted.
 *
 * @param wanted the rules that must be among them; all if undefined
 */
export function sumRules(banks: readonly RuleBank[], wanted?: WantedRules): RuleCounts {
  const counted = banks.map(({ blocks, offsetOf }): CountersOfBank => {
    return { counters: blocks.flatMap(countersOf), offsetOf };
  });
  const places = wanted === undefined ? undefined : wantedPlaces(counted, wanted);
  const rules: RuleCount[] = [];
  let missed = 0;
  for (const [bank, { counters: ofBank, offsetOf }] of counted.entries()) {
    const ofWanted = places?.[bank];
    for (const counters of ofBank) {
      missed += counters.missed;
      const next = (from: number): number =>
        ofWanted === undefined ? counters.next(from) : counters.nextMarked(from, ofWanted.marks);
      for (let at = next(0); at >= 0; at = next(at + 1)) {
        const address = counters.authority(at);
        const line = counters.line(at);
        if (ofWanted?.has(address, line) === false) continue;
        rules.push({
          authority: offsetOf(address),
          line,
          agent: counters.agent(at),
          allow: counters.allows(at),
          count: counters.count(at),
        });
      }
    }
  }
  return { rules: merged(rules.sort(byPlace)), missed };
}

/** The counters of worker blocks; none if they do not count rules. */
function countersOf({ memory: { buffer }, query, workerBlocks }: CountedBlocks): RuleCounters[] {
  if (new DataView(buffer).getUint32(query + QUERY_RULES, true) === 0) return [];
  return workerBlocks.map((block) => new RuleCounters(buffer, query, block));
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
