import type { Profile } from '../../src/protocol/verdict.js';
import type { Random } from '../random/random.js';
import { hostilePattern } from './pattern.js';
import { words } from './pieces.js';
import { hostileUrl } from './url.js';

const TOKENS = words('a-bot A-Bot b_bot B_BOT k * * *');
const ODD_TOKENS = [
  ...words('007 a-bot/1.2 *\tx *foo a-bot* "foo" \xe9 a-botx a'),
  ...['', '* x', 'a-bot b_bot', '*b_bot', '*/'],
];

const OTHER_LINES = [
  ...['', '# comment', 'sitemap: https://h.example/s.xml', 'crawl-delay: 3', 'noise', ': /a', '::'],
  ...['disallow', 'allow /a b', '<html>', 'disallow: /a\0b', '\0', 'host: h', 'disalow: /a'],
];

/** Crawlers, each as a fallback chain of product tokens. */
const CHAINS: readonly (readonly string[])[] = [
  ...words('a-bot a-bot A-BOT b_bot b_bot zzz zzz * a foo K').map((token) => [token]),
  ...['a-bot b_bot', 'zzz B_bot', 'zzz yyy', 'b_bot a-bot zzz', '* a-bot', 'zzz *'].map(words),
];

/**
 * Crawlers whose names are not product tokens; only google has verdicts for them. U+212A has the
 * lower case k, though not in ASCII.
 */
const ODD_CHAINS: readonly (readonly string[])[] = [
  ...['', '007', 'a-bot/1.2', 'a-bot b_bot', '* x', ' a-bot', 'k ', '\u{212A}'].map((name) => [
    name,
  ]),
  ['', 'b_bot'],
];

/** One random robots.txt and the questions about it. */
export interface HostileFile {
  readonly robots: string;
  /** The patterns of its rules. */
  readonly patterns: readonly string[];
  readonly urls: readonly string[];
  readonly chains: readonly (readonly string[])[];
}

/** A file with `urls` URLs, many of them derived from its own patterns, and `chains` crawlers. */
export function hostileFile(
  random: Random,
  profile: Profile,
  counts: { readonly urls: number; readonly chains: number },
): HostileFile {
  const patterns: string[] = [];
  const robots = robotsText(random, profile, patterns);
  const urls = Array.from({ length: counts.urls }, () => hostileUrl(random, profile, patterns));
  const chains = Array.from({ length: counts.chains }, () =>
    random.pick(profile === 'google' && random.chance(0.2) ? ODD_CHAINS : CHAINS),
  );
  return { robots, patterns, urls, chains };
}

/** The text; the patterns of its rules are added to `patterns`. */
function robotsText(random: Random, profile: Profile, patterns: string[]): string {
  const lines: string[] = [];
  if (random.chance(0.1)) lines.push(ruleLine(random, profile, patterns));
  for (let groups = random.between(1, 4); groups > 0; groups--) {
    for (let agents = random.pick([1, 1, 1, 2, 3]); agents > 0; agents--) {
      lines.push(userAgentLine(random, profile));
      if (random.chance(0.1)) lines.push(random.pick(OTHER_LINES));
    }
    for (let rules = random.pick([0, 1, 2, 3, 4, 5, 6, 8]); rules > 0; rules--) {
      lines.push(ruleLine(random, profile, patterns));
      if (random.chance(0.1)) lines.push(random.pick(OTHER_LINES));
    }
  }
  const ends = random.pick([['\n'], ['\n'], ['\r\n'], ['\r'], ['\n', '\r', '\r\n']]);
  const start = random.chance(0.05) ? random.pick(words('\xef\xbb\xbf \xef\xbb \xef')) : '';
  const text = lines.map((line) => line + random.pick(ends)).join('');
  return start + (random.chance(0.2) ? text.trimEnd() : text);
}

function userAgentLine(random: Random, profile: Profile): string {
  const keys = ['user-agent', 'User-Agent', 'USER-AGENT', ' user-agent '];
  if (profile === 'google') keys.push('useragent', 'user agent', 'user-agents');
  const token = random.pick(random.chance(0.15) ? ODD_TOKENS : TOKENS);
  const space = random.pick(['', ' ', '\t']);
  return `${random.pick(keys)}:${space}${token}${random.pick(['', '', ' # c'])}`;
}

function ruleLine(random: Random, profile: Profile, patterns: string[]): string {
  const isGoogle = profile === 'google';
  const keys = random.chance(0.5) ? ['allow', 'Allow', 'ALLOW '] : ['disallow', ' Disallow'];
  if (isGoogle && random.chance(0.1)) keys.push(...words('allowed dissallow diasllow disallow-x'));
  const pattern = hostilePattern(random, patterns);
  patterns.push(pattern);
  const separator = isGoogle && random.chance(0.05) ? ' ' : ': ';
  return `${random.pick(keys)}${separator}${pattern}${random.pick(['', '', '', ' ', '#c', ' # c'])}`;
}
