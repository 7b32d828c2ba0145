import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect } from 'vitest';
import { convertedUrl, readRows, SHOWN } from '../../oracle/records.js';
import { openParquet } from '../parquet/parquet-fixtures.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { lines, test, type Workplace, workplace } from './command-line.js';

const RF = '$rf --robots-dir robots -q';
const INPUTS = ['text', 'ndjson', 'json', 'csv', 'tsv', 'parquet'] as const;
const OUTPUTS = ['text', 'ndjson', 'csv', 'tsv', 'parquet'] as const;
type Input = (typeof INPUTS)[number];
type Output = (typeof OUTPUTS)[number];
/** Pairs that convert: the others write the records themselves. */
const PAIRS = INPUTS.flatMap((input) =>
  OUTPUTS.filter((output) => output !== (['json', 'parquet'].includes(input) ? 'ndjson' : input))
    .filter((output) => input !== 'parquet' || output !== 'parquet')
    .map((output) => [input, output] as const),
);

interface Row {
  readonly url: string;
  /** For `*` and for CCBot. */
  readonly verdicts: readonly [string, string];
}

/** A URL and its verdicts; what it holds decides in which inputs it can stand. */
const URLS: readonly Row[] = [
  { url: 'https://example.com/private/x', verdicts: ['deny', 'allow'] },
  { url: 'https://example.com/cc/y?a=1,2&b="q"', verdicts: ['allow', 'deny'] },
  { url: 'https://example.com/é/\u{1F600}/\u007f', verdicts: ['allow', 'allow'] },
  { url: 'https://new.example/', verdicts: ['unknown', 'unknown'] },
  { url: 'mailto:a@example.com', verdicts: ['invalid', 'invalid'] },
];
const CONTROLS: readonly Row[] = [
  { url: 'https://example.com/pri\nva\tte/\u0001x', verdicts: ['deny', 'allow'] },
  { url: ' \u0002https://example.com/cc\r\n/ \n', verdicts: ['allow', 'deny'] },
  { url: 'x\ty\nz', verdicts: ['invalid', 'invalid'] },
];

function draw(random: Random, input: Input, rows: number): Row[] {
  return Array.from({ length: rows }, (_, index) => {
    const { url, verdicts } = random.pick(input === 'text' ? URLS : [...URLS, ...CONTROLS]);
    const tail = random.chance(0.02)
      ? random.pick(['"', 'é', 'x']).repeat(random.between(0, 5000))
      : '';
    const isHost = url.endsWith('.com') || url.endsWith('z') || url.endsWith('\n');
    return { url: isHost ? url : `${url}${index}${tail}`, verdicts };
  });
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

function written(rows: readonly Row[], input: Input): string | Uint8Array {
  const urls = rows.map(({ url }) => url);
  switch (input) {
    case 'text':
      return urls.map((url) => `${url}\n`).join('');
    case 'ndjson':
      return urls
        .map((url, id) => `${JSON.stringify({ id, url, tail: { url: 'no' } })}\r\n`)
        .join('');
    case 'json':
      return JSON.stringify(
        urls.map((url, id) => (id % 2 === 0 ? url : { id, url })),
        null,
        1,
      );
    case 'csv':
    case 'tsv': {
      const delimiter = input === 'csv' ? ',' : '\t';
      return ['id', ...urls.map((_, id) => `${id}`)]
        .map((id, index) => [id, index === 0 ? 'url' : quoted(urls[index - 1] as string), 'z'])
        .map((fields) => `${fields.join(delimiter)}\n`)
        .join('');
    }
    case 'parquet':
      return new Uint8Array(
        parquetWriteBuffer({
          columnData: [
            { name: 'id', data: urls.map((_, id) => id), type: 'INT32' },
            { name: 'url', data: urls, type: 'STRING' },
          ],
          rowGroupSize: 300,
        }),
      );
  }
}

type Table = Record<string, unknown>[];

async function readParquet(bytes: Buffer): Promise<Table> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  return parquetReadObjects({ file });
}

/** The records of an output. Columns of text have these names. */
async function read(bytes: Buffer, output: Output, names: readonly string[]): Promise<Table> {
  if (output === 'parquet') return readParquet(bytes);
  const text = bytes.toString();
  if (output === 'ndjson') {
    return lines(text).map((line) => {
      const { url, verdict, verdicts } = JSON.parse(line) as Record<string, unknown>;
      const all = Object.entries((verdicts as object) ?? {}).map(([name, each]) => [
        `verdict_${name}`,
        each,
      ]);
      return { url, ...(verdict === undefined ? {} : { verdict }), ...Object.fromEntries(all) };
    });
  }
  const rows =
    output === 'text'
      ? lines(text).map((line) => {
          const fields = line.split('\t');
          return names.length === 1
            ? fields
            : [...fields.slice(1), ...(fields[0] ?? '').split(',')];
        })
      : readRows(text, output === 'csv' ? ',' : '\t');
  if (output !== 'text') expect(rows.shift()).toEqual(names);
  return rows.map((fields) => {
    expect(fields).toHaveLength(names.length);
    return Object.fromEntries(names.map((name, index) => [name, fields[index]]));
  });
}

/** The URL as the output has it: a text of characters. */
const shown = (url: string, output: Output): string =>
  Buffer.from(convertedUrl(Buffer.from(url).toString('latin1'), output), 'latin1').toString();

async function check(place: Workplace, rows: readonly Row[], input: Input, output: Output) {
  const file = `in.${input}`;
  place.write(file, written(rows, input));
  const run = async (options: string, names: readonly string[], expected: Table, way = '') => {
    const command = `${RF} --input ${input} --format ${output} ${options}`;
    const isPipe = way === 'pipe' && input !== 'parquet';
    const { code, stderr } = await place.shell(
      isPipe
        ? `cat ${file} | ${command} | cat > out`
        : `${command} ${file} ${way === 'o' ? '-o out' : '> out'}`,
    );
    expect({ code, stderr }, options).toEqual({ code: 0, stderr: '' });
    const bytes = readFileSync(join(place.path, 'out'));
    const found = await read(bytes, output, names);
    expect(found.length, options).toBe(expected.length);
    expect(JSON.stringify(found) === JSON.stringify(expected), `${options} ${way}`).toBe(true);
  };
  const urls = rows.map(({ url, verdicts }) => ({ url: shown(url, output), verdicts }));
  // Each input and each output is in a pair of either kind.
  const sum = INPUTS.indexOf(input) + OUTPUTS.indexOf(output);
  // The main thread and others take turns.
  const threads = sum % 2 === 0 ? '--threads 2' : '';
  if (sum % 3 !== 1) {
    await run(
      `${threads} -a '*,CCBot'`,
      ['url', 'verdict_*', 'verdict_CCBot'],
      urls.map(({ url, verdicts: [first, second] }) => ({
        url,
        'verdict_*': first,
        verdict_CCBot: second,
      })),
      ['pipe', 'o', 'file'][OUTPUTS.indexOf(output) % 3],
    );
    return;
  }
  const one = urls.map(({ url, verdicts: [verdict] }) => ({ url, verdict }));
  await run(threads, ['url', 'verdict'], one, 'pipe');
  const isAllowed = sum % 2 === 0;
  const wanted = isAllowed ? 'allow' : 'deny';
  const passed = urls.filter(({ verdicts: [verdict] }) => verdict === wanted);
  expect(passed.length).toBeGreaterThan(100);
  await run(
    isAllowed ? '--allowed' : '--denied',
    ['url'],
    passed.map(({ url }) => ({ url })),
  );
}

describe('conversions', () => {
  test.each(PAIRS)('%s to %s: each record once, in order, with its URL', async (input, output) => {
    const random = new Random(INPUTS.indexOf(input) * 10 + OUTPUTS.indexOf(output));
    const rows = draw(random, input, cases(1000));
    expect(new Set(rows.map(({ verdicts }) => verdicts.join())).size).toBe(5);
    if (input !== 'text') {
      expect(rows.filter(({ url }) => url.includes('\n')).length).toBeGreaterThan(150);
    }
    await check(workplace(), rows, input, output);
  });

  test('records without a URL have their beginning in its place', async ({ place }) => {
    const long = `{"url":"${'x'.repeat(3000)}`;
    place.write(
      'bad.ndjson',
      `{"link":"https://example.com/"}\n\nno\tobject\n${long}\n{"url":7}\n`,
    );
    place.write('bad.csv', 'url,b\n"https://example.com/"x,1\n,2\n"open,\n3');
    place.write('bad.txt', `https://example.com/\ta\n \n${'y'.repeat(5000)}\n`);
    const run = async (format: string, name: string, options = '') => {
      const { code, stdout } = await place.shell(`${RF} --format ${format} ${options} ${name}`);
      expect(code).toBe(0);
      return stdout;
    };
    const ndjson = [
      '{"link":"https://example.com/"}',
      'no\tobject',
      long.slice(0, SHOWN),
      '{"url":7}',
    ];
    expect(await readParquet(await run('parquet', 'bad.ndjson'))).toEqual(
      ndjson.map((url) => ({ url, verdict: 'invalid' })),
    );
    expect((await run('text', 'bad.ndjson')).toString()).toBe(
      ndjson.map((url) => `invalid\t${url.replace('\t', '')}\n`).join(''),
    );
    const rows = ['"https://example.com/"x,1', ',2', '"open,\n3'];
    expect((await run('ndjson', 'bad.csv', '--input csv')).toString()).toBe(
      rows
        .map((url) =>
          `${JSON.stringify({ url, verdict: 'invalid' })}\n`.replace('\\n3', '\\u000a3'),
        )
        .join(''),
    );
    expect(
      readRows((await run('tsv', 'bad.csv', '--input csv')).toString(), '\t').slice(1),
    ).toEqual(rows.map((url) => [url, 'invalid']));
    const texts = ['https://example.com/\ta', 'y'.repeat(SHOWN)];
    expect(
      readRows(
        (await run('csv', 'bad.txt', '--input text --max-line-bytes 4000')).toString(),
        ',',
      ).slice(1),
    ).toEqual(texts.map((url) => [url, 'invalid']));
    const nulls = parquetWriteBuffer({
      columnData: [{ name: 'url', data: ['https://example.com/', null], type: 'STRING' }],
    });
    place.write('nulls.parquet', new Uint8Array(nulls));
    expect((await run('csv', 'nulls.parquet')).toString()).toBe(
      'url,verdict\nhttps://example.com/,allow\n,invalid\n',
    );
  });

  test('--explain: the columns and members of each format', async ({ place }) => {
    place.write('a.txt', 'https://example.com/private/"\nhttps://example.com/\n');
    const run = async (format: string) =>
      (await place.shell(`${RF} --explain --format ${format} a.txt`)).stdout;
    expect((await run('csv')).toString()).toBe(
      'url,verdict,verdict_reason,verdict_line,verdict_rule,verdict_agent,verdict_source\n' +
        '"https://example.com/private/""",deny,rule,2,"Disallow: /private/","*","example.com"\n' +
        'https://example.com/,allow,no-rule,,,,"example.com"\n',
    );
    expect((await run('ndjson')).toString()).toBe(
      '{"url":"https://example.com/private/\\"","verdict":"deny","reason":"rule","rule":{"line":2,"text":"Disallow: /private/","agent":"*","source":"example.com"}}\n' +
        '{"url":"https://example.com/","verdict":"allow","reason":"no-rule"}\n',
    );
    expect(await readParquet(await run('parquet'))).toEqual([
      {
        url: 'https://example.com/private/"',
        verdict: 'deny',
        reason: 'rule',
        rule: 'Disallow: /private/',
        line: 2,
      },
      { url: 'https://example.com/', verdict: 'allow', reason: 'no-rule', rule: null, line: null },
    ]);
    place.write('a.ndjson', '{"url":"https://example.com/private/"}\n');
    const text = await place.shell(`${RF} --explain --format text a.ndjson`);
    expect(text.text).toBe(
      'deny\thttps://example.com/private/\trule\t2\tDisallow: /private/\t*\texample.com\n',
    );
  });

  test('nothing is lost beside huge records, on two threads and on twelve', async ({ place }) => {
    // Each of the longest is more than a batch. Its bytes become six in NDJSON, three in text, two
    // in CSV.
    const huge = ['\u0001', '"', 'é'];
    const rows = Array.from({ length: 1200 }, (_, index): Row => {
      const tail = index % 400 === 100 ? (huge[(index - 100) / 400] ?? '').repeat(1_100_000) : '';
      return { url: `https://example.com/private/${index}/${tail}x`, verdicts: ['deny', 'allow'] };
    });
    place.write('in.csv', written(rows, 'csv'));
    for (const [output, threads] of [
      ['ndjson', '--threads 12'],
      ['text', '--threads 2'],
      ['parquet', ''],
      ['tsv', ''],
    ] as const) {
      const { code } = await place.shell(`${RF} ${threads} --format ${output} in.csv > out`);
      expect(code).toBe(0);
      const found = await read(readFileSync(join(place.path, 'out')), output, ['url', 'verdict']);
      expect(found.length).toBe(rows.length);
      const wrong = found.findIndex(
        ({ url, verdict }, index) =>
          verdict !== 'deny' || url !== shown((rows[index] as Row).url, output),
      );
      expect(wrong, output).toBe(-1);
    }
  });

  test('a Parquet file of many rows has row groups of bounded size', async ({ place }) => {
    const count = (1 << 20) + 5000;
    const urls = Array.from({ length: count }, (_, index) => `https://example.com/${index}\n`);
    place.write('many.txt', urls.join(''));
    const { code } = await place.shell(`${RF} --threads 2 -o out.parquet many.txt`);
    expect(code).toBe(0);
    const { footer } = await openParquet(join(place.path, 'out.parquet'));
    expect(footer.rowGroups.map(({ rows }) => rows)).toEqual([1 << 20, 5000]);
    const again = await place.shell(
      `${RF} --threads 2 --format text out.parquet | cut -f2 | cmp - many.txt`,
    );
    expect(again).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('the format of the output', () => {
  const TEXT = 'https://example.com/private/\nhttps://example.com/\n';
  const CSV = 'url,verdict\nhttps://example.com/private/,deny\nhttps://example.com/,allow\n';

  test('follows the name of the output, unless --format says it', async ({ place }) => {
    place.write('a.txt', TEXT);
    for (const [name, expected] of [
      ['out.csv', CSV],
      ['OUT.CSV', CSV],
      ['out.tsv', CSV.replaceAll(',', '\t')],
      ['out.jsonl', '{"url":"https://example.com/private/","verdict":"deny"}\n'],
      ['out.ndjson', '{"url":"https://example.com/private/","verdict":"deny"}\n'],
      ['out.txt', 'deny\thttps://example.com/private/\n'],
      ['out.json', 'deny\thttps://example.com/private/\n'],
    ] as const) {
      const { code, stderr } = await place.shell(`${RF} -o ${name} a.txt`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(place.read(name).startsWith(expected), name).toBe(true);
    }
    await place.shell(`${RF} --format text -o out.csv a.txt`);
    expect(place.read('out.csv')).toBe(`deny\t${TEXT.replace('\n', '\nallow\t')}`);
    for (const name of ['out.csv.gz', 'OUT.CSV.GZ']) {
      const { text } = await place.shell(`${RF} -o ${name} a.txt && zcat < ${name}`);
      expect(text).toBe(CSV);
    }
    expect(await place.shell(`${RF} -o out.parquet.GZ a.txt`)).toMatchObject({ code: 2 });
  });

  test('of the input leaves records as they are', async ({ place }) => {
    place.write('a.ndjson', '{ "id": 1, "url":"https://example.com/"}\r\n');
    place.write('a.csv', 'id,url\r\n1,https://example.com/\r\n');
    const same = async (options: string) => {
      const [asked, usual] = [
        await place.shell(`${RF} ${options}`),
        await place.shell(`${RF} ${options.replace(/--format \w+/, '')}`),
      ];
      expect(asked.code).toBe(0);
      expect(asked.text).toBe(usual.text);
      expect(asked.text).not.toBe('');
    };
    await same('--format ndjson a.ndjson');
    await same('--format csv a.csv');
    await same('--format csv --allowed a.csv');
  });

  test('--output-header names the agents', async ({ place }) => {
    place.write('a.txt', TEXT);
    const run = (options: string) => place.shell(`${RF} --format verdicts ${options}`);
    const header = "--output-header -a '*,GPTBot>CCBot'";
    expect((await run(`${header} --threads 2 a.txt a.txt`)).text).toBe(
      '*,GPTBot>CCBot\ndeny,deny\nallow,deny\ndeny,deny\nallow,deny\n',
    );
    expect((await run('--output-header -a CCBot a.txt')).text).toBe('CCBot\nallow\nallow\n');
    expect((await run(`${header} < /dev/null`)).text).toBe('*,GPTBot>CCBot\n');
  });

  test('several inputs share one header, or are refused', async ({ place }) => {
    place.write('a.txt', TEXT);
    place.write('b.ndjson', '{"url":"https://example.com/"}\n');
    place.write('c.csv', 'id,url\n1,https://example.com/\n');
    place.write('d.txt.gz', gzipSync(TEXT));
    const all = await place.shell(`${RF} --format csv a.txt b.ndjson d.txt.gz`);
    expect(all.text).toBe(`${CSV}https://example.com/,allow\n${CSV.slice(CSV.indexOf('\n') + 1)}`);
    const mixed = await place.shell(`${RF} --format csv a.txt c.csv`);
    expect(mixed.code).toBe(2);
    expect(mixed.stderr).toContain('c.csv: has another header than the first input');
    const none = await place.shell(`${RF} --format csv < /dev/null`);
    expect(none.text).toBe('url,verdict\n');
    const empty = await place.shell(`${RF} --format parquet < /dev/null`);
    expect(await readParquet(empty.stdout)).toEqual([]);
  });

  test.each([
    ['--format csv -o x.parquet', 'but -o x.parquet is Parquet'],
    ['--format parquet -o x.gz', 'compressed already'],
    ['-o x.parquet.zst', 'compressed already'],
    ['--format verdicts --allowed', 'Leave --allowed out'],
    ['--format mask-ndjson --explain', 'Leave --explain out'],
    ['--output-header', '--output-header is for --format verdicts'],
    ['--format xml', "'xml' is invalid"],
    ['--format csv --verdict-field url', 'url is both the added member'],
    ['-o x.parquet --verdict-field url', 'url is both the added member'],
    [
      "--format parquet --explain --verdict-field v -a 'A,reason_A'",
      'two columns called "v_reason_A"',
    ],
  ])('%s is refused', async (options, message) => {
    const place = workplace();
    place.write('a.txt', TEXT);
    const { code, stderr, text } = await place.shell(`${RF} ${options} a.txt`);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(message);
  });

  test('a reader that goes away ends the run quietly', async ({ place }) => {
    place.write('many.txt', 'https://example.com/\n'.repeat(100_000));
    for (const format of ['csv', 'parquet']) {
      const { code, stderr } = await place.shell(
        `set -o pipefail; ${RF} --threads 2 --format ${format} many.txt | head -c 10 > out; echo \${PIPESTATUS[0]} >&2`,
      );
      expect({ code, stderr }, format).toEqual({ code: 0, stderr: '0\n' });
    }
  });
});
