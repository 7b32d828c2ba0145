import { createHash } from 'node:crypto';
import { parseRobots } from '../../src/protocol/parse.js';
import type { RobotsFile } from '../../src/protocol/robots-file.js';
import type { Verdict } from '../../src/protocol/verdict.js';
import { naiveVerdict } from '../../test/naive/verdict.js';
import type { CapturePlan } from '../corpus/capture-plan.js';
import { type IndexRow, indexRows } from '../corpus/index-rows.js';
import { noVerdicts, type VerdictCounts } from './verdict-counts.js';

/** Parsed files that are kept: rows of an authority stand close together. */
const MOST_KEPT = 64;

type Known = RobotsFile | 'unavailable' | 'unreachable' | 'unknown';

/**
 * Decides rows of an index by what the plan says about their authorities, and by the naive matcher
 * of the tests: neither reads an archive.
 */
export class PlanJudge {
  readonly #agent: string;
  readonly #known = new Map<string, Known>();

  constructor(agent: string) {
    this.#agent = agent;
  }

  decide(row: IndexRow): Verdict {
    const robots = this.#robotsOf(row);
    if (robots === 'unknown') return 'unknown';
    if (robots === 'unavailable') return 'allow';
    if (robots === 'unreachable') return 'deny';
    return naiveVerdict(robots, 'rfc9309', [this.#agent], row.url).verdict;
  }

  #robotsOf({ authority, answer }: IndexRow): Known {
    const known = this.#known.get(authority);
    if (known !== undefined) return known;
    if (this.#known.size === MOST_KEPT) this.#known.clear();
    const said = answer();
    const robots = said.kind === 'body' ? parseRobots(said.body) : said.kind;
    this.#known.set(authority, robots);
    return robots;
  }
}

/** What an index holds: the verdicts of all rows, and a checksum of their URLs. */
export interface IndexCounts {
  readonly counts: VerdictCounts;
  /** SHA-256 of the URLs, each with a line feed. */
  readonly sha256: string;
}

/** Counts the verdicts of the rows of an index, about 20 microseconds for each. */
export function countIndex(plan: CapturePlan, rows: number, agent: string): IndexCounts {
  const judge = new PlanJudge(agent);
  const counts = noVerdicts();
  const hash = createHash('sha256');
  for (const row of indexRows(plan, rows)) {
    counts[judge.decide(row)]++;
    hash.update(`${row.url}\n`);
  }
  return { counts, sha256: hash.digest('hex') };
}
