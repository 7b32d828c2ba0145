import type { OctetStore } from './octet-store.js';

/** Octets of a string that are compared at a time: as many as a word has. */
const STEP = 4;

/**
 * The numbers of a store's strings in the order of their octets. No string may be the beginning of
 * another.
 *
 * Sorts by the first four octets, then each run of strings that are alike so far by the next four,
 * and so on. What is sorted are 64-bit numbers, the four octets above the number of the string,
 * which the engine does without calling back. Each string is looked at once for each four octets
 * that it shares with another.
 */
export function sortStrings(strings: OctetStore): Int32Array {
  const { count } = strings;
  const keys = new BigUint64Array(count);
  const words = new Uint32Array(keys.buffer);
  for (let item = 0; item < count; item++) words[2 * item + LOW] = item;
  const waiting = [0, count, 0];
  while (waiting.length > 0) {
    const depth = waiting.pop() as number;
    const high = waiting.pop() as number;
    const low = waiting.pop() as number;
    for (let index = low; index < high; index++) {
      words[2 * index + HIGH] = strings.word(words[2 * index + LOW] as number, depth);
    }
    keys.subarray(low, high).sort();
    let start = low;
    for (let index = low + 1; index <= high; index++) {
      if (index < high && words[2 * index + HIGH] === words[2 * start + HIGH]) continue;
      if (index - start > 1) waiting.push(start, index, depth + STEP);
      start = index;
    }
  }
  const sorted = new Int32Array(count);
  for (let index = 0; index < count; index++) sorted[index] = words[2 * index + LOW] as number;
  return sorted;
}

/** Which word of a 64-bit number in memory is the lower one. */
const LOW = new Uint32Array(BigUint64Array.of(1n).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;
