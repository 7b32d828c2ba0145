import { describe, expect, it } from 'vitest';
import { bytesOf } from '../../oracle/bytes.js';
import { decidingLine, readGroups } from '../../oracle/robots.js';
import { verdictOf } from '../../oracle/verdict.js';
import { Robots, Table, TableBuilder } from '../../src/library/index.js';
import { isProductToken, parseAgent } from '../../src/protocol/agent.js';
import { lines, test, workplace } from '../cli/command-line.js';
import { hostileFile } from '../hostile/file.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

describe('an agent', () => {
  it.each([
    ['A', ['A'], false],
    ['A:B', ['A', 'B'], false],
    ['A>B', ['A', 'B'], false],
    [' A : B ', ['A', 'B'], false],
    ['A>B:C', ['A', 'B', 'C'], false],
    ['A:', ['A'], true],
    ['A: ', ['A'], true],
    ['A:B:', ['A', 'B'], true],
    ['A>B:', ['A', 'B'], true],
    ['A:*', ['A', '*'], false],
  ])('%j', (text, chain, disregardsAny) => {
    for (const profile of ['rfc9309', 'google'] as const) {
      expect(parseAgent(text, profile)).toMatchObject({ chain, disregardsAny });
    }
  });

  it.each(['*:', 'A::B', ':A', ':', 'A::', 'https://example.com/', 'A:B/1', 'A>:', '*:*:', 'A:*:'])(
    'is refused: %j',
    (text) => {
      expect(() => parseAgent(text, 'rfc9309')).toThrow();
    },
  );
});

it('that is no product token is refused with its colon', () => {
  expect(() => parseAgent('GPTBot/1.0:', 'rfc9309')).toThrow('use "GPTBot:"');
  expect(() => parseAgent('GPTBot/1.0', 'rfc9309')).toThrow('use "GPTBot"');
});

describe('an agent that disregards the groups of *', () => {
  it.each(['rfc9309', 'google', 'draft-koster-rep-00'] as const)(
    'gets what the naive matcher says, profile %s',
    (profile) => {
      let asked = 0;
      let freed = 0;
      for (let seed = 1; seed <= cases(60); seed++) {
        const { robots, urls, chains } = hostileFile(new Random(seed), profile, {
          urls: 10,
          chains: 3,
        });
        const body = bytesOf(robots);
        const groups = readGroups(body, profile);
        const file = Robots.parse(body, { profile });
        // In a table, hosts remember what an agent finds: the same robots.txt stands for two.
        const builder = new TableBuilder({ profile });
        builder.add('a.example', body);
        const table = Table.from(builder.build());
        for (const chain of chains) {
          if (!chain.every((link) => isProductToken(link)) || chain.includes('*')) continue;
          const agent = `${chain.join(':')}:`;
          const only = Robots.parse(body, { profile });
          for (const url of urls) {
            const naive = verdictOf(groups, profile, chain, bytesOf(url), undefined, true);
            const expected = [naive.verdict, decidingLine(groups, naive.line)];
            for (const judge of [file, only]) {
              const { verdict, rule } = judge.verdict(bytesOf(url), agent);
              expect([verdict, rule?.line ?? 0], `${seed} ${agent} ${url}`).toEqual(expected);
            }
            asked++;
            if (file.verdict(bytesOf(url), chain).verdict !== naive.verdict) freed++;
          }
          const paths = urls.filter((url) => url.startsWith('/'));
          const hosted = paths.map((path) => `https://a.example${path}`);
          for (const each of [...table.verdicts(hosted, agent)].entries()) {
            const [at, verdict] = each;
            const naive = verdictOf(groups, profile, chain, hosted[at] ?? '', undefined, true);
            expect(verdict, `${seed} ${agent} ${hosted[at]}`).toBe(naive.verdict);
          }
        }
      }
      expect(asked).toBeGreaterThan(500);
      expect(freed).toBeGreaterThan(20);
    },
  );

  it('is another agent than one that obeys them, also with an age', () => {
    const builder = new TableBuilder({ history: true });
    const date = Date.UTC(2026, 0, 1);
    builder.add('a.example', 'User-agent: *\nDisallow: /\n', { date });
    const table = Table.from(builder.build());
    const url = 'https://a.example/x';
    const times = { at: date, maxAge: 3 };
    for (const options of [undefined, { at: date }, times]) {
      for (const [agent, verdict] of [
        ['A', 'deny'],
        ['A:', 'allow'],
        [['A'], 'deny'],
        ['A:', 'allow'],
        ['A', 'deny'],
      ] as const) {
        expect(table.verdict(url, agent, options).verdict, `${agent}`).toBe(verdict);
        expect(table.verdicts([url], agent, options), `${agent}`).toEqual([verdict]);
      }
    }
  });

  const ROBOTS = 'User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow: /g\n';
  const place = () => {
    const it = workplace();
    it.write('own/a.example', ROBOTS);
    it.write('urls.txt', 'https://a.example/g\nhttps://a.example/x\n');
    return it;
  };

  test('by the command line, beside others, with and without a table', async () => {
    const it = place();
    const agents = '-a AdsBot-Google:,AdsBot-Google,Googlebot-Image:Googlebot:,Googlebot';
    await it.run(`compile -q --robots-dir own ${agents} -o t.table`);
    for (const source of ['--robots-dir own', '--table t.table']) {
      const { text } = await it.run(`-q ${source} ${agents} --explain urls.txt`);
      expect(lines(text)[0]?.startsWith('allow,deny,deny,deny\t')).toBe(true);
      expect(lines(text)[1]?.startsWith('allow,deny,allow,allow\t')).toBe(true);
      expect(lines(text)[1]).toContain('https://a.example/x\tno-group\t');
    }
    const audit = await it.run(`audit -q --robots-dir own ${agents} --format csv`);
    const allowed = lines(audit.text).map((line) => line.split(',')[2]);
    expect(allowed).toEqual(['allowed', 'all', 'none', 'part', 'part']);
    const check = await it.run('check -q own/a.example AdsBot-Google: /x');
    expect([check.code, check.text]).toEqual([0, 'allow\t/x\tno-group\n']);
  });

  test('a note says that everything is allowed for it', async () => {
    const it = place();
    const { stderr } = await it.run('--robots-dir own -a AdsBot-Google: urls.txt');
    expect(stderr).toContain(
      'no robots.txt here has a group for AdsBot-Google:, so everything is allowed everywhere',
    );
    const both = await it.run('--robots-dir own -a AdsBot-Google:,Foo urls.txt');
    expect(both.stderr).toContain(
      'so "*" decides for them everywhere, and everything is allowed for AdsBot-Google:',
    );
  });

  test('is not the same as one that obeys them, and may not come twice', async () => {
    const it = place();
    const same = await it.run('--robots-dir own -a A:B,A>b urls.txt');
    expect([same.code, same.stderr]).toEqual([2, expect.stringContaining('are the same agent')]);
    expect((await it.run('-q --robots-dir own -a A:B,A:B: urls.txt')).code).toBe(0);
    const none = await it.run('--robots-dir own -a A::B urls.txt');
    expect(none.stderr).toContain('empty product token in its chain. Use --agent A:B');
  });

  test('a diff compares the verdicts of the agent as it is', async () => {
    const it = place();
    it.write('other/a.example', 'User-agent: *\nDisallow: /y\n\nUser-agent: Googlebot\nAllow: /\n');
    await it.run('compile -q --robots-dir own -o old.table');
    await it.run('compile -q --robots-dir other -o new.table');
    const obeys = await it.run('diff -q old.table new.table -a Some');
    expect(lines(obeys.text).length).toBeGreaterThan(1);
    const disregards = await it.run('diff -q old.table new.table -a Some:');
    expect([disregards.code, disregards.text]).toEqual([0, '']);
  });
});
