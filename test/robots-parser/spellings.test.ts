import { describe, expect, it } from 'vitest';
import { Robots } from '../../src/library/index.js';
import robotsParser, { type RobotsParser } from '../../src/library/robots-parser.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

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
    for (let seed = 1; seed <= cases(4000); seed++) {
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
      expect(count, `${name} of ${JSON.stringify(counts)}`).toBeGreaterThan(100);
    }
  });
});
