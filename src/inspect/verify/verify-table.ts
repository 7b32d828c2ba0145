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
 *   probed (checkHeader, buckets.ts).
 * - `recordOf`: a used slot refers to a host record, and no two slots to the same. A free slot has
 *   tag 0, which no hash has (buckets.ts).
 * - `hostOf`, `isRecordOf`: the form of a host record is known, and the record ends in the section
 *   (hosts.ts).
 * - `findAuthority`: entries are sorted by port, and no scheme stands twice at a port. So the
 *   binary search is followed by a scan of three entries at most (hosts.ts).
 * - `groupsOf`: all token numbers lie in the section and ascend, and none is 0xffff if they have
 *   16 bits. A list of groups starts within the record (robots-records.ts).
 * - `consider`: the last group of a list is marked as the last, and all lie in the record. The
 *   budget bounds how many are matched (robots-records.ts, budget.ts).
 * - `prefetchAutomata`, `match`: a group refers to 0 or to the start of an automaton
 *   (robots-records.ts).
 * - `match`: labels, edges, distances and rules lie within the nodes. Each edge leads to the start
 *   of a later node, and each node is the target of one edge. So a walk takes a byte of the path
 *   at each node, and ends (automata.ts).
 * - `prefixRank`, `rankOf`: a rank is less than 2^31 (automata.ts, blocks.ts).
 * - `ruleOfBlocks`: another block follows only blocks with masks. Places, offsets and rules follow
 *   one another within the nodes. The budget bounds the blocks (blocks.ts).
 * - `matches`: segments have at least one byte, and fill their rule. A rule with one segment says
 *   so in its form (blocks.ts).
 * - `patternText`: a kept text starts where a text starts, and ends in its automaton. A derived
 *   text has at most TEXT_LIMIT bytes, none of which needs an escape (automata.ts, blocks.ts,
 *   texts.ts).
 * - `sourceText`: a source starts where a source starts, and its two texts lie in the section.
 *   With the number or the host, it has at most SOURCE_LIMIT bytes. If it needs a number, the
 *   authority has one (hosts.ts, sources.ts).
 *
 * - `RecordIndex`: the entries of records ascend, each is of an authority, and its list starts
 *   where a list starts. Numbers and texts of a list lie within it (records.ts).
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

import { HEADER_HOST_KEY, HOST_KEY_FACTOR } from '../../table/format.js';
import type { TableHeader } from '../../table/table-check.js';
import { AutomatonCheck } from './automata.js';
import { checkBuckets } from './buckets.js';
import { HostCheck } from './hosts.js';
import { AUTOMATON, HOST, Placement, ROBOTS } from './placement.js';
import { checkRecords } from './records.js';
import { RobotsCheck } from './robots-records.js';
import { SourceCheck } from './sources.js';
import { TableBytes } from './table-bytes.js';
import { checkTokens } from './tokens.js';

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

/**
 * Verifies a table that `checkTable` has accepted with this header.
 *
 * @param name the table's name in messages, such as its path
 * @throws RobotsFilterError `table` that names the section, the byte and the fault
 */
export function verifyTable(bytes: Uint8Array, header: TableHeader, name: string): VerifiedTable {
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
