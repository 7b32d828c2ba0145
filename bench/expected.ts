import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRobots } from '../src/protocol/parse.js';
import type { RobotsFile } from '../src/protocol/robots-file.js';
import type { Verdict } from '../src/protocol/verdict.js';
import { naiveVerdict } from '../test/naive/verdict.js';
import type { Corpus } from './corpora.js';
import { Lines } from './lines.js';
import { describeCounts, noVerdicts, type VerdictCounts } from './verdicts.js';

/** Counts for one corpus, worked out once by the naive matcher over all its URLs. */
export interface StoredCounts {
  readonly seed: number;
  readonly hosts: number;
  readonly urls: number;
  /** SHA-256 of `urls.txt`: another corpus under the same options does not count. */
  readonly sha256: string;
  readonly agent: string;
  readonly counts: VerdictCounts;
}

const STORED_COUNTS_FILE = new URL('./expected-counts.json', import.meta.url);

export function readStoredCounts(): StoredCounts[] {
  return JSON.parse(readFileSync(STORED_COUNTS_FILE, 'utf8'));
}

/**
 * Decides URLs of a corpus by the naive matcher: RFC 9309 read literally, without a table and
 * without the kernel.
 */
export class NaiveJudge {
  readonly #directory: string;
  readonly #agent: string;
  readonly #robots = new Map<string, RobotsFile | undefined>();

  /** @param directory robots.txt files called `HOST`, as a corpus has them */
  constructor(directory: string, agent: string) {
    this.#directory = directory;
    this.#agent = agent;
  }

  /** The verdict, and the text of the rule that decided, if one did. */
  decide(line: string): { verdict: Verdict; rule: string } {
    if (!URL.canParse(line)) return { verdict: 'invalid', rule: '' };
    const { protocol, hostname, port } = new URL(line);
    if (!['http:', 'https:', 'ftp:'].includes(protocol)) return { verdict: 'invalid', rule: '' };
    const robots = port === '' ? this.#robotsOf(hostname) : undefined;
    if (robots === undefined) return { verdict: 'unknown', rule: '' };
    const decided = naiveVerdict(robots, 'rfc9309', [this.#agent], line);
    return { verdict: decided.verdict, rule: ruleText(robots, decided.line) };
  }

  /** The robots.txt of a URL's host as it came; empty where there is none. */
  textOf(line: string): string {
    if (!URL.canParse(line)) return '';
    const octets = this.#octetsOf(new URL(line).hostname);
    return octets === undefined ? '' : Buffer.from(octets).toString();
  }

  #robotsOf(host: string): RobotsFile | undefined {
    if (!this.#robots.has(host)) this.#robots.set(host, this.#read(host));
    return this.#robots.get(host);
  }

  #read(host: string): RobotsFile | undefined {
    const octets = this.#octetsOf(host);
    return octets === undefined ? undefined : parseRobots(octets);
  }

  #octetsOf(host: string): Uint8Array | undefined {
    try {
      return readFileSync(join(this.#directory, host));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

function ruleText(robots: RobotsFile, line: number): string {
  for (const { rules } of robots.groups) {
    for (const rule of rules) {
      if (rule.line === line) {
        return `${rule.allow ? 'Allow' : 'Disallow'}: ${Buffer.from(rule.pattern).toString()}`;
      }
    }
  }
  return '';
}

/** Works out the counts of a corpus, which takes about 0.1 ms for each URL, and keeps them. */
export function storeCounts(
  corpus: Corpus,
  agent: string,
  report: (sentence: string) => void,
): void {
  const octets = readFileSync(corpus.text);
  const judge = new NaiveJudge(corpus.robots, agent);
  const counts = noVerdicts();
  const lines = new Lines(octets);
  for (let index = 0; index < lines.length; index++) {
    counts[judge.decide(lines.at(index)?.toString() ?? '').verdict]++;
  }
  const { seed, hosts, urls } = corpus.summary.options;
  const sha256 = createHash('sha256').update(octets).digest('hex');
  const entry: StoredCounts = { seed, hosts, urls, sha256, agent, counts };
  const isOther = (stored: StoredCounts) =>
    [stored.seed, stored.hosts, stored.urls, stored.agent].join() !==
    [seed, hosts, urls, agent].join();
  const all = [...readStoredCounts().filter(isOther), entry];
  writeFileSync(STORED_COUNTS_FILE, `${JSON.stringify(all, null, 2)}\n`);
  report(`stored: ${describeCounts(counts)}`);
}
