import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { filterCase } from './cases/filter-case.js';
import { Random } from './corpus/random.js';
import { writeRecords } from './corpus/records.js';
import { SHAPES, type ShapeName } from './corpus/shapes.js';
import { AGENT } from './inputs/agents.js';
import { Lines } from './inputs/lines.js';
import { extractRobots, findRealData, readLists } from './inputs/real-data.js';
import { inputOf, type UrlInput } from './inputs/url-input.js';
import { describeMachine, machineText } from './measure/machine.js';
import { type Case, wholeRuns } from './measure/runs.js';
import { Filter } from './program/filter.js';
import { packageText, providePackage } from './program/installed-package.js';
import { resultRecord, writeRecord } from './report/record.js';
import { say } from './report/say.js';
import { resultsText } from './report/tables.js';
import { readAnnotated } from './verify/annotated.js';
import { assertEqual } from './verify/assert-equal.js';
import { CountWatch } from './verify/count-watch.js';

const USAGE = `Run robots-filter over real robots.txt files and real URLs: all files must compile, and all URLs
must come out once, in order and with the same verdicts in each form. The data is yours.

npm run bench:real -- DIR [options]
    DIR                 holds, at any depth, one robots-*.ndjson.gz of {"host","robots"} or
                        {"host","robots_base64"} records, and lists of URLs urls-*.txt.gz:
                        urls-real-* are real, the others were made for these hosts
    --without SUFFIX    also measure without the hosts that end in SUFFIX, a platform with one file
                        for all its hosts (default: soft112.com)
    --runs 3  --seed 1
    --installed DIR     run the package that is installed in DIR, not one packed from this checkout
    --record            write the figures to bench/record/real.json
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    without: { type: 'string', default: 'soft112.com' },
    runs: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    installed: { type: 'string' },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** Real hosts as a table. */
interface Hosts {
  readonly id: string;
  /** Suffix of the excluded hosts, if any. */
  readonly without: string | undefined;
  readonly robots: string;
  readonly table: string;
  readonly tableBytes: number;
  readonly count: number;
}

/** Largest file of records that is made. */
const MOST_BYTES = 1.2e9;

const [source] = positionals;
const seed = Number(values.seed);
const watch = new CountWatch();
if (values.help || source === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else await measureRealData(source);

async function measureRealData(directory: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'robots-filter-real-'));
  const machine = describeMachine('npm run bench:real --');
  say(machineText(machine));
  try {
    const installed = await providePackage(scratch, values.installed);
    say(packageText(installed));
    const { cases, tables } = await prepareCases(new Filter(installed), directory, scratch);
    const results = await wholeRuns(cases, { runs: Number(values.runs), timed: true }, say);
    say(`\n${resultsText(results)}`);
    say(`counts were asserted in ${watch.runs} runs of the filter`);
    if (values.record) {
      const content = { runs: Number(values.runs), tables, results: results.map(resultRecord) };
      say(`recorded in ${writeRecord('real', { machine, package: installed }, content)}`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function prepareCases(filter: Filter, directory: string, scratch: string) {
  const data = findRealData(directory);
  const isReal = (list: string) => basename(list).startsWith('urls-real-');
  const lists = {
    real: readLists(data.lists.filter(isReal)),
    'made-up': readLists(data.lists.filter((list) => !isReal(list))),
  };
  const cases: Case[] = [];
  const tables: object[] = [];
  for (const without of [undefined, values.without]) {
    const hosts = await compileHosts(filter, data.robots, scratch, without);
    const { id, count, tableBytes } = hosts;
    say(`${id}: ${count} hosts, a table of ${tableBytes.toLocaleString('en')} bytes`);
    tables.push({ hosts: id, count, bytes: tableBytes });
    cases.push(compileCase(filter, hosts));
    for (const [name, urls] of Object.entries(lists)) {
      if (urls.length > 0) cases.push(...(await listCases(filter, hosts, { name, urls, scratch })));
    }
  }
  return { cases, tables };
}

async function compileHosts(
  filter: Filter,
  from: string,
  scratch: string,
  without: string | undefined,
): Promise<Hosts> {
  const id = without === undefined ? 'all hosts' : `without ${without}`;
  const robots = join(scratch, `robots-${without}.ndjson`);
  const table = join(scratch, `${without}.table`);
  const count = await extractRobots(from, robots, without);
  const { tableBytes } = await filter.compile(robots, table);
  return { id, without, robots, table, tableBytes, count };
}

function compileCase(filter: Filter, { id, robots, table, count, tableBytes }: Hosts): Case {
  return {
    id: `compile, ${id}`,
    name: 'robots-filter compile',
    kind: 'ours',
    records: count,
    bytes: statSync(robots).size,
    reads: [robots],
    async run() {
      const run = await filter.compile(robots, table);
      assertEqual('bytes of the table', run.tableBytes, tableBytes);
      return { seconds: run.seconds, peakBytes: run.peakBytes };
    },
  };
}

/** A list of URLs. */
interface List {
  readonly name: string;
  readonly urls: readonly string[];
  readonly scratch: string;
}

/** A list grouped by host and shuffled, as text and as records of each shape. */
async function listCases(filter: Filter, hosts: Hosts, list: List): Promise<Case[]> {
  const { without } = hosts;
  const kept = list.urls.filter((url) => without === undefined || !hostOf(url).endsWith(without));
  const shuffled = [...kept];
  new Random(seed).shuffle(shuffled);
  const counted = `${list.name} URLs, ${hosts.id}`;
  const orders = { grouped: groupedByHost(kept), shuffled };
  const cases: Case[] = [];
  for (const [order, urls] of Object.entries(orders)) {
    let known: Uint8Array | undefined;
    const isMain = order === 'shuffled' && without === undefined;
    const shapes = isMain ? shapesFor(urls.length) : (['short'] as const);
    for (const { form, input } of formsOf(list, `${order}-${without}`, urls, shapes)) {
      const verdicts = await verdictsOf(filter, hosts.table, input);
      const differing = verdicts.findIndex((each, line) => each !== (known ?? verdicts)[line]);
      assertEqual(`${counted}, ${order}, ${form}: first differing line`, differing, -1);
      known = verdicts;
      const id = [`${list.name}, ${order}, ${form}`, hosts.id].join(', ');
      const expected = { records: urls.length };
      const { table } = hosts;
      cases.push(filterCase(watch, { id, filter, table, input, counted, expected }));
    }
  }
  say(`  ${list.name}: ${kept.length} URLs came out complete, in order and equal in each form`);
  return cases;
}

/** The shapes whose file of this many records is not too large. */
function shapesFor(records: number): ShapeName[] {
  const names = Object.keys(SHAPES) as ShapeName[];
  return names.filter((name) => records * SHAPES[name].meanBytes <= MOST_BYTES);
}

/** The URLs as text and as records. */
function formsOf(
  { name, scratch }: List,
  order: string,
  urls: readonly string[],
  shapes: readonly ShapeName[],
): { form: string; input: UrlInput }[] {
  const text = join(scratch, `${name}-${order}.txt`);
  writeFileSync(text, urls.map((url) => `${url}\n`).join(''));
  const forms = [{ form: 'text', input: inputOf(text, 'text', urls.length) }];
  for (const shape of shapes) {
    const path = join(scratch, `${name}-${order}-${shape}.ndjson`);
    writeRecords(text, path, { shape, place: 'middle', seed });
    const input = inputOf(path, 'ndjson', urls.length, SHAPES[shape].urlField);
    forms.push({ form: `${SHAPES[shape].meanBytes} B records`, input });
  }
  return forms;
}

/** The verdicts of all records; each must come out in its place. */
async function verdictsOf(filter: Filter, table: string, input: UrlInput): Promise<Uint8Array> {
  const { sink, result } = readAnnotated(input.format, new Lines(readFileSync(input.path)));
  const args = ['--table', table, '--agent', AGENT, ...input.options];
  await filter.runCounted(args, { paths: [input.path] }, sink);
  return result().verdicts;
}

/** The URLs of a host one after another, hosts in the order in which they first occur. */
function groupedByHost(urls: readonly string[]): string[] {
  const groups = new Map<string, string[]>();
  for (const url of urls) {
    const host = hostOf(url);
    const group = groups.get(host);
    if (group === undefined) groups.set(host, [url]);
    else group.push(url);
  }
  return [...groups.values()].flat();
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}
