import type { RuleCounters } from '../kernel/rule-counts.js';

/** The counters of a worker block. */
export interface PlacedCounters {
  readonly counters: RuleCounters;
  /** The offset, as the table's view has it, of an address in their memory. */
  offsetOf(address: number): number;
}

/** The rules that a report shows: those with the greatest counts. */
export interface WantedRules {
  /** How many: of each agent, or of the sums over all agents. */
  readonly top: number;
  readonly by: 'agent' | 'sum';
  /** Whether only rules that deny are wanted. */
  readonly denying: boolean;
}

/**
 * The authorities that have the wanted rules, and maybe some more. Few rules of millions are
 * wanted, so most counters are only compared with a number.
 *
 * In each block a rule has one counter for each agent. So `top` rules have a counter among the
 * `top` greatest ones of an agent, or among `top` times the number of agents. A rule whose counters
 * add up to less than the last of these is not wanted.
 */
export function wantedAuthorities(
  blocks: readonly PlacedCounters[],
  wanted: WantedRules,
): ReadonlySet<number> {
  const { top, by } = wanted;
  let agents = 1;
  /** For each group of counters, a number that the count of a wanted rule reaches. */
  const least: number[] = [];
  for (const block of blocks) {
    const counts: number[][] = [];
    eachCounter(block, wanted, (group, count, _address, agent) => {
      agents = Math.max(agents, agent + 1);
      counts[group] ??= [];
      counts[group].push(count);
    });
    counts.forEach((ofGroup, group) => {
      const rank = by === 'agent' ? top : top * agents;
      const atRank = Float64Array.from(ofGroup).sort().at(-rank) ?? 0;
      least[group] = Math.max(least[group] ?? 0, atRank);
    });
  }
  const countersOfRule = blocks.length * (by === 'agent' ? 1 : agents);
  const authorities = new Set<number>();
  for (const block of blocks) {
    eachCounter(block, wanted, (group, count, address) => {
      if (count * countersOfRule < (least[group] ?? 0)) return;
      authorities.add(block.offsetOf(address));
    });
  }
  return authorities;
}

/** Calls `take` for each counter that may be of a wanted rule. */
function eachCounter(
  { counters }: PlacedCounters,
  { by, denying }: WantedRules,
  take: (group: number, count: number, address: number, agent: number) => void,
): void {
  counters.each((address, _line, flags, count) => {
    if (denying && (flags & 1) !== 0) return;
    const agent = flags >>> 1;
    take(by === 'agent' ? agent : 0, count, address, agent);
  });
}
