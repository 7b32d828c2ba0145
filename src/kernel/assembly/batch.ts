/**
 * The one loop over lines, for every format and output. Lines are taken in groups, phase by phase,
 * so that the cache misses of one line's way through the table (slot, host record and what lies
 * behind it) overlap with those of its neighbours.
 */

import {
  ALLOW,
  BAD_INPUT_LIMIT,
  DENY,
  FORMAT_TEXT,
  GROUP_LINES,
  INVALID,
  MARGIN,
  MAX_BAD,
  OUTCOMES,
  OUTPUT_ALLOWED,
  OUTPUT_ANNOTATE,
  QUERY_AGENT_COUNT,
  QUERY_FLAGS,
  QUERY_FORMAT,
  QUERY_LINE_OVERHEAD,
  QUERY_OUTPUT,
  QUERY_STRICT,
  QUERY_TABLE,
  REASON_LINE_TOO_LONG,
  REASON_NESTED_TOO_DEEP,
  REASON_NO_JSON,
  REASON_NO_OBJECT,
  RESULT_OCTETS,
  RESULT_OUTCOME,
  RUN_BAD_RECORD,
  RUN_DONE,
  RUN_NEEDS_LINE_BASE,
  RUN_OUTPUT_FULL,
  TASK_BAD,
  TASK_BAD_COUNT,
  TASK_FLAGS,
  TASK_INPUT,
  TASK_INPUT_END,
  TASK_LINE_BASE,
  TASK_LINE_BASE_KNOWN,
  TASK_LINES,
  TASK_OUTPUT,
  TASK_OUTPUT_END,
  TASK_OVERLONG,
  TASK_QUERY,
  TASK_SCRATCH,
  TASK_SCRATCH_END,
  TASK_WORKER,
  WORKER_BAD,
  WORKER_HOSTS,
  WORKER_PASSED,
  WORKER_RECORDS,
  WORKER_RESULTS,
  WORKER_TALLY,
} from '../layout';
import { annotateJson, annotateText, describeBadLine, lineEnd, pass } from './emit';
import {
  EMPTY,
  HOST_SPACE,
  LINE_END,
  LINE_NEWLINE,
  LINE_NUMBER,
  LINE_OUTCOME,
  LINE_START,
  lineEntry,
} from './line';
import { locate } from './locate';
import { decide, lookUp } from './look-up';
import { limitScratch } from './scratch';

/**
 * Judges the lines of a batch; the words of the task and what is returned are described in
 * layout.ts.
 */
export function run(task: usize): i32 {
  const query: usize = load<u32>(task, TASK_QUERY);
  const worker: usize = load<u32>(task, TASK_WORKER);
  const end: usize = load<u32>(task, TASK_INPUT_END);
  limitScratch(load<u32>(task, TASK_SCRATCH_END));
  store<i32>(task, 0, TASK_BAD_COUNT);
  let at: usize = load<u32>(task, TASK_INPUT);
  while (at < end) {
    const first = load<i32>(task, TASK_LINES);
    let scratch: usize = load<u32>(task, TASK_SCRATCH);
    let lines = 0;
    while (lines < GROUP_LINES && at < end) {
      const line = lineEntry(worker, lines);
      store<u32>(line, at, LINE_START);
      store<i32>(line, first + lines, LINE_NUMBER);
      if ((load<u32>(task, TASK_FLAGS) & TASK_OVERLONG) !== 0) {
        store<i32>(line, (INVALID << 4) | REASON_LINE_TOO_LONG, LINE_OUTCOME);
        store<u32>(line, end, LINE_END);
        store<u32>(line, end, LINE_NEWLINE);
        truncateLine(line);
        at = end;
      } else {
        const hostSpace = worker + WORKER_HOSTS + <usize>lines * HOST_SPACE;
        scratch = locate(query, worker, line, end, hostSpace, scratch);
        at = load<u32>(line, LINE_NEWLINE) + 1;
      }
      lines++;
    }
    lookUp(query, worker, lines);
    const stopped = emitAll(task, query, worker, lines, scratch);
    if (stopped !== RUN_DONE) return stopped;
    store<u32>(task, at, TASK_INPUT);
    store<i32>(task, first + lines, TASK_LINES);
  }
  return RUN_DONE;
}

/**
 * Decides and writes the lines of a group. If it has to stop, the task says that the next line is
 * the one it stopped at.
 */
function emitAll(task: usize, query: usize, worker: usize, lines: i32, scratch: usize): i32 {
  const table: usize = load<u32>(query, QUERY_TABLE);
  const overhead = load<i32>(query, QUERY_LINE_OVERHEAD) + MARGIN;
  const outputEnd: usize = load<u32>(task, TASK_OUTPUT_END);
  let to: usize = load<u32>(task, TASK_OUTPUT);
  for (let i = 0; i < lines; i++) {
    const line = lineEntry(worker, i);
    const octets = load<i32>(line, LINE_NEWLINE) - load<i32>(line, LINE_START);
    let stop = RUN_DONE;
    if (<i32>(outputEnd - to) < octets + overhead) {
      stop = RUN_OUTPUT_FULL;
    } else {
      decide(query, worker, table, line, scratch);
      stop = obstacle(task, query, line);
    }
    if (stop !== RUN_DONE) {
      store<u32>(task, load<u32>(line, LINE_START), TASK_INPUT);
      store<i32>(task, load<i32>(line, LINE_NUMBER), TASK_LINES);
      store<u32>(task, to, TASK_OUTPUT);
      return stop;
    }
    to = emit(task, query, worker, line, to);
  }
  store<u32>(task, to, TASK_OUTPUT);
  return RUN_DONE;
}

/** Whether the line is no record at all, so that its output is a record about the line. */
function isUnreadable(query: usize, outcome: i32): bool {
  const reason = outcome & 15;
  return (
    outcome >= 0 &&
    load<i32>(query, QUERY_FORMAT) !== FORMAT_TEXT &&
    (reason === REASON_NO_OBJECT ||
      reason === REASON_NO_JSON ||
      reason === REASON_LINE_TOO_LONG ||
      reason === REASON_NESTED_TOO_DEEP)
  );
}

/**
 * What keeps the line from being written now: RUN_NEEDS_LINE_BASE, RUN_BAD_RECORD, or nothing,
 * RUN_DONE.
 */
function obstacle(task: usize, query: usize, line: usize): i32 {
  const outcome = load<i32>(line, LINE_OUTCOME);
  if (outcome < 0) return RUN_DONE;
  if ((load<u32>(query, QUERY_FLAGS) & QUERY_STRICT) !== 0) {
    store<i32>(task, 1, TASK_BAD_COUNT);
    store<i32>(task, load<i32>(line, LINE_NUMBER), TASK_BAD);
    store<i32>(task, outcome & 15, TASK_BAD + 4);
    return RUN_BAD_RECORD;
  }
  const known = (load<u32>(task, TASK_FLAGS) & TASK_LINE_BASE_KNOWN) !== 0;
  const annotates = load<i32>(query, QUERY_OUTPUT) === OUTPUT_ANNOTATE;
  return annotates && !known && isUnreadable(query, outcome) ? RUN_NEEDS_LINE_BASE : RUN_DONE;
}

function increment(counter: usize): void {
  store<u64>(counter, load<u64>(counter) + 1);
}

/** Counts a line and writes what is to be written of it; returns the end of the output. */
function emit(task: usize, query: usize, worker: usize, line: usize, to: usize): usize {
  const output = load<i32>(query, QUERY_OUTPUT);
  const outcome = load<i32>(line, LINE_OUTCOME);
  if (outcome === EMPTY) return output === OUTPUT_ANNOTATE ? to : lineEnd(line, pass(line, to));
  increment(worker + WORKER_RECORDS);
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  let result = worker + WORKER_RESULTS;
  let tally = worker + WORKER_TALLY;
  let allowed = true;
  let denied = false;
  for (let i = 0; i < agents; i++) {
    const each = load<i32>(result, RESULT_OUTCOME);
    increment(tally + <usize>each * 8);
    if (each >> 4 !== ALLOW) allowed = false;
    if (each >> 4 === DENY) denied = true;
    result += RESULT_OCTETS;
    tally += OUTCOMES * 8;
  }
  if (outcome >= 0) report(task, worker, line, outcome & 15);
  if (output !== OUTPUT_ANNOTATE) {
    if (!(output === OUTPUT_ALLOWED ? allowed : denied)) return to;
    increment(worker + WORKER_PASSED);
    return lineEnd(line, pass(line, to));
  }
  increment(worker + WORKER_PASSED);
  if (load<i32>(query, QUERY_FORMAT) === FORMAT_TEXT) {
    // Of a line that is too long only the beginning comes out, wherever its length was noticed.
    if (outcome >= 0 && (outcome & 15) === REASON_LINE_TOO_LONG) truncateLine(line);
    return lineEnd(line, annotateText(query, worker, line, to));
  }
  if (!isUnreadable(query, outcome)) return lineEnd(line, annotateJson(query, worker, line, to));
  const number = load<u64>(task, TASK_LINE_BASE) + load<u32>(line, LINE_NUMBER) + 1;
  to = describeBadLine(query, worker, line, number, to);
  store<u8>(to, 0x0a);
  return to + 1;
}

/** Truncates the line to BAD_INPUT_LIMIT; a line that is no longer than that keeps its line end. */
function truncateLine(line: usize): void {
  const end: usize = load<u32>(line, LINE_START) + BAD_INPUT_LIMIT;
  if (end >= <usize>load<u32>(line, LINE_END)) return;
  store<u32>(line, end, LINE_END);
  store<u32>(line, end, LINE_NEWLINE);
}

/** Enters a bad record in the task's list. */
function report(task: usize, worker: usize, line: usize, reason: i32): void {
  increment(worker + WORKER_BAD);
  const count = load<i32>(task, TASK_BAD_COUNT);
  if (count < MAX_BAD) {
    const entry = task + TASK_BAD + <usize>count * 8;
    store<i32>(entry, load<i32>(line, LINE_NUMBER));
    store<i32>(entry, reason, 4);
  }
  store<i32>(task, count + 1, TASK_BAD_COUNT);
}
