import {
  HOST_COUNTS_ALLOW,
  HOST_COUNTS_BYTES,
  HOST_COUNTS_DENY,
  HOST_COUNTS_OUTCOMES,
  QUERY_COUNTS,
} from '../kernel/layout.js';

const AGENT_WORDS = HOST_COUNTS_BYTES / 4;

/** The worker blocks of a query. */
export interface CountedBlocks {
  /** Address of the query. */
  readonly query: number;
  readonly workerBlocks: readonly number[];
}

/**
 * The verdicts that the kernel counted for each host of a table, over all threads. Reads the
 * counters where they are: only the list of hosts takes memory.
 */
export class HostCounts {
  /** The slots of the hosts that had URLs, ascending. */
  readonly slots: Uint32Array;
  readonly #memories: readonly Uint32Array[];
  readonly #slotWords: number;

  /**
   * @param slots number of slots of the table
   * @param agents number of agents
   */
  constructor(
    memory: WebAssembly.Memory,
    blocks: readonly CountedBlocks[],
    slots: number,
    agents: number,
  ) {
    const query = new DataView(memory.buffer);
    this.#slotWords = agents * AGENT_WORDS;
    this.#memories = blocks.flatMap(({ query: address, workerBlocks }) => {
      const offset = query.getUint32(address + QUERY_COUNTS, true);
      if (offset === 0) return [];
      return workerBlocks.map(
        (block) => new Uint32Array(memory.buffer, block + offset, slots * this.#slotWords),
      );
    });
    this.slots = this.#seen(slots);
  }

  /** The URLs of a host that an agent may fetch. */
  allowed(slot: number, agent: number): number {
    return this.#sum(slot * this.#slotWords + agent * AGENT_WORDS + HOST_COUNTS_ALLOW / 4);
  }

  /** The URLs of a host that an agent may not fetch. */
  denied(slot: number, agent: number): number {
    return this.#sum(slot * this.#slotWords + agent * AGENT_WORDS + HOST_COUNTS_DENY / 4);
  }

  /** A bit for each outcome, `verdict << 4 | reason`, that some URL of a host had. */
  outcomes(slot: number, agent: number): number {
    const at = slot * this.#slotWords + agent * AGENT_WORDS + HOST_COUNTS_OUTCOMES / 4;
    let bits = 0;
    for (const words of this.#memories) bits |= words[at] as number;
    return bits;
  }

  #sum(at: number): number {
    let sum = 0;
    for (const words of this.#memories) {
      sum += (words[at] as number) + (words[at + 1] as number) * 2 ** 32;
    }
    return sum;
  }

  #seen(slots: number): Uint32Array {
    const seen = new Uint32Array(slots);
    // Every URL is counted for the first agent.
    const step = this.#slotWords;
    for (const words of this.#memories) {
      for (let slot = 0, at = HOST_COUNTS_OUTCOMES / 4; slot < slots; slot++, at += step) {
        seen[slot] = (seen[slot] as number) | (words[at] as number);
      }
    }
    let count = 0;
    for (let slot = 0; slot < slots; slot++) if (seen[slot] !== 0) seen[count++] = slot;
    return seen.slice(0, count);
  }
}
