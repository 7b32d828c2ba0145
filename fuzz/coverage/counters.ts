/**
 * The place of the probes' counters, in any memory to which the instrumented kernel is bound; see
 * kernel/guarded-kernel.ts.
 */
export const COUNTERS = 1024;
/** Bytes reserved for the counters. */
export const COUNTER_BYTES = 16_384;

/** The kernel with probes, and their number. */
export interface InstrumentedKernel {
  readonly bytes: Uint8Array;
  readonly probes: number;
}

/** Classes of counts. */
export const COUNT_CLASSES = 8;

/**
 * Reads and clears the counters in one memory. Counts are classed as 1, 2, 3, 4–7, 8–15, 16–31,
 * 32–127 and more.
 */
export class KernelCoverage {
  readonly #counters: Uint8Array;

  constructor(memory: WebAssembly.Memory, probes: number) {
    this.#counters = new Uint8Array(memory.buffer, COUNTERS, probes);
  }

  clear(): void {
    this.#counters.fill(0);
  }

  /**
   * Adds everything reached since `clear` to the features; each probe has COUNT_CLASSES numbers.
   */
  collect(features: number[]): void {
    const counters = this.#counters;
    for (let probe = 0; probe < counters.length; probe++) {
      const count = counters[probe] as number;
      if (count !== 0) features.push(COUNT_CLASSES * probe + (CLASSES[count] as number));
    }
  }
}

const CLASSES = Uint8Array.from({ length: 256 }, (_, count) =>
  [2, 3, 4, 8, 16, 32, 128, 256].findIndex((end) => count < end),
);
