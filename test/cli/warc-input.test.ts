import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DICTIONARY, framesWith } from '../files/zstd-dictionary.js';
import { rawFrame, skippable } from '../files/zstd-frames.js';
import { Random } from '../random/random.js';
import { membersOf, recordOf } from '../warc/warc-bytes.js';
import { Workplace } from './command-line.js';

/*
 * WARC files against NDJSON of the same URLs and times: what is expected is made of the same list
 * of records, without a reader of WARC files.
 */

const place = new Workplace(false);

/** A record of the crawl. */
interface Spec {
  readonly type: string;
  /** `undefined` for a record without a URL. */
  readonly url: string | undefined;
  readonly date: string;
  readonly bytes: Buffer;
}

const CONTENT = ['response', 'revisit', 'resource', 'conversion'];
const HOSTS = ['a.example', 'b.example', 'c.example', 'unknown.example'];
const PATHS = ['/', '/x', '/x/y?z=1', '/p"q', '/back\\slash', '/%78', '/ü', '/WARC/1.0'];
const DATES = ['2025-02-10T12:00:00Z', '2025-05-10T12:00:00.123456Z'];

const specs: Spec[] = [];

function specOf(type: string, url: string | undefined, date: string, block: string): Spec {
  const uri = url && Buffer.from(url).toString('latin1');
  const of = uri === undefined ? {} : { uri };
  return { type, url, date, bytes: recordOf({ type, date, block, ...of }) };
}

beforeAll(async () => {
  const random = new Random(50);
  for (let page = 0; page < 300; page++) {
    const url = `https://${random.pick(HOSTS)}${random.pick(PATHS)}`;
    const date = random.pick(DATES);
    const block = random.run(['x', '\r\n', 'WARC/1.0\r\n', '\u001f\u008b\b', '\r\n\r\n'], 0, 40);
    const own = [
      specOf('request', url, date, 'GET / HTTP/1.1\r\n\r\n'),
      specOf(random.pick(CONTENT), url, date, block),
      specOf('metadata', url, date, 'fetchTimeMs: 1\r\n'),
    ];
    // Crawlers write them in different orders, and some leave them out.
    const count = random.between(0, 2);
    specs.push(...(count === 0 ? own.slice(1, 2) : count === 1 ? own : own.toReversed()));
    if (random.chance(0.1)) specs.push(specOf('warcinfo', undefined, date, 'software: test\r\n'));
    if (random.chance(0.1)) specs.push(specOf('resource', 'dns:a.example', date, '1.2.3.4'));
    if (random.chance(0.05)) specs.push(specOf('metadata', undefined, date, 'a: b\r\n'));
  }
  const robots = (rule: string): string => `User-agent: *\nDisallow: ${rule}\n`;
  const records = HOSTS.slice(0, 3).flatMap((host, at) => [
    { host, robots: robots('/x'), fetched: '2025-01-01' },
    { host, robots: robots(['/x/y', '/p', '/b'][at] ?? ''), fetched: '2025-04-01' },
  ]);
  place.write('robots.ndjson', records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  place.write('urls.ndjson', linesOf(specs.filter(isListed)));
  const bytes = specs.map((spec) => spec.bytes);
  place.write('f.warc', Buffer.concat(bytes));
  place.write('f.warc.gz', membersOf(bytes));
  place.write('f.gz', membersOf(bytes));
  place.write('f.warc.zst', Buffer.concat(bytes.map((each) => rawFrame(each))));
  place.write('whole.warc.gz', gzipSync(Buffer.concat(bytes)));
  place.write('dictionary.warc.zst', Buffer.concat(await withDictionary(bytes)));
  for (const words of ['-o t.table', '--shards 3 -o t', '--history -o h.table']) {
    const { code } = await place.run(`compile -q --robots-dir robots.ndjson ${words}`);
    expect(code).toBe(0);
  }
});

afterAll(() => place.remove());

function isListed({ type }: Spec): boolean {
  return CONTENT.includes(type);
}

function linesOf(records: readonly Spec[]): string {
  return records.map(({ url, date }) => `${JSON.stringify({ url, date })}\n`).join('');
}

/** The frame of the dictionary, and the frame of each record. */
async function withDictionary(bytes: readonly Buffer[]): Promise<Buffer[]> {
  return [skippable(DICTIONARY, 13), ...(await framesWith(DICTIONARY, bytes))];
}

async function run(words: string, input: string | Uint8Array = ''): Promise<string[]> {
  const { code, text, stderr } = await place.run(`${words} -q`, input);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return text === '' ? [] : text.trimEnd().split('\n');
}

/** What a run says about each record of the list, by a file of NDJSON with the same URLs. */
async function verdicts(words: string): Promise<string[]> {
  return run(`${words} --format verdicts urls.ndjson`);
}

function verdictOf(line: string): string {
  return (JSON.parse(line) as { verdict: string }).verdict;
}

const FILES = ['f.warc', 'f.warc.gz', 'f.gz', 'f.warc.zst', 'whole.warc.gz', 'dictionary.warc.zst'];

describe('the URLs of a WARC file', () => {
  test.each(FILES)('are judged as in NDJSON: %s', async (file) => {
    const expected = await verdicts('--table t.table');
    expect(new Set(expected)).toEqual(new Set(['allow', 'deny', 'unknown', 'invalid']));
    const listed = specs.filter(isListed);
    const others = file === 'f.warc.gz' ? ['--table t', '--table t.table --threads 2'] : [];
    for (const source of ['--table t.table', ...others]) {
      const found = await run(`${source} ${file}`);
      expect(found.map(verdictOf)).toEqual(expected);
      const records = found.map((line) => JSON.parse(line));
      expect(records.map(({ url, timestamp, type }) => ({ url, timestamp, type }))).toEqual(
        listed.map(({ url, date, type }) => ({ url, timestamp: date, type })),
      );
      expect(new Set(records.map(({ filename }) => filename))).toEqual(new Set([file]));
      expect(await run(`${source} --format verdicts ${file}`)).toEqual(expected);
    }
  });

  test('come from standard input and pipes, without a file name', async () => {
    const found = await run('--table t.table f.warc.gz');
    const unnamed = found.map((line) => line.replace(',"filename":"f.warc.gz"', ''));
    const names = ['f.warc', 'f.warc.gz', 'f.warc.zst', 'dictionary.warc.zst'];
    for (const name of names) {
      const { text, stderr } = await place.shell(`cat ${name} | $rf -q --table t.table`);
      expect({ name, verdicts: text.trimEnd().split('\n').map(verdictOf), stderr }).toEqual({
        name,
        verdicts: found.map(verdictOf),
        stderr: '',
      });
      if (name === 'f.warc.gz') expect(text.trimEnd().split('\n')).toEqual(unnamed);
    }
    const { text } = await place.shell(`$rf -q --table t.table --format verdicts <(cat f.gz)`);
    expect(text.trimEnd().split('\n')).toEqual(found.map(verdictOf));
    const { text: redirected } = await place.shell(`$rf -q --table t.table < f.warc.gz`);
    expect(redirected.trimEnd().split('\n')).toEqual(unnamed);
  });

  test('come out in other formats', async () => {
    for (const format of ['text', 'csv', 'mask-ndjson']) {
      const other = await run(`--table t.table --format ${format} urls.ndjson`);
      expect(await run(`--table t.table --format ${format} f.warc.gz`)).toEqual(other);
    }
    const words = '--table t.table --format text --explain';
    expect(await run(`${words} f.warc.gz`)).toEqual(await run(`${words} urls.ndjson`));
    const chosen = await run('--table t.table --allowed --format text f.warc.zst');
    expect(chosen).toEqual(await run('--table t.table --allowed --format text urls.ndjson'));
    expect(chosen.length).toBeGreaterThan(50);
  });

  test('are judged for the time of the record', async () => {
    const now = await verdicts('--table h.table');
    const expected = await verdicts('--table h.table --time-field date');
    const words = '--table h.table --time-field timestamp --format verdicts';
    expect(await run(`${words} f.warc.gz`)).toEqual(expected);
    expect(expected).not.toEqual(now);
    const { code, stderr } = await place.run('--table h.table --time-field date f.warc.gz');
    expect(code).toBe(2);
    expect(stderr).toContain('Use --time-field timestamp');
    const bad = [specOf('response', 'https://a.example/', 'yesterday', '')];
    place.write('undated.warc', Buffer.concat(bad.map(({ bytes }) => bytes)));
    const [line = ''] = await run('--table h.table --time-field timestamp --explain undated.warc');
    expect(JSON.parse(line)).toMatchObject({ timestamp: null, reason: 'no-time' });
    expect((await run('--table h.table undated.warc')).map(verdictOf)).toEqual(['allow']);
  });

  test('lie where their offset says', async () => {
    for (const [file, decode] of [
      ['f.warc', (bytes: Buffer) => bytes],
      ['f.warc.gz', (bytes: Buffer) => gunzipSync(bytes)],
    ] as const) {
      const all = await place.shell(`cat ${file}`);
      const found = (await run(`--table t.table ${file}`)).map((line) => JSON.parse(line));
      for (const { offset, url } of found.slice(0, 20)) {
        const header = decode(all.stdout.subarray(offset)).toString('utf8', 0, 400);
        expect(header.startsWith('WARC/1.0\r\n')).toBe(true);
        expect(header).toContain(`WARC-Target-URI: ${url}\r\n`);
      }
    }
  });

  test('serve `shard`', async () => {
    const other = await run('shard --of 4 urls.ndjson');
    const found = await run('shard --of 4 f.warc.gz');
    const shardOf = (line: string): unknown => (JSON.parse(line) as { shard: unknown }).shard;
    expect(found.map(shardOf)).toEqual(other.map(shardOf));
  });
});

/** The records that are copied: those whose URL is chosen, and those without a URL. */
async function copied(words: string): Promise<number[]> {
  const withUrl = specs.filter(({ url }) => url !== undefined);
  place.write('all.ndjson', linesOf(withUrl));
  const chosen = (await run(`${words} --format mask-ndjson all.ndjson`)).map((line) =>
    line.includes('true'),
  );
  let next = 0;
  return specs.flatMap(({ url }, index) => (url === undefined || chosen[next++] ? [index] : []));
}

describe('copies of records', () => {
  test.each([
    ['f.warc', (bytes: Buffer) => bytes],
    ['f.warc.gz', (bytes: Buffer) => gzipSync(bytes)],
    ['f.warc.zst', (bytes: Buffer) => rawFrame(bytes)],
  ])('have every byte of those that are allowed: %s', async (file, encode) => {
    const words = '--table t.table --unknown allow';
    const kept = await copied(words);
    expect(kept.length).toBeGreaterThan(specs.length / 4);
    expect(kept.length).toBeLessThan(specs.length - 50);
    const expected = Buffer.concat(kept.map((index) => encode(specs[index]?.bytes ?? Buffer.of())));
    for (const threads of file === 'f.warc.gz' ? ['', ' --threads 2'] : ['']) {
      expect(await run(`${words}${threads} --allowed -o out-${file} ${file}`)).toEqual([]);
      const { stdout } = await place.shell(`cat out-${file}`);
      expect(stdout.equals(expected)).toBe(true);
    }
    const { stdout } = await place.run(`${words} -q --allowed --format warc ${file}`);
    expect(stdout.equals(expected)).toBe(true);
  });

  test('keep the dictionary, and are those of all inputs', async () => {
    const kept = await copied('--table t.table');
    const [dictionary = Buffer.of(), ...frames] = await withDictionary(specs.map((s) => s.bytes));
    const chosen = kept.map((index) => frames[index] as Buffer);
    const file = 'dictionary.warc.zst';
    await run(`--table t.table --allowed -o out.warc.zst ${file} ${file}`);
    const { stdout } = await place.shell('cat out.warc.zst');
    expect(stdout.equals(Buffer.concat([dictionary, ...chosen, ...chosen]))).toBe(true);
    const { code, stderr } = await place.run(
      `-q --table t.table --allowed -o no.warc.zst ${file} f.warc.zst`,
    );
    expect(code).toBe(2);
    expect(stderr).toContain('another zstd dictionary');
    expect(place.names()).not.toContain('no.warc.zst');
  });

  test('are divided by --allowed, --denied and what is left out', async () => {
    await run('--table t.table --allowed -o a.warc.gz f.warc.gz');
    await run('--table t.table --denied -o d.warc.gz f.warc.gz');
    const { stderr } = await place.run('--table t.table --denied -o d.warc.gz f.warc.gz');
    const withUrl = specs.filter(({ url }) => url !== undefined);
    const unknown = withUrl.filter(({ url }) => url?.includes('unknown')).length;
    const invalid = withUrl.filter(({ url }) => url?.startsWith('dns')).length;
    expect(stderr).toContain(`left out ${unknown} unknown and ${invalid} invalid records`);
    const count = async (file: string): Promise<number> =>
      (await place.shell(`zcat ${file} | grep -ac '^WARC-Type: '`)).text.trimEnd() as never;
    const [allowed, denied] = [Number(await count('a.warc.gz')), Number(await count('d.warc.gz'))];
    const always = specs.length - withUrl.length;
    expect(allowed + denied - 2 * always).toBe(withUrl.length - unknown - invalid);
    expect(denied).toBeGreaterThan(always + 30);
  });

  test('go to a file for each input', async () => {
    await run('--table t.table --allowed -o a.warc.gz f.warc.gz');
    await run('--table t.table --allowed -o dir/ f.warc.gz f.warc urls.ndjson');
    const { code } = await place.shell(
      'cmp dir/f.warc.gz a.warc.gz && zcat a.warc.gz | cmp - dir/f.warc',
    );
    expect(code).toBe(0);
    expect(place.names('dir')).toEqual(['f.warc', 'f.warc.gz', 'urls.ndjson']);
    await run('--table t.table --format ndjson -o list/ f.warc.gz');
    expect(place.names('list')).toEqual(['f.ndjson.gz']);
  });

  test('of long records are whole', async () => {
    const long = 'x'.repeat(17 * 1024 * 1024);
    const records = [
      specOf('response', 'https://a.example/x', DATES[0] ?? '', long),
      specOf('response', 'https://a.example/1', DATES[0] ?? '', long),
      specOf('response', 'https://a.example/2', DATES[0] ?? '', 'short'),
    ];
    const members = records.map(({ bytes }) => gzipSync(bytes));
    place.write('long.warc.gz', Buffer.concat(members));
    place.write('long.warc', Buffer.concat(records.map(({ bytes }) => bytes)));
    const words = '--table h.table --time-field timestamp --allowed';
    await run(`${words} -o out.warc.gz long.warc.gz`);
    expect((await place.shell('cat out.warc.gz')).stdout).toEqual(Buffer.concat(members.slice(1)));
    await run(`${words} -o out.warc long.warc`);
    const { code } = await place.shell('zcat out.warc.gz | cmp - out.warc');
    expect(code).toBe(0);
    const { text } = await place.shell(`cat long.warc.gz | $rf -q ${words} --format text`);
    expect(text).toBe('https://a.example/1\nhttps://a.example/2\n');
  });

  // Each warcinfo of a file that was made of several is read before the record that follows it.
  test('keep records without a URL between long ones', async () => {
    const records = Array.from({ length: 24 }, (_, index) =>
      index % 2 === 0
        ? specOf('warcinfo', undefined, DATES[0] ?? '', 'software: test\r\n')
        : specOf('response', 'https://a.example/1', DATES[0] ?? '', 'x'.repeat(600_000)),
    );
    place.write('infos.warc', Buffer.concat(records.map(({ bytes }) => bytes)));
    expect(await run('--table t.table --allowed -o out.warc infos.warc')).toEqual([]);
    expect((await place.shell('cmp out.warc infos.warc')).code).toBe(0);
  });

  test.each([
    ['no choice', '-o out.warc.gz f.warc.gz', 'Add --allowed or --denied'],
    ['verdicts in a directory', '-o v/ f.warc.gz', 'Add --allowed or --denied'],
    ['another format', '--allowed --format text -o out.warc.gz f.warc.gz', 'is WARC'],
    ['lines', '--allowed -o out.warc.gz urls.ndjson', 'is not WARC'],
    ['another compression', '--allowed -o out.warc.gz f.warc', 'Name an output that ends in .warc'],
    ['inputs of two', '--allowed --format warc f.warc f.warc.gz', '-o DIR/'],
    ['one member for all', '--allowed -o out.warc.gz whole.warc.gz', 'warcio recompress'],
    ['a URL field', '--url-field u f.warc.gz', 'WARC-Target-URI'],
    ['a URL field, and --input', '--url-field u --input warc f.warc.gz', 'WARC-Target-URI'],
    ['another format of the input', '--input ndjson f.warc.gz', 'a WARC file in gzip data'],
    ['agents of records', '--agent-field agent f.warc.gz', 'Name the agent: --agent GPTBot'],
  ])('are refused with %s', async (_what, words, message) => {
    place.write('out.warc.gz', 'old');
    const { code, stderr } = await place.run(`-q --table t.table ${words}`);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expect(place.read('out.warc.gz')).toBe('old');
  });
});

describe('damage', () => {
  const good = [1, 2, 3, 4].map((page) =>
    specOf('response', `https://a.example/${page}`, DATES[0] ?? '', 'y'.repeat(3000)),
  );
  const [first, second, third, fourth] = good.map(({ bytes }) => gzipSync(bytes)) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  const broken = Buffer.from(second);
  broken.fill(0xff, 150, 160);
  const at = first.length;

  test.each([
    ['a broken member', [first, broken, third], 'gzip data is damaged', at, [0, 2]],
    ['a cut member', [first, second.subarray(0, 100), third], 'gzip data is damaged', at, [0, 2]],
    ['a cut end', [first, second.subarray(0, -1)], 'gzip data is damaged', at, [0]],
    ['other bytes', [first, Buffer.from('junk'), third], 'gzip data is damaged', at, [0, 2]],
    [
      'no URL',
      [first, gzipSync(recordOf({ type: 'response' })), third],
      'WARC-Target-URI is missing',
      at,
      [0, 2],
    ],
    [
      'an unknown type',
      [first, gzipSync(recordOf({ type: 'respnse', uri: 'https://a.example/' })), third],
      'the WARC-Type is unknown',
      at,
      [0, 2],
    ],
    [
      'a control character',
      [first, gzipSync(recordOf({ uri: 'https://a.example/x\u0001' })), third],
      'WARC-Target-URI is invalid',
      at,
      [0, 2],
    ],
  ] as const)(
    'by %s is named, and costs no other record',
    async (_w, parts, reason, offset, kept) => {
      place.write('d.warc.gz', Buffer.concat([...parts, fourth]));
      const whole = kept.length === 1 ? kept : [...kept, 3];
      // A member that is cut takes in what follows, until the search finds it.
      const expected = [...new Set([...kept, 3])];
      const { code, text, stderr } = await place.run('--table t.table --explain d.warc.gz');
      expect(code).toBe(0);
      expect(stderr).toContain(`warning: d.warc.gz:${offset}: Damaged: `);
      expect(stderr).toContain(reason);
      const records = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const urls = records.flatMap(({ url }) => url ?? []);
      expect(urls).toEqual(expected.map((index) => good[index]?.url));
      expect(whole.length).toBeGreaterThan(0);
      const bad = records.filter(({ verdict }) => verdict === 'invalid');
      expect(bad).toHaveLength(1);
      expect(bad[0]).toMatchObject({ record: 2, reason: 'no-object' });
      expect(bad[0].input).toContain(`Damaged at byte ${offset}: `);
      const copy = await place.run('--table t.table --allowed -o out.warc.gz d.warc.gz');
      expect(copy.code).toBe(0);
      expect(copy.stderr).toContain('left out 1 invalid record');
      const { stdout } = await place.shell('cat out.warc.gz');
      const members = [first, second, third, fourth];
      expect(stdout).toEqual(Buffer.concat(expected.map((index) => members[index] as Buffer)));
      place.write('out.warc.gz', 'old');
      const strict = await place.run('--table t.table --strict --allowed -o out.warc.gz d.warc.gz');
      expect(strict.code).toBe(2);
      expect(strict.stderr).toContain('d.warc.gz, record 2: damaged');
      expect(place.read('out.warc.gz')).toBe('old');
    },
  );

  test('of a plain file is named, too', async () => {
    const cut = Buffer.concat(good.map(({ bytes }) => bytes)).subarray(0, -2000);
    place.write('cut.warc', cut);
    const { code, text, stderr } = await place.run('--table t.table cut.warc');
    expect(code).toBe(0);
    expect(text.trimEnd().split('\n').map(verdictOf)).toEqual([
      'allow',
      'allow',
      'allow',
      'invalid',
    ]);
    expect(stderr).toMatch(/warning: cut\.warc:\d+: Damaged: the record is longer than the rest/);
  });

  test('of a pipe that stops half-way is named', async () => {
    for (const [name, bytes] of [
      ['gz', Buffer.concat([first, second.subarray(0, 100)])],
      ['warc', Buffer.concat([good[0]?.bytes ?? first, good[1]?.bytes.subarray(0, 500) ?? first])],
    ] as const) {
      place.write(`half.${name}`, bytes);
      const { code, text, stderr } = await place.shell(`cat half.${name} | $rf --table t.table`);
      expect({ name, code }).toEqual({ name, code: 0 });
      expect(text.trimEnd().split('\n').map(verdictOf)).toEqual(['allow', 'invalid']);
      expect(stderr).toContain('warning: standard input:');
    }
  });

  test('beyond twenty places is counted', async () => {
    const bad = gzipSync(recordOf({ type: 'response' }));
    place.write('many.warc.gz', Buffer.concat(Array.from({ length: 25 }, () => bad)));
    const { text, stderr } = await place.run('--table t.table many.warc.gz');
    expect(text.trimEnd().split('\n')).toHaveLength(25);
    expect(stderr.split('\n').filter((line) => line.includes('Damaged'))).toHaveLength(20);
    expect(stderr).toContain('5 further damaged places');
    expect(stderr).toContain('The file is damaged, or holds no WARC records');
    const other = place.write('other.warc', recordOf({ uri: 'https://www.a.example/' }));
    const none = await place.run(`--table t.table ${other}`);
    expect(none.stderr).toContain('There is a robots.txt for a.example');
  });
});

test.each([0, 1, 2, 3, 4])(
  'a file that lacks %i bytes of its last line ends hides no record of the next file',
  async (missing) => {
    const resource = (path: string): Buffer =>
      recordOf({ type: 'resource', uri: `https://a.example/${path}`, block: 'hello world' });
    const [first, ...others] = ['1', '2', '3'].map(resource) as [Buffer, Buffer, Buffer];
    place.write('cut.warc', first.subarray(0, first.length - missing));
    place.write('next.warc', Buffer.concat(others));
    const words = '--robots-dir robots.ndjson --allowed -q cut.warc next.warc -o joined.warc';
    expect(await place.run(words)).toMatchObject({ code: 0 });
    place.write('expected.warc', Buffer.concat([first, ...others]));
    const { code } = await place.shell('cmp joined.warc expected.warc');
    expect(code).toBe(0);
  },
);
