/**
 * The only loop that judges lines, for every format and output. Lines go through the phases in
 * groups, so that the cache misses of one line (slot, host record, automaton) overlap with those of
 * others.
 */

import {
  ALLOW,
  BAD_INPUT_LIMIT,
  CONVERT_NONE,
  DENY,
  FORMAT_CDXJ,
  FORMAT_JSON,
  FORMAT_LOG,
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
  HOST_COUNTS_REASONS,
  HOST_SPACE,
  INVALID,
  MARGIN,
  MAX_BAD,
  OUTCOMES,
  OUTPUT_ALLOWED,
  OUTPUT_ANNOTATE,
  OUTPUT_DENIED,
  OUTPUT_MASK,
  OUTPUT_VERDICTS,
  QUERY_ADDS_SHARD,
  QUERY_FRAMES,
  QUERY_NAMES_AGENT,
  QUERY_REQUIRE_GRANT,
  QUERY_STRICT,
  QUERY_TIMED,
  REASON_BITS,
  REASON_LINE_TOO_LONG,
  REASON_MASK,
  REASON_NESTED_TOO_DEEP,
  REASON_NO_JSON,
  REASON_NO_OBJECT,
  RUN_BAD_RECORD,
  RUN_DONE,
  RUN_NEEDS_AGENT,
  RUN_NEEDS_LINE_BASE,
  RUN_OUTPUT_FULL,
  RUN_RULES_FULL,
  TASK_LINE_BASE_KNOWN,
  TASK_OVERLONG,
  TASK_RESUMED,
  UNKNOWN,
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
import { forgetShapes } from './json/alike';
import { forgetMarks } from './json/marks';
import { locate, readTime } from './locate';
import { lookUp } from './look-up';
import {
  EMPTY,
  elementOf,
  firstLine,
  Line,
  limitScratch,
  lineAt,
  nextOf,
  PENDING,
  placeOf,
  Query,
  Task,
  Worker,
} from './memory';
import { findAgent } from './register';
import { holdsRows, rowStart } from './rows';
import { decideUses } from './uses';

/**
 * Decides and writes the lines of a batch. TASK_… and RUN_… in kernel/layout.ts describe the call.
 */
export function run(task: Task): i32 {
  const query = task.query;
  const worker = task.worker;
  const end = task.inputEnd;
  const places = task.places;
  const isTimed = (query.flags & QUERY_TIMED) !== 0;
  const namesAgent = (query.flags & QUERY_NAMES_AGENT) !== 0;
  limitScratch(task.scratchEnd);
  forgetMarks(worker.marks);
  forgetShapes(worker.shapes, query);
  if ((task.flags & TASK_RESUMED) === 0) task.badCount = 0;
  let at = task.input;
  while (at < end) {
    const first = task.lines;
    let scratch = task.scratch;
    let line = firstLine(worker);
    let lines = 0;
    let isMissing = false;
    while (lines < GROUP_LINES && at < end) {
      line.start = at;
      line.query = query;
      const number = places === 0 ? first + lines : load<i32>(placeOf(places, first + lines));
      line.number = number;
      if ((task.flags & TASK_OVERLONG) !== 0) {
        line.outcome = (INVALID << REASON_BITS) | REASON_LINE_TOO_LONG;
        line.end = end;
        line.newline = end;
        truncateLine(line, holdsRows(query));
        at = end;
      } else {
        const hostSpace = worker.hosts + <usize>lines * HOST_SPACE;
        scratch = locate(query, line, end, worker, hostSpace, scratch);
        if (isTimed) readTime(query, line, scratch);
        if (namesAgent && !findAgent(query, worker, line)) {
          isMissing = true;
          break;
        }
        at = line.newline + 1;
      }
      line = nextOf(line);
      lines++;
    }
    lookUp(query, worker, lines);
    const stopped = emitAll(task, worker, lines, scratch);
    if (query.rules !== 0) countRules(query, worker);
    if (stopped !== RUN_DONE) return stopped;
    task.input = at;
    task.lines = first + lines;
    if (isMissing) return RUN_NEEDS_AGENT;
  }
  return RUN_DONE;
}

/**
 * Decides and writes the lines of a group. If it stops early, the task goes on at the line where it
 * stopped.
 */
function emitAll(task: Task, worker: Worker, lines: i32, scratch: usize): i32 {
  const query = task.query;
  const addsShard = (query.flags & QUERY_ADDS_SHARD) !== 0;
  const factor: i64 = query.lineFactor;
  const overhead = <i64>query.lineOverhead + MARGIN;
  const outputEnd = task.outputEnd;
  const places = task.places;
  const first = task.lines;
  const isRoomy = query.rules === 0 || hasRoom(query, worker, lines);
  const plain = isPlain(query);
  const asksUses = query.firstUse < query.agentCount;
  let to = task.output;
  for (let i = 0; i < lines; i++) {
    const line = lineAt(worker, i);
    const bytes = <i64>line.newline - <i64>line.start;
    let stop = RUN_DONE;
    if (<i64>outputEnd - <i64>to < factor * bytes + overhead) {
      stop = RUN_OUTPUT_FULL;
    } else if (!isRoomy && !makeRoom(query, worker)) {
      stop = RUN_RULES_FULL;
    } else if (plain && line.outcome === PENDING) {
      to = emitPlain(line.query, worker, line, scratch, to);
      if (places !== 0) store<u32>(placeOf(places, first + i), to);
      continue;
    } else {
      decide(line.query, worker, line, scratch);
      if (asksUses) decideUses(line.query, worker, line);
      stop = stopReason(task, query, line);
    }
    if (stop !== RUN_DONE) {
      task.input = line.start;
      task.lines = first + i;
      task.output = to;
      return stop;
    }
    if (addsShard) worker.shard = line.shard;
    to = emit(task, line.query, worker, line, to);
    if (places !== 0) store<u32>(placeOf(places, first + i), to);
  }
  task.output = to;
  return RUN_DONE;
}

/** Whether the verdicts stand before the lines as they came. */
function holdsText(query: Query): bool {
  return query.format === FORMAT_TEXT || query.format === FORMAT_LOG;
}

/** Whether one agent's verdict is added to each record, and nothing else is written or counted. */
function isPlain(query: Query): bool {
  return (
    query.flags === 0 &&
    query.output === OUTPUT_ANNOTATE &&
    query.conversion === CONVERT_NONE &&
    query.agentCount === 1 &&
    query.counts === 0 &&
    query.rules === 0
  );
}

/** As `decide` and `emit`, for a record with a fine URL and a plain query. */
function emitPlain(query: Query, worker: Worker, line: Line, scratch: usize, to: usize): usize {
  decide(query, worker, line, scratch);
  worker.records++;
  worker.passed++;
  increment(changetype<usize>(worker) + WORKER_TALLY + <usize>worker.results.outcome * 8);
  if (holdsText(query)) to = annotateText(query, worker, line, to);
  else if (holdsRows(query)) to = annotateRow(query, worker, line, to);
  else to = annotateJson(query, worker, line, to);
  return lineEnd(line, to);
}

/** Whether the line is not a record: its output is a record about the line. */
function isUnreadable(query: Query, outcome: i32): bool {
  const reason = outcome & REASON_MASK;
  const format = query.format;
  return (
    outcome >= 0 &&
    (format === FORMAT_NDJSON || format === FORMAT_JSON || format === FORMAT_CDXJ) &&
    (reason === REASON_NO_OBJECT ||
      reason === REASON_NO_JSON ||
      reason === REASON_LINE_TOO_LONG ||
      reason === REASON_NESTED_TOO_DEEP)
  );
}

/** Why the line cannot be written now: RUN_NEEDS_LINE_BASE or RUN_BAD_RECORD; else RUN_DONE. */
function stopReason(task: Task, query: Query, line: Line): i32 {
  const outcome = line.outcome;
  if (outcome < 0) return RUN_DONE;
  if ((query.flags & QUERY_STRICT) !== 0) {
    task.badCount = 0;
    listBad(task, line, outcome & REASON_MASK);
    return RUN_BAD_RECORD;
  }
  const known = (task.flags & TASK_LINE_BASE_KNOWN) !== 0;
  const annotates = query.output === OUTPUT_ANNOTATE && query.conversion === CONVERT_NONE;
  return annotates && !known && isUnreadable(query, outcome) ? RUN_NEEDS_LINE_BASE : RUN_DONE;
}

function increment(counter: usize): void {
  store<u64>(counter, load<u64>(counter) + 1);
}

/**
 * Counts a line, and writes the line if the query's output wants it; returns the end of the output.
 */
function emit(task: Task, query: Query, worker: Worker, line: Line, to: usize): usize {
  const output = query.output;
  const outcome = line.outcome;
  if (outcome === EMPTY) return emitBlank(query, to);
  worker.records++;
  const agents = query.agentCount;
  let result = worker.results;
  let tally = changetype<usize>(worker) + WORKER_TALLY;
  let allowed = true;
  let denied = false;
  const firstUse = query.firstUse;
  for (let i = 0; i < firstUse; i++) {
    const each = result.outcome;
    increment(tally + <usize>each * 8);
    if (each >> REASON_BITS !== ALLOW) allowed = false;
    if (each >> REASON_BITS === DENY) denied = true;
    result = nextOf(result);
    tally += OUTCOMES * 8;
  }
  for (let i = firstUse; i < agents; i++) {
    const each = result.outcome;
    increment(tally + <usize>each * 8);
    const answer = each >> REASON_BITS;
    // Without an answer, the verdict has decided.
    if (answer === DENY || (answer === UNKNOWN && (query.flags & QUERY_REQUIRE_GRANT) !== 0)) {
      allowed = false;
      denied = true;
    }
    result = nextOf(result);
    tally += OUTCOMES * 8;
  }
  if (query.name !== 0) {
    increment(query.name + ((<usize>(worker.results.outcome >> REASON_BITS)) << 3));
  }
  if (query.counts !== 0) countHost(query, worker, line, outcome);
  if (query.rules !== 0) noteRules(query, worker, line);
  if (outcome >= 0) {
    worker.bad++;
    listBad(task, line, outcome & REASON_MASK);
  } else if (line.time > query.now) {
    worker.toCome++;
  }
  const selects = output === OUTPUT_ALLOWED || output === OUTPUT_DENIED;
  if (selects && !(output === OUTPUT_ALLOWED ? allowed : denied)) return to;
  worker.passed++;
  const isFramed = (query.flags & QUERY_FRAMES) !== 0;
  const start = isFramed ? beginFrame(query, worker, line, to) : to;
  const end = write(task, query, worker, line, allowed, start);
  if (isFramed) store<u32>(to, end - start, FRAME_RECORD);
  return end;
}

/** Writes a frame as far as its record: outcomes and URL. */
function beginFrame(query: Query, worker: Worker, line: Line, to: usize): usize {
  const agents = query.agentCount;
  let at = to + FRAME_OUTCOMES;
  for (let i = 0; i < agents; i++) at = byte(resultOf(worker, i).outcome, at);
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
  task: Task,
  query: Query,
  worker: Worker,
  line: Line,
  allowed: bool,
  to: usize,
): usize {
  const output = query.output;
  const outcome = line.outcome;
  if (query.conversion !== CONVERT_NONE) return convert(query, worker, line, to);
  const isRow = holdsRows(query);
  if (output === OUTPUT_ALLOWED || output === OUTPUT_DENIED) {
    if (query.format === FORMAT_JSON) to = passJson(query, line, to);
    else to = isRow ? passRow(line, to) : pass(line, to);
    return lineEnd(line, to);
  }
  if (output === OUTPUT_VERDICTS) return newline(verdicts(query, worker, to));
  if (output === OUTPUT_MASK) {
    return newline(fragment(query, allowed ? FRAGMENT_MASK_ALLOWED : FRAGMENT_MASK_DENIED, to));
  }
  const isText = holdsText(query);
  const isTooLong = outcome >= 0 && (outcome & REASON_MASK) === REASON_LINE_TOO_LONG;
  // Only the beginning of an overlong line is written, wherever its length was noticed.
  if (isTooLong && (isText || isRow)) truncateLine(line, isRow);
  if (isRow) return lineEnd(line, annotateRow(query, worker, line, to));
  if (isText) return lineEnd(line, annotateText(query, worker, line, to));
  if (!isUnreadable(query, outcome)) return lineEnd(line, annotateJson(query, worker, line, to));
  const number = task.lineBase + <u32>line.number + 1;
  return newline(describeBadLine(query, worker, line, number, to));
}

/** Counts the verdicts of a line for its host, if the host has a robots.txt for the line. */
function countHost(query: Query, worker: Worker, line: Line, outcome: i32): void {
  if (outcome !== PENDING || line.robots === 0) return;
  // The look-up has left the address of the counters there.
  let counters = line.slot;
  let result = worker.results;
  for (let i = query.agentCount; i > 0; i--) {
    // With a robots.txt, every verdict is ALLOW or DENY, as the counters are. A use that is
    // neither granted nor refused is not counted.
    const each = result.outcome;
    const verdict = each >> REASON_BITS;
    if (verdict <= DENY) {
      const counter = counters + ((<usize>verdict) << 3);
      const reason = each & REASON_MASK;
      const bit = reason < HOST_COUNTS_REASONS ? (<u64>1) << (<u64>(HOST_COUNTS_BITS + reason)) : 0;
      store<u64>(counter, (load<u64>(counter) + 1) | bit);
    }
    counters += HOST_COUNTS_BYTES;
    result = nextOf(result);
  }
}

/**
 * Writes an empty line for a blank line if the verdicts come out alone. Rows get none: among rows,
 * an empty line is a newline within the row before it, or nothing.
 */
function emitBlank(query: Query, to: usize): usize {
  if (holdsRows(query)) return to;
  const output = query.output;
  return output === OUTPUT_VERDICTS || output === OUTPUT_MASK ? newline(to) : to;
}

/** Truncates the line to BAD_INPUT_LIMIT bytes, and a row's mark. A shorter line keeps its end. */
function truncateLine(line: Line, isRow: bool): void {
  const end = (isRow ? rowStart(line) : line.start) + BAD_INPUT_LIMIT;
  if (end >= line.end) return;
  line.end = end;
  line.newline = end;
}

/** Adds a bad record to the task's list. */
function listBad(task: Task, line: Line, reason: i32): void {
  const count = task.badCount;
  if (count < MAX_BAD) {
    const entry = elementOf(task.bad, count);
    entry.line = line.number;
    entry.reason = reason;
  }
  task.badCount = count + 1;
}
