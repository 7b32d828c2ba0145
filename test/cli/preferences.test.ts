import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect } from 'vitest';
import { Table } from '../../src/judge/table.js';
import { lines, test, type Workplace, workplace } from './command-line.js';

const AGENTS = ['CCBot', 'GPTBot'];

const ROBOTS = {
  'paths.example': [
    'User-agent: *',
    'Disallow: /private',
    'Content-Usage: train-ai=y',
    'Content-Usage: /img train-ai=n, search=y',
    'Content-Usage: /img search=n',
    'Content-Usage: /img/*.gif$ search=y',
    'Content-Signal: ai-train=no',
  ],
  'groups.example': [
    'License: https://groups.example/licence',
    'User-agent: CCBot',
    'Content-Signal: search=yes',
    'Disallow: /private',
    'User-agent: *',
    'Disallow: /cc',
  ],
  'silent.example': ['User-agent: *', 'Disallow: /private'],
};

/** Hosts, spelt as URLs may spell them, and paths; one of each at a time. */
const STARTS = [
  'https://paths.example',
  'http://PATHS.example:80',
  'https://user:word@paths.example',
  'HTTPS:\\\\paths.example',
  'https:\\/\\/groups.example',
  'https://groups.example.',
  'https://silent.example',
  'https://unknown.example',
];
const PATHS = [
  '/',
  '/img',
  '/img/a.gif',
  '/im%67/b.png?x',
  '/private',
  '/cc',
  '/robots.txt',
  '\\img',
];
const URLS = [
  ...STARTS.flatMap((start) => PATHS.map((path) => start.replaceAll('\\/', '/') + path)),
  'no url',
];

async function place(): Promise<{ place: Workplace; table: Table }> {
  const made = workplace();
  for (const [host, body] of Object.entries(ROBOTS)) {
    made.write(`sites/${host}`, `${body.join('\n')}\n`);
  }
  const compiled = await made.run('compile -q --records --robots-dir sites -o t');
  expect(compiled.code).toBe(0);
  return { place: made, table: await Table.open(join(made.path, 't')) };
}

/** What the library says; `null` where the verdict is not allow. */
function said(table: Table, url: string, agent: string): unknown {
  if (table.verdict(url, agent).verdict !== 'allow') return null;
  return JSON.parse(JSON.stringify(table.preferences(url, agent)));
}

/** The value of a column: nothing where nothing is said. */
function columnOf(value: unknown): unknown {
  const isEmpty = JSON.stringify(value) === '{"contentUsage":{},"contentSignal":{},"license":[]}';
  return isEmpty ? null : value;
}

const FILTER = ['--table', 't', '-a', AGENTS.join(), '--preferences', '-q'];

describe('--preferences', () => {
  test('JSON records get what the library says, whole and converted', async () => {
    const { place: at, table } = await place();
    const expected = URLS.map((url) => {
      const preferences = AGENTS.map((agent) => [agent, said(table, url, agent)]);
      return Object.fromEntries(preferences);
    });
    const records = URLS.map(
      (url, id) => `{"id":${id},"at":{"url":${JSON.stringify(url)}},"x":tru}`,
    );
    const whole = await at.run(
      [...FILTER, '--explain', '--url-field', 'at.url'],
      records.join(' \r\n'),
    );
    const out = lines(whole.text);
    expect(out.map((line) => JSON.parse(line.replace('"x":tru', '"x":0')).preferences)).toEqual(
      expected,
    );
    // The rest of a record is what it is without preferences.
    const plain = await at.run(
      [...FILTER.filter((word) => word !== '--preferences'), '--explain', '--url-field', 'at.url'],
      records.join(' \r\n'),
    );
    expect(out.map((line) => line.replace(/,"preferences":\{.*\}/, '}'))).toEqual(
      lines(plain.text),
    );
    const converted = await at.run(
      [...FILTER, '--format', 'ndjson', '--threads', '2'],
      URLS.join('\n'),
    );
    expect(lines(converted.text).map((line) => JSON.parse(line).preferences)).toEqual(expected);
    expect(expected.some(({ CCBot, GPTBot }) => CCBot !== null && GPTBot === null)).toBe(true);
    expect(
      expected.filter(({ GPTBot }) => GPTBot?.contentUsage.search === 'n').length,
    ).toBeGreaterThan(3);
  });

  test('text, rows and Parquet get a column for each agent', async () => {
    const { place: at, table } = await place();
    const expected = URLS.map((url) => AGENTS.map((agent) => columnOf(said(table, url, agent))));
    const read = (text: string | undefined) => (text ? JSON.parse(text) : null);
    const text = await at.run([...FILTER, '--explain'], URLS.join('\n'));
    expect(lines(text.text).map((line) => line.split('\t').slice(-2).map(read))).toEqual(expected);

    const rows = URLS.map((url, id) => `${id},"${url}","a\nb"\r\n`).join('');
    const csv = await at.run(
      [...FILTER, '--input', 'csv', '--url-field', '2'],
      `id,url,x\r\n${rows}`,
    );
    const [header, ...others] = csv.text.split('\r\n').slice(0, -1);
    expect(header).toBe(
      'id,url,x,verdict_CCBot,verdict_GPTBot,verdict_preferences_CCBot,verdict_preferences_GPTBot',
    );
    const quoted = /,((?:"\{(?:[^"]|"")*\}")?),((?:"\{(?:[^"]|"")*\}")?)$/;
    const unquoted = (field = '') => read(field.slice(1, -1).replaceAll('""', '"'));
    expect(others.map((row) => (quoted.exec(row) ?? []).slice(1).map(unquoted))).toEqual(expected);

    const bytes = parquetWriteBuffer({
      columnData: [{ name: 'url', data: URLS, type: 'STRING' }],
      rowGroupSize: 7,
    });
    at.write('urls.parquet', new Uint8Array(bytes));
    at.write('urls.txt', `${URLS.join('\n')}\n`);
    for (const input of ['urls.parquet', 'urls.txt']) {
      const { code } = await at.run([...FILTER, '--explain', '-o', 'out.parquet', input]);
      expect(code).toBe(0);
      const file = new Uint8Array(readFileSync(join(at.path, 'out.parquet'))).buffer;
      const found = await parquetReadObjects({ file });
      expect(
        found.map((row) => AGENTS.map((agent) => read(row[`preferences_${agent}`] as string))),
      ).toEqual(expected);
      expect(found.map((row) => row.url)).toEqual(URLS);
    }
  });

  test('a header comes out without records, and long inputs in order', async () => {
    const { place: at } = await place();
    const empty = await at.run('--table t --preferences --format csv');
    expect(empty.text).toBe('url,verdict,verdict_preferences\n');
    const urls = Array.from({ length: 30_000 }, (_, n) => `https://paths.example/img/${n}\n`);
    const long = await at.run(
      ['--table', 't', '--preferences', '--threads', '2', '--explain', '--format', 'csv'],
      urls.join(''),
    );
    const [, ...rows] = lines(long.text);
    expect(rows).toHaveLength(urls.length);
    rows.forEach((row, n) => {
      if (!row.startsWith(`https://paths.example/img/${n},allow,`)) expect(row).toBe(n);
      if (!row.endsWith('""license"":[]}"')) expect(row).toBe(n);
    });
  });

  test('preferences that are too long are replaced', async ({ place: at }) => {
    const licences = Array.from({ length: 200 }, (_, n) => `License: https://a.example/${n}\n`);
    at.write('sites/a.example', `User-agent: *\nDisallow: /x\n${licences.join('')}`);
    const usages = Array.from({ length: 9_000 }, (_, n) => `Content-Usage: /${n} train-ai=n\n`);
    at.write('sites/b.example', `User-agent: *\n${usages.join('')}`);
    const wild = Array.from({ length: 65 }, (_, n) => `Content-Usage: /*${n} train-ai=n\n`);
    at.write('sites/c.example', `User-agent: *\n${wild.join('')}`);
    at.write('sites/d.example', `User-agent: *\n${wild.slice(1).join('')}`);
    const { text } = await at.run(
      ['--robots-dir', 'sites', '-q', '--preferences'],
      `https://a.example/\nhttps://a.example/x\n${['b', 'c', 'd'].map((host) => `https://${host}.example/1\n`).join('')}`,
    );
    expect(lines(text)).toEqual([
      'allow\thttps://a.example/\t{"truncated":true}',
      'deny\thttps://a.example/x\t',
      'allow\thttps://b.example/1\t{"truncated":true}',
      'allow\thttps://c.example/1\t{"truncated":true}',
      'allow\thttps://d.example/1\t{"contentUsage":{"train-ai":"n"},"contentSignal":{},"license":[]}',
    ]);
  });

  test('a table without records, and options that do not fit, are refused', async ({
    place: at,
  }) => {
    await at.run('compile -q --robots-dir robots -o t');
    for (const [args, words] of [
      [['--table', 't'], 't keeps no preferences. Compile it with --records'],
      [['--robots-dir', 'robots', '--denied'], "cannot be used with option '--denied'"],
      [
        ['--robots-dir', 'robots', '--stats-by', 'host'],
        "cannot be used with option '--stats-by <key>'",
      ],
      [['--robots-dir', 'robots', '--format', 'verdicts'], 'Leave --preferences out'],
      [
        ['--robots-dir', 'robots', '--verdict-field', 'preferences'],
        'preferences is the member that --preferences adds',
      ],
    ] as const) {
      const { code, stderr } = await at.run([...args, '--preferences'], 'https://a.example/\n');
      expect(code).toBe(2);
      expect(stderr).toContain(words);
    }
    const csv = await at.run(
      ['--robots-dir', 'robots', '--preferences', '--input', 'csv'],
      'url,verdict_preferences\nhttps://a.example/,1\n',
    );
    expect(csv.stderr).toContain('has a column called verdict_preferences');
  });
});
