import {
  OUTCOMES,
  WORKER_BAD,
  WORKER_PASSED,
  WORKER_RECORDS,
  WORKER_TALLY,
} from '../kernel/layout.js';

/** The counters of all inputs so far. */
export interface Tally {
  /** Records judged. */
  readonly records: number;
  /** Records that came out, or would have come out in filter mode. */
  readonly passed: number;
  /** Records that are invalid. */
  readonly bad: number;
  /** For each agent, how often it got each outcome, indexed by `verdict << 4 | reason`. */
  readonly outcomes: readonly (readonly number[])[];
}

/** Adds up the counters of the worker blocks at these addresses, which may grow meanwhile. */
export function sumTally(
  memory: WebAssembly.Memory,
  blocks: readonly number[],
  agents: number,
): Tally {
  const sum = (offset: number): number => {
    let total = 0;
    for (const block of blocks) {
      // Atomic, so that a counter that grows does not tear.
      total += Number(Atomics.load(new BigUint64Array(memory.buffer, block + offset, 1), 0));
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
