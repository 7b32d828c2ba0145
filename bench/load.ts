import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareWorkload } from './cases/workload.js';
import { AGENT } from './inputs/agents.js';
import { DEFAULT_CORPUS_DIRECTORY, provideCorpus } from './inputs/corpus-store.js';
import { recordInput } from './inputs/url-input.js';
import { describeMachine, machineText } from './measure/machine.js';
import { residentBytes } from './measure/memory.js';
import { Filter } from './program/filter.js';
import { packageText, providePackage } from './program/installed-package.js';
import { writeRecord } from './report/record.js';
import { say } from './report/say.js';
import { aligned } from './report/tables.js';
import { assertEqual } from './verify/assert-equal.js';
import { CountWatch } from './verify/count-watch.js';
import { RepeatedOutput } from './verify/repeated-output.js';

const USAGE = `Send a hundred million records through a pipe and compare each byte that comes out with a run
over a file on one thread. Print throughput and memory over time.

npm run bench:load -- [options]
    --records 100000000 at least; the corpus is repeated as a whole
    --urls 8000000  --hosts 5000  --seed 1
    --interval 2        seconds between two looks at memory
    --installed DIR     run the package that is installed in DIR, not one packed from this checkout
    --corpus DIR        where the corpus is kept (default: ${DEFAULT_CORPUS_DIRECTORY})
    --record            write the figures to bench/record/load.json
`;

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '100000000' },
    urls: { type: 'string', default: '8000000' },
    hosts: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
    interval: { type: 'string', default: '2' },
    installed: { type: 'string' },
    corpus: { type: 'string', default: DEFAULT_CORPUS_DIRECTORY },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** One observation. */
interface Look {
  /** Seconds since the start of the run. */
  readonly seconds: number;
  readonly records: number;
  /** Memory of the filter, its shell and cat. */
  readonly residentBytes: number | undefined;
}

if (values.help) process.stdout.write(USAGE);
else await load();

async function load(): Promise<void> {
  const machine = describeMachine('npm run bench:load --');
  say(machineText(machine));
  const scratch = mkdtempSync(join(tmpdir(), 'robots-filter-load-'));
  try {
    const installed = await providePackage(scratch, values.installed);
    say(packageText(installed));
    const content = await pass(new Filter(installed), scratch);
    if (values.record) {
      say(`recorded in ${writeRecord('load', { machine, package: installed }, content)}`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function pass(filter: Filter, scratch: string) {
  const [seed, hosts, urls] = [values.seed, values.hosts, values.urls].map(Number);
  const options = { seed: seed ?? 1, hosts: hosts ?? 1, urls: urls ?? 1 };
  const corpus = provideCorpus(values.corpus, options, say);
  const { table, expected } = await prepareWorkload(filter, corpus, join(scratch, 'table'));
  const { path } = recordInput(corpus, 'short', 'first');
  const args = ['--table', table, '--agent', AGENT];
  const once = join(scratch, 'once.ndjson');
  const onOneThread = [...args, '--threads', '1'];
  const sink = createWriteStream(once);
  const reference = await filter.runCounted(onOneThread, { paths: [path] }, sink);
  new CountWatch().check(corpus.directory, expected, reference.statistics);

  const times = Math.ceil(Number(values.records) / corpus.summary.urls);
  const output = new RepeatedOutput(once, times);
  const looks: Look[] = [];
  const start = performance.now();
  const timer = setInterval(() => {
    const seconds = (performance.now() - start) / 1000;
    looks.push({ seconds, records: output.records, residentBytes: residentBytes() });
  }, Number(values.interval) * 1000);
  const paths = Array<string>(times).fill(path);
  const run = await filter.runCounted(args, { paths, route: 'cat |' }, output);
  clearInterval(timer);
  const records = times * corpus.summary.urls;
  assertEqual('records', run.statistics.records, records);
  assertEqual('records that came out', output.records, records);
  for (const [index, { agent, verdicts }] of run.statistics.agents.entries()) {
    const { allow = 0 } = reference.statistics.agents[index]?.verdicts ?? {};
    assertEqual(`allowed for ${agent}`, verdicts.allow, times * allow);
  }
  const digest = output.finish();
  report(looks, run.seconds, records, digest);
  const { seconds, peakBytes } = run;
  return { corpus: corpus.summary, records, seconds, peakBytes, digest, looks };
}

function report(looks: readonly Look[], seconds: number, records: number, digest: string): void {
  const rows = looks.map((look, index) => {
    const last = looks[index - 1] ?? { seconds: 0, records: 0 };
    const rate = (look.records - last.records) / (look.seconds - last.seconds) / 1e6;
    const resident = look.residentBytes;
    return [
      look.seconds.toFixed(1),
      look.records.toLocaleString('en'),
      rate.toFixed(2),
      resident === undefined ? '-' : (resident / 1e6).toFixed(0),
    ];
  });
  say(`\n${aligned([['seconds', 'records', 'million/s', 'resident MB'], ...rows], 0)}\n`);
  const count = `${records.toLocaleString('en')} records in ${seconds.toFixed(1)} s`;
  say(`${count}, each byte as from one thread over a file; SHA-256 of the output ${digest}`);
}
