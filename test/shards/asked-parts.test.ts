import { appendFileSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect } from 'vitest';
import { FilterInputs } from '../../src/cli/commands/inputs.js';
import { encodeZstd, prepareZstdEncoder } from '../../src/files/zstd/encoder.js';
import { readTable } from '../../src/judge/open-table.js';
import { TableJudge } from '../../src/judge/table.js';
import { openInput } from '../../src/pipeline/input/open.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { parseManifest } from '../../src/table/manifest.js';
import { shardOf } from '../../src/table/places.js';
import { MainThread } from '../../src/workers/main-thread.js';
import { lines, test, Workplace } from '../cli/command-line.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { filterCase } from './filter-case.js';

const SHARDS = 61;
const PLAIN_HOSTS = 12;

/** A URL, and its canonical host as Python found it; `null` for an invalid URL. */
interface HardUrl {
  readonly url: string;
  readonly host: string | null;
}

const HARD = lines(
  readFileSync(new URL('../../fixtures/shards/hosts.ndjson', import.meta.url), 'utf8'),
).map((line) => JSON.parse(line) as HardUrl);
const PLAIN = Array.from({ length: PLAIN_HOSTS }, (_, number) => `h${number}.example`);

const place = new Workplace(false);

beforeAll(async () => {
  await prepareZstdEncoder();
  const valid = HARD.filter(({ host }) => host !== null);
  const files = [
    ...PLAIN.map((host) => `http://${host}/robots.txt`),
    ...valid.map(({ url }) => new URL('/robots.txt', url).href),
  ];
  const records = Array.from(new Set(files), (url) =>
    JSON.stringify({ url, status: 200, robots: 'User-agent: *\nDisallow: /a\nDisallow: /*x\n' }),
  );
  place.write('robots.ndjson', `${records.join('\n')}\n`);
  const words = ['compile', '-q', '--robots-dir', 'robots.ndjson'];
  await place.run([...words, '-o', 'one.table']);
  const { stderr } = await place.run([...words, '--shards', String(SHARDS), '-o', 'parts']);
  expect(stderr).toBe('');
  return () => place.remove();
});

/** Makes a directory of the table with the parts of some hosts only; returns its name. */
function partsOf(hosts: Iterable<string>, name: string): string {
  const shards = new Set(Array.from(hosts, (host) => shardOf(host, SHARDS)));
  // Without a host, any part will do.
  if (shards.size === 0) shards.add(0);
  mkdirSync(join(place.path, name));
  const files = Array.from(shards, (shard) => `part-${String(shard).padStart(5, '0')}.table`);
  for (const file of ['manifest.json', ...files]) {
    linkSync(join(place.path, 'parts', file), join(place.path, name, file));
  }
  return name;
}

const FORMATS = ['text', 'ndjson', 'json', 'csv', 'tsv'] as const;
type Format = (typeof FORMATS)[number];

const same = (bytes: Buffer): Buffer => bytes;

/** Whether a URL can stand in text and rows. */
function isPlain(url: string): boolean {
  return !/[\s"\\]/.test(url);
}

/** Draws a short input of some format; adds the hosts of its URLs to `hosts`. */
function drawnBytes(random: Random, format: Format, hosts: Set<string>): Buffer {
  const isObject = format === 'ndjson' || format === 'json';
  const choice = isObject ? HARD : HARD.filter(({ url }) => isPlain(url));
  const records: string[] = [];
  for (let number = random.between(0, 4); number > 0; number--) {
    const host = random.pick(PLAIN);
    const path = random.pick(['a', 'b', '?x', '']);
    const drawn = random.chance(0.4) ? random.pick(choice) : { url: `http://${host}/`, host };
    if (random.chance(0.15)) {
      records.push(isObject ? random.pick(['{"id":1}', '{}', '{"u":{"url":7}}']) : '');
      continue;
    }
    if (drawn.host !== null) hosts.add(drawn.host);
    // A path would be the host of some invalid URLs.
    records.push(recordOf(random, format, drawn.url + (drawn.host === null ? '' : path)));
  }
  const mark = random.chance(0.1) ? '\ufeff' : '';
  const text = `${records.join('\n')}${random.pick(['', '\n'])}`;
  const bytes = Buffer.from(mark + (format === 'json' ? `[${records.join(',')}]` : text));
  return random.pick([same, same, same, gzipSync, encodeZstd])(bytes);
}

function recordOf(random: Random, format: Format, url: string): string {
  if (format === 'text') return url;
  if (format === 'csv') return `1,"${url}"`;
  if (format === 'tsv') return `1\t${url}`;
  const escaped = Array.from(JSON.stringify(url), (character, at) =>
    at > 0 && character.charCodeAt(0) < 0x7b && /\w/.test(character) && random.chance(0.1)
      ? `\\u00${character.charCodeAt(0).toString(16)}`
      : character,
  ).join('');
  // After a backslash a letter is part of an escape.
  const value = url.includes('\\') || url.includes('\t') ? JSON.stringify(url) : escaped;
  return `{"u":{"url":${value}},"url":"https://other.example/"}`;
}

describe('the filter reads of a table in shards', () => {
  test('the parts of a short input, and gives the verdicts of the whole table', async () => {
    const random = new Random(292);
    const seen = new Map<string, number>();
    for (let number = 0; number < cases(40); number++) {
      const format = FORMATS[number % FORMATS.length] ?? 'text';
      const hosts = new Set<string>();
      const inputs = Array.from({ length: random.pick([1, 1, 2]) }, (_, index) =>
        place.write(`input-${index}`, drawnBytes(random, format, hosts)),
      );
      const words = ['--input', format, '-a', random.pick(['*', 'a-bot,*']), ...inputs];
      if (format === 'ndjson' || format === 'json') words.push('--url-field', 'u.url');
      if (format === 'csv' || format === 'tsv') words.push('--no-header', '--url-field', '2');
      if (random.chance(0.3)) words.push('--explain');
      if (random.chance(0.1)) words.push('--threads', '2');
      if (random.chance(0.2)) words.push('--strict');
      if (random.chance(0.2)) words.push('--stats=json');
      const few = partsOf(hosts, `few-${number}`);
      const one = await place.run(['--table', 'one.table', ...words]);
      const found = await place.run(['--table', few, ...words]);
      expect([found.code, found.text]).toEqual([one.code, one.text]);
      // Only the shards that were read are known to name no agent.
      const said = found.stderr.replace('in the shards that were read has', 'here has');
      expect(withoutFigures(said)).toEqual(withoutFigures(one.stderr));
      const kind = `${format} ${hosts.size > 3 ? 'many' : Math.min(hosts.size, 1)} ${one.code}`;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }
    for (const format of FORMATS) {
      expect(seen.get(`${format} 1 0`)).toBeGreaterThan(2);
    }
    expect(new Set([...seen.keys()].map((kind) => kind.split(' ')[1])).size).toBe(3);
  });

  test('the parts of hard hosts, from a file, a pipe or a socket', async () => {
    const text = `${HARD.map((record) => JSON.stringify(record)).join('\n')}\n`;
    place.write('hard.ndjson', text);
    const few = partsOf(
      HARD.flatMap(({ host }) => host ?? []),
      'hard',
    );
    const words = ['-q', '--explain', '-a', 'a-bot'];
    const one = await place.run(['--table', 'one.table', ...words, 'hard.ndjson']);
    expect(lines(one.text)).toHaveLength(HARD.length);
    expect(one.text).not.toContain('unknown');
    const options = ['--table', few, ...words];
    for (const { code, stdout, stderr } of [
      await place.run([...options, 'hard.ndjson']),
      await place.run(options, text),
      // The pipe or socket has been written and closed before the program looks.
      await place.shellAlone(
        `sh -c 'echo $$ > writer; exec cat hard.ndjson' | {
          until [ -s writer ]; do sleep 0.02; done
          while kill -0 $(cat writer) 2> /dev/null; do sleep 0.02; done
          $rf ${options.join(' ')}
        }`,
      ),
      await place.shellAlone(
        `until [ -e sent ]; do sleep 0.02; done; $rf ${options.join(' ')}`,
        text,
        () => place.write('sent', ''),
      ),
    ]) {
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout.equals(one.stdout)).toBe(true);
    }
  });

  test('all parts, if it is asked about hosts without records, or for a long input', async () => {
    const few = partsOf(['h1.example'], 'one-part');
    const url = 'http://h1.example/a';
    place.write('url.txt', `${url}\n`);
    expect((await place.run(['--table', few, 'url.txt'])).text).toBe(`deny\t${url}\n`);
    place.write('long.txt', `${url}\n`.repeat(1 + 2 ** 22 / (url.length + 1)));
    const refused: readonly (readonly string[])[] = [
      ['--stats-by', 'host', 'url.txt'],
      ['--report', 'report.json', 'url.txt'],
      ['long.txt'],
      ['url.txt', 'long.txt'],
      ['--input', 'parquet', 'url.txt'],
    ];
    for (const words of refused) {
      const { code, text, stderr } = await place.run(['--table', few, ...words]);
      expect([code, text]).toEqual([2, '']);
      expect(stderr).toContain('part-00000.table: missing, and manifest.json names it');
    }
    // An input whose end has not come may be long.
    const { stderr } = await place.shellAlone(
      `{ cat url.txt; for i in {1..1000}; do [ -e done ] && break; sleep 0.02; done; } |
        { $rf --table ${few}; touch done; }`,
    );
    expect(stderr).toContain('part-00000.table: missing, and manifest.json names it');
  });

  test('all parts, if an input is damaged, and says so after the records before', async () => {
    const text = Array.from({ length: 9000 }, (_, at) => `http://h1.example/${at}\n`).join('');
    place.write('cut.gz', gzipSync(Buffer.from(text)).subarray(0, -2000));
    const of = (table: string) => place.run(['--table', table, '-q', 'cut.gz']);
    const [one, parts] = [await of('one.table'), await of('parts')];
    expect(lines(one.text).length).toBeGreaterThan(100);
    expect([parts.code, parts.text, parts.stderr]).toEqual([2, one.text, one.stderr]);
  });
});

test('what is judged are the bytes in which the hosts were found', async ({ place: other }) => {
  const path = join(other.path, other.write('urls.txt', 'http://h1.example/\n'));
  const inputs = await FilterInputs.of([path], undefined);
  const manifest = parseManifest(place.read('parts/manifest.json'), 'manifest.json');
  const options = {
    input: 'auto',
    urlField: ['url'],
    maxLineBytes: 1000,
    unknown: 'unknown',
  } as const;
  const shards = await inputs.shards(manifest, options);
  expect([...(shards ?? [])]).toEqual([shardOf('h1.example', SHARDS)]);
  appendFileSync(path, 'http://h2.example/\n');
  const open = await openInput(path, { taken: inputs.startOf(0) });
  if (open.kind !== 'stream') throw new Error('the input is not read from memory');
  expect(Buffer.concat(await open.stream.toArray()).toString()).toBe('http://h1.example/\n');
  await open.close();
  writeFileSync(path, 'x'.repeat(2 ** 22 + 1));
  expect(await inputs.shards(manifest, options)).toBeUndefined();
});

test('a host whose shard is not in memory gets no verdict', async () => {
  const shard = shardOf('h1.example', SHARDS);
  const other = PLAIN.find((host) => shardOf(host, SHARDS) !== shard);
  const path = join(place.path, 'parts');
  const third = PLAIN.find(
    (host) => ![shard, shardOf(`${other}`, SHARDS)].includes(shardOf(host, SHARDS)),
  );
  const chosen = new Set([shard, shardOf(`${third}`, SHARDS)]);
  for (const bankBytes of [undefined, 1]) {
    const table = await readTable(path, { bankBytes, choose: async () => chosen });
    expect(table.banks).toHaveLength(bankBytes === undefined ? 1 : 2);
    const judge = new TableJudge(table);
    expect(judge.verdict('http://h1.example/a', '*')).toBe('deny');
    expect(judge.verdict('not a URL', '*')).toBe('invalid');
    expect(() => judge.verdict(`http://${other}/`, '*')).toThrow('unreachable');
    expect(() => table.view.find(`${other}`)).toThrow('not in memory');
    const settings = {
      agents: [parseAgent('*', 'rfc9309')],
      output: 'annotate',
      unknown: 'unknown',
      explain: false,
      strict: false,
      urlField: ['url'],
      verdictField: undefined,
      maxLineBytes: 1000,
      countHosts: false,
    } as const;
    for (const host of ['h1.example', other]) {
      const result = await filterCase(table, place.path, {
        format: 'text',
        input: Buffer.from(`http://h1.example/\nhttp://${host}/\n`),
        settings,
        pool: new MainThread(),
        toFile: false,
        batchBytes: undefined,
      });
      if (host !== other) expect(result.error).toBeUndefined();
      else
        expect([result.output, result.error]).toEqual(['', expect.stringContaining('unreachable')]);
    }
  }
});

/** Standard error without what differs from run to run. */
function withoutFigures(stderr: string): string[] {
  return lines(stderr)
    .filter((line) => line !== '')
    .map((line) => {
      if (!line.startsWith('{')) return line;
      const { records, hosts, complete } = JSON.parse(line);
      return JSON.stringify({ records, hosts, complete });
    });
}
