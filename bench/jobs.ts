import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { archiveCase } from './cases/archive-cases.js';
import { formatCase, toolCase } from './cases/format-cases.js';
import { hpltCases } from './cases/hplt-cases.js';
import { FormatTools } from './competitors/formats/tools.js';
import { CapturePlan } from './corpus/capture-plan.js';
import { CRAWLER } from './inputs/agents.js';
import { provideArchive } from './inputs/archive-store.js';
import { DEFAULT_CORPUS_DIRECTORY } from './inputs/corpus-store.js';
import { provideIndex } from './inputs/index-store.js';
import { SNAPPY_INDEX } from './inputs/snappy-index.js';
import type { Case } from './measure/runs.js';
import type { Filter } from './program/filter.js';
import { type Measured, runBenchmark } from './report/benchmark.js';
import { timeRatio } from './report/ratios.js';
import { say } from './report/say.js';
import { CountWatch } from './verify/count-watch.js';
import { indexExpectation, storeIndexCounts } from './verify/stored-index-counts.js';

const USAGE = `Time whole jobs, step by step, and assert the verdict counts:

  Common Crawl   WARC files of robots.txt captures to a table; an index in Parquet to verdicts in
                 Parquet, beside DuckDB, which only copies the same file
  HPLT           compressed metadata with the URL in "u" to a mask (with --shared)

npm run bench:jobs -- [options]
    --captures 1000000  captures in the WARC files
    --files 200         WARC files
    --rows 10000000     rows of the index
    --shared DIR        real data for HPLT's job, as bench:real takes it
    --seed 1  --runs 3
    --installed DIR     run the package that is installed in DIR, not one packed from this checkout
    --corpus DIR        where files and DuckDB are kept (default: ${DEFAULT_CORPUS_DIRECTORY})
    --record            write the figures to bench/record/jobs.json
    --quick             small files without DuckDB, one run: a test of verdict counts
    --store-expected    count the verdicts by the naive matcher, and store them
`;

const { values } = parseArgs({
  options: {
    captures: { type: 'string' },
    files: { type: 'string' },
    rows: { type: 'string' },
    shared: { type: 'string' },
    seed: { type: 'string', default: '1' },
    runs: { type: 'string' },
    installed: { type: 'string' },
    corpus: { type: 'string', default: DEFAULT_CORPUS_DIRECTORY },
    record: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    'store-expected': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const { quick, corpus: store, installed, record, shared } = values;
const rows = Number(values.rows ?? (quick ? 10_000 : 10_000_000));
const options = {
  seed: Number(values.seed),
  files: Number(values.files ?? (quick ? 2 : 200)),
  captures: Number(values.captures ?? (quick ? 1000 : 1_000_000)),
};

if (values.help) process.stdout.write(USAGE);
else if (values['store-expected']) {
  storeIndexCounts(new CapturePlan(options), rows, CRAWLER, say);
} else {
  const runs = Number(values.runs ?? (quick ? 1 : 3));
  await runBenchmark({ kind: 'jobs', store, installed, record, runs, timed: !quick }, prepare);
}

async function prepare(filter: Filter, scratch: string): Promise<Measured> {
  const notMeasured: string[] = [];
  const cases = await commonCrawlCases(filter, scratch, notMeasured);
  if (shared === undefined) notMeasured.push("HPLT's job: --shared DIR names real data");
  else cases.push(...(await hpltCases(filter, shared, scratch, say)));
  const ratios = [
    timeRatio('index', 'verdicts for the index', 'index', 'duckdb-copy', 'DuckDB copies it'),
  ];
  return { cases, ratios, notMeasured, input: { archive: options, rows } };
}

async function commonCrawlCases(
  filter: Filter,
  scratch: string,
  notMeasured: string[],
): Promise<Case[]> {
  const archive = await provideArchive(store, options, say);
  const { list, files, summary } = archive;
  const table = join(scratch, 'captures.table');
  const tools = quick ? 'a quick run' : await FormatTools.provide(store, say);
  if (typeof tools === 'string') notMeasured.push(`DuckDB, and Parquet with zstd: ${tools}`);
  const writer = typeof tools === 'string' ? SNAPPY_INDEX : tools.indexWriter();
  const index = await provideIndex(archive, new CapturePlan(options), rows, writer, say);
  await filter.compile(list, table);
  const form = { id: 'captures', list, files, captures: options.captures, bytes: summary.bytes };
  const task = { filter, table, agent: CRAWLER, path: index.path, rows, counted: 'index' };
  const output = join(scratch, 'verdicts.parquet');
  const expected = indexExpectation(index, CRAWLER);
  if (expected.counts === undefined) {
    notMeasured.push('counts by the naive matcher: run with --store-expected once');
  }
  const cases = [
    archiveCase(filter, { ...form, decompressor: 'zcat' }, table),
    formatCase(new CountWatch(), { ...task, id: 'index', output, expected }),
  ];
  if (typeof tools !== 'string') {
    const copy = join(scratch, 'copy.parquet');
    cases.push(toolCase(tools, 'duckdb-copy', 'DuckDB copies index.parquet', index, copy));
  }
  return cases;
}
