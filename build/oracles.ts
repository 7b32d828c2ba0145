import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';

const USAGE = `Record what the built program does, and compare a later build with it. A change that is to change
nothing is checked by it; of any other change it tells all that it changed.

npm run oracles -- record DIR [--data DATA] [--installed PACKAGE]
npm run oracles -- compare DIR [--data DATA] [--installed PACKAGE]
    DIR                  holds the kernel, the public API, and the output, the files and the exit status of each run
    --data DATA          also run over real files: DATA holds, at any depth, one robots-*.ndjson.gz,
                         lists of URLs urls-*.txt.gz, and WARC files
    --installed PACKAGE  run the package that is installed in PACKAGE, not dist/ of this checkout
    --urls 4000          lines of each list of URLs that are used
compare ends with 1 if anything differs, and says what. Timings are the work of bench:throughput --against.
`;

const ROOT = join(import.meta.dirname, '..');

/** A run of the command line in a folder of its own inputs, as a shell command that calls `rf`. */
interface Oracle {
  readonly name: string;
  readonly command: string;
}

const AGENTS = "GPTBot,CCBot,'Googlebot-Image>Googlebot',*";
const FORMATS = ['txt', 'ndjson', 'csv', 'tsv', 'json', 'parquet'];
const OUTPUTS = ['text', 'ndjson', 'csv', 'tsv', 'verdicts', 'mask-ndjson'];
const PROFILES = ['rfc9309', 'google', 'draft-koster-rep-00'];

/** Runs over a table `robots.table`, robots.txt files `robots` and inputs `urls.FORMAT`. */
function oraclesOf(hasData: boolean): Oracle[] {
  const rows = FORMATS.flatMap((input) => [
    ...OUTPUTS.map((output): Oracle => {
      const command = `rf --table robots.table -a GPTBot --format ${output} urls.${input}`;
      return { name: `filter-${input}-to-${output}`, command };
    }),
    {
      name: `filter-${input}-to-parquet`,
      command: `rf --table robots.table -a ${AGENTS} --explain -o out.parquet urls.${input}`,
    },
    {
      name: `filter-${input}-explained`,
      command: `rf --table robots.table -a ${AGENTS} --explain urls.${input}`,
    },
  ]);
  const modes: Readonly<Record<string, string>> = {
    allowed: '-a GPTBot --allowed urls.ndjson',
    denied: '-a GPTBot,CCBot --denied urls.csv',
    'unknown-deny': '--unknown deny urls.txt',
    strict: '-a GPTBot --strict urls.ndjson',
    'one-thread': '-a GPTBot --threads 1 urls.ndjson',
    'list-of-agents': '-a @ai-training urls.txt',
    stats: '-a GPTBot,CCBot --stats urls.txt',
    'stats-by-host': '-a GPTBot --stats-by host --format csv urls.txt',
    'stats-by-rule': '-a GPTBot --stats-by rule --format ndjson urls.txt',
    'stats-by-reason': '-a GPTBot --stats-by reason urls.txt',
    report: '-a GPTBot,CCBot --quiet --report report.json urls.txt > out.txt',
    gzip: '-a GPTBot -o out.txt.gz urls.txt && gzip -dc out.txt.gz && rm out.txt.gz',
  };
  const filters = Object.entries(modes).map(
    ([name, words]): Oracle => ({ name, command: `rf --table robots.table ${words}` }),
  );
  const others: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      PROFILES.map((profile) => [
        `compile-${profile}`,
        `rf compile --profile ${profile} --robots-dir robots -o out.table`,
      ]),
    ),
    'compile-records': 'rf compile --records --robots-dir robots -o out.table',
    'compile-shards': 'rf compile --shards 3 --robots-dir robots -o out.shards',
    pipe: 'cat urls.ndjson | rf --table robots.table -a GPTBot --explain',
    'robots-dir': 'rf --robots-dir robots -a GPTBot urls.txt',
    'in-shards':
      'rf compile --quiet --shards 3 --robots-dir robots -o s && rf --table s -a GPTBot --explain urls.txt && rm -r s',
    verify: 'rf inspect --verify robots.table',
    inspect: 'rf inspect robots.table',
    audit: `rf audit --table robots.table -a ${AGENTS}`,
    'audit-csv': 'rf audit --table robots.table -a @ai-training --format csv',
    'audit-parquet': 'rf audit --table robots.table -a GPTBot --format parquet > out.parquet',
    'audit-figures':
      'rf audit --quiet --table robots.table -a GPTBot --report report.json > out.txt',
    records: 'rf records --format ndjson robots',
    lint: 'rf lint --format json robots',
    'lint-sarif': 'rf lint --format sarif robots',
    diff: `rf diff -a ${AGENTS} --format ndjson older.ndjson robots`,
    'diff-urls': 'rf diff -a GPTBot --urls urls.txt older.ndjson robots',
    shard: 'rf shard --of 7 urls.ndjson',
    agents: 'rf agents --json',
    help: 'for c in compile fetch check lint inspect audit records diff shard captures agents serve completion; do rf help $c; done',
    'no-such-table': 'rf --table no.table urls.txt',
    'no-such-option': 'rf --no-such-option urls.txt',
    completions: 'for s in bash zsh fish powershell; do rf completion $s; done',
  };
  const archives: Readonly<Record<string, string>> = {
    'compile-archives': 'rf compile --robots-dir warc -o out.table',
    captures: 'for f in warc/*.warc*; do rf captures $f; done',
    'archives-explained': 'rf --robots-dir warc -a GPTBot --explain urls.txt',
    'audit-archives': 'rf audit --robots-dir warc',
    'lint-archives': 'rf lint --format json warc',
  };
  const listed = [others, hasData ? archives : {}].flatMap((commands) =>
    Object.entries(commands).map(([name, command]): Oracle => ({ name, command })),
  );
  return [...rows, ...filters, ...listed];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string' },
    installed: { type: 'string' },
    urls: { type: 'string', default: '4000' },
    help: { type: 'boolean', default: false },
  },
});
const [action, directory] = positionals;
if (values.help || directory === undefined || (action !== 'record' && action !== 'compare')) {
  process.stderr.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else if (action === 'record') {
  if (existsSync(directory)) throw new Error(`${directory} exists: name a new folder`);
  const runs = observe(directory);
  process.stdout.write(`${runs} runs are kept in ${directory}\n`);
} else {
  const now = mkdtempSync(join(tmpdir(), 'oracles-'));
  const runs = observe(now);
  const differing = compare(directory, now);
  process.stdout.write(`${runs} runs; ${differing} files differ; this build's are in ${now}\n`);
  if (differing > 0) process.exitCode = 1;
  else rmSync(now, { recursive: true });
}

/** Runs everything, and writes what came out to a folder. Returns the number of runs. */
function observe(into: string): number {
  const program = values.installed ? resolve(values.installed, 'node_modules/robots-filter') : ROOT;
  mkdirSync(into, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'oracle-inputs-'));
  try {
    const bin = join(scratch, 'bin');
    mkdirSync(bin);
    const main = join(program, 'dist/cjs/main.cjs');
    writeFileSync(join(bin, 'rf'), `#!/bin/sh\nexec node '${main}' "$@"\n`, { mode: 0o755 });
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    const home = join(scratch, 'home');
    mkdirSync(home);
    makeInputs(home);
    shell(
      'rf compile --quiet --records --robots-dir robots -o robots.table' +
        ' && rf --quiet --table robots.table -o urls.parquet urls.ndjson',
      home,
      env,
    );
    writeFileSync(join(into, 'kernel'), digest(join(program, 'dist/kernel/kernel.wasm')));
    cpSync(join(program, 'dist/index.d.ts'), join(into, 'index.d.ts'));
    writeFileSync(join(into, 'table'), digest(join(home, 'robots.table')));
    const oracles = oraclesOf(values.data !== undefined);
    for (const { name, command } of oracles) {
      const before = new Set(filesBelow(home));
      const { status, stdout, stderr } = shell(command, home, env);
      const kept = join(into, name);
      mkdirSync(kept);
      writeFileSync(join(kept, 'stdout'), withoutTimes(stdout));
      writeFileSync(join(kept, 'stderr'), withoutTimes(stderr));
      writeFileSync(join(kept, 'status'), `${status}\n`);
      for (const file of filesBelow(home)) {
        if (before.has(file)) continue;
        const path = join(home, file);
        const text = file.endsWith('.json')
          ? withoutTimes(readFileSync(path, 'utf8'))
          : digest(path);
        writeFileSync(join(kept, file.replaceAll('/', ' ')), text);
        rmSync(path);
      }
    }
    return oracles.length;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** robots.txt files, an older set of them, and URLs in each format but Parquet. */
function makeInputs(home: string): void {
  let urls = readFileSync(join(ROOT, 'fixtures/demo/urls.txt'), 'utf8').trim().split('\n');
  cpSync(join(ROOT, 'fixtures/demo/robots'), join(home, 'robots'), { recursive: true });
  writeFileSync(
    join(home, 'older.ndjson'),
    '{"host":"shop.example","robots":"User-agent: *\\nDisallow: /tea"}\n',
  );
  if (values.data !== undefined) {
    const found = filesBelow(values.data).map((file) => join(values.data ?? '', file));
    const robots = found.find((file) => /robots-[^/]*\.ndjson\.gz$/.test(file));
    if (robots === undefined) throw new Error(`${values.data} holds no robots-*.ndjson.gz`);
    const records = gunzipSync(readFileSync(robots)).toString().trim().split('\n');
    writeFileSync(join(home, 'robots/real.ndjson'), `${records.join('\n')}\n`);
    // Every tenth record has the body of the one before it, so that hosts differ.
    const older = records.flatMap((record, at) => {
      const { host } = JSON.parse(record);
      return at % 10 === 1 ? [JSON.stringify({ ...JSON.parse(records[at - 1] ?? ''), host })] : [];
    });
    writeFileSync(join(home, 'older.ndjson'), `${older.join('\n')}\n`);
    urls = found
      .filter((file) => /urls-[^/]*\.txt\.gz$/.test(file))
      .flatMap((file) => every(gunzipSync(readFileSync(file)).toString().trim().split('\n')));
    mkdirSync(join(home, 'warc'));
    for (const file of found.filter((name) => /\.warc(\.gz)?$/.test(name))) {
      cpSync(file, join(home, 'warc', file.slice(file.lastIndexOf('/') + 1)));
    }
  }
  const objects = urls.map((url, id) => JSON.stringify({ id, url, title: 'a "title", b' }));
  const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const csv = urls.map((url, id) => `${id},${cell(url)},"a ""title"", b"`);
  const tsv = urls.filter((url) => !url.includes('"')).map((url, id) => `${id}\t${url}\tb`);
  const files: Readonly<Record<string, string>> = {
    'urls.txt': `${urls.join('\n')}\n`,
    'urls.ndjson': `${objects.join('\n')}\n`,
    'urls.json': `[${objects.join(',\n')}]\n`,
    'urls.csv': `id,url,title\n${csv.join('\n')}\n`,
    'urls.tsv': `id\turl\ttitle\n${tsv.join('\n')}\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text);
}

/** As many lines as asked for, from all over the list. */
function every(lines: readonly string[]): string[] {
  const step = Math.max(1, Math.floor(lines.length / Number(values.urls)));
  return lines.filter((_, at) => at % step === 0);
}

function shell(command: string, cwd: string, env: NodeJS.ProcessEnv) {
  return spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8', maxBuffer: 2 ** 30 });
}

/** Durations, moments and memory differ from run to run. */
function withoutTimes(text: string): string {
  return text
    .replaceAll(/\b\d[\d,]*(\.\d+)? m?s\b/g, '0 s')
    .replaceAll(/\b[\d,.]+ ([kMG]?B|million|URLs|records|rows|hosts)( a second|\/s)/g, '0 $1$2')
    .replaceAll(/\b\d+(\.\d+)? MB of memory\b/g, '0 MB of memory')
    .replaceAll(
      /"(seconds|peakMemoryBytes|\w*PerSecond|created|started|finished|date)": ?[^,}\n]+/g,
      '"$1":0',
    );
}

/** Compares two folders. Returns the number of files that differ, each of which is named. */
function compare(then: string, now: string): number {
  const names = [...new Set([...filesBelow(then), ...filesBelow(now)])].sort();
  let differing = 0;
  for (const name of names) {
    const [before, after] = [then, now].map((folder) => {
      const path = join(folder, name);
      return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : ['(missing)'];
    });
    const at = (before ?? []).findIndex((line, index) => line !== after?.[index]);
    if (at < 0 && before?.length === after?.length) continue;
    differing++;
    const place = at < 0 ? (before?.length ?? 0) : at;
    const line = (lines: readonly string[] | undefined) => lines?.[place]?.slice(0, 200) ?? '(end)';
    process.stdout.write(`${name}:${place + 1}\n  - ${line(before)}\n  + ${line(after)}\n`);
  }
  return differing;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

function digest(path: string): string {
  const bytes = readFileSync(path);
  return `${createHash('sha256').update(bytes).digest('hex')} ${statSync(path).size} bytes\n`;
}
