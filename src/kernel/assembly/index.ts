/**
 * The kernel: all that runs for every octet of a run. It holds no data and no heap of its own, so
 * that any number of instances can share one memory; what it reads and writes is described in
 * compile/format.ts (the table) and kernel/layout.ts (task, query, worker block).
 */

import { QUERY_TABLE, RESULT_OUTCOME, WORKER_HOSTS, WORKER_RESULTS } from '../layout';
import { LINE_OWNED, LINE_URL, LINE_URL_END, lineEntry } from './line';
import { resolve } from './locate';
import { decide, lookUp } from './look-up';
import { canonicalise, escapePattern } from './octets';
import { limitScratch } from './scratch';

export { run } from './batch';
export { hashHost } from './host-hash';
export { decodeString } from './json';
export { patternText, sourceText } from './rule';

/**
 * Judges the one URL `url`–`end` and leaves a result for each agent in the worker block; returns
 * the first one's outcome. Scratch memory, `scratch`–`scratchEnd`, has the octets that layout.ts
 * asks for (SCRATCH_FACTOR), with one line.
 */
export function judgeUrl(
  query: usize,
  worker: usize,
  url: usize,
  end: usize,
  scratch: usize,
  scratchEnd: usize,
): i32 {
  limitScratch(scratchEnd);
  const table: usize = load<u32>(query, QUERY_TABLE);
  const line = lineEntry(worker, 0);
  store<u32>(line, url, LINE_URL);
  store<u32>(line, end, LINE_URL_END);
  store<u32>(line, 0, LINE_OWNED);
  scratch = resolve(query, line, worker + WORKER_HOSTS, scratch);
  lookUp(query, worker, 1);
  decide(query, worker, table, line, scratch);
  return load<i32>(worker + WORKER_RESULTS, RESULT_OUTCOME);
}

/**
 * The canonical form of a pattern's literal; see octets.ts. Returns the end of what is written to
 * `to`.
 */
export function canonicaliseLiteral(from: usize, end: usize, to: usize, inQuery: bool): usize {
  return canonicalise(from, end, to, inQuery);
}

/**
 * The form of a pattern's literal in the google profile. Returns the end of what is written to
 * `to`.
 */
export function escapeLiteral(from: usize, end: usize, to: usize): usize {
  return escapePattern(from, end, to);
}
