import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { encodeZstd, prepareZstdEncoder } from '../../src/files/zstd/encoder.js';
import { lines, type Workplace, workplace } from './command-line.js';

beforeAll(prepareZstdEncoder);

const FETCHING = '--allow-private --pause 0 --quiet';

/** A server with one rule, and the URLs of a list that asks it. */
interface Asked {
  readonly port: number;
  readonly urls: readonly string[];
}

/** The verdicts of each list. */
const LIST_VERDICTS = ['deny', 'allow', 'invalid', 'deny'];

/** Servers on ports of their own. `requests` is who was asked for what. */
async function serve(
  count: number,
): Promise<{ readonly lists: readonly Asked[]; readonly requests: string[] }> {
  const lists: Asked[] = [];
  const requests: string[] = [];
  for (let index = 0; index < count; index++) {
    const server = createServer((request, response) => {
      requests.push(`${request.headers.host}${request.url}`);
      response.end('User-agent: *\nDisallow: /a\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    // A server that listens on a port has an address of this type.
    const { port } = server.address() as AddressInfo;
    const host = `127.0.0.1:${port}`;
    const urls = [`http://${host}/a,b`, `http://${host}/b?q="x"`, 'none', `HTTP://127.1:${port}/a`];
    lists.push({ port, urls });
  }
  return { lists, requests };
}

const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`;
const rowsOf = (urls: readonly string[], delimiter: string): string[] =>
  urls.map((url, row) => [String(row), quoted(url)].join(delimiter));

function parquetOf(urls: readonly string[], name = 'url'): Uint8Array {
  const columnData = [
    { name: 'id', data: urls.map((_, row) => row), type: 'INT32' as const },
    { name, data: [...urls], type: 'STRING' as const },
  ];
  return new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2 }));
}

/** What a list is written as. */
interface Form {
  readonly content: (urls: readonly string[]) => string;
  readonly options?: string;
}

const nested = (url: string): string => JSON.stringify({ id: 1, request: { url } });

const FORMS: Readonly<Record<string, Form>> = {
  text: { content: (urls) => urls.map((url) => `${url}\n`).join('') },
  'text with CRLF and a byte order mark': {
    content: (urls) => `\ufeff${urls.join('\r\n\r\n')}`,
  },
  NDJSON: { content: (urls) => urls.map((url) => `${JSON.stringify({ url })}\n`).join('') },
  'NDJSON with a nested URL': {
    content: (urls) => urls.map((url) => `${nested(url)}\n`).join(''),
    options: '--url-field request.url',
  },
  'a JSON array of objects': {
    content: (urls) =>
      JSON.stringify(
        urls.map((url) => JSON.parse(nested(url))),
        undefined,
        2,
      ),
    options: '--url-field request.url',
  },
  'a JSON array of strings': { content: (urls) => JSON.stringify(urls) },
  'concatenated JSON': {
    content: (urls) => urls.map((url) => JSON.stringify({ url }, undefined, 1)).join(' '),
  },
  'CSV with a header': {
    content: (urls) => `id,url\n${rowsOf(urls, ',').join('\n')}\n`,
    options: '--input csv',
  },
  'CSV with a named column': {
    content: (urls) => `id,target\r\n${rowsOf(urls, ',').join('\r\n')}`,
    options: '--input csv --url-field target',
  },
  'CSV without a header': {
    content: (urls) => `${rowsOf(urls, ',').join('\n')}\n`,
    options: '--input csv --no-header --url-field 2',
  },
  'TSV with a header': {
    content: (urls) => `id\turl\n${rowsOf(urls, '\t').join('\n')}\n`,
    options: '--input tsv',
  },
  'TSV without a header': {
    content: (urls) => `${rowsOf(urls, '\t').join('\n')}\n`,
    options: '--input tsv --header --url-field 2',
  },
};

const COMPRESSIONS: Readonly<Record<string, (content: Buffer) => Uint8Array>> = {
  plain: (content) => content,
  'gzip of two members': (content) =>
    Buffer.concat([gzipSync(content.subarray(0, 30)), gzipSync(content.subarray(30))]),
  'zstd of two frames': (content) =>
    Buffer.concat([encodeZstd(content.subarray(0, 30)), encodeZstd(content.subarray(30))]),
};

/** Runs `fetch`, then the filter; then `filter --fetch`. All must ask and decide the same. */
async function compare(
  place: Workplace,
  requests: string[],
  options: string,
  inputs: string,
  pipe = '',
): Promise<{ readonly asked: string[]; readonly verdicts: string[] }> {
  const filter = `${options} --format verdicts --quiet`;
  const fetched = await place.shell(
    `${pipe} $rf fetch --robots-dir one ${FETCHING} ${options} ${inputs}`,
  );
  expect(fetched).toMatchObject({ code: 0, text: '', stderr: '' });
  const asked = requests.splice(0).sort();
  const filtered = await place.shell(`${pipe} $rf --robots-dir one ${filter} ${inputs}`);
  expect(filtered).toMatchObject({ code: 0, stderr: '' });
  expect(requests).toEqual([]);
  const both = await place.shell(
    `${pipe} $rf --fetch --robots-dir two ${FETCHING} ${filter} ${inputs}`,
  );
  expect(both).toMatchObject({ code: 0, stderr: '' });
  expect(requests.splice(0).sort()).toEqual(asked);
  expect(both.text).toBe(filtered.text);
  // A blank line of the input is one of the output.
  return { asked, verdicts: lines(filtered.text).filter((verdict) => verdict !== '') };
}

const askedOf = (lists: readonly Asked[]): string[] =>
  lists.map(({ port }) => `127.0.0.1:${port}/robots.txt`).sort();

describe('fetch, the filter and --fetch read the same lists', () => {
  const sets = [...new Set(Object.values(FORMS).map(({ options = '' }) => options))];
  test.each(sets)('in every compression, options: "%s"', async (options) => {
    const forms = Object.keys(FORMS).filter((form) => (FORMS[form]?.options ?? '') === options);
    const place = workplace();
    const cases = forms.flatMap((form) =>
      Object.keys(COMPRESSIONS).map((compression) => ({ form, compression })),
    );
    const { lists, requests } = await serve(cases.length);
    const inputs = cases.map(({ form, compression }, index) => {
      const content = FORMS[form]?.content(lists[index]?.urls ?? []) ?? '';
      const name = `list${index}`;
      place.write(name, COMPRESSIONS[compression]?.(Buffer.from(content)) ?? '');
      return index % 2 === 0 ? name : `<(cat ${name})`;
    });
    const { asked, verdicts } = await compare(place, requests, options, inputs.join(' '));
    expect(asked).toEqual(askedOf(lists));
    // A header that was asked for is no record, although it holds a URL.
    const each = options.includes(' --header') ? LIST_VERDICTS.slice(1) : LIST_VERDICTS;
    expect(verdicts).toEqual(cases.flatMap(() => each));
  });

  test.each([
    ['a pipe', 'cat list |', ''],
    ['a pipe, called -', 'cat list |', '-'],
    ['a redirection', '', '- < list'],
    ['a redirection in zstd', '', '- < list.zst'],
  ])('from standard input: %s', async (_name, pipe, input) => {
    const place = workplace();
    const { lists, requests } = await serve(1);
    const content = lists.flatMap(({ urls }) => urls.map((url) => `${url}\n`)).join('');
    place.write('list', content);
    place.write('list.zst', encodeZstd(Buffer.from(content)));
    const { asked, verdicts } = await compare(place, requests, '', input, pipe);
    expect(asked).toEqual(askedOf(lists));
    expect(verdicts).toEqual(LIST_VERDICTS);
  });

  test.each([
    ['files, directories and partitions', ['a.parquet', 'b.parquet', 'index'], ''],
    ['a named column', ['named.parquet'], '--url-field target'],
    ['a file without an ending', ['pages'], ''],
    ['standard input', ['- < pages'], ''],
  ])('Parquet: %s', async (_name, inputs, options) => {
    const place = workplace();
    const { lists, requests } = await serve(inputs.length);
    const parts = inputs.map((input, index) => {
      const urls = lists[index]?.urls ?? [];
      if (input === 'index') {
        place.write('index/crawl=1/part=a/x.parquet', parquetOf(urls.slice(0, 3)));
        place.write('index/crawl=2/part=b/x.PARQUET', parquetOf(urls.slice(3)));
        return input;
      }
      const name = input.replace('- < ', '');
      place.write(name, parquetOf(urls, options === '' ? 'url' : 'target'));
      return input;
    });
    const { asked, verdicts } = await compare(place, requests, options, parts.join(' '));
    expect(asked).toEqual(askedOf(lists));
    expect(verdicts).toEqual(inputs.flatMap(() => LIST_VERDICTS));
  });
});

describe('fetch and the filter refuse the same lists', () => {
  const PARQUET = parquetOf(['http://127.0.0.1:1/']);
  test.each([
    ['Parquet from a pipe', PARQUET, 'cat list |', '', 'Write it to a file first'],
    ['Parquet from <( )', PARQUET, '', '<(cat list)', 'Write it to a file first'],
    ['Parquet in gzip', gzipSync(PARQUET), '', 'list', 'list: '],
    [
      'a column that is not there',
      'id,url\n1,http://127.0.0.1:1/\n',
      '',
      '--url-field x list',
      'x',
    ],
    [
      'gzip that is cut off',
      gzipSync('http://127.0.0.1:1/\n').subarray(0, -9),
      '',
      'list',
      'is damaged',
    ],
    ['a URL field in text', 'http://127.0.0.1:1/\n', '', '--url-field x list', 'no effect'],
    ['a directory', undefined, '', 'robots', 'robots: is a directory'],
  ])('%s', async (_name, content, before, argument, message) => {
    const place = workplace();
    if (content !== undefined) place.write('list', content);
    const fetched = await place.shell(`${before} $rf fetch --robots-dir one ${argument}`);
    const filtered = await place.shell(`${before} $rf --robots-dir robots -q ${argument}`);
    expect(fetched.stderr).toContain(message);
    expect(lines(fetched.stderr)).toHaveLength(1);
    // The filter has judged what came before the damage.
    expect(filtered).toMatchObject({ code: 2, stderr: fetched.stderr });
    expect(fetched).toMatchObject({ code: 2, text: '' });
  });
});
