/**
 * A batch whose hosts lie in several memories, the banks. The lines of each bank are a share of the
 * batch. It is judged there as a batch of its own, and then the outputs are merged in the order of
 * the lines. DIVISION_… and SHARE_… in layout.ts describe the blocks.
 */

import {
  DIVISION_BANKS,
  DIVISION_LINES,
  DIVISION_LIST,
  DIVISION_MERGED,
  DIVISION_OUTPUT,
  DIVISION_OUTPUT_END,
  DIVISION_SHARES,
  LINE_NEWLINE,
  LINE_OUTCOME,
  LINE_QUERY,
  LINE_SHARD,
  LINE_START,
  MERGE_DONE,
  MERGE_FULL,
  SHARE_BYTES,
  SHARE_DISTANCE,
  SHARE_INPUT,
  SHARE_NUMBER,
  SHARE_OUTPUT,
  SHARE_PLACE,
  SHARE_PLACE_END,
  TASK_INPUT,
  TASK_INPUT_END,
  TASK_QUERY,
  TASK_SCRATCH,
  TASK_SCRATCH_END,
  TASK_WORKER,
  WORKER_HOSTS,
  WORKER_MARKS,
} from '../layout';
import { copy } from './bytes/copy';
import { forgetMarks } from './json/marks';
import { locate } from './locate';
import { firstEntry, PENDING } from './memory/line';
import { limitScratch } from './memory/scratch';

/** Bytes of most lines and most outputs, which are copied in one round. */
const USUAL = 64;

function shareOf(division: usize, bank: u32): usize {
  return division + DIVISION_SHARES + <usize>bank * SHARE_BYTES;
}

/**
 * Copies each line of the task's input to the share of its host's bank, with its number in the
 * batch. Lines without a valid URL go to the first bank. `merge` needs the list of the banks.
 */
export function divide(task: usize, division: usize): void {
  const query: usize = load<u32>(task, TASK_QUERY);
  const worker: usize = load<u32>(task, TASK_WORKER);
  const scratch: usize = load<u32>(task, TASK_SCRATCH);
  const end: usize = load<u32>(task, TASK_INPUT_END);
  const banks: usize = load<u32>(division, DIVISION_BANKS);
  const list: usize = load<u32>(division, DIVISION_LIST);
  limitScratch(load<u32>(task, TASK_SCRATCH_END));
  forgetMarks(worker + WORKER_MARKS);
  const line = firstEntry(worker);
  let lines: u32 = 0;
  for (let at: usize = load<u32>(task, TASK_INPUT); at < end; lines++) {
    store<u32>(line, at, LINE_START);
    store<u32>(line, query, LINE_QUERY);
    locate(query, line, end, worker, worker + WORKER_HOSTS, scratch);
    const next = min(<usize>load<u32>(line, LINE_NEWLINE) + 1, end);
    const isValid = load<i32>(line, LINE_OUTCOME) === PENDING;
    const bank: u32 = isValid ? load<u16>(banks + ((<usize>load<u32>(line, LINE_SHARD)) << 1)) : 0;
    store<u16>(list + ((<usize>lines) << 1), bank);
    const share = shareOf(division, bank);
    store<u32>(
      share,
      copy(at, <i32>(next - at), load<u32>(share, SHARE_INPUT), USUAL),
      SHARE_INPUT,
    );
    const number: usize = load<u32>(share, SHARE_NUMBER);
    store<u32>(number, lines);
    store<u32>(share, number + 4, SHARE_NUMBER);
    at = next;
  }
  store<u32>(division, lines, DIVISION_LINES);
  store<u32>(division, 0, DIVISION_MERGED);
}

/**
 * Appends the outputs of the next lines, until one is missing or has no room. Returns MERGE_…, or
 * the bank of the line whose output is missing.
 */
export function merge(division: usize): i32 {
  const lines = load<u32>(division, DIVISION_LINES);
  const list: usize = load<u32>(division, DIVISION_LIST);
  const outputEnd: usize = load<u32>(division, DIVISION_OUTPUT_END);
  let to: usize = load<u32>(division, DIVISION_OUTPUT);
  let merged = load<u32>(division, DIVISION_MERGED);
  let stop: i32 = MERGE_DONE;
  for (; merged < lines; merged++) {
    const bank: u32 = load<u16>(list + ((<usize>merged) << 1));
    const share = shareOf(division, bank);
    const place: usize = load<u32>(share, SHARE_PLACE);
    if (place === <usize>load<u32>(share, SHARE_PLACE_END)) {
      stop = bank;
      break;
    }
    const from: usize = load<u32>(share, SHARE_OUTPUT);
    const end: usize = load<u32>(place) + load<u32>(share, SHARE_DISTANCE);
    const bytes = end - from;
    if (bytes > outputEnd - to) {
      stop = MERGE_FULL;
      break;
    }
    // A line that is left out has no output.
    if (bytes > 0) to = copy(from, <i32>bytes, to, USUAL);
    store<u32>(share, end, SHARE_OUTPUT);
    store<u32>(share, place + 4, SHARE_PLACE);
  }
  store<u32>(division, merged, DIVISION_MERGED);
  store<u32>(division, to, DIVISION_OUTPUT);
  return stop;
}
