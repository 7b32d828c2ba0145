import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseCaptureLine } from '../../src/sources/capture-files.js';
import { lines, test, workplace } from '../cli/command-line.js';
import { captureOf, membersOf, recordOf, responseOf, robotsOf } from '../warc/warc-bytes.js';

const MOVED = { Location: 'https://b.example/page' };

/** Two archives; redirects lead from one to the other, and to a page. */
const ARCHIVES = {
  'a.warc.gz': membersOf([
    captureOf('https://a.example/robots.txt', responseOf(301, '', MOVED)),
    captureOf(
      'http://a.example/robots.txt',
      responseOf(302, '', { Location: 'https://c.example/robots.txt' }),
    ),
    captureOf(
      'https://d.example:8080/robots.txt',
      responseOf(200, Buffer.from(`${robotsOf('/\xff')}`, 'latin1')),
    ),
    captureOf('https://e.example/robots.txt', responseOf(503)),
    captureOf('https://f.example/robots.txt', responseOf(404)),
  ]),
  'b.warc': Buffer.concat([
    captureOf('https://b.example/other', responseOf(200, 'a page')),
    captureOf('https://b.example/page', responseOf(200, robotsOf('/page'))),
    captureOf('https://c.example/robots.txt', responseOf(200, robotsOf('/c')), {
      fields: { 'WARC-Payload-Digest': 'sha1:C' },
    }),
    recordOf({
      type: 'revisit',
      uri: 'https://g.example/robots.txt',
      block: responseOf(200),
      fields: { 'WARC-Payload-Digest': 'sha1:C' },
    }),
    captureOf('https://b.example/robots.txt', responseOf(301, '', MOVED)),
  ]),
};

const URLS = [
  'a.example/page',
  'c.example/c',
  'd.example:8080/%FF',
  'e.example/',
  'f.example/',
  'g.example/c',
]
  .flatMap((rest) => [`https://${rest}`, `http://${rest}`])
  .join('\n');

test('captures compile to the table of their archives, also one shard at a time', async ({
  place,
}) => {
  for (const [name, bytes] of Object.entries(ARCHIVES)) place.write(name, bytes);
  const printed = await place.run('captures a.warc.gz b.warc');
  expect([printed.code, printed.stderr]).toEqual([0, '']);
  place.write('urls', 'https://b.example/page\n');
  const more = await place.run('captures --targets urls b.warc');
  // Every spelling of a URL is that URL, and a line that is none is named.
  place.write('spelt', '\r\nHTTPS://B.example:443/page#top\r\n');
  expect((await place.run('captures --targets spelt b.warc')).text).toBe(more.text);
  place.write('wrong', 'https://b.example/page\nb.example/page\n');
  const refused = await place.run('captures --targets wrong b.warc');
  expect([refused.code, refused.text]).toEqual([2, '']);
  expect(refused.stderr).toContain('wrong, line 2: not an http, https or ftp URL. Write one URL');
  const outcomes = lines(printed.text).map((line) => JSON.parse(line).outcome);
  expect(outcomes).toEqual(
    'redirect redirect body unreachable unavailable left-out left-out body revisit redirect'.split(
      ' ',
    ),
  );
  expect(lines(more.text)).toHaveLength(1);
  // In the order of the archives.
  const all = lines(printed.text);
  all.splice(7, 0, ...lines(more.text));
  place.write('all.captures.ndjson', `${all.join('\n')}\n`);
  const archives = ['--robots-dir', 'a.warc.gz', '--robots-dir', 'b.warc'];
  const shards = ['compile', '-q', '--shards', '3'];
  await place.run([...shards, ...archives, '-o', 'direct']);
  for (const only of ['0', '1', '2', 'manifest']) {
    const words = [...shards, '--robots-dir', 'all.captures.ndjson', '--only', only, '-o', 'only'];
    expect((await place.run(words)).stderr).toBe('');
  }
  for (const shard of [0, 1, 2]) {
    const name = `part-0000${shard}.table`;
    const [one, other] = ['only', 'direct'].map((at) => readFileSync(join(place.path, at, name)));
    expect(one?.equals(other ?? Buffer.alloc(0))).toBe(true);
  }
  const question = ['-q', '--explain'];
  const [direct, via, parts] = [
    await place.run([...archives, ...question], URLS),
    await place.run(['--robots-dir', 'all.captures.ndjson', ...question], URLS),
    await place.run(['--table', 'only', ...question], URLS),
  ];
  expect(direct.text).toContain(
    'deny\thttps://a.example/page\trule\t2\tDisallow: /page\t*\tb.warc:',
  );
  expect(direct.text).toContain('deny\thttps://g.example/c\trule');
  expect(via.text).toBe(direct.text);
  expect(parts.text).toBe(direct.text);
});

test('a manifest needs all parts, and the options that they were compiled with', async ({
  place,
}) => {
  place.write('r.ndjson', '{"host":"a.example","robots":"User-agent: a\\nDisallow: /"}\n');
  const words = ['compile', '-q', '--robots-dir', 'r.ndjson', '--shards', '2', '-o', 'parts'];
  const run = async (...more: string[]): Promise<string> =>
    (await place.run([...words, ...more])).stderr;
  await run('--only', '0');
  expect(await run('--only', 'manifest')).toContain('part-00001.table: cannot be read');
  await run('--only', '1', '-a', 'a');
  expect(await run('--only', 'manifest')).toContain('part-00001.table: for some agents only');
  await run('--only', '1', '--profile', 'google');
  expect(await run('--only', 'manifest')).toContain('part-00001.table: for profile google');
  expect(await run('--only', '2')).toContain('--only names a shard of --shards');
});

test('a manifest is refused for parts under wrong names, and for more parts than it names', async ({
  place,
}) => {
  const hosts = [...'abcdefgh'].map((name) => `${name}.example`);
  const records = hosts.map((host) => `{"host":"${host}","robots":"Disallow: /${host}"}`);
  // The first host of one part has one authority, or several.
  const authority = '{"authority":"https://a.example:444","robots":"Disallow: /b"}';
  for (const more of [[], [authority]]) {
    place.write('r.ndjson', `${[...records, ...more].join('\n')}\n`);
    const words = ['compile', '-q', '--robots-dir', 'r.ndjson', '--shards', '3', '-o', 'parts'];
    for (const only of ['0', '1', '2', 'manifest']) {
      expect((await place.run([...words, '--only', only])).stderr).toBe('');
    }
    const [first, second] = [0, 1].map((shard) =>
      join(place.path, `parts/part-0000${shard}.table`),
    );
    renameSync(first as string, join(place.path, 'kept'));
    renameSync(second as string, first as string);
    const { code, stderr } = await place.run([...words, '--only', 'manifest']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /part-00000\.table: its host \S+ belongs into part-00001\.table: compile/,
      ),
    ]);
    renameSync(first as string, second as string);
    renameSync(join(place.path, 'kept'), first as string);
    const fewer = words.map((word) => (word === '3' ? '2' : word));
    const refused = await place.run([...fewer, '--only', 'manifest']);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('part-00002.table: there are more parts than --shards 2 names'),
    ]);
  }
});

test('the status of a capture counts only where the profiles read it in different ways', () => {
  const base = { source: 's', url: 'https://a.example/robots.txt', offset: 0, date: 0 };
  for (const [outcome, status, profile, kind] of [
    ['unavailable', 429, 'google', 'unreachable'],
    ['unreachable', 429, 'rfc9309', 'unavailable'],
    ['unreachable', undefined, 'rfc9309', 'unreachable'],
    // A response that was broken.
    ['unreachable', 404, 'rfc9309', 'unreachable'],
  ] as const) {
    const line = Buffer.from(JSON.stringify({ ...base, outcome, status }));
    expect(parseCaptureLine(line, profile)).toMatchObject({ outcome: { kind } });
  }
});

test('a line that is no capture is skipped with a warning', async () => {
  const url = 'https://a.example/robots.txt';
  const good = { source: 's', url, offset: 0, date: 0, outcome: 'body', robots: 'x' };
  expect(parseCaptureLine(Buffer.from(JSON.stringify(good)))).toMatchObject({ url, source: 's' });
  const changes: readonly Readonly<Record<string, unknown>>[] = [
    { url: 'https://A.example/robots.txt' },
    { url: 'nonsense' },
    { url: 5 },
    { source: '' },
    { offset: -1 },
    { offset: 0.5 },
    { date: '2025' },
    { date: 1e300 },
    { payload_digest: 7 },
    { outcome: 'other' },
    { robots: undefined },
    { robots: undefined, robots_base64: '=' },
    { outcome: 'redirect' },
    { outcome: 'redirect', target: '/page' },
    { outcome: 'unavailable', status: 'x' },
    { outcome: 'unreachable', status: 99 },
    { outcome: 'revisit' },
    { outcome: 'revisit', unmodified: true, refers_to: 'x' },
    { outcome: 'revisit', unmodified: true, refers_to_date: 'x' },
  ];
  for (const change of changes) {
    const line = JSON.stringify({ ...good, ...change });
    expect([line, typeof parseCaptureLine(Buffer.from(line))]).toEqual([line, 'string']);
  }
  const place = workplace();
  place.write('bad.captures.ndjson', `{}\n${JSON.stringify(good)}\n[1]\n\xff\n`);
  const { stderr } = await place.run('compile --robots-dir bad.captures.ndjson -o t');
  for (const line of [1, 3, 4]) expect(stderr).toContain(`bad.captures.ndjson:${line}: `);
  expect(stderr).toContain('1 host from 1 file');
});
