import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Authorities } from '../../src/fetch/authorities.js';
import { openInput } from '../../src/pipeline/input/open.js';
import { Random } from '../random/random.js';
import { Workplace } from './command-line.js';
import { compileTwoVersions } from './two-versions.js';

/*
 * Indexes in columns against NDJSON: each line that has as many fields as its header names is
 * judged as the object with its URL and its time is.
 */

const place = new Workplace(false);
const HOSTS = ['a.example', 'b.example', 'c.example', 'unknown.example'];
const HEADER = ' CDX N b a m s k r M S V g';
const OBJECT_OF_NONE = '{}';

/** Lines, and the objects that they stand for. */
const lines: string[] = [];
const objects: string[] = [];
let faults = 0;

beforeAll(async () => {
  const random = new Random(7);
  for (let index = 0; index < 700; index++) {
    const path = random.pick(['/', '/x', '/x/y?z=1', '/%78', '/q"', '/"', "/p'a"]);
    const url = random.pick([
      `https://${random.pick(HOSTS)}${path}`,
      `https://${random.pick(HOSTS)}${path}`,
      `http://${random.pick(HOSTS)}:80${path}`,
      random.pick(['-', 'dns:a.example', 'https://']),
    ]);
    const month = random.between(1, 6);
    const key = random.pick(['com,a)/', '"com,a)/"', '"open', '\x01k', '\x02k', '-', '']);
    const rest = random.pick(['text/html 200 A - - 1 2 a.gz', '- - - - - 1 2 "a".gz']);
    const line = `${key} 20250${month}10120000 ${url} ${rest}`;
    const [text, isFault] = random.chance(0.9)
      ? [line, false]
      : [
          random.pick([
            line.slice(0, line.indexOf(url) + url.length),
            line.replace(' 1 2 ', ' 1 '),
            line.replace(url, `${url} b`),
            line.replace(url, ''),
            line.replace(' 1 2', ' 1\r2'),
            HEADER,
            key === '' ? 'k' : key,
          ]),
          true,
        ];
    lines.push(text);
    faults += isFault ? 1 : 0;
    const object = { url, when: `2025-0${month}-10T12:00:00Z` };
    objects.push(isFault ? OBJECT_OF_NONE : JSON.stringify(object));
  }
  place.write('f.ndjson', objects.map((object) => `${object}\n`).join(''));
  write('f.cdx', [HEADER, ...lines]);
  write('bare.cdx', [`k 20250101120000 dns:x t - A - - 1 2 a.gz`, ...lines]);
  place.write('crlf.cdx', [HEADER, ...lines].join('\r\n'));
  const text = [HEADER, ...lines].map((line) => `${line}\n`).join('');
  const cut = [0, 5, 400, 9000].map((at, part, all) => text.slice(at, all[part + 1]));
  place.write('f.cdx.gz', Buffer.concat(cut.map((part) => gzipSync(part))));
  await compileTwoVersions(place, HOSTS);
});

afterAll(() => place.remove());

function write(name: string, rows: readonly string[]): void {
  place.write(name, rows.map((row) => `${row}\n`).join(''));
}

/** The lines that a run writes, none of which is left out. */
async function run(words: string): Promise<string[]> {
  const { code, text, stderr } = await place.run(`${words} -q`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return text === '' ? [] : text.slice(0, -1).split('\n');
}

/** What is said of an index, with the exit status. */
async function told(words: string, input: string): Promise<string> {
  const { code, text, stderr } = await place.run(
    `--table t.table ${words} -q`.replace('  ', ' '),
    input,
  );
  expect({ code, text }).toEqual({ code: 2, text: '' });
  return stderr;
}

async function authoritiesIn(file: string) {
  const input = await openInput(join(place.path, file));
  const authorities = new Authorities({ urlField: ['url'], maxLineBytes: 2 ** 24 });
  await authorities.addInput(input);
  await input.close();
  const { records, invalid, size } = authorities;
  return { records, invalid, size };
}

const verdictsOf = (source: string) => run(`${source} --format verdicts f.ndjson`);

describe('CDX', () => {
  test.each(['--table t.table', '--table t', '--table t.table --threads 2'])(
    'is judged as its URLs are: %s',
    async (source) => {
      const verdicts = await verdictsOf(source);
      const expected = lines.map((line, at) => `${line} ${verdicts[at]}`);
      const whole = [`${HEADER} verdict`, ...expected];
      for (const file of ['f.cdx', 'f.cdx.gz', '--input cdx f.cdx', '--header f.cdx']) {
        expect(await run(`${source} ${file}`)).toEqual(whole);
      }
      const { text } = await place.shell(`cat f.cdx | $rf ${source} -q`);
      expect(text.slice(0, -1).split('\n')).toEqual(whole);
      expect((await run(`${source} bare.cdx`)).slice(1)).toEqual(expected);
      const crlf = await place.run(`${source} -q crlf.cdx`);
      expect(crlf.text).toBe(`${whole.join('\r\n')}\n`);
      expect(new Set(verdicts)).toEqual(new Set(['allow', 'deny', 'unknown', 'invalid']));
      expect(faults).toBeGreaterThan(40);
    },
  );

  test('comes out unchanged where records are chosen, with its header', async () => {
    const verdicts = await verdictsOf('--table t.table');
    for (const [option, verdict] of [
      ['--allowed', 'allow'],
      ['--denied', 'deny'],
    ]) {
      const chosen = lines.filter((_, at) => verdicts[at] === verdict);
      expect(chosen.length).toBeGreaterThan(40);
      expect(await run(`--table t.table ${option} f.cdx`)).toEqual([HEADER, ...chosen]);
    }
    const chosen = lines.filter((_, at) => verdicts[at] === 'allow');
    expect(await run('--table t.table --allowed bare.cdx')).toEqual(chosen);
  });

  test('has no empty field and no space in what is added', async () => {
    const added = ['verdict', 'reason', 'line', 'rule', 'agent', 'source'];
    const rows = await run('--table t.table --explain f.cdx');
    const objectsOf = await run('--table t.table --explain f.ndjson');
    expect(rows[0]).toBe(
      `${HEADER} ${added.map((name) => (name === 'verdict' ? name : `verdict_${name}`)).join(' ')}`,
    );
    let rules = 0;
    for (const [at, line] of lines.entries()) {
      const row = rows[at + 1] ?? '';
      expect(row.startsWith(`${line} `)).toBe(true);
      const cells = row.slice(line.length + 1).split(' ');
      const { verdict, reason, rule } = JSON.parse(objectsOf[at] ?? '');
      expect(cells).toHaveLength(added.length);
      const isCut = line.includes('\r');
      expect(cells.slice(0, 2)).toEqual([verdict, isCut ? 'return-in-line' : reason]);
      const { line: number = '-', text = '-', agent = '-' } = rule ?? {};
      expect(cells.slice(2, 5)).toEqual([String(number), text.replaceAll(' ', '%20'), agent]);
      rules += rule === undefined ? 0 : 1;
    }
    expect(rules).toBeGreaterThan(40);
    const used = await run('--robots-dir robots.ndjson --use train --verdict-field v/w f.cdx');
    expect(used[0]).toBe(`${HEADER} v/w v/w_use`);
    expect(new Set(used.slice(1).map((row) => row.split(' ').at(-1)))).toEqual(
      new Set(['-', 'unstated']),
    );
  });

  test.each(['text', 'csv', 'ndjson', 'verdicts', 'mask-ndjson'])('becomes %s', async (format) => {
    // A line without a URL becomes its beginning, and its object another one.
    const fine = lines.filter((_, at) => objects[at] !== OBJECT_OF_NONE);
    write('fine.cdx', [HEADER, ...fine]);
    place.write('fine.txt', fine.map((line) => `${line.split(' ')[2]}\n`).join(''));
    const own = await run(`--table t.table --format ${format} fine.cdx`);
    expect(own).toEqual(await run(`--table t.table --format ${format} --input text fine.txt`));
    expect(own.length).toBeGreaterThan(500);
  });

  test('has a time of its own: timestamp, b, or the number of the column', async () => {
    const expected = await run('--table h.table --time-field when --format verdicts f.ndjson');
    for (const time of ['timestamp', 'b', '2']) {
      const asked = `--table h.table --time-field ${time} --format verdicts`;
      expect(await run(`${asked} f.cdx`)).toEqual(expected);
      expect((await run(`${asked} bare.cdx`)).slice(1)).toEqual(expected);
    }
    expect(expected).not.toEqual(await verdictsOf('--table h.table'));
    const { text } = await place.run(
      '--table h.table --time-field timestamp --format verdicts',
      ' CDX b a\n2025 https://a.example/\n- https://a.example/\n20250101000000 https://a.example/x\n',
    );
    expect(text).toBe('invalid\ninvalid\ndeny\n');
    const { code, stderr } = await place.run(
      '--table h.table --time-field timestamp',
      ' CDX N a\nk https://a.example/\n',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('there is no column called b. The columns are: N, a (--time-field)');
  });

  test.each([
    [' CDX a k', 'URL A', ''],
    [' CDX k A b a', 'A http://b.example/ 20250101000000 URL', ''],
    ['CDX N a', 'k URL', ''],
    ['\ufeff CDX N b a', 'k - URL', ''],
    [' CDX N b A', 'k - URL', '--url-field A'],
    [' CDX N b a A', 'k - http://b.example/ URL', '--url-field 4'],
    ['', 'k 20250101000000 URL t 200 A 5', ''],
    ['', 'k 20250101000000 URL', ''],
    ['', 'k 20250101000000 http://b.example/ URL 5 6', '--url-field 4'],
    ['', 'k 20250101000000 URL t 200 A - 5 a.gz b c d e f', ''],
    ['', 'k 20250101000000 URL t 200 A - - 5 a.gz', ''],
    ['', 'k 20250101000000 URL t 200 A - - 5 a.gz', '--url-field a'],
    ['', 'a URL', '--input cdx --url-field 2'],
    ['', ' URL CDX a', '--input cdx --no-header --url-field 2'],
  ])('has the columns of its header or of a usual layout: %j, %j', async (header, line, words) => {
    const fill = (url: string): string => line.replace('URL', url);
    const rows = [fill('https://a.example/x/y'), fill('https://a.example/'), 'k'];
    const text = [...(header === '' ? [] : [header]), ...rows].join('\n');
    const { code, text: out } = await place.run(
      `--table t.table ${words} -q`.replace('  ', ' '),
      text,
    );
    expect(code).toBe(0);
    const [first, second, third] = rows;
    const head = header === '' ? '' : `${header.replace('\ufeff', '')} verdict\n`;
    expect(out).toBe(`${head}${first} deny\n${second} allow\n${third} invalid\n`);
  });

  test.each([
    ['no URL', '', ' CDX N k\nk A\n', 'there is no column called a. The columns are: N, k'],
    ['other delimiters', '', '\tCDX\tN\ta\n', `tr '\\t' ' ' < FILE | robots-filter --input cdx`],
    ['another layout', '--input cdx', 'k https://a.example/ 20250101000000\n', '--url-field N'],
    ['no header', '--input cdx --header', 'k 2 https://a.example/ t s k g\n', 'no header of CDX'],
    ['its header below', '--input cdx', '\n CDX a\n', 'grep . FILE'],
    ['a long line', '--input cdx', 'x'.repeat(1024 * 1024 + 1), 'within 1 MiB'],
    ['a column twice', '', ' CDX a a\n', 'the columns 1 and 2 are both called a'],
    ['a column verdict', '', ' CDX N a verdict\n', '--verdict-field NAME'],
    ['a number beyond', '--url-field 4', ' CDX N a\n', 'there is no column 4'],
  ])('with %s is refused, and says what to type', async (_name, words, input, message) => {
    expect(await told(words, input)).toContain(message);
  });

  test('of several inputs has one header, or each its own output', async () => {
    write('one.cdx', [' CDX a k', 'https://a.example/x/y A']);
    write('two.cdx', [' CDX k a', 'A https://a.example/x/y', 'B https://a.example/']);
    expect(await run('--table t.table one.cdx one.cdx')).toEqual([
      ' CDX a k verdict',
      'https://a.example/x/y A deny',
      'https://a.example/x/y A deny',
    ]);
    const { code, stderr } = await place.run('--table t.table one.cdx two.cdx');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('-o DIR/') });
    expect(await run('--table t.table --format text one.cdx two.cdx f.ndjson')).toHaveLength(703);
    await run('--table t.table --denied -o out/ one.cdx two.cdx');
    expect(place.read('out/one.cdx')).toBe(place.read('one.cdx'));
    expect(place.read('out/two.cdx')).toBe(' CDX k a\nA https://a.example/x/y\n');
  });

  test('names its bad lines, and ends at one with --strict', async () => {
    const input = `${HEADER}\n\n${lines[0]}\nshort https://a.example/\n`;
    const { stderr } = await place.run('--table t.table', input);
    expect(stderr).toContain('line 4: more or fewer fields than the header');
    const { code, text } = await place.run('--table t.table --strict', input);
    expect({ code, text: text.split('\n').length }).toEqual({ code: 2, text: 3 });
    const long = `${HEADER}\nk 20250101000000 https://a.example/${'x'.repeat(2000)} a b\n`;
    const cut = await place.run('--table t.table -q --max-line-bytes 200', long);
    expect(cut.text.split('\n')[1]).toBe(`${long.split('\n')[1]?.slice(0, 1024)} invalid`);
  });

  test('that is damaged keeps the lines before the damage, and says so', async () => {
    const whole = await run('--table t.table f.cdx');
    const bytes = gzipSync(place.read('f.cdx'));
    place.write('cut.cdx.gz', bytes.subarray(0, bytes.length - 9));
    const { code, text, stderr } = await place.run('--table t.table -q cut.cdx.gz');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('cut.cdx.gz') });
    expect(whole.join('\n').startsWith(text.trimEnd().slice(0, -20))).toBe(true);
    for (const input of ['', '\n', `${HEADER}\n`, HEADER]) {
      const { code: ended, text: out } = await place.run('--table t.table -q --input cdx', input);
      expect({ ended, out }).toEqual({ ended: 0, out: input.trim() && `${HEADER} verdict\n` });
    }
  });

  test('has hosts for `shard` and `fetch`', async () => {
    const numbers = (await run('shard --of 4 f.cdx'))
      .slice(1)
      .map((line) => line.split(' ').at(-1));
    const other = (await run('shard --of 4 f.ndjson')).map((line) => JSON.parse(line).shard);
    expect(numbers).toEqual(other.map((shard) => (shard === null ? '-' : String(shard))));
    const [own, expected] = await Promise.all(['f.cdx', 'f.ndjson'].map(authoritiesIn));
    expect(own).toEqual(expected);
    expect(own?.size).toBe(HOSTS.length * 2);
  });

  test('with a header of other columns than its lines says how to leave it out', async () => {
    const input = ' CDX N b a g\nk 2 https://a.example/\nk 2 https://a.example/x\n';
    const { stderr } = await place.run('--table t.table', input);
    const [, command = ''] = /: (tail .*) …/.exec(stderr) ?? [];
    place.write('wrong.cdx', input);
    const line = command.replace('FILE', 'wrong.cdx').replace('robots-filter', '$rf');
    const { text } = await place.shell(`${line.replace('field N', 'field 3')} --table t.table -q`);
    expect(text).toBe('k 2 https://a.example/ allow\nk 2 https://a.example/x allow\n');
    const { stderr: told } = await place.run('--table t.table', input.replace('b a', 'a b'));
    expect(told).not.toContain('--url-field a');
  });

  test('read as another format is named, and others read as CDX', async () => {
    for (const asked of ['ndjson', 'text', 'cdxj']) {
      const { stderr } = await place.run(`--table t.table --input ${asked}`, `${HEADER}\nk\n`);
      expect(stderr).toContain('Use --input cdx, or leave --input out');
    }
  });
});
