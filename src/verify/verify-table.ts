/**
 * Proves the assumptions of a table's readers, so that a table of any maker can be opened.
 *
 * The kernel (kernel/assembly) reads a table without bounds checks. Each of its loads lies in the
 * table, and each of its loops ends as stated, if every assumption below holds. Each assumption is
 * proven here for everything that a look-up of any host, an explanation or `inspect` can reach. All
 * other bytes are zero.
 *
 * Reads past the end of a part (a label, a needle, the numbers of a record, the cache lines of a
 * host or an automaton) reach at most TAIL_BYTES further, which follow the last section. So every
 * part need only end in its section.
 *
 * The list names the code that makes an assumption, the assumption, and the file that proves it:
 *
 * - `bucketOf`, `probe`, `probeHost`: the buckets fill their section, and at most MAX_PROBE are
 *   probed (checkHeader, hosts.ts).
 * - `recordOf`: a used slot refers to a host record, and no two slots to the same. A free slot has
 *   tag 0, which no hash has (hosts.ts).
 * - `hostOf`, `isRecordOf`: the form of a host record is known, and the record ends in the section
 *   (hosts.ts).
 * - `findAuthority`: entries are sorted by port, and no scheme stands twice at a port. So the
 *   binary search is followed by a scan of three entries at most (hosts.ts).
 * - `groupsOf`: all token numbers lie in the section and ascend, and none is 0xffff if they have
 *   16 bits. A list of groups starts within the record (hosts.ts).
 * - `consider`: the last group of a list is marked as the last, and all lie in the record. The
 *   budget bounds how many are matched (hosts.ts, kernel/assembly/match.ts).
 * - `prefetchAutomata`, `match`: a group refers to 0 or to the start of an automaton
 *   (hosts.ts).
 * - `match`: labels, edges, distances and rules lie within the nodes. Each edge leads to the start
 *   of a later node, and each node is the target of one edge. So a walk takes a byte of the path
 *   at each node, and ends (automata.ts).
 * - `prefixRank`, `rankOf`: a rank is less than 2^31 (automata.ts, automata.ts).
 * - `ruleOfBlocks`: another block follows only blocks with masks. Places, offsets and rules follow
 *   one another within the nodes. The budget bounds the blocks (automata.ts).
 * - `matches`: segments have at least one byte, and fill their rule. A rule with one segment says
 *   so in its form (automata.ts).
 * - `patternText`: a kept text starts where a text starts, and ends in its automaton. A derived
 *   text has at most TEXT_LIMIT bytes, none of which needs an escape (automata.ts, automata.ts,
 *   verify/placement.ts).
 * - `sourceText`: a source starts where a source starts, and its two texts lie in the section.
 *   With the number or the host, it has at most SOURCE_LIMIT bytes. If it needs a number, the
 *   authority has one (hosts.ts, verify/hosts.ts).
 *
 * - `RecordIndex`: the entries of records ascend, each is of an authority, and its list starts
 *   where a list starts. Numbers and texts of a list lie within it (hosts.ts).
 *
 * Also proven, for correct results: hosts are canonical, and each is found under its own hash and
 * only once; product tokens are sorted; the masks of a block pass every match of its rules; ranks
 * fit the lengths of patterns and descend in the blocks of a node; texts are escaped as in a JSON
 * string and safe to print; the counts in the header are correct.
 *
 * Not proven: that the table agrees with some robots.txt. The maker of a table decides all its
 * verdicts.
 *
 * Takes time linear in the length of the table: parts of the hosts section must not overlap, so
 * every byte is read a bounded number of times. The parts are visited in order. A map of two bits
 * for each byte holds the references to later parts.
 */

import { ASTERISK, UPPER_A, UPPER_Z } from '../base/ascii.js';
import { RobotsFilterError } from '../base/errors.js';
import type { TableHeader } from '../table/check.js';
import {
  ACCESS_UNKNOWN,
  ACCESS_UNREACHABLE,
  AUTOMATON_WIDE,
  GROUP_BYTES,
  GROUP_LINE,
  HEADER_HOST_KEY,
  HOST_KEY_FACTOR,
  MAX_GROUP_RULES,
  ROBOTS_ACCESS,
  ROBOTS_WIDE,
  TOKEN_ANY,
  TOKEN_EMPTY,
  TOKEN_ENTRY_BYTES,
  VERSION_WITHOUT_HISTORIES,
} from '../table/format.js';
import { shardOf } from '../table/places.js';
import type { ShardView } from '../view/shard-view.js';
import { AutomatonCheck } from './automata.js';
import { checkBuckets, checkRecords, HostCheck, SourceCheck } from './hosts.js';
import { AUTOMATON, HOST, Placement, ROBOTS, TableBytes } from './placement.js';

/** Counts of a verified table. */
export interface VerifiedTable {
  readonly hosts: number;
  readonly authorities: number;
  /** Robots records: robots.txt files with distinct groups. */
  readonly robots: number;
  /** Groups in all lists of the robots records. */
  readonly groups: number;
  readonly automata: number;
  /** Nodes, blocks of wildcard rules, rules and kept texts of all automata. */
  readonly nodes: number;
  readonly blocks: number;
  readonly rules: number;
  readonly texts: number;
  /** Record lists, and the other records in them. */
  readonly recordLists: number;
  readonly records: number;
}

/** A shard to be verified. */
export interface VerifiableShard {
  readonly header: TableHeader;
  readonly view: ShardView;
}

/**
 * Verifies the shards of a table one by one, and that each host is in its shard.
 *
 * @returns the sums of the shards' counts
 * @throws RobotsFilterError `table`, as `verifyShard`
 */
export function verifyTable(
  shards: readonly (VerifiableShard | undefined)[],
  name: string,
): VerifiedTable {
  const sums = new Map<string, number>();
  for (const [shard, placed] of shards.entries()) {
    if (placed === undefined) throw new Error(`shard ${shard} is to be verified, not in memory`);
    const { header, view } = placed;
    const counts = verifyShard(view.reader.bytes, header, view.reader.name);
    for (const [what, count] of Object.entries(counts)) {
      sums.set(what, (sums.get(what) ?? 0) + count);
    }
    // Reading the names of all hosts takes seconds for large tables.
    if (shards.length === 1) break;
    for (const at of view.hostPlaces()) {
      const host = view.nameAt(at);
      if (shardOf(host, shards.length) === shard) continue;
      throw new RobotsFilterError(
        'table',
        `${name}: ${host} is in part ${shard} and belongs into part ${shardOf(host, shards.length)}: compile it again`,
      );
    }
  }
  return Object.fromEntries(sums) as unknown as VerifiedTable;
}

/**
 * Verifies a shard that `checkTable` has accepted with this header.
 *
 * @param name the shard's name in messages, such as its path
 * @throws RobotsFilterError `table` that names the section, the byte and the fault
 */
export function verifyShard(bytes: Uint8Array, header: TableHeader, name: string): VerifiedTable {
  const table = new TableBytes(bytes, name);
  const { sections } = header;
  if ((table.u8(HEADER_HOST_KEY + HOST_KEY_FACTOR) & 1) === 0) {
    throw table.fault(
      'header',
      HEADER_HOST_KEY + HOST_KEY_FACTOR,
      'the factor of the hash is even',
    );
  }
  checkTokens(table, header);
  const sources = new SourceCheck(table, sections.sources.start, sections.sources.end);
  const placement = new Placement(table, sections.hosts.start, sections.hosts.end);
  checkBuckets(table, header, placement);
  const hosts = new HostCheck(table, header, placement, sources);
  const robots = new RobotsCheck(table, header, placement);
  const automata = new AutomatonCheck(table, placement.end);
  const checks = { [HOST]: hosts, [ROBOTS]: robots, [AUTOMATON]: automata };
  placement.visit((kind, at) => checks[kind].check(at));

  const records = checkRecords(table, header, hosts);

  const verified = {
    hosts: hosts.count,
    authorities: hosts.authorities,
    robots: robots.count,
    groups: robots.groups,
    automata: automata.count,
    nodes: automata.nodes,
    blocks: automata.blocks,
    rules: automata.rules,
    texts: automata.texts,
    ...records,
  };
  for (const count of ['hosts', 'authorities', 'robots', 'automata', 'rules'] as const) {
    if (verified[count] === header[count]) continue;
    throw table.fault(
      'header',
      0,
      `it states ${header[count]} ${COUNTED[count]}, and the table has ${verified[count]}`,
    );
  }
  return verified;
}

const COUNTED = {
  hosts: 'hosts',
  authorities: 'authorities',
  robots: 'robots records',
  automata: 'automata',
  rules: 'rules',
} as const;

/** Maximum number of product tokens that 16 bits can number: 0xffff stands for no token. */
const MAX_NARROW_TOKENS = 0xffff;

/** Checks robots records: see verify-table.ts. */
class RobotsCheck {
  count = 0;
  groups = 0;
  readonly #table: TableBytes;
  readonly #placement: Placement;
  readonly #tokens: number;
  /** The greatest access result that the table may have. */
  readonly #lastAccess: number;
  /** For each group of the current record 1 if a list starts with it, else 0. */
  #listStarts = new Uint8Array(64);
  /** Number of groups of the current record. */
  #recordGroups = 0;

  constructor(table: TableBytes, { tokens, version }: TableHeader, placement: Placement) {
    this.#table = table;
    this.#placement = placement;
    this.#tokens = tokens;
    this.#lastAccess = version > VERSION_WITHOUT_HISTORIES ? ACCESS_UNKNOWN : ACCESS_UNREACHABLE;
  }

  /** Checks the robots record at `at`; returns where it ends. */
  check(at: number): number {
    const table = this.#table;
    const { end } = this.#placement;
    const head = table.u8(at);
    const access = head & ROBOTS_ACCESS;
    if (access > this.#lastAccess || (head & ~(ROBOTS_ACCESS | ROBOTS_WIDE)) !== 0) {
      throw this.#fault(at, `a robots record that begins with ${head}`);
    }
    const width = (head & ROBOTS_WIDE) !== 0 ? 4 : 2;
    if (width === 2 && this.#tokens > MAX_NARROW_TOKENS) {
      throw this.#fault(at, `${this.#tokens} product tokens have numbers of more than 16 bits`);
    }
    const numbers = at + 1 + width;
    const count = table.number(at + 1, width);
    const lists = numbers + width * count;
    const groups = lists + width * count;
    if (groups > end) {
      throw this.#fault(at + 1, `the record has ${count} product tokens, beyond its section`);
    }
    let last = -1;
    for (let index = 0; index < count; index++) {
      const number = numbers + width * index;
      const token = table.number(number, width);
      if (token <= last) throw this.#fault(number, 'the product tokens do not ascend');
      if (token >= this.#tokens) throw this.#fault(number, `there is no product token ${token}`);
      last = token;
      const place = lists + width * index;
      this.#checkList(place, at + table.number(place, width), groups);
    }
    this.#listStarts.fill(0, 0, this.#recordGroups);
    const recordEnd = groups + GROUP_BYTES * this.#recordGroups;
    this.groups += this.#recordGroups;
    this.#recordGroups = 0;
    this.count++;
    return recordEnd;
  }

  /**
   * Checks the list that the number at `place` refers to: the next list, or an earlier one.
   *
   * @param groups start of the first list
   */
  #checkList(place: number, list: number, groups: number): void {
    const next = groups + GROUP_BYTES * this.#recordGroups;
    if (list === next) {
      this.#addList(list);
      return;
    }
    const group = (list - groups) / GROUP_BYTES;
    // A fraction or a later group is not 1 either.
    if (list > next || this.#listStarts[group] !== 1) {
      throw this.#fault(place, `no list of groups starts at ${list}`);
    }
  }

  /** Checks a list that follows the earlier ones. */
  #addList(list: number): void {
    const table = this.#table;
    const first = this.#recordGroups;
    let isFollowed = true;
    let rules = 0;
    for (let at = list; isFollowed; at += GROUP_BYTES) {
      if (at + GROUP_BYTES > this.#placement.end) {
        throw this.#fault(list, 'the list of groups does not end in its section');
      }
      const automaton = table.u32(at);
      if (automaton !== 0) {
        this.#placement.refer(at, automaton, AUTOMATON);
        rules += this.#rulesOf(automaton);
      }
      if (rules > MAX_GROUP_RULES) {
        throw this.#fault(list, `a list of groups has more than ${MAX_GROUP_RULES} rules`);
      }
      isFollowed = (table.u8(at + GROUP_LINE) & 1) !== 0;
      this.#recordGroups++;
    }
    if (this.#recordGroups > this.#listStarts.length) {
      const longer = new Uint8Array(2 * this.#recordGroups);
      longer.set(this.#listStarts);
      this.#listStarts = longer;
    }
    this.#listStarts[first] = 1;
  }

  /** The number of rules that an automaton states; AutomatonCheck checks it. */
  #rulesOf(automaton: number): number {
    const isWide = (this.#table.u8(automaton) & AUTOMATON_WIDE) !== 0;
    return isWide ? this.#table.u32(automaton + 5) : this.#table.u16(automaton + 3);
  }

  #fault(at: number, what: string): Error {
    return this.#table.fault('hosts', at, what);
  }
}

/**
 * Checks that the product tokens fill their section: `*`, the empty token, then the others sorted
 * without duplicates, all in lower case.
 */
function checkTokens(table: TableBytes, { tokens, sections }: TableHeader): void {
  const { start, end } = sections.tokens;
  let next = start + tokens * TOKEN_ENTRY_BYTES;
  let previous = next;
  for (let number = 0; number < tokens; number++) {
    const entry = start + number * TOKEN_ENTRY_BYTES;
    const text = table.u32(entry);
    const bytes = table.u32(entry + 4);
    const fault = (what: string): Error =>
      table.fault('tokens', entry, `product token ${number} ${what}`);
    if (text !== next) throw fault(`starts at ${text}, not at ${next}`);
    next = text + bytes;
    if (next > end) throw fault(`has ${bytes} bytes, beyond the section`);
    if (number === TOKEN_ANY) {
      if (bytes !== 1 || table.u8(text) !== ASTERISK) throw fault('is not *');
    } else if (number === TOKEN_EMPTY) {
      if (bytes !== 0) throw fault('is not empty');
    } else if (!isAfter(table.bytes, previous, text, next)) {
      throw fault('is not sorted');
    }
    if (!isLowerCase(table.bytes, text, next)) throw fault('is not in lower case');
    previous = text;
  }
  table.zeros('tokens', next, end);
}

/** Whether the text from `text` to `end` sorts after the text from `previous` to `text`. */
function isAfter(bytes: Uint8Array, previous: number, text: number, end: number): boolean {
  const length = Math.min(text - previous, end - text);
  for (let at = 0; at < length; at++) {
    const difference = (bytes[text + at] as number) - (bytes[previous + at] as number);
    if (difference !== 0) return difference > 0;
  }
  return end - text > text - previous;
}

function isLowerCase(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte >= UPPER_A && byte <= UPPER_Z) return false;
  }
  return true;
}
