import { readFileSync } from 'node:fs';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { FILE } from '../../src/parquet/footer.js';
import { i32, listOf, type ThriftStruct, text, textOf } from '../../src/parquet/thrift.js';
import { FIXTURES, fixturePath, fixtureRows, withFooter } from '../parquet/parquet-fixtures.js';
import { lines } from './command-line.js';
import { parquetPlace, VERDICTS } from './parquet-place.js';

const FILTER = ['--robots-dir', 'robots', '-a', 'GPTBot'];

describe('Parquet as input', () => {
  test.each(FIXTURES)('%s: a record for each row, in order', async (name) => {
    const place = parquetPlace();
    const { code, text, stderr } = await place.run([...FILTER, `${name}.parquet`]);
    expect(code).toBe(0);
    expect(lines(text).map((line) => JSON.parse(line))).toEqual(
      fixtureRows().map(({ url }, row) => ({ url, verdict: VERDICTS[row] })),
    );
    expect(lines(stderr).map((line) => line.split(': ')[1])).toEqual([
      `${name}.parquet, row 3`,
      `${name}.parquet, row 9`,
      `${name}.parquet, row 13`,
    ]);
  });

  test('several files, a redirection, a column in a group, --allowed, threads', async () => {
    const place = parquetPlace();
    const one = (await place.run([...FILTER, 'delta.parquet', '-q'])).text;
    place.write('urls.txt', 'https://shop.example/cart/2\n');
    const both = await place.run([...FILTER, '-q', 'delta.parquet', 'urls.txt', 'pages.parquet']);
    expect(both.text).toBe(`${one}deny\thttps://shop.example/cart/2\n${one}`);
    const redirected = '$rf --robots-dir robots -a GPTBot -q --threads 2 < v2-zstd.parquet';
    expect((await place.shell(redirected)).text).toBe(one);
    const nested = await place.run([
      ...FILTER,
      '-q',
      '--url-field',
      'request.url',
      'delta.parquet',
    ]);
    expect(lines(nested.text)[1]).toBe(
      '{"request":{"url":"https://shop.example/cart/1"},"verdict":"deny"}',
    );
    expect(lines(nested.text)[0]).toBe('{"request":{"url":null},"verdict":"invalid"}');
    const allowed = await place.run([...FILTER, '-q', '--allowed', 'duckdb.parquet']);
    expect(lines(allowed.text).map((line) => JSON.parse(line).url)).toEqual(
      fixtureRows().flatMap(({ url }, row) => (VERDICTS[row] === 'allow' ? [url] : [])),
    );
    const strict = await place.run([...FILTER, '--strict', 'delta.parquet']);
    expect({ code: strict.code, records: lines(strict.text).length }).toEqual({
      code: 2,
      records: 2,
    });
    expect(strict.stderr).toContain('delta.parquet, row 3: no URL in the column');
  });

  test('a flat column whose name has a dot, and a group of that name', async () => {
    const place = parquetPlace();
    const flat = parquetWriteBuffer({
      columnData: [
        { name: 'request.url', data: ['https://shop.example/cart/1', null], type: 'STRING' },
        { name: 'id', data: [1, 2], type: 'INT32' },
      ],
    });
    place.write('flat.parquet', new Uint8Array(flat));
    const sound = readFileSync(fixturePath('v1-none.parquet'));
    // The column `mime` becomes `request.url`, beside the column `url` of the group `request`.
    const both = withFooter(sound, (fields) => {
      const schema = listOf(fields, FILE.schema)?.values as ThriftStruct[];
      schema.find((element) => textOf(element, 4) === 'mime')?.set(4, text('request.url'));
    });
    place.write('both.parquet', both);
    const run = async (field: string, ...files: string[]) =>
      lines((await place.run([...FILTER, '-q', '--url-field', field, ...files])).text);
    const expected = [
      '{"request.url":"https://shop.example/cart/1","verdict":"deny"}',
      '{"request.url":null,"verdict":"invalid"}',
    ];
    expect(await run('request.url', 'flat.parquet')).toEqual(expected);
    expect(await run('"request.url"', 'flat.parquet')).toEqual(expected);
    // The group wins; a run reads flat and nested columns one after another.
    const nested = await run('request.url', 'flat.parquet', 'both.parquet', 'flat.parquet');
    expect(nested.slice(0, 2)).toEqual(expected);
    expect(nested.slice(-2)).toEqual(expected);
    expect(nested[3]).toBe('{"request":{"url":"https://shop.example/cart/1"},"verdict":"deny"}');
    expect((await run('"request.url"', 'both.parquet'))[0]).toContain('{"request.url":"text/');
    const absent = await place.run([...FILTER, '--url-field', '"request.url"', 'v1-none.parquet']);
    expect(absent.stderr).toContain(
      'no column "request.url". Columns of text: url, mime, request.url.',
    );
    const quoted = await place.run([...FILTER, '--url-field', 'x', 'flat.parquet']);
    expect(quoted.stderr).toContain('Columns of text: "request.url". Use --url-field NAME.');
  });

  test('two columns of the name are refused, as are columns that hold no text', async () => {
    const place = parquetPlace();
    const sound = readFileSync(fixturePath('v1-none.parquet'));
    const changed = (change: (element: ThriftStruct) => void, name = 'mime') =>
      withFooter(sound, (fields) => {
        const schema = listOf(fields, FILE.schema)?.values as ThriftStruct[];
        for (const element of schema) if (textOf(element, 4) === name) change(element);
      });
    place.write(
      'twice.parquet',
      changed((element) => element.set(4, text('url'))),
    );
    place.write(
      'json.parquet',
      changed((element) => void element.set(6, i32(19)).delete(10), 'url'),
    );
    for (const [name, message] of [
      ['twice', 'two columns are called "url". Write the file again with different names'],
      ['json', 'column "url" holds JSON, not text'],
    ]) {
      const { code, stderr } = await place.run([...FILTER, `${name}.parquet`]);
      expect(code).toBe(2);
      expect(stderr).toContain(`${name}.parquet: ${message}`);
    }
  });

  test('bytes of a URL that are not UTF-8 come out unchanged', async () => {
    const place = parquetPlace();
    const text = readFileSync(fixturePath('v1-none.parquet')).toString('latin1');
    const changed = text.replaceAll('/cart/1', '/cart/\xff');
    expect(changed).not.toBe(text);
    place.write('bytes.parquet', Buffer.from(changed, 'latin1'));
    const filter = '$rf --robots-dir robots -a GPTBot -q';
    for (const command of [
      `${filter} bytes.parquet`,
      `${filter} -o copy.parquet bytes.parquet && ${filter} copy.parquet`,
    ]) {
      const record = '{"url":"https://shop.example/cart/\xff","verdict":"deny"}\n';
      place.write('record', Buffer.from(record, 'latin1'));
      const found = await place.shell(`(${command}) | LC_ALL=C grep -acxFf record`);
      expect(found.text, command).toBe('1\n');
    }
  });

  test('errors name the file and the remedy', async () => {
    const place = parquetPlace();
    const sound = readFileSync(fixturePath('v1-none.parquet'));
    place.write('short.parquet', sound.subarray(0, -9));
    place.write('urls.txt', 'https://shop.example/\n');
    for (const [command, message] of [
      [
        'cat delta.parquet | $rf --robots-dir robots',
        'standard input: Parquet cannot be read from a pipe',
      ],
      [
        '(dd bs=4 count=1 of=/dev/null 2>/dev/null; $rf --robots-dir robots --input parquet) < delta.parquet',
        'byte 4',
      ],
      ['$rf --robots-dir robots --input text delta.parquet', 'is a Parquet file'],
      ['$rf --robots-dir robots --input parquet urls.txt', 'does not begin with PAR1'],
      [
        '$rf --robots-dir robots short.parquet',
        `at byte ${sound.length - 13}: the file does not end`,
      ],
      [
        '$rf --robots-dir robots --url-field link delta.parquet',
        'no column "link". Columns of text: url, mime, request.url. Use --url-field NAME',
      ],
      ['$rf --robots-dir robots --url-field id delta.parquet', 'column "id" holds INT64, not text'],
      [
        '$rf --robots-dir robots --url-field tags.list.element v1-none.parquet',
        'holds lists, not text',
      ],
      [
        '$rf --robots-dir robots --agent-field tags v1-none.parquet',
        'column "tags" is a group or a list, not a column of text',
      ],
      ['$rf --robots-dir robots --verdict-field url delta.parquet', 'url is both'],
    ] as const) {
      // A kept process opens a file at its beginning.
      const isMiddle = command.startsWith('(dd');
      const { code, text, stderr } = await (isMiddle
        ? place.shellAlone(command)
        : place.shell(command));
      expect({ code, text }, command).toEqual({ code: 2, text: '' });
      expect(stderr, command).toContain(message);
      expect(lines(stderr), command).toHaveLength(1);
    }
  });

  test('a signal, or a reader that goes away, ends the run', async () => {
    const place = parquetPlace();
    const { code, stdout } = await place.shell(
      '$rf --robots-dir robots -q pages.parquet | head -n 1',
    );
    expect(code).toBe(0);
    expect(lines(stdout.toString())).toHaveLength(1);
  });
});
