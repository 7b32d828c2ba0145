import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Corpus } from '../inputs/corpus-store.js';
import { Lines } from '../inputs/lines.js';
import { CorpusJudge } from './judges.js';
import { countsText, noVerdicts, type VerdictCounts } from './verdict-counts.js';

/** Counts of the naive matcher over all URLs of one corpus. */
interface StoredCounts {
  readonly seed: number;
  readonly hosts: number;
  readonly urls: number;
  /** SHA-256 of `urls.txt`: a different corpus with the same options is not used. */
  readonly sha256: string;
  readonly agent: string;
  readonly counts: VerdictCounts;
}

const FILE = new URL('./expected-counts.json', import.meta.url);

function readAll(): StoredCounts[] {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

/** The stored counts of a corpus; `undefined` if there are none. */
export function storedCounts({ summary, text }: Corpus, agent: string): VerdictCounts | undefined {
  const { seed } = summary.options;
  const wanted = [seed, summary.hosts, summary.urls, agent].join();
  const stored = readAll().filter((entry) => keyOf(entry) === wanted);
  if (stored.length === 0) return undefined;
  const sha256 = createHash('sha256').update(readFileSync(text)).digest('hex');
  return stored.find((entry) => entry.sha256 === sha256)?.counts;
}

/** Counts a corpus with the naive matcher, about 0.1 ms for each URL, and stores the counts. */
export function storeCounts(
  corpus: Corpus,
  agent: string,
  report: (sentence: string) => void,
): void {
  const bytes = readFileSync(corpus.text);
  const judge = new CorpusJudge(corpus.robots, agent);
  const counts = noVerdicts();
  const lines = new Lines(bytes);
  for (let index = 0; index < lines.length; index++) {
    counts[judge.decide(lines.at(index)?.toString() ?? '').verdict]++;
  }
  const { seed, hosts, urls } = corpus.summary.options;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const entry: StoredCounts = { seed, hosts, urls, sha256, agent, counts };
  const others = readAll().filter((stored) => keyOf(stored) !== keyOf(entry));
  writeFileSync(FILE, `${JSON.stringify([...others, entry], null, 2)}\n`);
  report(`stored: ${countsText(counts)}`);
}

function keyOf({ seed, hosts, urls, agent }: StoredCounts): string {
  return [seed, hosts, urls, agent].join();
}
