import type { Random } from '../test/random/random.js';
import type { KernelBuild } from './kernel/guarded-kernel.js';

/**
 * A target of the fuzzer. To add one, write a file like those in targets/ and name it in
 * targets/index.ts.
 */
export interface Target {
  readonly name: string;
  /** One line for `npm run fuzz`. */
  readonly summary: string;
  /** Maximum length of an input. */
  readonly maxBytes: number;
  /**
   * Initial inputs, one character for each byte: above all those that revealed faults. Always
   * replayed.
   */
  readonly seeds: readonly string[];
  /** Words that mutation inserts, one character for each byte. */
  readonly dictionary: readonly string[];
  /** A new input by the grammar of the target's format, one character for each byte. */
  generate(random: Random): string;
  /** A piece of such an input, for mutation to insert. */
  piece(random: Random): string;
  /**
   * The check itself, with this build of the kernel: throws if an invariant fails for an input.
   * Must be deterministic.
   */
  check(kernel: KernelBuild): Check;
}

/** Throws, or rejects, if an invariant fails. */
export type Check = (input: Uint8Array) => void | Promise<void>;
