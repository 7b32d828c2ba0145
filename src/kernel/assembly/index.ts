/**
 * The kernel: all code that runs for every byte of a run, and what compiles rules into automata. It
 * has no data section and no heap, so any number of instances can share one memory.
 * table/format.ts describes the table that it reads; kernel/layout.ts describes the task, query and
 * worker block. What compiles needs a memory of its own, and adds to it: kernel/compile-layout.ts.
 */

import {
  LINE_OWNED,
  LINE_QUERY,
  LINE_START,
  LINE_URL,
  LINE_URL_END,
  RESULT_OUTCOME,
  WORKER_HOSTS,
  WORKER_MARKS,
  WORKER_RESULTS,
} from '../layout';
import { forgetMarks } from './json/marks';
import { locate, resolve } from './locate';
import { lookUp } from './lookup/look-up';
import { decide } from './match/decide';
import { firstEntry, queryOf } from './memory/line';
import { limitScratch } from './memory/scratch';

export { run } from './batch';
export { addBlocks } from './checksum';
export { writeAutomaton } from './compile/automaton';
export { loadRules, setText } from './compile/rules';
export { claim } from './compile/work-memory';
export { endOfPlainRows } from './csv/plain-rows';
export { patternText, sourceText } from './emit/rule';
export { decodeString } from './json/string';
export { hashHost } from './lookup/host-hash';
export { keepRules } from './rule-counts';
export { divide, merge } from './shares';

/**
 * Decides about the URL `url`–`end`: leaves a result for each agent in the worker block, and
 * returns the first agent's outcome. Scratch memory, `scratch`–`scratchEnd`, has the size that
 * layout.ts requires for one line (SCRATCH_FACTOR).
 */
export function decideUrl(
  query: usize,
  worker: usize,
  url: usize,
  end: usize,
  scratch: usize,
  scratchEnd: usize,
): i32 {
  limitScratch(scratchEnd);
  const line = firstEntry(worker);
  store<u32>(line, query, LINE_QUERY);
  store<u32>(line, url, LINE_URL);
  store<u32>(line, end, LINE_URL_END);
  store<u32>(line, 0, LINE_OWNED);
  scratch = resolve(query, line, worker + WORKER_HOSTS, scratch);
  lookUp(query, worker, 1);
  decide(queryOf(line), worker, line, scratch);
  return load<i32>(worker + WORKER_RESULTS, RESULT_OUTCOME);
}

/**
 * Finds the URL of the record that is the line `start`–`end`: fills in the first line entry of the
 * worker block. Scratch memory has the size that layout.ts requires for one line.
 */
export function locateRecord(
  query: usize,
  worker: usize,
  start: usize,
  end: usize,
  scratch: usize,
  scratchEnd: usize,
): void {
  limitScratch(scratchEnd);
  const line = firstEntry(worker);
  store<u32>(line, query, LINE_QUERY);
  store<u32>(line, start, LINE_START);
  forgetMarks(worker + WORKER_MARKS);
  locate(query, line, end, worker, worker + WORKER_HOSTS, scratch);
}
