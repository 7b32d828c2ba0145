import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { VERDICTS } from '../src/protocol/verdict.js';
import {
  checkAgainstNaive,
  checkPaths,
  checkStoredCounts,
  compareWithToday,
  verdictsOfToday,
} from './check.js';
import { type CorpusSummary, writeCorpus } from './corpus/corpus.js';
import { NaiveJudge, storeCounts } from './expected.js';
import { timeLibrary } from './library.js';
import { Lines } from './lines.js';
import { describeMachine } from './machine.js';
import { runProgram } from './measure.js';
import { describe, type Result, recordOf, tableOf } from './report.js';
import {
  commandLine,
  floorScenarios,
  ourScenarios,
  type Scenario,
  todayScenarios,
  type Workload,
} from './scenarios.js';

const USAGE = `Times robots-filter from end to end on a generated corpus, and asserts its verdicts.

npm run bench -- [options]
    --hosts 5000  --urls 1000000  --seed 1   the corpus
    --url-last          NDJSON with the member url behind the others
    --corpus DIR        a corpus that bench/corpus/main.ts wrote, in place of a new one
    --agent '*'         the crawler
    --rounds 5          runs of each command, in turn
    --only LIST         of: floors,ours,today,library,check (default: all)
    --sample 5000       URLs that the naive matcher decides as well
    --today-urls 200000 URLs that robots-parser is given
    --quick             200 hosts, 20,000 URLs, one round, and all counts asserted
    --record            keeps the figures in bench/record/
    --store-expected    works out the counts of this corpus by the naive matcher, and keeps them
`;

const { values } = parseArgs({
  options: {
    hosts: { type: 'string' },
    urls: { type: 'string' },
    seed: { type: 'string', default: '1' },
    'url-last': { type: 'boolean', default: false },
    corpus: { type: 'string' },
    agent: { type: 'string', default: '*' },
    rounds: { type: 'string' },
    only: { type: 'string', default: 'floors,ours,today,library,check' },
    sample: { type: 'string', default: '5000' },
    'today-urls': { type: 'string', default: '200000' },
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    'store-expected': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const parts = new Set(values.only.split(','));
const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));

if (values.help) process.stdout.write(USAGE);
else await benchmark();

async function benchmark(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'robots-filter-bench-'));
  try {
    const directory = values.corpus ?? join(scratch, 'corpus');
    const corpus = values.corpus === undefined ? generate(directory) : readCorpus(directory);
    say(
      `${corpus.hosts} hosts, ${corpus.bodies} different files, ${corpus.rules} rules, ${corpus.urls} URLs\n`,
    );
    if (values['store-expected']) storeCounts(directory, corpus.options, values.agent, say);
    else await measure(directory, corpus, scratch);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function generate(directory: string): CorpusSummary {
  return writeCorpus(directory, {
    seed: Number(values.seed),
    hosts: Number(values.hosts ?? (values.quick ? 200 : 5000)),
    urls: Number(values.urls ?? (values.quick ? 20_000 : 1_000_000)),
    urlLast: values['url-last'],
  });
}

function readCorpus(directory: string): CorpusSummary {
  return JSON.parse(readFileSync(join(directory, 'corpus.json'), 'utf8'));
}

async function measure(directory: string, corpus: CorpusSummary, scratch: string): Promise<void> {
  const machine = describeMachine('npm run bench --');
  const workload: Workload = {
    robotsDirectory: join(directory, 'robots'),
    table: join(scratch, 'table'),
    agent: values.agent,
    todayUrls: Math.min(Number(values['today-urls']), corpus.urls),
    inputs: (['text', 'ndjson'] as const).map((form) => {
      const path = join(directory, form === 'text' ? 'urls.txt' : 'urls.ndjson');
      return { form, path, lines: corpus.urls, octets: statSync(path).size };
    }),
  };
  const usesCommandLine = parts.has('ours') || parts.has('check');
  if (usesCommandLine) await compileTable(workload);
  if (parts.has('check')) await check(workload, directory, scratch);

  const scenarios = [
    ...(parts.has('floors') ? floorScenarios(workload) : []),
    ...(parts.has('ours') ? ourScenarios(workload) : []),
    ...(parts.has('today') ? todayScenarios(workload) : []),
  ];
  const results = await timeInTurn(scenarios);
  const library = parts.has('library') ? await timeLibrary(workload, rounds, say) : undefined;

  say(`${describe(machine)}\nmedians of ${rounds} rounds\n`);
  for (const input of ['text', 'ndjson'] as const) {
    if (results.length > 0) say(`${tableOf(input, results)}\n`);
  }
  if (values.record) {
    const name = `${new Date().toISOString().slice(0, 10)}-${corpus.hosts}-${corpus.urls}.json`;
    const file = join(import.meta.dirname, 'record', name);
    mkdirSync(join(import.meta.dirname, 'record'), { recursive: true });
    writeFileSync(file, recordOf(machine, corpus, results, library));
    say(`recorded in ${file}`);
  }
}

async function compileTable({ robotsDirectory, table }: Workload): Promise<void> {
  const [node, words] = commandLine('compile', '--robots-dir', robotsDirectory, '-o', table);
  if (!existsSync(words[0] ?? '')) {
    throw new Error(`${words[0]} is missing: run "npm run build", or pass --only floors,today`);
  }
  const run = await runProgram(node, [...words, '--quiet']);
  say(`compile: ${run.seconds.toFixed(3)} s, a table of ${statSync(table).size} octets`);
}

async function check(workload: Workload, directory: string, scratch: string): Promise<void> {
  const annotated = await checkPaths(workload, say);
  const octets = readFileSync(join(directory, 'urls.txt'));
  const urls = new Lines(octets);
  const judge = new NaiveJudge(workload.robotsDirectory, workload.agent);
  checkAgainstNaive(judge, urls, annotated, Number(values.sample), say);
  checkStoredCounts(octets, workload.agent, annotated.counts, say);
  const today = await verdictsOfToday(workload, join(scratch, 'today.txt'));
  const ours = (index: number) => VERDICTS[annotated.verdicts[index] ?? -1];
  compareWithToday(judge, urls, ours, today, say);
  say('');
}

/** Runs all scenarios, then all again: what disturbs the machine for a while disturbs all of them. */
async function timeInTurn(scenarios: readonly Scenario[]): Promise<Result[]> {
  const results = scenarios.map((scenario) => ({
    scenario,
    seconds: [] as number[],
    peakOctets: undefined as number | undefined,
  }));
  for (let round = 0; round < rounds; round++) {
    for (const result of results) {
      const run = await result.scenario.run();
      result.seconds.push(run.seconds);
      if (run.peakOctets !== undefined) {
        result.peakOctets = Math.max(result.peakOctets ?? 0, run.peakOctets);
      }
    }
  }
  return results;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
