/**
 * The kernel: all code that runs for every byte of a run, and what compiles rules into automata. It
 * has no data section and no heap, so any number of instances can share one memory.
 * table/format.ts describes the table that it reads; kernel/layout.ts describes the task, query and
 * worker block. What compiles needs a memory of its own, and adds to it: kernel/compile-layout.ts.
 */

import { BLOCK_BYTES, PRIME_1, PRIME_2, QUERY_TIMED, TURN } from '../layout';
import { decide } from './decide';
import { forgetMarks } from './json/marks';
import { locate, resolve } from './locate';
import { lookUp } from './look-up';
import { firstLine, limitScratch, Query, Worker } from './memory';
import { NO_TIME, timeOf } from './time';
import { decideUses } from './uses';

export { run } from './batch';
export { writeAutomaton } from './compile/automaton';
export { claim } from './compile/memory';
export { loadRules, setText } from './compile/rules';
export { divide, keepRules, merge } from './counts';
export { patternText, ruleText, sourceText } from './emit/parts';
export { hashHost } from './hosts';
export { decodeString } from './json/string';
export { endOfPlainRows } from './rows';

/**
 * Decides about the URL `url`–`end`: leaves a result for each agent in the worker block, and
 * returns the first agent's outcome. Scratch memory, `scratch`–`scratchEnd`, has the size that
 * kernel/layout.ts requires for one line (SCRATCH_FACTOR).
 */
export function decideUrl(
  query: Query,
  worker: Worker,
  url: usize,
  end: usize,
  scratch: usize,
  scratchEnd: usize,
): i32 {
  limitScratch(scratchEnd);
  const line = firstLine(worker);
  line.query = query;
  line.url = url;
  line.urlEnd = end;
  line.owned = 0;
  if ((query.flags & QUERY_TIMED) !== 0) line.time = load<u32>(query.times);
  scratch = resolve(query, line, worker.hosts, scratch);
  lookUp(query, worker, 1);
  decide(line.query, worker, line, scratch);
  if (query.firstUse < query.agentCount) decideUses(line.query, worker, line);
  return worker.results.outcome;
}

/**
 * Finds the URL of the record that is the line `start`–`end`: fills in the first line entry of the
 * worker block. Scratch memory has the size that kernel/layout.ts requires for one line.
 */
export function locateRecord(
  query: Query,
  worker: Worker,
  start: usize,
  end: usize,
  scratch: usize,
  scratchEnd: usize,
): void {
  limitScratch(scratchEnd);
  const line = firstLine(worker);
  line.query = query;
  line.start = start;
  forgetMarks(worker.marks);
  locate(query, line, end, worker, worker.hosts, scratch);
}

/**
 * The time that the text `from`–`end` states, in milliseconds since 1970; NaN if the text states
 * none. Reads 3 bytes past `end`.
 */
export function readTime(from: usize, end: usize): f64 {
  const time = timeOf(from, end);
  return time === NO_TIME ? NaN : <f64>time;
}

// ---- The checksum of a table; src/kernel/hashes.ts defines it

/** One round of XXH32 in four lanes, with the words at `at`. */
function round(lanes: v128, at: usize): v128 {
  const sums = i32x4.add(lanes, i32x4.mul(v128.load(at), i32x4.splat(PRIME_2)));
  const turned = v128.or(i32x4.shl(sums, TURN), i32x4.shr_u(sums, 32 - TURN));
  return i32x4.mul(turned, i32x4.splat(PRIME_1));
}

/** Adds the blocks `from`–`end` to the lanes, which lie one after another at `lanes`. */
export function addBlocks(lanes: usize, from: usize, end: usize): void {
  // Each lane waits for its own last round, so eight vectors are under way at a time.
  let a = v128.load(lanes);
  let b = v128.load(lanes, 16);
  let c = v128.load(lanes, 32);
  let d = v128.load(lanes, 48);
  let e = v128.load(lanes, 64);
  let f = v128.load(lanes, 80);
  let g = v128.load(lanes, 96);
  let h = v128.load(lanes, 112);
  for (; from < end; from += BLOCK_BYTES) {
    a = round(a, from);
    b = round(b, from + 16);
    c = round(c, from + 32);
    d = round(d, from + 48);
    e = round(e, from + 64);
    f = round(f, from + 80);
    g = round(g, from + 96);
    h = round(h, from + 112);
  }
  v128.store(lanes, a);
  v128.store(lanes, b, 16);
  v128.store(lanes, c, 32);
  v128.store(lanes, d, 48);
  v128.store(lanes, e, 64);
  v128.store(lanes, f, 80);
  v128.store(lanes, g, 96);
  v128.store(lanes, h, 112);
}
