import { readFileSync } from 'node:fs';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { fixturePath } from '../parquet/parquet-fixtures.js';
import { lines, Workplace } from './command-line.js';

const RULES = 'User-agent: *\nDisallow: /a\n';

/** A file with these columns of text, in row groups of three. */
function parquetOf(columns: Record<string, (string | null)[]>, status?: number[]): Uint8Array {
  const texts = Object.entries(columns).map(([name, data]) => ({
    name,
    data,
    type: 'STRING' as const,
  }));
  const numbers =
    status === undefined ? [] : [{ name: 'status', data: status, type: 'INT32' as const }];
  return new Uint8Array(
    parquetWriteBuffer({ columnData: [...texts, ...numbers], rowGroupSize: 3 }),
  );
}

test('robots.txt files come from the rows of a Parquet file, alone or in a directory', async () => {
  const place = new Workplace();
  const hosts = [
    'one.example',
    'two.example',
    null,
    'three.example:8080',
    'no host',
    'five.example',
  ];
  const bodies = [RULES, RULES.replace('/a', '/b'), RULES, RULES, RULES, null];
  place.write('bodies.parquet', parquetOf({ domain: hosts, lang: hosts, content: bodies }));
  place.write('d/bodies.parquet', readFileSync(`${place.path}/bodies.parquet`));
  place.write('d/two.example', 'User-agent: *\nAllow: /\n');
  const urls =
    'https://one.example/a\nhttps://two.example/b\nhttp://three.example:8080/a\nhttps://five.example/\n';
  const alone = await place.run(['--robots-dir', 'bodies.parquet', '--explain'], urls);
  expect(alone.code).toBe(0);
  expect(alone.text).toBe(
    'deny\thttps://one.example/a\trule\t2\tDisallow: /a\t*\tbodies.parquet:1\n' +
      'deny\thttps://two.example/b\trule\t2\tDisallow: /b\t*\tbodies.parquet:2\n' +
      'deny\thttp://three.example:8080/a\trule\t2\tDisallow: /a\t*\tbodies.parquet:4\n' +
      'unknown\thttps://five.example/\tunknown-host\t\t\t\t\n',
  );
  expect(lines(alone.stderr).map((line) => line.split(': ').slice(1, 3).join(': '))).toEqual([
    'warning: bodies.parquet:3',
    'warning: bodies.parquet:5',
    'warning: bodies.parquet:6',
  ]);
  const directory = await place.run(['--robots-dir', 'd', '-q'], urls);
  expect(directory.text.split('\n')[1]).toBe('allow\thttps://two.example/b');
  for (const threads of ['1', '3']) {
    const table = ['compile', '--robots-dir', 'd', '-q', '-o', `t${threads}`];
    expect((await place.run(table)).code).toBe(0);
  }
  expect(place.read('t1')).toBe(place.read('t3'));
});

test('a status decides as in a record, and many rows keep their order', async () => {
  const place = new Workplace();
  const count = 2500;
  const hosts = Array.from({ length: count }, (_, row) => `h${row % 850}.example`);
  const bodies = hosts.map((_, row) =>
    row % 10 === 9 ? null : `User-agent: *\nDisallow: /${row}\n`,
  );
  const status = hosts.map((_, row) => (row % 10 === 9 ? (row % 20 === 19 ? 404 : 503) : 200));
  place.write('many.parquet', parquetOf({ host: hosts, robots: bodies }, status));
  const urls = hosts.map((host, row) => `https://${host}/${row}`);
  const last = new Map(hosts.map((host, row) => [host, row]));
  const expected = hosts.map((host, row) => {
    const deciding = last.get(host) ?? 0;
    if (status[deciding] === 503) return 'deny';
    return status[deciding] === 200 && String(row).startsWith(String(deciding)) ? 'deny' : 'allow';
  });
  const { code, text } = await place.run(['--robots-dir', 'many.parquet', '-q'], urls.join('\n'));
  expect(code).toBe(0);
  expect(lines(text).map((line) => line.split('\t')[0])).toEqual(expected);
});

test('--host-column and --robots-column take the place of the usual names', async () => {
  const place = new Workplace();
  const sites = ['one.example', 'https://two.example/robots.txt', 'https://three.example/page'];
  const pages = sites.map(() => 'https://other.example/page');
  const other = sites.map(() => 'User-agent: *\nDisallow: /\n');
  const columns = { domain: pages, url: pages, site: sites, content: other, text: [] as string[] };
  columns.text = sites.map(() => RULES);
  place.write('d/set.parquet', parquetOf(columns, [200, 503, 200]));
  place.write('d/named.example', RULES);
  const options = ['--host-column', 'site', '--robots-column', 'text'];
  const urls = ['one', 'two', 'three', 'named'].flatMap((host) =>
    ['a', 'b'].map((path) => `https://${host}.example/${path}\n`),
  );
  const expected = 'deny\nallow\ndeny\ndeny\nunknown\nunknown\ndeny\nallow\n';
  const filtered = await place.run(
    ['--robots-dir', 'd', ...options, '--format', 'verdicts'],
    urls.join(''),
  );
  expect(filtered).toMatchObject({ code: 0, text: expected });
  expect(filtered.stderr).toContain('d/set.parquet:3');
  const compiled = await place.run(['compile', '--robots-dir', 'd', ...options, '-o', 't', '-q']);
  expect(compiled.code).toBe(0);
  const table = ['--table', 't', '--format', 'verdicts'];
  expect((await place.run(table, urls.join(''))).text).toBe(expected);
  for (const [wrong, message] of [
    [
      ['--robots-dir', 'd', '--host-column', 'host'],
      'd/set.parquet: there is no column "host". Columns of text: domain, url, site, content, text. Use --host-column NAME.',
    ],
    [
      ['--robots-dir', 'd', '--robots-column', 'status'],
      'd/set.parquet: column "status" holds INT32, not text. Columns of text: domain, url,',
    ],
    [['--table', 't', '--host-column', 'site'], '--host-column has no effect on a table'],
    [['--robots-dir', 'd', ...options, ...options], 'It was already given as site'],
  ] as const) {
    const { code, text, stderr } = await place.run(wrong, 'x\n');
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(message);
  }
});

test('a Parquet file without such columns, or a damaged one, is refused', async () => {
  const place = new Workplace();
  place.write('x.parquet', parquetOf({ domain: ['a.example'], text: ['x'] }));
  place.write('y.parquet', parquetOf({ name: ['a.example'], content: ['x'] }));
  place.write('z.parquet', readFileSync(fixturePath('delta.parquet')).subarray(0, -1));
  place.write('w.parquet', 'User-agent: *\n');
  for (const [name, message] of [
    [
      'x',
      'x.parquet: there is no column of text called robots, robots_txt, content, body. Columns of text: domain, text. Use --robots-column NAME.',
    ],
    ['y', 'y.parquet: there is no column of text called host, domain'],
    ['z', 'z.parquet: this Parquet file cannot be read at byte'],
    ['w', 'w.parquet: this Parquet file cannot be read at byte 0'],
  ]) {
    const { code, text, stderr } = await place.run(['--robots-dir', `${name}.parquet`], 'x\n');
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(message);
  }
  const { code, stderr } = await place.shell('echo | $rf --robots-dir <(cat z.parquet)');
  expect(code).toBe(2);
  expect(stderr).toContain('is a Parquet file');
});
