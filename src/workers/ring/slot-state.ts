/* The word STATE of a slot; ring-words.ts tells what each state means. */

export const FREE = 0;
export const OPEN = 1;
export const FILLED = 2;
export const TAKEN = 3;
export const FAILED = 4;
// This state and all later ones concern the writer.
export const YIELDED = 5;
export const JUDGED = 6;
export const REFUSED = 7;
export const ENDED = 8;

const STATE_BITS = 4;
const STATE_MASK = 2 ** STATE_BITS - 1;

/** Maximum bytes of a batch, so that an OPEN word can hold their number. */
export const MAX_BATCH_BYTES = 2 ** (31 - STATE_BITS) - 1;

export function stateOf(word: number): number {
  return word & STATE_MASK;
}

/** Whether the slot belongs to the writer, or has ENDED. */
export function concernsWriter(word: number): boolean {
  return stateOf(word) >= YIELDED;
}

export function openWord(bytes: number): number {
  return (bytes << STATE_BITS) | OPEN;
}

/** Bytes of complete lines in an OPEN slot. */
export function linesOf(word: number): number {
  return word >>> STATE_BITS;
}

/** The word of a slot that is TAKEN, YIELDED or JUDGED by a worker. */
export function ownedWord(state: number, worker: number): number {
  return (worker << STATE_BITS) | state;
}

/** The worker in the word of a slot that is TAKEN, YIELDED or JUDGED. */
export function ownerOf(word: number): number {
  return word >>> STATE_BITS;
}
