import {
  HOST_COUNTS_ALLOW,
  HOST_COUNTS_BITS,
  HOST_COUNTS_BYTES,
  HOST_COUNTS_DENY,
  QUERY_COUNTS,
} from '../kernel/layout.js';
import { REASONS } from '../protocol/verdict.js';
import type { SlotBlocks } from './counted-blocks.js';

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

  /** A bit for each outcome, `verdict << 4 | reason`, that some URL of a host had. */
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
    return (allowed | (denied << REASONS.length)) >>> 0;
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
