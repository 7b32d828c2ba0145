import { describe, expect, it } from 'vitest';
import { HeaderAgents } from '../../src/protocol/header-agents.js';
import { agentName, askedAs, type KnownAgent } from '../../src/protocol/known-agent.js';
import { knownAgents } from '../../src/protocol/known-agents.js';
import { agentsInHeader } from '../../src/protocol/unnamed-agents.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const agents = new HeaderAgents(knownAgents());
const nameIn = (header: string): string | undefined => agents.agentOf(header)?.name;

describe('the agent of a User-Agent header', () => {
  it.each([
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
      'GPTBot',
    ],
    ['CCBot/2.0 (https://commoncrawl.org/faq/)', 'CCBot'],
    ['Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)', 'MJ12bot'],
    ['AdsBot-Google (+http://www.google.com/adsbot.html)', 'AdsBot-Google:'],
    ['Mozilla/5.0 (compatible; Googlebot-Image/1.0)', 'Googlebot-Image'],
    ['facebookexternalhit/1.1 Facebot Twitterbot/1.0', 'facebookexternalhit'],
    ['gptbot', 'GPTBot'],
    // No known agent: the first word, or the first product with a version.
    ['MyBot/1.0 (GPTBotty; +https://gptbot.example/GPTBot)', 'MyBot'],
    ['My2bot/1.0', 'My2bot'],
    ['MyBot', 'MyBot'],
    ['MyBot (+https://my.example/)', 'MyBot'],
    ['Mozilla/5.0 (compatible; FooCrawler/3.1; +http://foo.example) Other/1.0', 'FooCrawler'],
    ['python-requests/2.31.0', 'python-requests'],
    ['Crawl\u00e9r/1.0', 'Crawl'],
    // Browsers, and texts that name nothing.
    ['Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0', undefined],
    ['Mozilla/5.0 (compatible; FooCrawler; +http://foo.example)', undefined],
    ['Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18', undefined],
    ['', undefined],
    ['-', undefined],
    ['   ', undefined],
    ['1234', undefined],
    ['*', undefined],
    ['https://bot.example/GPTBot', undefined],
    ['\u0000\u0007\u001b[31m', undefined],
  ])('%j is %j', (header, name) => {
    expect(nameIn(header)).toBe(name);
  });

  it('names every known agent by its name', () => {
    for (const agent of knownAgents()) {
      const name = agent.published ?? agent.token;
      expect(nameIn(`Mozilla/5.0 (compatible; ${name}/1.0; +https://x.example/)`)).toBe(
        askedAs(agent),
      );
    }
  });

  it('finds the known agents that a search for each name finds', () => {
    const random = new Random(7);
    const known = knownAgents();
    const found = new Map<number, number>();
    for (let round = 0; round < cases(300); round++) {
      const parts = Array.from({ length: random.between(0, 6) }, () => {
        const agent = random.pick(known);
        const name = random.pick([agent.token, agent.published ?? agent.token, 'Mozilla', 'x']);
        const cased = random.pick([name, name.toLowerCase(), name.toUpperCase()]);
        return random.pick(['', '', '', 'x', '-', '+', 'https://']) + cased;
      });
      const header = parts
        .map((part) => part + random.pick([' ', '; ', '/1.0 ', ' (', ')', 'z']))
        .join('');
      const expected = known.filter((agent) => isNamed(header, agent));
      expect(agentsInHeader(header, known), header).toEqual(expected);
      found.set(expected.length, (found.get(expected.length) ?? 0) + 1);
      const [first] = expected.toSorted(byPlaceIn(header));
      if (first !== undefined) expect(nameIn(header)).toBe(askedAs(first));
    }
    expect([...found.keys()].filter((count) => count > 1).length).toBeGreaterThan(1);
    expect(found.get(0)).toBeGreaterThan(5);
  });

  it('takes time that is linear in the length of a header', () => {
    const header = `${'GPTBot/'.repeat(50_000)}${'('.repeat(50_000)}${'a-'.repeat(50_000)}`;
    expect(nameIn(header)).toBe('GPTBot');
    expect(agentName(knownAgents()[0] as KnownAgent)).toBe('GPTBot');
  });
});

/** The words of a header without addresses, as one text. */
function textOf(header: string): string {
  return header
    .split(/[ \t;,()]+/)
    .filter((word) => !/:\/\/|@|^\+?www\./.test(word))
    .join(' ')
    .trim();
}

function placeIn(header: string, { token, published = token }: KnownAgent): number {
  const quoted = published.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return textOf(header).search(new RegExp(`(?<![\\w.-])${quoted}(?![\\w.-])`, 'i'));
}

function isNamed(header: string, agent: KnownAgent): boolean {
  return placeIn(header, agent) >= 0;
}

function byPlaceIn(header: string): (a: KnownAgent, b: KnownAgent) => number {
  const length = ({ token, published = token }: KnownAgent): number => published.length;
  return (a, b) => placeIn(header, a) - placeIn(header, b) || length(b) - length(a);
}
