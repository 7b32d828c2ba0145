/** Strings of bytes that are numbered from 0. */
export interface Strings {
  readonly count: number;
  /** Four bytes of a string from an offset, big-endian; zeros after its end. */
  word(item: number, offset: number): number;
}

/** Bytes that are compared at a time: one word. */
const STEP = 4;

/**
 * Number of words that are read of each string before any is sorted. Strings lie in memory in their
 * own order; read in the sorted order, each costs several cache misses.
 */
const EARLY_WORDS = 4;

/**
 * Sorts strings by their bytes; returns their numbers. Strings that differ in zeros at their end
 * alone, or only after `longest` bytes, are in the order of their numbers.
 *
 * Strings are sorted by the first four bytes, then each run of equal strings by the next four, and
 * so on. The sort keys are 64-bit numbers, four bytes above the number of the string, which the
 * engine sorts without a callback. Beyond its first words, each string is read once for each four
 * bytes that it shares with another.
 */
export function sortStrings(strings: Strings, longest: number): Int32Array {
  const { count } = strings;
  const early = earlyWords(strings);
  const keys = new BigUint64Array(count);
  const words = new Uint32Array(keys.buffer);
  for (let item = 0; item < count; item++) words[2 * item + LOW] = item;
  const waiting = [0, count, 0];
  while (waiting.length > 0) {
    const depth = waiting.pop() as number;
    const high = waiting.pop() as number;
    const low = waiting.pop() as number;
    const run = words.subarray(2 * low, 2 * high);
    if (depth < STEP * EARLY_WORDS) takeEarly(run, early, depth / STEP);
    else readWords(run, strings, depth);
    keys.subarray(low, high).sort();
    if (depth + STEP < longest) pushRuns(words, low, high, depth + STEP, waiting);
  }
  const sorted = new Int32Array(count);
  for (let index = 0; index < count; index++) sorted[index] = words[2 * index + LOW] as number;
  return sorted;
}

/*
 * Each loop is a separate function. V8 optimises a function during its first loop without knowing
 * the rest, and would deoptimise there each time.
 */

/** The first EARLY_WORDS words of each string. */
function earlyWords(strings: Strings): Int32Array {
  const { count } = strings;
  const early = new Int32Array(EARLY_WORDS * count);
  for (let item = 0; item < count; item++) {
    for (let place = 0; place < EARLY_WORDS; place++) {
      early[EARLY_WORDS * item + place] = strings.word(item, STEP * place);
    }
  }
  return early;
}

function takeEarly(run: Uint32Array, early: Int32Array, place: number): void {
  for (let at = 0; at < run.length; at += 2) {
    run[at + HIGH] = early[EARLY_WORDS * (run[at + LOW] as number) + place] as number;
  }
}

function readWords(run: Uint32Array, strings: Strings, depth: number): void {
  for (let at = 0; at < run.length; at += 2) {
    run[at + HIGH] = strings.word(run[at + LOW] as number, depth);
  }
}

/** Adds each run of several equal words, with the depth of their next words. */
function pushRuns(
  words: Uint32Array,
  low: number,
  high: number,
  depth: number,
  to: number[],
): void {
  let start = low;
  for (let index = low + 1; index <= high; index++) {
    if (index < high && words[2 * index + HIGH] === words[2 * start + HIGH]) continue;
    if (index - start > 1) to.push(start, index, depth);
    start = index;
  }
}

/**
 * The numbers of the first strings, in the order of `sortStrings`. Strings that are not among them
 * are read no further than to see that.
 *
 * @param most number of strings; all if there are fewer
 */
export function firstStrings(strings: Strings, longest: number, most: number): Int32Array {
  const { count } = strings;
  const first = new Int32Array(Math.min(most, count));
  let found = 0;
  // Strings that begin as the last of the first does, as far as they have been read.
  let alike = new Int32Array(count);
  for (let item = 0; item < count; item++) alike[item] = item;
  for (let depth = 0; depth < longest; depth += STEP) {
    const wanted = first.length - found;
    if (wanted === 0 || alike.length <= wanted) break;
    const words = new Uint32Array(alike.length);
    for (let index = 0; index < alike.length; index++) {
      words[index] = strings.word(alike[index] as number, depth);
    }
    const last = words.slice().sort()[wanted - 1] as number;
    let kept = 0;
    for (let index = 0; index < alike.length; index++) {
      const item = alike[index] as number;
      if ((words[index] as number) < last) first[found++] = item;
      else if (words[index] === last) alike[kept++] = item;
    }
    alike = alike.subarray(0, kept);
  }
  first.set(alike.subarray(0, first.length - found), found);
  first.sort();
  const word = (index: number, offset: number): number =>
    strings.word(first[index] as number, offset);
  return sortStrings({ count: first.length, word }, longest).map((index) => first[index] as number);
}

/** The words of a 64-bit number in memory, which is little-endian. */
const LOW = 0;
const HIGH = 1;
