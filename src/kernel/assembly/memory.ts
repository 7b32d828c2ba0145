/**
 * The regions of memory that the kernel reads and writes. Fields lie in order, each at a multiple
 * of its size. What the host shares has its comments in kernel/layout.ts, and
 * test/kernel/layout.test.ts compares the offsets.
 */

import {
  REGISTER_KEY,
  REGISTER_SLOTS,
  RULES_ENTRIES,
  RULES_NOTES,
  SHAPE_BYTES,
  TASK_BAD,
  WORKER_HOSTS,
  WORKER_LINES,
  WORKER_MARKS,
  WORKER_RESULTS,
  WORKER_SHAPES,
} from '../layout';

/** A line in flight; each phase fills in fields for the next phases. */
@unmanaged
export class Line {
  start: usize;
  /** End of the line, before its line end. */
  end: usize;
  /** Number of the line in the batch, from 0. */
  number: i32;
  /** Address of its newline, or the end of the input. */
  newline: usize;
  /** An outcome, or PENDING or EMPTY. */
  outcome: i32;
  /** The URL, in the line or in scratch memory; 0 if the record has none. */
  url: usize;
  urlEnd: usize;
  /** 1 if the URL's path lies in scratch memory and may be overwritten. */
  owned: u32;
  /**
   * If `url` lies in scratch memory: the URL in the line, with its escapes or its doubled quotes.
   */
  source: usize;
  sourceEnd: usize;
  /** Closing brace of the object; 0 for a string. */
  brace: usize;
  /** The canonical host. */
  host: usize;
  hostBytes: i32;
  hash: i32;
  /** A bit as in the table. */
  scheme: i32;
  /** 0 for the scheme's default. */
  port: i32;
  /** Raw path and query of the URL; a fragment may follow before the end. */
  path: usize;
  pathEnd: usize;
  /** First address in the path that may not be canonical, or the path's end. */
  nonCanonical: usize;
  /** Path and query in the form that patterns are compared with. */
  text: usize;
  textEnd: usize;
  /**
   * The bucket where the search for the host begins, then the host's slot, 0 if unknown; with
   * counters of hosts at last the address of the host's counters.
   */
  slot: usize;
  /** The host record. */
  record: usize;
  /** The authority entry. */
  authority: usize;
  /** Offset of the robots record, 0 if unknown. */
  robots: usize;
  /**
   * What is known of the line's result without the robots record: REMEMBERED_…; 0 for nothing. It
   * is what the only agent found at this slot before, or that no version was in force.
   */
  remembered: u32;
  /** The groups that the first agent obeys: Groups. Undefined if `remembered` is not 0. */
  groupsList: usize;
  groupsLink: i32;
  /** The query for the shard of the host; the run's query if there are no shards, or no host. */
  query: Query;
  /** The number of the shard; valid if there are shards and a host. */
  shard: u32;
  /** Receives words that are loaded only to prefetch their cache lines. */
  prefetched: u32;
  /**
   * A line before with the same authority, whose look-up counts; 0 if there is none. Until the
   * look-up it is the line directly before.
   */
  leader: usize;
  /**
   * Bytes of the URL up to the slash after its authority, with the slash. 0 if the next line may
   * not take over the authority.
   */
  rootBytes: usize;
  /**
   * Rows: how many fields fewer than QUERY_ROW_FIELDS the row has; negative if it has more. Valid
   * if the fields were counted: unless the row was refused, is too long, or has a CR.
   */
  missing: i32;
  /** With QUERY_TIMED: the time for which the robots.txt is looked up, in seconds since 1970. */
  time: u32;
  /** The version of the robots.txt that counts, from its robots record on, as an authority. */
  version: usize;

  get groups(): Groups {
    return changetype<Groups>(changetype<usize>(this) + offsetof<Line>('groupsList'));
  }

  get before(): Line {
    return changetype<Line>(changetype<usize>(this) - offsetof<Line>());
  }
}

/** The decision on one URL for one agent. */
@unmanaged
export class Result {
  outcome: i32;
  /** If a rule decided: its automaton, its rank (`bytes << 1 | allow`) and its line. */
  automaton: usize;
  /** 0 if no rule decided. */
  rank: i32;
  line: u32;
  /**
   * For the rule's text: address of its form or 0, bytes of its prefix, and the path it matched.
   */
  form: usize;
  prefix: i32;
  path: usize;
  /**
   * The groups that were matched: Groups. Agents with equal lists share one match. Of a use, the
   * signal that decided, or 0, in place of the list.
   */
  groupsList: usize;
  groupsLink: i32;
  /** Address of the authority whose robots.txt decided, 0 if there is none. */
  source: usize;
  /** The version of that robots.txt: see Line. Undefined without a source. */
  version: usize;
  /** The rule of the current automaton: Match. */
  matchLine: u32;
  matchPrefix: i32;
  matchForm: usize;

  get groups(): Groups {
    return changetype<Groups>(changetype<usize>(this) + offsetof<Result>('groupsList'));
  }

  get match(): Match {
    return changetype<Match>(changetype<usize>(this) + offsetof<Result>('matchLine'));
  }
}

/** The matcher's result: the rule's line in its automaton, bytes of its prefix, its form. */
@unmanaged
export class Match {
  line: u32;
  prefix: i32;
  form: usize;
}

/** The groups that an agent obeys, inside a line and inside a result. */
@unmanaged
export class Groups {
  /** Start of their list in the table, 0 if there are none. */
  list: usize;
  /** The link of the agent's chain that the groups name, -1 for `*`. */
  link: i32;
}

/** An address and a number of bytes. */
@unmanaged
export class Pair {
  start: usize;
  bytes: i32;
}

/** The questions about every URL of a run: QUERY_… in kernel/layout.ts. */
@unmanaged
export class Query {
  table: usize;
  flags: u32;
  format: i32;
  output: i32;
  unknown: i32;
  maxLine: u32;
  agentCount: i32;
  agents: Agent;
  fieldCount: i32;
  fields: usize;
  conversion: i32;
  lineFactor: u32;
  lineOverhead: u32;
  seen: usize;
  counts: usize;
  rules: usize;
  ruleEntries: u32;
  ruleDoublings: u32;
  anyHost: usize;
  column: i32;
  rowFields: i32;
  shards: u32;
  shardQueries: usize;
  crc: usize;
  remembered: usize;
  at: u32;
  timeFieldCount: i32;
  timeFields: usize;
  timeColumn: i32;
  times: usize;
  maxAge: u32;
  now: u32;
  firstUse: i32;
  agentFieldCount: i32;
  agentFields: usize;
  agentColumn: i32;
  register: usize;
  name: usize;
  host: usize;
  hostBytes: i32;
  scheme: i32;
  port: i32;
  base: usize;
  baseBytes: i32;
}

/** AGENT_… */
@unmanaged
export class Agent {
  chainCount: i32;
  chain: usize;
  name: usize;
  nameBytes: i32;
  allow: usize;
  allowBytes: i32;
  deny: usize;
  denyBytes: i32;
  unknown: usize;
  unknownBytes: i32;
  invalid: usize;
  invalidBytes: i32;
  disregardsAny: i32;
  signalCount: i32;
  signals: Signal;
  of: i32;
}

/** SIGNAL_… */
@unmanaged
export class Signal {
  reason: i32;
  tokens: usize;
  text: usize;
  textBytes: i32;
  granted: usize;
  grantedBytes: i32;
  refused: usize;
  refusedBytes: i32;
}

/** The agents that records name: REGISTER_… in kernel/layout.ts. */
@unmanaged
export class Register {
  value: usize;
  valueEnd: usize;
  hash: u32;
  query: Query;
  namesUsed: u32;

  get key(): usize {
    return changetype<usize>(this) + REGISTER_KEY;
  }

  get slots(): usize {
    return changetype<usize>(this) + REGISTER_SLOTS;
  }
}

/** A value that names an agent: VALUE_… in kernel/layout.ts. */
@unmanaged
export class Value {
  hash: u32;
  asked: Query;
  query: Query;
  length: u32;

  get text(): usize {
    return changetype<usize>(this) + offsetof<Value>();
  }
}

/** A batch of lines: TASK_… in kernel/layout.ts. */
@unmanaged
export class Task {
  query: Query;
  worker: Worker;
  scratch: usize;
  scratchEnd: usize;
  input: usize;
  inputEnd: usize;
  output: usize;
  outputEnd: usize;
  lines: i32;
  flags: u32;
  lineBase: u64;
  badCount: i32;
  places: usize;

  /** The first MAX_BAD of the bad records. */
  get bad(): Bad {
    return changetype<Bad>(changetype<usize>(this) + TASK_BAD);
  }
}

/** A bad record: BAD_… in kernel/layout.ts. */
@unmanaged
export class Bad {
  line: i32;
  reason: i32;
}

/** The counters of rules: RULES_… in kernel/layout.ts. */
@unmanaged
export class Rules {
  used: u32;
  doublings: u32;
  missed: u64;
  noted: u32;
  prefetched: u32;

  get notes(): usize {
    return changetype<usize>(this) + RULES_NOTES;
  }

  get entries(): usize {
    return changetype<usize>(this) + RULES_ENTRIES;
  }
}

/** The counter of a rule: RULE_… in kernel/layout.ts. */
@unmanaged
export class Rule {
  /** The version below, the line above. */
  place: u64;
  count: u64;
}

/** A rule that is noted: begins as a Rule does. */
@unmanaged
export class Note {
  version: u32;
  line: u32;
  /** `agent << 1 | allow` */
  agent: u32;
  /** Where the search begins. */
  entry: usize;

  get place(): u64 {
    return load<u64>(changetype<usize>(this));
  }
}

/** A batch whose hosts lie in several memories: DIVISION_… in kernel/layout.ts. */
@unmanaged
export class Division {
  banks: usize;
  list: usize;
  lines: u32;
  merged: u32;
  output: usize;
  outputEnd: usize;

  /** A share for each bank. */
  get shares(): Share {
    return changetype<Share>(changetype<usize>(this) + offsetof<Division>());
  }
}

/** The lines of a batch that are judged in one memory: SHARE_… in kernel/layout.ts. */
@unmanaged
export class Share {
  input: usize;
  number: usize;
  output: usize;
  place: usize;
  placeEnd: usize;
  distance: usize;
}

/** What belongs to one thread: WORKER_… in kernel/layout.ts. */
@unmanaged
export class Worker {
  records: u64;
  passed: u64;
  bad: u64;
  toCome: u64;
  shard: u32;

  get lines(): Line {
    return changetype<Line>(changetype<usize>(this) + WORKER_LINES);
  }

  get marks(): Marks {
    return changetype<Marks>(changetype<usize>(this) + WORKER_MARKS);
  }

  get shapes(): Shapes {
    return changetype<Shapes>(changetype<usize>(this) + WORKER_SHAPES);
  }

  get results(): Result {
    return changetype<Result>(changetype<usize>(this) + WORKER_RESULTS);
  }

  get hosts(): usize {
    return changetype<usize>(this) + WORKER_HOSTS;
  }
}

/** The marks of the JSON that is being read (json/marks.ts). */
@unmanaged
export class Marks {
  /** Where the next of them begin. */
  next: usize;
  /** 1 if the byte there is escaped by the one before it, otherwise 0. */
  escaped: u32;
  /** 1 if the bytes read for this line hold a backslash, otherwise 0. */
  backslashes: u32;
  /** Address of the next mark, when a line is done. */
  cursor: usize;
  /** Addresses of marks below this have three more after them. May be 0. */
  plain: usize;
  /** Bytes whose marks are found together next. */
  ahead: u32;
  /**
   * Addresses of the marks, in order; the first stands here. NO_MARK follows them twice, and what
   * is written beyond the last mark of 64 bytes.
   */
  first: usize;

  /** Address of the first address. */
  get list(): usize {
    return changetype<usize>(this) + offsetof<Marks>('first');
  }
}

/** The shapes of objects that were read (json/alike.ts). */
@unmanaged
export class Shapes {
  /** Above 0 while lines are compared with shapes. */
  credit: i32;

  /** Address of the shape of an object that has this many bytes after its URL, 1 to 63. */
  of(bytes: i32): usize {
    return changetype<usize>(this) + offsetof<Shapes>() + <usize>bytes * SHAPE_BYTES;
  }
}

/** The next region of an array. */
export function nextOf<T>(region: T): T {
  return changetype<T>(changetype<usize>(region) + offsetof<T>());
}

/** The region with this index in an array. */
export function elementOf<T>(first: T, index: i32): T {
  return changetype<T>(changetype<usize>(first) + <usize>index * offsetof<T>());
}

/** Outcome of a line whose URL is fine so far. */
export const PENDING: i32 = -1;
/** Outcome of a line that is empty or white space: not a record. */
export const EMPTY: i32 = -2;

/** The first line of a group. It has no line before whose authority it takes over. */
export function firstLine(worker: Worker): Line {
  worker.lines.before.rootBytes = 0;
  return lineAt(worker, 0);
}

/** The line with this index in its group. */
export function lineAt(worker: Worker, index: i32): Line {
  return elementOf(worker.lines, index);
}

/**
 * Where the number of a line stands, and then the end of its output (kernel/layout.ts,
 * TASK_PLACES).
 */
export function placeOf(places: usize, index: i32): usize {
  return places + ((<usize>index) << 2);
}

/** The table that is asked for the line. */
export function tableOf(line: Line): usize {
  return line.query.table;
}

/**
 * With QUERY_TIMED: the value that is the time of the record that was located last, in its line; 0
 * if the record has none.
 */
export let when: usize = 0;
export let whenEnd: usize = 0;

export function setWhen(from: usize, end: usize): void {
  when = from;
  whenEnd = end;
}

/**
 * With QUERY_NAMES_AGENT: the value that names the agent of the record that was located last, in
 * its line; 0 if the record has none.
 */
export let who: usize = 0;
export let whoEnd: usize = 0;

export function setWho(from: usize, end: usize): void {
  who = from;
  whoEnd = end;
}

/**
 * The bound of scratch memory. SCRATCH_FACTOR in kernel/layout.ts says how much the host must
 * provide.
 */

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
