import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Linter } from '../../src/lint/lint.js';
import { LINT_RULE_NAMES, type LintRuleName, lintRule } from '../../src/lint/rules.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { knownAgents } from '../../src/protocol/known-agents.js';
import { ROOT } from '../docs/scratch.js';

const linter = new Linter({
  rules: new Set(LINT_RULE_NAMES),
  agents: knownAgents(),
  mostListed: 100,
  collectEdits: false,
});

/** The rules that are found in a file of shop.example. */
function found(body: string | Uint8Array): LintRuleName[] {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return linter.lint(bytes, parseAuthority('shop.example')).findings.map(({ rule }) => rule);
}

/** The sections of docs/lint.md about rules, with their severities and examples. */
const sections = new Map(
  readFileSync(join(ROOT, 'docs/lint.md'), 'utf8')
    .split('\n#### ')
    .slice(1)
    .map((section) => {
      const name = section.slice(0, section.indexOf('\n'));
      const [, severity] = /\*\*(\w+)\*\*/.exec(section) ?? [];
      const [, example] = /```robots\n([^`]*)\n```/.exec(section) ?? [];
      return [name, { severity, example }];
    }),
);

/** The bytes of an example, in which `\xNN` stands for a byte. */
function bytesOf(example: string): Buffer {
  const pieces = example.split(/\\x([0-9a-f]{2})/);
  return Buffer.concat(
    pieces.map((piece, index) =>
      index % 2 === 1 ? Buffer.from(piece, 'hex') : Buffer.from(piece),
    ),
  );
}

/** Examples that are too long for a page. */
const LONG: Partial<Record<LintRuleName, string>> = {
  'too-large': `User-agent: *\nDisallow: /${'#'.repeat(512_000)}`,
  'long-line': `User-agent: *\nDisallow: /${'a'.repeat(16_663)}`,
  'analysis-limit': `User-agent: *\n${Array.from({ length: 20_000 }, (_, i) => `Allow: /*aaaa${i}*b\n`).join('')}`,
};

/** What else is wrong in an example, for another reason. */
const OTHERS: Partial<Record<LintRuleName, readonly LintRuleName[]>> = {};

describe('docs/lint.md', () => {
  it('has all rules in their order', () => {
    expect([...sections.keys()]).toEqual(LINT_RULE_NAMES);
  });

  it.each(LINT_RULE_NAMES)('has the severity and an example of %s', (name) => {
    const { severity, example } = sections.get(name) ?? {};
    expect(severity).toBe(lintRule(name).severity);
    const body = example === undefined ? LONG[name] : bytesOf(example);
    expect(found(body ?? '')).toContain(name);
  });

  it.each(LINT_RULE_NAMES)('has an example of %s in which nothing else is wrong', (name) => {
    const { example } = sections.get(name) ?? {};
    const others = found(example === undefined ? '' : bytesOf(example)).filter(
      (rule) => rule !== name && lintRule(rule).opinion !== true,
    );
    expect(others).toEqual(OTHERS[name] ?? []);
  });
});

describe('a good file', () => {
  it.each([
    ['', 'an empty file'],
    ['User-agent: *\nDisallow:\n', 'everything allowed'],
    [
      '# A comment\nUser-agent: GPTBot\nUser-agent: MJ12bot\nDisallow: /a/\nDisallow: /search/\nAllow: /a/*.pdf$\n\n' +
        'User-agent: *\r\nCrawl-delay: 0.5\r\nDisallow: /search/ # results\r\n' +
        'Sitemap: https://shop.example/a.xml\nSitemap: https://www.shop.example/b.xml\n' +
        'Host: shop.example\nClean-param: ref /a\nRequest-rate: 1/60s\nLicense: https://a.example/l\n' +
        'Content-Signal: search=yes, ai-train=no, use=reference\nContent-Usage: /a train-ai=n, search=y;p=1\n',
      'records of all kinds',
    ],
  ])('has no findings: %j', (body) => {
    expect(
      found(body).filter((rule) => lintRule(rule as LintRuleName).severity !== 'note'),
    ).toEqual([]);
    expect(found(body).filter((rule) => rule !== 'trailing-slash')).toEqual([]);
  });
});

it.each(['GPTBt', 'CCBott', 'ClaudeBto', 'google_inspectiontool'])(
  '%s is a misspelt agent',
  (name) => {
    expect(found(`User-agent: ${name}\nDisallow: /a/`)).toContain('misspelt-agent');
  },
);

describe('what real files showed', () => {
  const GROUP = 'User-agent: *\n';
  it.each([
    // Crawlers of other names are not misspelt.
    ['User-agent: NPBot\nUser-agent: Roverbot\nUser-agent: psbot\nDisallow: /a/', 'misspelt-agent'],
    [
      'User-agent: XingBot\nUser-agent: Devil\nUser-agent: SemrushBot-SA\nDisallow: /a/',
      'misspelt-agent',
    ],
    // The broken mark is one finding.
    ['\u00ef\u00bb\u00bfUser-agent: *\nDisallow: /a/', 'misspelt-record'],
    // Authors deny addresses that templates broke.
    [`${GROUP}Disallow: /*{{url}}`, 'template-placeholder'],
    ['Clean-param: __BVSUBMISSION__&x', 'template-placeholder'],
    // A comment after a path without a space.
    [`${GROUP}Disallow: /cgi-bin/# scripts`, 'hash-in-pattern'],
    // Two names with one token.
    ['User-agent: Sogou web spider\nUser-agent: Sogou inst spider\nDisallow: /', 'duplicate-agent'],
    // Groups with the same rules.
    ['User-agent: CCBot\nDisallow: /\n\nUser-agent: CCBot\nDisallow: /', 'merged-groups'],
    ['User-agent: a\nCrawl-delay: 1\nUser-agent: A\nDisallow: /', 'runaway-group'],
    ['Sitemap: https://a.shop.example/s.xml', 'sitemap-of-another-host'],
    [`${GROUP}Disallow: /*.*`, 'looks-like-regex'],
    [`${GROUP}Noindex: /*{{ url }}`, 'template-placeholder'],
    [`${GROUP}x: a[[null, 1]]`, 'template-placeholder'],
    [`${GROUP}Disallow: / User-agent: ScoutJet`, 'space-in-pattern'],
    ['User-agent: Slurp Disallow: /', 'truncated-agent'],
    ['User-agent: *\nAllow from all', 'missing-colon'],
    // A page is one finding.
    ['.box {\n  z-index: 1;\n}\n</style>', 'misspelt-record'],
    // Names with punctuation are no lists.
    ['User-agent: HTTrack [NC,OR]\nDisallow: /', 'several-agents'],
    [
      'User-agent: Check&get\nUser-agent: RepoMonkey Bait & Tackle/v1.01\nDisallow: /',
      'several-agents',
    ],
    ['User-agent: SmartDownload/1.2.77 (Win32; Feb 1 2000)\nDisallow: /', 'several-agents'],
    [
      'User-agent: Screaming Frog SEO Spider\nUser-agent: Sogou web spider\nDisallow: /',
      'several-agents',
    ],
    ['User-agent: nachtschatten, neofonie search:robot\nDisallow: /', 'several-agents'],
    ['User-agent: URLAppendBot/1.0; +http://a.example/bot.html\nDisallow: /', 'several-agents'],
    // Nor are paths.
    [`${GROUP}Disallow: /*,de_AT,*`, 'several-patterns'],
    [`${GROUP}Disallow: /* */`, 'several-patterns'],
    [`${GROUP}Disallow: /a/ *b`, 'several-patterns'],
    [`${GROUP}Disallow: /anal /`, 'several-patterns'],
    [`${GROUP}Disallow: /a?b=1&amp;/c`, 'several-patterns'],
    [`${GROUP}Disallow: /docs/Babic, Steven.pdf`, 'several-patterns'],
    [`${GROUP}Disallow: /default.aspx and 1=1`, 'several-patterns'],
    [`${GROUP}Disallow: /aDisallow: /b`, 'several-patterns'],
    // Persian words and emoji have joiners.
    [`${GROUP}Disallow: /\u0645\u06cc\u200c\u062e/\u2764\ufe0f`, 'invisible-character'],
    // Whoever repeats some rules, or says that all is allowed, knows that groups do not add up.
    [`${GROUP}Disallow: /a/\nUser-agent: CCBot\nAllow: /\nDisallow: /b/`, 'rules-not-inherited'],
    [`${GROUP}Disallow: /a/\nUser-agent: CCBot\nDisallow:`, 'rules-not-inherited'],
    [`${GROUP}Disallow: /a/\nUser-agent: CCBot\nDisallow: /`, 'rules-not-inherited'],
    [`${GROUP}Disallow: /a/\nUser-agent: CCBot\nAllow: /a/`, 'rules-not-inherited'],
    [`${GROUP}Disallow: /\nUser-agent: CCBot\nDisallow: /b/`, 'rules-not-inherited'],
    [`${GROUP}Disallow: /a/\nAllow: /a/*\nUser-agent: CCBot\nDisallow: /b/`, 'rules-not-inherited'],
    [`${GROUP}Disallow: /a/\nUser-agent: AdsBot-Google\nDisallow: /b/`, 'rules-not-inherited'],
    [`${GROUP}Disallow: /a/b\nUser-agent: CCBot\nDisallow: /*b`, 'rules-not-inherited'],
    [
      `${GROUP}Disallow: /a/\nDisallow: /b/\nDisallow: /c/\nUser-agent: CCBot\nDisallow: /a/`,
      'rules-not-repeated',
    ],
    // The lines of the group are spaced anyway, or the delay is for all.
    ['User-agent: CCBot\n\nDisallow: /a/\n\nCrawl-delay: 3', 'detached-record'],
    [`${GROUP}Disallow: /a/\n\nCrawl-delay: 3`, 'detached-record'],
    ['User-agent: CCBot\nDisallow: /a/\nCrawl-delay: 3', 'detached-record'],
    ['Sitemap: https://staging.shop.example/s.xml', 'unreachable-sitemap'],
    ['Sitemap: https://93.184.216.34/s.xml', 'unreachable-sitemap'],
  ] as const)('%j has no %s', (body, rule) => {
    expect(found(body)).not.toContain(rule);
  });

  it.each([
    ['User-agent: *\nDisallow: / User-agent: MJ12bot\nDisallow: /', 'two-records-on-a-line'],
    ['https://shop.example/sitemap.xml', 'not-a-record'],
    [`${GROUP}Disallow; /a`, 'missing-colon'],
    [`${GROUP}Disallow: /x?a&#x3D;b`, 'hash-in-pattern'],
    [`${GROUP}Allow: /index.html`, 'profile-difference'],
    [`${GROUP}Disallow: */a\nDisallow: /a`, 'shadowed-rule'],
    [`${GROUP}Disallow: /hotels/\nAllow: /hotels/*`, 'contradicting-rule'],
    [`${GROUP}Disallow: /a\nAllow: /*`, 'contradicting-rule'],
    ['Sitemap: \u00a0https://shop.example/s.xml', 'invisible-character'],
    ['User-agent: Slurp\nUser-agent: bytespider | byte spider\nDisallow: /', 'several-agents'],
    ['User-agent: Yahoo! Slurp\nDisallow: /', 'truncated-agent'],
    ['Sitemap: https://https://shop.example/s.xml', 'invalid-sitemap'],
    [`${GROUP}Disallow: /\u00e8\u00af\u008d`, 'invisible-character'],
    ['.box {\n  z-index: 1;\n}\n</style>', 'html'],
    ['Sitemap: https://shop.example/s.xml\n<!-- cached -->', 'not-a-record'],
  ] as const)('%j has %s', (body, rule) => {
    expect(found(body)).toContain(rule);
  });

  it.each([
    ['Disallow https://shop.example/a', 'missing-colon', 'Disallow: /a'],
    ['Disallow /a:b', 'missing-colon', 'Disallow: /a:b'],
    ['sitemap http://a.example/s', 'missing-colon', 'Sitemap: http://a.example/s'],
    ['\u200dAllow: /a', 'misspelt-record', 'Allow:'],
    ['Sitemap: s.xml?page=1', 'relative-sitemap', 'Sitemap: https://shop.example/s.xml?page=1'],
    ['Sitemap: https:/a.example/b/s.xml', 'invalid-sitemap', 'Sitemap: https://a.example/b/s.xml'],
    ['Sitemap: https:///s.xml', 'invalid-sitemap', 'Sitemap: https://shop.example/s.xml'],
    ['Sitemap:\nhttps://a.example/s.xml', 'invalid-sitemap', 'Sitemap: https://a.example/s.xml'],
    ['Sitemap:', 'invalid-sitemap', 'Sitemap: https://shop.example/sitemap.xml'],
    ['Disallow: /blog/.*\\?.*', 'looks-like-regex', '/blog/*?*'],
    ['Disallow: /a/ \u200e', 'invisible-character', '/a/'],
    ['Disallow: /\u00e8\u00af\u008d', 'invisible-character', '/词'],
    ['Disallow: /a, /b', 'several-patterns', 'Disallow: /a'],
    [
      'Sitemap: http://10.0.0.1:8080/s?a=1',
      'unreachable-sitemap',
      'Sitemap: https://shop.example/s?a=1',
    ],
    ['Sitemap: https://http://a.example/s', 'invalid-sitemap', 'Sitemap: http://a.example/s'],
    ['Disallow: /%2%61', 'profile-difference', '%'],
    ['Disallow: /\\d', 'looks-like-regex', '*'],
  ] as const)('the fix of %j is right: %s', (line, rule, text) => {
    const { findings } = linter.lint(Buffer.from(GROUP + line), parseAuthority('shop.example'));
    const [, fixed] = (findings.find((each) => each.rule === rule)?.fix ?? '').split('"');
    expect(fixed).toBe(text);
  });
});

/** A file for each fault, the rule that finds it, and what its message says. */
const FAULTS: readonly (readonly [file: string, rule: LintRuleName, said: string])[] = [
  ...[',', ';', '|', ' ', ' and ', ' & ', '/', '+', ', ', ' | '].map(
    (separator) =>
      [
        `User-agent: GPTBot${separator}ClaudeBot\nDisallow: /`,
        'several-agents',
        'ClaudeBot is not in the group',
      ] as const,
  ),
  ['User-agent: *, CCBot\nDisallow: /a/', 'several-agents', 'no crawler'],
  ['User-agent: * CCBot\nDisallow: /a/', 'several-agents', '* alone'],
  ['User-agent: "GPTBot", "CCBot"\nDisallow: /a/', 'several-agents', 'GPTBot and CCBot are not'],
  ['User-agent: FooBot/1.0, BarBot/2.1\nDisallow: /a/', 'several-agents', 'BarBot is not'],
  [
    'User-agent: Mozilla/5.0 (compatible; GPTBot/1.0)\nDisallow: /a/',
    'user-agent-header',
    'Mozilla',
  ],
  ['User-agent: GPTBot\u00a0\nDisallow: /a/', 'invisible-character', 'U+00A0'],
  ['User-agent: *\u200b\nDisallow: /a/', 'invisible-character', 'U+200B'],
  ['User-agent: GPT\u00adBot\nDisallow: /a/', 'invisible-character', 'soft hyphen'],
  ...['\u00a0', '\u00ad', '\u200b', '\u200e', '\u202e', '\u2060', '\ufeff', '\u0007', '\u3000'].map(
    (hidden) =>
      [
        `User-agent: *\nDisallow: /a${hidden}/b`,
        'invisible-character',
        `/a${encodeURIComponent(hidden)}/b`,
      ] as const,
  ),
  ['User-agent: *\nDisallow:\u00a0/a/', 'invisible-character', 'matches nothing'],
  ['User-agent: *\nDisallow: /a/\nCrawl-delay: 10\u00a0', 'invisible-character', 'U+00A0'],
  [
    'User-agent: *\nDisallow: /a/\nContent-Signal: ai-train=no\u200b',
    'invisible-character',
    'U+200B',
  ],
  ['Sitemap: https://shop.example/s.xml\u00a0', 'invisible-character', 'U+00A0'],
  ['User-agent: *\nDisallow\u00a0: /a/', 'misspelt-record', 'U+00A0'],
  ...[
    'Crawl-delay: 5',
    'Content-Signal: ai-train=no',
    'Content-Usage: train-ai=n',
    'Request-rate: 1/5',
    'Visit-time: 0100-0200',
  ].map(
    (record) =>
      [
        `${record}\nUser-agent: *\nDisallow: /a/`,
        'rule-outside-group',
        'before any user-agent line',
      ] as const,
  ),
  ['Disallow: /a/\nCrawl-delay: 5\nAllow: /b/', 'rule-outside-group', 'lines 2 and 3'],
  ['Content-Signal: ai-train=no\n', 'rule-outside-group', 'refuses there may count for every'],
  ['User-agent: *\nContent-Signals: ai-train=no\n', 'misspelt-record', 'robots-filter reads the'],
  [
    'User-agent: CCBot\nDisallow: /\n\nContent-Signal: ai-train=no\nCrawl-delay: 3',
    'detached-record',
    'line 5, belong to the group of "CCBot" in line 1',
  ],
  ...[
    'localhost:3000',
    '127.0.0.1',
    '10.1.2.3',
    '192.168.0.1',
    '172.16.0.1',
    '169.254.1.1',
    '[::1]',
    '[fd00::1]',
    'web',
    'shop.local',
    'shop.test',
    'shop.internal',
    'nas.home.arpa',
  ].map(
    (host) =>
      [
        `Sitemap: http://${host}/s.xml`,
        'unreachable-sitemap',
        'no crawler of the internet',
      ] as const,
  ),
  ['Sitemap: //shop.example/s.xml', 'relative-sitemap', 'not a whole URL'],
  ['Sitemap: {{ url }}/s.xml', 'template-placeholder', '{{ url }}'],
  ['User-agent: *\nDisallow: {{ path }}', 'template-placeholder', '{{ path }}'],
  ...['Noindex', 'NOFOLLOW', 'noarchive', 'NoAI', 'X-Robots-Tag', 'ACAP-disallow-crawl'].map(
    (key) =>
      [
        `User-agent: *\nDisallow: /a/\n${key}: /b/\n${key}: /c/`,
        'unsupported-record',
        'so is line 4',
      ] as const,
  ),
  ...[', ', ',', ' ', '; ', ' | ', ' and ', ' & ', '\t', ' , '].map(
    (separator) =>
      [
        `User-agent: *\nDisallow: /admin${separator}/private`,
        'several-patterns',
        'one pattern',
      ] as const,
  ),
  ['User-agent: *\nDisallow: /admin, *.pdf', 'several-patterns', 'one pattern'],
  [
    'User-agent: *\nDisallow: /a/\nDisallow: /b/\nUser-agent: CCBot\nAllow: /c/',
    'rules-not-inherited',
    'it may fetch "/a/" and "/b/"',
  ],
  [
    'User-agent: *\nDisallow: /a/\nUser-agent: CCBot\nDisallow: /c/\nUser-agent: GPTBot\nDisallow: /d/',
    'rules-not-inherited',
    'Groups name CCBot and GPTBot.',
  ],
  [
    'User-agent: *\nDisallow: /\nAllow: /x\nUser-agent: CCBot\nAllow: /c/',
    'rules-not-inherited',
    'everything',
  ],
  [
    'User-agent: *\nDisallow: /a/\nUser-agent: CCBot\nUser-agent: GPTBot\nCrawl-delay: 3',
    'group-without-rules',
    'CCBot and GPTBot, and no rule follows',
  ],
  [
    'User-agent: a\nCrawl-delay: 1\nUser-agent: b\nSitemap: https://shop.example/\nUser-agent: c\nDisallow: /a/',
    'runaway-group',
    'line 3',
  ],
  [
    'User-agent: *\nCrawl-delay: 1\nUser-agent: CCBot\nDisallow: /',
    'runaway-group',
    'every crawler',
  ],
  ['User-agent: *\nDisallow: /\nDisallow: *', 'everything-denied', '"Disallow: /"'],
  [
    'User-agent: CCBot\nDisallow: /a\n\nUser-agent: CCBot\nDisallow: /b\n\nUser-agent: CCBot\nDisallow: /c',
    'merged-groups',
    'the group in line 7',
  ],
  ['User-agent: *\nDisallow: /%7E%61%62/', 'profile-difference', '"%7E", "%61" and "%62"'],
  ['Useragent: *\nDisallow: /a/\nDisallow: /b/', 'misspelt-record', 'User-agent'],
  ['User-agent *\nDisallow: /a/', 'missing-colon', 'no colon'],
  ['User-agent: *\nDisallow: /a$b$c/', 'inner-dollar', 'last character'],
  ['User-agent: *\nDisallow: /a/\nx: 1\nx: 2', 'unknown-record', 'so is line 4'],
  ['Sitemap: https://a.shop/1\nSitemap: https://a.shop/2', 'sitemap-of-another-host', 'line 2'],
  ['User-agent: *\nDisallow: /a/\nthis is\n\nsome text', 'not-a-record', 'line 5'],
];

describe('a fault', () => {
  /** What another rule says of the same file for another reason. */
  const OTHERS = new Set(['everything-denied duplicate-rule']);
  it.each(FAULTS)('%j is found once: %s', (file, rule, said) => {
    const { findings } = linter.lint(Buffer.from(file), parseAuthority('shop.example'));
    const errors = findings.filter((each) => lintRule(each.rule).opinion !== true);
    expect(
      errors.map((each) => each.rule).filter((each) => !OTHERS.has(`${rule} ${each}`)),
    ).toEqual(
      rule === 'rule-outside-group' ||
        file.includes('Disallow: /\n') ||
        file.endsWith('Disallow: /')
        ? expect.arrayContaining([rule])
        : [rule],
    );
    expect(errors.filter((each) => each.rule === rule)).toHaveLength(1);
    expect(errors.find((each) => each.rule === rule)?.message).toContain(said);
  });

  it.each(['www.example.com', 'example.org', 'shop.example'])(
    'is a sitemap on the sample host %s, but not in its own file',
    (host) => {
      const body = Buffer.from(`Sitemap: https://${host}/s.xml`);
      const rules = (of?: string) =>
        linter.lint(body, of === undefined ? undefined : parseAuthority(of)).findings;
      expect(rules().map(({ rule }) => rule)).toEqual(['template-placeholder']);
      expect(rules('a.shop').map(({ rule }) => rule)).toEqual(['template-placeholder']);
      expect(rules(host)).toEqual([]);
    },
  );

  it.each([
    ['Allow: /\nDisallow: *', 'of rules of equal length Allow wins;'],
    ['Disallow: *\nAllow: /', 'of rules of equal length Allow wins;'],
    ['Disallow: *b\nDisallow: /b', 'of rules of equal length and verdict either may decide;'],
    ['Disallow: /x\nAllow: /*', 'of rules of equal length Allow wins;'],
    ['Disallow: /x\nAllow: /**', '(a longer rule wins;'],
    [
      'Disallow: *\nDisallow: /',
      'matches the same paths as Disallow: * in line 2, and never decides',
    ],
    [
      'Disallow: /\nDisallow: *',
      'matches the same paths as Disallow: / in line 2, and never decides',
    ],
    ['Disallow: */\nDisallow: /', 'matches the same paths as Disallow: */ in line 2'],
    ['Disallow: *b\nDisallow: /*b', 'matches the same paths as Disallow: /*b in line 3'],
  ])('%j never decides, and the reason is right: %s', (rules, said) => {
    const { findings } = linter.lint(Buffer.from(`User-agent: *\n${rules}`));
    expect(findings.map(({ message }) => message).join('\n')).toContain(said);
  });
});

describe('places', () => {
  it('are those of the bytes', () => {
    const body = '\ufeff# ü\r\nUser-agent: *\rDisallow: /ü$b # c\n';
    const { document, findings } = linter.lint(Buffer.from(body));
    const dollar = findings.find(({ rule }) => rule === 'inner-dollar');
    expect(dollar?.line).toBe(3);
    expect(document.text(dollar?.start ?? 0, dollar?.end ?? 0)).toBe('$');
    expect(findings.map(({ line }) => line)).toEqual(
      findings.map(({ line }) => line).sort((a, b) => a - b),
    );
  });

  it('of more findings than are listed are counted', () => {
    const { findings, counts } = linter.lint(
      Buffer.from(`User-agent: *\n${'Disallow: a\n'.repeat(250)}`),
    );
    expect(counts.get('pattern-without-slash')).toBe(250);
    expect(findings.filter(({ rule }) => rule === 'pattern-without-slash')).toHaveLength(100);
  });
});
