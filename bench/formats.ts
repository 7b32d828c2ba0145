import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { floorCase, formatCase, logCase, siteFilterCase, toolCase } from './cases/format-cases.js';
import { FormatTools } from './competitors/formats/tools.js';
import { languageCompetitors } from './competitors/languages.js';
import { installFromPyPI } from './competitors/warc-libraries.js';
import { CapturePlan } from './corpus/capture-plan.js';
import { CRAWLER, LOG_AGENTS } from './inputs/agents.js';
import { type GeneratedArchive, provideArchive } from './inputs/archive-store.js';
import { type CompressedEnding, canCompress, provideCompressed } from './inputs/compressed.js';
import { DEFAULT_CORPUS_DIRECTORY } from './inputs/corpus-store.js';
import { type GeneratedIndex, provideIndex } from './inputs/index-store.js';
import { SNAPPY_INDEX } from './inputs/snappy-index.js';
import { type LineForm, provideForm, provideLogRobots, provideSites } from './inputs/url-forms.js';
import { quoted } from './measure/process.js';
import type { Case } from './measure/runs.js';
import type { Filter } from './program/filter.js';
import { type Measured, runBenchmark } from './report/benchmark.js';
import { type Ratio, timeRatio } from './report/ratios.js';
import { say } from './report/say.js';
import { CountWatch, type Expectation } from './verify/count-watch.js';
import { indexExpectation, storeIndexCounts } from './verify/stored-index-counts.js';

const USAGE = `Time every format of input and output over the same URLs, beside programs and libraries that read
the same files, and assert the verdict counts before each timed run.

npm run bench:formats -- [options]
    --rows 2000000      URLs in each file
    --captures 50000    captures that the table is compiled from
    --seed 1  --runs 3
    --installed DIR     run the package that is installed in DIR, not one packed from this checkout
    --corpus DIR        where files and libraries are kept (default: ${DEFAULT_CORPUS_DIRECTORY})
    --record            write the figures to bench/record/formats.json
    --quick             small files without other libraries, one run: a test of verdict counts
    --store-expected    count the verdicts by the naive matcher, and store them
`;

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    captures: { type: 'string' },
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

const { quick, corpus: store, installed, record } = values;
const rows = Number(values.rows ?? (quick ? 10_000 : 2_000_000));
const options = {
  seed: Number(values.seed),
  files: 2,
  captures: Number(values.captures ?? (quick ? 1000 : 50_000)),
};

/** Libraries that read the column of URLs, by their tasks. */
const READERS = [
  ['hyparquet', 'hyparquet'],
  ['parquet-wasm', 'parquet-wasm'],
  ['duckdb', '@duckdb/node-api'],
] as const;

/** The agents that the lines of the log name, in turn. */
const NAMED = LOG_AGENTS.map(([, agent]) => agent).join();

/** Programs in Python that judge a log, and the lines that they judge: about a second of work. */
const LOG_JUDGES = [
  ['protego', 'a regular expression and Protego 0.7.0 (Python)', 50_000],
  ['urllib', 'a regular expression and urllib.robotparser (Python)', 50_000],
] as const;

/** Cases, ratios, and what this machine lacks: filled by the functions below. */
const cases: Case[] = [];
const ratios: Ratio[] = [];
const notMeasured: string[] = [];
const watch = new CountWatch();

if (values.help) process.stdout.write(USAGE);
else if (values['store-expected']) {
  for (const agents of [CRAWLER, NAMED]) {
    storeIndexCounts(new CapturePlan(options), rows, agents, say);
  }
} else {
  const runs = Number(values.runs ?? (quick ? 1 : 3));
  await runBenchmark({ kind: 'formats', store, installed, record, runs, timed: !quick }, prepare);
}

/** What all cases share. */
interface Setting {
  readonly filter: Filter;
  readonly table: string;
  readonly archive: GeneratedArchive;
  readonly plan: CapturePlan;
  readonly scratch: string;
  readonly expected: Expectation;
  readonly tools: FormatTools | undefined;
}

async function prepare(filter: Filter, scratch: string): Promise<Measured> {
  const archive = await provideArchive(store, options, say);
  const plan = new CapturePlan(options);
  const table = join(scratch, 'formats.table');
  await filter.compile(archive.list, table);
  const tools = await findTools();
  const writer = tools?.indexWriter() ?? SNAPPY_INDEX;
  const index = await provideIndex(archive, plan, rows, writer, say);
  const expected = indexExpectation(index, CRAWLER);
  const setting: Setting = { filter, table, archive, plan, scratch, expected, tools };
  addLines(setting, index);
  await addSiteFilter(setting);
  addCompressed(setting);
  addParquet(setting, index);
  await addLog(setting, index);
  return { cases, ratios, notMeasured, input: { archive: archive.summary, rows } };
}

async function findTools(): Promise<FormatTools | undefined> {
  if (quick) return undefined;
  const tools = await FormatTools.provide(store, say);
  if (typeof tools !== 'string') return tools;
  notMeasured.push(`other libraries, and Parquet with zstd: ${tools}`);
  return undefined;
}

function addOwn(
  { filter, table, expected }: Setting,
  id: string,
  path: string,
  more: { readonly options?: readonly string[]; readonly output?: string } = {},
): void {
  const task = { filter, table, agent: CRAWLER, path, rows, counted: 'index', expected };
  cases.push(formatCase(watch, { ...task, id, ...more }));
}

/** Adds a floor of a case, and their ratio. */
function addFloor(id: string, name: string, path: string, line: string): void {
  cases.push(floorCase(`${id}-floor`, name, path, rows, line));
  ratios.push(timeRatio(id, id, id, `${id}-floor`, name));
}

function pathOf({ archive, plan }: Setting, form: LineForm): string {
  return provideForm(archive, plan, rows, form).path;
}

/** Text, rows and indexes, beside a count of lines and csv-parse. */
function addLines(setting: Setting, { urlBytes }: GeneratedIndex): void {
  for (const form of ['txt', 'csv', 'tsv', 'cdx', 'cdxj'] as const) {
    const path = pathOf(setting, form);
    addOwn(setting, form, path);
    addFloor(form, `wc -l f.${form}`, path, `wc -l ${quoted(path)}`);
  }
  const csv = { path: pathOf(setting, 'csv'), rows, urlBytes };
  if (setting.tools === undefined) return;
  const name = `csv-parse ${setting.tools.version('csv-parse')}, f.csv`;
  cases.push(toolCase(setting.tools, 'csv-parse', name, csv));
  ratios.push(timeRatio('csv-parse', 'csv-parse, which only reads', 'csv-parse', 'csv', 'csv'));
}

/** The lines of an index that are allowed, beside those of every second site. */
async function addSiteFilter(setting: Setting): Promise<void> {
  const { archive, plan } = setting;
  const path = pathOf(setting, 'cdx');
  addOwn(setting, 'cdx-allowed', path, { options: ['--allowed'] });
  if (setting.tools === undefined) return;
  const packages = join(store, 'competitors', 'index', 'packages');
  const library = { id: 'url_is_in', requirement: 'url-is-in==0.1.1' };
  const reason = await installFromPyPI(packages, [library]);
  if (reason !== undefined) {
    notMeasured.push(`the matcher of cdx_toolkit: ${reason}`);
    return;
  }
  const name = "cdx_toolkit's filter by sites (url-is-in 0.1.1), f.cdx";
  const sites = provideSites(archive, plan, rows);
  cases.push(siteFilterCase('site-filter', name, packages, { path, rows }, sites));
  const what = "cdx_toolkit's filter, which knows sites only";
  ratios.push(timeRatio('site-filter', what, 'site-filter', 'cdx-allowed', 'cdx --allowed'));
}

/** The log of the servers, whose lines name their agents, beside scripts that judge its lines. */
async function addLog(setting: Setting, index: GeneratedIndex): Promise<void> {
  const { filter, table, archive, plan } = setting;
  const path = pathOf(setting, 'log');
  const expected = indexExpectation(index, NAMED);
  const task = { filter, table, agent: undefined, path, rows, counted: 'log', expected };
  cases.push(formatCase(watch, { ...task, id: 'log', options: ['--input', 'log'] }));
  addFloor('log', 'wc -l f.log', path, `wc -l ${quoted(path)}`);
  if (quick) return;
  const { present, absent } = await languageCompetitors(store, say, ['Python']);
  const [python] = present;
  if (python === undefined) {
    notMeasured.push(`logs by Python: ${absent[0]?.reason}`);
    return;
  }
  const robots = provideLogRobots(archive, plan, rows);
  for (const [library, name, lines] of LOG_JUDGES) {
    cases.push(logCase(python, library, name, { path, robots, rows: Math.min(lines, rows) }));
    ratios.push({
      id: `log-${library}`,
      what: `a log, against ${name}`,
      needs: ['log', `log-${library}`],
      unit: 'times as fast',
      value: (run) => run.rate('log') / run.rate(`log-${library}`),
    });
  }
}

/** gzip and zstd, in and out. */
function addCompressed(setting: Setting): void {
  const text = pathOf(setting, 'txt');
  for (const ending of ['gz', 'zst'] as const) {
    if (!canCompress(ending)) {
      notMeasured.push(`.${ending}: the program that compresses is missing`);
      continue;
    }
    const path = provideCompressed(text, ending);
    const program = ending === 'gz' ? 'gzip -dc' : 'zstd -dcq';
    addOwn(setting, ending, path);
    const name = `${program} f.txt.${ending} | cat`;
    addFloor(ending, name, path, `${program} ${quoted(path)} | cat > /dev/null`);
    addCompressedOutput(setting, text, ending);
  }
}

function addCompressedOutput(setting: Setting, text: string, ending: CompressedEnding): void {
  const output = join(setting.scratch, `x.${ending}`);
  addOwn(setting, `${ending}-out`, text, { output });
  const program = ending === 'gz' ? 'gzip -c' : 'zstd -qc';
  addFloor(`${ending}-out`, `${program} f.txt`, text, `${program} ${quoted(text)} > /dev/null`);
}

/** Parquet, in and out, and readers of the column of URLs alone. */
function addParquet(setting: Setting, index: GeneratedIndex): void {
  addOwn(setting, 'parquet', index.path);
  const output = join(setting.scratch, 'verdicts.parquet');
  addOwn(setting, 'parquet-out', index.path, { output });
  const floor = `cat ${quoted(index.path)} > ${quoted(join(setting.scratch, 'copy'))}`;
  addFloor('parquet-out', 'cat f.parquet > copy', index.path, floor);
  const { tools } = setting;
  if (tools === undefined) return;
  cases.push(toolCase(tools, 'own', 'the reader of this project, column url', index));
  for (const [task, library] of READERS) {
    const name = `${library} ${tools.version(library)}, column url`;
    cases.push(toolCase(tools, task, name, index));
    ratios.push(timeRatio(task, `${library} reads the column`, task, 'own', 'this project'));
  }
  const copy = join(setting.scratch, 'duckdb.parquet');
  cases.push(toolCase(tools, 'duckdb-copy', 'DuckDB copies f.parquet', index, copy));
  ratios.push(timeRatio('copy', '-o verdicts.parquet', 'parquet-out', 'duckdb-copy', 'DuckDB'));
}
