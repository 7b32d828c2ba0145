import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer, schemaFromColumnData } from 'hyparquet-writer';
import { describe, expect } from 'vitest';
import { Table } from '../../src/judge/table.js';
import { lines, test, type Workplace, workplace } from '../cli/command-line.js';
import { Random } from '../random/random.js';
import { captureOf, responseOf, robotsOf } from '../warc/warc-bytes.js';

const ROBOTS = [
  { host: 'a.example', robots: 'User-agent: *\nDisallow: /old\n', fetched: '2024-01-01' },
  { host: 'a.example', status: 404, fetched: 1717200000 },
  { host: 'a.example', robots: 'User-agent: *\nDisallow: /\n', fetched: '2025-01-01T12:00:00Z' },
  { host: 'b.example', robots: 'User-agent: *\nDisallow: /x\n', fetched: '2024-06-01' },
];

/** Records, and what was in force. */
const CASES = [
  ['https://a.example/old', '2024-02-01T00:00:00Z', 'deny'],
  ['https://a.example/old', '2024-06-01T00:00:00Z', 'allow'],
  ['https://a.example/old', '2025-01-01T11:59:59Z', 'allow'],
  ['https://a.example/new', '2025-01-01T12:00:00Z', 'deny'],
  ['https://a.example/old', '2023-12-31T23:59:59Z', 'unknown'],
  ['https://b.example/x', '2024-05-31T23:59:59Z', 'unknown'],
  ['https://b.example/x', '2024-06-01T00:00:00Z', 'deny'],
  ['https://c.example/x', '2024-06-01T00:00:00Z', 'unknown'],
  ['https://a.example/old', null, 'invalid'],
] as const;
const VERDICTS = CASES.map(([, , verdict]) => verdict);
const records = CASES.map(([url, t]) => ({ id: 'https://id.example/', url, t }));
const ndjson = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const rowsOf = (delimiter: string, quote: string): string =>
  [['id', 't', 'url'], ...records.map(({ id, t, url }) => [id, t ?? '', url])]
    .map((row) => `${row.map((field) => quote + field + quote).join(delimiter)}\n`)
    .join('');

function place(): Workplace {
  const it = workplace();
  it.write('robots.ndjson', ndjson(ROBOTS));
  return it;
}

async function compiled(more = '-o h.table'): Promise<Workplace> {
  const it = place();
  const { code, stderr } = await it.run(`compile --history --robots-dir robots.ndjson ${more}`);
  expect(code, stderr).toBe(0);
  return it;
}

const FILTER = ['-q', '--table', 'h.table', '--time-field', 't', '--format', 'verdicts'];
const DATES = CASES.map(([, t]) => (t === null ? null : new Date(t)));
const URLS = CASES.map(([url]) => url);

/** A Parquet file with these times. */
function parquet(data: readonly unknown[], override: object): Buffer {
  const element = { name: 't', repetition_type: 'OPTIONAL', ...override };
  const columnData = [
    { name: 'url', data: [...URLS] },
    { name: 't', data: [...data] },
  ];
  const schema = schemaFromColumnData({ columnData, schemaOverrides: { t: element as never } });
  return Buffer.from(parquetWriteBuffer({ columnData, schema }));
}

const seconds = DATES.map((date) => date && date.getTime() / 1000);
const bigints = (factor: bigint) =>
  seconds.map((each) => (each === null ? null : BigInt(each) * factor));

describe('--time-field', () => {
  test.each([
    ['ndjson', ndjson(records)],
    ['NDJSON in gzip', gzipSync(ndjson(records))],
    ['a JSON array', JSON.stringify(records, undefined, 2)],
    ['csv', rowsOf(',', '')],
    ['csv with quotes', rowsOf(',', '"')],
    ['tsv', rowsOf('\t', '')],
    [
      'Parquet of text',
      parquet(
        CASES.map(([, t]) => t),
        { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
      ),
    ],
    [
      'Parquet of milliseconds',
      parquet(DATES, { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }),
    ],
    [
      'Parquet of microseconds',
      parquet(bigints(1_000_000n), { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' }),
    ],
    [
      'Parquet of nanoseconds',
      parquet(bigints(1_000_000_000n), {
        type: 'INT64',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'NANOS' },
      }),
    ],
    ['Parquet of seconds as numbers', parquet(bigints(1n), { type: 'INT64' })],
    [
      'Parquet of floats',
      parquet(
        seconds.map((each) => each && each + 0.5),
        { type: 'DOUBLE' },
      ),
    ],
  ])('judges records of %s, each for its time', async (_, input) => {
    for (const more of [[], ['--threads', '2']]) {
      const it = await compiled(more.length > 0 ? '--shards 3 -o h.table' : undefined);
      it.write('input', input);
      const { code, text, stderr } = await it.run([
        ...FILTER,
        ...more,
        '--url-field',
        'url',
        'input',
      ]);
      expect(code, stderr).toBe(0);
      expect(lines(text)).toEqual(VERDICTS);
    }
  });

  test('takes the days of a Parquet column, and of a partition of its path', async () => {
    const it = await compiled();
    const days = DATES.map((date) => date && Math.floor(date.getTime() / 86_400_000));
    it.write('day.parquet', parquet(days, { type: 'INT32', converted_type: 'DATE' }));
    const byDay = await it.run([...FILTER, 'day.parquet']);
    const expected: readonly string[] = VERDICTS.with(3, 'allow');
    expect(lines(byDay.text)).toEqual(expected);
    it.write(
      'in/day=2024-07-01/x.parquet',
      parquet(days, { type: 'INT32', converted_type: 'DATE' }),
    );
    const words = FILTER.map((word) => (word === 't' ? 'day' : word));
    const inDay = await it.run([...words, 'in']);
    expect(lines(inDay.text).join(' ')).toBe(
      'allow allow allow allow allow deny deny unknown allow',
    );
  });

  test('reads Parquet times beyond the years, and numbers without a sign', async () => {
    const it = await compiled();
    const url = 'https://a.example/new';
    const run = async (data: readonly unknown[], override: object): Promise<unknown[]> => {
      const columnData = [
        { name: 'url', data: data.map(() => url) },
        { name: 't', data: [...data] },
      ];
      const element = { name: 't', repetition_type: 'OPTIONAL', ...override } as never;
      const schema = schemaFromColumnData({ columnData, schemaOverrides: { t: element } });
      it.write('x.parquet', Buffer.from(parquetWriteBuffer({ columnData, schema })));
      const { text } = await it.run('-q --table h.table --time-field t x.parquet');
      return lines(text).map((line) => line.replace(/.*"t":/, ''));
    };
    expect(
      await run([2 ** 32 - 1, 1717200000], { type: 'INT32', converted_type: 'UINT_32' }),
    ).toEqual(['4294967295,"verdict":"deny"}', '1717200000,"verdict":"allow"}']);
    const micros = { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' };
    expect(await run([2n ** 63n - 1n, -(2n ** 63n)], micros)).toEqual([
      '"9999-12-31T23:59:59Z","verdict":"deny"}',
      '"0000-01-01T00:00:00Z","verdict":"unknown"}',
    ]);
    expect(await run([1717200000123456789n], { type: 'INT64' })).toEqual([
      '1717200000123456789,"verdict":"invalid"}',
    ]);
    it.write('f.parquet', parquet(seconds, { type: 'FLOAT' }));
    const float = await it.run('--table h.table --time-field t f.parquet');
    expect(float.stderr).toContain('column "t" holds FLOAT, not times');
  });

  test('refuses a Parquet column that holds no times', async () => {
    const it = await compiled();
    it.write(
      'x.parquet',
      parquet(
        CASES.map(() => true),
        { type: 'BOOLEAN' },
      ),
    );
    const { code, stderr } = await it.run([...FILTER, 'x.parquet']);
    expect(code).toBe(2);
    expect(stderr).toContain('column "t" holds BOOLEAN, not times');
    const missing = await it.run([...FILTER.with(4, 'u'), 'x.parquet']);
    expect(missing.stderr).toContain(
      'there is no column "u". Columns of times, numbers or text: url. Use --time-field NAME',
    );
  });

  test('gives what --as-of gives for the records of each second', async () => {
    const it = await compiled();
    const random = new Random(4703);
    const many = Array.from({ length: 300 }, () => {
      const [url] = random.pick(CASES);
      const edge = random.pick([
        '2024-01-01T00:00:00Z',
        '2024-06-01T00:00:00Z',
        '2025-01-01T12:00:00Z',
      ]);
      const at = new Date(Date.parse(edge) + 1000 * random.between(-1, 1));
      return { url, t: at.toISOString() };
    });
    it.write('many.ndjson', ndjson(many));
    const together = lines((await it.run([...FILTER, 'many.ndjson'])).text);
    expect(together).toHaveLength(300);
    const times = [...new Set(many.map(({ t }) => t))];
    expect(times).toHaveLength(9);
    for (const time of times) {
      const indices = many.flatMap(({ t }, index) => (t === time ? [index] : []));
      it.write('urls.txt', indices.map((index) => `${many[index]?.url}\n`).join(''));
      const words = [
        '-q',
        '--table',
        'h.table',
        '--as-of',
        time,
        '--format',
        'verdicts',
        'urls.txt',
      ];
      const alone = await it.run(words);
      expect(lines(alone.text), time).toEqual(indices.map((index) => together[index]));
    }
  });

  test('reads robots.txt files with dates without a table', async () => {
    const it = place();
    it.write('input.ndjson', ndjson(records));
    const words = FILTER.map((word) => (word === '--table' ? '--robots-dir' : word));
    const { code, text, stderr } = await it.run([
      ...words.with(2, 'robots.ndjson'),
      'input.ndjson',
    ]);
    expect(code, stderr).toBe(0);
    expect(lines(text)).toEqual(VERDICTS);
    it.write('robots/a.example', 'User-agent: *\nDisallow: /\n');
    const undated = await it.run('--robots-dir robots --time-field t input.ndjson');
    expect(undated.code).toBe(2);
    expect(undated.stderr).toContain('needs dates');
  });

  test('names and counts records without a time, and stops at them with --strict', async () => {
    const it = await compiled();
    it.write('input.ndjson', ndjson(records));
    const { text, stderr } = await it.run(
      '--table h.table --time-field t --stats=json input.ndjson',
    );
    expect(lines(text)[8]).toBe(
      '{"id":"https://id.example/","url":"https://a.example/old","t":null,"verdict":"invalid"}',
    );
    const [named = '', stats = ''] = lines(stderr);
    expect(named).toBe(
      'robots-filter: input.ndjson, line 9: no time that can be read at the time field (--time-field)',
    );
    expect(JSON.parse(stats).agents[0].reasons).toMatchObject({ 'no-time': 1 });
    const strict = await it.run('--table h.table --time-field t --strict input.ndjson');
    expect(strict.code).toBe(2);
    expect(lines(strict.text)).toHaveLength(8);
    expect(strict.stderr).toContain('line 9: no time');
  });

  test('warns if most records have no time, or one before every robots.txt', async () => {
    const it = await compiled();
    it.write('input.ndjson', ndjson(records));
    const none = await it.run('--table h.table --time-field when input.ndjson');
    expect(none.code).toBe(0);
    expect(none.stderr).toContain(
      'They have no time in "when" that can be read. Use --time-field NAME',
    );
    it.write('early.ndjson', ndjson(records.map((each) => ({ ...each, t: '1999-01-01' }))));
    const early = await it.run('--table h.table --time-field t early.ndjson');
    expect(early.stderr).toContain('are of later times. Are the times in "t" right?');
  });

  test('reads times as long as the longest, and none that is a byte longer', async () => {
    const it = await compiled();
    const time = (bytes: number): string => `2024-06-01T00:00:00.${'0'.repeat(bytes - 20)}`;
    // In JSON 6 bytes for the first character: the bytes of the input count.
    const escaped = (bytes: number): string => time(bytes - 5).replace('2', '\\u0032');
    const url = 'https://a.example/old';
    const inputs = {
      'x.ndjson': (bytes: number) => `{"url":"${url}","t":"${time(bytes)}"}`,
      'escaped.ndjson': (bytes: number) => `{"url":"${url}","t":"${escaped(bytes)}"}`,
      'first.ndjson': (bytes: number) => `{"t":"${time(bytes)}","url":"${url}"}`,
      'x.csv': (bytes: number) => `url,t\n${url},${time(bytes)}`,
      'quoted.csv': (bytes: number) => `url,t\n${url},"${time(bytes)}"`,
    };
    for (const [name, content] of Object.entries(inputs)) {
      for (const [bytes, verdict] of [
        [256, 'allow'],
        [257, 'invalid'],
      ] as const) {
        it.write(name, content(bytes));
        const { text } = await it.run([...FILTER, name]);
        expect(lines(text), `${name} ${bytes}`).toEqual([verdict]);
      }
    }
  });

  test('warns of times that are still to come', async () => {
    const url = 'https://a.example/new';
    const at = (days: number): object => ({
      url,
      t: new Date(Date.now() + days * 86_400_000).toISOString(),
    });
    // The last one stops each batch, since its line is longer than the others.
    const late = [at(2), { url, t: 99_999_999_999_999 }, { ...at(400), x: 'x'.repeat(70_000) }];
    const rest = [at(-1), at(0.5), { url, t: 'never' }, { ...at(9), url: 'nothing' }, { t: at(9) }];
    const rows = Array.from({ length: 200 }, () => [...rest, ...late]).flat();
    for (const [table, words] of [
      ['-o h.table', '--threads 1'],
      ['-o h.table', '-a a,b --allowed'],
      ['--shards 3 -o h.table', '--threads 2'],
    ]) {
      const it = await compiled(table);
      it.write('input.ndjson', ndjson(rows));
      const { stderr } = await it.run(`--table h.table --time-field t ${words} input.ndjson`);
      expect(stderr).toContain(
        'warning: 600 of 1,600 records have a time to come, for which the newest robots.txt counts. Are the times in "t" right?',
      );
      it.write('now.ndjson', ndjson([at(-1), at(0.5)]));
      const now = await it.run(`--table h.table --time-field t ${words} now.ndjson`);
      expect(now.stderr).not.toContain('to come');
    }
  });

  test('comes out in every format, with the time of the version', async () => {
    const it = await compiled();
    it.write('input.ndjson', ndjson(records));
    const run = async (...more: string[]) => {
      const words = ['-q', '--table', 'h.table', '--time-field', 't', '--explain', ...more];
      const { code, text, stderr } = await it.run([...words, 'input.ndjson']);
      expect(code, stderr).toBe(0);
      return lines(text);
    };
    const versions = [
      ...['2024-01-01T00:00:00Z', '2024-06-01T00:00:00Z', '2024-06-01T00:00:00Z'],
      ...['2025-01-01T12:00:00Z', '', '', '2024-06-01T00:00:00Z', '', ''],
    ];
    const members = (await run()).map((line) => JSON.parse(line));
    expect(members.map(({ version }) => version ?? '')).toEqual(versions);
    expect(members.map(({ verdict }) => verdict)).toEqual(VERDICTS);
    const text = await run('--format', 'text');
    expect(text.map((line) => line.split('\t')[7])).toEqual(versions);
    const [header, ...rows] = await run('--format', 'csv');
    expect(header).toBe(
      'url,verdict,verdict_reason,verdict_line,verdict_rule,verdict_agent,verdict_source,verdict_version',
    );
    expect(rows.map((row) => row.split(',').at(-1))).toEqual(versions);
    await run('-o', 'out.parquet', '-a', 'bot,other');
    const file = readFileSync(join(it.path, 'out.parquet'));
    const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
    const out = await parquetReadObjects({ file: bytes as ArrayBuffer });
    expect(out.map(({ verdict_bot }) => verdict_bot)).toEqual(VERDICTS);
    expect(out.map(({ version_bot }) => version_bot ?? '')).toEqual(versions);
    expect(out.map(({ rule_other }) => rule_other ?? '').slice(0, 4)).toEqual([
      ...['Disallow: /old', '', '', 'Disallow: /'],
    ]);
    // The columns of Parquet stay, and a column of versions comes.
    it.write(
      'in.parquet',
      parquet(
        CASES.map(([, t]) => t),
        { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
      ),
    );
    const words = '-q --table h.table --time-field t --explain -o kept.parquet in.parquet';
    expect((await it.run(words)).code).toBe(0);
    const kept = readFileSync(join(it.path, 'kept.parquet'));
    const again = await parquetReadObjects({
      file: kept.buffer.slice(kept.byteOffset, kept.byteOffset + kept.length) as ArrayBuffer,
    });
    expect(again.map(({ t, version }) => [t ?? null, version ?? ''])).toEqual(
      CASES.map(([, t], index) => [t, versions[index]]),
    );
  });

  test('counts by host and reason, and selects with a mask', async () => {
    const it = await compiled();
    it.write('input.ndjson', ndjson(records));
    const run = async (more: string): Promise<string[]> =>
      lines((await it.run(`-q --table h.table --time-field t ${more} input.ndjson`)).text);
    const reasons = await run('--stats-by reason --format csv');
    expect(reasons.slice(1).sort()).toEqual([
      ...['*,before-first-capture,2', '*,no-rule,0'].slice(0, 1),
      ...['*,no-time,1', '*,rule,3', '*,unavailable,2', '*,unknown-host,1'],
    ]);
    const hosts = await run('--stats-by host --format csv');
    expect(hosts).toContain('*,a.example,4,2,2,0,0');
    const mask = await run('--format mask-ndjson');
    expect(mask.map((line) => JSON.parse(line).allowed)).toEqual(
      VERDICTS.map((verdict) => verdict === 'allow'),
    );
    const allowed = await run('--allowed');
    expect(allowed).toHaveLength(2);
  });

  test('finds what was allowed then, and is denied now', async () => {
    const it = await compiled();
    it.write('input.ndjson', ndjson(records));
    const { text } = await it.shell(
      '$rf -q --table h.table --time-field t --allowed input.ndjson | $rf -q --table h.table --denied',
    );
    expect(lines(text).map((line) => JSON.parse(line).t)).toEqual([CASES[1][1], CASES[2][1]]);
  });
});

describe('--in-force', () => {
  test('ever denies what any robots.txt denies', async () => {
    const it = await compiled();
    it.write('urls.txt', URLS.map((url) => `${url}\n`).join(''));
    const words = '-q --table h.table --in-force ever --explain urls.txt';
    const rows = lines((await it.run(words)).text).map((line) => line.split('\t'));
    expect(rows.map(([verdict, , , , rule, , , version]) => [verdict, rule, version])).toEqual(
      URLS.map((url) => {
        if (url.includes('//c.')) return ['unknown', '', ''];
        const isA = url.includes('//a.');
        return isA
          ? ['deny', 'Disallow: /', '2025-01-01T12:00:00Z']
          : ['deny', 'Disallow: /x', '2024-06-01T00:00:00Z'];
      }),
    );
  });

  test('latest is the newest by date, also without a table', async () => {
    const it = workplace();
    it.write('robots.ndjson', ndjson([...ROBOTS].reverse()));
    const asked = async (options: string): Promise<string> =>
      (await it.run(`-q ${options} --format verdicts -`, 'https://a.example/new\n')).text.trim();
    expect(await asked('--robots-dir robots.ndjson')).toBe('allow');
    expect(await asked('--robots-dir robots.ndjson --in-force latest')).toBe('deny');
    await it.run('compile -q --history --robots-dir robots.ndjson -o h.table');
    expect(await asked('--table h.table --in-force latest')).toBe('deny');
  });

  test.each([
    ['--time-field t --as-of 2024-01-01', 'both say for which time'],
    ['--in-force at', 'needs a time. Add --time-field NAME'],
    ['--in-force latest --time-field t', '--in-force latest asks for no time'],
    ['--in-force ever --as-of 2024-01-01', '--in-force ever asks for no time'],
    ['--time-field t --input text', 'has no effect on text'],
    ['--time-field url', 'both name url'],
    ['--in-force ever --preferences', '--preferences reads the newest'],
    ['--time-field t --preferences', 'compile --records --robots-dir DIR --as-of DATE -o FILE'],
    ['--as-of 2024-01-01 --preferences', 'compile --records --robots-dir DIR --as-of DATE -o FILE'],
  ])('is refused where it has no effect: %s', async (options, message) => {
    const it = await compiled();
    it.write('urls.ndjson', ndjson(records));
    const { code, stderr } = await it.run(`--table h.table ${options} urls.ndjson`);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test.each(['--time-field t', '--in-force ever'])('%s needs histories', async (option) => {
    const it = place();
    await it.run('compile -q --robots-dir robots.ndjson -o plain.table');
    it.write('urls.ndjson', ndjson(records));
    const { code, stderr } = await it.run(`--table plain.table ${option} urls.ndjson`);
    expect(code).toBe(2);
    expect(stderr).toContain('plain.table has no histories');
    const text = await it.run('--table plain.table --time-field t', 'https://a.example/\n');
    expect(text.code).toBe(2);
  });

  test('is refused on text that no option names', async () => {
    const it = await compiled();
    const { code, stderr } = await it.run('--table h.table --time-field t', `${URLS[0]}\n`);
    expect(code).toBe(2);
    expect(stderr).toContain('which have no times: --time-field has no effect');
  });
});

describe('check --history', () => {
  test.each([[''], ['--shards 3 ']])('shows each robots.txt of a URL (%s)', async (shards) => {
    const it = await compiled(`${shards}-o h.table`);
    const words = 'check --history h.table * https://a.example/old http://a.example/x';
    const { code, text, stderr } = await it.run(words);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(lines(text)).toEqual([
      'deny\thttps://a.example/old\t2024-01-01T00:00:00Z\t2024-06-01T00:00:00Z\trule\t2\tDisallow: /old\t*\trobots.ndjson:1',
      'allow\thttps://a.example/old\t2024-06-01T00:00:00Z\t2025-01-01T12:00:00Z\tunavailable',
      'deny\thttps://a.example/old\t2025-01-01T12:00:00Z\t\trule\t2\tDisallow: /\t*\trobots.ndjson:3',
      'allow\thttp://a.example/x\t2024-01-01T00:00:00Z\t2024-06-01T00:00:00Z\tno-rule',
      'allow\thttp://a.example/x\t2024-06-01T00:00:00Z\t2025-01-01T12:00:00Z\tunavailable',
      'deny\thttp://a.example/x\t2025-01-01T12:00:00Z\t\trule\t2\tDisallow: /\t*\trobots.ndjson:3',
    ]);
    // Files with dates, without a table.
    const files = await it.run(words.replace('h.table', 'robots.ndjson'));
    expect(files).toMatchObject({ code: 1, text });
    const allowed = await it.run(
      'check --history --json h.table * -',
      'https://b.example/y\nhttps://c.example/\n',
    );
    expect(allowed.code).toBe(1);
    expect(lines(allowed.text).map((line) => JSON.parse(line))).toEqual([
      {
        url: 'https://b.example/y',
        verdict: 'allow',
        since: '2024-06-01T00:00:00Z',
        until: null,
        reason: 'no-rule',
        rule: null,
      },
      {
        url: 'https://c.example/',
        verdict: 'unknown',
        since: null,
        until: null,
        reason: 'unknown-host',
        rule: null,
      },
    ]);
    expect((await it.run('check --history h.table * https://b.example/y')).code).toBe(0);
  });

  test.each([
    ['undated * https://a.example/', 'no robots.txt has a date'],
    ['undated/a.example * https://a.example/', 'is one robots.txt. Leave --history out'],
    ['plain.table * https://a.example/', 'plain.table has no histories'],
    ['h.table * /x', '/x is no http, https or ftp URL'],
    ['h.table * https://a.example/ --as-of 2024-07-01', "cannot be used with option '--as-of"],
    ['h.table * https://a.example/ --max-robots-bytes 600000', 'has no effect on a table'],
    ['h.table * https://a.example/ --profile google', 'compiled with --profile rfc9309'],
  ])('refuses %s', async (words, message) => {
    const it = await compiled();
    await it.run('compile -q --robots-dir robots.ndjson -o plain.table');
    it.write('undated/a.example', 'User-agent: *\nDisallow: /x\n');
    const { code, stderr } = await it.run(`check --history ${words}`);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('--max-age', () => {
  const DAY = 86_400_000;
  const START = Date.parse('2024-01-01T00:00:00Z');

  test('counts from the last finding of the same rules', async () => {
    const it = workplace();
    const random = new Random(4706);
    // Findings at random days; few bodies, so that many follow one of the same rules.
    const found = Array.from({ length: 120 }, () => ({
      host: `h${random.between(0, 5)}.example`,
      at: START + DAY * random.between(0, 400) + 1000 * random.between(0, 1),
      rule: random.pick(['/a', '/b']),
    }));
    const byHost = new Map<string, typeof found>();
    for (const each of found) byHost.set(each.host, [...(byHost.get(each.host) ?? []), each]);
    for (const [host, list] of byHost) {
      byHost.set(
        host,
        [...new Map(list.map((each) => [each.at, each])).values()].sort((a, b) => a.at - b.at),
      );
    }
    it.write(
      'robots.ndjson',
      ndjson(
        [...byHost.values()].flat().map(({ host, at, rule }) => ({
          host,
          robots: `User-agent: *\nDisallow: ${rule}\n`,
          fetched: new Date(at).toISOString(),
        })),
      ),
    );
    await it.run('compile -q --history --robots-dir robots.ndjson -o h.table');
    const days = 20;
    const asked = Array.from({ length: 2000 }, () => {
      const { host, at } = random.pick(found);
      const edge = random.pick([0, days * DAY]) + 1000 * random.between(-1, 1);
      const time = random.chance(0.6) ? at + edge : START + DAY * random.between(-5, 450);
      return { url: `https://${host}/a`, t: new Date(time).toISOString() };
    });
    it.write('input.ndjson', ndjson(asked));
    const words = `-q --table h.table --time-field t --max-age ${days}d --explain --format text input.ndjson`;
    const { code, text, stderr } = await it.run(words);
    expect(code, stderr).toBe(0);
    const rows = lines(text).map((line) => line.split('\t'));
    const seen = { old: 0, fresh: 0, confirmed: 0, between: 0 };
    for (const [index, { url, t }] of asked.entries()) {
      const list = byHost.get(new URL(url).host) ?? [];
      const time = Math.floor(Date.parse(t) / 1000) * 1000;
      const place = list.findLastIndex(({ at }) => at <= time);
      const last = list[place];
      const isBetween = list[place + 1]?.rule === last?.rule;
      let expected = 'before-first-capture';
      if (last !== undefined) {
        const isOld = !isBetween && time - last.at > days * DAY;
        expected = isOld ? 'no-recent-capture' : last.rule === '/a' ? 'rule' : 'no-rule';
        if (isOld) seen.old++;
        else seen.fresh++;
        if (isBetween && time - last.at > days * DAY) seen.between++;
        if (!isOld && list[place - 1]?.rule === last.rule) seen.confirmed++;
      }
      expect(rows[index]?.[2], `${url} at ${t}`).toBe(expected);
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
    const asOf = await it.run(
      '-q --table h.table --as-of 2030-01-01 --max-age 9d --stats-by reason --format csv input.ndjson',
    );
    expect(lines(asOf.text)[1]).toBe('*,no-recent-capture,2000');
    const late = await it.run('--table h.table --as-of 2030-01-01 --max-age 9d input.ndjson');
    expect(late.stderr).toContain(
      'were last found too long before the time. Use a greater --max-age',
    );
    const allowed = await it.run(`${words} --unknown allow`);
    expect(allowed.text).not.toMatch(/^unknown/m);
  });

  test.each([[''], ['--shards 2 ']])('counts captures that say the same (%s)', async (shards) => {
    const it = workplace();
    const capture = (date: string, path: string) =>
      captureOf('https://a.example/robots.txt', responseOf(200, robotsOf(path)), { date });
    it.write(
      'a.warc',
      Buffer.concat([
        capture('2024-01-01T00:00:00Z', '/x'),
        capture('2024-06-01T00:00:00Z', '/x'),
        capture('2024-03-01T00:00:00Z', '/x'),
        capture('2025-01-01T00:00:00Z', '/y'),
      ]),
    );
    const compile = await it.run(`compile -q --history --robots-dir a.warc ${shards}-o h.table`);
    expect(compile.code, compile.stderr).toBe(0);
    const verified = await it.run('inspect h.table --verify');
    expect(verified.code, verified.stderr).toBe(0);
    const history = lines((await it.run('inspect h.table https://a.example --history')).text);
    expect(history).toHaveLength(3);
    const verdict = async (date: string): Promise<string> => {
      const asked = ['--table h.table', '--robots-dir a.warc'].map(async (source) => {
        const words = `-q ${source} --as-of ${date} --max-age 30d --format verdicts -`;
        return (await it.run(words, 'https://a.example/x\n')).text.trim();
      });
      const [verdict = '', compiled] = await Promise.all(asked);
      expect(compiled).toBe(verdict);
      return verdict;
    };
    expect(await verdict('2024-05-01')).toBe('deny');
    expect(await verdict('2024-06-30')).toBe('deny');
    expect(await verdict('2024-07-02')).toBe('unknown');
    expect(await verdict('2025-01-02')).toBe('allow');
    const table = await Table.open(join(it.path, 'h.table'));
    const dates = ['2024-05-01', '2024-06-30', '2024-07-02', '2025-01-02'];
    const at = dates.map((date) => new Date(date));
    const urls = dates.map(() => 'https://a.example/x');
    const expected = ['deny', 'deny', 'unknown', 'allow'];
    expect(table.verdicts(urls, '*', { at, maxAge: 30 })).toEqual(expected);
    expect(
      at.map((time) => table.verdict('https://a.example/x', '*', { at: time, maxAge: 30 }).reason),
    ).toEqual(['rule', 'rule', 'no-recent-capture', 'no-rule']);
  });

  test.each([
    ['--max-age 9d', 'needs a time, from which the age is counted'],
    ['--max-age 9 --as-of 2024-01-01', 'Give a number of days, such as 90d'],
  ])('is refused: %s', async (options, message) => {
    const it = await compiled();
    const { code, stderr } = await it.run(`--table h.table ${options}`, 'https://a.example/\n');
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
