import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { filterCase } from './cases/filter-case.js';
import { prepareWorkload, type Workload } from './cases/workload.js';
import type { CorpusOptions } from './corpus/options.js';
import { agentsText } from './inputs/agents.js';
import {
  type Corpus,
  DEFAULT_CORPUS_DIRECTORY,
  makeScratch,
  provideCorpus,
} from './inputs/corpus-store.js';
import {
  oneUrlInput,
  recordInput,
  sizedInput,
  textInput,
  type UrlInput,
} from './inputs/url-input.js';
import { describeMachine, machineText } from './measure/machine.js';
import { type Case, wholeRuns } from './measure/runs.js';
import { median } from './measure/statistics.js';
import { Filter, type Route } from './program/filter.js';
import { packageText, providePackage } from './program/installed-package.js';
import { START_UP } from './report/growth-svg.js';
import { type GrowthStep, resultRecord, writeRecord } from './report/record.js';
import { say } from './report/say.js';
import { aligned, resultsText } from './report/tables.js';
import { CountWatch } from './verify/count-watch.js';

const STEPS = '1000,5000,20000,100000,300000,1000000';

/** Mean bytes of the records of `sizes`; URLs alone take about 60. */
const LEAST_SIZE = 64;
const RECORD_SIZES = [LEAST_SIZE, 128, 256, 512, 1024, 4096, 16_384];

const AGENT_COUNTS = [1, 2, 8, 64];

const USAGE = `Measure how robots-filter grows: hosts from 1,000 to a million, records from 60 bytes to 16 KiB,
agents from 1 to 64, threads, one host with very many rules, many wildcard rules, and long URLs.

npm run bench:growth -- [options]
    --only PART[,PART]  growth, sizes, agents, threads, skew (default: all)
    --steps 1000,5000,… hosts of each step (default: ${STEPS}); the curve ends
                        where a table no longer fits. A million hosts need 2.5 GB of disk
    --urls 4000000      URLs of each step and case
    --runs 3  --seed 1
    --installed DIR     run the package that is installed in DIR, not one packed from this checkout
    --corpus DIR        where corpora are kept, but those of the steps are removed
                        (default: ${DEFAULT_CORPUS_DIRECTORY})
    --record            write the figures to bench/record/growth.json
    --quick             small sizes, one run: a test of verdict counts
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'growth,sizes,agents,threads,skew' },
    steps: { type: 'string' },
    urls: { type: 'string' },
    runs: { type: 'string' },
    seed: { type: 'string', default: '1' },
    installed: { type: 'string' },
    corpus: { type: 'string', default: DEFAULT_CORPUS_DIRECTORY },
    record: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const { quick } = values;
const urls = Number(values.urls ?? (quick ? 20_000 : 4_000_000));
const plan = { runs: Number(values.runs ?? (quick ? 1 : 3)), timed: !quick };
const steps = (values.steps ?? (quick ? '100,1000' : STEPS)).split(',').map(Number);
const parts = values.only.split(',');
const watch = new CountWatch();

if (values.help) process.stdout.write(USAGE);
else await measureGrowth();

async function measureGrowth(): Promise<void> {
  const machine = describeMachine('npm run bench:growth --');
  say(machineText(machine));
  const scratch = makeScratch(values.corpus);
  try {
    const installed = await providePackage(scratch, values.installed);
    say(packageText(installed));
    const filter = new Filter(installed);
    const growth = parts.includes('growth') ? await growthCurve(filter, scratch) : undefined;
    const cases: Case[] = [];
    if (parts.includes('skew')) cases.push(...(await skewCases(filter, scratch)));
    if (parts.includes('sizes')) cases.push(...(await sizeCases(filter, scratch)));
    if (parts.includes('agents')) cases.push(...(await agentCases(filter, scratch)));
    if (parts.includes('threads')) cases.push(...(await threadCases(filter, scratch)));
    if (cases.length > 0) cases.push(await startCase(filter, scratch));
    const results = await wholeRuns(cases, plan, say);
    if (results.length > 0) say(`\n${resultsText(results)}`);
    say(`counts were asserted in ${watch.runs} runs of the filter`);
    if (values.record) {
      const content = { runs: plan.runs, urls, growth, results: results.map(resultRecord) };
      say(`recorded in ${writeRecord('growth', { machine, package: installed }, content)}`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** Makes, measures and removes one step after another: the disk could not hold all at once. */
async function growthCurve(
  filter: Filter,
  scratch: string,
): Promise<{ steps: GrowthStep[]; end: string }> {
  const curve: GrowthStep[] = [];
  let end = `${steps.at(-1)?.toLocaleString('en')} hosts fit`;
  for (const hosts of steps) {
    const corpus = corpusOf({ hosts, robots: 'ndjson' });
    const table = join(scratch, 'growth.table');
    try {
      curve.push(await stepOf(await prepareWorkload(filter, corpus, table)));
    } catch (error) {
      if (curve.length === 0 || !(error instanceof Error)) throw error;
      end = `${hosts.toLocaleString('en')} hosts: ${error.message.trim().split('\n').at(-1)}`;
      break;
    } finally {
      rmSync(table, { force: true });
      rmSync(corpus.directory, { recursive: true });
    }
  }
  say(`\n${curveText(curve)}\nthe curve ends: ${end}\n`);
  return { steps: curve, end };
}

async function stepOf(workload: Workload): Promise<GrowthStep> {
  const { corpus, tableBytes, compileSeconds } = workload;
  const cases = [
    caseOf('text', workload, textInput(corpus)),
    caseOf('one', workload, oneUrlInput(corpus)),
  ];
  const results = await wholeRuns(cases, plan, () => {});
  const [wholeSeconds = 0, openSeconds = 0] = results.map(({ seconds }) => median(seconds));
  const step: GrowthStep = {
    hosts: corpus.summary.hosts,
    robotsBytes: corpus.summary.robotsBytes,
    tableBytes,
    compileSeconds,
    openSeconds,
    nanoseconds: ((wholeSeconds - openSeconds) / corpus.summary.urls) * 1e9,
    peakBytes: Math.max(...results.map(({ peakBytes }) => peakBytes ?? 0)),
  };
  say(curveText([step]));
  return step;
}

function curveText(curve: readonly GrowthStep[]): string {
  const header = ['hosts', 'ns/URL', 'bytes a host', 'table MB', 'open s', 'compile s', 'peak MB'];
  const rows = curve.map((step) => [
    step.hosts.toLocaleString('en'),
    step.nanoseconds.toFixed(0),
    (step.tableBytes / step.hosts).toFixed(0),
    (step.tableBytes / 1e6).toFixed(1),
    step.openSeconds.toFixed(3),
    step.compileSeconds.toFixed(2),
    (step.peakBytes / 1e6).toFixed(0),
  ]);
  return aligned([header, ...rows]);
}

/** Extreme hosts and URLs as well as ordinary ones. */
async function skewCases(filter: Filter, scratch: string): Promise<Case[]> {
  const shapes: Readonly<Record<string, Partial<CorpusOptions>>> = {
    ordinary: {},
    'one host, 47,064 rules': { hosts: 1, oneGroup: { rules: 47_064, wildcardShare: 0 } },
    'the same, 1 % wildcards': { hosts: 1, oneGroup: { rules: 47_064, wildcardShare: 0.01 } },
    '200 wildcard rules': { hosts: 1000, oneGroup: { rules: 200, wildcardShare: 1 } },
    'URLs of 2 KB': { urlBytes: 2048, urls: Math.round(urls / 8) },
  };
  const cases: Case[] = [];
  for (const [id, shape] of Object.entries(shapes)) {
    const table = join(scratch, `${cases.length}.table`);
    const workload = await prepareWorkload(filter, corpusOf(shape), table);
    const records = recordInput(workload.corpus, 'short', 'first');
    cases.push(caseOf(`${id}, text`, workload, textInput(workload.corpus)));
    cases.push(caseOf(`${id}, ndjson`, workload, records));
  }
  return cases;
}

/** One URL: its time is that of start-up, which the curves leave out. */
async function startCase(filter: Filter, scratch: string): Promise<Case> {
  const workload = await prepareWorkload(filter, corpusOf({}), join(scratch, 'start.table'));
  return caseOf(START_UP, workload, oneUrlInput(workload.corpus));
}

/** Records of each size, in files of the same size. */
async function sizeCases(filter: Filter, scratch: string): Promise<Case[]> {
  const cases: Case[] = [];
  for (const size of RECORD_SIZES) {
    const shape = { urls: Math.round((urls * LEAST_SIZE) / size) };
    const workload = await prepareWorkload(filter, corpusOf(shape), join(scratch, `${size}.table`));
    cases.push(caseOf(`records of ${size} B`, workload, sizedInput(workload.corpus, size)));
  }
  return cases;
}

/** Short records for more and more agents. */
async function agentCases(filter: Filter, scratch: string): Promise<Case[]> {
  const workload = await prepareWorkload(filter, corpusOf({}), join(scratch, 'agents.table'));
  const records = recordInput(workload.corpus, 'short', 'first');
  return AGENT_COUNTS.map((count) =>
    caseOf(`${count} agents`, workload, records, { agents: agentsText(count) }),
  );
}

async function threadCases(filter: Filter, scratch: string): Promise<Case[]> {
  const workload = await prepareWorkload(filter, corpusOf({}), join(scratch, 'threads.table'));
  const records = recordInput(workload.corpus, 'short', 'first');
  return ['1', '2', '4'].flatMap((threads) =>
    (['file', 'cat |'] as const).map((route) => {
      const id = `${threads} threads, ${route === 'file' ? 'file' : 'pipe'}`;
      return caseOf(id, workload, records, { route, options: ['--threads', threads] });
    }),
  );
}

function caseOf(
  id: string,
  { filter, table, corpus, expected }: Workload,
  input: UrlInput,
  more: { route?: Route; options?: readonly string[]; agents?: string } = {},
): Case {
  const counts = input.records === 1 ? { records: 1 } : expected;
  const counted = `${corpus.directory}, ${input.records} URLs`;
  return filterCase(watch, { id, filter, table, input, counted, expected: counts, ...more });
}

function corpusOf(options: Partial<CorpusOptions>): Corpus {
  const base = { seed: Number(values.seed), hosts: quick ? 200 : 5000, urls };
  return provideCorpus(values.corpus, { ...base, ...options }, say);
}
