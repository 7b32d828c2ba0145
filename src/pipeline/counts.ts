/**
 * What a run counts: verdicts and reasons by agent, by host and by rule, without a bound on hosts.
 */

import { Buffer } from 'node:buffer';
import {
  HOST_COUNTS_ALLOW,
  HOST_COUNTS_BITS,
  HOST_COUNTS_BYTES,
  HOST_COUNTS_DENY,
  HOST_COUNTS_REASONS,
  NAME_BYTES,
  NAME_LENGTH,
  NAME_TEXT,
  OUTCOMES,
  QUERY_COUNTS,
  QUERY_REGISTER,
  QUERY_RULES,
  QUERY_SEEN,
  REASON_BITS,
  REGISTER_NAMES,
  REGISTER_NAMES_USED,
  UNKNOWN,
  WORKER_BAD,
  WORKER_PASSED,
  WORKER_RECORDS,
  WORKER_TALLY,
  WORKER_TO_COME,
} from '../kernel/layout.js';
import { RuleCounters, VersionMarks } from '../kernel/rule-counts.js';
import { VERDICTS } from '../protocol/verdict.js';

/** The counters of all inputs so far. */
export interface Tally {
  /** Number of records judged. */
  readonly records: number;
  /** Number of records that came out, or would have come out in filter mode. */
  readonly passed: number;
  /** Number of invalid records. */
  readonly bad: number;
  /** Number of records with a time after `FilterSettings.now`. */
  readonly toCome: number;
  /** The number of each agent's outcomes, indexed by `verdict << REASON_BITS | reason`. */
  readonly outcomes: readonly (readonly number[])[];
}

/** Number of records up to which a run is useless only if none was decided. */
const FEW_RECORDS = 1_000;
/** Share of undecided records above which something is likely wrong. */
const USUAL_SHARE = 0.95;

/**
 * Whether a run decided almost nothing: the hosts are unknown, or the URLs invalid. Neither depends
 * on the agent.
 */
export function isUseless({ records, outcomes: [first = []] }: Tally): boolean {
  const undecided = first.reduce(
    (sum, count, outcome) => (outcome >> REASON_BITS >= UNKNOWN ? sum + count : sum),
    0,
  );
  if (records <= FEW_RECORDS) return records > 0 && undecided === records;
  return undecided > USUAL_SHARE * records;
}

/** Adds up the counters of worker blocks, which may grow in the meantime. */
export function sumTally(counted: readonly CountedBlocks[], agents: number): Tally {
  const sum = (offset: number): number => {
    let total = 0;
    for (const { memory, workerBlocks } of counted) {
      for (const block of workerBlocks) {
        // The load is atomic, so that a counter that grows does not tear.
        total += Number(Atomics.load(new BigUint64Array(memory.buffer, block + offset, 1), 0));
      }
    }
    return total;
  };
  const outcomes = Array.from({ length: agents }, (_, agent) =>
    Array.from({ length: OUTCOMES }, (_, outcome) =>
      sum(WORKER_TALLY + (agent * OUTCOMES + outcome) * 8),
    ),
  );
  return {
    records: sum(WORKER_RECORDS),
    passed: sum(WORKER_PASSED),
    bad: sum(WORKER_BAD),
    toCome: sum(WORKER_TO_COME),
    outcomes,
  };
}

/** How many records were judged for an agent that they name. */
export interface NamedAgent {
  readonly name: string;
  /** The number of each verdict, in the order of VERDICTS. */
  readonly verdicts: readonly number[];
}

/** The agents that the records of a run name. */
export interface NamedAgents {
  /** Those with most records first. The agent `*` has the records that name no crawler. */
  readonly agents: readonly NamedAgent[];
  /** The verdicts of all agents that were too many to be counted by name. */
  readonly others: readonly number[];
}

/** Adds up what was counted for the agents that records name. */
export function sumNamedAgents(counted: readonly CountedBlocks[]): NamedAgents {
  const sums = new Map<string, number[]>();
  for (const blocks of counted) {
    const bytes = Buffer.from(blocks.memory.buffer);
    for (const block of blocks.workerBlocks) {
      for (const { name, at } of namesIn(blocks, block)) {
        const sum = sums.get(name) ?? VERDICTS.map(() => 0);
        sums.set(
          name,
          sum.map((count, verdict) => count + Number(bytes.readBigUInt64LE(at + 8 * verdict))),
        );
      }
    }
  }
  const others = sums.get(OTHER_AGENTS) ?? [];
  sums.delete(OTHER_AGENTS);
  const agents = Array.from(sums, ([name, verdicts]) => ({ name, verdicts }));
  const records = ({ verdicts }: NamedAgent): number => verdicts.reduce((sum, each) => sum + each);
  const isUsed = agents.filter((agent) => records(agent) > 0);
  isUsed.sort((a, b) => records(b) - records(a) || (a.name < b.name ? -1 : 1));
  return { agents: isUsed, others };
}

/** The names in the register of a worker block, by their numbers there, and their addresses. */
function namesIn({ memory, query }: CountedBlocks, block: number): { name: string; at: number }[] {
  const bytes = Buffer.from(memory.buffer);
  const offset = bytes.readUInt32LE(query + QUERY_REGISTER);
  if (offset === 0) return [];
  const register = block + offset;
  const used = bytes.readUInt32LE(register + REGISTER_NAMES_USED);
  return Array.from({ length: used }, (_, index) => {
    const at = register + REGISTER_NAMES + index * NAME_BYTES;
    const text = at + NAME_TEXT;
    return {
      name: bytes.toString('latin1', text, text + bytes.readUInt32LE(at + NAME_LENGTH)),
      at,
    };
  });
}

/** The name of NAME_OTHERS: no agent has it. */
const OTHER_AGENTS = '';

/** The worker blocks of a query, in the memory of the table or in one of its banks. */
export interface CountedBlocks {
  readonly memory: WebAssembly.Memory;
  /** Address of the query. */
  readonly query: number;
  /** Addresses of the worker blocks (kernel/layout.ts, WORKER_…). */
  readonly workerBlocks: readonly number[];
}

/** Worker blocks, and the slots of the table that they count. */
interface SlotBlocks extends CountedBlocks {
  /** Slots of the table before them. */
  readonly firstSlot: number;
  readonly slots: number;
}

const AGENT_WORDS = HOST_COUNTS_BYTES / 4;
/** The words of the counters of an agent: each counter has a low one, and a high one after it. */
const ALLOW = HOST_COUNTS_ALLOW / 4;
const DENY = HOST_COUNTS_DENY / 4;

/** The high word of a counter: bits of the number, and above them those of the reasons. */
const REASONS_SHIFT = HOST_COUNTS_BITS - 32;
const NUMBER_MASK = 2 ** REASONS_SHIFT - 1;
const HIGH = 2 ** 32;

/** The counters of one worker block, and the slots that they are for. */
interface Counters {
  readonly words: Uint32Array;
  readonly firstSlot: number;
  readonly slots: number;
}

/**
 * The verdicts that the kernel counted for each host of a table, over all threads. Reads the
 * counters where they are: only the list of hosts takes memory.
 */
export class HostCounts {
  /** The slots of the hosts that had URLs, ascending. */
  readonly slots: Uint32Array;
  /** The number of URLs of each of these hosts. */
  readonly urls: Float64Array;
  readonly #counters: readonly Counters[];
  readonly #slotWords: number;

  /**
   * @param slots number of slots of the table
   * @param agents number of agents
   */
  constructor(blocks: readonly SlotBlocks[], slots: number, agents: number) {
    this.#slotWords = agents * AGENT_WORDS;
    this.#counters = blocks.flatMap(({ memory, query, workerBlocks, firstSlot, slots: own }) => {
      const offset = new DataView(memory.buffer).getUint32(query + QUERY_COUNTS, true);
      if (offset === 0) return [];
      return workerBlocks.map((block) => ({
        words: new Uint32Array(memory.buffer, block + offset, own * this.#slotWords),
        firstSlot,
        slots: own,
      }));
    });
    const urls = new Float64Array(slots);
    for (const counters of this.#counters) this.#addUrls(counters, urls);
    const seen = new Uint32Array(slots);
    let count = 0;
    for (let slot = 0; slot < slots; slot++) {
      const own = urls[slot] as number;
      if (own === 0) continue;
      seen[count] = slot;
      urls[count++] = own;
    }
    this.slots = seen.subarray(0, count);
    this.urls = urls.subarray(0, count);
  }

  /** The URLs of a host that an agent may fetch. */
  allowed(slot: number, agent: number): number {
    return this.#sum(slot, agent * AGENT_WORDS + ALLOW);
  }

  /** The URLs of a host that an agent may not fetch. */
  denied(slot: number, agent: number): number {
    return this.#sum(slot, agent * AGENT_WORDS + DENY);
  }

  /** A bit for each outcome that a URL of a host had: `HOST_COUNTS_REASONS * verdict + reason`. */
  outcomes(slot: number, agent: number): number {
    const word = agent * AGENT_WORDS;
    let allowed = 0;
    let denied = 0;
    for (const { words, firstSlot, slots } of this.#counters) {
      const own = slot - firstSlot;
      if (own < 0 || own >= slots) continue;
      const at = own * this.#slotWords + word;
      allowed |= (words[at + ALLOW + 1] as number) >>> REASONS_SHIFT;
      denied |= (words[at + DENY + 1] as number) >>> REASONS_SHIFT;
    }
    return (allowed | (denied << HOST_COUNTS_REASONS)) >>> 0;
  }

  #sum(slot: number, word: number): number {
    let sum = 0;
    for (const { words, firstSlot, slots } of this.#counters) {
      const own = slot - firstSlot;
      if (own < 0 || own >= slots) continue;
      const at = own * this.#slotWords + word;
      sum += (words[at] as number) + ((words[at + 1] as number) & NUMBER_MASK) * HIGH;
    }
    return sum;
  }

  /** Adds the URLs that one thread counted for each slot. Every URL counts for the first agent. */
  #addUrls({ words, firstSlot, slots }: Counters, urls: Float64Array): void {
    const step = this.#slotWords;
    for (let own = 0, at = 0; own < slots; own++, at += step) {
      const low = (words[at + ALLOW] as number) + (words[at + DENY] as number);
      const allowed = (words[at + ALLOW + 1] as number) & NUMBER_MASK;
      const denied = (words[at + DENY + 1] as number) & NUMBER_MASK;
      const slot = firstSlot + own;
      urls[slot] = (urls[slot] as number) + low + (allowed + denied) * HIGH;
    }
  }
}

/** Number of slots whose marks one word holds. */
const WORD_SLOTS = 32;

/** The hosts of a table or bank that had URLs, as slots that the kernel has marked. */
export class SeenHosts {
  readonly #marks: Uint32Array;

  /** @param slots number of slots in the table or bank */
  constructor(slots: number) {
    this.#marks = new Uint32Array(Math.ceil(slots / WORD_SLOTS));
  }

  /**
   * Adds the marks in the worker blocks of a query for these slots. The marks begin at a multiple
   * of 8, and spare room follows them (encodeQuery).
   */
  add({ memory, query, workerBlocks }: CountedBlocks): void {
    const offset = new DataView(memory.buffer).getUint32(query + QUERY_SEEN, true);
    if (offset === 0) return;
    const all = this.#marks;
    for (const block of workerBlocks) {
      const marks = new Uint32Array(memory.buffer, block + offset, all.length);
      for (let index = 0; index < all.length; index++) {
        all[index] = (all[index] as number) | (marks[index] as number);
      }
    }
  }

  get count(): number {
    let count = 0;
    for (const word of this.#marks) count += bitsOf(word);
    return count;
  }
}

/** Counts the bits of a word: by pairs, by fours, and by bytes, which a product adds up. */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** How many URLs a rule decided for an agent. */
export interface RuleCount {
  /**
   * Offset in the table of the version of a robots.txt that has the rule, from its robots record
   * on; of the authority, if the run asked for the newest or the authority has no history.
   */
  readonly version: number;
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
interface RuleBank {
  readonly blocks: readonly CountedBlocks[];
  /** The offset, as the table's view has it, of an address in the memory. */
  offsetOf(address: number): number;
}

/**
 * Agents that records name, by the indices that they get in counts. All others have one index, the
 * number of these.
 */
export type NamedIndices = ReadonlyMap<string, number>;

/**
 * Adds up the rules that the kernel counted.
 *
 * @param wanted the rules that must be among them; all if undefined
 * @param names if records name their agents, those that are counted apart
 */
export function sumRules(
  banks: readonly RuleBank[],
  wanted?: WantedRules,
  names: NamedIndices = new Map(),
): RuleCounts {
  const counted = banks.map(({ blocks, offsetOf }): CountersOfBank => {
    return { counters: blocks.flatMap((each) => countersOf(each, names)), offsetOf };
  });
  const places = wanted === undefined ? undefined : wantedPlaces(counted, wanted);
  const rules: RuleCount[] = [];
  let missed = 0;
  for (const [bank, { counters: ofBank, offsetOf }] of counted.entries()) {
    const ofWanted = places?.[bank];
    for (const { counters, indexOf, agentsOfIndex } of ofBank) {
      missed += counters.missed * agentsOfIndex;
      const next = (from: number): number =>
        ofWanted === undefined ? counters.next(from) : counters.nextMarked(from, ofWanted.marks);
      for (let at = next(0); at >= 0; at = next(at + 1)) {
        const address = counters.version(at);
        const line = counters.line(at);
        if (ofWanted?.has(address, line) === false || counters.isOfHost(at)) continue;
        rules.push({
          version: offsetOf(address),
          line,
          agent: indexOf(counters.agent(at)),
          allow: counters.allows(at),
          count: counters.count(at),
        });
      }
    }
  }
  return { rules: merged(rules.sort(byPlace)), missed };
}

/** The counters of rules of a worker block, and the indices of their agents. */
interface BlockCounters {
  readonly counters: RuleCounters;
  /** The index of an agent in counts. */
  indexOf(agent: number): number;
  /** How many agents may have one index. */
  readonly agentsOfIndex: number;
}

/** The counters of worker blocks; none if they do not count rules. */
function countersOf(blocks: CountedBlocks, names: NamedIndices): BlockCounters[] {
  const { memory, query, workerBlocks } = blocks;
  const { buffer } = memory;
  if (new DataView(buffer).getUint32(query + QUERY_RULES, true) === 0) return [];
  return workerBlocks.map((block) => {
    const counters = new RuleCounters(buffer, query, block);
    if (!counters.isNamed) return { counters, indexOf: (agent) => agent, agentsOfIndex: 1 };
    const others = names.size;
    const indices = namesIn(blocks, block).map(({ name }) => names.get(name) ?? others);
    return {
      counters,
      indexOf: (agent) => indices[agent] ?? others,
      agentsOfIndex: indices.length,
    };
  });
}

/** Hosts by what an agent may fetch of its URLs there: all of them, a part or none. */
export type Extents = Readonly<Record<'all' | 'part' | 'none', number>>;

/**
 * The hosts of the URLs that records have which name their agents, for each index of `names`, and
 * last for all other agents together. Undefined if there were too many to count each one.
 *
 * @param slots number of slots of the table
 */
export function sumNamedHosts(
  blocks: readonly SlotBlocks[],
  slots: number,
  names: NamedIndices,
): Extents[] | undefined {
  const all = blocks.flatMap((each) =>
    countersOf(each, names).map((counters, index) => {
      const worker = each.workerBlocks[index] as number;
      const counts = new DataView(each.memory.buffer).getUint32(each.query + QUERY_COUNTS, true);
      return { ...counters, firstSlot: each.firstSlot, start: worker + counts };
    }),
  );
  if (all.some(({ counters }) => counters.missed > 0)) return undefined;
  const pairs = new Float64Array(all.reduce((sum, { counters }) => sum + counters.used, 0));
  let count = 0;
  for (const { counters, indexOf, firstSlot, start } of all) {
    for (let at = counters.next(0); at >= 0; at = counters.next(at + 1)) {
      if (!counters.isOfHost(at)) continue;
      const slot = firstSlot + (counters.version(at) - start) / HOST_COUNTS_BYTES;
      const pair = indexOf(counters.agent(at)) * slots + slot;
      pairs[count++] = 2 * pair + (counters.allows(at) ? 1 : 0);
    }
  }
  // Sorted, the counts of a host for an agent are neighbours, whichever threads have counted.
  const sorted = pairs.subarray(0, count).sort();
  const extents = Array.from({ length: names.size + 1 }, () => ({ all: 0, part: 0, none: 0 }));
  for (let at = 0; at < count; ) {
    const pair = Math.floor((sorted[at] as number) / 2);
    const isDenied = sorted[at] === 2 * pair;
    let end = at;
    while (end < count && (sorted[end] as number) <= 2 * pair + 1) end++;
    const isAllowed = sorted[end - 1] === 2 * pair + 1;
    const extent = isDenied ? (isAllowed ? 'part' : 'none') : 'all';
    const own = extents[Math.floor(pair / slots)];
    if (own !== undefined) own[extent]++;
    at = end;
  }
  return extents;
}

/** By agent, then by the place of the rule. */
function byPlace(a: RuleCount, b: RuleCount): number {
  return a.agent - b.agent || a.version - b.version || a.line - b.line;
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

/** The counters of all worker blocks in a memory. */
interface CountersOfBank {
  readonly counters: readonly BlockCounters[];
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
class RulePlaces {
  readonly marks = new VersionMarks();
  readonly #lines = new Map<number, Set<number>>();

  /** @param version its address */
  add(version: number, line: number): void {
    const lines = this.#lines.get(version) ?? new Set();
    this.#lines.set(version, lines.add(line));
    this.marks.add(version);
  }

  has(version: number, line: number): boolean {
    return this.#lines.get(version)?.has(line) === true;
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
function wantedPlaces(banks: readonly CountersOfBank[], wanted: WantedRules): RulePlaces[] {
  const { denying } = wanted;
  const all = banks.flatMap(({ counters }) => counters.map((each) => each.counters));
  const agents = all[0]?.agents ?? 0;
  // Agents that records name are together one agent, except for those that are counted apart.
  const by = all[0]?.isNamed === true ? 'sum' : wanted.by;
  /** For each agent, or for all, a number that the count of a wanted rule reaches. */
  const least = new Float64Array(by === 'agent' ? agents : 1);
  for (const counters of all) raise(least, counters, { ...wanted, by });
  const countersOfRule = all.length * (by === 'agent' ? 1 : agents);
  const reached = least.map((count) => count / countersOfRule);
  const lowest = Math.min(...reached);
  return banks.map(({ counters: ofBank }) => {
    const places = new RulePlaces();
    for (const { counters } of ofBank) {
      for (let at = counters.next(0, lowest); at >= 0; at = counters.next(at + 1, lowest)) {
        if ((denying && counters.allows(at)) || counters.isOfHost(at)) continue;
        const group = by === 'agent' ? counters.agent(at) : 0;
        if (counters.count(at) < (reached[group] as number)) continue;
        places.add(counters.version(at), counters.line(at));
      }
    }
    return places;
  });
}

/** Raises the numbers to those that the greatest counters of a block prove. */
function raise(least: Float64Array, counters: RuleCounters, wanted: WantedRules): void {
  const { top, by, denying } = wanted;
  const rank = by === 'agent' ? top : top * counters.agents;
  const isWanted = (at: number): boolean =>
    !(denying && counters.allows(at)) && !counters.isOfHost(at);
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
