import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRobots } from '../../src/protocol/parse.js';
import type { RobotsFile } from '../../src/protocol/robots-file.js';
import type { Verdict } from '../../src/protocol/verdict.js';
import { naiveVerdict } from '../../test/naive/verdict.js';

/**
 * Decides URLs of a corpus with the naive matcher of the tests: RFC 9309 read literally, without a
 * table and without the kernel.
 */
export class NaiveJudge {
  readonly #directory: string;
  readonly #agent: string;
  readonly #robots = new Map<string, RobotsFile | undefined>();

  /** @param directory robots.txt files named `HOST` */
  constructor(directory: string, agent: string) {
    this.#directory = directory;
    this.#agent = agent;
  }

  /** The verdict, and the text of the deciding rule or an empty string. */
  decide(line: string): { verdict: Verdict; rule: string } {
    if (!URL.canParse(line)) return { verdict: 'invalid', rule: '' };
    const { protocol, hostname, port } = new URL(line);
    if (!['http:', 'https:', 'ftp:'].includes(protocol)) return { verdict: 'invalid', rule: '' };
    const robots = port === '' ? this.#robotsOf(hostname) : undefined;
    if (robots === undefined) return { verdict: 'unknown', rule: '' };
    const decided = naiveVerdict(robots, 'rfc9309', [this.#agent], line);
    return { verdict: decided.verdict, rule: ruleText(robots, decided.line) };
  }

  /** The robots.txt of a URL's host; empty if there is none. */
  textOf(line: string): string {
    if (!URL.canParse(line)) return '';
    const bytes = this.#bytesOf(new URL(line).hostname);
    return bytes === undefined ? '' : Buffer.from(bytes).toString();
  }

  #robotsOf(host: string): RobotsFile | undefined {
    if (!this.#robots.has(host)) {
      const bytes = this.#bytesOf(host);
      this.#robots.set(host, bytes === undefined ? undefined : parseRobots(bytes));
    }
    return this.#robots.get(host);
  }

  #bytesOf(host: string): Uint8Array | undefined {
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
