import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { logUrl, readLogLine, withoutLogEscapes } from '../../oracle/log.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { Workplace } from './command-line.js';

/*
 * Logs of web servers against NDJSON: a slow reader of lines makes the records that must get the
 * same verdicts.
 */

const place = new Workplace(false);
const HOSTS = ['a.example', 'b.example', 'unknown.example'];

beforeAll(async () => {
  const groups = [
    'User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nDisallow: /b\n',
    'User-agent: *\nDisallow: /b\n\nUser-agent: MyBot\nDisallow: /\nAllow: /a\n',
  ];
  const records = ['a.example', 'b.example', 'http://c.example:8080'].flatMap((host, at) => [
    { host, robots: groups[at % 2], fetched: '2025-01-01' },
    { host, robots: groups[(at + 1) % 2], fetched: '2025-04-01' },
  ]);
  place.write('robots.ndjson', records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  for (const words of ['-o t.table', '--shards 64 -o t', '--history -o h.table']) {
    const { code } = await place.run(`compile -q --robots-dir robots.ndjson ${words}`);
    expect(code).toBe(0);
  }
});

afterAll(() => place.remove());

async function run(words: string): Promise<string[]> {
  const { code, text, stderr } = await place.run(`${words} -q`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return text === '' ? [] : text.trimEnd().split('\n');
}

/** What a line means, as another reader finds it; without a URL if it is invalid. */
interface Meant {
  readonly url?: string;
  readonly time?: string;
  readonly agent?: string;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

function meaningOf(line: string, server: string | undefined): Meant {
  const read = readLogLine(line);
  if (read === undefined) return {};
  const { time, agent } = read;
  const url = logUrl(line, read, server);
  const stamp = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})$/.exec(time);
  const [, day, month = '', year, clock, zone] = stamp ?? [];
  const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0');
  return {
    ...(url === undefined ? {} : { url: Buffer.from(url, 'latin1').toString() }),
    ...(stamp === null ? {} : { time: `${year}-${number}-${day}T${clock}${zone}` }),
    ...(agent === undefined
      ? {}
      : { agent: Buffer.from(withoutLogEscapes(agent), 'latin1').toString() }),
  };
}

/** Lines as servers write them, and broken ones. */
function drawLine(random: Random, isVirtual: boolean): string {
  const server = random.pick([
    'a.example:443',
    'b.example:80',
    'a.example',
    'c.example:8080',
    'unknown.example:443',
  ]);
  const client = random.pick(['192.0.2.7', '2001:db8::7', '-']);
  const user = random.pick([
    '-',
    '-',
    'tom',
    'a b',
    'x [y]',
    'x] y',
    '\\"q\\"',
    '[01/Jan/2001:00:00:00 +0000]',
  ]);
  const month = random.pick(MONTHS.slice(0, 6));
  const time = random.chance(0.04)
    ? random.pick(['', '-', '31/Feb/2025:00:00:00 +0000', '2025'])
    : `10/${month}/2025:13:55:36 ${random.pick(['-0700', '+0000', '+0530'])}`;
  const target = random.pick([
    '/a',
    '/b',
    '/a/x?y=1',
    '/',
    '//a/b',
    '/%61',
    '/\\x61',
    '/q\\"',
    '/a b',
    '/x/../b',
    '/b\\\\c',
    '/\\xc3\\xa9',
    '/a#b',
    '/b\\t',
    '*',
    'a.example:443',
    'http://b.example/a',
    'https://A.example/b',
    'ftp://a.example/',
  ]);
  const request = random.pick([
    `GET ${target} HTTP/1.1`,
    `HEAD ${target} HTTP/2.0`,
    `POST ${target} HTTP/1.0`,
    `GET ${target}`,
    '-',
    '',
    '\\x16\\x03\\x01',
    'GET',
    'GET  HTTP/1.1',
  ]);
  const own = random.chance(0.8) ? `GET ${target} HTTP/1.1` : request;
  const agent = random.pick([
    'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)',
    'MyBot/1.0',
    'My\\"Bot\\\\GPTBot',
    'x\\xe9GPTBot',
    'x\\tGPTBot',
    '-',
    '',
    'Mozilla/5.0 (X11) Firefox/1.0',
    '\\x41 MyBot',
  ]);
  const end = random.pick([
    ` "https://r.example/\\"" "${agent}"`,
    ` "-" "${agent}"`,
    ` "-" "${agent}" "10.0.0.1"`,
    '',
    ` "-" "${agent}`,
    ' "-"',
    ` "-" "${agent}"x`,
  ]);
  const line = `${isVirtual ? `${server} ` : ''}${client} - ${user} [${time}] "${own}" ${random.pick(['200', '404', '-'])} ${random.pick(['5', '-'])}${random.chance(0.8) ? ` "-" "${agent}"` : end}`;
  if (random.chance(0.03)) return line.slice(0, random.between(0, line.length));
  return line;
}

describe.each([
  ['of a server that is named', false],
  ['whose lines begin with a host', true],
])('logs %s', (_, isVirtual) => {
  const random = new Random(isVirtual ? 5 : 6);
  const lines = Array.from({ length: cases(700) }, () => drawLine(random, isVirtual)).filter(
    (line) => line.trim() !== '',
  );
  const server = isVirtual ? undefined : 'https://a.example';
  const log = `--input log${server === undefined ? '' : ' --host a.example'} f.log`;
  const meant = lines.map((line) => meaningOf(line, server));

  beforeAll(() => {
    place.write('f.log', lines.map((line) => `${line}\n`).join(''));
    place.write('crlf.log', lines.join('\r\n'));
    place.write('f.log.gz', gzipSync(lines.map((line) => `${line}\n`).join('')));
    place.write('f.ndjson', meant.map((record) => `${JSON.stringify(record)}\n`).join(''));
  });

  test.each([
    ['--table t.table', ''],
    ['--table t.table --threads 2', ''],
    ['--table t', ''],
    ['--table h.table', '--time-field time'],
    ['--table h.table --in-force ever', ''],
    ['--robots-dir robots.ndjson --profile google', ''],
  ])('are judged as another reader reads them: %s %s', async (source, time) => {
    const words = `${source} ${time}`.trim();
    const expected = await run(`${words} --agent-field agent --format verdicts f.ndjson`);
    const own = await run(`${words} --format verdicts ${log}`);
    const shown = (verdict: string, at: number): string => `${verdict} ${lines[at]}`;
    expect(own.map(shown)).toEqual(expected.map(shown));
    const wanted = ['allow', 'deny', 'invalid', ...(isVirtual || time !== '' ? ['unknown'] : [])];
    expect(new Set(expected)).toEqual(
      new Set([...wanted, ...(expected.includes('unknown') ? ['unknown'] : [])]),
    );
  });

  test('come out as they came, with the verdict before them', async () => {
    const verdicts = await run('--table t.table --agent-field agent --format verdicts f.ndjson');
    const source = `--table t.table`;
    const annotated = lines.map((line, at) => `${verdicts[at]}\t${line}`);
    expect(await run(`${source} ${log}`)).toEqual(annotated);
    expect(await run(`${source} ${log.replace('f.log', 'f.log.gz')}`)).toEqual(annotated);
    const { text } = await place.run(`${source} -q ${log.replace('f.log', 'crlf.log')}`);
    expect(text).toBe(`${annotated.join('\r\n')}\n`);
    for (const [option, verdict] of [
      ['--allowed', 'allow'],
      ['--denied', 'deny'],
    ] as const) {
      const chosen = lines.filter((_line, at) => verdicts[at] === verdict);
      expect(chosen.length).toBeGreaterThan(50);
      expect(await run(`${source} ${option} ${log}`)).toEqual(chosen);
    }
  });

  test('become URLs in another format', async () => {
    const source = '--table t.table';
    const verdicts = await run(`${source} --agent-field agent --format verdicts f.ndjson`);
    for (const format of ['ndjson', 'csv']) {
      const own = `${source} --format ${format} -o out.${format} ${log}`;
      await run(own);
      const back = await run(
        `${source} --input ${format} -a MyBot --format verdicts out.${format}`,
      );
      const urls = meant.map(({ url = 'none' }) => `${JSON.stringify({ url })}\n`);
      place.write('urls.ndjson', urls.join(''));
      const expected = await run(`${source} -a MyBot --format verdicts urls.ndjson`);
      const isFine = (_: string, at: number): boolean => verdicts[at] !== 'invalid';
      expect(back.filter(isFine)).toEqual(expected.filter(isFine));
    }
  });
});

describe('a line of a log', () => {
  const lineOf = (request: string, agent = 'MyBot/1'): string =>
    `192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "${request}" 200 5 "-" "${agent}"`;

  test.each([
    ['GET /a HTTP/1.1', 'https://a.example/a'],
    ['GET //x HTTP/1.1', 'https://a.example//x'],
    ['GET /a b HTTP/1.1', 'https://a.example/a b'],
    ['GET /\\"\\\\\\x7f\\xc3\\xa9 HTTP/2.0', 'https://a.example/"\\\u007f\u00e9'],
    ['GET /x', 'https://a.example/x'],
    ['GET http://b.example/x HTTP/1.1', 'http://b.example/x'],
  ])('%s asks for %s', async (request, url) => {
    place.write('one.log', `${lineOf(request)}\n`);
    const words = '--table t.table --input log --host a.example --format ndjson one.log';
    expect(JSON.parse((await run(words))[0] ?? '')).toMatchObject({ url });
  });

  test.each([
    ['a.example', 'https://a.example/x'],
    ['a.example:443', 'https://a.example/x'],
    ['a.example:80', 'http://a.example/x'],
    ['A.Example:8080', 'http://a.example:8080/x'],
    ['http://a.example', 'http://a.example/x'],
    ['[::1]:8443', 'http://[::1]:8443/x'],
    ['https://a.example:8443', 'https://a.example:8443/x'],
  ])('belongs to the server %s', async (host, url) => {
    place.write('one.log', `${lineOf('GET /x HTTP/1.1')}\n`);
    const words = `--table t.table --input log --host ${host} --format ndjson one.log`;
    expect(JSON.parse((await run(words))[0] ?? '')).toMatchObject({ url });
  });

  test('that is broken is counted, and named', async () => {
    place.write('one.log', `${lineOf('-')}\n\n${lineOf('GET /a HTTP/1.1').slice(0, -1)}\n`);
    const { text, stderr } = await place.run(
      '--table t.table --input log --host a.example one.log',
    );
    expect(text.split('\n').map((line) => line.split('\t')[0])).toEqual(['invalid', 'invalid', '']);
    expect(stderr).toContain(
      'one.log, line 1: no request for a path or a URL, or not a whole line',
    );
    expect(stderr).toContain('one.log, line 3: ');
    expect(stderr).toContain('(0 unknown, 2 invalid). Their lines are not those of the combined');
    const strict = await place.run('--table t.table --input log --host a.example --strict one.log');
    expect(strict.code).toBe(2);
  });

  test('may be as long as any', async () => {
    place.write(
      'one.log',
      `${lineOf(`GET /${'\\"a'.repeat(700_000)} HTTP/1.1`, 'x'.repeat(300_000))}\n`,
    );
    const words = '--table t.table --input log --host a.example --explain --format ndjson one.log';
    const [record = ''] = await run(words);
    const { url, judged_as } = JSON.parse(record) as { url: string; judged_as: string };
    expect(url).toBe(`https://a.example/${'"a'.repeat(700_000)}`);
    expect(judged_as).toBe('x'.repeat(1024));
  });

  test('is read in a time that is linear in its length', async () => {
    const hostile = [
      '] '.repeat(400_000),
      '"\\'.repeat(400_000),
      '[ '.repeat(400_000),
      '] "'.repeat(300_000),
    ];
    place.write('hostile.log', hostile.map((line) => `${line}\n`).join(''));
    const words = '--table t.table --input log --host a.example --format verdicts hostile.log';
    const { code, text } = await place.run(`${words} -q`);
    expect([code, text]).toEqual([0, 'invalid\n'.repeat(4)]);
  });
});

test.each([
  ['--host a.example f.ndjson', '--host has no effect without --input log'],
  ['--input log --host a.example/x one.log', 'Use HOST, HOST:PORT or https://HOST, without a path'],
  [
    '--input log --host a.example --agent-field referer one.log',
    'the lines of a log have no referer. Use --agent-field agent',
  ],
  ['--input log --host a.example --time-field when one.log', 'Use --time-field time'],
  [
    '--input log --host a.example --url-field path one.log',
    '--url-field has no effect on --input log',
  ],
  ['--input log one.log', 'one.log: its first line begins with the address of a client'],
  ['--input log --unknown allow one.log', 'and names no server. Name the server: --host NAME'],
  [
    'one.log',
    'is the log of a web server, which the filter alone reads: robots-filter --input log --host NAME',
  ],
])('%s is refused', async (words, message) => {
  place.write(
    'one.log',
    '192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "-" "MyBot"\n',
  );
  const { code, stderr } = await place.run(`--table t.table ${words}`);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
});

test('in a table of shards, those of the server are read', async () => {
  const line = '192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "-" "-"\n';
  place.write('one.log', line);
  for (const [host, verdict] of [
    ['a.example', 'allow'],
    ['b.example', 'deny'],
  ]) {
    const words = `--input log --host ${host} --format verdicts one.log`;
    expect(await run(`--table t ${words}`)).toEqual([verdict]);
    expect(await run(`--table t.table ${words}`)).toEqual([verdict]);
  }
});

test('--fetch does not read logs', async () => {
  const words = '--robots-dir cache --fetch --user-agent X/1 --input log --host a.example one.log';
  const { code, stderr } = await place.run(words);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('--fetch does not read logs. Fetch the robots.txt'),
  });
});

test('--agent judges a log for another agent', async () => {
  place.write(
    'one.log',
    '192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /x HTTP/1.1" 200 5 "-" "MyBot"\n',
  );
  const words = '--table t.table --input log --host b.example --format verdicts one.log';
  expect(await run(words)).toEqual(['allow']);
  expect(HOSTS).toContain('b.example');
  expect(await run(`${words} -a GPTBot,MyBot`)).toEqual(['allow,allow']);
});
