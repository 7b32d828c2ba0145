import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect } from 'vitest';
import { captureOf, recordOf, responseOf, robotsOf } from '../warc/warc-bytes.js';
import { test, type Workplace, workplace } from './command-line.js';

/** The lines of standard error that warn or note, without the program's name. */
function said(stderr: string): string[] {
  return stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace('robots-filter: ', ''));
}

const URLS = 'https://example.com/private/a\nhttps://example.com/\n';

describe('an agent that no robots.txt names', () => {
  const here = (names: string, question = ''): string =>
    `${question === '' ? '' : 'warning: '}no robots.txt here has a group for ${names} everywhere${question}`;

  /** A workplace with robots.txt files, a table of them, and one in shards. */
  async function sources(): Promise<Workplace> {
    const place = workplace();
    place.write('robots/own.example', 'User-agent: AcmeCrawler\nDisallow: /\n');
    place.write('urls.txt', URLS);
    for (const options of [
      ['-o', 't'],
      ['-o', 'd', '--shards', '3'],
    ]) {
      const { code } = await place.run(['compile', '-q', '--robots-dir', 'robots', ...options]);
      expect(code).toBe(0);
    }
    return place;
  }

  test.each([
    ['GTPBot', here('GTPBot, so "*" decides', '. Did you mean GPTBot?')],
    ['acmecrawlr', here('acmecrawlr, so "*" decides', '. Did you mean acmecrawler?')],
    // Known, and far from every other: no mistake.
    ['bingbot', here('bingbot, so "*" decides')],
    ['Mine', here('Mine, so "*" decides')],
    ['X>Zz', here('X>Zz, so "*" decides')],
    ['Xx>GTPBot', here('Xx>GTPBot, so "*" decides', '. Did you mean GPTBot?')],
    [
      'GTPBot,GPTBot,Mine',
      here('GTPBot or Mine, so "*" decides for them', '. Did you mean GPTBot (not GTPBot)?'),
    ],
    ['*', undefined],
    ['GPTBot', undefined],
    ['gptbot', undefined],
    ['Mine>CCBot', undefined],
    ['ACMECRAWLER', undefined],
  ])('%s is named in one line by every command', async (agent, line) => {
    const place = await sources();
    const lines = line === undefined ? [] : [line];
    for (const args of [
      ['--robots-dir', 'robots', '-a', agent, 'urls.txt'],
      ['--table', 't', '-a', agent, 'urls.txt'],
      ['diff', 'robots', 't', '-a', agent],
      ['audit', '--robots-dir', 'robots', '-a', agent],
      ['audit', '--table', 't', '-a', agent],
      ['compile', '--robots-dir', 'robots', '-a', agent, '-o', 'small'],
      ['serve', '--table', 'd', '-a', agent],
      ['serve', '--robots-dir', 'robots', '-a', agent],
    ]) {
      const { code, stderr } = await place.run(args);
      expect(code).toBe(0);
      expect(
        said(stderr).filter((each) => each.includes('has a group')),
        args[0],
      ).toEqual(lines);
      if (agent !== 'GTPBot') continue;
      const quiet = await place.run([...args, '-q']);
      expect(quiet).toMatchObject({ code: 0, stderr: '' });
    }
  });

  test('a table that is read in part says so', async () => {
    const place = await sources();
    const args = ['--table', 'd', '-a', 'GTPBot', 'urls.txt'];
    expect(said((await place.run(args)).stderr)).toEqual([
      'warning: no robots.txt in the shards that were read has a group for GTPBot, so "*" decides everywhere. Did you mean GPTBot?',
    ]);
  });

  test('a list of agents is one line, and a User-Agent header is named by its token', async ({
    place,
  }) => {
    const { stderr } = await place.run('--robots-dir robots -a @ai-training', URLS);
    expect(said(stderr)).toEqual([
      expect.stringMatching(
        /^no robots.txt here has a group for \d\d of \d\d agents \(ClaudeBot, anthropic-ai, Claude-Web, …\), so/,
      ),
    ]);
    const header = 'Mozilla/5.0 (compatible; bingbot/2.0)';
    const named = await place.run(['--robots-dir', 'robots', '-a', header], URLS);
    expect(said(named.stderr)[1]).toContain('a group for bingbot, so');
  });

  test('in check and diff the place is one robots.txt, and a side may be the one that names it', async ({
    place,
  }) => {
    const { code, stderr } = await place.run('check robots/example.com GTPBot /cc/');
    expect(code).toBe(0);
    expect(said(stderr)).toEqual([
      'warning: robots/example.com has no group for GTPBot, so "*" decides everywhere. Did you mean GPTBot?',
    ]);
    place.write('new.txt', 'User-agent: Mine\nDisallow: /\n');
    const changed = await place.run('diff robots/example.com new.txt -a Mine');
    expect(changed.stderr).not.toContain('has a group');
  });

  test('compile --shards finds an agent in any shard, and --only N says nothing', async ({
    place,
  }) => {
    const compile = ['compile', '--robots-dir', 'robots', '--shards', '2', '-o', 'd', '-a'];
    const both = await place.run([...compile, 'CCBot,GTPBot']);
    expect(said(both.stderr)[0]).toContain('a group for GTPBot, so');
    for (const only of ['0', '1']) {
      const { stderr } = await place.run([...compile, 'CCBot,GTPBot', '--only', only]);
      expect(stderr).not.toContain('has a group');
    }
  });
});

describe('a source or table without hosts', () => {
  const EMPTY = [
    'nothing',
    'skipped',
    'none.ndjson',
    'none.ndjson.gz',
    'pages.warc',
    'none.parquet',
  ];
  const TABLES = ['t', 'd'];

  async function sources(): Promise<Workplace> {
    const place = workplace();
    place.write('nothing/.hidden', '');
    place.write('skipped/page.html', '<html>');
    place.write('none.ndjson', '');
    place.write('none.ndjson.gz', gzipSync(''));
    const page = responseOf(200, robotsOf('/'));
    place.write('pages.warc', captureOf('https://a.example/page', page));
    const none = { data: [] as string[], type: 'STRING' as const };
    const columnData = [
      { name: 'host', ...none },
      { name: 'content', ...none },
    ];
    place.write('none.parquet', new Uint8Array(parquetWriteBuffer({ columnData })));
    for (const options of [
      ['-o', 't'],
      ['-o', 'd', '--shards', '2'],
    ]) {
      const compile = ['compile', '--robots-dir', 'nothing', '--allow-empty', ...options];
      const { code, stderr } = await place.run(compile);
      expect(code).toBe(0);
      expect(stderr).toContain('warning: no robots.txt in nothing: every host is unknown');
    }
    return place;
  }

  const OF_SOURCE = [
    ['--robots-dir', 'SOURCE'],
    ['audit', '--robots-dir', 'SOURCE'],
    ['compile', '--robots-dir', 'SOURCE', '-o', 'out.table'],
    ['compile', '--robots-dir', 'SOURCE', '--shards', '2', '-o', 'out'],
    ['serve', '--robots-dir', 'SOURCE'],
  ];
  const OF_PATH = [
    ['diff', 'SOURCE', 'robots'],
    ['diff', 'robots', 'SOURCE'],
    ['records', 'SOURCE'],
  ];

  test('gets advice for what it is: names of files, or members of records', async () => {
    const place = await sources();
    const advice = async (source: string): Promise<string> =>
      (await place.run(['--robots-dir', source], URLS)).stderr;
    expect(await advice('nothing')).toContain('Name the files HOST, HOST.txt');
    expect(await advice('none.ndjson')).toContain('A record needs "host" or "url"');
    expect(await advice('pages.warc')).toContain('a WARC file needs captures of a robots.txt');
  });

  test('is refused by every command, and allowed by --allow-empty', async () => {
    const place = await sources();
    const names = place.names();
    const runs = [
      ...EMPTY.flatMap((source) =>
        [...OF_SOURCE, ...OF_PATH, ['lint', 'SOURCE']].map((args) => [source, args] as const),
      ),
      ...TABLES.flatMap((table) =>
        [
          ['--table', 'SOURCE'],
          ['audit', '--table', 'SOURCE'],
          ['serve', '--table', 'SOURCE'],
          ...OF_PATH,
        ].map((args) => [table, args] as const),
      ),
    ];
    for (const [source, words] of runs) {
      const args = words.map((word) => (word === 'SOURCE' ? source : word));
      const refused = await place.run(args);
      expect(refused.code, args.join(' ')).toBe(2);
      const [last = ''] = said(refused.stderr).slice(-1);
      expect(last).toContain(source);
      expect(last).toContain('--allow-empty');
      expect(refused.text).not.toContain('example');
      // Nothing is replaced by nothing.
      expect(place.names()).toEqual(names);
      const allowed = await place.run([...args, '--allow-empty']);
      expect(allowed.code, `${args.join(' ')}: ${allowed.stderr}`).toBe(0);
      for (const name of ['out.table', 'out'])
        rmSync(join(place.path, name), { recursive: true, force: true });
    }
  });

  test('is not one in which a shard, a choice of hosts or a fetch leaves nothing', async ({
    place,
  }) => {
    for (const only of ['0', '1', '2', '3', 'manifest']) {
      const args = [
        'compile',
        '--robots-dir',
        'robots',
        '--shards',
        '4',
        '--only',
        only,
        '-o',
        'd',
      ];
      expect((await place.run(args)).code, only).toBe(0);
    }
    place.write('hosts.txt', 'new.example\n');
    const audit = await place.run('audit --table d --hosts hosts.txt');
    expect(audit).toMatchObject({ code: 0, text: expect.stringContaining('unknown') });
    const parts = await place.run('serve --table d --parts 3');
    expect(parts).toMatchObject({ code: 0, stderr: '' });
    expect((await place.run('--robots-dir new --fetch', '')).code).toBe(0);
  });

  test('names the option that left everything out', async ({ empty: place }) => {
    place.write('robots/https/a.example/robots.txt', robotsOf('/'));
    place.write(
      'robots/https/a.example/robots.json',
      '{"accessResult":"successful","status":200,"usableUntil":"2020-01-01T00:00:00Z"}',
    );
    const stale = await place.run('--robots-dir robots --stale unknown', URLS);
    expect(stale).toMatchObject({ code: 2, stderr: expect.stringContaining('--stale unknown') });
    place.write('c.warc', captureOf('https://a.example/robots.txt', responseOf(200, '')));
    const early = await place.run('--robots-dir c.warc --as-of 2001-01-01', URLS);
    expect(early).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Use a later --as-of'),
    });
  });
});

test.each([
  [['--robots-dir', 'robots', 'none.txt'], 'warning: none.txt has no records'],
  [['--robots-dir', 'robots'], 'warning: standard input has no records'],
  [
    ['--robots-dir', 'robots', 'none.txt', 'none.csv'],
    'warning: none.txt and none.csv have no records',
  ],
  [['shard', '--of', '2', 'none.csv'], 'warning: none.csv has no records'],
  [['--robots-dir', 'robots', 'urls.txt', 'none.txt'], 'warning: none.txt has no records'],
  [
    ['--robots-dir', 'robots', 'none.txt', 'urls.txt', 'blank.txt', 'none.csv'],
    'warning: none.txt, blank.txt and none.csv have no records',
  ],
  [
    [
      '--robots-dir',
      'robots',
      ...'none.txt urls.txt 1.txt 2.txt 3.txt 4.txt 5.txt 6.txt 7.txt'.split(' '),
    ],
    'warning: none.txt, 1.txt, 2.txt, 3.txt, 4.txt, 5.txt and 2 more have no records',
  ],
  [['audit', '--robots-dir', 'robots', '--hosts', 'none.txt'], 'warning: none.txt names no host'],
  [['diff', 'robots', 'robots', '--urls', 'none.txt'], 'warning: none.txt names no URL'],
  [['lint', 'robots', '--urls', 'none.txt'], 'warning: none.txt names no URL'],
  [['fetch', '--robots-dir', 'new', 'none.txt'], '0 records of 0 authorities'],
  [['records', 'robots', '--kind', 'sitemap'], 'robots has no records of kind sitemap'],
  [['captures', 'info.warc'], 'no captures of robots.txt files in info.warc'],
  [['check', 'none.txt', '*', '/'], 'warning: none.txt is empty, so everything is allowed'],
])('an input without records is named: %j', async (args, line) => {
  const place = workplace();
  place.write('none.txt', '');
  place.write('none.csv', 'url,id\n');
  for (const name of ['blank', 1, 2, 3, 4, 5, 6, 7]) place.write(`${name}.txt`, '\n \n');
  place.write('urls.txt', 'https://example.com/\n');
  place.write('info.warc', recordOf({ type: 'warcinfo', block: 'software: x\r\n' }));
  const { code, stderr } = await place.run(args);
  expect(code).toBe(0);
  expect(said(stderr)).toContain(line);
});

/** Lists for `--urls` that are none, what is said, and the program of the command that mends it. */
const OTHER_LISTS: readonly (readonly [string, string, string])[] = [
  [
    'id,url\n1,https://example.com/\n2,"https://example.com/a,b"\n',
    'columns separated by commas',
    'python3',
  ],
  ['url;id\nhttps://example.com/;1\n', 'columns separated by semicolons', 'python3'],
  ['1,https://example.com/\n2,https://example.com/b\n', 'columns separated by commas', 'python3'],
  ['"id","url"\n"1","https://example.com/"\n', 'columns separated by commas', 'python3'],
  ['name url\nx https://example.com/\n', 'columns separated by spaces', 'awk'],
  ['[{"url":"https://example.com/"}]', 'holds records', 'jq'],
  ['["https://example.com/"]\n', 'holds records', 'jq'],
  ['"https://example.com/"\n', 'holds records', 'jq'],
  ['{"url":"https://example.com/"}', 'holds records', 'jq'],
  ['{\n "url": "https://example.com/",\n "id": 1\n}\n', 'holds records', 'jq'],
  ['com,example)/ 20250101000000 https://example.com/ text/html 200\n', 'holds records', 'grep'],
  [' CDX N b a m\ncom,x)/ 20250101000000 https://example.com/ x\n', 'holds records', 'grep'],
  ['com,example)/ 20250101000000 {"url":"https://example.com/"}\n', 'holds records', 'jq'],
  ['<urlset><url><loc>https://example.com/</loc></url></urlset>\n', 'is a sitemap', 'python3'],
];

const HAS_JQ = spawnSync('jq', ['--version']).status === 0;

test.each(OTHER_LISTS)('--urls refuses a list of other things: %j', async (text, what, program) => {
  const place = workplace();
  place.write('one.txt', robotsOf('/'));
  for (const [name, bytes] of [
    ['list', text],
    ['list.gz', gzipSync(text)],
  ] as const) {
    place.write(name, bytes);
    for (const words of [`check one.txt * --urls ${name}`, `diff robots robots --urls ${name}`]) {
      const { code, text: out, stderr } = await place.run(words.split(' '));
      expect([code, out], words).toEqual([2, '']);
      expect(stderr).toContain(what);
      const [, command = ''] = stderr.match(/(?:out|Type): (.+ FILE \|.+)/) ?? [];
      expect(command).toContain(`${program} `);
      if (program === 'jq' && !HAS_JQ) continue;
      const shell = command.replace('FILE', name).replace(' | robots-filter …', '');
      const urls = (await place.shell(shell)).text.trimEnd().split('\n');
      expect(urls[0], shell).toBe('https://example.com/');
      expect(urls.every((url) => url.startsWith('https://example.com/'))).toBe(true);
    }
  }
  const piped = await place.runAlone('check one.txt * --urls -'.split(' '), text);
  expect([piped.code, piped.text]).toEqual([2, '']);
});

test('--urls refuses rows that a pipe brings in pieces', async () => {
  const place = workplace();
  place.write('one.txt', robotsOf('/'));
  const pieces =
    "printf 'id,'; sleep 0.3; printf 'url\\n1,https://'; sleep 0.3; printf 'a.example/\\n'";
  const { code, text, stderr } = await place.shell(`(${pieces}) | $rf check one.txt '*' --urls -`);
  expect([code, text]).toEqual([2, '']);
  expect(stderr).toContain('columns separated by commas');
});

test('--urls takes a first line as long as what is looked at, and a byte more', async () => {
  const place = workplace();
  place.write('one.txt', robotsOf('/'));
  for (const bytes of [(1 << 16) - 1, 1 << 16, (1 << 16) + 1]) {
    const long = `/${'a'.repeat(bytes - 1)}`;
    for (const end of ['', '\n/b\n', '\r\n/b']) {
      place.write('list', `${long}${end}`);
      const { text } = await place.run('check -q one.txt * --urls list'.split(' '));
      const urls = text
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[1]);
      expect(urls).toEqual(end === '' ? [long] : [long, '/b']);
    }
  }
});

test('--urls takes what may be URLs: commas, semicolons, brackets, a byte order mark', async () => {
  const place = workplace();
  const urls = ['/a,b', 'https://a.example/x;y', 'https://b.example/?q=[1,2]', '/c "d"'];
  place.write('one.txt', robotsOf('/'));
  place.write('list', `\ufeff${urls.join('\n')}\n`);
  const { text } = await place.run('check -q one.txt * --urls list'.split(' '));
  expect(text.split('\n').filter((line) => line.startsWith('deny'))).toHaveLength(4);
});

describe('a run that decides nothing names', () => {
  const objects = ['/a', '/b'].map((path) => ({
    id: '1',
    page: { link: `https://example.com${path}`, next: 'x' },
  }));
  const rows = 'id,the link\n1,https://example.com/\n2,https://example.com/b\n';

  test.each<[string, string, string[], string]>([
    [
      'a member of NDJSON',
      objects.map((each) => JSON.stringify(each)).join('\n'),
      [],
      'The member "page.link" holds URLs. Use --url-field page.link',
    ],
    [
      'a member of JSON',
      JSON.stringify(objects, null, 1),
      [],
      'The member "page.link" holds URLs. Use --url-field page.link',
    ],
    [
      'a name with dots of its own',
      '{"page.link":"https://example.com/","url":7}\n',
      [],
      `Use --url-field '"page.link"'`,
    ],
    [
      'a column of CSV',
      rows,
      ['--url-field', 'id', '--input', 'csv'],
      `The column "the link" holds URLs. Use --url-field 'the link'`,
    ],
    [
      'a column of CSV without a header',
      rows.slice(12),
      ['--no-header', '--url-field', '1', '--input', 'csv'],
      'The column "2" holds URLs. Use --url-field 2',
    ],
    [
      'a column of TSV',
      rows.replaceAll(',', '\t'),
      ['--url-field', 'id', '--input', 'tsv'],
      'The column "the link" holds URLs',
    ],
    [
      'objects read as text',
      '{"url":"https://example.com/"}\n',
      ['--input', 'text'],
      'Their lines are JSON objects. Use --input ndjson',
    ],
    ['rows read as text', rows, ['--input', 'text'], 'Their lines are rows. Use --input csv'],
    ['hosts', 'example.com\n', [], "sed 's,^,https://,'"],
    [
      'another scheme',
      'http://s.example/\n',
      [],
      'The robots.txt of https://s.example (port 443) does not count for http://s.example, which has another scheme',
    ],
    [
      'another port',
      'https://example.com:81/\n',
      [],
      'does not count for https://example.com:81, which has another port',
    ],
    [
      'the host without www.',
      'https://www.example.com/\n',
      [],
      'There is a robots.txt for example.com, and it does not count for www.example.com',
    ],
    [
      'the host with www.',
      '{"url":"https://example.org/"}\n',
      [],
      'There is a robots.txt for www.example.org, and it does not count for example.org',
    ],
    [
      'hosts that are elsewhere',
      'https://far.example/\n',
      [],
      'has no robots.txt for their hosts, such as https://far.example. Check the path',
    ],
  ])('%s', async (_, input, options, cause) => {
    const place = workplace();
    place.write('robots/https/s.example/robots.txt', robotsOf('/'));
    await place.run('compile -q --robots-dir robots --shards 5 -o d');
    for (const source of [
      ['--robots-dir', 'robots'],
      ['--table', 'd'],
    ]) {
      const { code, stderr } = await place.run([...source, ...options], input);
      expect(code).toBe(0);
      const [warning, ...others] = said(stderr).filter((line) => line.includes('got no answer'));
      // A table in shards is read in part: the shard of a sibling may not be there.
      if (cause.startsWith('There is') && source[0] === '--table') continue;
      expect(warning).toContain(cause);
      expect(others).toEqual([]);
    }
    // One record that is decided, and nothing is said.
    const decided = await place.run(
      ['--robots-dir', 'robots', '--input', 'text'],
      `https://example.com/\n${input}`,
    );
    expect(decided.stderr).not.toContain('got no answer');
  });

  test('an authority with an answer is no example', async () => {
    const input = `https://example.com/\n${'https://far.example/\n'.repeat(1200)}`;
    const { stderr } = await workplace().run('--robots-dir robots', input);
    expect(said(stderr).at(-1)).toContain('for their hosts, such as https://far.example. Check');
  });

  test('a column of Parquet', async ({ place }) => {
    const text = (name: string, data: string[]) => ({ name, data, type: 'STRING' as const });
    const columnData = [
      text('url', ['a', 'b', 'c']),
      text('page', objects.map(({ page }) => page.link).concat('https://example.com/')),
    ];
    place.write('u.parquet', new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2 })));
    const { code, stderr } = await place.run('--robots-dir robots u.parquet');
    expect(code).toBe(0);
    expect(said(stderr).at(-1)).toContain('The column "page" holds URLs. Use --url-field page');
  });
});

describe('--spreadsheet', () => {
  const VALUES = ['=1+1', '+1', '-1', '@x', 'a;=1', 'a;b', "'x", '=a,"b"'];

  test('writes an apostrophe before what a spreadsheet would run', async ({ empty: place }) => {
    const file = VALUES.map((value) => `Sitemap: ${value}\n`).join('');
    place.write('robots/-a.example', `${file}User-agent: *\nDisallow: /=\n`);
    place.write('other/-a.example', 'User-agent: *\nDisallow: /\n');
    const valuesOf = async (...options: string[]) => {
      const args = ['records', 'robots', '--kind', 'sitemap', '--format', 'csv', ...options];
      const { code, text } = await place.run(args);
      expect(code).toBe(0);
      return text
        .split('\n')
        .slice(1, -1)
        .map((row) => row.replaceAll('""', '"'));
    };
    const plain = await valuesOf();
    const safe = await valuesOf('--spreadsheet');
    expect(plain.every((row) => row.startsWith('-a.example,'))).toBe(true);
    expect(safe.every((row) => row.startsWith("'-a.example,"))).toBe(true);
    const values = ["'=1+1", "'+1", "'-1", "'@x", "a;'=1", 'a;b', "'x", `'=a,"b"`];
    for (const [index, value] of values.entries()) {
      expect(safe[index]).toContain(value.includes(',') ? `,"${value}` : `,${value},`);
    }
    // The other writers of rows.
    place.write('urls.txt', 'https://-a.example/=\n');
    for (const args of [
      ['audit', '--robots-dir', 'robots'],
      ['diff', 'robots', 'other'],
      ['--robots-dir', 'robots', '--stats-by', 'host', 'urls.txt'],
    ]) {
      const { code, text } = await place.run([...args, '--format', 'csv', '--spreadsheet']);
      expect(code).toBe(0);
      expect(text).toContain("'-a.example");
      for (const wrong of [[], ['--format', 'ndjson']]) {
        const refused = await place.run([...args, ...wrong, '--spreadsheet']);
        expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--format csv') });
      }
    }
    const records = await place.run('--robots-dir robots --spreadsheet urls.txt');
    expect(records).toMatchObject({ code: 2, stderr: expect.stringContaining('--stats-by') });
  });
});

describe('an option that would be dropped is refused', () => {
  test.each([
    ...['--allowed', '--denied'].flatMap((passing) =>
      [['--explain'], ['--verdict-field', 'v']].map((option) => [
        ['--robots-dir', 'robots', passing, ...option],
        `${option[0]} has no effect with ${passing}`,
      ]),
    ),
    ...[
      ['--input', 'csv'],
      ['--url-field', 'link'],
      ['--header'],
      ['--no-header'],
      ['--max-line-bytes', '100'],
    ].map((option) => [
      ['fetch', '--robots-dir', 'new', '--stale', ...option],
      `${option[0]} has no effect with --stale`,
    ]),
    ...['--header', '--no-header'].map((option) => [
      ['--robots-dir', 'robots', option],
      `standard input is read as text, and ${option} has no effect on it`,
    ]),
    [
      ['--robots-dir', 'robots', '--verdict-field', 'v'],
      '--verdict-field names a member or column, and the output is text',
    ],
  ] as [string[], string][])('%j', async (args, message) => {
    const place = workplace();
    const { code, text, stderr } = await place.run(args, URLS);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(message);
    expect(place.names()).toEqual(['robots']);
  });
});
