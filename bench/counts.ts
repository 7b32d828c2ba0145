import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { VERDICTS } from '../src/protocol/verdict.js';
import { assertEqual } from './assert-equal.js';
import type { Statistics } from './command.js';
import type { Corpus } from './corpora.js';
import { readStoredCounts } from './expected.js';
import { describeCounts, type VerdictCounts } from './verdicts.js';

/** What a run has to have counted. */
export interface Expectation {
  readonly records: number;
  /** Known from the generator, whatever robots.txt says. */
  readonly unknown?: number;
  readonly invalid?: number;
  /** All four, worked out by the naive matcher; for runs of one agent. */
  readonly counts?: VerdictCounts;
}

/**
 * What the generator knows of a corpus and, where they are stored, what the naive matcher counted
 * in it.
 */
export function expectationOf({ summary, text }: Corpus, agent: string): Expectation {
  const { urls: records, unknown, invalid, options } = summary;
  const stored = readStoredCounts().filter(
    (entry) =>
      entry.agent === agent &&
      entry.seed === options.seed &&
      entry.hosts === summary.hosts &&
      entry.urls === records,
  );
  if (stored.length === 0) return { records, unknown, invalid };
  const sha256 = createHash('sha256').update(readFileSync(text)).digest('hex');
  const counts = stored.find((entry) => entry.sha256 === sha256)?.counts;
  return { records, unknown, invalid, ...(counts === undefined ? {} : { counts }) };
}

/**
 * Watches over the counts of every measured run: they must be those that are expected, and for each
 * agent the same in all runs over an input.
 */
export class CountWatch {
  readonly #seen = new Map<string, string>();
  #runs = 0;

  /**
   * @param input names what was filtered, with what
   * @throws Error that says what differs
   */
  check(input: string, expected: Expectation, { records, agents }: Statistics): void {
    assertEqual(`${input}: records`, records, expected.records);
    for (const { agent, verdicts } of agents) {
      const sum = VERDICTS.reduce((total, word) => total + verdicts[word], 0);
      assertEqual(`${input}: verdicts for ${agent}`, sum, expected.records);
      for (const word of ['unknown', 'invalid'] as const) {
        assertEqual(`${input}: ${word}`, verdicts[word], expected[word] ?? verdicts[word]);
      }
      if (expected.counts !== undefined && agents.length === 1) {
        assertEqual(input, describeCounts(verdicts), describeCounts(expected.counts));
      }
      const key = `${input}\n${agent}`;
      const counts = describeCounts(verdicts);
      assertEqual(`${input}: ${agent}`, counts, this.#seen.get(key) ?? counts);
      this.#seen.set(key, counts);
    }
    this.#runs++;
  }

  /** Runs whose counts were asserted. */
  get runs(): number {
    return this.#runs;
  }
}
