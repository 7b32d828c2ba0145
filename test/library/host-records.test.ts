import { describe, expect, it } from 'vitest';
import { type Profile, Robots, Table, TableBuilder } from '../../src/library/index.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const PROFILES: readonly Profile[] = ['rfc9309', 'google', 'draft-koster-rep-00'];
const AGENTS = ['a', 'b', 'c', '*', 'x', 'a>b', 'x>c>a', 'a:', 'x:'];
const LINES = [
  'User-agent: a',
  'User-agent: b',
  'User-agent: a # again',
  'User-agent: c',
  'User-agent: *',
  'User-agent: 1',
  'Crawl-delay: 1',
  'Crawl-delay: 2.5',
  'Crawl-delay: 7',
  'Crawl-delay: soon',
  'Disallow: /private',
  'Allow: /private/open',
  'Disallow: /*.pdf$',
  'Sitemap: https://h.example/s.xml',
  'Sitemap:',
  'Content-Usage: train-ai=n',
  'Content-Usage: /private train-ai=y, search=n',
  'Content-Signal: ai-train=no, search=yes',
  'Content-Signal: search=maybe, ai-train=maybe',
  'content-signal: AI-Train = YES, ai-input=no',
  'Content-Signals: search=no, use=reference',
  'Content-Signal: search=no, search=yes',
  'License: https://h.example/licence.xml',
];

/** The crawl-delay by the words of `Robots.crawlDelay`, for one product token and RFC 9309. */
function naiveDelay(lines: readonly string[], token: string): number | undefined {
  let tokens: string[] = [];
  let delayed: string[] = [];
  let pending: string[] = [];
  let hasRule = true;
  const delays: { token: string; seconds: number }[] = [];
  const named = new Set<string>();
  for (const line of lines) {
    const [key = '', value = ''] = line.split(/:\s*/, 2);
    if (key === 'User-agent') {
      if (hasRule) tokens = delayed = pending = [];
      hasRule = false;
      const [word = ''] = value.split(' ');
      if (word === '1') continue;
      tokens = [...tokens, word];
      pending = [...pending, word];
      named.add(word);
    } else if (key === 'Allow' || key === 'Disallow') {
      if (tokens.length > 0 || !hasRule) hasRule = true;
    } else if (key === 'Crawl-delay') {
      if (pending.length > 0) {
        delayed = pending;
        pending = [];
      }
      const seconds = Number(value);
      if (Number.isNaN(seconds)) continue;
      for (const each of delayed) delays.push({ token: each, seconds });
    }
  }
  const decides = named.has(token) ? token : '*';
  const own = delays.filter((delay) => delay.token === decides).map(({ seconds }) => seconds);
  return own.length === 0 ? undefined : Math.max(...own);
}

/** The signals for one product token and RFC 9309, as docs/agents.md says. */
function naiveSignals(lines: readonly string[], token: string, disregardsAny: boolean) {
  const groups: { tokens: string[]; values: string[]; hasRule: boolean }[] = [];
  const before: string[] = [];
  for (const line of lines) {
    const [key = '', value = ''] = line.split(/:\s*/, 2);
    const group = groups.at(-1);
    if (key === 'User-agent') {
      const [word = ''] = value.split(' ');
      if (group === undefined || group.hasRule)
        groups.push({ tokens: [], values: [], hasRule: false });
      if (word !== '1') groups.at(-1)?.tokens.push(word);
    } else if (key === 'Allow' || key === 'Disallow') {
      if (group !== undefined) group.hasRule = true;
    } else if (key.toLowerCase().startsWith('content-signal')) {
      (group?.values ?? before).push(value);
    }
  }
  const isNamed = groups.some(({ tokens }) => tokens.includes(token));
  const own = isNamed ? token : disregardsAny ? undefined : '*';
  const values = groups.flatMap((group) =>
    own !== undefined && group.tokens.includes(own) ? group.values : [],
  );
  const pairs = (texts: readonly string[]) =>
    texts
      .flatMap((text) => text.toLowerCase().split(','))
      .map((pair) => pair.split('=').map((part) => part.trim()));
  const signals: Record<string, string> = {};
  const rankOf = (value = ''): number => ['yes', 'no'].indexOf(value);
  for (const [key = '', value = ''] of pairs(values))
    if (rankOf(value) >= rankOf(signals[key])) signals[key] = value;
  for (const [key = '', value = ''] of pairs(before)) if (value === 'no') signals[key] = value;
  return signals;
}

describe('a table with records', () => {
  it('says what Robots says of the same file, and the crawl-delay is that of its words', () => {
    const counts = {
      delays: 0,
      delayless: 0,
      sitemaps: 0,
      usages: 0,
      signals: 0,
      rules: 0,
      naive: 0,
    };
    for (let seed = 1; seed <= cases(150); seed++) {
      const random = new Random(seed);
      const profile = PROFILES[seed % 3] as Profile;
      const lines = Array.from({ length: random.between(1, 14) }, () => random.pick(LINES));
      const robots = Robots.parse(lines.join('\n'), { profile });
      const builder = new TableBuilder({ profile, records: true });
      builder.add('h.example', lines.join('\n'));
      const table = Table.from(builder.build());
      const url = random.pick(['https://h.example/private/x', 'http://h.example/']);
      expect(table.sitemaps(url)).toEqual(robots.sitemaps);
      counts.sitemaps += robots.sitemaps.length;
      for (const agent of AGENTS) {
        const delay = robots.crawlDelay(agent);
        expect(table.crawlDelay(url, agent), `${profile} ${agent}\n${lines.join('\n')}`).toBe(
          delay,
        );
        counts[delay === undefined ? 'delayless' : 'delays']++;
        if (profile === 'rfc9309' && !agent.includes('>') && !agent.endsWith(':')) {
          expect(delay, `${agent}\n${lines.join('\n')}`).toBe(naiveDelay(lines, agent));
          counts.naive++;
        }
        const preferences = robots.preferences(agent, url);
        expect(table.preferences(url, agent)).toEqual(preferences);
        if (profile === 'rfc9309' && !agent.includes('>')) {
          const [token = ''] = agent.split(':');
          const naive = naiveSignals(lines, token, agent.endsWith(':'));
          expect({ ...preferences.contentSignal }, `${agent}\n${lines.join('\n')}`).toEqual(naive);
        }
        counts.usages += Object.keys(preferences.contentUsage).length;
        counts.signals += Object.keys(preferences.contentSignal).length;
        // A table leaves out rules that others always override.
        const rules = table.rulesFor(url, agent);
        const own = robots.rulesFor(agent).map((rule) => JSON.stringify(rule));
        expect(rules.filter((rule) => !own.includes(JSON.stringify(rule)))).toEqual([]);
        const { rule } = table.verdict(url, agent);
        if (rule !== undefined) expect(rules.map(({ line }) => line)).toContain(rule.line);
        counts.rules += rules.length;
      }
    }
    for (const count of Object.values(counts))
      expect(count, JSON.stringify(counts)).toBeGreaterThan(30);
  });

  it('answers by scheme, host and port, and has nothing to say of others', () => {
    const builder = new TableBuilder({ records: true });
    builder.add('https://h.example', 'User-agent: *\nCrawl-delay: 1\nDisallow: /a');
    builder.add(
      'http://h.example:8080',
      'Sitemap: http://h.example/8080\nUser-agent: *\nCrawl-delay: 2',
    );
    builder.add('down.example', 'User-agent: *\nCrawl-delay: 3\nDisallow: /', { status: 503 });
    const table = Table.from(builder.build());
    expect(table.crawlDelay('https://h.example/x', 'a')).toBe(1);
    expect(table.crawlDelay(new TextEncoder().encode('HTTP://H.example:8080'), 'a')).toBe(2);
    expect(table.sitemaps('http://h.example:8080/')).toEqual(['http://h.example/8080']);
    for (const url of [
      'http://h.example/',
      'https://other.example/',
      'h.example',
      '',
      'mailto:a@h.example',
    ]) {
      expect(table.crawlDelay(url, 'a'), url).toBeUndefined();
      expect(table.sitemaps(url)).toEqual([]);
      expect(table.rulesFor(url, 'a')).toEqual([]);
      expect(table.preferences(url, 'a').license).toEqual([]);
    }
    // What came with a failure does not count.
    expect(table.crawlDelay('https://down.example/', 'a')).toBeUndefined();
    expect(table.rulesFor('https://down.example/', 'a')).toEqual([]);
  });

  it('is needed for all but the rules', () => {
    const builder = new TableBuilder({ agents: ['a'] });
    builder.add('h.example', 'User-agent: a\nCrawl-delay: 1\nDisallow: /a');
    const table = Table.from(builder.build(), 'my.table');
    const url = 'https://h.example/';
    const message = /^my\.table was compiled without crawl-delays.*\{ records: true \}/;
    expect(() => table.crawlDelay(url, 'a')).toThrow(message);
    expect(() => table.sitemaps(url)).toThrow(message);
    expect(() => table.preferences(url, 'a')).toThrow(message);
    expect(table.rulesFor(url, 'a')).toMatchObject([{ allow: false, line: 3 }]);
    expect(() => table.rulesFor(url, 'b')).toThrow(/compiled for some agents only/);
  });
});
