import { createMemory, instantiateKernel, type Kernel } from './kernel.js';
import { kernelModule } from './module.js';

/** The longest text of which strings are decoded, in octets. */
export const LONGEST_TEXT = 512 * 1024;

/** What the kernel may read and write beyond the octets that it is given. */
const MARGIN = 16;

/**
 * The memory: where the last quote was, the text, the string that was decoded. The text begins as
 * far behind a multiple of 8 as it does where it comes from, for only then does the engine copy
 * words to memory that is shared, and not octets.
 */
const TEXT = 64;
const WORD_OCTETS = 8;
const DECODED = TEXT + WORD_OCTETS + LONGEST_TEXT + MARGIN;

let octets: Uint8Array = new Uint8Array(0);
let words: Uint32Array = new Uint32Array(0);
let kernel: Kernel | undefined;

/** A string of a JSON text. */
export interface JsonString {
  /** What it says, in UTF-8; a lone surrogate is U+FFFD. Overwritten by the next. */
  readonly octets: Uint8Array;
  /** Offset in the text behind its last quote. */
  readonly end: number;
}

/**
 * Decodes the string of a JSON text, in UTF-8, whose first quote is at `start`; `undefined` where
 * none is valid, or the text too long.
 */
export function decodeJsonString(text: Uint8Array, start: number): JsonString | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  if (kernel === undefined) {
    const memory = createMemory(DECODED + LONGEST_TEXT + MARGIN);
    octets = new Uint8Array(memory.buffer);
    words = new Uint32Array(memory.buffer);
    kernel = instantiateKernel(kernelModule(), memory);
  }
  const at = TEXT + (text.byteOffset % WORD_OCTETS);
  octets.set(text, at);
  const end = kernel.decodeString(at + start + 1, at + text.length, DECODED, 0);
  if (end === 0) return undefined;
  return { octets: octets.subarray(DECODED, end), end: (words[0] as number) - at + 1 };
}
