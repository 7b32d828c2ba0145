/**
 * Proves of a whole table what its readers take for granted, so that a table of any maker can be
 * opened.
 *
 * The kernel (kernel/assembly) reads a table without looking where it reads. Each of its loads lies
 * in the table, and each of its loops ends as stated, if the following holds. Every line is proven
 * here, octet by octet, for all that a look-up of any host, an explanation or `inspect` can reach;
 * and whatever nothing refers to is zero.
 *
 * What is read past the end of a thing (a label, a needle, the numbers of a record, the cache lines
 * of a host or an automaton) is at most TAIL_OCTETS, which follow the last section. So it is enough
 * that every thing ends in its section.
 *
 * | load or loop | what must hold | proven in |
 * |---|---|---|
 * | `homeBucket`, `probe`, `probeHost`: a bucket | the buckets fill their section; at most
 * MAX_PROBE are probed | checkHeader, buckets.ts |
 * | `recordOf`: a host record | a used slot refers to a host record, no two slots to the same; a
 * free one has tag 0, which no hash has | buckets.ts |
 * | `hostOf`, `isRecordOf`: the host | its form is known, and the record ends in the section |
 * hosts.ts |
 * | `findAuthority`: binary search, then a scan of one port | entries are sorted by port, and no
 * scheme stands twice at a port: three at most | hosts.ts |
 * | `groupsOf`: token numbers, list of groups | all numbers lie in the section; they ascend; none
 * is 0xffff where they have 16 bits; a list starts within the record | robots-records.ts |
 * | `consider`: the groups of a list | the last one says that none follows, and all lie in the
 * record; the budget bounds how many are matched | robots-records.ts, match.ts |
 * | `touchAutomata`, `match`: an automaton | a group refers to 0 or to the start of an automaton |
 * robots-records.ts |
 * | `match`: nodes | labels, edges, distances and rules lie within the nodes; each edge leads to
 * the start of a node behind its own, and each node is the target of one edge: so a walk takes an
 * octet of the path at each node, and ends | automata.ts |
 * | `prefixRank`, `rankOf` | a rank is less than 2^31 | automata.ts, blocks.ts |
 * | `ruleOfBlocks` | only blocks with masks are followed; places, offsets and rules follow one
 * another within the nodes; the budget bounds the blocks | blocks.ts |
 * | `matches` | segments have an octet at least, and fill their rule; a rule in one block says so
 * in its form | blocks.ts |
 * | `patternText` | a kept text starts where a text starts, and ends with its automaton; one that
 * is derived has at most TEXT_LIMIT octets, none of which needs to be escaped | automata.ts,
 * blocks.ts, texts.ts |
 * | `sourceText` | a source starts where a source starts, its two texts lie in the section, and
 * with the number or the host it has at most SOURCE_LIMIT octets; where it takes the number, the
 * authority has one | hosts.ts, sources.ts |
 *
 * So that what is there can be found, and records come out whole: hosts are canonical, each is
 * found under its own hash and only once, product tokens are sorted, the masks of a block let pass
 * whatever its rules match, ranks fit the octets of patterns and fall within the blocks of a node,
 * texts are escaped as in a JSON string and are fit for a terminal, and the counts in the header
 * are those of the table.
 *
 * Not proven: that the table says what some robots.txt says. Who makes a table decides all its
 * verdicts.
 *
 * Linear in the octets of the table: every octet is read a bounded number of times, as the things
 * in the section of the hosts may not overlap. They are met in the order in which they lie there;
 * what a thing refers to further on is noted in a map of two bits an octet.
 */

import { HEADER_HOST_KEY, HOST_KEY_FACTOR } from '../format.js';
import type { TableHeader } from '../table-check.js';
import { AutomatonCheck } from './automata.js';
import { checkBuckets } from './buckets.js';
import { HostCheck } from './hosts.js';
import { AUTOMATON, HOST, Placement, ROBOTS } from './placement.js';
import { RobotsCheck } from './robots-records.js';
import { SourceCheck } from './sources.js';
import { TableOctets } from './table-octets.js';
import { checkTokens } from './tokens.js';

/** What a table was found to hold. */
export interface VerifiedTable {
  readonly hosts: number;
  readonly authorities: number;
  /** Robots records: what distinct robots.txt files say. */
  readonly robots: number;
  /** Groups of all their lists. */
  readonly groups: number;
  readonly automata: number;
  /** Nodes, blocks of wildcard rules, rules and kept texts of all automata. */
  readonly nodes: number;
  readonly blocks: number;
  readonly rules: number;
  readonly texts: number;
}

/**
 * Verifies a table that `checkTable` has accepted with this header.
 *
 * @param name what messages call it, such as its path
 * @throws RobotsFilterError `table` that names the section, the byte and what is wrong there
 */
export function verifyTable(bytes: Uint8Array, header: TableHeader, name: string): VerifiedTable {
  const table = new TableOctets(bytes, name);
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
  };
  for (const count of ['hosts', 'authorities', 'robots', 'automata', 'rules'] as const) {
    if (verified[count] === header[count]) continue;
    throw table.fault(
      'header',
      0,
      `it says ${COUNTED[count]}: ${header[count]}, and the table has ${verified[count]}`,
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
