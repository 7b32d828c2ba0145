import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../random/random.js';
import { Workplace } from './command-line.js';
import { compileTwoVersions } from './two-versions.js';

/*
 * CDXJ against NDJSON: a line is a key, a time, and the object that is a record of NDJSON.
 */

const place = new Workplace(false);
const objects: string[] = [];
const prefixes: string[] = [];
const dates: string[] = [];

const HOSTS = ['a.example', 'b.example', 'c.example', 'unknown.example'];

beforeAll(async () => {
  const random = new Random(12);
  for (let index = 0; index < 700; index++) {
    const path = random.pick(['/', '/x', '/x/y?z=1', '/p\\u0061', '/%78', '/q"', '/brace{}']);
    const url = JSON.stringify(`https://${random.pick(HOSTS)}${path}`);
    const more = random.pick(['', ',"mime":"text/html"', ', "status": "200", "n": {"url": "no"}']);
    objects.push(`{"urlkey": "k",${random.pick(['', ' '])}"url":${url}${more}}`);
    const month = random.between(1, 6);
    dates.push(`2025-0${month}-10T12:00:00Z`);
    const key = random.pick(['com,a)/', 'org,b)/p"q', 'org,c)/back\\slash\\', 'net,d)/{x}', '-']);
    prefixes.push(`${key} 20250${month}10120000 `);
  }
  place.write('f.ndjson', objects.map((object) => `${object}\n`).join(''));
  const lines = objects.map((object, at) => `${prefixes[at]}${object}`);
  place.write('f.cdxj', lines.map((line) => `${line}\n`).join(''));
  place.write('crlf.cdxj', lines.join('\r\n'));
  place.write('f.cdxj.gz', gzipSync(lines.map((line) => `${line}\n`).join('')));
  await compileTwoVersions(place, HOSTS);
});

afterAll(() => place.remove());

async function run(words: string): Promise<string[]> {
  const { code, text, stderr } = await place.run(`${words} -q`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return text === '' ? [] : text.trimEnd().split('\n');
}

describe('CDXJ', () => {
  test.each(['--table t.table', '--table t', '--table t.table --threads 2'])(
    'is judged as its objects are: %s',
    async (source) => {
      const records = await run(`${source} f.ndjson`);
      const expected = records.map((record, at) => `${prefixes[at]}${record}`);
      expect(await run(`${source} f.cdxj`)).toEqual(expected);
      expect(await run(`${source} f.cdxj.gz`)).toEqual(expected);
      expect(await run(`${source} --input cdxj f.cdxj`)).toEqual(expected);
      expect(new Set(records.map((record) => JSON.parse(record).verdict))).toEqual(
        new Set(['allow', 'deny', 'unknown']),
      );
      const { text } = await place.run(`${source} -q crlf.cdxj`);
      expect(text).toBe(`${expected.join('\r\n')}\n`);
    },
  );

  test('comes out unchanged where records are chosen', async () => {
    const chosen = await run('--table t.table --allowed f.cdxj');
    const allowed = await run('--table t.table --allowed f.ndjson');
    expect(chosen.map((line) => line.slice(line.indexOf('{"urlkey"')))).toEqual(allowed);
    expect(chosen.length).toBeGreaterThan(100);
    const denied = await run('--table t.table --denied f.cdxj');
    expect(denied.length).toBe((await run('--table t.table --denied f.ndjson')).length);
  });

  test.each(['text', 'csv', 'tsv', 'verdicts', 'mask-ndjson', 'ndjson'])(
    'becomes %s',
    async (format) => {
      const converted = await run(`--table t.table --format ${format} f.cdxj`);
      const source = format === 'ndjson' ? '--format text' : `--format ${format}`;
      const other = await run(`--table t.table ${source} f.ndjson`);
      if (format !== 'ndjson') expect(converted).toEqual(other);
      else {
        const words = converted.map((line) => JSON.parse(line));
        expect(words.map(({ url, verdict }) => `${verdict}\t${new URL(url).href}`)).toEqual(
          other.map((line) => {
            const [verdict, url = ''] = line.split('\t');
            return `${verdict}\t${new URL(url).href}`;
          }),
        );
      }
    },
  );

  test('has a time of its own, called timestamp', async () => {
    place.write(
      'timed.ndjson',
      objects.map((object, at) => `${object.slice(0, -1)},"when":"${dates[at]}"}\n`).join(''),
    );
    const expected = await run('--table h.table --time-field when timed.ndjson');
    const found = await run('--table h.table --time-field timestamp f.cdxj');
    const verdictsOf = (lines: readonly string[]): string[] =>
      lines.map((line) => line.slice(line.lastIndexOf('"verdict":')));
    expect(verdictsOf(found)).toEqual(verdictsOf(expected));
    expect(new Set(verdictsOf(found)).size).toBe(3);
    // A member of another name is read from the object.
    const { text } = await place.run(
      '--table h.table --time-field at -q --input cdxj',
      'k 20250101000000 {"url":"https://a.example/x","at":"2025-05-01"}\n',
    );
    expect(text).toContain('"verdict":"allow"');
  });

  test.each([
    ['no object', '!OpenWayback-CDXJ 1.0\n', 'no-object'],
    ['a key alone', 'com,a)/\n', 'no-object'],
    ['a time alone', 'com,a)/ 20250101000000\n', 'no-object'],
    ['text after the time', 'com,a)/ 20250101000000 https://a.example/\n', 'no-object'],
    ['a broken object', 'com,a)/ 20250101000000 {"url":\n', 'no-json'],
    ['no URL', 'com,a)/ 20250101000000 {"u":1}\n', 'no-url'],
    ['a time that is none', 'com,a)/ yesterday {"url":"https://a.example/"}\n', 'no-time'],
    [
      'a long line',
      `com,a)/ 20250101000000 {"url":"https://a.example/${'x'.repeat(300)}"}\n`,
      'line-too-long',
    ],
  ])('a line with %s is invalid', async (_name, line, reason) => {
    const time =
      reason === 'no-time' ? '--table h.table --time-field timestamp' : '--table t.table';
    const words = `${time} --explain --max-line-bytes 200 --input cdxj -q`;
    const good = 'k 20250501000000 {"url":"https://a.example/x/y"}\n';
    const { code, text } = await place.run(words, `${good}\n${line}${good}`);
    const [first = '', bad = '', last = '', ...others] = text.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(others).toEqual([]);
    expect(bad).toContain(`"verdict":"invalid"`);
    expect(bad).toContain(reason);
    expect(first).toContain('"verdict":"deny"');
    expect(last).toBe(first);
  });

  test('is not taken for text, and text is not taken for it', async () => {
    for (const input of [
      'com,a)/ 2025 {"url":1}\n',
      'https://a.example/ 20250101000000 x\n',
      'k {\n',
    ]) {
      const { text } = await place.run('--table t.table -q', input);
      expect(text.split('\t')[1]).toBe(input);
    }
  });

  test('has hosts for `shard` and `fetch`', async () => {
    const sharded = await run('shard --of 4 f.cdxj');
    const other = await run('shard --of 4 f.ndjson');
    expect(sharded.map((line) => line.slice(line.lastIndexOf(',')))).toEqual(
      other.map((line) => line.slice(line.lastIndexOf(','))),
    );
  });
});
