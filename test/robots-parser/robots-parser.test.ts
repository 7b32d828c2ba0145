import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { chai, describe, expect, it } from 'vitest';
import { Robots } from '../../src/library/index.js';
import robotsParser, { type RobotsParser } from '../../src/library/robots-parser.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const require = createRequire(import.meta.url);

/** The cases of robots-parser's own tests in which this project answers otherwise: see the page. */
const DIFFERENT = ['should handle lone high / low surrogates'];

/** Runs robots-parser's own tests, from its package, over a parser; returns what failed. */
function ownTests(parser: unknown): { cases: string[]; failed: string[] } {
  const file = join(dirname(require.resolve('robots-parser')), 'test/Robots.js');
  const cases: string[] = [];
  const failed: string[] = [];
  const describeAll = (_name: string, body: () => void): void => body();
  const runCase = (name: string, body: () => void): void => {
    cases.push(name);
    try {
      body();
    } catch {
      failed.push(name);
    }
  };
  const load = (name: string): unknown => (name === 'chai' ? chai : parser);
  const source = readFileSync(file, 'utf8');
  new Function('require', 'describe', 'it', source)(load, describeAll, runCase);
  return { cases, failed };
}

/** The package itself. */
const original: (url: string, body: string) => RobotsParser = require('robots-parser');

describe("robots-parser's own tests", () => {
  it('all run, and pass but for the differences that docs/api.md lists', () => {
    const { cases, failed } = ownTests(robotsParser);
    expect(cases.length).toBe(41);
    expect(failed).toEqual(DIFFERENT);
  });

  it('find a parser that is wrong', () => {
    expect(ownTests(() => robotsParser('', '')).failed.length).toBeGreaterThan(20);
  });
});

const SITE = 'https://h.example';
const ask = (lines: readonly string[], path: string, ua?: string): unknown[] =>
  [robotsParser, original].map((parser) => {
    const robots = parser(`${SITE}/robots.txt`, lines.join('\n'));
    return robots.isAllowed(SITE + path, ua);
  });

describe('the differences of docs/api.md', () => {
  it.each<[string, string[], string, string | undefined, boolean[]]>([
    ['robots.txt', ['user-agent: *', 'disallow: /'], '/robots.txt', undefined, [true, false]],
    ['unreserved', ['user-agent: *', 'disallow: /~a'], '/%7Ea', undefined, [false, true]],
    [
      'groups',
      ['user-agent: a', 'sitemap: /s', 'user-agent: b', 'disallow: /x'],
      '/x',
      'a',
      [false, true],
    ],
    ['tokens', ['user-agent: a*b', 'disallow: /'], '/', 'a*b', [false, false]],
    ['tokens', ['user-agent: bot2', 'disallow: /'], '/', 'bot', [false, true]],
    ['no rules', ['user-agent: *', 'disallow: /', 'user-agent: a'], '/x', 'a', [true, false]],
    ['escapes', ['user-agent: *', 'disallow: /^'], '/^', undefined, [false, true]],
    ['escapes', ['user-agent: *', "disallow: /?'"], "/?'", undefined, [false, true]],
    ['special', ['user-agent: *', 'disallow: /%2A'], '/*', undefined, [false, true]],
    ['special', ['user-agent: *', 'disallow: /%24'], '/$', undefined, [false, true]],
    ['user agents', ['user-agent: my', 'disallow: /'], '/', 'My Bot 1.0', [false, true]],
    ['empty query', ['user-agent: *', 'disallow: /a?'], '/a?', undefined, [false, true]],
    [
      'limit',
      ['user-agent: *', '#'.repeat(512_000), 'disallow: /x'],
      '/x',
      undefined,
      [true, false],
    ],
  ])('%s', (_what, lines, path, ua, answers) => {
    expect(ask(lines, path, ua)).toEqual(answers);
  });
});

it.each<[string, (number | undefined)[]]>([
  ['1e3', [undefined, 1000]],
  ['-1', [undefined, -1]],
  ['0x10', [undefined, 16]],
  ['', [undefined, 0]],
  ['2\nCrawl-delay: 1', [2, 1]],
])('a delay of %j', (value, delays) => {
  const body = `User-agent: *\nDisallow: /x\nCrawl-delay: ${value}`;
  const parsed = [robotsParser, original].map((parser) => parser(`${SITE}/robots.txt`, body));
  expect(parsed.map((each) => each.getCrawlDelay('a'))).toEqual(delays);
});

it('ignores a final dot of the host', () => {
  const body = 'User-agent: *\nDisallow: /x';
  for (const [site, url] of [
    [SITE, `${SITE}./x`],
    [`${SITE}.`, `${SITE}/x`],
  ] as const) {
    const parsed = [robotsParser, original].map((parser) => parser(`${site}/robots.txt`, body));
    expect(parsed.map((each) => each.isAllowed(url))).toEqual([false, undefined]);
  }
});

describe('the interface', () => {
  const body = [
    'user-agent: *',
    'disallow: /a',
    'user-agent: bot',
    'disallow: /b',
    'crawl-delay: 2',
    'sitemap: /s.xml',
    'host: H.example',
  ].join('\n');
  const robots = robotsParser(`${SITE}/robots.txt`, body);
  const theirs = original(`${SITE}/robots.txt`, body);

  it('answers as robots-parser does', () => {
    const urls = [
      ...[`${SITE}/a`, `${SITE}/b`, `${SITE}:443/b#x`, 'HTTPS://H.EXAMPLE/a', `${SITE}/x/../a`],
      ...['/a', 'http://h.example/a', `${SITE}:8443/a`, 'mailto:x', 'no URL', '', 'https://'],
    ];
    for (const url of urls) {
      for (const ua of [undefined, 'bot', 'Bot/1.0', 'other', '*', '']) {
        const answers = (parsed: RobotsParser) => [
          parsed.isAllowed(url, ua),
          parsed.isDisallowed(url, ua),
          parsed.getMatchingLineNumber(url, ua),
        ];
        expect(answers(robots), `${url} ${ua}`).toEqual(answers(theirs));
      }
    }
    for (const ua of [undefined, 'bot', 'other']) {
      expect(robots.getCrawlDelay(ua)).toBe(theirs.getCrawlDelay(ua));
    }
    expect(robots.getSitemaps()).toEqual(theirs.getSitemaps());
    expect(robots.getPreferredHost()).toBe(theirs.getPreferredHost());
  });

  it('tells a rule of the agent from a rule of all agents', () => {
    expect(robots.isExplicitlyDisallowed(`${SITE}/b`, 'bot')).toBe(true);
    expect(robots.isExplicitlyDisallowed(`${SITE}/a`, 'bot')).toBe(false);
    expect(robots.isExplicitlyDisallowed(`${SITE}/a`, 'other')).toBe(false);
    expect(robots.isExplicitlyDisallowed(`${SITE}/a`)).toBe(true);
    expect(robots.isExplicitlyDisallowed('https://other.example/a', 'bot')).toBe(undefined);
  });

  it('takes any contents and any user agent without an error', () => {
    for (const contents of [null, undefined, '', new Uint8Array([0xff, 0xfe, 0])]) {
      expect(robotsParser(`${SITE}/robots.txt`, contents).isAllowed(`${SITE}/a`)).toBe(true);
    }
    for (const ua of ['', ' ', '1', 'a b', 'é', '/', '>', 'a>b', '__proto__']) {
      expect(robots.isAllowed(`${SITE}/a`, ua)).toBe(false);
    }
  });

  it('remembers a bounded number of user agents', () => {
    for (let index = 0; index < 1000; index++) {
      const name = `x${String.fromCharCode(97 + (index % 26)).repeat(index)}`;
      expect(robots.isAllowed(`${SITE}/a`, name)).toBe(false);
    }
  });
});

const BLANKS = ['', '', ' ', '\t', '\n ', '\u0000\u001f '];
const USERS = ['', '', 'u@', 'u:p@', "u'@", '@', ':@', 'u@v@', '%40%3F@'];
const HOSTS = [
  ...['a.example', 'A.Example', 'a.ex\tample', 'a%2Eexample', 'a。example', 'ａ.example'],
  ...['a.example.', 'A.Example%2e', 'a.example\n.', 'a.example。'],
];
const OTHER_HOSTS = ['b.example', 'a.example.b', 'www.a.example', 'a.example..', 'example'];
const STARTS = ['/', '/', '\\', '//', '/.\\', '?', "?'", "/?'", '#'];
const PIECES = [
  ...["'", "'", '%27', '%27', '%', '%2', '%3A', ':', '%2F', '/', '%3f', '?', '?', '#', '&', '='],
  ...['*', '$', '%24', '%2a', ' ', '\t', '\r\n', '"', '<', '^', '|', '`', '{', '[', '@', '\\'],
  ...[
    '..',
    '.',
    '/../',
    '/./',
    '%2e%2E',
    '.gif/',
    '\u0000',
    'é',
    '%c3%A9',
    '\ud800',
    '😀',
    'a',
    'b',
  ],
];
/** A site, and the ways in which a URL may spell its scheme and port. */
interface Site {
  readonly plain: string;
  readonly schemes: readonly string[];
  readonly slashes: readonly string[];
  readonly ports: readonly string[];
  readonly otherPorts: readonly string[];
}

const SITES: readonly Site[] = [
  {
    plain: 'https://a.example',
    schemes: ['https', 'HTTPS', 'hTt\tps'],
    slashes: ['//', '//', '\\\\', '/', '', '/\\', '////', '/\n/'],
    ports: ['', '', ':', ':443', ':00443', ':4\t43'],
    otherPorts: [':80', ':8443', ':4430'],
  },
  {
    plain: 'http://a.example',
    // Without two slashes, an http URL is relative in robots-parser, as its base is one.
    schemes: ['http', 'Http', '\nHTTP'],
    slashes: ['//', '\\\\', '\\/', '////'],
    ports: ['', '', ':', ':80', ':080'],
    otherPorts: [':443', ':8080'],
  },
  {
    plain: 'ftp://a.example:2121',
    schemes: ['ftp', 'FTP'],
    slashes: ['//', '\\\\', '', '//////'],
    ports: [':2121', ':02121'],
    otherPorts: ['', ':21'],
  },
];

function spelling(
  random: Random,
  site: Site,
  hosts: readonly string[],
  ports = site.ports,
): string {
  const start = `${random.pick(BLANKS)}${random.pick(site.schemes)}:${random.pick(site.slashes)}`;
  return `${start}${random.pick(USERS)}${random.pick(hosts)}${random.pick(ports)}`;
}

/** A robots.txt whose patterns are parts of the path and query of a URL, so that many match. */
function rules(random: Random, rest: string): string {
  const [text = ''] = rest.replace(/^[/\\]+/, '').split(/[#\r\n\t]/, 1);
  const lines = Array.from({ length: random.between(1, 4) }, () => {
    const from = random.between(0, text.length);
    const part = text.slice(from, from + random.between(1, 6));
    const end = random.pick(['', '', '', '$', "'", '%27']);
    return `${random.pick(['Disallow', 'Disallow', 'Allow'])}: /${from === 0 ? '' : '*'}${part}${end}`;
  });
  return ['User-agent: *', ...lines, 'User-agent: bot', ...lines.slice(1)].join('\n');
}

const answers = (parser: RobotsParser, url: string, ua: string): unknown[] => [
  parser.isAllowed(url, ua),
  parser.getMatchingLineNumber(url, ua),
  parser.isExplicitlyDisallowed(url, ua),
];

/** The same answers by `Robots`. */
function expected(robots: Robots, url: string, ua: string): unknown[] {
  const { verdict, rule } = robots.verdict(url, ua);
  const isNamed = ua === '*' || rule?.agent !== '*';
  return [robots.isAllowed(url, ua), rule?.line ?? -1, verdict === 'deny' && isNamed];
}

describe('a URL of the site, however its authority is spelt', () => {
  it('has the answers of Robots', () => {
    const counts = { allowed: 0, denied: 0, quoted: 0, outside: 0 };
    for (let seed = 1; seed <= cases(1000); seed++) {
      const random = new Random(seed);
      const site = random.pick(SITES);
      const rest = `${random.pick(STARTS)}${random.run(PIECES, 0, 6)}${random.pick(BLANKS)}`;
      const body = rules(random, rest);
      const robots = Robots.parse(body);
      const parser = robotsParser(`${spelling(random, site, HOSTS)}/robots.txt`, body);
      const url = `${spelling(random, site, HOSTS)}${rest}`;
      for (const ua of ['*', 'bot']) {
        const shown = JSON.stringify({ seed, url, body, ua });
        const own = answers(parser, url, ua);
        expect(own, shown).toEqual(expected(robots, url, ua));
        expect(own, shown).toEqual(expected(robots, site.plain + rest, ua));
        expect(own, shown).toEqual(answers(parser, site.plain + rest, ua));
        counts[own[0] === true ? 'allowed' : 'denied']++;
        const swapped = rest.replace(/'|%27/g, (quote) => (quote === "'" ? '%27' : "'"));
        const other = robots.isAllowed(site.plain + swapped, ua);
        if (/^[/]?[?]/.test(rest) && other !== own[0]) counts.quoted++;
      }
      const otherHost = spelling(random, site, OTHER_HOSTS);
      const otherPort = spelling(random, site, HOSTS, site.otherPorts);
      for (const outside of [
        otherHost,
        otherPort,
        spelling(random, site, HOSTS).replace(/p/i, 'x'),
      ]) {
        expect(answers(parser, outside + rest, '*'), outside).toEqual([undefined, -1, undefined]);
        counts.outside++;
      }
    }
    for (const [name, count] of Object.entries(counts)) {
      expect(count, `${name} of ${JSON.stringify(counts)}`).toBeGreaterThan(40);
    }
  });
});
