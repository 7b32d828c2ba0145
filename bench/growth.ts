import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compiled, filterCase, tableOctets, type Workload } from './cases.js';
import { type Corpus, corpusIn, emptied } from './corpora.js';
import type { CorpusOptions } from './corpus/corpus.js';
import { CountWatch } from './counts.js';
import { describe, describeMachine } from './machine.js';
import { median } from './measure.js';
import { writeRecord } from './record.js';
import { aligned, describeResults, resultRecord } from './report.js';
import { type Case, inTurn, type Result } from './rounds.js';

const USAGE = `How robots-filter bears growth, skew and worst cases: hosts from 1,000 to 4 million, one host
with very many rules, many wildcard rules, long URLs, and threads.

npm run bench:growth -- [options]
    --only PART[,PART]  of: growth, skew, threads (default: all)
    --steps 1000,5000,…  hosts of each step (default: 1000 to 4,000,000); the curve ends where a
                        table does not fit any more. A step of a million hosts takes 2.5 GB of disk
    --urls 2000000      URLs of each step and case
    --rounds 3  --seed 1
    --corpus DIR        where corpora are kept; those of the growing steps are removed again
                        (default: ${join(tmpdir(), 'robots-filter-bench')})
    --record            keeps the figures in bench/record/
    --quick             small sizes, one round: a test of verdict counts
`;

const STEPS = '1000,5000,20000,100000,300000,1000000,2000000,4000000';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'growth,skew,threads' },
    steps: { type: 'string' },
    urls: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    corpus: { type: 'string', default: join(tmpdir(), 'robots-filter-bench') },
    record: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const { quick } = values;
const seed = Number(values.seed);
const urls = Number(values.urls ?? (quick ? 20_000 : 2_000_000));
const turns = { rounds: Number(values.rounds ?? (quick ? 1 : 3)), warmUp: !quick };
const steps = (values.steps ?? (quick ? '100,1000' : STEPS)).split(',').map(Number);
const parts = values.only.split(',');

/** What of growth is drawn as a curve. */
interface Step {
  readonly hosts: number;
  readonly robotsOctets: number;
  readonly tableOctets: number;
  readonly compileSeconds: number;
  /** One URL, start-up included. */
  readonly loadSeconds: number;
  /** For each URL, loading and start-up not counted. */
  readonly nanoseconds: number;
  /** Resident beyond the table at the peak. */
  readonly beyondOctets: number;
}

const watch = new CountWatch();

if (values.help) process.stdout.write(USAGE);
else await measureGrowth();

async function measureGrowth(): Promise<void> {
  const machine = describeMachine('npm run bench:growth --');
  say(describe(machine));
  const scratch = emptied(join(values.corpus, 'run'));
  try {
    const growth = parts.includes('growth') ? await growthCurve(scratch) : undefined;
    const cases: Case[] = [];
    if (parts.includes('skew')) cases.push(...(await skewCases(scratch)));
    if (parts.includes('threads')) cases.push(...(await threadCases(scratch)));
    const results = await inTurn(cases, turns, say);
    if (results.length > 0) say(`\n${describeResults(results)}`);
    if (values.record) {
      const figures = { machine, ...turns, urls, growth, results: results.map(resultRecord) };
      say(`recorded in ${writeRecord('growth', figures)}`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/**
 * Each step by itself, from making its files to removing them: all at once would not fit on a disk.
 */
async function growthCurve(scratch: string): Promise<{ steps: Step[]; end: string }> {
  const curve: Step[] = [];
  let end = `${steps.at(-1)?.toLocaleString('en')} hosts fit`;
  for (const hosts of steps) {
    const corpus = corpusOf({ hosts, robots: 'ndjson' });
    const table = join(scratch, 'growth.table');
    try {
      curve.push(await stepOf(corpus, table));
    } catch (error) {
      if (curve.length === 0 || !(error instanceof Error)) throw error;
      end = `${hosts.toLocaleString('en')} hosts: ${error.message.trim().split('\n').at(-1)}`;
      break;
    } finally {
      rmSync(table, { force: true });
      rmSync(corpus.directory, { recursive: true });
    }
  }
  say(`\n${describeCurve(curve)}\nthe curve ends: ${end}\n`);
  return { steps: curve, end };
}

async function stepOf(corpus: Corpus, table: string): Promise<Step> {
  const start = process.hrtime.bigint();
  const workload = await compiled(corpus, table);
  const compileSeconds = Number(process.hrtime.bigint() - start) / 1e9;
  const text = filterCase(watch, { id: 'text', workload, form: 'text' });
  const one = filterCase(watch, { id: 'one', workload, form: 'oneUrl' });
  const [whole, load] = (await inTurn([text, one], turns, () => {})) as [Result, Result];
  const loadSeconds = median(load.seconds);
  const step: Step = {
    hosts: corpus.summary.hosts,
    robotsOctets: corpus.summary.robotsOctets,
    tableOctets: tableOctets(workload),
    compileSeconds,
    loadSeconds,
    nanoseconds: ((median(whole.seconds) - loadSeconds) / whole.case.records) * 1e9,
    beyondOctets: Math.max(whole.peakOctets ?? 0, load.peakOctets ?? 0),
  };
  say(describeCurve([step]));
  return step;
}

function describeCurve(curve: readonly Step[]): string {
  const header = ['hosts', 'ns/URL', 'octets a host', 'table MB', 'load s', 'compile s', 'peak MB'];
  const rows = curve.map((step) => [
    step.hosts.toLocaleString('en'),
    step.nanoseconds.toFixed(0),
    (step.tableOctets / step.hosts).toFixed(0),
    (step.tableOctets / 1e6).toFixed(1),
    step.loadSeconds.toFixed(3),
    step.compileSeconds.toFixed(2),
    (step.beyondOctets / 1e6).toFixed(0),
  ]);
  return aligned([header, ...rows]);
}

/** What a list of ordinary hosts does not show, beside one of ordinary hosts. */
async function skewCases(scratch: string): Promise<Case[]> {
  const shapes: Readonly<Record<string, Partial<CorpusOptions>>> = {
    ordinary: {},
    'one host, 47,064 rules': { hosts: 1, oneGroup: { rules: 47_064, wildcardShare: 0 } },
    'the same, 1 % wildcards': { hosts: 1, oneGroup: { rules: 47_064, wildcardShare: 0.01 } },
    '200 wildcard rules': { hosts: 1000, oneGroup: { rules: 200, wildcardShare: 1 } },
    'URLs of 2 KB': { urlOctets: 2048, urls: Math.round(urls / 8) },
  };
  const cases: Case[] = [];
  for (const [id, shape] of Object.entries(shapes)) {
    const table = join(scratch, `${cases.length}.table`);
    const workload = await compiled(corpusOf(shape), table);
    for (const form of ['text', 'ndjson'] as const) {
      cases.push(filterCase(watch, { id: `${id}, ${form}`, workload, form }));
    }
  }
  return cases;
}

async function threadCases(scratch: string): Promise<Case[]> {
  const workload: Workload = await compiled(corpusOf({}), join(scratch, 'threads.table'));
  return ['1', '2', '4'].flatMap((threads) => {
    const options = ['--threads', threads];
    return (['file', 'cat |'] as const).map((way) => {
      const id = `${threads} threads, ${way === 'file' ? 'file' : 'pipe'}`;
      return filterCase(watch, { id, workload, form: 'ndjson', way, options });
    });
  });
}

function corpusOf(options: Partial<CorpusOptions>): Corpus {
  return corpusIn(values.corpus, { seed, hosts: quick ? 200 : 5000, urls, ...options }, say);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
