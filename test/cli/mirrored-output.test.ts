import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { lines, Workplace } from './command-line.js';

const FILTER = ['--robots-dir', 'robots', '--agent', 'GPTBot'];
const ROBOTS = 'User-agent: GPTBot\nDisallow: /cart/\n';
const TEA = 'https://shop.example/tea';
const CART = 'https://shop.example/cart/1';

/** A file of Parquet with the URLs, and a column of numbers. */
function parquet(...data: string[]): Uint8Array {
  const columns = [
    { name: 'url', data, type: 'STRING' as const },
    { name: 'n', data: data.map((_url, index) => index), type: 'INT32' as const },
  ];
  return new Uint8Array(parquetWriteBuffer({ columnData: columns }));
}

async function rowsOf(place: Workplace, name: string): Promise<unknown[]> {
  const bytes = readFileSync(join(place.path, name));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  return parquetReadObjects({ file: file as ArrayBuffer });
}

/** The files below a directory of the workplace. */
function filesBelow(place: Workplace, directory: string): string[] {
  const path = join(place.path, directory);
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(path, name)).isFile())
    .sort();
}

function newPlace(): Workplace {
  const place = new Workplace();
  place.write('robots/shop.example', ROBOTS);
  return place;
}

/** A workplace with an index of two partitions. */
function placeWithIndex(): Workplace {
  const place = newPlace();
  place.write('index/crawl=1/subset=warc/a.parquet', parquet(TEA, CART));
  place.write('index/crawl=2/subset=warc/a.parquet', parquet(CART, CART));
  place.write('index/crawl=2/deep/more/b.PARQUET', parquet(TEA));
  return place;
}

const INDEX = [
  'crawl=1/subset=warc/a.parquet',
  'crawl=2/deep/more/b.PARQUET',
  'crawl=2/subset=warc/a.parquet',
];

describe('-o DIR/ with a directory of Parquet', () => {
  test('has its files, with their columns and verdicts and without the partitions', async () => {
    const place = placeWithIndex();
    const { code, text, stderr } = await place.run([...FILTER, '-o', 'out/', 'index']);
    expect({ code, text, stderr }).toEqual({ code: 0, text: '', stderr: '' });
    expect(filesBelow(place, 'out')).toEqual(INDEX);
    expect(await rowsOf(place, `out/${INDEX[0]}`)).toEqual([
      { url: TEA, n: 0, verdict: 'allow' },
      { url: CART, n: 1, verdict: 'deny' },
    ]);
    expect(await rowsOf(place, `out/${INDEX[2]}`)).toEqual([
      { url: CART, n: 0, verdict: 'deny' },
      { url: CART, n: 1, verdict: 'deny' },
    ]);
  });

  test('has a file for an input of which no row is kept', async () => {
    const place = placeWithIndex();
    const run = await place.run([...FILTER, '--allowed', '--stats=json', '-o', 'out/', 'index/']);
    expect(run.code).toBe(0);
    expect(filesBelow(place, 'out')).toEqual(INDEX);
    expect(await rowsOf(place, `out/${INDEX[2]}`)).toEqual([]);
    expect(await rowsOf(place, `out/${INDEX[1]}`)).toEqual([{ url: TEA, n: 0 }]);
    const statistics = JSON.parse(run.stderr.slice(run.stderr.indexOf('{')));
    expect(statistics).toMatchObject({ complete: true, records: 5, passed: 2 });
  });

  test('keeps the partitions in which a named file or directory lies', async () => {
    const place = placeWithIndex();
    await place.run([
      ...FILTER,
      '-o',
      'out/',
      'index/crawl=1/subset=warc/a.parquet',
      'index/crawl=2',
    ]);
    expect(filesBelow(place, 'out')).toEqual(INDEX);
    await place.run([...FILTER, '-o', 'dots/', './index/crawl=2/deep/../../crawl=1']);
    expect(filesBelow(place, 'dots')).toEqual(INDEX.slice(0, 1));
    // Dots after a partition must not lead out of the directory.
    place.write('a=b/c/d.txt', `${TEA}\n`);
    place.write('urls.txt', `${TEA}\n`);
    mkdirSync(join(place.path, 'work'));
    const { code } = await place.run([
      ...FILTER,
      '-o',
      'work/out/',
      'a=b/../urls.txt',
      'a=b/c/d.txt',
    ]);
    expect(code).toBe(0);
    expect(filesBelow(place, 'work')).toEqual(['out/a=b/c/d.txt', 'out/urls.txt']);
  });

  test('changes the ending with the format', async () => {
    const place = placeWithIndex();
    place.write('more.csv.gz', gzipSync(`url\n${TEA}\n`));
    for (const [format, ending] of [
      ['ndjson', '.ndjson'],
      ['verdicts', '.txt'],
      ['mask-ndjson', '.ndjson'],
      ['csv', '.csv'],
    ] as const) {
      const out = `${format}/`;
      const args = [...FILTER, '--format', format, '-o', out, 'index', 'more.csv.gz'];
      expect((await place.run(args)).code).toBe(0);
      expect(filesBelow(place, out)).toEqual([
        ...INDEX.map((name) => name.replace(/\.parquet$/i, ending)),
        `more${ending}.gz`,
      ]);
    }
    expect(place.read(`csv/crawl=1/subset=warc/a.csv`)).toBe(
      `url,verdict\n${TEA},allow\n${CART},deny\n`,
    );
    expect(gunzipSync(readFileSync(join(place.path, 'verdicts/more.txt.gz'))).toString()).toBe(
      'allow\n',
    );
    const { code } = await place.run([...FILTER, '--format', 'parquet', '-o', 'p/', 'more.csv.gz']);
    expect(code).toBe(0);
    expect(await rowsOf(place, 'p/more.parquet')).toEqual([{ url: TEA, verdict: 'allow' }]);
  });
});

describe('-o DIR/ with files', () => {
  test('has each in its own format, compression and header', async () => {
    const place = newPlace();
    place.write('a.txt', `${TEA}\n`);
    place.write('b.csv', `id,url\n1,${CART}\n`);
    place.write('c.csv', `url,no\n${TEA},7\n`);
    place.write('d.ndjson.gz', gzipSync(`{"url":"${TEA}"}\n`));
    place.write('e.parquet', parquet(TEA));
    place.write('sub/f.jsonl', `{"url":"${CART}"}\n`);
    place.write('g.json', `[{"url":"${CART}"},{"url":"${TEA}"}]`);
    place.write('empty.txt', '');
    place.write('h.ndjson', `{"url":"${TEA}"}\n`);
    mkdirSync(join(place.path, 'zst'));
    await place.run([...FILTER, '--allowed', '-o', 'zst/h.ndjson.zst', 'h.ndjson']);
    const names = 'a.txt b.csv c.csv d.ndjson.gz e.parquet sub/f.jsonl g.json empty.txt'.split(' ');
    const inputs = [...names, 'zst/h.ndjson.zst'];
    for (const threads of ['1', '3']) {
      const out = `out${threads}/`;
      const { code, stderr } = await place.run([
        ...FILTER,
        '--threads',
        threads,
        '-o',
        out,
        ...inputs,
      ]);
      expect([code, stderr]).toEqual([0, 'robots-filter: warning: empty.txt has no records\n']);
      expect(place.read(`${out}a.txt`)).toBe(`allow\t${TEA}\n`);
      expect(place.read(`${out}b.csv`)).toBe(`id,url,verdict\n1,${CART},deny\n`);
      expect(place.read(`${out}c.csv`)).toBe(`url,no,verdict\n${TEA},7,allow\n`);
      expect(place.read(`${out}f.jsonl`)).toBe(`{"url":"${CART}","verdict":"deny"}\n`);
      expect(lines(place.read(`${out}g.json`))).toHaveLength(2);
      expect(place.read(`${out}empty.txt`)).toBe('');
      expect(await rowsOf(place, `${out}e.parquet`)).toEqual([
        { url: TEA, n: 0, verdict: 'allow' },
      ]);
      expect(gunzipSync(readFileSync(join(place.path, `${out}d.ndjson.gz`))).toString()).toBe(
        `{"url":"${TEA}","verdict":"allow"}\n`,
      );
      const zst = decompress(readFileSync(join(place.path, `${out}h.ndjson.zst`)));
      expect(Buffer.from(zst).toString()).toBe(`{"url":"${TEA}","verdict":"allow"}\n`);
    }
  });

  test('begins each file of verdicts with the agents', async () => {
    const place = newPlace();
    place.write('a.txt', `${TEA}\n`);
    place.write('b.txt', `${CART}\n`);
    await place.run([
      ...FILTER,
      '--format',
      'verdicts',
      '--output-header',
      '-o',
      'out/',
      'a.txt',
      'b.txt',
    ]);
    expect([place.read('out/a.txt'), place.read('out/b.txt')]).toEqual([
      'GPTBot\nallow\n',
      'GPTBot\ndeny\n',
    ]);
  });

  test('keeps what is complete when a later input fails, and says so', async () => {
    const place = newPlace();
    place.write('a.txt', `${TEA}\n`);
    place.write('b.txt', `${CART}\n`);
    place.write('c.csv.gz', gzipSync(`url\n${TEA}\n`).subarray(0, 20));
    place.write('out/c.csv.gz', 'old');
    place.write('out/d.txt', 'old');
    const { code, stderr } = await place.run([
      ...FILTER,
      '-o',
      'out/',
      'a.txt',
      'b.txt',
      'c.csv.gz',
      'd.txt',
    ]);
    expect(code).toBe(2);
    // The missing input is found before the first is read.
    expect(stderr).toContain('d.txt: no such file');
    expect(filesBelow(place, 'out')).toEqual(['c.csv.gz', 'd.txt']);
    const run = await place.run([...FILTER, '-o', 'out/', 'a.txt', 'b.txt', 'c.csv.gz']);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('out/ has 2 of 3 outputs, each of them complete');
    expect(run.stderr).toContain(
      'note: out/ also has 1 file that this run does not write, such as out/d.txt',
    );
    expect(filesBelow(place, 'out')).toEqual(['a.txt', 'b.txt', 'c.csv.gz', 'd.txt']);
    expect(place.read('out/c.csv.gz')).toBe('old');
  });
});

describe('-o DIR/ is refused', () => {
  function place(): Workplace {
    const place = placeWithIndex();
    place.write('a/urls.txt', `${TEA}\n`);
    place.write('b/urls.txt', `${TEA}\n`);
    place.write('a.csv', `url\n${TEA}\n`);
    place.write('a.tsv', `url\tn\n${TEA}\t1\n`);
    symlinkSync('index', join(place.path, 'link'));
    mkdirSync(join(place.path, 'dir'));
    return place;
  }

  test.each([
    [
      'for two inputs of one name',
      '-o out/ a/urls.txt b/urls.txt',
      'would both be written to out/urls.txt',
    ],
    [
      'for names that the format makes one',
      '--format ndjson -o out/ a.csv a.tsv',
      'a.csv and a.tsv would both be written to out/a.ndjson',
    ],
    ['for an input twice', '-o out/ a.csv a.csv', 'would both be written to out/a.csv'],
    ['for standard input', '-o out/', 'standard input and pipes have no name'],
    ['over the inputs', '-o a/ a/urls.txt', '-o a/ would replace the input a/urls.txt'],
    ['over another input', '-o a/ b/urls.txt a/urls.txt', 'a/urls.txt'],
    ['in an input', '-o index/out/ index', '-o index/out/ lies in index, which is an input'],
    ['in an input by a link', '-o link/out/ index', '-o link/out/ lies in index'],
    ['as an input', '-o index/ index', 'lies in index'],
    ['in the robots.txt files', '-o robots/out/ a.csv', 'robots/out/ lies in --robots-dir robots'],
  ])('%s', async (_name, args, message) => {
    const it = place();
    const before = filesBelow(it, '.');
    const { code, stderr } = await it.run([...FILTER, ...args.split(' ')]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(filesBelow(it, '.')).toEqual(before);
    expect(existsSync(join(it.path, 'out'))).toBe(false);
  });

  test('over the table, a robots.txt, a file of agents or the report', async () => {
    const it = place();
    const compiled = await it.run('compile --robots-dir robots -o dir/urls.txt');
    expect(compiled.code).toBe(0);
    it.write('dir/records.ndjson', '{"host":"shop.example","robots":""}\n');
    it.write('records.ndjson', `{"url":"${TEA}"}\n`);
    it.write('dir/a.csv', '[{"token":"a-bot","purpose":"search"}]');
    const before = new Map(filesBelow(it, 'dir').map((name) => [name, it.read(`dir/${name}`)]));
    for (const [words, message] of [
      [
        '-a GPTBot --table dir/urls.txt -o dir/ a/urls.txt',
        'dir/urls.txt would replace --table dir/urls.txt',
      ],
      [
        '-a GPTBot --robots-dir dir/records.ndjson -o dir/ records.ndjson',
        'would replace --robots-dir dir/records.ndjson',
      ],
      [
        '-a @search --robots-dir robots --agents-file dir/a.csv -o dir/ a.csv',
        'would replace --agents-file dir/a.csv',
      ],
      [
        '-a @search --robots-dir robots --agents-file dir/a.csv -o dir/a.csv a.csv',
        'would replace --agents-file dir/a.csv',
      ],
    ] as const) {
      const { code, stderr } = await it.run(words.split(' '));
      expect([code, words]).toEqual([2, words]);
      expect(stderr).toContain(message);
      const after = new Map(filesBelow(it, 'dir').map((name) => [name, it.read(`dir/${name}`)]));
      expect(after).toEqual(before);
    }
    it.write('a.html', `${TEA}\n`);
    const report = await it.run([...FILTER, '-o', 'new/', '--report', 'dir/a.html', 'a.html']);
    expect(report.code).toBe(0);
    const lost = await it.run([...FILTER, '-o', 'dir/', '--report', 'dir/a.html', 'a.html']);
    expect(lost.code).toBe(2);
    expect(lost.stderr).toContain('--report dir/a.html and an output in -o dir/ are one file');
  });

  test('for two outputs that a link makes one', async () => {
    const it = place();
    it.write('in/k=1/x/a.txt', `${TEA}\n`);
    it.write('in/k=2/x/a.txt', `${CART}\n`);
    it.write('out2/k=2/kept', '');
    symlinkSync('k=2', join(it.path, 'out2/k=1'));
    it.write('out2/b.csv', 'kept');
    symlinkSync('b.csv', join(it.path, 'out2/a.csv'));
    symlinkSync('d.csv', join(it.path, 'out2/c.csv'));
    const namesIn = () => readdirSync(join(it.path, 'out2'), { recursive: true }).sort();
    const before = namesIn();
    for (const inputs of ['in/k=1/x/a.txt in/k=2/x/a.txt', 'a.csv b.csv', 'c.csv d.csv']) {
      for (const name of inputs.split(' ')) {
        if (!existsSync(join(it.path, name))) it.write(name, `url\n${TEA}\n`);
      }
      const { code, stderr } = await it.run([...FILTER, '-o', 'out2/', ...inputs.split(' ')]);
      expect([code, inputs]).toEqual([2, inputs]);
      expect(stderr).toContain(`${inputs.replace(' ', ' and ')} would both be written to out2/`);
    }
    expect([namesIn(), it.read('out2/b.csv')]).toEqual([before, 'kept']);
  });

  test('where a file lies in the way, or shard is asked for', async () => {
    const it = place();
    it.write('file', 'kept');
    const inWay = await it.run([...FILTER, '-o', 'file/', 'a.csv']);
    expect([inWay.code, it.read('file')]).toEqual([2, 'kept']);
    expect(inWay.stderr).toContain('file/');
    const shard = await it.run('shard --of 4 -o out/ a.csv');
    expect(shard.code).toBe(2);
    expect(shard.stderr).toContain('shard has one output');
    const single = await it.run([...FILTER, '-o', 'dir', 'a.csv']);
    expect(single.code).toBe(2);
    expect(single.stderr).toContain(
      'dir: is a directory. Type -o dir/ for one output for each input',
    );
  });

  test('for a single output that the next run would read', async () => {
    const it = place();
    const { code, stderr } = await it.run([...FILTER, '-o', 'index/out.parquet', 'index']);
    expect(code).toBe(2);
    expect(stderr).toContain('-o index/out.parquet lies in index, which is an input');
    // Neither is found in a directory: a hidden name, and another format.
    for (const name of ['index/_out.parquet', 'index/out.ndjson', 'out.parquet']) {
      expect((await it.run([...FILTER, '-o', name, 'index/crawl=1'])).code, name).toBe(0);
    }
  });
});
