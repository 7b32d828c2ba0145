import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { COMMAND_NAMES } from '../../src/cli/console.js';
import { ended, lines, test, workplace } from './command-line.js';

test('--version prints the version', async () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  const { code, text, stderr } = await workplace().run('--version');
  expect({ code, text, stderr }).toEqual({ code: 0, text: `${version}\n`, stderr: '' });
});

/** Fails for a line of more than 80 columns that is not one long URL. */
function expectNarrow(text: string): void {
  const wide = lines(text).filter((line) => line.length > 80 && !line.startsWith('https://'));
  expect(wide).toEqual([]);
}

describe('--help', () => {
  test('names every option and command, with examples', async () => {
    const { code, text, stderr } = await workplace().run('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const word of [
      '--robots-dir <dir>',
      '--table <file>',
      '-a, --agent <token,…>',
      '--profile <profile>',
      '--input <format>',
      '--url-field <name>',
      '--verdict-field <name>',
      '--allowed',
      '--denied',
      '--unknown <verdict>',
      '--explain',
      '--strict',
      '-o, --output <file>',
      '--threads <n>',
      '--max-line-bytes <n>',
      '--max-robots-bytes <n>',
      '--follow-links',
      '--stats[=json]',
      '--progress',
      '--no-progress',
      '-q, --quiet',
      'compile',
      'check',
      'inspect',
      'Examples:',
    ]) {
      expect(text).toContain(word);
    }
    expectNarrow(text);
  });

  test('of the filter names --fetch and leaves the other options of fetch to fetch --help', async ({
    place,
  }) => {
    const [filter, fetch] = await Promise.all(
      [['--help'], ['fetch', '--help']].map(async (words) => (await place.run(words)).text),
    );
    expect(filter).toMatch(/^ {2}--fetch$/m);
    for (const option of ['user-agent', 'concurrency', 'per-address', 'pause', 'allow-private']) {
      expect(filter).not.toMatch(new RegExp(`^ {2}--${option}`, 'm'));
      expect(fetch).toMatch(new RegExp(`^ {2}--${option}`, 'm'));
    }
    expect(filter).toContain('see robots-filter fetch --help');
  });

  test.each([
    'compile',
    'fetch',
    'check',
    'lint',
    'agents',
    'inspect',
    'audit',
    'records',
    'diff',
    'serve',
    'shard',
    'captures',
    'completion',
  ])('%s --help, and help', async (command) => {
    const place = workplace();
    const { code, text } = await place.run([command, '--help']);
    expect(code).toBe(0);
    expect((await place.run(['help', command])).text).toBe(text);
    expect(text).toContain(`Usage:\n  robots-filter ${command}`);
    expect(text).toContain('Examples:');
    expectNarrow(text);
  });

  test('commands that are wrapped remain what a shell reads', async ({ place }) => {
    const { text } = await place.run('--help');
    const joined = text.replaceAll(/ \\\n +/g, ' ');
    const command = `robots-filter --fetch --robots-dir robots/ --user-agent 'MyBot/1.0' -a MyBot urls.txt`;
    expect(text).not.toContain(command);
    expect(joined).toContain(command);
  });
});

describe('-h', () => {
  test.each([
    ['the filter', []],
    ['compile', ['compile']],
    ['fetch', ['fetch']],
    ['check', ['check']],
    ['lint', ['lint']],
    ['agents', ['agents']],
    ['inspect', ['inspect']],
    ['audit', ['audit']],
    ['records', ['records']],
    ['diff', ['diff']],
    ['shard', ['shard']],
    ['captures', ['captures']],
    ['serve', ['serve']],
  ])('of %s is one screen with usage, options and examples', async (_, words) => {
    const { code, text, stderr } = await workplace().run([...words, '-h']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const printed = lines(text);
    expect(printed.length).toBeLessThanOrEqual(24);
    for (const line of printed) expect(line.length).toBeLessThanOrEqual(80);
    const command = ['robots-filter', ...words].join(' ');
    expect(text).toContain(`\nUsage: ${command} `);
    expect(text).toMatch(/^ {2}(?:-\w, )?--[\w-]+.* {2}[A-Z].*\.$/m);
    expect(text).toContain('\nExamples:\n  ');
    expect(printed.at(-1)).toContain(`${command} --help for everything.`);
  });

  test('of the filter has ten options, five examples and all commands', async () => {
    const { text } = await workplace().run('-h');
    expect(text.match(/^ {2}(?:-\w, )?--/gm)).toHaveLength(10);
    const examples = text.slice(text.indexOf('\nExamples:\n'));
    expect(examples.match(/^ {2}.*robots-filter /gm)).toHaveLength(5);
    const names = COMMAND_NAMES.filter(
      (name) => !['completion', 'shard', 'captures', 'serve'].includes(name),
    );
    expect(text).toContain(`Commands: ${names.join(', ')}.`);
  });

  test('overrides other options and does not run the command', async ({ place }) => {
    const { code, text } = await place.run('--robots-dir robots -qh missing.txt');
    expect({ code, text }).toEqual({ code: 0, text: (await place.run('-h')).text });
  });
});

describe('a --user-agent that no header can hold', () => {
  const COMMANDS = [
    ['fetch', '--robots-dir', 'store'],
    ['--fetch', '--robots-dir', 'store', '--allow-private'],
  ];

  test.each([
    ['My\nBot', 'Character 3 is U+000A;'],
    ['MyBot\r\nCookie: a', 'Character 6 is U+000D;'],
    ['Bücher', 'Character 2 is U+00FC;'],
    ['Bot \u{1f4da}', 'Character 5 is U+1F4DA;'],
    ['\u001b[31mBot', 'Character 1 is U+001B;'],
    ['', 'It is empty.'],
    ['(bot)', 'Begin with your product token'],
    ['1.0', 'no product token'],
  ])('is refused: %j', async (userAgent, reason) => {
    const place = workplace();
    for (const args of COMMANDS) {
      const { code, text, stderr } = await place.run([...args, '--user-agent', userAgent]);
      expect({ code, text }).toEqual({ code: 2, text: '' });
      expect(stderr).toContain("'--user-agent <text>'");
      expect(stderr).toContain(reason);
      expect(stderr).toContain('such as MyBot/1.0');
      expect(isPrintable(stderr)).toBe(true);
      expect(place.names()).toEqual(['robots']);
    }
  });

  test('is refused before anything is read', async ({ place }) => {
    for (const args of COMMANDS) {
      // Standard input does not end.
      const { code } = await ended(place.start([...args, '--user-agent', '']));
      expect(code).toBe(2);
    }
  });
});

/** Whether a text is one or more lines of printable characters. */
function isPrintable(text: string): boolean {
  return lines(text).every((line) => [...line].every((character) => !isControl(character)));
}

const isControl = (character: string): boolean => character < ' ' || character === '\u007f';

describe('wrong usage: exit 2, nothing on standard output, and a remedy', () => {
  const place = () => {
    const here = workplace();
    here.write('urls.txt', 'https://example.com/\n');
    here.write('one.txt', '# What may be fetched\n User-Agent : *\nDisallow: /a\n');
    return here;
  };

  test.each<[args: string, ...sentences: string[]]>([
    ['', 'no robots.txt files', '--robots-dir DIR', '--table FILE'],
    ['urls.txt', 'robots-filter --robots-dir DIR urls.txt', 'robots-filter --table FILE urls.txt'],
    ['robots urls.txt', 'type: robots-filter --robots-dir robots urls.txt'],
    ['robots', 'type: robots-filter --robots-dir robots urls.txt'],
    [
      'robots urls.txt -a A>B,@seo',
      "type: robots-filter --robots-dir robots -a 'A>B,@seo' urls.txt",
    ],
    ['--fetch', '--fetch needs a directory', 'robots-filter --robots-dir robots --fetch urls.txt'],
    ['--fetch -a GPTBot -', 'Type: robots-filter --robots-dir robots --fetch -a GPTBot -'],
    [
      '--robots-dir one.txt -a GPTBot urls.txt',
      'one.txt is one robots.txt, without its host',
      '\n  robots-filter check one.txt -a GPTBot - < urls.txt\n',
      '\n  mkdir one-host && cp one.txt one-host/example.com && robots-filter --robots-dir one-host -a GPTBot urls.txt\n',
    ],
    ['--robots-dir one.txt', '\n  robots-filter check one.txt - < urls.txt\n'],
    [
      'one.txt urls.txt -a @seo',
      'type\n  robots-filter check one.txt -a @seo - < urls.txt\n',
      'robots-filter --robots-dir one-host -a @seo urls.txt',
    ],
    ['audit urls.txt', 'no user-agent line', 'robots-filter audit PATH --hosts urls.txt'],
    ['audit robots --robots-dir robots', 'Leave one out', 'robots-filter audit robots robots'],
    ['audit one.txt robots', 'names no host', 'Audit it alone: robots-filter audit one.txt'],
    ['audit one.txt --hosts urls.txt', '--hosts is about many hosts', 'Leave --hosts out'],
    ['audit one.txt --stale use', '--stale has no effect on one robots.txt'],
    ['compile robots --robots-dir more -o t', 'robots-filter compile more robots'],
    ['compile one.txt -o t', 'robots-filter compile --robots-dir one-host -o t'],
    ['serve one.txt', '/example.com && robots-filter serve --robots-dir one-host'],
    ['inspect one.txt a.example', 'one.txt is one robots.txt', 'a host has no effect'],
    ['inspect one.txt --verify', '--verify has no effect. Leave it out'],
    ['inspect robots --verify', '--verify checks a table', 'Leave --verify out'],
    ['inspect robots -a GPTBot', 'robots-filter audit robots --agent GPTBot for all hosts'],
    ['inspect urls.txt', 'urls.txt: not a table'],
    ['check one.txt', 'needs a URL', "Type: robots-filter check one.txt -a '*' /"],
    ['check one.txt -a GPTBot', 'Type: robots-filter check one.txt -a GPTBot /'],
    ['check one.txt CCBot /a -a GPTBot', 'Type: robots-filter check one.txt -a GPTBot,CCBot /a'],
    ['check one.txt * -a GPTBot', "Type: robots-filter check one.txt -a 'GPTBot,*'"],
    ['check one.txt -a GPTBot,gptbot /a', 'are the same agent'],
    ['check one.txt /a --stale use', '--stale has no effect on one robots.txt'],
    ['check one.txt /a --history', 'one.txt is one robots.txt. Leave --history out'],
    ['check one.txt - --urls -', '- is named twice'],
    ['check - --urls -', 'robots-filter check robots.txt -a AGENT - < urls.txt'],
    ['check robots /a', '/a is no http, https or ftp URL', 'https://HOST/a'],
    ['check robots urls.txt /a', 'https://HOST/a'],
    ['check robots -a GPTBot urls.txt', 'robots-filter check robots -a GPTBot --urls urls.txt'],
    ['check robots https://a.example/ --as-of 2025-01-01', 'Leave --as-of out'],
    [
      'audit --robots-dir one.txt',
      'one-host/example.com && robots-filter audit --robots-dir one-host',
    ],
    [
      'compile one.txt',
      'one-host/example.com && robots-filter compile --robots-dir one-host -o FILE',
    ],
    ['serve --robots-dir one.txt', '/example.com && robots-filter serve --robots-dir one-host'],
    ['chek one.txt GPTBot /', 'Did you mean check? Type: robots-filter check one.txt GPTBot /'],
    [
      'complie --robots-dir robots',
      'no command and no file complie',
      'robots-filter compile --rob',
    ],
    ['lnt --fix one.txt', 'Type: robots-filter lint --fix one.txt'],
    ['filter --robots-dir robots', 'without a word', 'Type: robots-filter --robots-dir robots'],
    ['--robots-dri robots', "unknown option '--robots-dri'", 'Did you mean --robots-dir?'],
    ['--robots-dir robots --agents GPTBot', "unknown option '--agents'", '--agent?'],
    ['--robots-dir robots compil', 'compil: no such file', 'Or did you mean the command compile?'],
    ['--robots-dir robots --allowed --denied', "'--allowed' cannot be used with", "'--denied'"],
    ['--robots-dir robots --table t', '--table and --robots-dir cannot be combined', 'compile'],
    ['--table t --max-robots-bytes 600000', '--max-robots-bytes has no effect on a table'],
    ['--table t --follow-links', '--follow-links has no effect on a table'],
    ['--robots-dir robots --user-agent GPTBot', '--user-agent has no effect', '--fetch', '--agent'],
    ['--table t --concurrency 3', '--concurrency has no effect without --fetch. Leave it out'],
    ['--robots-dir robots --allow-private', '--allow-private has no effect', '--fetch'],
    ['--robots-dir robots --ca x.pem', '--ca has no effect without --fetch. Add --fetch'],
    ['--robots-dir robots --proxy env', '--proxy has no effect without --fetch. Add --fetch'],
    [
      'fetch --robots-dir a --proxy socks5://p',
      '--proxy: only http and https proxies',
      'env, or none',
    ],
    ['fetch --robots-dir a --proxy http://p --proxy env', '--proxy was given twice'],
    [
      'fetch --robots-dir a --proxy-forward urls.txt',
      '--proxy-forward has no effect',
      'Add --proxy',
    ],
    [
      'fetch --robots-dir a --proxy p:1 --per-address 2 urls.txt',
      '--per-address has no effect with --proxy',
    ],
    ['--robots-dir robots --verdict-field line', '--verdict-field line is a member'],
    ['--robots-dir robots --verdict-field input', '--verdict-field input is a member'],
    ['--table t --table u', "'--table <file>'", 'It was already given as t.'],
    ['compile --robots-dir a -o b -o c', "'-o, --output <file>'", 'It was already given as b.'],
    ['fetch --robots-dir a --ca b --ca c', "'--ca <file>'", 'It was already given as b.'],
    ['fetch --robots-dir a --robots-dir b', "'--robots-dir <dir>'", 'It was already given as a.'],
    ['--table t --stale unknown', '--stale has no effect on a table'],
    ['--table t --unreachable-after 3', '--unreachable-after has no effect on a table'],
    ['audit --table t --robots-column b', '--robots-column has no effect on a table'],
    ['audit --table t --robots-dir robots', '--table and --robots-dir cannot be combined'],
    ['records one.txt --as-of 2025-03-10', '--as-of has no effect on one robots.txt'],
    ['diff one.txt one.txt --host-column a', '--host-column has no effect on one robots.txt'],
    ['lint one.txt one.txt --follow-links', '--follow-links has no effect on one robots.txt'],
    ['serve --shards 3 -a GPTBot', '--agent has no effect with --shards', 'Leave it out'],
    ['serve --shards 3 --stale unknown', '--stale has no effect with --shards'],
    ['--table robots urls.txt', 'robots is a directory', '--robots-dir robots'],
    ['--table none urls.txt', 'none: no such file'],
    ['--robots-dir none urls.txt', 'none: cannot be read', 'Name a directory of robots.txt files'],
    ['--robots-dir urls.txt urls.txt', 'urls.txt: neither a directory nor a file of records'],
    ['--robots-dir robots --threads 0', '--threads', 'a whole number from 1 to 256'],
    ['--robots-dir robots --threads two', '--threads', 'a whole number from 1 to 256'],
    [
      '--robots-dir robots --max-line-bytes 1e6',
      '--max-line-bytes',
      'a whole number of bytes from 1 to 536,870,912',
    ],
    ['--robots-dir robots --max-robots-bytes 1000', 'a whole number of bytes from 512,000'],
    ['--robots-dir robots --profile rfc', 'Allowed choices are rfc9309, google'],
    ['--robots-dir robots --unknown maybe', 'Allowed choices are allow, deny, unknown'],
    ['--robots-dir robots --input xml', 'Allowed choices are auto, text, ndjson, json, csv, tsv'],
    ['--robots-dir robots --url-field a..b', 'such as request.url'],
    ['--robots-dir robots --stats=xml', 'Use --stats or --stats=json'],
    ['--robots-dir robots -a Foo/1.0', '"Foo/1.0" is not a product token', 'use "Foo"'],
    ['--robots-dir robots -a @ai-trainig', 'no list of agents', 'Did you mean @ai-training?'],
    ['--robots-dir robots -a A,,B', 'empty product token', '--agent GPTBot'],
    ['--robots-dir robots -a A,B,A', 'the agent "A" is named twice. Name it once'],
    ['--robots-dir robots -a gptbot,GPTBot', '"gptbot" and "GPTBot" are the same agent'],
    ['--robots-dir robots -a A>b,a>B --profile google', '"A>b" and "a>B" are the same agent'],
    ['--robots-dir robots --explain --verdict-field rule', 'Choose another'],
    ['--robots-dir robots --verdict-field url', 'the member with the URL. Choose another name'],
    ['--robots-dir robots --url-field verdict', 'the member with the URL. Choose another'],
    ['--robots-dir robots --explain --url-field rule', 'the member with the URL'],
    ['--robots-dir robots --url-field a.b --verdict-field a', 'Choose another'],
    ['--robots-dir robots compile -o t', '--robots-dir comes before the command'],
    ['compile -o t', 'robots-filter compile DIR -o t'],
    ['compile --robots-dir robots -o -', 'compile cannot write a table to standard output'],
    ['compile --robots-dir robots', 'robots-filter compile robots -o FILE'],
    ['check', "missing required argument 'path'"],
    ['check robots/example.com GPTBot', 'check needs a URL', 'example.com -a GPTBot /'],
    ['inspect', "missing required argument 'path'"],
    ['help nosuch', 'there is no command nosuch', 'robots-filter help COMMAND', 'compile, fetch'],
    ['help compil', 'there is no command compil', 'Did you mean compile?'],
    ['--robots-dir robots --input text --url-field u', '--url-field has no effect on text'],
    ['--robots-dir robots --url-field u urls.txt', 'urls.txt is text', '--input ndjson'],
    ['--robots-dir robots --verdict-field record', 'records that are not objects'],
    ['inspect t --all', "unknown option '--all'"],
  ])('robots-filter %s', async (args, ...sentences) => {
    const here = place();
    const before = here.names();
    const { code, text, stderr } = await here.run(args === '' ? [] : args.split(' '));
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr.startsWith('robots-filter: ')).toBe(true);
    for (const sentence of sentences) expect(stderr).toContain(sentence);
    expect(stderr).not.toContain('    at ');
    expect(here.names()).toEqual(before);
  });

  // What to type is composed from what was typed for another command.
  test.each<[args: string, command: string]>([
    ['check --robots-dir robots -a GPTBot /a', 'check robots -a GPTBot /a'],
    ['check --table t --agent=GPTBot urls.txt', 'check t -a GPTBot --urls urls.txt'],
    ['check --robots-dir robots', 'check robots -a GPTBot /'],
    ['check https://a.example/b GPTBot', 'check - -a GPTBot https://a.example/b'],
    ['inspect --table t', 'inspect t'],
    ['inspect --table t example.com -a GPTBot --json', 'inspect t example.com -a GPTBot --json'],
    ['inspect --robots-dir robots example.com', 'inspect robots example.com'],
    ['inspect example.com t', 'inspect t example.com'],
    ['inspect example.com robots -a GPTBot', 'inspect robots example.com -a GPTBot'],
    ['lint', 'lint robots.txt'],
    ['lint --robots-dir robots --format json', 'lint robots --format json'],
    ['records --table t --kind sitemap', 'records t --kind sitemap'],
    ['records robots one.txt -a GPTBot', 'records one.txt'],
    ['diff --robots-dir robots --robots-dir t', 'diff robots t'],
    ['diff robots', 'diff robots NEW'],
    ['compile --robots-dir robots robots -o x', 'compile robots robots'],
    ['compile --table t', 'compile t -o robots.table'],
    ['fetch --table t urls.txt', 'fetch --robots-dir robots urls.txt'],
    ['fetch robots urls.txt', 'fetch --robots-dir robots urls.txt'],
    ['shard 4 urls.txt', 'shard --of 4 urls.txt'],
    ['shard --of 4 --robots-dir robots urls.txt', 'shard --of 4 urls.txt'],
    ['captures --robots-dir x.warc', 'captures x.warc'],
    ['agents -a GPTBot', 'agents GPTBot'],
  ])('robots-filter %s: the command that works', async (args, command) => {
    const here = place();
    await here.run('compile --robots-dir robots -o t -q');
    here.write('one.ndjson', '{"host":"a.example","robots":""}\n');
    const { code, text, stderr } = await here.run(args.split(' '));
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toMatch(/[Tt]ype: /);
    expect(stderr).toContain(`robots-filter ${command}\n`);
    expect(stderr).not.toContain('Did you mean');
  });

  test('records and captures that hold a user-agent line are no robots.txt', async () => {
    const here = place();
    const body = 'HTTP/1.1 200 OK\n\nUser-agent: *\nDisallow: /a\n';
    const capture = [
      'WARC/1.0',
      'WARC-Type: response',
      'WARC-Date: 2025-03-10T00:00:00Z',
      'WARC-Target-URI: https://example.com/robots.txt',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\n');
    here.write('CRAWL.warc', capture);
    const { code, text } = await here.run(
      ['--robots-dir', 'CRAWL.warc'],
      'https://example.com/a\n',
    );
    expect({ code, text }).toEqual({ code: 0, text: 'deny\thttps://example.com/a\n' });
    here.write('capture', capture);
    const { stderr } = await here.run('--robots-dir capture', 'https://example.com/a\n');
    expect(stderr).toContain('capture: ');
    expect(stderr).not.toContain('one robots.txt');
  });

  test('what to type has quotes where a shell needs them, and works', async () => {
    const here = place();
    here.write("it's/example.com", 'User-agent: *\nDisallow: /a\n');
    const { stderr } = await here.run(['inspect', '--robots-dir', "it's", 'example.com']);
    const [, command = ''] = /Type: robots-filter (.*)/.exec(stderr) ?? [];
    const { code, text } = await here.shell(`$rf ${command} --json`);
    expect({ code, rows: lines(text).length }).toEqual({ code: 0, rows: 1 });
  });

  test('a table instead of a directory or a list', async () => {
    const here = place();
    await here.run('compile --robots-dir robots -o t -q');
    expect((await here.run('--robots-dir t')).stderr).toContain('t is a table. Use --table t');
    expect((await here.run('t urls.txt')).stderr).toContain(
      't is a table. Type: robots-filter --table t urls.txt',
    );
  });
});

test('--url-field is accepted if an input may have the member', async ({ place: here }) => {
  here.write('urls.txt', 'https://example.com/\n');
  here.write('empty.txt', '\n');
  here.write('list', '{"u":"https://example.com/"}\n');
  for (const files of [['empty.txt'], ['list'], ['list', 'urls.txt']]) {
    const { code, stderr } = await here.run([
      '--robots-dir',
      'robots',
      '--url-field',
      'u',
      ...files,
    ]);
    const isEmpty = files[0] === 'empty.txt';
    const said = isEmpty ? 'robots-filter: warning: empty.txt has no records\n' : '';
    expect({ code, stderr }).toEqual({ code: 0, stderr: said });
  }
  const { code, stderr } = await here.run('fetch --robots-dir c --url-field u urls.txt');
  expect(code).toBe(2);
  expect(stderr).toContain('urls.txt is text, one URL per line');
});
