/**
 * Counts how many URLs each rule decided, in a hash table (kernel/layout.ts, RULES_…), and with
 * records that name their agents how many URLs of each host. The rules of a group of lines are
 * noted first and counted together, so that their cache misses overlap. The table doubles when it
 * fills. At its greatest size the host prunes it (kernel/rule-counts.ts).
 */

import { HEADER_HOST_KEY } from '../../table/format';
import {
  ALLOW,
  DENY,
  HOST_COUNTS_LINE,
  MERGE_DONE,
  MERGE_FULL,
  NAME_BYTES,
  NOTE_BYTES,
  NOTES_MOST,
  QUERY_NAMES_AGENT,
  REASON_BITS,
  REGISTER_NAMES,
  RULE_BYTES,
  RULE_COUNT_BITS,
} from '../layout';
import { copy } from './bytes';
import { forgetMarks } from './json/marks';
import { locate } from './locate';
import {
  Division,
  elementOf,
  firstLine,
  Line,
  limitScratch,
  Note,
  nextOf,
  PENDING,
  Query,
  Rule,
  Rules,
  Share,
  Task,
  Worker,
} from './memory';

/** The number in a count, without the agent; and a bit that both leave free. */
const COUNT_MASK: u64 = ((<u64>1) << RULE_COUNT_BITS) - 1;
const MISPLACED: u64 = (<u64>1) << 63;

function entriesOf(query: Query, rules: Rules): u32 {
  return query.ruleEntries << rules.doublings;
}

/**
 * Whether these lines can be noted, and counted without filling more than three quarters of the
 * entries.
 */
export function hasRoom(query: Query, worker: Worker, lines: i32): bool {
  const rules = changetype<Rules>(changetype<usize>(worker) + query.rules);
  const entries = entriesOf(query, rules);
  const ofLine: u32 = (query.flags & QUERY_NAMES_AGENT) !== 0 ? 2 : <u32>query.firstUse;
  const noted = rules.noted + <u32>lines * ofLine;
  return noted <= <u32>NOTES_MOST && rules.used + noted <= entries - (entries >> 2);
}

/**
 * Makes room for another line, if it has none: counts the rules that are noted, and doubles the
 * entries. Returns false if there are as many entries as there may be.
 */
export function makeRoom(query: Query, worker: Worker): bool {
  if (hasRoom(query, worker, 1)) return true;
  countRules(query, worker);
  if (hasRoom(query, worker, 1)) return true;
  const rules = changetype<Rules>(changetype<usize>(worker) + query.rules);
  const doublings = rules.doublings;
  if (doublings === query.ruleDoublings) return false;
  rules.doublings = doublings + 1;
  keepRules(query, worker, 0);
  return true;
}

/** Notes the rules that decided about the current line, for each agent. */
export function noteRules(query: Query, worker: Worker, line: Line): void {
  const rules = changetype<Rules>(changetype<usize>(worker) + query.rules);
  if (query.name !== 0) {
    noteNamed(query, worker, line, rules);
    return;
  }
  const agents = <u32>query.firstUse;
  let noted = rules.noted;
  let result = worker.results;
  for (let agent: u32 = 0; agent < agents; agent++) {
    const note = elementOf(changetype<Note>(rules.notes), noted);
    const rank = <u32>result.rank;
    note.version = result.version;
    note.line = result.line;
    note.agent = (agent << 1) | (rank & 1);
    // Without a rule, the next note overwrites this one: a branch would often be mispredicted.
    noted += <u32>(rank !== 0);
    result = nextOf(result);
  }
  rules.noted = noted;
}

/** Notes the rule and the host of the current line for the agent that it names. */
function noteNamed(query: Query, worker: Worker, line: Line, rules: Rules): void {
  const names = changetype<usize>(worker) + query.register + REGISTER_NAMES;
  const agent: u32 = (<u32>(query.name - names) / <u32>NAME_BYTES) << 1;
  const result = worker.results;
  const rank = <u32>result.rank;
  let noted = rules.noted;
  if (rank !== 0) {
    const note = elementOf(changetype<Note>(rules.notes), noted++);
    note.version = result.version;
    note.line = result.line;
    note.agent = agent | (rank & 1);
  }
  const verdict = result.outcome >> REASON_BITS;
  if (query.counts !== 0 && line.robots !== 0 && line.outcome === PENDING && verdict <= DENY) {
    const note = elementOf(changetype<Note>(rules.notes), noted++);
    note.version = <u32>line.slot;
    note.line = HOST_COUNTS_LINE;
    note.agent = agent | <u32>(verdict === ALLOW);
  }
  rules.noted = noted;
}

/**
 * Counts the rules that are noted.
 *
 * @param query the run's query, not a shard's: the key of its table hashes the rules of all shards
 */
export function countRules(query: Query, worker: Worker): void {
  const rules = changetype<Rules>(changetype<usize>(worker) + query.rules);
  const first = rules.notes;
  const end = first + <usize>rules.noted * NOTE_BYTES;
  const start = rules.entries;
  const entries = entriesOf(query, rules);
  const entriesEnd = start + <usize>entries * RULE_BYTES;
  const key = keyOf(query);
  for (let at = first; at < end; at += NOTE_BYTES) {
    const note = changetype<Note>(at);
    const hash = hashOf(key, note.version, note.line, note.agent);
    const index = hash & (entries - 1);
    note.entry = start + <usize>index * RULE_BYTES;
  }
  for (let at = first; at < end; at += NOTE_BYTES) {
    rules.prefetched = load<u32>(changetype<Note>(at).entry);
  }
  let used = rules.used;
  for (let at = first; at < end; at += NOTE_BYTES) {
    const note = changetype<Note>(at);
    const place = note.place;
    const agent: u64 = note.agent;
    let entryAt = note.entry;
    while (true) {
      const entry = changetype<Rule>(entryAt);
      const count = entry.count;
      if (count === 0) {
        entry.place = place;
        entry.count = (agent << RULE_COUNT_BITS) | 1;
        used++;
        break;
      }
      if (entry.place === place && count >> RULE_COUNT_BITS === agent) {
        entry.count = count + 1;
        break;
      }
      entryAt += RULE_BYTES;
      if (entryAt === entriesEnd) entryAt = start;
    }
  }
  rules.used = used;
  rules.noted = 0;
}

/**
 * Drops the counters up to a limit, and puts the others where they are searched for.
 *
 * @param query as in `countRules`
 */
export function keepRules(query: Query, worker: Worker, limit: f64): void {
  const rules = changetype<Rules>(changetype<usize>(worker) + query.rules);
  const start = rules.entries;
  const entries = entriesOf(query, rules);
  const end = start + <usize>entries * RULE_BYTES;
  let used = 0;
  for (let at = start; at < end; at += RULE_BYTES) {
    const entry = changetype<Rule>(at);
    const count = entry.count;
    if (count === 0) continue;
    const isKept = <f64>(count & COUNT_MASK) > limit;
    entry.count = isKept ? count | MISPLACED : 0;
    used += <i32>isKept;
  }
  rules.used = used;
  const key = keyOf(query);
  for (let at = start; at < end; at += RULE_BYTES) {
    const entry = changetype<Rule>(at);
    if ((entry.count & MISPLACED) !== 0) settle(entry, start, end, entries, key);
  }
}

/**
 * Puts a misplaced entry where it is searched for. Another misplaced entry there makes way, and is
 * the next. Entries that are passed over never move again, so each is found later.
 */
function settle(entry: Rule, start: usize, end: usize, entries: u32, key: u64): void {
  let place = entry.place;
  let count = entry.count ^ MISPLACED;
  entry.count = 0;
  while (true) {
    const hash = hashOf(key, <u32>place, <u32>(place >> 32), <u32>(count >> RULE_COUNT_BITS));
    let at = start + <usize>(hash & (entries - 1)) * RULE_BYTES;
    let to = changetype<Rule>(at);
    let there = to.count;
    while (there !== 0 && (there & MISPLACED) === 0) {
      at += RULE_BYTES;
      if (at === end) at = start;
      to = changetype<Rule>(at);
      there = to.count;
    }
    const displaced = to.place;
    to.place = place;
    to.count = count;
    if (there === 0) return;
    place = displaced;
    count = there ^ MISPLACED;
  }
}

/** The key of the hosts' hash: a robots.txt cannot choose lines whose hashes collide. */
function keyOf(query: Query): u64 {
  const table = query.table;
  return load<u64>(table, HEADER_HOST_KEY);
}

function hashOf(key: u64, version: u32, line: u32, agent: u32): u32 {
  let hash = (version ^ <u32>key) * 0x9e3779b1;
  hash ^= hash >> 15;
  hash += rotl<u32>(line, 9) ^ agent ^ <u32>(key >> 32);
  hash *= 0x85ebca77;
  hash ^= hash >> 13;
  hash *= 0xc2b2ae3d;
  return hash ^ (hash >> 16);
}

// ---- A batch whose hosts lie in several memories, the banks. The lines of each bank are a share
// of the batch. It is judged there as a batch of its own, and then the outputs are merged in the
// order of the lines. DIVISION_… and SHARE_… in kernel/layout.ts describe the blocks.

/** Bytes of most lines and most outputs, which are copied in one round. */
const USUAL = 64;

function shareOf(division: Division, bank: u32): Share {
  return elementOf(division.shares, bank);
}

/**
 * Copies each line of the task's input to the share of its host's bank, with its number in the
 * batch. Lines without a valid URL go to the first bank. `merge` needs the list of the banks.
 */
export function divide(task: Task, division: Division): void {
  const query = task.query;
  const worker = task.worker;
  const scratch = task.scratch;
  const end = task.inputEnd;
  const banks = division.banks;
  const list = division.list;
  limitScratch(task.scratchEnd);
  forgetMarks(worker.marks);
  const line = firstLine(worker);
  let lines: u32 = 0;
  for (let at = task.input; at < end; lines++) {
    line.start = at;
    line.query = query;
    locate(query, line, end, worker, worker.hosts, scratch);
    const next = min(line.newline + 1, end);
    const isValid = line.outcome === PENDING;
    const bank: u32 = isValid ? load<u16>(banks + ((<usize>line.shard) << 1)) : 0;
    store<u16>(list + ((<usize>lines) << 1), bank);
    const share = shareOf(division, bank);
    share.input = copy(at, <i32>(next - at), share.input, USUAL);
    const number = share.number;
    store<u32>(number, lines);
    share.number = number + 4;
    at = next;
  }
  division.lines = lines;
  division.merged = 0;
}

/**
 * Appends the outputs of the next lines, until one is missing or has no room. Returns MERGE_…, or
 * the bank of the line whose output is missing.
 */
export function merge(division: Division): i32 {
  const lines = division.lines;
  const list = division.list;
  const outputEnd = division.outputEnd;
  let to = division.output;
  let merged = division.merged;
  let stop: i32 = MERGE_DONE;
  for (; merged < lines; merged++) {
    const bank: u32 = load<u16>(list + ((<usize>merged) << 1));
    const share = shareOf(division, bank);
    const place = share.place;
    if (place === share.placeEnd) {
      stop = bank;
      break;
    }
    const from = share.output;
    const end: usize = load<u32>(place) + share.distance;
    const bytes = end - from;
    if (bytes > outputEnd - to) {
      stop = MERGE_FULL;
      break;
    }
    // A line that is left out has no output.
    if (bytes > 0) to = copy(from, <i32>bytes, to, USUAL);
    share.output = end;
    share.place = place + 4;
  }
  division.merged = merged;
  division.output = to;
  return stop;
}
