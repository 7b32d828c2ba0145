import { AuthorityMarks, type RuleCounters } from '../kernel/rule-counts.js';

/** The counters of all worker blocks in a memory. */
export interface CountersOfBank {
  readonly counters: readonly RuleCounters[];
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

/** Places of rules in a memory. */
export class RulePlaces {
  readonly marks = new AuthorityMarks();
  readonly #lines = new Map<number, Set<number>>();

  /** @param authority its address */
  add(authority: number, line: number): void {
    const lines = this.#lines.get(authority) ?? new Set();
    this.#lines.set(authority, lines.add(line));
    this.marks.add(authority);
  }

  has(authority: number, line: number): boolean {
    return this.#lines.get(authority)?.has(line) === true;
  }
}

/**
 * The places of the wanted rules in each bank, and maybe some more. Few rules of millions are
 * wanted, so most counters are only compared with a number.
 *
 * In each block a rule has one counter for each agent. So `top` rules have a counter among the
 * `top` greatest ones of an agent, or among `top` times the number of agents. A rule whose counters
 * add up to less than the last of these is not wanted.
 */
export function wantedPlaces(banks: readonly CountersOfBank[], wanted: WantedRules): RulePlaces[] {
  const { by, denying } = wanted;
  const all = banks.flatMap(({ counters }) => counters);
  const agents = all[0]?.agents ?? 0;
  /** For each agent, or for all, a number that the count of a wanted rule reaches. */
  const least = new Float64Array(by === 'agent' ? agents : 1);
  for (const counters of all) raise(least, counters, wanted);
  const countersOfRule = all.length * (by === 'agent' ? 1 : agents);
  const reached = least.map((count) => count / countersOfRule);
  const lowest = Math.min(...reached);
  return banks.map(({ counters: ofBank }) => {
    const places = new RulePlaces();
    for (const counters of ofBank) {
      for (let at = counters.next(0, lowest); at >= 0; at = counters.next(at + 1, lowest)) {
        if (denying && counters.allows(at)) continue;
        const group = by === 'agent' ? counters.agent(at) : 0;
        if (counters.count(at) < (reached[group] as number)) continue;
        places.add(counters.authority(at), counters.line(at));
      }
    }
    return places;
  });
}

/** Raises the numbers to those that the greatest counters of a block prove. */
function raise(least: Float64Array, counters: RuleCounters, wanted: WantedRules): void {
  const { top, by, denying } = wanted;
  const rank = by === 'agent' ? top : top * counters.agents;
  const isWanted = (at: number): boolean => !denying || !counters.allows(at);
  const groupOf = (at: number): number => (by === 'agent' ? counters.agent(at) : 0);
  const sizes = new Uint32Array(least.length);
  for (let at = counters.next(0); at >= 0; at = counters.next(at + 1)) {
    if (isWanted(at)) (sizes[groupOf(at)] as number)++;
  }
  // Counters may be more than a million: their counts take 8 bytes each.
  const counts = Array.from(sizes, (size) => new Float64Array(size));
  for (let at = counters.next(0); at >= 0; at = counters.next(at + 1)) {
    if (!isWanted(at)) continue;
    const group = groupOf(at);
    (counts[group] as Float64Array)[--(sizes[group] as number)] = counters.count(at);
  }
  for (const [group, numbers] of counts.entries()) {
    least[group] = Math.max(least[group] as number, numbers.sort().at(-rank) ?? 0);
  }
}
