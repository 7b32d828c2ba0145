import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authorities } from '../../src/fetch/authorities.js';
import { openInput } from '../../src/pipeline/input/open.js';
import { formatAuthority } from '../../src/protocol/authority.js';

let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'robots-authorities-'));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

async function read(bytes: string | Buffer, urlField = ['url'], most?: number) {
  const path = join(root, 'input');
  writeFileSync(path, bytes);
  const authorities = new Authorities({ urlField, maxLineBytes: 1000, most });
  const input = await openInput(path);
  try {
    await authorities.addInput(input);
  } finally {
    await input.close();
  }
  const { size, records, invalid } = authorities;
  const list = [...authorities].map(formatAuthority);
  expect(list).toHaveLength(size);
  return { list, records, invalid };
}

describe('the authorities of an input', () => {
  it('are those of its URLs, as the WHATWG URL Standard reads them', async () => {
    const lines = [
      'http://a.example/x',
      'http://a.example/y?z',
      'HTTP://A.Example:80/',
      ' http://a.example\t',
      'http:\\\\a.example\\x',
      'http://user:secret@a.example/',
      'http://a.example./',
      'http://a.ex%61mple',
      'http://a.example:8080/x',
      'https://a.example/x\r',
      'ftp://a.example:21/x',
      'http://bücher.example/',
      'http://0x7f.1/',
      'http://[::0001]:8080/',
      '',
      '   ',
      'mailto:a@a.example',
      'nonsense',
      'http://',
      'http:///',
      'http://a.example:99999/',
      'http://a.example:0/',
      `http://a.example/${'x'.repeat(2000)}`,
    ];
    expect(await read(lines.join('\n'))).toEqual({
      list: [
        'http://a.example',
        'http://a.example:8080',
        'https://a.example',
        'ftp://a.example',
        'http://xn--bcher-kva.example',
        'http://127.0.0.1',
        'http://[::1]:8080',
      ],
      records: 21,
      invalid: 7,
    });
  });

  it('are found in NDJSON, JSON arrays and gzip, at the URL field', async () => {
    const records = [
      { request: { url: 'https://a.example/1' } },
      { request: { url: 'https://b.example/1' } },
      { request: { url: 5 } },
      { request: null },
      {},
    ];
    const expected = { list: ['https://a.example', 'https://b.example'], records: 5, invalid: 3 };
    const field = ['request', 'url'];
    const ndjson = records.map((record) => JSON.stringify(record)).join('\n');
    expect(await read(ndjson, field)).toEqual(expected);
    expect(await read(gzipSync(ndjson), field)).toEqual(expected);
    expect(await read(JSON.stringify(records, undefined, 1), field)).toEqual(expected);
    expect((await read('["http://a.example/","http://b.example"]')).list).toHaveLength(2);
    expect(await read('{"url":"http://a.example"}\n{"url":\n')).toMatchObject({ invalid: 1 });
  });

  it('are found after white space before the scheme, in every format', async () => {
    for (const [index, scheme] of ['http', 'https', 'ftp'].entries()) {
      for (const space of [' ', '  ', '\t', ' \t ']) {
        const url = `${space}${scheme}://a${index}.example/x`;
        const expected = { list: [`${scheme}://a${index}.example`], records: 1, invalid: 0 };
        expect(await read(`${url}\n`), JSON.stringify(url)).toEqual(expected);
        expect(await read(`${JSON.stringify({ url })}\n`), JSON.stringify(url)).toEqual(expected);
      }
    }
  });

  it('no member that every object has is taken for a URL field', async () => {
    expect(await read('{"a":1}\n', ['__proto__'])).toMatchObject({ invalid: 1 });
  });

  it('are refused beyond a bound, with a remedy', async () => {
    const lines = Array.from({ length: 11 }, (_, index) => `http://h${index}.example/\n`).join('');
    expect((await read(lines, ['url'], 11)).list).toHaveLength(11);
    await expect(read(lines, ['url'], 10)).rejects.toThrow('Split it');
  });
});
