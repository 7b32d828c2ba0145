import { describe, expect, it } from 'vitest';
import { lines, workplace } from './command-line.js';

const HEADER = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2)';

describe('agents by name', () => {
  it('are judged like the tokens that they stand for', async () => {
    const place = workplace();
    place.write(
      'mine.json',
      '[{"token":"GPTBot","purpose":"mine"},{"token":"CCBot","purpose":"mine"}]',
    );
    const common = ['--robots-dir', 'robots', '--format', 'verdicts', '--output-header'];
    const url = 'https://example.com/cc/\n';
    const [tokens, list, header, training] = await Promise.all([
      place.run([...common, '-a', 'gptbot,CCBot'], url),
      place.run([...common, '--agents-file', 'mine.json', '-a', 'gptbot,@mine'], url),
      place.run([...common, '-a', `${HEADER},CCBot`], url),
      place.run([...common, '-a', '@ai-training'], url),
    ]);
    // The list leaves out GPTBot, which is named in another case.
    expect({ text: list.text, code: list.code }).toEqual({ text: tokens.text, code: 0 });
    expect(header.text).toBe(tokens.text.replace('gptbot', 'GPTBot'));
    expect(header.stderr).toContain('is a User-Agent header: taken as GPTBot');
    expect(lines(training.text)[0]?.split(',').slice(0, 2)).toEqual(['GPTBot', 'ClaudeBot']);
  });

  it.each([
    ['Google Extended', 'Google-Extended'],
    ['gpt bot', 'GPTBot'],
    ['ClaudeBot/1.0', 'ClaudeBot'],
    ['gpt bot/1.2', 'GPTBot'],
    ['mj 12 bot', 'MJ12bot'],
    ['Googlebot Image>Googlebot', 'Googlebot-Image:Googlebot'],
    ['Googlebot Image>Googlebot:', 'Googlebot-Image:Googlebot:'],
    ['GPTBot/1.0:CCBot', 'GPTBot:CCBot'],
    ['CCBot:gpt bot', 'CCBot:GPTBot'],
  ])('%s is taken as %s', async (name, token) => {
    const { code, text, stderr } = await workplace().run(
      ['--robots-dir', 'robots', '--format', 'verdicts', '--output-header', '-a', name],
      'https://example.com/\n',
    );
    expect({ code, header: lines(text)[0] }).toEqual({ code: 0, header: token });
    expect(stderr).toContain(`--agent ${JSON.stringify(name)} is taken as ${token}\n`);
  });

  it.each([
    ['Mozilla/5.0 (compatible; GPTBot/1.2):', 'GPTBot:'],
    ['AdsBot-Google (+http://www.google.com/adsbot.html)', 'AdsBot-Google:'],
  ])('a header stands for the crawler in it, and keeps its end: %s', async (name, token) => {
    const args = ['--robots-dir', 'robots', '--format', 'verdicts', '--output-header', '-a', name];
    const { code, text } = await workplace().run(args, 'https://example.com/\n');
    expect({ code, header: lines(text)[0] }).toEqual({ code: 0, header: token });
  });

  it('are left out of a list that holds them, however they are spelt', async () => {
    const common = ['--robots-dir', 'robots', '--format', 'verdicts', '--output-header', '-q'];
    const header = async (agents: string) => {
      const { text } = await workplace().run([...common, '-a', agents], 'https://example.com/\n');
      return lines(text)[0]?.split(',') ?? [];
    };
    const [list, named] = [await header('@seo'), await header('@seo,Majestic/1.0 (MJ12bot)')];
    expect(list).toContain('MJ12bot');
    const others = list.filter((name) => name !== 'MJ12bot');
    expect(named).toEqual([...others, 'MJ12bot']);
    expect(await header('@seo,MJ12bot')).toEqual(named);
    expect(await header('@seo,MJ')).toEqual([...others, 'MJ']);
  });

  it('with digits or dots are judged by their tokens, and shown by their names', async () => {
    const place = workplace();
    place.write(
      'sites/a.example',
      'User-agent: MJ12bot\nDisallow: /\n\nUser-agent: archive.org_bot\nDisallow: /x\n\nUser-agent: Own\nDisallow: /\n',
    );
    const names = ['MJ12bot', 'archive.org_bot', 'Own2.0:CCBot:'];
    const common = ['--robots-dir', 'sites', '-a', names.join()];
    const url = 'https://a.example/x\nhttps://a.example/y\n';
    const note =
      'judged by the product token, which has only letters, "-" and "_": MJ12bot as MJ, archive.org_bot as archive, Own2.0:CCBot as Own:CCBot\n';
    const verdicts = ['deny,deny,deny', 'deny,allow,deny'];
    const [plain, json, csv, google, twice] = await Promise.all([
      place.run([...common, '--format', 'verdicts', '--output-header'], url),
      place.run([...common, '--format', 'ndjson'], url),
      place.run([...common, '--format', 'csv'], url),
      place.run([...common, '--profile', 'google', '--format', 'verdicts', '--output-header'], url),
      place.run([...common, '-a', 'mj'], url),
    ]);
    expect(lines(plain.text)).toEqual([names.join(), ...verdicts]);
    for (const { stderr } of [plain, json, csv, google]) {
      expect(stderr.split(note)).toHaveLength(2);
    }
    expect(Object.keys(JSON.parse(lines(json.text)[0] ?? '{}').verdicts)).toEqual(names);
    expect(lines(csv.text)[0]).toBe(['url', ...names.map((name) => `verdict_${name}`)].join());
    // There any text is a token, and no user-agent line could name these.
    expect(lines(google.text)).toEqual(['MJ,archive,Own:CCBot:', ...verdicts]);
    expect({ code: twice.code, text: twice.text }).toEqual({ code: 2, text: '' });
    expect(twice.stderr).toContain('"MJ12bot" and "mj" are the same agent: both are judged as mj');

    for (const profile of ['rfc9309', 'google']) {
      const args = ['check', '--profile', profile, 'sites/a.example', 'MJ12bot', '/y'];
      expect((await place.run(args)).text).toBe('deny\t/y\trule\t2\tDisallow: /\tMJ\n');
    }
    await place.run(['compile', '--robots-dir', 'sites', '-a', 'MJ12bot', '-o', 't']);
    const [audit, inspect, other] = await Promise.all([
      place.run('audit --table t -a MJ12bot'),
      place.run('inspect t a.example -a MJ12bot'),
      place.run('audit --table t -a archive.org_bot'),
    ]);
    expect(audit.text).toContain('MJ12bot');
    expect(inspect.text).toContain('MJ12bot');
    expect(other.code).toBe(2);
    place.write('other/a.example', 'User-agent: MJ12bot\nAllow: /\n');
    const diff = await place.run('diff sites other -a MJ12bot');
    expect(diff.text).toContain('MJ12bot');
  });

  it('that disregard "*" are judged so in a list, and a note says so of their tokens', async () => {
    const place = workplace();
    place.write('sites/a.example', 'User-agent: *\nDisallow: /\n');
    place.write(
      'sites/b.example',
      'User-agent: AdsBot-Google\nDisallow: /b\n\nUser-agent: *\nDisallow: /\n',
    );
    const common = ['--robots-dir', 'sites', '--format', 'verdicts', '--output-header'];
    const urls = 'https://a.example/b\nhttps://b.example/b\nhttps://b.example/c\n';
    const agent = 'AdsBot-Google';
    const [list, token, ended, both, header] = await Promise.all(
      [
        '@ads',
        agent,
        `${agent}:`,
        `${agent},@ads,apis-google:`,
        `${agent} (+http://a.example)`,
      ].map((name) => place.run([...common, '-a', name], urls)),
    );
    const asked = lines(list?.text ?? '').map((line) => line.split(',').slice(0, 2));
    expect(asked).toEqual([
      [`${agent}:`, 'AdsBot-Google-Mobile:'],
      ['allow', 'allow'],
      ['deny', 'allow'],
      ['allow', 'allow'],
    ]);
    expect(lines(token?.text ?? '')).toEqual([agent, 'deny', 'deny', 'allow']);
    expect(lines(ended?.text ?? '')).toEqual([`${agent}:`, 'allow', 'deny', 'allow']);
    expect(header?.text).toBe(ended?.text);
    const named = lines(both?.text ?? '')[0]?.split(',') ?? [];
    expect(named.filter((name) => /^(adsbot-google|apis-google):?$/i.test(name))).toEqual([
      agent,
      'apis-google:',
    ]);
    const note = `${agent} disregards the groups of "*". To judge as it does, use --agent ${agent}:\n`;
    expect([token, both].map((run) => run?.stderr.split(note).length)).toEqual([2, 2]);
    for (const run of [list, ended, header]) expect(run?.stderr).not.toContain('To judge as');
    const audit = await place.run(['audit', '--robots-dir', 'sites', '-a', '@ads']);
    expect(audit.code).toBe(0);
    expect(lines(audit.text).filter((line) => line.includes(`${agent}:`))).not.toEqual([]);
  });

  it('are read from the robots.json of ai.robots.txt, with one note', async () => {
    const place = workplace();
    place.write(
      'robots.json',
      '{"GPTBot":{"function":"AI Data Scrapers"},"CC2Bot":{"function":"Training"},"9Bot":{}}',
    );
    const args = ['--robots-dir', 'robots', '--format', 'verdicts', '--output-header'];
    const { text, stderr } = await place.run(
      [...args, '--agents-file', 'robots.json', '-a', '@ai-training'],
      'https://example.com/\n',
    );
    expect(lines(text)[0]).toBe('GPTBot,CC2Bot');
    expect(stderr.split('names were left out: without a product token (1)\n')).toHaveLength(2);
    const agents = await place.run('agents --agents-file robots.json');
    expect(agents.stderr).toContain('names were left out: without a product token (1)\n');
    expect(lines(agents.text)).toHaveLength(2);
  });

  it('reduce a table', async () => {
    const place = workplace();
    const compiled = await place.run('compile --robots-dir robots -a @ai-training -o t');
    expect(compiled.code).toBe(0);
    expect((await place.run('inspect t')).text).toContain('only *, ');
  });

  it.each([
    [
      ['-a', 'Mozilla/5.0 (compatible; OtherBot/2.0; Thing/1)'],
      ['use --agent OtherBot or --agent Thing'],
    ],
    [
      ['-a', 'Mozilla/5.0 (X11; Linux) Chrome/1'],
      ['names no crawler', 'robots-filter agents'],
    ],
    [
      ['-a', 'A/1 (GPTBot; CCBot)'],
      ['several crawlers', '--agent GPTBot, --agent CCBot'],
    ],
    [['-a', 'Common Crawl'], ['is an operator of crawlers. Use --agent CCBot\n']],
    [['-a', 'open ai'], ['Use --agent GPTBot or --agent OAI-SearchBot or --agent ChatGPT-User']],
    [['-a', 'Googel Extended'], ['Did you mean --agent Google-Extended?']],
    [
      ['-a', 'GPTBot CCBot'],
      ['has spaces between several agents. Use commas: --agent GPTBot,CCBot'],
    ],
    [
      ['-a', 'Foo Bar'],
      ['"Foo Bar" is not a product token', 'it has spaces'],
    ],
    [
      ['-a', Array.from({ length: 257 }, (_, index) => 'A'.repeat(index + 1)).join()],
      ['1 to 256 agents at a time, not 257: divide them'],
    ],
    [
      ['-a', '@seo', '--agents-file', 'no.json'],
      ['no.json: cannot be read', 'robots-filter agents --json'],
    ],
  ])('%j is refused', async (args, words) => {
    const { code, text, stderr } = await workplace().run(['--robots-dir', 'robots', ...args]);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    for (const word of words) expect(stderr).toContain(word);
    expect(stderr).not.toContain('agent Mozilla');
  });

  it.each([
    ['--robots-dir robots', 'without --agent. Add --agent @LIST'],
    ['audit --robots-dir robots', 'without --agent. Add --agent @LIST'],
    [
      '--robots-dir robots -a GPTBot,CCBot',
      'on product tokens. Name a list (@LIST) or a User-Agent header',
    ],
    [
      'check robots/example.com GPTBot /a',
      'on product tokens. Name a list (@LIST) or a User-Agent header',
    ],
  ])('%s refuses --agents-file, which has no effect', async (words, reason) => {
    const place = workplace();
    place.write('mine.json', '[{"token":"GPTBot","purpose":"mine"}]');
    const args = [...words.split(' '), '--agents-file', 'mine.json'];
    const { code, text, stderr } = await place.run(args, 'https://example.com/\n');
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(
      `robots-filter: --agents-file has no effect ${reason}, or leave it out`,
    );
  });
});

describe('robots-filter agents', () => {
  it('prints what --agents-file reads', async () => {
    const place = workplace();
    const all = await place.run('agents');
    const json = await place.run('agents --json');
    place.write('all.json', json.text);
    expect((await place.run('agents --agents-file all.json')).text).toBe(all.text);
    expect(lines(all.text).length).toBe(JSON.parse(json.text).length);
  });

  it('prints a list, a token, a published name, or the agent in a header', async () => {
    const place = workplace();
    const [list, token, published, header, none] = await Promise.all(
      ['@seo', 'ccbot', 'mj12bot', HEADER, 'gptbto'].map((name) => place.run(['agents', name])),
    );
    expect(lines(list?.text ?? '').every((line) => line.startsWith('@seo\t'))).toBe(true);
    expect(token?.text).toMatch(/^@ai-training\tCCBot\tCommon Crawl\t/);
    expect(published?.text).toMatch(/^@seo\tMJ\tMajestic\tMJ12bot\t/);
    expect(header?.text).toMatch(/^@ai-training\tGPTBot\tOpenAI\t/);
    const operators = await Promise.all(
      ['OpenAI', 'common crawl'].map((name) => place.run(['agents', name])),
    );
    expect(operators.map(({ text }) => lines(text).map((line) => line.split('\t')[1]))).toEqual([
      ['GPTBot', 'OAI-SearchBot', 'ChatGPT-User', 'OAI-AdsBot'],
      ['CCBot'],
    ]);
    // An agent, and the operator of another.
    const both = await place.run(['agents', 'diffbot']);
    expect(lines(both.text).map((line) => line.split('\t')[1])).toEqual([
      'Diffbot',
      'Diffbot-User',
    ]);
    expect((await place.run(['agents', 'google extended'])).text).toContain('\tGoogle-Extended\t');
    expect(none?.code).toBe(2);
    expect(none?.stderr).toContain('Did you mean GPTBot?');
  });
});
