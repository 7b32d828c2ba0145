/** Strings of bytes that are numbered from 0. */
export interface Strings {
  readonly count: number;
  /** Four bytes of a string from an offset, big-endian; zeros after its end. */
  word(item: number, offset: number): number;
}

/** Bytes that are compared at a time: one word. */
const STEP = 4;

/**
 * Sorts strings by their bytes; returns their numbers. Strings that differ in zeros at their end
 * alone, or only after `longest` bytes, are in no defined order.
 *
 * Strings are sorted by the first four bytes, then each run of equal strings by the next four, and
 * so on. The sort keys are 64-bit numbers, four bytes above the number of the string, which the
 * engine sorts without a callback. Each string is read once for each four bytes that it shares with
 * another.
 */
export function sortStrings(strings: Strings, longest: number): Int32Array {
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
    if (depth + STEP >= longest) continue;
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

/** The words of a 64-bit number in memory, which is little-endian. */
const LOW = 0;
const HIGH = 1;
