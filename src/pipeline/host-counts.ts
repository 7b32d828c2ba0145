import { HOST_COUNTS_BYTES, HOST_VERDICTS, QUERY_COUNTS } from '../kernel/layout.js';

/** Bytes of a counter. */
const COUNTER_BYTES = HOST_COUNTS_BYTES / HOST_VERDICTS;

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
  const words = agents * HOST_VERDICTS;
  const view = new DataView(memory.buffer);
  const counters = blocks.flatMap(({ query, workerBlocks }) => {
    const offset = view.getUint32(query + QUERY_COUNTS, true);
    return offset === 0 ? [] : workerBlocks.map((block) => block + offset);
  });
  for (let slot = 0; slot < slots; slot++) {
    const counts: number[] = new Array(words).fill(0);
    let isSeen = false;
    for (const start of counters) {
      const at = start + slot * words * COUNTER_BYTES;
      for (let word = 0; word < words; word++) {
        const low = view.getUint32(at + word * COUNTER_BYTES, true);
        const high = view.getUint32(at + word * COUNTER_BYTES + 4, true);
        if (low === 0 && high === 0) continue;
        counts[word] = (counts[word] as number) + high * 2 ** 32 + low;
        isSeen = true;
      }
    }
    if (isSeen) yield { slot, counts };
  }
}
