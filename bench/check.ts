import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { VERDICTS } from '../src/protocol/verdict.js';
import { assertEqual } from './assert-equal.js';
import { AGENT, type Workload } from './cases.js';
import { runFilter } from './command.js';
import { type Competitor, runCompetitor, taskOf } from './competitors.js';
import { Random } from './corpus/random.js';
import { type Difference, differencesOf } from './differences.js';
import { NaiveJudge } from './expected.js';
import { LineSink, Lines } from './lines.js';
import { type Annotated, describeCounts, readAnnotated } from './verdicts.js';

/** What a check found, in a sentence; a check that fails throws. */
export type Report = (sentence: string) => void;

/**
 * Runs the command line over a corpus in every way and asserts that the records come out once, in
 * order, with the same verdicts throughout, that `--allowed` passes those that it must, and that
 * the naive matcher agrees on a sample.
 *
 * @returns the verdicts, one for each line
 */
export async function checkFilter({ corpus, table }: Workload, report: Report): Promise<Annotated> {
  let first: Annotated | undefined;
  for (const form of ['text', 'ndjson'] as const) {
    const lines = new Lines(readFileSync(corpus[form]));
    const args = ['--table', table, '--input', form, '--agent', AGENT];
    const annotated = await checkForm(form, corpus[form], lines, args);
    report(`${form}: ${describeCounts(annotated.counts)}; the same from a pipe`);
    const allowed = await checkAllowed(form, corpus[form], lines, annotated, args);
    report(`${form}: --allowed passes ${allowed.toLocaleString('en')} lines as they came`);
    first ??= annotated;
    assertEqual(`${form}: the verdicts`, hashOf(annotated.verdicts), hashOf(first.verdicts));
  }
  if (first === undefined) throw new RangeError('no form to check');
  const judge = new NaiveJudge(corpus.robots, AGENT);
  checkAgainstNaive(judge, new Lines(readFileSync(corpus.text)), first, report);
  return first;
}

async function checkForm(
  form: 'text' | 'ndjson',
  path: string,
  lines: Lines,
  args: readonly string[],
): Promise<Annotated> {
  const fromFile = readAnnotated(form, lines);
  await runFilter(args, path, 'file', fromFile.sink);
  const annotated = fromFile.result();
  const fromPipe = readAnnotated(form, lines);
  await runFilter(args, path, 'cat |', fromPipe.sink);
  assertEqual(`${form}: the output from a pipe`, fromPipe.result().hash, annotated.hash);
  return annotated;
}

async function checkAllowed(
  form: 'text' | 'ndjson',
  path: string,
  lines: Lines,
  annotated: Annotated,
  args: readonly string[],
): Promise<number> {
  const expected = createHash('sha256');
  for (const [index, verdict] of annotated.verdicts.entries()) {
    if (VERDICTS[verdict] === 'allow') expected.update(lines.at(index) ?? '').update('\n');
  }
  const passed = createHash('sha256');
  let count = 0;
  const sink: Writable = new LineSink((line) => {
    passed.update(line).update('\n');
    count++;
  });
  await runFilter([...args, '--allowed'], path, 'file', sink);
  assertEqual(`${form}: lines that --allowed passes`, count, annotated.counts.allow);
  assertEqual(`${form}: --allowed's output`, passed.digest('hex'), expected.digest('hex'));
  return count;
}

/** URLs that the naive matcher decides as well. */
const SAMPLE = 5000;

function checkAgainstNaive(
  judge: NaiveJudge,
  urls: Lines,
  annotated: Annotated,
  report: Report,
): void {
  const random = new Random(1);
  for (let drawn = 0; drawn < SAMPLE; drawn++) {
    const index = SAMPLE >= urls.length ? drawn % urls.length : random.below(urls.length);
    const url = urls.at(index)?.toString() ?? '';
    const ours = VERDICTS[annotated.verdicts[index] ?? 0];
    const { verdict, rule } = judge.decide(url);
    assertEqual(`line ${index + 1}, ${url} (${rule || 'no rule'})`, ours, verdict);
  }
  report(`the naive matcher agrees on ${SAMPLE.toLocaleString('en')} of the URLs`);
}

/** What a competitor's verdicts are to ours. */
export interface Comparison {
  readonly name: string;
  readonly urls: number;
  readonly differences: readonly Difference[];
}

/**
 * Compares the verdicts of all competitors, URL by URL, and says what accounts for the differences.
 */
export async function checkCompetitors(
  { corpus }: Workload,
  annotated: Annotated,
  competitors: readonly Competitor[],
  report: Report,
): Promise<Comparison[]> {
  const urls = new Lines(readFileSync(corpus.text));
  const judge = new NaiveJudge(corpus.robots, AGENT);
  const ours = (index: number) => VERDICTS[annotated.verdicts[index] ?? -1];
  const file = join(corpus.directory, 'verdicts.txt');
  const comparisons: Comparison[] = [];
  for (const competitor of competitors.filter(({ form }) => form === 'text')) {
    await runCompetitor(competitor, taskOf(corpus), file);
    const theirs = readFileSync(file, 'utf8').trimEnd().split('\n');
    const differences = differencesOf(judge, urls, ours, theirs);
    const count = differences.reduce((sum, difference) => sum + difference.count, 0);
    report(`${competitor.name}: ${count} of ${theirs.length} verdicts differ`);
    for (const { cause, count, example } of differences) report(`  ${count} ${cause}: ${example}`);
    comparisons.push({ name: competitor.name, urls: theirs.length, differences });
  }
  rmSync(file, { force: true });
  return comparisons;
}

function hashOf(octets: Uint8Array): string {
  return createHash('sha256').update(octets).digest('hex');
}
