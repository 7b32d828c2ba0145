/**
 * Counts how many URLs each rule decided, in a hash table (layout.ts, RULES_…). The rules of a
 * group of lines are noted first and counted together, so that their cache misses overlap. The
 * table doubles when it fills. At its greatest size the host prunes it (kernel/rule-counts.ts).
 */

import { HEADER_HOST_KEY } from '../../table/format';
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
  NOTE_AGENT,
  NOTE_BYTES,
  NOTE_ENTRY,
  NOTES_MOST,
  QUERY_AGENT_COUNT,
  QUERY_RULE_DOUBLINGS,
  QUERY_RULE_ENTRIES,
  QUERY_RULES,
  QUERY_TABLE,
  RESULT_BYTES,
  RESULT_LINE,
  RESULT_RANK,
  RESULT_SOURCE,
  RULE_AUTHORITY,
  RULE_BYTES,
  RULE_COUNT,
  RULE_COUNT_BITS,
  RULE_LINE,
  RULES_DOUBLINGS,
  RULES_ENTRIES,
  RULES_NOTED,
  RULES_NOTES,
  RULES_PREFETCHED,
  RULES_USED,
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
  WORKER_RESULTS,
} from '../layout';
import { copy } from './bytes';
import { forgetMarks } from './json/marks';
import { locate } from './locate';
import { firstEntry, limitScratch, PENDING } from './memory';

/** The number in a count, without the agent; and a bit that both leave free. */
const COUNT_MASK: u64 = ((<u64>1) << RULE_COUNT_BITS) - 1;
const MISPLACED: u64 = (<u64>1) << 63;

function entriesOf(query: usize, rules: usize): u32 {
  return load<u32>(query, QUERY_RULE_ENTRIES) << load<u32>(rules, RULES_DOUBLINGS);
}

/**
 * Whether these lines can be noted, and counted without filling more than three quarters of the
 * entries.
 */
export function hasRoom(query: usize, worker: usize, lines: i32): bool {
  const rules: usize = worker + load<u32>(query, QUERY_RULES);
  const entries = entriesOf(query, rules);
  const noted = load<u32>(rules, RULES_NOTED) + <u32>lines * load<u32>(query, QUERY_AGENT_COUNT);
  return (
    noted <= <u32>NOTES_MOST && load<u32>(rules, RULES_USED) + noted <= entries - (entries >> 2)
  );
}

/**
 * Makes room for another line, if it has none: counts the rules that are noted, and doubles the
 * entries. Returns false if there are as many entries as there may be.
 */
export function makeRoom(query: usize, worker: usize): bool {
  if (hasRoom(query, worker, 1)) return true;
  countRules(query, worker);
  if (hasRoom(query, worker, 1)) return true;
  const rules: usize = worker + load<u32>(query, QUERY_RULES);
  const doublings = load<u32>(rules, RULES_DOUBLINGS);
  if (doublings === load<u32>(query, QUERY_RULE_DOUBLINGS)) return false;
  store<u32>(rules, doublings + 1, RULES_DOUBLINGS);
  keepRules(query, worker, 0);
  return true;
}

/** Notes the rules that decided about the current line, for each agent. */
export function noteRules(query: usize, worker: usize): void {
  const rules: usize = worker + load<u32>(query, QUERY_RULES);
  const agents = load<u32>(query, QUERY_AGENT_COUNT);
  let noted = load<u32>(rules, RULES_NOTED);
  let result = worker + WORKER_RESULTS;
  for (let agent: u32 = 0; agent < agents; agent++) {
    const note = rules + RULES_NOTES + <usize>noted * NOTE_BYTES;
    const rank = load<u32>(result, RESULT_RANK);
    store<u32>(note, load<u32>(result, RESULT_SOURCE), RULE_AUTHORITY);
    store<u32>(note, load<u32>(result, RESULT_LINE), RULE_LINE);
    store<u32>(note, (agent << 1) | (rank & 1), NOTE_AGENT);
    // Without a rule, the next note overwrites this one: a branch would often be mispredicted.
    noted += <u32>(rank !== 0);
    result += RESULT_BYTES;
  }
  store<u32>(rules, noted, RULES_NOTED);
}

/**
 * Counts the rules that are noted.
 *
 * @param query the run's query, not a shard's: the key of its table hashes the rules of all shards
 */
export function countRules(query: usize, worker: usize): void {
  const rules: usize = worker + load<u32>(query, QUERY_RULES);
  const first = rules + RULES_NOTES;
  const end = first + <usize>load<u32>(rules, RULES_NOTED) * NOTE_BYTES;
  const start = rules + RULES_ENTRIES;
  const entries = entriesOf(query, rules);
  const entriesEnd = start + <usize>entries * RULE_BYTES;
  const key = keyOf(query);
  for (let note = first; note < end; note += NOTE_BYTES) {
    const authority = load<u32>(note, RULE_AUTHORITY);
    const hash = hashOf(key, authority, load<u32>(note, RULE_LINE), load<u32>(note, NOTE_AGENT));
    const index = hash & (entries - 1);
    store<u32>(note, start + <usize>index * RULE_BYTES, NOTE_ENTRY);
  }
  for (let note = first; note < end; note += NOTE_BYTES) {
    store<u32>(rules, load<u32>(load<u32>(note, NOTE_ENTRY)), RULES_PREFETCHED);
  }
  let used = load<u32>(rules, RULES_USED);
  for (let note = first; note < end; note += NOTE_BYTES) {
    const place = load<u64>(note, RULE_AUTHORITY);
    const agent: u64 = load<u32>(note, NOTE_AGENT);
    let entry: usize = load<u32>(note, NOTE_ENTRY);
    while (true) {
      const count = load<u64>(entry, RULE_COUNT);
      if (count === 0) {
        store<u64>(entry, place, RULE_AUTHORITY);
        store<u64>(entry, (agent << RULE_COUNT_BITS) | 1, RULE_COUNT);
        used++;
        break;
      }
      if (load<u64>(entry, RULE_AUTHORITY) === place && count >> RULE_COUNT_BITS === agent) {
        store<u64>(entry, count + 1, RULE_COUNT);
        break;
      }
      entry += RULE_BYTES;
      if (entry === entriesEnd) entry = start;
    }
  }
  store<u32>(rules, used, RULES_USED);
  store<u32>(rules, 0, RULES_NOTED);
}

/**
 * Drops the counters up to a limit, and puts the others where they are searched for.
 *
 * @param query as in `countRules`
 */
export function keepRules(query: usize, worker: usize, limit: f64): void {
  const rules: usize = worker + load<u32>(query, QUERY_RULES);
  const start = rules + RULES_ENTRIES;
  const entries = entriesOf(query, rules);
  const end = start + <usize>entries * RULE_BYTES;
  let used = 0;
  for (let entry = start; entry < end; entry += RULE_BYTES) {
    const count = load<u64>(entry, RULE_COUNT);
    if (count === 0) continue;
    const isKept = <f64>(count & COUNT_MASK) > limit;
    store<u64>(entry, isKept ? count | MISPLACED : 0, RULE_COUNT);
    used += <i32>isKept;
  }
  store<u32>(rules, used, RULES_USED);
  const key = keyOf(query);
  for (let entry = start; entry < end; entry += RULE_BYTES) {
    if ((load<u64>(entry, RULE_COUNT) & MISPLACED) !== 0) settle(entry, start, end, entries, key);
  }
}

/**
 * Puts a misplaced entry where it is searched for. Another misplaced entry there makes way, and is
 * the next. Entries that are passed over never move again, so each is found later.
 */
function settle(entry: usize, start: usize, end: usize, entries: u32, key: u64): void {
  let place = load<u64>(entry, RULE_AUTHORITY);
  let count = load<u64>(entry, RULE_COUNT) ^ MISPLACED;
  store<u64>(entry, 0, RULE_COUNT);
  while (true) {
    const hash = hashOf(key, <u32>place, <u32>(place >> 32), <u32>(count >> RULE_COUNT_BITS));
    let to = start + <usize>(hash & (entries - 1)) * RULE_BYTES;
    let there = load<u64>(to, RULE_COUNT);
    while (there !== 0 && (there & MISPLACED) === 0) {
      to += RULE_BYTES;
      if (to === end) to = start;
      there = load<u64>(to, RULE_COUNT);
    }
    const displaced = load<u64>(to, RULE_AUTHORITY);
    store<u64>(to, place, RULE_AUTHORITY);
    store<u64>(to, count, RULE_COUNT);
    if (there === 0) return;
    place = displaced;
    count = there ^ MISPLACED;
  }
}

/** The key of the hosts' hash: a robots.txt cannot choose lines whose hashes collide. */
function keyOf(query: usize): u64 {
  const table: usize = load<u32>(query, QUERY_TABLE);
  return load<u64>(table, HEADER_HOST_KEY);
}

function hashOf(key: u64, authority: u32, line: u32, agent: u32): u32 {
  let hash = (authority ^ <u32>key) * 0x9e3779b1;
  hash ^= hash >> 15;
  hash += rotl<u32>(line, 9) ^ agent ^ <u32>(key >> 32);
  hash *= 0x85ebca77;
  hash ^= hash >> 13;
  hash *= 0xc2b2ae3d;
  return hash ^ (hash >> 16);
}

/**
 * A batch whose hosts lie in several memories, the banks. The lines of each bank are a share of the
 * batch. It is judged there as a batch of its own, and then the outputs are merged in the order of
 * the lines. DIVISION_… and SHARE_… in layout.ts describe the blocks.
 */

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
