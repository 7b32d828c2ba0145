import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { lines, test, type Workplace, workplace } from '../cli/command-line.js';
import { captureOf, responseOf, robotsOf } from '../warc/warc-bytes.js';

/** Records of a host whose robots.txt changes, in no order. */
const RECORDS = [
  { host: 'a.example', robots: 'User-agent: *\nDisallow: /old\n', fetched: '2024-01-01' },
  { host: 'a.example', robots: 'User-agent: *\nDisallow: /\n', fetched: '20250101120000' },
  { host: 'a.example', status: 404, fetched: 1717200000 },
  { host: 'a.example', robots: 'User-agent: *\nDisallow: /\n', fetched: '2025-06-01T00:00:00Z' },
  { host: 'b.example', robots: 'User-agent: *\nDisallow: /x\n', fetch_time: '2024-06-01' },
];
const URLS = 'https://a.example/old\nhttps://a.example/new\nhttps://b.example/x\n';

function place(): Workplace {
  const it = workplace();
  it.write('robots.ndjson', RECORDS.map((each) => `${JSON.stringify(each)}\n`).join(''));
  it.write('urls.txt', URLS);
  return it;
}

const COMPILE = 'compile --history --robots-dir robots.ndjson -o h.table';

async function verdictsAt(it: Workplace, date: string, ...args: string[]): Promise<string> {
  const words = ['-q', '--table', 'h.table', '--as-of', date, ...args, 'urls.txt'];
  const { code, text, stderr } = await it.run(words);
  expect({ code, stderr }, stderr).toEqual({ code: 0, stderr: '' });
  return lines(text)
    .map((line) => line.split('\t', 1)[0])
    .join(' ');
}

describe('compile --history', () => {
  test.each([['-o h.table'], ['--shards 3 -o h.table']])(
    'keeps every version, for --as-of (%s)',
    async (output) => {
      const it = place();
      const { code, stderr } = await it.run(
        `compile --history --robots-dir robots.ndjson ${output}`,
      );
      expect(code, stderr).toBe(0);
      expect(await verdictsAt(it, '2024-01-01')).toBe('deny allow unknown');
      expect(await verdictsAt(it, '2024-05-31')).toBe('deny allow unknown');
      expect(await verdictsAt(it, '2024-06-01')).toBe('allow allow deny');
      expect(await verdictsAt(it, '2025-01-01T11:59:59Z')).toBe('allow allow deny');
      expect(await verdictsAt(it, '2025-01-01T12:00:00Z')).toBe('deny deny deny');
      expect(await verdictsAt(it, '9999-12-31')).toBe('deny deny deny');
      const newest = await it.run('--table h.table urls.txt');
      expect(newest.text).toMatch(/^(deny\t.*\n){3}$/);
    },
  );

  test('says before which capture a verdict is unknown, and from where a rule is', async () => {
    const it = place();
    await it.run(COMPILE);
    const explained = async (date: string, url: string): Promise<unknown> => {
      it.write('one.ndjson', `${JSON.stringify({ url })}\n`);
      const { text } = await it.run([
        '--table',
        'h.table',
        '--as-of',
        date,
        '--explain',
        'one.ndjson',
      ]);
      return JSON.parse(text);
    };
    expect(await explained('2023-12-31', 'https://a.example/old')).toMatchObject({
      verdict: 'unknown',
      reason: 'before-first-capture',
    });
    expect(await explained('2024-02-01', 'https://a.example/old')).toMatchObject({
      verdict: 'deny',
      rule: { line: 2, text: 'Disallow: /old', source: 'robots.ndjson:1' },
    });
    expect(await explained('2025-03-01', 'https://a.example/old')).toMatchObject({
      rule: { text: 'Disallow: /', source: 'robots.ndjson:2' },
    });
    expect(await explained('2024-07-01', 'https://a.example/old')).toMatchObject({
      verdict: 'allow',
      reason: 'unavailable',
    });
    expect(await verdictsAt(it, '2023-12-31', '--unknown', 'allow')).toBe('allow allow allow');
    const early = await it.run('--table h.table --as-of 2023-12-31 urls.txt');
    expect(early.stderr).toContain('are of later times. Use a later --as-of, or leave it out');
  });

  test('warns of a time to come', async () => {
    const it = place();
    await it.run(COMPILE);
    it.write('crawl.warc', '');
    const today = new Date().toISOString().slice(0, 10);
    for (const source of ['--table h.table', '--robots-dir crawl.warc --allow-empty']) {
      const [soon, late] = await Promise.all([
        it.run(`${source} --as-of ${today} urls.txt`),
        it.run(`${source} --as-of 2205-01-01 urls.txt`),
      ]);
      expect([soon.code, late.code]).toEqual([0, 0]);
      expect(soon.stderr).not.toContain('to come');
      expect(late.stderr).toContain('--as-of is 2205-01-01T23:59:59.999Z, a time to come');
    }
    const inspected = await it.run('inspect h.table a.example --as-of 2205-01-01');
    expect(inspected.stderr).toContain('a time to come');
    const compared = await it.run('diff h.table --from 2024-01-01 --to 2205-01-01');
    expect(compared.stderr).toContain('--to is 2205-01-01T23:59:59.999Z, a time to come');
  });

  test('counts by host, rule and reason what was in force', async () => {
    const it = place();
    await it.run(COMPILE);
    const rows = async (by: string): Promise<string[]> => {
      const args = `--table h.table --as-of 2024-02-01 --stats-by ${by} --format csv urls.txt`;
      return lines((await it.run(args)).text).slice(1);
    };
    expect(await rows('reason')).toEqual(['*,before-first-capture,1', '*,no-rule,1', '*,rule,1']);
    expect(await rows('host')).toEqual(['*,a.example,2,1,1,0,0', '*,,1,0,0,1,0']);
    expect((await rows('rule'))[0]).toBe(
      '*,a.example,2,Disallow: /old,1,robots.ndjson:1,2024-01-01T00:00:00Z',
    );
  });

  test('of the captures of an archive keeps each', async () => {
    const it = workplace();
    it.write('urls.txt', 'http://c.example/a\nhttp://c.example/b\n');
    const captures = [
      captureOf('http://c.example/robots.txt', responseOf(200, robotsOf('/a')), {
        date: '2024-01-01T00:00:00Z',
      }),
      captureOf('http://c.example/robots.txt', responseOf(200, robotsOf('/b')), {
        date: '2024-03-01T00:00:00Z',
      }),
      captureOf('http://c.example/robots.txt', responseOf(503, ''), {
        date: '2024-05-01T00:00:00Z',
      }),
    ];
    writeFileSync(
      join(it.path, 'a.warc.gz'),
      Buffer.concat(captures.map((each) => gzipSync(each))),
    );
    const { code, stderr } = await it.run('compile --history --robots-dir a.warc.gz -o h.table');
    expect(code, stderr).toBe(0);
    expect(await verdictsAt(it, '2023-12-31')).toBe('unknown unknown');
    expect(await verdictsAt(it, '2024-01-01')).toBe('deny allow');
    expect(await verdictsAt(it, '2024-03-01')).toBe('allow deny');
    expect(await verdictsAt(it, '2024-05-01')).toBe('deny deny');
  });

  test('lists the versions of a host', async () => {
    const it = place();
    await it.run(COMPILE);
    const listed = await it.run('inspect h.table a.example --history --agent GPTBot');
    expect(listed.text).toBe(
      [
        'http://a.example, https://a.example',
        '  2024-01-01T00:00:00Z  successful   robots.ndjson:1',
        '      GPTBot: part allowed, group *; / allow',
        '  2024-06-01T00:00:00Z  unavailable  robots.ndjson:3',
        '      GPTBot: all allowed, no group; / allow',
        '  2025-01-01T12:00:00Z  successful   robots.ndjson:2',
        '      GPTBot: none allowed, group *; / deny by line 2',
        '',
      ].join('\n'),
    );
    const json = await it.run('inspect h.table a.example --history --json');
    const [, second] = lines(json.text).map((line) => JSON.parse(line));
    expect(second).toMatchObject({
      since: '2024-06-01T00:00:00Z',
      until: '2025-01-01T12:00:00Z',
      access: 'unavailable',
      source: 'robots.ndjson:3',
    });
    const then = await it.run('inspect h.table a.example --as-of 2024-02-01');
    expect(then.text).toContain('Disallow: /old');
    const before = await it.run('inspect h.table a.example --as-of 2023-02-01');
    expect(before.code).toBe(2);
    expect(before.stderr).toContain('no robots.txt for a.example up to that time. --history lists');
  });
});

describe('a redirect to a URL that was not captured', () => {
  const A = 'https://a.example/robots.txt';
  const captures = Buffer.concat([
    captureOf(A, responseOf(200, 'User-agent: *\nDisallow: /x\n'), {
      date: '2024-01-01T00:00:00Z',
    }),
    captureOf(A, responseOf(301, '', { Location: 'https://b.example/robots.txt' }), {
      date: '2024-06-01T00:00:00Z',
    }),
    captureOf('https://b.example/robots.txt', responseOf(200, 'User-agent: *\nDisallow: /y\n'), {
      date: '2024-09-01T00:00:00Z',
    }),
  ]);

  test.each([['-o h.table'], ['--shards 3 -o h.table']])(
    'makes the host unknown, as it is without a history (%s)',
    async (output) => {
      const it = workplace();
      it.write('a.warc', captures);
      it.write('urls.txt', `https://a.example/x\nhttps://a.example/y\n${A}\n`);
      const { code, stderr } = await it.run(`compile --history --robots-dir a.warc ${output}`);
      expect(code, stderr).toBe(0);
      const verified = await it.run('inspect h.table --verify');
      expect(verified.code, verified.stderr).toBe(0);
      for (const [date, verdicts] of [
        ['2024-05-31', ['deny rule', 'allow no-rule', 'allow robots-txt']],
        ['2024-06-01', ['unknown unknown-host', 'unknown unknown-host', 'unknown unknown-host']],
        ['2024-08-31', ['unknown unknown-host', 'unknown unknown-host', 'unknown unknown-host']],
        ['2024-09-01', ['allow no-rule', 'deny rule', 'allow robots-txt']],
      ] as const) {
        const words = ['-q', '--explain', '--as-of', date, 'urls.txt'];
        const then = await it.run(['--table', 'h.table', ...words]);
        const found = lines(then.text).map((line) => line.split('\t'));
        expect(
          found.map(([verdict, , reason]) => `${verdict} ${reason}`),
          date,
        ).toEqual(verdicts);
        const plain = await it.run(['--robots-dir', 'a.warc', '--allow-empty', ...words]);
        // A table with histories explains with a further column.
        const columns = found.map((line) => `${line.slice(0, -1).join('\t')}\n`);
        expect(columns.join(''), date).toBe(plain.text);
      }
    },
  );

  test('is in the history of the host', async () => {
    const it = workplace();
    it.write('a.warc', captures.subarray(0, captures.lastIndexOf('WARC/1.')));
    await it.run('compile --history --robots-dir a.warc -o h.table');
    const { text } = await it.run('inspect h.table a.example --history --json');
    const versions = lines(text).map((line) => JSON.parse(line));
    expect(versions.map(({ since, access }) => `${since} ${access}`)).toEqual([
      '2024-01-01T00:00:00Z successful',
      '2024-06-01T00:00:00Z unknown',
    ]);
    const newest = await it.run('inspect h.table a.example');
    expect(newest.code).toBe(2);
    expect(newest.stderr).toContain('no robots.txt for a.example any more. --history lists');
  });
});

describe('diff of two times of one table', () => {
  test('says what has changed in between', async () => {
    const it = place();
    await it.run(COMPILE);
    const changed = async (...times: string[]): Promise<string[]> => {
      const run = await it.run(['diff', 'h.table', ...times, '-a', 'GPTBot', '--format', 'csv']);
      expect(run.code, run.stderr).toBe(0);
      return lines(run.text)
        .slice(1)
        .map((line) => line.split(',').slice(0, 5).join(','));
    };
    expect(await changed('--from', '2024-02-01', '--to', '2024-02-02')).toEqual([]);
    expect(await changed('--from', '2024-02-01', '--to', '2024-07-01')).toEqual([
      'a.example,GPTBot,extent,part,all',
      'b.example,GPTBot,added,,part',
    ]);
    expect(await changed('--from', '2024-07-01')).toEqual(['a.example,GPTBot,extent,all,none']);
    const early = await it.run('diff h.table --from 2024-02-01 --to 2024-02-02');
    expect(early.stderr, 'b.example is not known yet').toContain('*: 1 host, no difference');
  });

  test.each([
    ['diff h.table', 'Add --from DATE for two times of a table'],
    ['diff h.table --to 2024-01-01', 'diff compares two sides'],
    ['diff h.table --from 2024-02-01 --to 2024-01-01', '--to is not after --from'],
    ['diff h.table --from 2024-02-01 --to 2024-02-01', '--to is not after --from'],
    ['diff robots.ndjson h.table --from 2024-02-01', 'has no histories'],
  ])('%s is refused', async (command, message) => {
    const it = place();
    await it.run(COMPILE);
    const { code, stderr } = await it.run(command);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('a history is refused', () => {
  test('where no file has a date, and where some have none it says how many', async () => {
    const it = place();
    it.write('some/a.example', 'User-agent: *\nDisallow: /\n');
    const none = await it.run('compile --history --robots-dir some -o no.table');
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('some: no robots.txt has a date, and a history needs dates');
    expect(none.stderr).toContain(
      'from a member or column "fetched" of records (--date-column names another one), from directories that are named by a date (2024-05-01/HOST), and from tables of compile --history or --records',
    );
    expect(it.names()).not.toContain('no.table');
    for (const shards of ['', '--shards 2 ']) {
      const args = `compile --history --robots-dir some --robots-dir robots.ndjson ${shards}-o t`;
      const both = await it.run(args);
      expect(both.code, both.stderr).toBe(0);
      expect(both.stderr).toContain('1 robots.txt file of 6 in some, robots.ndjson left out');
      await it.shell('rm -r t');
    }
  });

  test('of a table without histories', async () => {
    const it = place();
    await it.run('compile --robots-dir robots.ndjson -o plain.table');
    for (const args of [
      '--table plain.table --as-of 2024-01-01 urls.txt',
      'inspect plain.table a.example --as-of 2024-01-01',
      'inspect plain.table a.example --history',
    ]) {
      const { code, text, stderr } = await it.run(args);
      expect({ code, text }, args).toEqual({ code: 2, text: '' });
      expect(stderr).toContain('Compile it with --history');
    }
  });

  test('for what only the newest file has', async () => {
    const it = place();
    await it.run('compile --history --records --robots-dir robots.ndjson -o h.table');
    const { code, stderr } = await it.run(
      '--table h.table --as-of 2024-01-01 --preferences urls.txt',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('Leave --preferences or --as-of out');
  });
});

describe('--as-of where nothing has a time', () => {
  const TYPE = 'type: robots-filter compile --history --robots-dir';
  const CHOOSES = '--as-of chooses among captures of WARC files, and';
  test.each([
    ['--robots-dir robots.ndjson urls.txt', `${CHOOSES} robots.ndjson has none. To choose`],
    ['--robots-dir robots.ndjson urls.txt', `${TYPE} robots.ndjson -o history.table`],
    ['--robots-dir d --robots-dir robots.ndjson urls.txt', `${CHOOSES} d, robots.ndjson have none`],
    ['--fetch --robots-dir d urls.txt', `${CHOOSES} d has none`],
    ['serve --robots-dir d', `${CHOOSES} d has none`],
    ['compile --robots-dir d -o t', `${CHOOSES} d has none`],
    ['compile --robots-dir d --shards 2 -o t', `${CHOOSES} d has none`],
    ['compile --robots-dir crawl.warc --history -o t', 'answers for every time. Leave --as-of out'],
    ['audit --robots-dir d', `${CHOOSES} d has none. Leave --as-of out`],
    ['audit --table h.table', 'robots-filter --table FILE --as-of DATE'],
    ['records d', `${CHOOSES} d has none. Leave --as-of out`],
    ['records h.table', 'of the newest robots.txt files alone. Leave --as-of out'],
    ['diff d robots.ndjson', `${CHOOSES} d, robots.ndjson have none. Leave --as-of out`],
    ['diff h.table h.table', 'Use --from DATE for the old side and --to DATE for the new one'],
    ['--robots-dir missing urls.txt', 'missing: cannot be read'],
  ])('%s is refused', async (words, message) => {
    const it = place();
    await it.run(COMPILE);
    it.write('d/a.example', '');
    const [command = '', ...others] = words.split(' ');
    const { code, text, stderr } = await it.run([command, ...others, '--as-of', '2024-06-30']);
    expect([code, text, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    expect(stderr).not.toContain('Use it with robots-filter compile');
    expect(it.names()).not.toContain('t');
  });

  test('chooses if one source has captures', async () => {
    const it = place();
    it.write('d/b.example', 'User-agent: *\nDisallow: /x\n');
    const capture = (date: string, path: string): Buffer =>
      captureOf('https://a.example/robots.txt', responseOf(200, robotsOf(path)), { date });
    const captures = [
      capture('2024-01-01T00:00:00Z', '/old'),
      capture('2025-01-01T00:00:00Z', '/'),
    ];
    writeFileSync(join(it.path, 'd/crawl.warc'), Buffer.concat(captures));
    it.write('none/c.example', '');
    const { code, text, stderr } = await it.run(
      '--robots-dir none --robots-dir d --as-of 2024-06-30 urls.txt',
    );
    expect(code, stderr).toBe(0);
    expect(text).toMatch(/^deny\t.*\nallow\t.*\ndeny\t/);
  });

  test('a report of a table at a time has neither ages nor records', async () => {
    const it = place();
    await it.run('compile --history --records --robots-dir robots.ndjson -o h.table');
    const reported = async (...args: string[]): Promise<unknown> => {
      const run = await it.run(['--table', 'h.table', ...args, '--report', 'r.json', 'urls.txt']);
      expect(run.code, run.stderr).toBe(0);
      return JSON.parse(it.read('r.json'));
    };
    expect(await reported()).toMatchObject({ ages: { dated: 2, stale: 2 } });
    expect(await reported('--as-of', '2024-07-01')).toMatchObject({
      ages: null,
      otherRecords: null,
    });
  });
});

describe('a record with a date that cannot be used', () => {
  const NO_TIME = 'not a time such as 2025-03-10T12:00:00Z';
  const OUTSIDE = 'outside 1970-01-01 to 2106-02-07, the times that tables hold';
  const BAD: readonly (readonly [members: object, message: string])[] = [
    [{ fetched: 'soon' }, `"fetched" is "soon", ${NO_TIME}`],
    [{ fetched: true }, `"fetched" is true, ${NO_TIME}`],
    [{ fetched: {} }, `"fetched" is an object or an array, ${NO_TIME}`],
    [{ fetch_time: 0.35 }, `"fetch_time" is 0.35, ${NO_TIME}`],
    [{ fetched: false, fetch_time: 350 }, `"fetched" is false, ${NO_TIME}`],
    [{ fetched: '2500-01-01' }, `"fetched" is "2500-01-01", ${OUTSIDE}`],
    [{ fetched: '9999-12-31T23:59:59Z' }, `"fetched" is "9999-12-31T23:59:59Z", ${OUTSIDE}`],
    [{ fetched: '0001-01-01' }, `"fetched" is "0001-01-01", ${OUTSIDE}`],
    [{ fetched: '19691231' }, `"fetched" is "19691231", ${OUTSIDE}`],
    [{ fetched: 2 ** 32 }, `"fetched" is 4294967296, ${OUTSIDE}`],
    [
      { fetched: '2024-01-01', fetch_time: '2024-01-02' },
      '"fetched" is "2024-01-01", but "fetch_time" is "2024-01-02"',
    ],
  ];
  const BODY = { host: 'a.example', robots: 'User-agent: *\nDisallow: /old\n' };
  const line = (members: object): string => `${JSON.stringify(members)}\n`;

  test.each(BAD)('counts without --history as if it had no date: %j', async (members) => {
    const it = place();
    it.write('bad.ndjson', line({ ...BODY, ...members }));
    const filtered = await it.run('--robots-dir bad.ndjson urls.txt');
    expect(filtered.text).toMatch(/^deny\t.*\nallow\t.*\nunknown\t/);
    expect(filtered.stderr).not.toContain('bad.ndjson:1');
    const { code, stderr } = await it.run('compile --records --robots-dir bad.ndjson -o t');
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('warning');
  });

  test('may have a shard of its own', async () => {
    const it = place();
    const dated = '{"host":"tea.example","robots":"","fetched":"2024-01-15"}';
    const undated = '{"host":"b.example","robots":"","fetched":"x"}';
    it.write('some.ndjson', `${dated}\n${undated}\n`);
    const hosts: string[] = [];
    for (const only of ['0', '1', '2', '3', 'manifest']) {
      const args = `compile --history --robots-dir some.ndjson --shards 4 --only ${only} -o t`;
      const { code, stderr } = await it.run(args);
      expect([only, code]).toEqual([only, 0]);
      hosts.push(...(/(\d) hosts? from/.exec(stderr) ?? []).slice(1));
    }
    expect(hosts.sort()).toEqual(['0', '0', '0', '1']);
  });

  test.each([[''], ['--shards 2 ']])('is left out of a history, and named (%s)', async (shards) => {
    for (const [members, message] of BAD) {
      const it = place();
      const good = { ...BODY, host: 'b.example', fetched: '2024-01-01' };
      it.write('bad.ndjson', line(good) + line({ ...BODY, ...members }));
      const args = `compile --history --robots-dir bad.ndjson ${shards}-o h.table`;
      const { code, stderr } = await it.run(args);
      expect(code, stderr).toBe(0);
      const warnings = lines(stderr).filter((each) => each.includes('warning'));
      expect(warnings).toEqual([
        `robots-filter: warning: bad.ndjson:2: ${message}; left out, because --history needs a date.`,
        expect.stringContaining('1 robots.txt file of 2 in bad.ndjson left out of the history'),
      ]);
      expect(await verdictsAt(it, '2100-01-01')).toBe('unknown unknown allow');
    }
  });

  test('has the date of its other member', async () => {
    const it = place();
    const dated = [
      { fetched: '2024-01-01', fetch_time: 350 },
      { fetched: true, fetch_time: '2024-01-01' },
      { fetched: '2024-01-01', fetch_time: '2500-01-01' },
      { fetched: '2024-01-01', fetch_time: 1704067200 },
    ];
    for (const members of dated) {
      it.write('r.ndjson', line({ ...BODY, ...members }));
      const { code, stderr } = await it.run(
        'compile -q --history --robots-dir r.ndjson -o h.table',
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(await verdictsAt(it, '2024-01-01')).toBe('deny allow unknown');
    }
  });

  test('is counted by kind where there are many', async () => {
    const it = place();
    it.write('bad.ndjson', line({ ...BODY, fetched: 'soon' }).repeat(25));
    const both = '--robots-dir robots.ndjson --robots-dir bad.ndjson';
    const { stderr } = await it.run(`compile --history ${both} -o h.table`);
    expect(stderr).toContain('the first 10 of them above: 25 bad-date');
  });
});

describe('directories that are named by dates', () => {
  test.each([[''], ['--shards 2 ']])('give their files dates (%s)', async (shards) => {
    const it = workplace();
    const rules = (path: string): string => `User-agent: *\nDisallow: ${path}\n`;
    it.write('all/2024-01-01/a.example', rules('/old'));
    it.write('all/20240601/https/a.example/robots.txt', rules('/new'));
    it.write('all/2025-01-01T12:00:00Z/a.example.txt', rules('/'));
    it.write('all/2025-01-01T12:00:00Z/b.example/robots.txt', rules('/'));
    it.write('all/2024-01-01/https/b.example/robots.txt', rules('/x'));
    // A date of its own counts: that of a record, and of a fetch.
    it.write(
      'all/own.ndjson',
      `${JSON.stringify({ host: 'c.example', fetched: '2023-01-01', robots: rules('/') })}\n`,
    );
    it.write('all/2024-01-01/records.ndjson', '');
    const command = `compile --history --robots-dir all ${shards}-o h.table`;
    const { code, stderr } = await it.run(command);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      '2024-01-01/records.ndjson: Files of records and archives are read at the top',
    );
    const history = async (host: string): Promise<string[]> =>
      lines((await it.run(`inspect h.table ${host} --history --json`)).text)
        .map((line) => JSON.parse(line))
        .map(({ schemes, since, source }) => `${schemes} ${since} ${source}`);
    expect(await history('a.example')).toEqual([
      'http 2024-01-01T00:00:00Z 2024-01-01/a.example',
      'http 2025-01-01T12:00:00Z 2025-01-01T12:00:00Z/a.example.txt',
      'https 2024-01-01T00:00:00Z 2024-01-01/a.example',
      'https 2024-06-01T00:00:00Z 20240601/https/a.example/robots.txt',
    ]);
    expect(await history('c.example')).toEqual(['http,https 2023-01-01T00:00:00Z own.ndjson:1']);
    const verdicts = async (date: string): Promise<string> => {
      it.write('urls.txt', 'https://a.example/old\nhttp://a.example/old\nhttp://b.example/x\n');
      const { text } = await it.run(
        `-q --table h.table --as-of ${date} --format verdicts urls.txt`,
      );
      return lines(text).join(' ');
    };
    expect(await verdicts('2024-05-31')).toBe('deny deny unknown');
    expect(await verdicts('2024-06-01')).toBe('allow deny unknown');
    expect(await verdicts('2025-01-01T12:00:00Z')).toBe('allow deny deny');
  });

  test('are directories of hosts without --history', async () => {
    const it = workplace();
    it.write('all/2024-01-01/a.example', 'User-agent: *\nDisallow: /\n');
    it.write('all/20240601/robots.txt', 'User-agent: *\nDisallow: /\n');
    const { code, stderr } = await it.run('compile --robots-dir all -o h.table');
    expect(code).toBe(0);
    expect(stderr).toContain('all/2024-01-01: A directory without a robots.txt; skipped');
    expect(stderr).toContain('1 host');
  });
});
