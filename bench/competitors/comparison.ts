import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { VERDICTS } from '../../src/protocol/verdict.js';
import { AGENT } from '../inputs/agents.js';
import type { Corpus } from '../inputs/corpus-store.js';
import { Lines } from '../inputs/lines.js';
import type { Annotated } from '../verify/annotated.js';
import { CorpusJudge } from '../verify/judges.js';
import { type Competitor, runCompetitor, taskOf } from './competitor.js';
import { type Difference, differencesOf } from './differences.js';

/** How a competitor's verdicts differ from the filter's. */
export interface Comparison {
  readonly name: string;
  readonly urls: number;
  readonly differences: readonly Difference[];
}

/** Compares the verdicts of all competitors with the filter's, URL by URL. */
export async function compareCompetitors(
  corpus: Corpus,
  annotated: Annotated,
  competitors: readonly Competitor[],
  report: (sentence: string) => void,
): Promise<Comparison[]> {
  const urls = new Lines(readFileSync(corpus.text));
  const judge = new CorpusJudge(corpus.robots, AGENT);
  const ours = (index: number) => VERDICTS[annotated.verdicts[index] ?? -1];
  const file = join(corpus.directory, 'verdicts.txt');
  const comparisons: Comparison[] = [];
  for (const competitor of competitors.filter(({ format }) => format === 'text')) {
    await runCompetitor(competitor, taskOf(competitor, corpus), file);
    const theirs = readFileSync(file, 'utf8').trimEnd().split('\n');
    const differences = differencesOf(judge, urls, ours, theirs);
    const total = differences.reduce((sum, { count }) => sum + count, 0);
    report(`${competitor.name}: ${total} of ${theirs.length} verdicts differ`);
    for (const { cause, count, example } of differences) report(`  ${count} ${cause}: ${example}`);
    comparisons.push({ name: competitor.name, urls: theirs.length, differences });
  }
  rmSync(file, { force: true });
  return comparisons;
}
