/** The entries of the lines in flight; layout.ts, LINE_…, has their fields. */

import {
  LINE_BYTES,
  LINE_QUERY,
  LINE_ROOT_BYTES,
  QUERY_TABLE,
  WORKER_BEFORE,
  WORKER_LINES,
} from '../layout';

/** Outcome of a line whose URL is fine so far. */
export const PENDING: i32 = -1;
/** Outcome of a line that is empty or white space: not a record. */
export const EMPTY: i32 = -2;

/** The entry of the first line of a group. It has no line before whose authority it takes over. */
export function firstEntry(worker: usize): usize {
  store<u32>(worker + WORKER_BEFORE, 0, LINE_ROOT_BYTES);
  return lineEntry(worker, 0);
}

/** The entry of the line with this index in its group. */
export function lineEntry(worker: usize, index: i32): usize {
  return worker + WORKER_LINES + <usize>index * LINE_BYTES;
}

/** Where the number of a line stands, and then the end of its output (layout.ts, TASK_PLACES). */
export function placeOf(places: usize, index: i32): usize {
  return places + ((<usize>index) << 2);
}

/** The query for the line: that of its host's shard. */
export function queryOf(line: usize): usize {
  return load<u32>(line, LINE_QUERY);
}

/** The table that is asked for the line. */
export function tableOf(line: usize): usize {
  return load<u32>(queryOf(line), QUERY_TABLE);
} /** The bound of scratch memory. SCRATCH_FACTOR in layout.ts says how much the host must provide. */

let scratchEnd: usize = 0;

/** Sets the end of scratch memory for the following calls. */
export function limitScratch(end: usize): void {
  scratchEnd = end;
}

/**
 * Traps unless `bytes` bytes may be written from `scratch` on. Too little scratch memory is a
 * fault of the program. The run must end: a write beyond the end would change another thread's
 * records.
 */
export function claimScratch(scratch: usize, bytes: usize): void {
  if (scratch > scratchEnd || bytes > scratchEnd - scratch) unreachable();
}
