/**
 * The only loop over lines, for every format and output. Lines go through the phases in groups, so
 * that the cache misses of one line (slot, host record, automaton) overlap with those of others.
 */

import {
  ALLOW,
  BAD_BYTES,
  BAD_INPUT_LIMIT,
  BAD_LINE,
  BAD_REASON,
  CONVERT_NONE,
  DENY,
  FORMAT_JSON,
  FORMAT_NDJSON,
  FORMAT_TEXT,
  FRAGMENT_MASK_ALLOWED,
  FRAGMENT_MASK_DENIED,
  FRAME_OUTCOMES,
  FRAME_RECORD,
  FRAME_URL,
  GROUP_LINES,
  HOST_COUNTS_BITS,
  HOST_COUNTS_BYTES,
  HOST_SPACE,
  INVALID,
  LINE_BYTES,
  LINE_END,
  LINE_NEWLINE,
  LINE_NUMBER,
  LINE_OUTCOME,
  LINE_QUERY,
  LINE_ROBOTS,
  LINE_SHARD,
  LINE_SLOT,
  LINE_START,
  MARGIN,
  MAX_BAD,
  OUTCOMES,
  OUTPUT_ALLOWED,
  OUTPUT_ANNOTATE,
  OUTPUT_DENIED,
  OUTPUT_MASK,
  OUTPUT_VERDICTS,
  QUERY_ADDS_SHARD,
  QUERY_AGENT_COUNT,
  QUERY_CONVERSION,
  QUERY_COUNTS,
  QUERY_FLAGS,
  QUERY_FORMAT,
  QUERY_FRAMES,
  QUERY_LINE_FACTOR,
  QUERY_LINE_OVERHEAD,
  QUERY_OUTPUT,
  QUERY_RULES,
  QUERY_STRICT,
  REASON_LINE_TOO_LONG,
  REASON_NESTED_TOO_DEEP,
  REASON_NO_JSON,
  REASON_NO_OBJECT,
  RESULT_BYTES,
  RESULT_OUTCOME,
  RUN_BAD_RECORD,
  RUN_DONE,
  RUN_NEEDS_LINE_BASE,
  RUN_OUTPUT_FULL,
  RUN_RULES_FULL,
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
  TASK_PLACES,
  TASK_QUERY,
  TASK_SCRATCH,
  TASK_SCRATCH_END,
  TASK_WORKER,
  WORKER_BAD,
  WORKER_HOSTS,
  WORKER_MARKS,
  WORKER_PASSED,
  WORKER_RECORDS,
  WORKER_RESULTS,
  WORKER_SHARD,
  WORKER_TALLY,
} from '../layout';
import { countRules, hasRoom, makeRoom, noteRules } from './counts';
import { decide } from './decide';
import { convert, rawUrl } from './emit/conversion';
import { byte, fragment, lineEnd, newline, pass, resultOf, verdicts } from './emit/parts';
import {
  annotateJson,
  annotateRow,
  annotateText,
  describeBadLine,
  passJson,
  passRow,
} from './emit/records';
import { forgetMarks } from './json/marks';
import { locate } from './locate';
import { lookUp } from './look-up';
import { EMPTY, firstEntry, limitScratch, lineEntry, PENDING, placeOf, queryOf } from './memory';
import { holdsRows, rowStart } from './rows';

/** Decides and writes the lines of a batch. TASK_… and RUN_… in layout.ts describe the call. */
export function run(task: usize): i32 {
  const query: usize = load<u32>(task, TASK_QUERY);
  const worker: usize = load<u32>(task, TASK_WORKER);
  const end: usize = load<u32>(task, TASK_INPUT_END);
  const places: usize = load<u32>(task, TASK_PLACES);
  limitScratch(load<u32>(task, TASK_SCRATCH_END));
  forgetMarks(worker + WORKER_MARKS);
  store<i32>(task, 0, TASK_BAD_COUNT);
  let at: usize = load<u32>(task, TASK_INPUT);
  while (at < end) {
    const first = load<i32>(task, TASK_LINES);
    let scratch: usize = load<u32>(task, TASK_SCRATCH);
    let line = firstEntry(worker);
    let lines = 0;
    while (lines < GROUP_LINES && at < end) {
      store<u32>(line, at, LINE_START);
      store<u32>(line, query, LINE_QUERY);
      const number = places === 0 ? first + lines : load<i32>(placeOf(places, first + lines));
      store<i32>(line, number, LINE_NUMBER);
      if ((load<u32>(task, TASK_FLAGS) & TASK_OVERLONG) !== 0) {
        store<i32>(line, (INVALID << 4) | REASON_LINE_TOO_LONG, LINE_OUTCOME);
        store<u32>(line, end, LINE_END);
        store<u32>(line, end, LINE_NEWLINE);
        truncateLine(line, holdsRows(query));
        at = end;
      } else {
        const hostSpace = worker + WORKER_HOSTS + <usize>lines * HOST_SPACE;
        scratch = locate(query, line, end, worker, hostSpace, scratch);
        at = load<u32>(line, LINE_NEWLINE) + 1;
      }
      line += LINE_BYTES;
      lines++;
    }
    lookUp(query, worker, lines);
    const stopped = emitAll(task, worker, lines, scratch);
    if (load<u32>(query, QUERY_RULES) !== 0) countRules(query, worker);
    if (stopped !== RUN_DONE) return stopped;
    store<u32>(task, at, TASK_INPUT);
    store<i32>(task, first + lines, TASK_LINES);
  }
  return RUN_DONE;
}

/**
 * Decides and writes the lines of a group. If it stops early, the task goes on at the line where it
 * stopped.
 */
function emitAll(task: usize, worker: usize, lines: i32, scratch: usize): i32 {
  const query: usize = load<u32>(task, TASK_QUERY);
  const addsShard = (load<u32>(query, QUERY_FLAGS) & QUERY_ADDS_SHARD) !== 0;
  const factor: i64 = load<u32>(query, QUERY_LINE_FACTOR);
  const overhead: i64 = load<u32>(query, QUERY_LINE_OVERHEAD) + MARGIN;
  const outputEnd: usize = load<u32>(task, TASK_OUTPUT_END);
  const places: usize = load<u32>(task, TASK_PLACES);
  const first = load<i32>(task, TASK_LINES);
  const isRoomy = load<u32>(query, QUERY_RULES) === 0 || hasRoom(query, worker, lines);
  let to: usize = load<u32>(task, TASK_OUTPUT);
  for (let i = 0; i < lines; i++) {
    const line = lineEntry(worker, i);
    const bytes: i64 = load<u32>(line, LINE_NEWLINE) - load<u32>(line, LINE_START);
    let stop = RUN_DONE;
    if (<i64>outputEnd - <i64>to < factor * bytes + overhead) {
      stop = RUN_OUTPUT_FULL;
    } else if (!isRoomy && !makeRoom(query, worker)) {
      stop = RUN_RULES_FULL;
    } else {
      decide(queryOf(line), worker, line, scratch);
      stop = stopReason(task, query, line);
    }
    if (stop !== RUN_DONE) {
      store<u32>(task, load<u32>(line, LINE_START), TASK_INPUT);
      store<i32>(task, first + i, TASK_LINES);
      store<u32>(task, to, TASK_OUTPUT);
      return stop;
    }
    if (addsShard) store<u32>(worker, load<u32>(line, LINE_SHARD), WORKER_SHARD);
    to = emit(task, queryOf(line), worker, line, to);
    if (places !== 0) store<u32>(placeOf(places, first + i), to);
  }
  store<u32>(task, to, TASK_OUTPUT);
  return RUN_DONE;
}

/** Whether the line is not a record: its output is a record about the line. */
function isUnreadable(query: usize, outcome: i32): bool {
  const reason = outcome & 15;
  const format = load<i32>(query, QUERY_FORMAT);
  return (
    outcome >= 0 &&
    (format === FORMAT_NDJSON || format === FORMAT_JSON) &&
    (reason === REASON_NO_OBJECT ||
      reason === REASON_NO_JSON ||
      reason === REASON_LINE_TOO_LONG ||
      reason === REASON_NESTED_TOO_DEEP)
  );
}

/** Why the line cannot be written now: RUN_NEEDS_LINE_BASE or RUN_BAD_RECORD; else RUN_DONE. */
function stopReason(task: usize, query: usize, line: usize): i32 {
  const outcome = load<i32>(line, LINE_OUTCOME);
  if (outcome < 0) return RUN_DONE;
  if ((load<u32>(query, QUERY_FLAGS) & QUERY_STRICT) !== 0) {
    store<i32>(task, 0, TASK_BAD_COUNT);
    listBad(task, line, outcome & 15);
    return RUN_BAD_RECORD;
  }
  const known = (load<u32>(task, TASK_FLAGS) & TASK_LINE_BASE_KNOWN) !== 0;
  const annotates =
    load<i32>(query, QUERY_OUTPUT) === OUTPUT_ANNOTATE &&
    load<i32>(query, QUERY_CONVERSION) === CONVERT_NONE;
  return annotates && !known && isUnreadable(query, outcome) ? RUN_NEEDS_LINE_BASE : RUN_DONE;
}

function increment(counter: usize): void {
  store<u64>(counter, load<u64>(counter) + 1);
}

/**
 * Counts a line, and writes the line if the query's output wants it; returns the end of the output.
 */
function emit(task: usize, query: usize, worker: usize, line: usize, to: usize): usize {
  const output = load<i32>(query, QUERY_OUTPUT);
  const outcome = load<i32>(line, LINE_OUTCOME);
  if (outcome === EMPTY) return emitBlank(query, to);
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
    result += RESULT_BYTES;
    tally += OUTCOMES * 8;
  }
  if (load<u32>(query, QUERY_COUNTS) !== 0) countHost(query, worker, line, outcome);
  if (load<u32>(query, QUERY_RULES) !== 0) noteRules(query, worker);
  if (outcome >= 0) {
    increment(worker + WORKER_BAD);
    listBad(task, line, outcome & 15);
  }
  const selects = output === OUTPUT_ALLOWED || output === OUTPUT_DENIED;
  if (selects && !(output === OUTPUT_ALLOWED ? allowed : denied)) return to;
  increment(worker + WORKER_PASSED);
  const isFramed = (load<u32>(query, QUERY_FLAGS) & QUERY_FRAMES) !== 0;
  const start = isFramed ? beginFrame(query, worker, line, to) : to;
  const end = write(task, query, worker, line, allowed, start);
  if (isFramed) store<u32>(to, end - start, FRAME_RECORD);
  return end;
}

/** Writes a frame as far as its record: outcomes and URL. */
function beginFrame(query: usize, worker: usize, line: usize, to: usize): usize {
  const agents = load<i32>(query, QUERY_AGENT_COUNT);
  let at = to + FRAME_OUTCOMES;
  for (let i = 0; i < agents; i++) at = byte(load<i32>(resultOf(worker, i), RESULT_OUTCOME), at);
  const end = rawUrl(query, line, at);
  store<u32>(to, end - at, FRAME_URL);
  return end;
}

/**
 * Writes a line as the query's output wants it; returns the end of the output.
 *
 * @param allowed whether all agents may fetch the URL
 */
function write(
  task: usize,
  query: usize,
  worker: usize,
  line: usize,
  allowed: bool,
  to: usize,
): usize {
  const output = load<i32>(query, QUERY_OUTPUT);
  const outcome = load<i32>(line, LINE_OUTCOME);
  if (load<i32>(query, QUERY_CONVERSION) !== CONVERT_NONE) return convert(query, worker, line, to);
  const isRow = holdsRows(query);
  if (output === OUTPUT_ALLOWED || output === OUTPUT_DENIED) {
    if (load<i32>(query, QUERY_FORMAT) === FORMAT_JSON) to = passJson(query, line, to);
    else to = isRow ? passRow(line, to) : pass(line, to);
    return lineEnd(line, to);
  }
  if (output === OUTPUT_VERDICTS) return newline(verdicts(query, worker, to));
  if (output === OUTPUT_MASK) {
    return newline(fragment(query, allowed ? FRAGMENT_MASK_ALLOWED : FRAGMENT_MASK_DENIED, to));
  }
  const isText = load<i32>(query, QUERY_FORMAT) === FORMAT_TEXT;
  const isTooLong = outcome >= 0 && (outcome & 15) === REASON_LINE_TOO_LONG;
  // Only the beginning of an overlong line is written, wherever its length was noticed.
  if (isTooLong && (isText || isRow)) truncateLine(line, isRow);
  if (isRow) return lineEnd(line, annotateRow(query, worker, line, to));
  if (isText) return lineEnd(line, annotateText(query, worker, line, to));
  if (!isUnreadable(query, outcome)) return lineEnd(line, annotateJson(query, worker, line, to));
  const number = load<u64>(task, TASK_LINE_BASE) + load<u32>(line, LINE_NUMBER) + 1;
  return newline(describeBadLine(query, worker, line, number, to));
}

/** Counts the verdicts of a line for its host, if the host has a robots.txt for the line. */
function countHost(query: usize, worker: usize, line: usize, outcome: i32): void {
  if (outcome !== PENDING || load<u32>(line, LINE_ROBOTS) === 0) return;
  // The look-up has left the address of the counters there.
  let counters: usize = load<u32>(line, LINE_SLOT);
  let result = worker + WORKER_RESULTS;
  for (let i = load<i32>(query, QUERY_AGENT_COUNT); i > 0; i--) {
    // With a robots.txt, every outcome is ALLOW or DENY, as its counters are.
    const each = load<i32>(result, RESULT_OUTCOME);
    const counter = counters + ((<usize>(each >> 4)) << 3);
    const reason = (<u64>1) << (<u64>(HOST_COUNTS_BITS + (each & 15)));
    store<u64>(counter, (load<u64>(counter) + 1) | reason);
    counters += HOST_COUNTS_BYTES;
    result += RESULT_BYTES;
  }
}

/**
 * Writes an empty line for a blank line if the verdicts come out alone. Rows get none: among rows,
 * an empty line is a newline within the row before it, or nothing.
 */
function emitBlank(query: usize, to: usize): usize {
  if (holdsRows(query)) return to;
  const output = load<i32>(query, QUERY_OUTPUT);
  return output === OUTPUT_VERDICTS || output === OUTPUT_MASK ? newline(to) : to;
}

/** Truncates the line to BAD_INPUT_LIMIT bytes, and a row's mark. A shorter line keeps its end. */
function truncateLine(line: usize, isRow: bool): void {
  const end = (isRow ? rowStart(line) : <usize>load<u32>(line, LINE_START)) + BAD_INPUT_LIMIT;
  if (end >= <usize>load<u32>(line, LINE_END)) return;
  store<u32>(line, end, LINE_END);
  store<u32>(line, end, LINE_NEWLINE);
}

/** Adds a bad record to the task's list. */
function listBad(task: usize, line: usize, reason: i32): void {
  const count = load<i32>(task, TASK_BAD_COUNT);
  if (count < MAX_BAD) {
    const entry = task + TASK_BAD + <usize>count * BAD_BYTES;
    store<i32>(entry, load<i32>(line, LINE_NUMBER), BAD_LINE);
    store<i32>(entry, reason, BAD_REASON);
  }
  store<i32>(task, count + 1, TASK_BAD_COUNT);
}
