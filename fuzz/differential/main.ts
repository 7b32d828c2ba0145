import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { PROFILES, type Profile } from '../../src/protocol/verdict.js';
import { CASES_OF_SEED } from '../../test/differential/questions.js';
import { leastOf, Tally } from '../../test/differential/tally.js';
import type { Outcome, Work } from './messages.js';

/** With fewer cases, required situations may be missing. */
const ENOUGH_CASES = 40_000;

const USAGE = `Compares the program with the naive implementation in oracle/, as test/differential does, on many more cases.

npm run differential -- [options]
    --cases 1000000     how many in all; each profile has the same share, rounded up to whole files
    --seed 1            the first seed; each profile begins with it
    --profile NAME      this profile alone
    --threads N         how many at a time (default: one for each processor)

A case is one URL, asked for one crawler of one robots.txt: verdict and deciding line are compared. Each seed is a
robots.txt with ${CASES_OF_SEED} cases. At a disagreement the smallest case is printed, and the exit code is 1; so it is when, among
${ENOUGH_CASES.toLocaleString('en')} cases or more of a profile, something that must be tried occurred too rarely.
`;

/** Number of seeds that a thread gets at a time. */
const SEEDS_OF_WORK = 250;
const REPORT_MILLISECONDS = 10_000;

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    profile: { type: 'string' },
    threads: { type: 'string', default: `${availableParallelism()}` },
    help: { type: 'boolean', default: false },
  },
});
const profiles = PROFILES.filter((name) => (values.profile ?? name) === name);
if (values.help || profiles.length === 0) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const firstSeed = whole('--seed', values.seed);
const seeds = Math.ceil(whole('--cases', values.cases) / profiles.length / CASES_OF_SEED);
const tallies = new Map(profiles.map((profile) => [profile, new Tally()]));
const work = allWork();
const start = performance.now();
let nextReport = start + REPORT_MILLISECONDS;
let found: string | undefined;

const threads = Math.max(1, whole('--threads', values.threads));
console.log(
  `${profiles.join(', ')}: seeds ${firstSeed} to ${firstSeed + seeds - 1}, ${CASES_OF_SEED} cases each, ${threads} threads`,
);
await Promise.all(Array.from({ length: threads }, runThread));
summarise();

function* allWork(): Generator<Work> {
  for (let done = 0; done < seeds; done += SEEDS_OF_WORK) {
    const count = Math.min(SEEDS_OF_WORK, seeds - done);
    for (const profile of profiles) yield { profile, firstSeed: firstSeed + done, seeds: count };
  }
}

/** Gives a thread one task after another, until none is left or a disagreement was found. */
async function runThread(): Promise<void> {
  const thread = new Worker(new URL('./entry.mjs', import.meta.url));
  try {
    for (const next of work) {
      thread.postMessage(next);
      const [outcome] = (await once(thread, 'message')) as [Outcome];
      take(outcome);
      if (found !== undefined) return;
    }
  } finally {
    await thread.terminate();
  }
}

function take(outcome: Outcome): void {
  if (outcome.kind === 'found') {
    found ??= outcome.message;
    return;
  }
  tallies.get(outcome.work.profile)?.addAll(outcome);
  if (performance.now() < nextReport) return;
  nextReport += REPORT_MILLISECONDS;
  console.log(progress());
}

function progress(): string {
  const cases = [...tallies.values()].reduce((sum, tally) => sum + tally.cases, 0);
  const seconds = (performance.now() - start) / 1000;
  return `${Math.round(seconds)} s, ${cases.toLocaleString('en')} cases, ${Math.round(cases / seconds)}/s`;
}

function summarise(): void {
  console.log(progress());
  for (const [profile, tally] of tallies) {
    console.log(`\n${profile}: ${tally.cases.toLocaleString('en')} cases`);
    for (const [name, count] of Object.entries(tally.counts)) {
      console.log(`  ${name.padEnd(20)}${count.toLocaleString('en').padStart(12)}`);
    }
    if (found === undefined && tally.cases >= ENOUGH_CASES) requireAll(profile, tally);
  }
  if (found === undefined) return;
  console.log(`\n${found}`);
  process.exitCode = 1;
}

function requireAll(profile: Profile, tally: Tally): void {
  const shortfalls = tally.shortfalls(leastOf(profile, tally.cases));
  if (shortfalls.length === 0) return;
  console.log(`  too rare: ${shortfalls.join('; ')}`);
  process.exitCode = 1;
}

function whole(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) {
    throw new Error(`${option} ${text}: expected a whole number`);
  }
  return number;
}
