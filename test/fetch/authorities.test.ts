import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authorities } from '../../src/fetch/authorities.js';
import { RecordLocator } from '../../src/kernel/session.js';
import { filterStream, Table, TableBuilder } from '../../src/library/index.js';
import { openInput } from '../../src/pipeline/input/open.js';
import { formatAuthority, parseAuthority } from '../../src/protocol/authority.js';
import { Random } from '../random/random.js';

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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function tableOf(): Table {
  const builder = new TableBuilder();
  const authority = parseAuthority('other.example');
  if (authority === undefined) throw new Error('no authority');
  builder.add(authority, Buffer.alloc(0), { source: '' });
  return Table.from(builder.build());
}

/** Lines near JSON objects with a URL: some are none, and some only a lenient reader takes. */
function jsonLines(random: Random, count: number): string[] {
  const urls = [
    '"https://a.example/"',
    '"http://b.example:81/x\\u0079"',
    '"HTTPS:\\/\\/c.example"',
    '"https://\\ud800.example/"',
    '"mailto:x"',
    '"\\x"',
  ];
  const others = ['"a\tb"', '"\x01"', '01', '1e5', '-', 'tru', '[1,,2]', '[01]', '{"a" 1}', ''];
  const member = (): string => {
    const key = random.pick(['"url"', '"url"', '"\\u0075rl"', '"a"', '"a\tb"', 'url']);
    const colon = random.chance(0.05) ? random.pick(['', ',']) : random.pick([':', ' : ']);
    return `${key}${colon}${random.pick(key === '"url"' || random.chance(0.2) ? urls : others)}`;
  };
  return Array.from({ length: count }, () => {
    const members = Array.from({ length: random.between(1, 3) }, member);
    const comma = random.chance(0.1) ? ' ' : random.pick([',', ' ,']);
    const close = random.chance(0.1) ? random.pick(['', '}x', ']']) : random.pick(['}', '} ']);
    const text = `${random.chance(0.05) ? '[' : '{'}${members.join(comma)}${close}`;
    // Some lines lose a byte, and none is blank.
    const at = random.between(1, text.length);
    return random.chance(0.1) ? text.slice(0, at) + text.slice(at + 1) : text;
  });
}

describe('the authorities of an input', () => {
  it('are those of the records that the filter takes', async () => {
    const lines = jsonLines(new Random(1), 3000);
    const bad: number[] = [];
    const filter = filterStream(tableOf(), {
      input: 'ndjson',
      output: 'verdicts',
      threads: 1,
    });
    const verdicts: Buffer[] = [];
    filter.on('data', (bytes: Buffer) => verdicts.push(bytes));
    filter.end(lines.map((line) => `${line}\n`).join(''));
    await once(filter, 'end');
    const found = Buffer.concat(verdicts).toString().split('\n').slice(0, -1);
    expect(found).toHaveLength(lines.length);
    found.forEach((verdict, index) => {
      if (verdict === 'invalid') bad.push(index);
    });
    const locator = new RecordLocator({ format: 'ndjson', urlField: ['url'], maxLineBytes: 1000 });
    const locatorBad = lines.flatMap((line, index) =>
      locator.urlOf(Buffer.from(line)) === undefined ? [index] : [],
    );
    expect(locatorBad.map((index) => lines[index])).toEqual(bad.map((index) => lines[index]));
    // Neither taken nor refused by chance, nor as JSON.parse would.
    expect(bad.length).toBeGreaterThan(1000);
    expect(bad.length).toBeLessThan(2700);
    const lenient = lines.filter((line, index) => !bad.includes(index) && !isJson(line));
    expect(lenient.length).toBeGreaterThan(20);
    const file = ['{"url":"https://first.example/"}', ...lines].map((line) => `${line}\n`).join('');
    const { records, invalid } = await read(file);
    // The filter looks up `.example`, but no file of a cache has such a name.
    const nameless = lines.filter((line, at) => !bad.includes(at) && line.includes('://.')).length;
    expect({ records, invalid: invalid - nameless }).toEqual({
      records: lines.length + 1,
      invalid: bad.length,
    });
  });

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
