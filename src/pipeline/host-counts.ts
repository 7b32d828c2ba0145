import { HOST_COUNTS_BYTES, HOST_VERDICTS, QUERY_COUNTS } from '../kernel/layout.js';

/** Words of 32 bits of a counter. */
const COUNTER_WORDS = HOST_COUNTS_BYTES / HOST_VERDICTS / 4;

/** The worker blocks of a query. */
export interface CountedBlocks {
  /** Address of the query. */
  readonly query: number;
  readonly workerBlocks: readonly number[];
}

/** The verdicts on the URLs of one host. */
export interface SlotCounts {
  /** The slot of the host in the table. */
  readonly slot: number;
  /** For each agent HOST_VERDICTS counts. */
  readonly counts: readonly number[];
}

/** The verdicts that the kernel counted for each host; hosts without URLs are left out. */
export function* hostCounts(
  memory: WebAssembly.Memory,
  blocks: readonly CountedBlocks[],
  slots: number,
  agents: number,
): Iterable<SlotCounts> {
  const counters = agents * HOST_VERDICTS;
  const query = new DataView(memory.buffer);
  const memories = blocks.flatMap(({ query: address, workerBlocks }) => {
    const offset = query.getUint32(address + QUERY_COUNTS, true);
    if (offset === 0) return [];
    return workerBlocks.map(
      (block) => new Uint32Array(memory.buffer, block + offset, slots * counters * COUNTER_WORDS),
    );
  });
  const sums = new Float64Array(counters);
  for (let slot = 0; slot < slots; slot++) {
    let isSeen = false;
    const first = slot * counters * COUNTER_WORDS;
    for (const words of memories) {
      for (let counter = 0; counter < counters; counter++) {
        const at = first + counter * COUNTER_WORDS;
        const count = (words[at] as number) + (words[at + 1] as number) * 2 ** 32;
        if (count === 0) continue;
        if (!isSeen) sums.fill(0);
        isSeen = true;
        sums[counter] = (sums[counter] as number) + count;
      }
    }
    if (isSeen) yield { slot, counts: Array.from(sums) };
  }
}
