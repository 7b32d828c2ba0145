import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { decompressLz4 } from '../../src/parquet/codecs.js';
import { FILE, GROUP } from '../../src/parquet/footer.js';
import { nameOf } from '../../src/parquet/pages.js';
import {
  integerOf,
  listOf,
  ThriftReader,
  type ThriftStruct,
  textOf,
} from '../../src/parquet/thrift.js';
import {
  columnValues,
  FIXTURES,
  fixturePath,
  fixtureRows,
  openParquet,
} from '../parquet/parquet-fixtures.js';
import { lines, type Workplace } from './command-line.js';
import { parquetPlace, VERDICTS } from './parquet-place.js';

const FILTER = ['--robots-dir', 'robots', '-a', 'GPTBot'];

/** The rows of a file, as another program reads them. */
async function rowsOf(place: Workplace, name: string): Promise<Record<string, unknown>[]> {
  const bytes = readFileSync(join(place.path, name));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  return parquetReadObjects({
    file,
    compressors: {
      GZIP: (page) => gunzipSync(page),
      BROTLI: (page) => brotliDecompressSync(page),
      ZSTD: (page) => decompress(page),
      LZ4_RAW: decompressLz4,
    },
  });
}

describe('Parquet as output', () => {
  test.each(FIXTURES)('%s: all columns, and the verdict of each row', async (name) => {
    const place = parquetPlace();
    const { code, text } = await place.run([...FILTER, '-o', 'out.parquet', `${name}.parquet`]);
    expect({ code, text }).toEqual({ code: 0, text: '' });
    const before = await rowsOf(place, `${name}.parquet`);
    expect(before).toHaveLength(VERDICTS.length);
    expect(await rowsOf(place, 'out.parquet')).toEqual(
      before.map((row, index) => ({ ...row, verdict: VERDICTS[index] })),
    );
    // The pages of the other columns are the same bytes.
    const [source, output] = [
      await openParquet(join(place.path, `${name}.parquet`)),
      await openParquet(join(place.path, 'out.parquet')),
    ];
    for (const [number, group] of source.footer.rowGroups.entries()) {
      for (const [column, chunk] of group.read().columns.entries()) {
        const copy = output.footer.rowGroups[number]?.read().columns[column];
        const pieces = async (file: typeof source, of: typeof chunk) => {
          const all: Buffer[] = [];
          for await (const piece of file.bytes(of)) all.push(Buffer.from(piece));
          return Buffer.concat(all);
        };
        expect(await pieces(output, copy as typeof chunk)).toEqual(await pieces(source, chunk));
      }
    }
  });

  test('a file without rows', async () => {
    const place = parquetPlace();
    place.write('empty.parquet', readFileSync(fixturePath('empty.parquet')));
    const { code, text } = await place.run([...FILTER, '-o', 'out.parquet', 'empty.parquet']);
    expect({ code, text }).toEqual({ code: 0, text: '' });
    const columns = async (name: string) =>
      (await openParquet(join(place.path, name))).footer.leaves.map(nameOf);
    expect(await rowsOf(place, 'out.parquet')).toEqual([]);
    expect(await columns('out.parquet')).toEqual([...(await columns('empty.parquet')), 'verdict']);
    expect(await place.run([...FILTER, 'empty.parquet'])).toMatchObject({ code: 0, text: '' });
  });

  test('entries that hold a schema list the added columns, also those of partitions', async () => {
    const place = parquetPlace();
    const names = ['id', 'url'];
    const bytes = parquetWriteBuffer({
      columnData: names.map((name) => ({ name, data: ['https://shop.example/cart/1'] })),
      kvMetadata: [
        {
          key: 'org.apache.spark.sql.parquet.row.metadata',
          value: JSON.stringify({ type: 'struct', fields: names.map((name) => ({ name })) }),
        },
        { key: 'org.apache.spark.legacyDateTime', value: '' },
        { key: 'iceberg.schema', value: '{}' },
      ],
    });
    place.write('set/day=1/a.parquet', new Uint8Array(bytes));
    const entriesOf = async (...options: string[]) => {
      const args = [...FILTER, '-q', ...options, '-o', 'out.parquet', 'set'];
      expect((await place.run(args)).code).toBe(0);
      const { fields } = (await openParquet(join(place.path, 'out.parquet'))).footer;
      const pairs = listOf(fields, FILE.keyValues)?.values as ThriftStruct[];
      return pairs.map((pair) => [textOf(pair, 1), textOf(pair, 2)] as const);
    };
    const [[, schema = ''] = [], ...others] = await entriesOf();
    const { fields } = JSON.parse(schema) as { fields: { name: string }[] };
    expect(fields.map(({ name }) => name)).toEqual(['id', 'url', 'day', 'verdict']);
    expect(others.map(([key]) => key)).toEqual(['org.apache.spark.legacyDateTime']);
    // No column is added to a file without partitions: nothing changes.
    place.write('set/a.parquet', new Uint8Array(bytes));
    const kept = [...FILTER, '-q', '--denied', '-o', 'out.parquet', 'set/a.parquet'];
    expect((await place.run(kept)).code).toBe(0);
    const { fields: same } = (await openParquet(join(place.path, 'out.parquet'))).footer;
    expect(listOf(same, FILE.keyValues)?.values).toHaveLength(3);
  });

  test('a column that differs from an added one by its capitals is refused', async () => {
    const place = parquetPlace();
    const bytes = parquetWriteBuffer({
      columnData: ['url', 'Verdict'].map((name) => ({ name, data: ['https://a.example/'] })),
    });
    place.write('a.parquet', new Uint8Array(bytes));
    const { code, stderr } = await place.run([...FILTER, '-o', 'out.parquet', 'a.parquet']);
    expect(code).toBe(2);
    expect(stderr).toContain('a.parquet: has a column "Verdict" already.');
  });

  test('row groups keep their rows; those without rows are left out', async () => {
    const place = parquetPlace();
    const groupRows = async (name: string) => {
      const { fields } = (await openParquet(join(place.path, name))).footer;
      const groups = listOf(fields, FILE.rowGroups)?.values as Uint8Array[];
      return groups.map((group) => integerOf(new ThriftReader(group, 0, 0).struct(), GROUP.rows));
    };
    expect(await groupRows('empty-groups.parquet')).toEqual([0, 3, 0, 10, 0]);
    await place.run([...FILTER, '-o', 'out.parquet', 'empty-groups.parquet']);
    expect(await groupRows('out.parquet')).toEqual([3, 10]);
    await place.run([...FILTER, '--allowed', '-o', 'out.parquet', 'empty-groups.parquet']);
    expect(await groupRows('out.parquet')).not.toContain(0);
  });

  test.each(FIXTURES)('%s: --allowed and --denied keep whole rows', async (name) => {
    const place = parquetPlace();
    const before = await rowsOf(place, `${name}.parquet`);
    for (const [option, verdict] of [
      ['--allowed', 'allow'],
      ['--denied', 'deny'],
    ] as const) {
      const { code, stderr } = await place.run([
        ...FILTER,
        option,
        '--stats=json',
        '-q',
        '-o',
        'out.parquet',
        `${name}.parquet`,
      ]);
      expect(code, stderr).toBe(0);
      const kept = before.filter((_, index) => VERDICTS[index] === verdict);
      expect(kept.length).toBeGreaterThan(2);
      expect(await rowsOf(place, 'out.parquet')).toEqual(kept);
      expect(JSON.parse(lines(stderr).at(-1) ?? '')).toMatchObject({
        records: VERDICTS.length,
        passed: kept.length,
      });
      const file = await openParquet(join(place.path, 'out.parquet'));
      const urls = await columnValues(file, 'url');
      expect(urls.map(String)).toEqual(kept.map(({ url }) => url));
    }
  });

  test('--explain, several agents, --verdict-field', async () => {
    const place = parquetPlace();
    const run = async (...args: string[]) => {
      const { code, stderr } = await place.run([
        '--robots-dir',
        'robots',
        '-q',
        '-o',
        'out.parquet',
        ...args,
        'delta.parquet',
      ]);
      expect(code, stderr).toBe(0);
      const rows = await rowsOf(place, 'out.parquet');
      return rows.map((row) => Object.fromEntries(Object.entries(row).slice(11)));
    };
    const one = await run('-a', 'GPTBot', '--explain');
    expect(one.slice(1, 5)).toEqual([
      { verdict: 'deny', reason: 'rule', rule: 'Disallow: /cart/', line: 2 },
      { verdict: 'invalid', reason: 'no-url', rule: null, line: null },
      { verdict: 'allow', reason: 'rule', rule: 'Allow: /cart/help', line: 3 },
      { verdict: 'deny', reason: 'rule', rule: 'Disallow: /essays/', line: 2 },
    ]);
    const two = await run('-a', 'GPTBot,CCBot', '--verdict-field', 'v');
    expect(two.map(({ v_GPTBot }) => v_GPTBot)).toEqual(VERDICTS);
    expect(Object.keys(two[0] ?? {})).toEqual(['v_GPTBot', 'v_CCBot']);
    expect(two[4]).toEqual({ v_GPTBot: 'deny', v_CCBot: 'allow' });
    const all = await run('-a', 'GPTBot,CCBot', '--verdict-field', 'v', '--explain');
    expect(all[4]).toEqual({
      v_GPTBot: 'deny',
      v_reason_GPTBot: 'rule',
      v_rule_GPTBot: 'Disallow: /essays/',
      v_line_GPTBot: 2,
      v_CCBot: 'allow',
      v_reason_CCBot: 'no-group',
      v_rule_CCBot: null,
      v_line_CCBot: null,
    });
    // A value that is too long is reported in a record of another form.
    const long = await run('-a', 'GPTBot', '--max-line-bytes', '100');
    expect(long.map(({ verdict }) => verdict)).toEqual(
      fixtureRows().map(({ url }, row) => ((url?.length ?? 0) > 100 ? 'invalid' : VERDICTS[row])),
    );
  });

  test('several inputs, and the output in the place of an input', async () => {
    const place = parquetPlace();
    const before = await rowsOf(place, 'v1-none.parquet');
    const inputs = ['v1-none.parquet', 'v1-zstd.parquet', 'v1-none.parquet'];
    const { code, stderr } = await place.run([...FILTER, '-q', '-o', 'v1-zstd.parquet', ...inputs]);
    expect(code, stderr).toBe(0);
    const annotated = before.map((row, index) => ({ ...row, verdict: VERDICTS[index] }));
    expect(await rowsOf(place, 'v1-zstd.parquet')).toEqual([
      ...annotated,
      ...annotated,
      ...annotated,
    ]);
  });

  test.each([
    ['v1-zstd.parquet', 6],
    ['v1-snappy.parquet', 1],
  ])('rows that are kept of %s stay in its compression', async (name, codec) => {
    const place = parquetPlace();
    const { code, stderr } = await place.run([
      ...FILTER,
      '-q',
      '--allowed',
      '-o',
      'out.parquet',
      name,
    ]);
    expect(code, stderr).toBe(0);
    const { footer } = await openParquet(join(place.path, 'out.parquet'));
    const codecs = footer.rowGroups.flatMap((group) =>
      group.read().columns.map((chunk) => chunk.codec),
    );
    expect(new Set(codecs)).toEqual(new Set([codec]));
    const before = await rowsOf(place, name);
    expect(await rowsOf(place, 'out.parquet')).toEqual(
      before.filter((_, row) => VERDICTS[row] === 'allow'),
    );
  });

  test('no rows kept, and no rows at all, are files without rows', async () => {
    const place = parquetPlace();
    place.write('none/nobody.example', '');
    const none = ['--robots-dir', 'none', '--allowed', '-q', '-o', 'out.parquet'];
    expect((await place.run([...none, 'pages.parquet'])).code).toBe(0);
    expect(await rowsOf(place, 'out.parquet')).toEqual([]);
    expect((await place.run([...FILTER, '-o', 'out2.parquet', 'out.parquet'])).code).toBe(0);
    expect(await rowsOf(place, 'out2.parquet')).toEqual([]);
    const { footer } = await openParquet(join(place.path, 'out2.parquet'));
    expect(footer.leaves.map(({ path }) => path[0]).slice(-2)).toEqual(['request', 'verdict']);
  });

  test('many rows in row groups of several sizes, on several threads', async () => {
    const place = parquetPlace();
    const urls = Array.from({ length: 45_000 }, (_, row) =>
      row % 11 === 0 ? null : `https://shop.example/${row % 3 === 0 ? 'cart/' : ''}${row}`,
    );
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'row', data: urls.map((_, row) => row), type: 'INT32' },
        { name: 'url', data: urls, type: 'STRING' },
      ],
      rowGroupSize: [1, 7, 20_000, 3, 3, 3, 24_983],
    });
    place.write('many.parquet', new Uint8Array(bytes));
    const expectedRows = urls.map((url, row) => {
      const verdict = url === null ? 'invalid' : row % 3 === 0 ? 'deny' : 'allow';
      return { row, url, verdict };
    });
    const expected = JSON.stringify(expectedRows);
    for (const threads of ['1', '3']) {
      const { code, stderr } = await place.run([
        ...FILTER,
        '--threads',
        threads,
        '-q',
        '-o',
        'out.parquet',
        'many.parquet',
      ]);
      expect(code, stderr).toBe(0);
      // As text: comparing so many objects takes long.
      expect(JSON.stringify(await rowsOf(place, 'out.parquet'))).toBe(expected);
    }
  });

  test('errors leave the old file and no other', async () => {
    const place = parquetPlace();
    const damaged = Buffer.from(readFileSync(join(place.path, 'v1-zstd.parquet')));
    const sound = await openParquet(join(place.path, 'v1-zstd.parquet'));
    const chunk = sound.footer.rowGroups[0]?.read().columns[1];
    damaged.fill(0xff, chunk?.start, (chunk?.start ?? 0) + 20);
    place.write('damaged.parquet', damaged);
    place.write('urls.txt', 'https://shop.example/\n');
    place.write('out.parquet', 'old');
    const names = place.names();
    for (const [args, message] of [
      [['v1-none.parquet', 'delta.parquet', 'urls.txt'], 'urls.txt: is not Parquet, but'],
      [
        ['urls.txt', 'v1-none.parquet'],
        'v1-none.parquet: is Parquet, but the inputs before are not',
      ],
      [['v1-none.parquet', 'duckdb.parquet'], 'duckdb.parquet: its columns differ from'],
      [['--verdict-field', 'mime', 'delta.parquet'], 'a column "mime" already'],
      [['--allowed', 'damaged.parquet'], `cannot be read at byte ${(chunk?.start ?? 0) + 1}`],
      [['--strict', 'delta.parquet'], 'delta.parquet, row 3'],
    ] as const) {
      const { code, stderr } = await place.run([...FILTER, '-q', '-o', 'out.parquet', ...args]);
      expect(code, args.join(' ')).toBe(2);
      expect(stderr, args.join(' ')).toContain(message);
      expect(lines(stderr)).toHaveLength(1);
      expect(place.read('out.parquet')).toBe('old');
      expect(place.names()).toEqual(names);
    }
  });
});
