import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { duckdbCase, jqCases } from './cases/extraction-cases.js';
import { Suite } from './cases/suite.js';
import { compareCompetitors } from './competitors/comparison.js';
import { FormatTools } from './competitors/formats/tools.js';
import { type Absence, languageCompetitors } from './competitors/languages.js';
import { npmCompetitors } from './competitors/npm.js';
import { AGENT } from './inputs/agents.js';
import { DEFAULT_CORPUS_DIRECTORY, makeScratch, provideCorpus } from './inputs/corpus-store.js';
import { coresOf, coresText } from './measure/cores.js';
import { describeMachine, machineText } from './measure/machine.js';
import { type Case, wholeRuns } from './measure/runs.js';
import { Filter } from './program/filter.js';
import { type InstalledPackage, packageText, providePackage } from './program/installed-package.js';
import { peakMemory, RATIOS, ratioRow } from './report/ratios.js';
import { resultRecord, writeRecord } from './report/record.js';
import { say } from './report/say.js';
import { ratiosText, resultsText, versionsText } from './report/tables.js';
import { interleaved, lossText, versionRows } from './report/versions.js';
import { FilterCheck } from './verify/filter-check.js';
import { storeCounts } from './verify/stored-counts.js';

const USAGE = `Time robots-filter as npm installs it beside md5sum, wc and other libraries, and assert the
verdict counts before each timed run.

npm run bench:throughput -- [options]
    --runs 3            whole runs of all cases; figures are their medians, with the spread
    --only NAME[,NAME]  rows of the table of ratios: ${RATIOS.map(({ id }) => id).join(', ')};
                        short, index and nested for all three places of the URL;
                        or floors, competitors, check
    --installed DIR     run the package that is installed in DIR, not one packed from this checkout
    --against DIR       run the package that is installed in DIR as well, interleaved, and compare
    --urls 8000000      URLs as text and as short records
    --hosts 1000000     hosts of the large corpus; the other has 5,000
    --seed 1
    --corpus DIR        where corpora and competitors are kept (default: ${DEFAULT_CORPUS_DIRECTORY})
    --no-install        no competitors but those that npm ci installed
    --record            write the figures to bench/record/throughput.json
    --quick             small corpora, one run: a test of verdict counts
    --store-expected    count the verdicts of the small corpus by the naive matcher, and store them
`;

const { values } = parseArgs({
  allowNegative: true,
  options: {
    runs: { type: 'string' },
    only: { type: 'string' },
    installed: { type: 'string' },
    against: { type: 'string' },
    urls: { type: 'string' },
    hosts: { type: 'string' },
    seed: { type: 'string', default: '1' },
    corpus: { type: 'string', default: DEFAULT_CORPUS_DIRECTORY },
    install: { type: 'boolean', default: true },
    record: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    'store-expected': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const { quick } = values;
const sizes = {
  store: values.corpus,
  seed: Number(values.seed),
  urls: Number(values.urls ?? (quick ? 20_000 : 8_000_000)),
  fewHosts: quick ? 200 : 5000,
  manyHosts: Number(values.hosts ?? (quick ? 2000 : 1_000_000)),
};
const plan = { runs: Number(values.runs ?? (quick ? 1 : 3)), timed: !quick };
const wanted = values.only?.split(',');
const ratios = RATIOS.filter(({ id }) => wants(id));
const needed = new Set([
  ...ratios.flatMap(({ needs }) => needs),
  ...(wants('floors') ? ['wc', 'cat-wc', 'md5-short', 'md5-text'] : []),
]);

if (values.help) process.stdout.write(USAGE);
else if (values['store-expected']) {
  const { store, seed, fewHosts: hosts, urls } = sizes;
  storeCounts(provideCorpus(store, { seed, hosts, urls }, say), AGENT, say);
} else await benchmark();

async function benchmark(): Promise<void> {
  if (values.record && plan.runs < 3) throw new Error('--record needs --runs 3 or more');
  const machine = describeMachine('npm run bench:throughput --');
  say(machineText(machine));
  const scratch = makeScratch(values.corpus);
  try {
    const installed = await providePackage(scratch, values.installed);
    say(packageText(installed));
    const content = await measure(installed, scratch);
    if (values.record) {
      say(`recorded in ${writeRecord('throughput', { machine, package: installed }, content)}`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function measure(installed: InstalledPackage, scratch: string) {
  const filter = new Filter(installed);
  const suite = new Suite(sizes, filter, made(scratch, 'tables'), say);
  const { competitors, absent } = await findCompetitors();
  const differences = wants('check') ? await check(filter, suite, competitors) : [];

  const own = await suite.filterCases(needed);
  const before = values.against === undefined ? [] : await casesOf(values.against, scratch);
  const others = await suite.otherCases(needed, competitors);
  const extractions = wants('duckdb') && !quick ? await extractionCases(suite, absent) : [];
  const cases = [...interleaved(own, before), ...others, ...extractions];
  const results = await wholeRuns(cases, plan, say);

  say(`\n${resultsText(results)}\n`);
  const cores = coresOf(results);
  say(`${coresText(cores)}\n`);
  for (const { name, reason } of absent) say(`unavailable: ${name}: ${reason}`);
  const known = new Set(cases.map(({ id }) => id));
  const measured = ratios.filter(({ needs }) => needs.every((id) => known.has(id)));
  const rows = measured.map((ratio) => ratioRow(ratio, results));
  say(quick ? 'a quick run: its times are not meaningful' : ratiosText(rows));
  const versions = versionRows(results);
  if (versions.length > 0) say(`\n${versionsText(versions)}\n${lossText(versions)}`);
  const tables = await suite.tableSizes();
  for (const { hosts, bytes } of tables) say(tableText(hosts, bytes));
  const peak = peakMemory(results);
  if (peak !== undefined) {
    say(`most memory beyond the table: ${(peak.bytes / 1e6).toFixed(0)} MB, in ${peak.id}`);
  }
  say(`counts were asserted in ${suite.runsChecked} runs of the filter`);
  return {
    runs: plan.runs,
    corpus: suite.summary,
    cores,
    ratios: rows,
    results: results.map(resultRecord),
    versions,
    tables,
    peak,
    differences,
    absent,
  };
}

/** Programs that only take the URL out of the rows of the index. */
async function extractionCases(suite: Suite, absent: Absence[]): Promise<Case[]> {
  const rows = await suite.rows();
  const jq = jqCases(rows);
  const tools = values.install ? await FormatTools.provide(sizes.store, say) : '--no-install';
  if (typeof tools !== 'string') return [duckdbCase(tools, rows), ...jq];
  absent.push({ name: 'DuckDB', reason: tools });
  return jq;
}

async function findCompetitors() {
  const npm = npmCompetitors().filter(({ id }) => wants('competitors') || needed.has(id));
  if (!wants('competitors') || !values.install || quick) {
    return { competitors: npm, absent: [] as Absence[] };
  }
  const { present, absent } = await languageCompetitors(sizes.store, say);
  return { competitors: [...npm, ...present], absent };
}

async function check(
  filter: Filter,
  suite: Suite,
  competitors: Awaited<ReturnType<typeof findCompetitors>>['competitors'],
) {
  const { corpus, table } = await suite.checked();
  const annotated = await new FilterCheck(filter, table, say).check(corpus);
  return await compareCompetitors(corpus, annotated, competitors, say);
}

/** The same cases with the package that `--against` names. */
async function casesOf(directory: string, scratch: string): Promise<Case[]> {
  const installed = await providePackage(scratch, directory);
  say(`against ${packageText(installed)}`);
  const suite = new Suite(sizes, new Filter(installed), made(scratch, 'tables-before'), say);
  return await suite.filterCases(needed);
}

function made(scratch: string, name: string): string {
  const directory = join(scratch, name);
  mkdirSync(directory);
  return directory;
}

function tableText(hosts: number, bytes: number): string {
  const each = (bytes / hosts).toFixed(0);
  return `table of ${hosts.toLocaleString('en')} hosts: ${(bytes / 1e6).toFixed(1)} MB, ${each} bytes a host`;
}

/** Whether `--only` names a row, or the group before its hyphen; without `--only`, true. */
function wants(row: string): boolean {
  return wanted === undefined || wanted.some((name) => row === name || row.startsWith(`${name}-`));
}
