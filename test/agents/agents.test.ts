import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Robots } from '../../src/judge/robots.js';
import { isProductToken, parseAgent } from '../../src/protocol/agent.js';
import { readAgentsFile } from '../../src/protocol/agents-file.js';
import {
  agentsNamed,
  agentsOf,
  agentsOfOperator,
  askedAs,
  DISREGARDING,
  listNames,
  OBEYS,
} from '../../src/protocol/known-agent.js';
import { knownAgents } from '../../src/protocol/known-agents.js';
import { parseRobots } from '../../src/protocol/parse.js';
import { agentsInHeader } from '../../src/protocol/unnamed-agents.js';

const known = knownAgents();

/** Lists of agents by others, which are the source of some entries. */
const LISTS = [
  'https://github.com/ai-robots-txt/ai.robots.txt',
  'https://github.com/monperrus/crawler-user-agents',
];

function tokensIn(header: string): string[] {
  return agentsInHeader(header, known).map(({ token }) => token);
}

describe('the built-in lists', () => {
  it('are found by their names, with or without @', () => {
    const training = knownAgents('ai-training');
    expect(training.map(({ token }) => token)).toContain('GPTBot');
    expect(knownAgents('@ai-training')).toEqual(training);
    expect(knownAgents('all-known')).toEqual(knownAgents());
    expect(new Set(training.map(({ purpose }) => purpose))).toEqual(new Set(['ai-training']));
  });

  it('cannot be changed, and no other list is guessed', () => {
    expect(() => (knownAgents() as unknown[]).reverse()).toThrow(TypeError);
    expect(() => knownAgents('ai-trainig')).toThrow(
      "the list of agents is 'ai-trainig'. Use one of ai-training, ",
    );
    expect(() => knownAgents(1 as never)).toThrow('the list of agents is 1.');
  });
});

describe('the built-in lists', () => {
  it('have the names that the documents promise', () => {
    expect(listNames(known)).toEqual([
      'ai-training',
      'ai-search',
      'ai-assistant',
      'search',
      'ads',
      'social',
      'seo',
      'archive',
      'all-known',
    ]);
    expect(agentsOf(known, 'all-known')).toHaveLength(known.length);
    expect(agentsOf(known, 'nosuch')).toBeUndefined();
    // A query has at most 256 agents.
    expect(known.length).toBeGreaterThan(100);
    expect(known.length).toBeLessThan(256);
  });

  it('hold each token once, with operator, source, date and description', () => {
    const tokens = known.map(({ token }) => token.toLowerCase());
    expect(new Set(tokens).size).toBe(tokens.length);
    for (const agent of known) {
      expect(isProductToken(agent.token)).toBe(true);
      expect(agent.operator).not.toBe('');
      expect(URL.canParse(agent.source)).toBe(true);
      expect(agent.date).toMatch(/^20\d\d-[01]\d-[0-3]\d$/);
      expect(agent.description).toMatch(/^[A-Z].*\.$/);
      expect(OBEYS).toContain(agent.obeys);
      // Other lists are no word of the operator.
      if (LISTS.includes(agent.source)) expect(agent.obeys, agent.token).toBe('unknown');
    }
    expect(new Set(known.map(({ obeys }) => obeys))).toEqual(new Set(OBEYS));
    expect(known.some(({ source }) => LISTS.includes(source))).toBe(true);
  });

  it('know the agents that disregard "*", and only as product tokens that agents can be', () => {
    const free = known.filter((agent) => 'fallback' in agent);
    expect(new Set(free.map(({ token }) => token.toLowerCase()))).toEqual(DISREGARDING);
    expect(free.map(askedAs)).toEqual([
      'AdsBot-Google:',
      'AdsBot-Google-Mobile:',
      'Mediapartners-Google:',
      'APIs-Google:',
    ]);
    for (const agent of known) {
      const { chain, disregardsAny } = parseAgent(askedAs(agent), 'rfc9309');
      expect(chain).toEqual([agent.token]);
      expect(disregardsAny ?? false, agent.token).toBe(agent.fallback === false);
    }
  });

  it('hold Diffbot as a crawler that trains no models', () => {
    expect(agentsNamed('Diffbot', known).map(({ purpose }) => purpose)).toEqual(['ai-search']);
  });

  it('hold the token that a user-agent line with the published name yields', () => {
    const odd = known.filter(({ published }) => published !== undefined);
    expect(odd.map(({ published }) => published)).toEqual(
      expect.arrayContaining(['MJ12bot', 'archive.org_bot', 'AI2Bot', 'Sogou web spider']),
    );
    for (const { token, published = token } of known) {
      const { groups } = parseRobots(Buffer.from(`User-agent: ${published}\nDisallow: /\n`));
      expect(groups[0]?.productTokens).toEqual([token.toLowerCase()]);
    }
  });
});

describe('the name of an agent', () => {
  it('means this agent alone, however it is spelt', () => {
    for (const agent of known) {
      const { token, published = token } = agent;
      const words = published.replaceAll(/[-_. ]/g, ' ');
      for (const name of [published, `${published}/1.0`, words, words.toUpperCase()]) {
        expect(agentsNamed(name, known), name).toEqual([agent]);
      }
      expect(agentsNamed(token, known), token).toEqual([agent]);
    }
    expect(known.some(({ published = '' }) => published.includes(' '))).toBe(true);
    for (const name of ['', '/', '  ', '*', 'Googleextende']) {
      expect(agentsNamed(name, known), name).toEqual([]);
    }
  });
});

describe('the name of an operator', () => {
  it('means all its agents, however it is spelt', () => {
    const operators = new Set(known.map(({ operator }) => operator));
    expect(operators.size).toBeGreaterThan(50);
    for (const operator of operators) {
      const all = known.filter((agent) => agent.operator === operator);
      const plain = operator.normalize('NFD').replaceAll(/\p{Mark}/gu, '');
      for (const name of [
        operator,
        operator.toUpperCase(),
        plain,
        ` ${plain.replaceAll(' ', '-')}`,
      ]) {
        expect(agentsOfOperator(name, known), name).toEqual(all);
      }
    }
    expect([...operators].some((name) => name.normalize('NFD') !== name)).toBe(true);
  });
});

describe('a User-Agent header', () => {
  it.each([
    ['Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)', ['GPTBot']],
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/103.0 Safari/537.36',
      ['bingbot'],
    ],
    ['Googlebot-Image/1.0', ['Googlebot-Image']],
    ['Mozilla/5.0 (compatible; GoogleOther)', ['GoogleOther']],
    ['Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)', ['MJ']],
    [
      'Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)',
      ['archive'],
    ],
    ['Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)', ['Sogou']],
    [
      'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
      ['meta-externalagent'],
    ],
    // Neither addresses nor parts of names count.
    ['Mozilla/5.0 (compatible; MyBot/1.0; +https://example.com/GPTBot GPTBot@example.com)', []],
    ['Mozilla/5.0 (compatible; NotGPTBot/1.0; GPTBot2/1.0; GPTBot.x/1)', []],
    ['AIBot/1.0 (Mail)', []],
    ['A/1 (GPTBot; CCBot)', ['GPTBot', 'CCBot']],
  ])('%s', (header, tokens) => {
    expect(tokensIn(header)).toEqual(tokens);
  });

  it('without a token is refused by the library, with the candidates and never Mozilla', () => {
    const refuse = (header: string) => () => parseAgent(header, 'rfc9309');
    expect(refuse('Mozilla/5.0 (compatible; MyBot/1.2; +https://a.example/)')).toThrow(
      'is not a product token (RFC 9309 section 2.2.1): it is a whole User-Agent header. Use the crawler\'s product token, such as "MyBot"',
    );
    expect(refuse('Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 Chrome/1 Safari/5')).toThrow(
      'without the name of a crawler. Use the product token that the operator documents',
    );
    for (const browser of ['Mozilla/5.0', 'Mozilla 5.0', 'mozilla5', 'Chrome/120.0']) {
      expect(refuse(browser)).toThrow('names no crawler. Use the product token');
    }
    expect(refuse('MyBot/1.0')).toThrow('use "MyBot"');
  });
});

describe('a name with digits or dots', () => {
  it('stands for its product token, and stays the name of the agent', () => {
    for (const [name, chain, disregardsAny] of [
      ['MJ12bot', ['MJ'], false],
      ['archive.org_bot', ['archive'], false],
      ['img2dataset:', ['img'], true],
      ['AI2Bot:CCBot', ['AI', 'CCBot'], false],
      ['A>B2', ['A', 'B'], false],
    ] as const) {
      expect(parseAgent(name, 'rfc9309')).toEqual({ name, chain, disregardsAny });
    }
    expect(parseAgent(['AI2Bot', ' b.c '], 'rfc9309')).toMatchObject({
      name: 'AI2Bot>b.c',
      chain: ['AI', 'b'],
    });
    // A text of its own, as in google/robotstxt.
    expect(parseAgent('MJ12bot', 'google').chain).toEqual(['MJ12bot']);
    for (const other of [
      '2Bot',
      '.a',
      'a b2',
      'a1/2',
      'mozilla5',
      'a1é',
      'http://a.example/',
      '*2',
    ]) {
      expect(() => parseAgent(other, 'rfc9309'), other).toThrow('is not a product token');
    }
  });

  it('is judged like its token by the library', () => {
    const robots = Robots.parse(
      'User-agent: MJ12bot\nDisallow: /x\n\nUser-agent: *\nDisallow: /y\n',
    );
    for (const agent of ['MJ', 'mj12bot', ['MJ12bot'], 'MJ5']) {
      expect(['/x', '/y'].map((url) => robots.verdict(url, agent).verdict)).toEqual([
        'deny',
        'allow',
      ]);
    }
  });
});

describe('a file of agents', () => {
  function file(content: string): string {
    const place = mkdtempSync(join(tmpdir(), 'robots-filter-'));
    onTestFinished(() => rmSync(place, { recursive: true, force: true }));
    const path = join(place, 'agents.json');
    writeFileSync(path, content);
    return path;
  }

  it('gives back what the built-in lists hold', async () => {
    expect(await readAgentsFile(file(JSON.stringify(known)))).toEqual({
      agents: known,
      leftOut: undefined,
    });
  });

  it('may say what the operator says, and whether "*" counts', async () => {
    const content =
      '[{"token":"A","purpose":"x"},{"token":"B","purpose":"x","obeys":"no","fallback":false},{"token":"C","purpose":"x","fallback":true}]';
    const { agents } = await readAgentsFile(file(content));
    expect(agents.map(({ obeys }) => obeys)).toEqual(['unknown', 'no', 'unknown']);
    expect(agents.map(askedAs)).toEqual(['A', 'B:', 'C']);
  });

  it.each([
    ['{', 'not JSON'],
    ['{}', 'neither a JSON array of agents nor a JSON object of agents by name'],
    ['[]', 'neither a JSON array of agents nor'],
    ['1', 'neither a JSON array of agents nor'],
    ['{"token":"A","purpose":"x"}', 'the entry "token" is not an object'],
    ['{"A":{"respect":1}}', 'the entry "A" has a "respect" that is not a string'],
    ['{"A":[]}', 'the entry "A" is not an object'],
    ['{"360":{},"*":{},"":{}}', 'no name in it begins as a product token does'],
    ['[{"token":"A","purpose":"x","obeys":"maybe"}]', 'entry 1 (A) has an "obeys" that is none of'],
    ['[{"token":"A","purpose":"x","fallback":"no"}]', 'entry 1 (A) has a "fallback" that is'],
    ['[1]', 'entry 1 is not an object'],
    ['[null]', 'entry 1 is not an object'],
    ['[{"token":"A","purpose":"x"},{"purpose":"x"}]', 'entry 2 has no "token"'],
    ['[{"token":"A1","purpose":"x"}]', 'entry 1 has no "token"'],
    ['[{"token":"*","purpose":"x"}]', 'entry 1 has no "token"'],
    ['[{"token":"A"}]', 'entry 1 (A) has no "purpose"'],
    ['[{"token":"A","purpose":"a b"}]', 'entry 1 (A) has no "purpose"'],
    ['[{"token":"A","purpose":"all-known"}]', 'entry 1 (A) has no "purpose"'],
    ['[{"token":"A","purpose":"x","date":1}]', 'entry 1 (A) has a "date" that is not a string'],
    ['[{"token":"A","purpose":"x"},{"token":"a","purpose":"y"}]', 'entry 2 repeats a'],
  ])('%s is refused', async (content, message) => {
    await expect(readAgentsFile(file(content))).rejects.toThrow(message);
  });

  it('may begin with a byte order mark', async () => {
    const { agents } = await readAgentsFile(file(`\ufeff${JSON.stringify(known)}`));
    expect(agents).toEqual(known);
  });

  it('may be an object of agents by name', async () => {
    const entries = {
      FirstBot: {
        operator: '[First](https://first.example/)',
        respect: '[Yes](https://first.example/bot)',
        function: 'AI Data Scrapers',
        frequency: 'Daily.',
        description: 'Collects.',
      },
      '__proto__x 1.0': { operator: 'Second', respect: 'Unclear at this time.' },
      Third2Bot: { respect: 'No', function: 'Used to Train models.' },
      'third.bot': {},
      'fourth/1.0': { function: 'ai assistants', operator: '[Half](', respect: '[No](' },
      firstbot: { operator: 'Nobody' },
      '5thBot': {},
      Sixth: { function: 'AI Search Crawlers', operator: '[Six](https://six.example/)' },
    };
    const path = file(JSON.stringify(entries));
    const { agents, leftOut } = await readAgentsFile(path);
    expect(leftOut).toBe(
      `${path}: names were left out: without a product token (1), with the token of an earlier one (2)`,
    );
    const none = { operator: '', description: '', obeys: 'unknown', source: '', date: '' };
    expect(agents).toEqual([
      {
        ...none,
        token: 'FirstBot',
        operator: 'First',
        purpose: 'ai-training',
        description: 'Collects.',
        obeys: 'yes',
        source: 'https://first.example/bot',
      },
      {
        ...none,
        token: '__proto__x',
        published: '__proto__x 1.0',
        operator: 'Second',
        purpose: 'ai',
      },
      { ...none, token: 'Third', published: 'Third2Bot', purpose: 'ai-training', obeys: 'no' },
      {
        ...none,
        token: 'fourth',
        published: 'fourth/1.0',
        operator: '[Half](',
        purpose: 'ai-assistant',
      },
      {
        ...none,
        token: 'Sixth',
        operator: 'Six',
        purpose: 'ai-search',
        source: 'https://six.example/',
      },
    ]);
  });

  it.skipIf(!existsSync('/dev/zero'))('is read up to its limit', async () => {
    await expect(readAgentsFile('/dev/zero')).rejects.toThrow('longer than 16777216 bytes');
  });

  it('that does not exist is refused', async () => {
    await expect(readAgentsFile('/nonexistent/agents.json')).rejects.toThrow('does not exist');
  });
});
