import {
  OUTCOMES,
  WORKER_BAD,
  WORKER_PASSED,
  WORKER_RECORDS,
  WORKER_TALLY,
} from '../kernel/layout.js';
import type { CountedBlocks } from './counted-blocks.js';

/** The counters of all inputs so far. */
export interface Tally {
  /** Number of records judged. */
  readonly records: number;
  /** Number of records that came out, or would have come out in filter mode. */
  readonly passed: number;
  /** Number of invalid records. */
  readonly bad: number;
  /** The number of each agent's outcomes, indexed by `verdict << 4 | reason`. */
  readonly outcomes: readonly (readonly number[])[];
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
    outcomes,
  };
}
