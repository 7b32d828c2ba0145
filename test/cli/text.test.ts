import { describe, expect } from 'vitest';
import { lines, test, workplace } from './command-line.js';

const INPUT = [
  'https://example.com/a\r',
  'https://example.com/private/x',
  '',
  ' \t ',
  'https://example.com/private/open',
  'nothing',
  'http://other.example/',
  'https://www.example.org/x.gif',
  'https://example.com/last',
].join('\n');

describe('text: VERDICT, tab, URL', () => {
  test('a carriage return inside a line is not part of a URL: the list may have CR line ends', async () => {
    const list = 'https://example.com/a\rhttps://example.com/private/x\r';
    const place = workplace();
    const all = await place.run(
      ['--robots-dir', 'robots', '--explain'],
      `${list}\nhttps://example.com/b\r`,
    );
    expect(all.text.split('\n').map((line) => line.split('\t').slice(0, 3))).toEqual([
      ['invalid', list.slice(0, -1), 'return-in-line'],
      ['allow', 'https://example.com/b\r', 'no-rule'],
      [''],
    ]);
    expect(all.stderr).toContain("tr '\\r' '\\n' < FILE | robots-filter");
    expect((await place.run('--robots-dir robots --allowed', list)).text).toBe('');
  });

  test('every record once, in order, byte for byte; empty lines are skipped; a last line without newline counts', async () => {
    const { code, text } = await workplace().run('--robots-dir robots', INPUT);
    expect(code).toBe(0);
    expect(text).toBe(
      [
        'allow\thttps://example.com/a\r',
        'deny\thttps://example.com/private/x',
        'allow\thttps://example.com/private/open',
        'invalid\tnothing',
        'unknown\thttp://other.example/',
        'deny\thttps://www.example.org/x.gif',
        'allow\thttps://example.com/last',
        '',
      ].join('\n'),
    );
  });

  test('the word mustard where a tar archive has its mark is text, in a list and in a robots.txt', async ({
    place,
  }) => {
    const filling = '#'.repeat(255);
    place.write('robots/m.example', `${filling}\nmustard\nUser-agent: *\nDisallow: /mustard\n`);
    const list = `https://m.example/?${'a'.repeat(237)}mustard\nhttps://m.example/mustard\n`;
    expect([place.read('robots/m.example').indexOf('ustar'), list.indexOf('ustar')]).toEqual([
      257, 257,
    ]);
    const { text } = await place.run('--robots-dir robots', list);
    expect(text.split('\n').map((line) => line.split('\t')[0])).toEqual(['allow', 'deny', '']);
  });

  test('bytes that are not UTF-8 come out unchanged', async () => {
    const input = Buffer.from(
      'https://example.com/\xff\xfe\x80\nhttps://example.com/private/\xe9\n',
      'latin1',
    );
    const { stdout } = await workplace().run('--robots-dir robots', input);
    expect(stdout.toString('latin1')).toBe(
      'allow\thttps://example.com/\xff\xfe\x80\ndeny\thttps://example.com/private/\xe9\n',
    );
  });

  test('no input, no output', async () => {
    const { code, text, stderr } = await workplace().run('--robots-dir robots', '');
    expect({ code, text }).toEqual({ code: 0, text: '' });
    expect(stderr).toBe('robots-filter: warning: standard input has no records\n');
  });
});

describe('--allowed and --denied', () => {
  test('--allowed passes allowed lines unchanged, without blank lines, and counts the rest', async () => {
    const { code, text, stderr } = await workplace().run(
      ['--robots-dir', 'robots', '--allowed'],
      INPUT,
    );
    expect(code).toBe(0);
    expect(text).toBe(
      'https://example.com/a\r\nhttps://example.com/private/open\nhttps://example.com/last\n',
    );
    expect(stderr).toContain('left out 1 unknown and 1 invalid records');
  });

  test('--denied passes denied lines', async () => {
    const { text } = await workplace().run('--robots-dir robots --denied -q', INPUT);
    expect(text).toBe('https://example.com/private/x\nhttps://www.example.org/x.gif\n');
  });

  test('several agents: --allowed passes URLs that all may fetch, --denied URLs that any may not fetch', async () => {
    const input =
      'https://example.com/a\nhttps://example.com/cc/a\nhttps://example.com/private/a\n';
    const place = workplace();
    const args = ['--robots-dir', 'robots', '-a', 'CCBot,*'];
    expect((await place.run([...args, '--allowed'], input)).text).toBe('https://example.com/a\n');
    expect((await place.run([...args, '--denied'], input)).text).toBe(
      'https://example.com/cc/a\nhttps://example.com/private/a\n',
    );
  });
});

describe('--unknown', () => {
  test.each([
    ['allow', '--allowed'],
    ['deny', '--denied'],
  ])('%s: as if its robots.txt said so', async (verdict, filter) => {
    const place = workplace();
    const input = 'http://other.example/\n';
    const args = ['--robots-dir', 'robots', '--unknown', verdict];
    expect((await place.run(args, input)).text).toBe(`${verdict}\t${input}`);
    const { text, stderr } = await place.run([...args, filter], input);
    expect(text).toBe(input);
    expect(stderr).toBe('');
  });
});

describe('--agent', () => {
  test('several agents, by commas or by repetition: one verdict for each, in the order given', async ({
    place,
  }) => {
    const input =
      'https://example.com/private/a.gif\nhttps://example.com/private/a\nhttp://other.example/\n';
    const expected =
      'deny,deny,deny\thttps://example.com/private/a.gif\n' +
      'deny,allow,deny\thttps://example.com/private/a\n' +
      'unknown,unknown,unknown\thttp://other.example/\n';
    const args = ['--robots-dir', 'robots'];
    expect((await place.run([...args, '-a', 'gptbot, CCBot,*'], input)).text).toBe(expected);
    const repeated = [...args, '--agent', 'GPTBot', '-a', 'CCBot', '-a', '*'];
    expect((await place.run(repeated, input)).text).toBe(expected);
  });

  test("'A>B': the first token that has a group decides (RFC 9309 section 2.2.1)", async () => {
    const input = 'https://example.com/cc/\nhttps://example.com/private/\n';
    const { text } = await workplace().run(
      ['--robots-dir', 'robots', '-a', 'CCBot-News>CCBot>GPTBot,Other>GPTBot', '--explain'],
      input,
    );
    expect(lines(text)[0]).toBe(
      'deny,deny\thttps://example.com/cc/\trule\t9\tDisallow: /cc/\tCCBot\texample.com\trule\t6\tDisallow: /\tGPTBot\texample.com',
    );
    expect(lines(text)[1]?.startsWith('allow,deny\t')).toBe(true);
  });
});

describe('--explain', () => {
  test('adds reason, line, rule, agent and source in columns', async () => {
    const input = [
      'https://example.com/private/x',
      'https://example.com/private/open',
      'https://example.com/',
      'https://example.com/robots.txt',
      'http://other.example/',
      'mailto:a@example.com',
      '',
    ].join('\n');
    const { text } = await workplace().run('--robots-dir robots --explain', input);
    expect(text).toBe(
      [
        'deny\thttps://example.com/private/x\trule\t2\tDisallow: /private/\t*\texample.com',
        'allow\thttps://example.com/private/open\trule\t3\tAllow: /private/open\t*\texample.com',
        'allow\thttps://example.com/\tno-rule\t\t\t\texample.com',
        'allow\thttps://example.com/robots.txt\trobots-txt\t\t\t\texample.com',
        'unknown\thttp://other.example/\tunknown-host\t\t\t\t',
        'invalid\tmailto:a@example.com\tinvalid-url\t\t\t\t',
        '',
      ].join('\n'),
    );
  });

  test('puts the columns before the CR of a CRLF', async () => {
    const { text } = await workplace().run(
      ['--robots-dir', 'robots', '--explain'],
      'https://example.com/private/\r\n',
    );
    expect(text).toBe(
      'deny\thttps://example.com/private/\trule\t2\tDisallow: /private/\t*\texample.com\r\n',
    );
  });
});

describe('--profile', () => {
  test('google accepts lines that rfc9309 ignores', async ({ place }) => {
    place.write('robots/typo.example', 'user-agent: *\ndissallow: /a\n');
    const input = 'https://typo.example/a\n';
    const args = ['--robots-dir', 'robots', '--profile'];
    expect((await place.run([...args, 'rfc9309'], input)).text).toBe(`allow\t${input}`);
    expect((await place.run([...args, 'google'], input)).text).toBe(`deny\t${input}`);
  });
});

describe('a line with a tab inside has columns', () => {
  const PDF = 'https://example.com/private/a';
  const TSV = [
    `${PDF}\t17`,
    `${PDF}\t`,
    ` \t${PDF}`,
    `17\t${PDF}\r`,
    'https://EXAMPLE.com/%7e\t',
    `https://example.com/%7e\t17`,
    `\t \t`,
    'nothing\there',
    `${PDF}`,
  ].join('\n');

  test.each(['rfc9309', 'google'])('is invalid, %s', async (profile) => {
    const place = workplace();
    const args = ['--robots-dir', 'robots', '--input', 'text', '--profile', profile];
    const { code, text, stderr } = await place.run(args, TSV);
    expect(code).toBe(0);
    expect(text).toBe(
      [
        `invalid\t${PDF}\t17`,
        `deny\t${PDF}\t`,
        `deny\t \t${PDF}`,
        `invalid\t17\t${PDF}\r`,
        'allow\thttps://EXAMPLE.com/%7e\t',
        'invalid\thttps://example.com/%7e\t17',
        'invalid\tnothing\there',
        `deny\t${PDF}`,
        '',
      ].join('\n'),
    );
    expect(lines(stderr)[0]).toBe(
      'robots-filter: standard input, line 1: a tab within the line, so more than one URL. If the URL is the first column: cut -f1 FILE | robots-filter …',
    );
    expect(lines(stderr).map((line) => line.slice(0, 42))).toEqual(
      [1, 4, 6, 8].map((line) => `robots-filter: standard input, line ${line}: a t`),
    );
  });

  test('--explain, --stats and --strict name the reason', async ({ place }) => {
    const args = ['--robots-dir', 'robots', '--input', 'text', '-q'];
    const explained = await place.run([...args, '--explain', '--stats=json'], `${PDF}\t17\n`);
    expect(explained.text).toBe(`invalid\t${PDF}\t17\ttab-in-line\t\t\t\t\n`);
    expect(JSON.parse(explained.stderr).agents[0].reasons['tab-in-line']).toBe(1);
    const strict = await place.run([...args, '--strict'], `${PDF}\t17\n`);
    expect({ code: strict.code, text: strict.text }).toEqual({ code: 2, text: '' });
    expect(strict.stderr).toContain('line 1: a tab within the line');
    expect((await place.run([...args, '--denied'], `${PDF}\t17\n`)).text).toBe('');
  });

  test('in JSON a tab is dropped from a URL, as the URL Standard says', async () => {
    const { text } = await workplace().run(
      ['--robots-dir', 'robots'],
      '{"url":"https://example.com/pri\\tvate/a"}\n',
    );
    expect(text).toBe('{"url":"https://example.com/pri\\tvate/a","verdict":"deny"}\n');
  });

  test('fetch sends no request for it', async () => {
    const { code, stderr } = await workplace().run(
      ['fetch', '--robots-dir', 'cache', '--input', 'text'],
      'https://127.0.0.1:1/a\t17\n17\thttps://127.0.0.1:2/\n',
    );
    expect(code).toBe(0);
    expect(stderr).toContain('2 records of 0 authorities; 2 records without a usable URL');
  });
});
