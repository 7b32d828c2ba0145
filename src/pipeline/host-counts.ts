import {
  HOST_COUNTS_ALLOW,
  HOST_COUNTS_BYTES,
  HOST_COUNTS_DENY,
  HOST_COUNTS_OUTCOMES,
  QUERY_COUNTS,
} from '../kernel/layout.js';
import type { SlotBlocks } from './counted-blocks.js';

const AGENT_WORDS = HOST_COUNTS_BYTES / 4;

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
    this.slots = this.#seen(slots);
  }

  /** The URLs of a host that an agent may fetch. */
  allowed(slot: number, agent: number): number {
    return this.#sum(slot, agent * AGENT_WORDS + HOST_COUNTS_ALLOW / 4);
  }

  /** The URLs of a host that an agent may not fetch. */
  denied(slot: number, agent: number): number {
    return this.#sum(slot, agent * AGENT_WORDS + HOST_COUNTS_DENY / 4);
  }

  /** A bit for each outcome, `verdict << 4 | reason`, that some URL of a host had. */
  outcomes(slot: number, agent: number): number {
    const word = agent * AGENT_WORDS + HOST_COUNTS_OUTCOMES / 4;
    let bits = 0;
    for (const { words, firstSlot, slots } of this.#counters) {
      const own = slot - firstSlot;
      if (own >= 0 && own < slots) bits |= words[own * this.#slotWords + word] as number;
    }
    return bits;
  }

  #sum(slot: number, word: number): number {
    let sum = 0;
    for (const { words, firstSlot, slots } of this.#counters) {
      const own = slot - firstSlot;
      if (own < 0 || own >= slots) continue;
      const at = own * this.#slotWords + word;
      sum += (words[at] as number) + (words[at + 1] as number) * 2 ** 32;
    }
    return sum;
  }

  #seen(slots: number): Uint32Array {
    const seen = new Uint32Array(slots);
    // Every URL is counted for the first agent.
    const step = this.#slotWords;
    for (const { words, firstSlot, slots: own } of this.#counters) {
      const end = firstSlot + own;
      for (let slot = firstSlot, at = HOST_COUNTS_OUTCOMES / 4; slot < end; slot++, at += step) {
        seen[slot] = (seen[slot] as number) | (words[at] as number);
      }
    }
    let count = 0;
    for (let slot = 0; slot < slots; slot++) if (seen[slot] !== 0) seen[count++] = slot;
    return seen.slice(0, count);
  }
}
