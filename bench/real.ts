import {
  closeSync,
  createReadStream,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createGunzip, gunzipSync } from 'node:zlib';
import { assertEqual } from './check.js';
import { Random } from './corpus/random.js';
import { Lines } from './lines.js';
import { describeMachine } from './machine.js';
import { median, runProgram } from './measure.js';
import { describe } from './report.js';
import { commandLine } from './scenarios.js';
import { describeCounts, readAnnotated } from './verdicts.js';

const USAGE = `Runs robots-filter over real robots.txt files and real URLs: they must all compile, and
all URLs must come out once and in order. None of this data is part of the project.

npx tsx bench/real.ts DIR [options]
    DIR                 holds, at any depth, one robots-*.ndjson.gz of {"host","robots"} or
                        {"host","robots_base64"} records, and lists of URLs urls-*.txt.gz
    --without SUFFIX    the same again without the hosts that end in SUFFIX
    --lists WORD        only the lists whose name holds WORD
    --agent '*'  --rounds 3  --seed 1
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    without: { type: 'string' },
    lists: { type: 'string', default: '' },
    agent: { type: 'string', default: '*' },
    rounds: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

const [source] = positionals;
if (values.help || source === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else await measureRealData(source);

async function measureRealData(directory: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'robots-filter-real-'));
  try {
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
    const robots = files.find((name) => /^robots-.*\.ndjson\.gz$/.test(basename(name)));
    const lists = files.filter(
      (name) => /^urls-.*\.txt\.gz$/.test(basename(name)) && name.includes(values.lists),
    );
    if (robots === undefined || lists.length === 0) {
      throw new Error(`${directory} lacks robots-*.ndjson.gz or urls-*.txt.gz`);
    }
    say(
      `${describe(describeMachine('npx tsx bench/real.ts'))}\nmedians of ${values.rounds} rounds\n`,
    );
    for (const suffix of values.without === undefined ? [''] : ['', values.without]) {
      say(suffix === '' ? 'all hosts' : `\nwithout the hosts that end in ${suffix}`);
      const kept = join(scratch, 'robots.ndjson');
      const hosts = await keepHosts(join(directory, robots), kept, suffix);
      const table = join(scratch, 'table');
      await compile(kept, hosts, table);
      for (const list of lists) await filterList(join(directory, list), table, scratch, suffix);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** Writes the records of the hosts that do not end in a suffix (an empty one keeps all), without gzip. */
async function keepHosts(from: string, to: string, suffix: string): Promise<number> {
  const records = createInterface({ input: createReadStream(from).pipe(createGunzip()) });
  const file = openSync(to, 'w');
  let hosts = 0;
  for await (const line of records) {
    if (line === '' || (suffix !== '' && JSON.parse(line).host.endsWith(suffix))) continue;
    writeSync(file, `${line}\n`);
    hosts++;
  }
  closeSync(file);
  return hosts;
}

async function compile(robots: string, hosts: number, table: string): Promise<void> {
  const seconds: number[] = [];
  let peak = 0;
  for (let round = 0; round < Number(values.rounds); round++) {
    const run = await runProgram(
      ...commandLine('compile', '--robots-dir', robots, '-o', table, '--quiet'),
    );
    seconds.push(run.seconds);
    peak = Math.max(peak, run.peakOctets ?? 0);
  }
  const time = median(seconds);
  say(
    `compile: ${hosts} files in ${time.toFixed(2)} s, ${(hosts / time).toFixed(0)} files/s, ` +
      `${(statSync(robots).size / time / 1e6).toFixed(1)} MB/s, ` +
      `${(statSync(table).size / hosts).toFixed(0)} octets of table a host, peak ${megabytes(peak)}`,
  );
}

/** Every list as text and as NDJSON, in its own order and shuffled; the verdicts must be the same. */
async function filterList(
  list: string,
  table: string,
  scratch: string,
  suffix: string,
): Promise<void> {
  const octets = gunzipSync(readFileSync(list));
  const urls = new Lines(suffix === '' ? octets : withoutHosts(octets, suffix));
  say(`${basename(list)}: ${urls.length} URLs`);
  const inOrder = Uint32Array.from({ length: urls.length }, (_, index) => index);
  const shuffled = inOrder.slice();
  new Random(Number(values.seed)).shuffle(shuffled);
  let counts: string | undefined;
  for (const [name, order] of [['as it is', inOrder] as const, ['shuffled', shuffled] as const]) {
    let verdicts: Buffer | undefined;
    for (const form of ['text', 'ndjson'] as const) {
      const path = join(scratch, form);
      writeList(path, form, urls, order);
      const annotated = await checkOrder(path, form, table);
      counts ??= describeCounts(annotated.counts);
      assertEqual(`${name}, ${form}: counts`, describeCounts(annotated.counts), counts);
      verdicts ??= Buffer.from(annotated.verdicts);
      assertEqual(`${name}: NDJSON as text`, verdicts.equals(annotated.verdicts), true);
      await timeList(`${name}, ${form}`, path, form, table, urls.length);
    }
  }
  say(`  all complete and in order: ${counts}`);
}

function withoutHosts(octets: Buffer, suffix: string): Buffer {
  const kept = octets
    .toString()
    .split('\n')
    .filter((url) => !(URL.canParse(url) && new URL(url).hostname.endsWith(suffix)));
  return Buffer.from(kept.join('\n'));
}

function writeList(path: string, form: 'text' | 'ndjson', urls: Lines, order: Uint32Array): void {
  const chunks: string[] = [];
  for (const index of order) {
    const url = urls.at(index)?.toString() ?? '';
    chunks.push(form === 'text' ? url : JSON.stringify({ url }));
  }
  writeFileSync(path, `${chunks.join('\n')}\n`);
}

function argumentsFor(path: string, form: string, table: string): string[] {
  return ['--table', table, '--input', form, '--agent', values.agent, '--quiet', path];
}

async function checkOrder(path: string, form: 'text' | 'ndjson', table: string) {
  const { sink, result } = readAnnotated(form, new Lines(readFileSync(path)));
  await runProgram(...commandLine(...argumentsFor(path, form, table)), sink);
  return result();
}

async function timeList(
  name: string,
  path: string,
  form: string,
  table: string,
  lines: number,
): Promise<void> {
  const seconds: number[] = [];
  let peak = 0;
  for (let round = 0; round < Number(values.rounds); round++) {
    const run = await runProgram(...commandLine(...argumentsFor(path, form, table)));
    seconds.push(run.seconds);
    peak = Math.max(peak, run.peakOctets ?? 0);
  }
  const time = median(seconds);
  say(
    `  ${name.padEnd(16)} ${time.toFixed(3)} s, ${(lines / time / 1e6).toFixed(2)} million URLs/s, ` +
      `${(statSync(path).size / time / 1e6).toFixed(0)} MB/s, peak ${megabytes(peak)}`,
  );
}

function megabytes(octets: number): string {
  return octets === 0 ? 'unknown' : `${(octets / 1e6).toFixed(0)} MB`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
