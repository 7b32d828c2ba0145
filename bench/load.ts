import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { assertEqual } from './assert-equal.js';
import { AGENT, compile } from './cases.js';
import { runFilter } from './command.js';
import { corpusIn } from './corpora.js';
import { describe, describeMachine } from './machine.js';
import { residentOctets } from './measure.js';
import { writeRecord } from './record.js';
import { RepeatedOutput } from './repeated-output.js';

const USAGE = `Puts a hundred million records through a pipe: every octet that comes out must be the one that a
run over a file, on one thread, puts in its place. Shows throughput and memory over time.

npm run bench:load -- [options]
    --records 100000000  at least; the corpus is repeated as a whole
    --urls 8000000  --hosts 5000  --seed 1
    --interval 2        seconds between two looks
    --corpus DIR        where the corpus is kept for the next run (default: ${join(tmpdir(), 'robots-filter-bench')})
    --record            keeps the figures in bench/record/
`;

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '100000000' },
    urls: { type: 'string', default: '8000000' },
    hosts: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
    interval: { type: 'string', default: '2' },
    corpus: { type: 'string', default: join(tmpdir(), 'robots-filter-bench') },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** What was seen at one moment. */
interface Look {
  /** Since the start of the run. */
  readonly seconds: number;
  readonly records: number;
  /** Of the filter, its shell and cat. */
  readonly residentOctets: number | undefined;
}

if (values.help) process.stdout.write(USAGE);
else await load();

async function load(): Promise<void> {
  const machine = describeMachine('npm run bench:load --');
  process.stdout.write(`${describe(machine)}\n`);
  const corpus = corpusIn(
    values.corpus,
    {
      seed: Number(values.seed),
      hosts: Number(values.hosts),
      urls: Number(values.urls),
    },
    (sentence) => process.stderr.write(`${sentence}\n`),
  );
  const scratch = mkdtempSync(join(tmpdir(), 'robots-filter-load-'));
  try {
    const table = join(scratch, 'table');
    await compile(corpus.robots, table);
    const args = ['--table', table, '--agent', AGENT];
    const once = join(scratch, 'once.ndjson');
    const reference = await runFilter(
      [...args, '--threads', '1'],
      corpus.ndjson,
      'file',
      createWriteStream(once),
    );
    assertEqual('records of the file', reference.statistics.records, corpus.summary.urls);
    const times = Math.ceil(Number(values.records) / corpus.summary.urls);
    const output = new RepeatedOutput(once, times);
    const looks: Look[] = [];
    const start = performance.now();
    const timer = setInterval(() => {
      const seconds = (performance.now() - start) / 1000;
      looks.push({ seconds, records: output.records, residentOctets: residentOctets() });
    }, Number(values.interval) * 1000);
    const run = await runFilter(args, Array(times).fill(corpus.ndjson), 'cat |', output);
    clearInterval(timer);
    assertEqual('records', run.statistics.records, times * corpus.summary.urls);
    assertEqual('records that came out', output.records, times * corpus.summary.urls);
    const digest = output.finish();
    report(looks, run.seconds, output.records, digest);
    if (values.record) {
      const { seconds, peakOctets } = run;
      const file = writeRecord('load', {
        machine,
        corpus: corpus.summary,
        records: output.records,
        seconds,
        peakOctets,
        digest,
        looks,
      });
      process.stdout.write(`kept in ${file}\n`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function report(looks: readonly Look[], seconds: number, records: number, digest: string): void {
  process.stdout.write('\nseconds      records  million/s  resident MB\n');
  let before: Look = { seconds: 0, records: 0, residentOctets: undefined };
  for (const look of looks) {
    const rate = (look.records - before.records) / (look.seconds - before.seconds) / 1e6;
    const resident = look.residentOctets === undefined ? '-' : megabytes(look.residentOctets);
    process.stdout.write(
      `${look.seconds.toFixed(1).padStart(7)} ${look.records.toLocaleString('en').padStart(12)} ${rate.toFixed(2).padStart(10)} ${resident.padStart(12)}\n`,
    );
    before = look;
  }
  process.stdout.write(
    `\n${records.toLocaleString('en')} records in ${seconds.toFixed(1)} s, each octet as from one thread over a file; SHA-256 of the output ${digest}\n`,
  );
}

function megabytes(octets: number): string {
  return (octets / 1e6).toFixed(0);
}
