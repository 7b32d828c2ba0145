import { readFileSync, writeFileSync } from 'node:fs';
import type { CapturePlan } from '../corpus/capture-plan.js';
import type { GeneratedIndex } from '../inputs/index-store.js';
import type { Expectation } from './count-watch.js';
import { countIndex } from './judges.js';
import { countsText, type VerdictCounts } from './verdict-counts.js';

/** The counts of an index by the naive matcher. */
interface StoredIndexCounts {
  readonly seed: number;
  readonly captures: number;
  readonly rows: number;
  /** SHA-256 of the URLs: counts of another generator are not used. */
  readonly sha256: string;
  /** As `countIndex`. */
  readonly agent: string;
  readonly counts: VerdictCounts;
}

const FILE = new URL('./expected-index-counts.json', import.meta.url);

function readAll(): StoredIndexCounts[] {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

/** What is known about the verdicts of an index. */
export function indexExpectation({ rows, sha256 }: GeneratedIndex, agent: string): Expectation {
  const stored = readAll().find((each) => each.sha256 === sha256 && each.agent === agent);
  return { records: rows, invalid: 0, ...(stored && { counts: stored.counts }) };
}

/** Counts an index with the naive matcher, and stores the counts. */
export function storeIndexCounts(
  plan: CapturePlan,
  rows: number,
  agent: string,
  report: (sentence: string) => void,
): void {
  const { seed, captures } = plan.options;
  const { counts, sha256 } = countIndex(plan, rows, agent);
  const others = readAll().filter((each) => each.sha256 !== sha256 || each.agent !== agent);
  const entry: StoredIndexCounts = { seed, captures, rows, sha256, agent, counts };
  writeFileSync(FILE, `${JSON.stringify([...others, entry], null, 2)}\n`);
  report(`stored: ${countsText(counts)}`);
}
