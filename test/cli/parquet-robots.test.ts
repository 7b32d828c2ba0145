import { readFileSync } from 'node:fs';
import type { SchemaElement } from 'hyparquet';
import { type ColumnSource, parquetWriteBuffer, schemaFromColumnData } from 'hyparquet-writer';
import { expect } from 'vitest';
import { FILE } from '../../src/parquet/footer.js';
import { i32, listOf, type ThriftStruct, text } from '../../src/parquet/thrift.js';
import { fixturePath, withFooter } from '../parquet/parquet-fixtures.js';
import { lines, test, Workplace } from './command-line.js';

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

test('robots.txt files come from the rows of a Parquet file, alone or in a directory', async ({
  empty: place,
}) => {
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
  const alone = await place.run('--robots-dir bodies.parquet --explain', urls);
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
  const directory = await place.run('--robots-dir d -q', urls);
  expect(directory.text.split('\n')[1]).toBe('allow\thttps://two.example/b');
  for (const threads of ['1', '3']) {
    const table = ['compile', '--robots-dir', 'd', '-q', '-o', `t${threads}`];
    expect((await place.run(table)).code).toBe(0);
  }
  expect(place.read('t1')).toBe(place.read('t3'));
});

test('a status decides as in a record, and many rows keep their order', async ({
  empty: place,
}) => {
  const count = 800;
  const hosts = Array.from({ length: count }, (_, row) => `h${row % 272}.example`);
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
  const { code, text } = await place.run('--robots-dir many.parquet -q', urls.join('\n'));
  expect(code).toBe(0);
  expect(lines(text).map((line) => line.split('\t')[0])).toEqual(expected);
});

test('--host-column and --robots-column take the place of the usual names', async ({
  empty: place,
}) => {
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
  place.write('n.ndjson', '{"host":"a.example","robots":""}\n');
  place.write('e/a.example.txt', '');
  for (const [wrong, message] of [
    [['--robots-dir', '-', '--status-column', 'c', 'urls.txt'], 'and standard input has none'],
    ...['--host-column', '--robots-column', '--status-column'].map(
      (option) =>
        [
          ['--robots-dir', 'n.ndjson', option, 'c'],
          `${option} names a column of Parquet, and n.ndjson has none. Leave it out`,
        ] as const,
    ),
    [['--robots-dir', 'e', '--date-column', 'c'], 'and e has none. Leave it out'],
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

test('a Parquet file without such columns, or a damaged one, is refused', async ({
  empty: place,
}) => {
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

/** A column of one type, with its values for four hosts. */
type Odd = readonly [type: SchemaElement, data: unknown[]];

const optional = { name: 'status', repetition_type: 'OPTIONAL' } as const;

/** The verdicts on `/a` of four hosts, whose robots.txt come with these statuses. */
async function verdictsWith([type, data]: Odd) {
  const place = new Workplace();
  const names = ['a', 'b', 'c', 'd'];
  const columnData: ColumnSource[] = [
    { name: 'host', data: names.map((name) => `${name}.example`) },
    { name: 'robots', data: names.map(() => RULES.replace('/a', '/')) },
    { name: type.name, data },
  ];
  const schema = schemaFromColumnData({ columnData, schemaOverrides: { [type.name]: type } });
  const bytes = parquetWriteBuffer({ columnData, schema });
  place.write('s.parquet', new Uint8Array(bytes));
  const { code, text, stderr } = await place.run(
    ['--robots-dir', 's.parquet', '--explain'],
    names.map((name) => `https://${name}.example/a\n`).join(''),
  );
  const verdicts = lines(text).map((line) => line.split('\t')[2]);
  return { code, verdicts, stderr };
}

const DECIMAL = { ...optional, converted_type: 'DECIMAL' } as const;
const AS_STATUS = ['rule', 'unavailable', 'unreachable', 'rule'];
const WHOLE: [string, ...Odd][] = [
  ['DOUBLE', { ...optional, type: 'DOUBLE' }, [200, 404, 503, null]],
  ['FLOAT', { ...optional, type: 'FLOAT' }, [200, 404, 503, null]],
  [
    'FLOAT16',
    {
      ...optional,
      type: 'FIXED_LEN_BYTE_ARRAY',
      type_length: 2,
      logical_type: { type: 'FLOAT16' },
    },
    [200, 404, 503, null],
  ],
  ['INT64', { ...optional, type: 'INT64' }, [200n, 404n, 503n, null]],
  ['UINT_16', { ...optional, type: 'INT32', converted_type: 'UINT_16' }, [200, 404, 503, null]],
  [
    'decimal in INT32',
    { ...DECIMAL, type: 'INT32', precision: 9, scale: 2 },
    [20000n, 40400n, 50300n, null],
  ],
  [
    'decimal in INT64',
    { ...DECIMAL, type: 'INT64', precision: 18, scale: 9 },
    [200_000_000_000n, 404_000_000_000n, 503_000_000_000n, null],
  ],
  [
    'decimal in FIXED_LEN_BYTE_ARRAY',
    { ...DECIMAL, type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, precision: 38, scale: 1 },
    [2000n, 4040n, 5030n, null],
  ],
  [
    'decimal in BYTE_ARRAY',
    { ...DECIMAL, type: 'BYTE_ARRAY', precision: 38, scale: 0 },
    [200n, 404n, 503n, null],
  ],
  [
    'text',
    { ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    ['200', '404', '503.0', null],
  ],
  ['another case', { ...optional, name: 'Status', type: 'DOUBLE' }, [200, 404, 503, null]],
  ['another name', { ...optional, name: 'status_code', type: 'DOUBLE' }, [200, 404, 503, null]],
];

test.each(WHOLE)('a status in a column of %s counts', async (_, type, data) => {
  const { code, verdicts, stderr } = await verdictsWith([type, data]);
  expect({ code, verdicts, stderr }).toEqual({ code: 0, verdicts: AS_STATUS, stderr: '' });
});

test('a value that is no status is skipped with a warning, as in NDJSON', async () => {
  const floats = await verdictsWith([
    { ...optional, type: 'DOUBLE' },
    [503.5, Number.NaN, Number.POSITIVE_INFINITY, 503],
  ]);
  const skipped = ['unknown-host', 'unknown-host', 'unknown-host', 'unreachable'];
  expect(floats).toMatchObject({ code: 0, verdicts: skipped });
  expect(floats.stderr).toContain(
    's.parquet:1: "status" is 503.5, not a status code from 100 to 999; skipped.',
  );
  const texts = await verdictsWith([
    { ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    ['abc', '503.5', '', '503'],
  ]);
  expect(texts).toMatchObject({ code: 0, verdicts: skipped });
  const decimals = await verdictsWith([
    { ...DECIMAL, type: 'INT32', precision: 9, scale: 1 },
    [5035n, -5030n, 990n, 5030n],
  ]);
  expect(decimals).toMatchObject({ code: 0, verdicts: skipped });
});

test('a column that decides and cannot be read is refused, unless all is null', async () => {
  const types: [SchemaElement, unknown, string][] = [
    [{ ...optional, type: 'BOOLEAN' }, true, 'BOOLEAN, not whole numbers'],
    [{ ...optional, type: 'INT32', converted_type: 'DATE' }, 503, 'DATE, not whole numbers'],
    [{ ...optional, name: 'url', type: 'DOUBLE' }, 1, 'DOUBLE, not text. Columns of text: host,'],
    [
      { ...optional, name: 'robots_base64', type: 'BYTE_ARRAY', converted_type: 'JSON' },
      'x',
      'JSON, not text. Columns of text: host, robots. Use --robots-column NAME.',
    ],
  ];
  for (const [type, value, message] of types) {
    const refused = await verdictsWith([type, [null, null, null, value]]);
    expect(refused).toMatchObject({ code: 2, verdicts: [] });
    expect(refused.stderr).toContain(`s.parquet: column "${type.name}" holds ${message}`);
    const nulls = await verdictsWith([type, [null, null, null, null]]);
    expect(nulls).toMatchObject({ code: 0, verdicts: ['rule', 'rule', 'rule', 'rule'] });
  }
});

test('a group in the place of a column is refused, and two columns of a name are', async ({
  empty: place,
}) => {
  const file = Buffer.from(
    parquetOf({ host: ['a.example'], robots: ['x'], other: ['y'], third: ['z'] }, [200]),
  );
  // The third column gets a group around it.
  const schemaOf = (fields: ThriftStruct) => listOf(fields, FILE.schema)?.values as ThriftStruct[];
  const grouped = withFooter(file, (fields) => {
    const schema = schemaOf(fields);
    schema.splice(
      3,
      0,
      new Map([
        [3, i32(0)],
        [4, text('status')],
        [5, i32(1)],
      ]),
    );
    schema[6]?.set(4, text('fetched'));
  });
  place.write('grouped.parquet', grouped);
  const renamed = (at: number, name: string) =>
    withFooter(file, (fields) => void schemaOf(fields)[at]?.set(4, text(name)));
  place.write('twice.parquet', renamed(3, 'host'));
  place.write('status.parquet', renamed(3, 'status'));
  place.write('code.parquet', renamed(3, 'status_code'));
  place.write(
    'case.parquet',
    withFooter(renamed(3, 'URL'), (fields) => void schemaOf(fields)[4]?.set(4, text('Url'))),
  );
  for (const [name, message] of [
    [
      'grouped',
      'column "status" is a group or a list, not a column of whole numbers. Columns of numbers or text: host, robots, status.other, third, fetched. Use --status-column NAME.',
    ],
    ['twice', 'two columns are called "host". Write the file again with different names'],
    ['status', 'two columns are called "status". Write the file again with different names'],
    [
      'code',
      "status and status_code are two columns. Use --status-column 'status' or --status-column 'status_code'",
    ],
    ['case', "URL and Url are two columns. Use --host-column 'URL' or --host-column 'Url'"],
  ]) {
    const { code, text, stderr } = await place.run(['--robots-dir', `${name}.parquet`], 'x\n');
    expect({ code, text }, name).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(`${name}.parquet: ${message}`);
  }
  const chosen = ['--robots-dir', 'grouped.parquet', '--status-column', 'fetched', '--explain'];
  expect((await place.run(chosen, 'https://a.example/')).text).toContain('\tno-group');
});

test('a body in base64 wins over a text, as in records', async ({ empty: place }) => {
  const base64 = Buffer.from('User-agent: *\nDisallow: /b\n').toString('base64');
  place.write(
    'b.parquet',
    parquetOf({
      host: ['a.example', 'b.example'],
      robots: [RULES, RULES],
      robots_base64: [base64, null],
    }),
  );
  const urls = ['a', 'b'].map((name) => `https://${name}.example/b\n`).join('');
  const run = (...more: string[]) =>
    place.run(['--robots-dir', 'b.parquet', '--format', 'verdicts', ...more], urls);
  expect((await run()).text).toBe('deny\nallow\n');
  expect((await run('--robots-column', 'robots')).text).toBe('allow\nallow\n');
});
