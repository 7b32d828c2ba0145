import type { InstrumentedKernel } from './coverage/counters.js';
import type { Finding, FuzzLimits, FuzzProgress, Reached } from './fuzzer.js';

/** The start data of the thread. */
export type ThreadTask = {
  /** URL of the module that exports the target as `target`. */
  readonly targetUrl: string;
  /** Part of the URLs of the scripts whose coverage counts. */
  readonly covered: string;
  readonly watched: SharedArrayBuffer;
  readonly inputs: readonly Uint8Array[];
} & (
  | { readonly kind: 'replay' }
  | { readonly kind: 'fuzz'; readonly kernel: InstrumentedKernel; readonly limits: FuzzLimits }
);

/** The messages of the thread. */
export type FromThread =
  | { readonly kind: 'progress'; readonly progress: FuzzProgress }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | {
      readonly kind: 'done';
      readonly runs: number;
      readonly reached: Reached;
      /** A small corpus with all the coverage that was reached. */
      readonly inputs: readonly Uint8Array[];
    };
