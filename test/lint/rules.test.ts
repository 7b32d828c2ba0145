import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { knownAgents } from '../../src/agents/known-agents.js';
import { Linter } from '../../src/lint/lint.js';
import { LINT_RULE_NAMES, type LintRuleName, lintRule } from '../../src/lint/rules.js';
import { parseAuthority } from '../../src/protocol/authority.js';
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
});

describe('a good file', () => {
  it.each([
    ['', 'an empty file'],
    ['User-agent: *\nDisallow:\n', 'everything allowed'],
    [
      '# A comment\nUser-agent: GPTBot\nUser-agent: MJ12bot\nDisallow: /a/\nAllow: /a/*.pdf$\n\n' +
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
    ['Sitemap: \u00a0https://shop.example/s.xml', 'invalid-sitemap'],
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
    ['Disallow: /a/ \u200e', 'space-in-pattern', '/a/'],
    ['Disallow: /\\d', 'looks-like-regex', '*'],
  ] as const)('the fix of %j is right: %s', (line, rule, text) => {
    const { findings } = linter.lint(Buffer.from(GROUP + line), parseAuthority('shop.example'));
    const [, fixed] = (findings.find((each) => each.rule === rule)?.fix ?? '').split('"');
    expect(fixed).toBe(text);
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
