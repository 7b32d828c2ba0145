import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { assertEqual } from './assert-equal.js';
import { AGENT, compile, filterRuns } from './cases.js';
import { runFilter } from './command.js';
import { Random } from './corpus/random.js';
import { CountWatch } from './counts.js';
import { Lines } from './lines.js';
import { describe, describeMachine } from './machine.js';
import { findRealData, keepHosts, readLists } from './real-data.js';
import { writeRecord } from './record.js';
import { describeResults, resultRecord } from './report.js';
import { type Case, inTurn } from './rounds.js';
import { describeCounts, readAnnotated } from './verdicts.js';

const USAGE = `Runs robots-filter over real robots.txt files and real URLs: they must all compile, and
all URLs must come out once and in order. None of this data is part of the project.

npm run bench:real -- DIR [options]
    DIR                 holds, at any depth, one robots-*.ndjson.gz of {"host","robots"} or
                        {"host","robots_base64"} records, and lists of URLs urls-*.txt.gz:
                        urls-real-* are real, the others made up for the hosts
    --without SUFFIX    the same again without the hosts that end in SUFFIX, a platform whose one
                        file would carry the average (default: soft112.com)
    --rounds 5  --seed 1
    --record            keeps the figures in bench/record/
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    without: { type: 'string', default: 'soft112.com' },
    rounds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** Real hosts, all or without a platform, as a table. */
interface Hosts {
  readonly id: string;
  /** Hosts that end in it are left out; an empty one leaves none out. */
  readonly suffix: string;
  readonly robots: string;
  readonly table: string;
  readonly count: number;
}

const [source] = positionals;
const watch = new CountWatch();
if (values.help || source === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else await measureRealData(source);

async function measureRealData(directory: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'robots-filter-real-'));
  const machine = describeMachine('npm run bench:real --');
  say(describe(machine));
  try {
    const data = findRealData(directory);
    const isReal = (list: string) => basename(list).startsWith('urls-real-');
    const lists = {
      real: readLists(data.lists.filter(isReal)),
      'made-up': readLists(data.lists.filter((list) => !isReal(list))),
    };
    const cases: Case[] = [];
    const tables: object[] = [];
    for (const suffix of ['', values.without]) {
      const hosts = await compileHosts(data.robots, scratch, suffix);
      const octets = statSync(hosts.table).size;
      say(`${hosts.id}: ${hosts.count} hosts, a table of ${octets.toLocaleString('en')} octets`);
      tables.push({ hosts: hosts.id, count: hosts.count, octets });
      cases.push(compileCase(hosts));
      for (const [name, urls] of Object.entries(lists)) {
        cases.push(...(await listCases(hosts, name, urls, scratch)));
      }
    }
    const results = await inTurn(cases, { rounds: Number(values.rounds), warmUp: true }, say);
    say(`\n${describeResults(results)}`);
    if (values.record) {
      const figures = { machine, tables, results: results.map(resultRecord) };
      say(`recorded in ${writeRecord('real', figures)}`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function compileHosts(from: string, scratch: string, suffix: string): Promise<Hosts> {
  const id = suffix === '' ? 'all' : `without ${suffix}`;
  const robots = join(scratch, `robots${suffix}.ndjson`);
  const table = join(scratch, `table${suffix}`);
  const count = await keepHosts(from, robots, suffix);
  await compile(robots, table);
  return { id, suffix, robots, table, count };
}

function compileCase({ id, robots, table, count }: Hosts): Case {
  const octets = statSync(robots).size;
  const name = 'robots-filter compile';
  const run = () => compile(robots, table);
  const reads = [robots];
  return { id: `compile, ${id}`, name, kind: 'ours', records: count, octets, reads, run };
}

/** A list as text and as NDJSON, grouped by host and shuffled: the verdicts must be the same. */
async function listCases(
  hosts: Hosts,
  name: string,
  all: readonly string[],
  scratch: string,
): Promise<Case[]> {
  const kept = hosts.suffix === '' ? all : all.filter((url) => !hostOf(url).endsWith(hosts.suffix));
  const shuffled = [...kept];
  new Random(Number(values.seed)).shuffle(shuffled);
  const orders = { grouped: groupedByHost(kept), shuffled };
  const cases: Case[] = [];
  let known: string | undefined;
  for (const [order, urls] of Object.entries(orders)) {
    let verdicts: Buffer | undefined;
    for (const form of ['text', 'ndjson'] as const) {
      const path = join(scratch, [name, order, hosts.suffix, form].join('.'));
      writeFileSync(path, inForm(urls, form));
      const args = ['--table', hosts.table, '--input', form, '--agent', AGENT];
      const { sink, result } = readAnnotated(form, new Lines(Buffer.from(inForm(urls, form))));
      await runFilter(args, path, 'file', sink);
      const annotated = result();
      known ??= describeCounts(annotated.counts);
      verdicts ??= Buffer.from(annotated.verdicts);
      assertEqual(`${name}, ${order}, ${form}`, describeCounts(annotated.counts), known);
      assertEqual(`${path}: as text`, verdicts.equals(annotated.verdicts), true);
      cases.push(listCase(hosts, [name, order, form].join(', '), args, path, urls.length));
    }
  }
  say(`  ${name}: ${kept.length} URLs, all complete and in order: ${known}`);
  return cases;
}

function listCase(
  { id, table }: Hosts,
  name: string,
  args: readonly string[],
  path: string,
  records: number,
): Case {
  return {
    id: `${name}, ${id}`,
    name: '',
    kind: 'ours',
    records,
    octets: statSync(path).size,
    reads: [table, path],
    ...filterRuns(watch, path, { records }, { args, path, table }),
  };
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

function inForm(urls: readonly string[], form: 'text' | 'ndjson'): string {
  const lines = form === 'text' ? urls : urls.map((url) => JSON.stringify({ url }));
  return `${lines.join('\n')}\n`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
