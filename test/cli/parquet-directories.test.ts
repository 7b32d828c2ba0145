import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { fixturePath } from '../parquet/parquet-fixtures.js';
import { lines, Workplace } from './command-line.js';

const FILTER = ['--robots-dir', 'robots', '-q'];

/** A file with one URL for each of the paths. */
function urls(...paths: string[]): Uint8Array {
  const data = paths.map((path) => `https://shop.example/${path}`);
  return new Uint8Array(
    parquetWriteBuffer({ columnData: [{ name: 'url', data, type: 'STRING' }] }),
  );
}

function placeWithIndex(): Workplace {
  const place = new Workplace();
  place.write('robots/shop.example', 'User-agent: *\nDisallow: /cart/\n');
  place.write('index/crawl=2/subset=warc/b.parquet', urls('cart/4'));
  place.write('index/crawl=1/subset=robots%20txt/a.parquet', urls('1', 'cart/2'));
  place.write('index/crawl=1/subset=__HIVE_DEFAULT_PARTITION__/a.PARQUET', urls('3'));
  place.write('index/crawl=1/subset=robots%20txt/_SUCCESS', '');
  place.write('index/crawl=1/.hidden/x.parquet', 'not read');
  place.write('index/_temporary/x.parquet', 'not read');
  return place;
}

test('a directory is all Parquet files below it, with their partitions', async () => {
  const place = placeWithIndex();
  const expected = [
    { url: 'https://shop.example/3', crawl: '1', subset: null, verdict: 'allow' },
    { url: 'https://shop.example/1', crawl: '1', subset: 'robots txt', verdict: 'allow' },
    { url: 'https://shop.example/cart/2', crawl: '1', subset: 'robots txt', verdict: 'deny' },
    { url: 'https://shop.example/cart/4', crawl: '2', subset: 'warc', verdict: 'deny' },
  ];
  for (const index of ['index', 'index/']) {
    const { code, text } = await place.run([...FILTER, index]);
    expect(code).toBe(0);
    expect(lines(text).map((line) => JSON.parse(line))).toEqual(expected);
  }
  const written = async (...args: string[]): Promise<unknown[]> => {
    const { code, stderr } = await place.run([...FILTER, '-o', 'out.parquet', ...args]);
    expect(code, stderr).toBe(0);
    const bytes = readFileSync(join(place.path, 'out.parquet'));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    return parquetReadObjects({ file: file as ArrayBuffer });
  };
  expect(await written('index')).toEqual(expected);
  expect(await written('--denied', 'index')).toEqual(
    expected.slice(2).map(({ verdict: _verdict, ...row }) => row),
  );
  // A file named by its path has its partitions, too; a column of the file wins.
  expect(await written('index/crawl=2/subset=warc/b.parquet')).toEqual(expected.slice(3));
  place.write('url=x/crawl=3/c.parquet', urls('5'));
  expect(await written('url=x')).toEqual([
    { url: 'https://shop.example/5', crawl: '3', verdict: 'allow' },
  ]);
  expect((await place.run([...FILTER, 'url=x'])).text).toBe(
    '{"url":"https://shop.example/5","crawl":"3","verdict":"allow"}\n',
  );
});

test('partitions that differ, a conflict, and a directory without Parquet are refused', async () => {
  const place = placeWithIndex();
  place.write('other/crawl=1/c.parquet', urls('6'));
  place.write('verdict=x/c.parquet', urls('7'));
  place.write('empty/list.txt', 'https://shop.example/\n');
  place.write('bad/x.parquet', readFileSync(fixturePath('delta.parquet')).subarray(5));
  for (const [args, message] of [
    [['-o', 'o.parquet', 'index', 'other'], 'other/crawl=1/c.parquet: its directories have other'],
    [['-o', 'o.parquet', 'verdict=x'], 'column "verdict" already'],
    [['empty'], 'empty: is a directory. Name the files in it'],
    [['bad'], 'bad/x.parquet: '],
  ] as const) {
    const { code, stderr } = await place.run([...FILTER, ...args]);
    expect(code, args.join(' ')).toBe(2);
    expect(stderr).toContain(message);
    expect(place.names()).not.toContain('o.parquet');
  }
});
