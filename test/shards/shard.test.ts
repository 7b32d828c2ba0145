import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { shardOf } from '../../src/table/places.js';
import { lines, test } from '../cli/command-line.js';

/** A URL, its canonical host, and the host's shards as zlib.crc32 of Python computed them. */
interface HardHost {
  readonly url: string;
  readonly host: string | null;
  readonly crc32: number | null;
  readonly of_1: number | null;
  readonly of_64: number | null;
  readonly of_1000: number | null;
}

const TEXT = readFileSync(new URL('../../fixtures/shards/hosts.ndjson', import.meta.url), 'utf8');
const HOSTS = lines(TEXT).map((line) => JSON.parse(line) as HardHost);
const VALID = HOSTS.filter(({ host }) => host !== null);

test('the shard of a canonical host is its CRC-32, as in zlib, modulo the number', () => {
  expect(VALID.length).toBeGreaterThan(30);
  expect(HOSTS.length - VALID.length).toBeGreaterThan(5);
  for (const { host, crc32, of_64: of64, of_1000: of1000 } of VALID) {
    expect([host, shardOf(host ?? '', 2 ** 32)]).toEqual([host, crc32]);
    expect(shardOf(host ?? '', 64)).toBe(of64);
    expect(shardOf(host ?? '', 1000)).toBe(of1000);
  }
});

describe('robots-filter shard', () => {
  test('adds the shard of every spelling of a host, and none to a URL that is invalid', async ({
    place,
  }) => {
    place.write('hosts.ndjson', TEXT);
    for (const [shards, member] of [
      [1, 'of_1'],
      [64, 'of_64'],
      [1000, 'of_1000'],
    ] as const) {
      const words = ['shard', '--of', String(shards), '-q', 'hosts.ndjson'];
      const { code, text } = await place.run(words);
      expect(code).toBe(0);
      const found = lines(text).map((line) => JSON.parse(line) as HardHost & { shard: number });
      expect(found).toEqual(HOSTS.map((host) => ({ ...host, shard: host[member] })));
    }
  });

  test('keeps text, CSV and TSV as the filter does', async ({ place }) => {
    const rows = HOSTS.filter(({ url }) => !/[\s"\\]/.test(url));
    place.write('urls.txt', rows.map(({ url }) => `${url}\n`).join(''));
    place.write(
      'urls.csv',
      `id,url\r\n${rows.map(({ url }, at) => `"${at}",${url}\r\n`).join('')}`,
    );
    place.write('urls.tsv', `url\tn\n${rows.map(({ url }) => `${url}\t"a\nb"\n`).join('')}`);
    const run = async (...words: string[]): Promise<string> =>
      (await place.run(['shard', '--of', '64', '-q', ...words])).text;
    const shardsOf = rows.map(({ of_64: shard }) => shard ?? '');
    expect(await run('urls.txt')).toBe(
      rows.map(({ url }, at) => `${shardsOf[at]}\t${url}\n`).join(''),
    );
    expect(await run('urls.csv')).toBe(
      `id,url,shard\r\n${rows.map(({ url }, at) => `"${at}",${url},${shardsOf[at]}\r\n`).join('')}`,
    );
    expect(await run('--field', 'part', 'urls.tsv')).toBe(
      `url\tn\tpart\n${rows.map(({ url }, at) => `${url}\t"a\nb"\t${shardsOf[at]}\n`).join('')}`,
    );
    // Another format has the URL and its shard.
    await run('-o', 'out.csv', 'urls.txt');
    expect(lines(place.read('out.csv'))[1]).toBe(`${rows[0]?.url},${shardsOf[0]}`);
  });

  test('says what to type', async ({ place }) => {
    const cases: readonly (readonly [string[], string])[] = [
      [
        ['urls.txt'],
        'shard needs the number of shards. Type: robots-filter shard --of 64 urls.txt',
      ],
      [['--of', '0'], 'Give a whole number from 1 to 4,096'],
      [['--of', '4097'], 'Give a whole number from 1 to 4,096'],
      [['--of', '4', '-o', 'x.parquet'], 'shard does not write Parquet'],
      [['--of', '4', '--field', 'url', '--input', 'ndjson'], '(--field, --url-field)'],
    ];
    for (const [words, message] of cases) {
      const { code, stderr } = await place.run(['shard', ...words]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });
});
