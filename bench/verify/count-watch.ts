import { VERDICTS } from '../../src/protocol/verdict.js';
import type { Corpus } from '../inputs/corpus-store.js';
import type { Statistics } from '../program/filter.js';
import { assertEqual } from './assert-equal.js';
import { storedCounts } from './stored-counts.js';
import { countsText, type VerdictCounts } from './verdict-counts.js';

/** The expected counts of a run. */
export interface Expectation {
  readonly records: number;
  /** Known from the generator. */
  readonly unknown?: number;
  readonly invalid?: number;
  /** All verdicts by the naive matcher, for runs with one agent. */
  readonly counts?: VerdictCounts;
}

/** The generator's counts and the stored counts of a corpus. */
export function expectationOf(corpus: Corpus, agent: string): Expectation {
  const { urls: records, unknown, invalid } = corpus.summary;
  const counts = storedCounts(corpus, agent);
  return { records, unknown, invalid, ...(counts === undefined ? {} : { counts }) };
}

/** Asserts that each run has the expected counts, and the same counts as all runs of its input. */
export class CountWatch {
  readonly #seen = new Map<string, string>();
  #runs = 0;

  /**
   * @param input name of the URLs and the table: their counts never change
   * @throws Error that names the difference
   */
  check(input: string, expected: Expectation, { records, agents }: Statistics): void {
    assertEqual(`${input}: records`, records, expected.records);
    if (agents.length === 0) throw new Error(`${input}: no agent has counts`);
    for (const { agent, verdicts } of agents) {
      const sum = VERDICTS.reduce((total, word) => total + verdicts[word], 0);
      assertEqual(`${input}: verdicts for ${agent}`, sum, expected.records);
      for (const word of ['unknown', 'invalid'] as const) {
        assertEqual(`${input}: ${word}`, verdicts[word], expected[word] ?? verdicts[word]);
      }
      const counts = countsText(verdicts);
      if (expected.counts !== undefined && agents.length === 1) {
        assertEqual(input, counts, countsText(expected.counts));
      }
      const key = `${input}\n${agent}`;
      assertEqual(`${input}: ${agent}`, counts, this.#seen.get(key) ?? counts);
      this.#seen.set(key, counts);
    }
    this.#runs++;
  }

  /** Number of checked runs. */
  get runs(): number {
    return this.#runs;
  }
}
