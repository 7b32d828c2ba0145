import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { test, workplace } from './command-line.js';

const FILE = 'robots/example.com';

describe('check', () => {
  test('all allowed: exit 0', async () => {
    const { code, text, stderr } = await workplace().run([
      'check',
      FILE,
      '*',
      'https://any.example/',
      'https://any.example/private/open',
      'https://any.example/robots.txt',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(text).toBe(
      'allow\thttps://any.example/\tno-rule\n' +
        'allow\thttps://any.example/private/open\trule\t3\tAllow: /private/open\t*\n' +
        'allow\thttps://any.example/robots.txt\trobots-txt\n',
    );
  });

  test('any denied: exit 1', async () => {
    const { code, text } = await workplace().run([
      'check',
      FILE,
      'Other>CCBot',
      'https://any.example/',
      'https://any.example/a.gif',
    ]);
    expect(code).toBe(1);
    expect(text).toBe(
      'allow\thttps://any.example/\tno-rule\ndeny\thttps://any.example/a.gif\trule\t10\tDisallow: /*.gif$\tCCBot\n',
    );
  });

  test('an invalid URL is not allowed: exit 1', async () => {
    const { code, text } = await workplace().run(['check', FILE, '*', 'mailto:a@b.example']);
    expect({ code, text }).toEqual({ code: 1, text: 'invalid\tmailto:a@b.example\tinvalid-url\n' });
  });

  test('- reads standard input; warnings of the parser name the line', async () => {
    const { code, text, stderr } = await workplace().run(
      ['check', '-', '*', 'https://any.example/a'],
      'disallow: /early\nuser-agent: *\nno colon here\ndisallow: /a\n',
    );
    expect({ code, text }).toEqual({
      code: 1,
      text: 'deny\thttps://any.example/a\trule\t4\tDisallow: /a\t*\n',
    });
    expect(stderr).toContain('robots-filter: warning: standard input:1: ');
    expect(stderr).toContain('robots-filter: warning: standard input:3: ');
  });

  test('- in place of a URL reads a list of URLs', async ({ place }) => {
    const list = '/private/1\r\n\nhttps://any.example/private/open\nmailto:a@b.example\n/c';
    const { code, text, stderr } = await place.run(['check', FILE, '*', '/first', '-', '/l'], list);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const verdicts = text.split('\n').map((line) => line.split('\t').slice(0, 2).join(' '));
    expect(verdicts).toEqual([
      'allow /first',
      'deny /private/1',
      'allow https://any.example/private/open',
      'invalid mailto:a@b.example',
      'allow /c',
      'allow /l',
      '',
    ]);
    const same = await place.run(['check', FILE, '*', '--json', '-'], '/first\n/l\n');
    expect(same.code).toBe(0);
    expect(same.text).toBe((await place.run(['check', FILE, '*', '--json', '/first', '/l'])).text);
  });

  test('- twice is refused, and a list in place of a URL is named with what to type', async ({
    place,
  }) => {
    for (const args of [
      ['check', '-', '*', '-'],
      ['check', FILE, '*', '-', '-'],
    ]) {
      const { code, text, stderr } = await place.run(args, '/a\n');
      expect({ code, text }).toEqual({ code: 2, text: '' });
      expect(stderr).toContain('standard input can');
    }
    place.write('urls.txt', '/private/1\n');
    const { stderr } = await place.run(['check', FILE, '*', 'urls.txt']);
    expect(stderr).toContain(`type: robots-filter check ${FILE} -a '*' --urls urls.txt\n`);
    const { text } = await place.shell(`$rf check ${FILE} -a '*' --urls urls.txt`);
    expect(text).toContain('deny\t/private/1\t');
    // Eleven hosts without a scheme: ten are named, then all are counted.
    const bare = await place.run(['check', FILE, '*', '-'], 'a.example\n'.repeat(11));
    expect(bare.stderr.match(/a\.example has no scheme/g)).toHaveLength(10);
    expect(bare.stderr).toContain('warning: 11 URLs had no scheme');
  });

  test('a compressed robots.txt is refused: its rules would be missed', async ({ place }) => {
    place.write('robots.txt.gz', gzipSync('User-agent: *\nDisallow: /\n'));
    const { code, text, stderr } = await place.run('check robots.txt.gz * /a');
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain('robots.txt.gz: is gzip data, not text. Type: gzip -dc < FILE |');
  });

  test('--quiet drops the warnings', async () => {
    const { stderr } = await workplace().run('check -q - * http://a.example/', 'x\n');
    expect(stderr).toBe('');
  });

  test('a URL without a scheme is read as a path, with a warning', async () => {
    const { text, stderr } = await workplace().run(
      ['check', '-', '*', 'a.example/b', '/b', 'https://a.example/b'],
      'user-agent: *\ndisallow: /b\n',
    );
    expect(text.split('\n').map((line) => line.split('\t')[0])).toEqual([
      'allow',
      'deny',
      'deny',
      '',
    ]);
    expect(stderr).toBe(
      'robots-filter: warning: a.example/b has no scheme, so it is taken as a path. Use https://a.example/b or /a.example/b\n',
    );
  });

  test('--profile google accepts any string as a URL', async () => {
    const { code, text } = await workplace().run(
      ['check', '--profile', 'google', '-', 'FooBot', '/a', 'foo'],
      'user-agent: foobot\ndissallow: /a\n',
    );
    expect(code).toBe(1);
    expect(text.split('\n').map((line) => line.split('\t')[0])).toEqual(['deny', 'allow', '']);
  });

  test('text from outside stays in its column and cannot control a terminal', async () => {
    const { text } = await workplace().run(
      ['check', '-', '*', 'https://a.example/\tb\u001b[31m'],
      'user-agent: *\ndisallow: /\u001b[31m\n',
    );
    expect(text).toBe('allow\thttps://a.example/\\x09b\\x1b[31m\tno-rule\n');
  });

  test.each([
    [['check', 'none.txt', '*', 'http://a.example/'], 'none.txt: no such file'],
    [['check', 'https://a.example/robots.txt', '*', 'http://a.example/'], 'curl -s'],
    [['check', FILE, 'Foo/2', 'http://a.example/'], 'use "Foo"'],
  ])('%j: exit 2', async (args, message) => {
    const { code, text, stderr } = await workplace().run(args);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(message);
  });
});

describe('check with several agents', () => {
  const FILES = {
    'one.txt': 'User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nDisallow: /b\n',
    'many/a.example': 'User-agent: *\nDisallow: /a\nCrawl-delay: 3\n',
    'many/b.example': 'User-agent: GPTBot\nContent-Signal: ai-train=no\nDisallow: /b\n',
    'urls.txt': '/b\n/c\n',
  };

  function here() {
    const place = workplace();
    for (const [name, text] of Object.entries(FILES)) place.write(name, text);
    return place;
  }

  test('has a line for each URL and agent, however they are named', async () => {
    const place = here();
    const expected = [
      'deny\tbingbot\t/a\trule\t2\tDisallow: /a\t*',
      'allow\tGPTBot\t/a\tno-rule',
      'allow\tbingbot\t/b\tno-rule',
      'deny\tGPTBot\t/b\trule\t5\tDisallow: /b\tGPTBot',
      'allow\tbingbot\t/c\tno-rule',
      'allow\tGPTBot\t/c\tno-rule',
      '',
    ].join('\n');
    for (const [args, input] of [
      ['check one.txt bingbot,GPTBot /a /b /c'],
      ['check one.txt -a bingbot -a GPTBot /a - ', '/b\n/c\n'],
      ['check -a bingbot,GPTBot one.txt /a --urls urls.txt'],
      ['check -a bingbot,GPTBot one.txt -', '/a\n/b\n/c\n'],
      ['check one.txt /a --agent bingbot,GPTBot --urls -', '/b\n/c\n'],
    ] as const) {
      const { code, text } = await place.run(args.trim().split(' '), input ?? '');
      expect({ code, text }, args).toEqual({ code: 1, text: expected });
    }
    const json = await place.run('check --json -a bingbot,GPTBot one.txt /a');
    const objects = json.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(objects.map(({ agent, verdict }) => [agent, verdict])).toEqual([
      ['bingbot', 'deny'],
      ['GPTBot', 'allow'],
    ]);
    // Without an agent it is *, as for the other commands, and with one no line names it.
    const any = await place.run('check one.txt /a');
    expect(any.text).toBe('deny\t/a\trule\t2\tDisallow: /a\t*\n');
    const list = await place.run('check -q one.txt -a @ai-training /c');
    expect(list.text.split('\n').length).toBeGreaterThan(10);
  });

  test('judges by files of many hosts as the filter does, and by a table of them', async () => {
    const place = here();
    await place.run('compile -q --records --signals many -o t');
    await place.run('compile -q --records --signals --shards 4 many -o d');
    const urls = ['https://a.example/a', 'https://b.example/b', 'https://c.example/', 'mailto:x'];
    place.write('list', urls.map((url) => `${url}\n`).join(''));
    const filter = await place.run('--robots-dir many -a *,GPTBot --explain list');
    expect(filter.text.split('\n')[0]).toContain('a.example');
    const wanted = filter.text.split('\n').flatMap((line) => {
      const [verdicts = '', url, ...rest] = line.split('\t');
      return verdicts.split(',').flatMap((verdict, agent) => {
        const [reason, ...rule] = rest.slice(5 * agent, 5 * agent + 5);
        // The filter names the robots.txt also where no rule decides.
        const parts = rule[0] === '' ? [reason] : [reason, ...rule];
        const columns = [verdict, ['*', 'GPTBot'][agent], url, ...parts];
        return url === undefined ? [] : [columns.join('\t')];
      });
    });
    expect(wanted.length).toBe(8);
    for (const path of ['many', 't', 'd']) {
      const { code, text } = await place.run(`check -q ${path} -a *,GPTBot --urls list`);
      expect({ code, text }, path).toEqual({ code: 1, text: `${wanted.join('\n')}\n` });
      const [first = ''] = urls;
      const one = await place.run(['check', '-q', path, '*', first, '--json']);
      expect(JSON.parse(one.text)).toMatchObject({
        verdict: 'deny',
        rule: { line: 2, source: 'a.example' },
        crawlDelay: 3,
      });
      const use = await place.run(`check -q ${path} GPTBot https://b.example/ --use train`);
      expect(use.code).toBe(1);
      expect(use.text.split('\t').slice(0, 3)).toEqual(['allow', 'refused', 'https://b.example/']);
    }
  });

  test('an empty list is named', async () => {
    const { code, stderr } = await here().run('check one.txt -', '');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'robots-filter: warning: standard input names no URL\n',
    });
  });
});

test('check --history --use says what each robots.txt says about a use', async ({ place }) => {
  const versions = ['yes', 'no'].map((word, at) => ({
    host: 'a.example',
    robots: `User-agent: *\nContent-Signal: ai-train=${word}\n`,
    fetched: `2024-0${at + 1}-01`,
  }));
  place.write('d.ndjson', versions.map((each) => `${JSON.stringify(each)}\n`).join(''));
  await place.run('compile -q --history --signals d.ndjson -o h');
  const expected = [
    'allow\tgranted\thttps://a.example/\t2024-01-01T00:00:00Z\t2024-02-01T00:00:00Z\tno-rule\t\t\t\t\tcontent-signal\t2\tContent-Signal: ai-train=yes\t*\td.ndjson:1\n',
    'allow\trefused\thttps://a.example/\t2024-02-01T00:00:00Z\t\tno-rule\t\t\t\t\tcontent-signal\t2\tContent-Signal: ai-train=no\t*\td.ndjson:2\n',
  ].join('');
  for (const path of ['d.ndjson', 'h']) {
    const words = `check -q ${path} * https://a.example/ --history --use train`;
    expect(await place.run(words)).toMatchObject({ code: 1, text: expected });
  }
});
