import type { Random } from '../test/random.js';
import type { KernelBuild } from './kernel/guarded-kernel.js';

/**
 * What the fuzzer throws inputs at. To add one, write a file like those in targets/ and name it in
 * targets/index.ts.
 */
export interface Target {
  readonly name: string;
  /** One line for `npm run fuzz`. */
  readonly summary: string;
  /** No input is longer. */
  readonly maxOctets: number;
  /**
   * Inputs to begin with, one character an octet: those of which faults were made, above all.
   * Always replayed.
   */
  readonly seeds: readonly string[];
  /** Words that mutation inserts, one character an octet. */
  readonly dictionary: readonly string[];
  /** A fresh input by the grammar of what the target reads, one character an octet. */
  generate(random: Random): string;
  /** A piece of such an input, for mutation to insert. */
  piece(random: Random): string;
  /**
   * The check itself, over this build of the kernel: throws if an invariant does not hold for an
   * input, and must be deterministic.
   */
  check(kernel: KernelBuild): Check;
}

export type Check = (input: Uint8Array) => void;

/** An invariant that does not hold. */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** Throws a fault unless what is so is what should be. */
export function agree(what: string, actual: unknown, expected: unknown): void {
  if (actual === expected) return;
  throw new Fault(`${what}: ${shown(actual)}, should be ${shown(expected)}`);
}

/** As JSON in ASCII alone. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'undefined' : JSON.stringify(value);
  return Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code >= 0x20 && code <= 0x7e ? character : `\\u{${code.toString(16)}}`;
  }).join('');
}
