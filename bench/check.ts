import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { VERDICTS } from '../src/protocol/verdict.js';
import { Random } from './corpus/random.js';
import { type NaiveJudge, readStoredCounts } from './expected.js';
import { LineSink, Lines } from './lines.js';
import { guarded, quoted, runProgram, runShell } from './measure.js';
import { commandLine, type Input, type Workload } from './scenarios.js';
import { type Annotated, describeCounts, readAnnotated, type VerdictCounts } from './verdicts.js';

/** What a check found, in a sentence; a check that fails throws. */
export type Report = (sentence: string) => void;

/**
 * Runs the command line over every input in every way and asserts that the records come out
 * once, in order, with the same verdicts throughout, and that `--allowed` passes those that it must.
 *
 * @returns the verdicts, one for each line
 */
export async function checkPaths(workload: Workload, report: Report): Promise<Annotated> {
  let first: Annotated | undefined;
  for (const input of workload.inputs) {
    const lines = new Lines(readFileSync(input.path));
    const args = ['--table', workload.table, '--input', input.form, '--agent', workload.agent];
    const annotated = await checkForm(input, lines, [...args, '--quiet']);
    report(`${input.form}: ${describeCounts(annotated.counts)}; the same from a pipe`);
    const allowed = await checkAllowed(input, lines, annotated, [...args, '--quiet']);
    report(`${input.form}: --allowed passes ${allowed.toLocaleString('en')} lines as they came`);
    first ??= annotated;
    assertEqual(`${input.form}: the verdicts`, hashOf(annotated.verdicts), hashOf(first.verdicts));
  }
  if (first === undefined) throw new RangeError('no input to check');
  return first;
}

async function checkForm(input: Input, lines: Lines, args: string[]): Promise<Annotated> {
  const fromFile = readAnnotated(input.form, lines);
  await runProgram(...commandLine(...args, input.path), fromFile.sink);
  const annotated = fromFile.result();
  const fromPipe = readAnnotated(input.form, lines);
  const [node, words] = commandLine(...args, '-');
  await runShell(`cat ${quoted(input.path)} | ${guarded([node, ...words])}`, fromPipe.sink);
  assertEqual(`${input.form}: the output from a pipe`, fromPipe.result().hash, annotated.hash);
  return annotated;
}

async function checkAllowed(
  input: Input,
  lines: Lines,
  annotated: Annotated,
  args: string[],
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
  await runProgram(...commandLine(...args, '--allowed', input.path), sink);
  assertEqual(`${input.form}: lines that --allowed passes`, count, annotated.counts.allow);
  assertEqual(`${input.form}: --allowed's output`, passed.digest('hex'), expected.digest('hex'));
  return count;
}

/** Asserts that the naive matcher says the same of some of the URLs, drawn at random. */
export function checkAgainstNaive(
  judge: NaiveJudge,
  urls: Lines,
  annotated: Annotated,
  sample: number,
  report: Report,
): void {
  const random = new Random(1);
  for (let drawn = 0; drawn < sample; drawn++) {
    const index = sample >= urls.length ? drawn % urls.length : random.below(urls.length);
    const url = urls.at(index)?.toString() ?? '';
    const ours = VERDICTS[annotated.verdicts[index] ?? 0];
    const { verdict, rule } = judge.decide(url);
    assertEqual(`line ${index + 1}, ${url} (${rule || 'no rule'})`, ours, verdict);
  }
  report(`the naive matcher agrees on ${sample.toLocaleString('en')} of the URLs`);
}

/** Asserts the counts that are stored for this corpus, if any are. */
export function checkStoredCounts(
  urls: Buffer,
  agent: string,
  counts: VerdictCounts,
  report: Report,
): void {
  const sha256 = createHash('sha256').update(urls).digest('hex');
  const stored = readStoredCounts().find(
    (entry) => entry.sha256 === sha256 && entry.agent === agent,
  );
  if (stored === undefined) {
    report('no counts are stored for this corpus (--store-expected works them out)');
    return;
  }
  for (const word of VERDICTS) assertEqual(`count of ${word}`, counts[word], stored.counts[word]);
  report('the counts are those stored for this corpus');
}

/**
 * Says how robots-parser's verdicts differ, and by which rules: no assertion, since it is
 * another reading of the protocol.
 *
 * @param theirs verdicts of the first URLs, in order
 */
export function compareWithToday(
  judge: NaiveJudge,
  urls: Lines,
  ours: (index: number) => string | undefined,
  theirs: readonly string[],
  report: Report,
): void {
  const causes = new Map<string, { count: number; example: string }>();
  theirs.forEach((verdict, index) => {
    const own = ours(index);
    if (verdict === own) return;
    const url = urls.at(index)?.toString() ?? '';
    const { rule } = judge.decide(url);
    const cause = causeOf(url, rule);
    const example = `${url} is ${own} here and ${verdict} there (${rule || 'no rule'})`;
    const known = causes.get(cause);
    causes.set(cause, { count: (known?.count ?? 0) + 1, example: known?.example ?? example });
  });
  const differing = [...causes.values()].reduce((sum, { count }) => sum + count, 0);
  report(`robots-parser differs on ${differing} of the first ${theirs.length} URLs`);
  for (const [cause, { count, example }] of causes) report(`  ${count} by ${cause}; ${example}`);
}

/** Which trait of a URL or of the rule that decided accounts for a difference. */
function causeOf(url: string, rule: string): string {
  const beforeFragment = url.split('#', 1)[0] ?? '';
  if (beforeFragment.endsWith('?')) return 'an empty query, which the URL class drops';
  if (rule.includes('%') || url.includes('%')) return 'percent-encoding that is not made alike';
  if (/[^ -~]/.test(url + rule)) return 'characters outside ASCII';
  return 'something else';
}

/** @throws Error that says what differs */
export function assertEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: ${actual}, which should be ${expected}`);
}

function hashOf(octets: Uint8Array): string {
  return createHash('sha256').update(octets).digest('hex');
}

/** Runs robots-parser once more, for its verdicts rather than its time. */
export async function verdictsOfToday(workload: Workload, file: string): Promise<string[]> {
  const input = workload.inputs.find(({ form }) => form === 'text');
  if (input === undefined) return [];
  const script = join(import.meta.dirname, 'competitors', 'readline.ts');
  await runProgram(
    process.execPath,
    [
      ...['--import', 'tsx', script, 'text', workload.robotsDirectory, input.path],
      ...[String(workload.todayUrls), workload.agent, file],
    ],
    'keep',
  );
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}
