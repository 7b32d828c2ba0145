import { charactersOf } from '../../oracle/bytes.js';
import { readGroups } from '../../oracle/robots.js';
import { Names } from '../../src/protocol/agent.js';
import { MAX_WARNINGS, parseRobots, placeRules } from '../../src/protocol/parse.js';
import type { RobotsFile } from '../../src/protocol/robots-file.js';
import { PROFILES, type Profile } from '../../src/protocol/verdict.js';
import { hostileFile } from '../../test/hostile/file.js';
import { piece, words } from '../../test/hostile/pieces.js';
import { agree, Fault, shown } from '../fault.js';
import type { Target } from '../target.js';

const KEYS = [
  ...words('user-agent allow disallow sitemap crawl-delay host Disallow USER-AGENT useragent'),
  ...words('site-map dissallow dissalow disalow diasllow disallaw user-agents allowed disallow-x'),
  'user agent',
];
const SEPARATORS = [':', ': ', ' : ', ' ', '\t', '\t ', '::', '', ':\v', ':\f'];
const VALUES = [
  '*',
  '* x',
  '*foo',
  '*\t',
  '*\v',
  'a-bot',
  'A_b/1.2',
  '/',
  '',
  '/a b',
  '0.5',
  '1e3',
];
const ENDS = ['\n', '\r\n', '\r', '\n\n', '\0\n', '#\n', ' # c\r', '\x0b\n', ''];

/**
 * The parser of robots.txt: the result is compared with a naive parser, in every profile, wherever
 * the body lies in memory.
 */
export const target: Target = {
  name: 'robots',
  summary: 'the robots.txt parser, against a naive one',
  maxBytes: 20_000,
  seeds: [
    'User-agent: *\nDisallow: /private/\nAllow: /private/open$\nCrawl-delay: 1.5\n\nSitemap: x\n',
    '\xef\xbb\xbfuser-agent: a\r\ndisallow: /\r\r\nuser-agent: b\rallow: /a#b\n',
    '\xff\xfeu\0s\0e\0r\0-\0a\0g\0e\0n\0t\0:\0*\0\n\0d\0i\0s\0a\0l\0l\0o\0w\0:\0/\0\xd8\x3d',
    '\xfe\xff\0a\0l\0l\0o\0w\0:\0\xd8\x3d\xde\0\xdc\0',
    '<html>\n<p>disallow: /\n',
    `user-agent:*\ndisallow:/${'a'.repeat(16_700)}\nallow:/b`,
    '\x00:\n'.repeat(120),
  ],
  dictionary: [...KEYS, ...VALUES, ...ENDS, '\xef\xbb\xbf', '\xef\xbb', '\xff\xfe', '\xfe\xff'],
  generate: (random) => hostileFile(random, random.pick(PROFILES), { urls: 0, chains: 0 }).robots,
  piece(random) {
    if (random.chance(0.3)) return piece(random);
    return random.pick(KEYS) + random.pick(SEPARATORS) + random.pick(VALUES) + random.pick(ENDS);
  },
  check: () => (input) => {
    for (const profile of PROFILES) checkProfile(input, profile);
  },
};

function checkProfile(input: Uint8Array, profile: Profile): void {
  const file = parseRobots(input, { profile });
  agree(`${profile}: the groups`, groupsOf(file), JSON.stringify(readGroups(input, profile)));
  if (file.warnings.length > MAX_WARNINGS) throw new Fault(`${file.warnings.length} warnings`);
  agree('bytes beyond the limit', file.ignoredBytes, 0);
  let last = 0;
  for (const { line } of file.records) {
    if (line <= last) throw new Fault(`a record of line ${line} after a record of line ${last}`);
    last = line;
  }
  checkParts(input, profile, file);
  // The same bytes surrounded by others: any read beyond an end changes the result.
  for (const around of ['\n', ':\xbf']) {
    const memory = new Uint8Array(input.length + 64);
    for (let at = 0; at < memory.length; at++) memory[at] = around.charCodeAt(at % around.length);
    memory.set(input, 31);
    const within = parseRobots(memory.subarray(31, 31 + input.length), { profile });
    if (textOf(within) !== textOf(file)) {
      throw new Fault(`${profile}: the result depends on the bytes around, ${shown(around)}`);
    }
  }
}

/** Reads the groups of every second product token alone, as for a first verdict. */
function checkParts(input: Uint8Array, profile: Profile, file: RobotsFile): void {
  const named = new Set(file.groups.flatMap(({ productTokens }) => productTokens));
  const wanted = [...named].filter((_, index) => index % 2 === 0);
  const parts = { tokens: new Names(wanted), records: false, warnings: 'none' } as const;
  const placed = placeRules(input, { profile }, parts);
  const read = placed.groups.map(({ productTokens, firstRule, rulesEnd }) => ({
    productTokens,
    rules: placed.rules.slice(firstRule, rulesEnd),
    line: 0,
  }));
  const expected = file.groups.flatMap(({ productTokens, rules }) => {
    const tokens = productTokens.filter((token) => wanted.includes(token));
    return tokens.length === 0 ? [] : [{ productTokens: tokens, rules, line: 0 }];
  });
  agree(`${profile}: some groups`, groupsOf({ groups: read }), groupsOf({ groups: expected }));
}

function groupsOf({ groups }: Pick<RobotsFile, 'groups'>): string {
  return JSON.stringify(
    groups.map(({ productTokens, rules, line }) => ({
      productTokens,
      rules: rules.map((rule) => ({
        allow: rule.allow,
        pattern: charactersOf(rule.pattern),
        line: rule.line,
      })),
      line,
    })),
  );
}

function textOf(file: RobotsFile): string {
  return JSON.stringify([groupsOf(file), file.records, file.crawlDelays, file.warnings]);
}
