import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { type Profile, Robots, type Rule, Table, TableBuilder } from '../../src/library/index.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const PROFILES: readonly Profile[] = ['rfc9309', 'google', 'draft-koster-rep-00'];
const HOST = 'https://h.example';
/** Pieces of patterns, as bytes: some are not UTF-8. */
const PIECES = [
  ...[
    '/',
    'x',
    'y',
    'index.html',
    '*',
    '*',
    '**',
    '$',
    '?',
    '%',
    '%7E',
    '%e9',
    '%2F',
    '%2A',
    '^',
    '"',
  ],
  ...['\xe9', '\xff', '\xc3\xa9', '\xef\xbf\xbd', '\xe2\x80\xa6', 'z'.repeat(400), 'w'.repeat(990)],
];

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

function tableOf(body: Uint8Array, profile: Profile = 'rfc9309'): Table {
  const builder = new TableBuilder({ profile });
  builder.add('h.example', body);
  return Table.from(builder.build());
}

function patternsOf(body: string, profile?: Profile): string[] {
  const rules = tableOf(bytes(body), profile).rulesFor(HOST, '*');
  return rules.map(({ pattern }) => Buffer.from(pattern).toString('latin1'));
}

/** The robots.txt with some rules, each on the line that it had. */
function bodyOf(rules: readonly Rule[]): Buffer {
  const lines: Buffer[] = [bytes('User-agent: *')];
  for (const { allow, pattern, line } of rules) {
    lines[line - 1] = Buffer.concat([bytes(allow ? 'Allow: ' : 'Disallow: '), pattern]);
  }
  return Buffer.concat(
    Array.from(lines, (line) => Buffer.concat([line ?? bytes(''), bytes('\n')])),
  );
}

describe('the patterns of Table.rulesFor', () => {
  it.each<[string, string, string]>([
    ['as written', '/%7ea*"b\xc3\xa9$', '/%7ea*"b\xc3\xa9$'],
    ['as written, at the limit', `/${'a'.repeat(999)}`, `/${'a'.repeat(999)}`],
    ['as written, with an ellipsis', '/a\xe2\x80\xa6', '/a\xe2\x80\xa6'],
    ['canonical, if truncated', `/%7e${'a'.repeat(3000)}`, `/~${'a'.repeat(3000)}`],
    [
      'canonical, if truncated, with wildcards',
      `/*a**${'b'.repeat(999)}$`,
      `/**a*${'b'.repeat(999)}$`,
    ],
    [
      'canonical, if truncated, with a last star',
      `/a*${'b'.repeat(999)}**`,
      `/a*${'b'.repeat(999)}**`,
    ],
    ['canonical, if not UTF-8', '/\xe9t\xe9', '/%E9t%E9'],
    ['canonical, if not UTF-8 after a star', '*\xe9*$', '*%E9**'],
  ])('are %s', (_, written, expected) => {
    expect(patternsOf(`User-agent: *\nDisallow: ${written}\n`)).toEqual([expected]);
  });

  it('do not end the path at a $ before a star', () => {
    const written = `/a*${'b'.repeat(999)}$*`;
    expect(patternsOf(`User-agent: *\nDisallow: ${written}\n`, 'google')).toEqual([written]);
  });

  it('decide as the file does', () => {
    const counts = { canonical: 0, written: 0, allow: 0, deny: 0, rule: 0 };
    for (let seed = 1; seed <= cases(350); seed++) {
      const random = new Random(seed);
      const profile = random.pick(PROFILES);
      const paths = Array.from({ length: random.between(1, 5) }, () => {
        return `${random.pick(['/', '/', '*'])}${random.run(PIECES, 1, 6)}`;
      });
      const lines = paths.map((path) => `${random.pick(['Allow', 'Disallow'])}: ${path}`);
      const body = bytes(['User-agent: *', ...lines].join('\n'));
      const file = Robots.parse(body, { profile });
      const rules = tableOf(body, profile).rulesFor(HOST, '*');
      const rebuilt = Robots.parse(bodyOf(rules), { profile });
      for (const { line, pattern } of rules) {
        const isWritten = bytes(paths[line - 2] ?? '').equals(pattern);
        counts[isWritten ? 'written' : 'canonical']++;
      }
      for (const path of paths) {
        const rest = path
          .replace(/^\*/, '/')
          .replace(/\*/g, () => random.pick(['', 'x', '?', '/y']));
        for (const end of ['', 'x', '?']) {
          const url = bytes(HOST + rest.replace(/\$$/, '') + end);
          const own = file.verdict(url, '*');
          const shown = JSON.stringify({ seed, profile, lines, url: url.toString('latin1') });
          const { verdict, rule } = rebuilt.verdict(url, '*');
          expect([verdict, rule?.line], shown).toEqual([own.verdict, own.rule?.line]);
          counts[verdict === 'deny' ? 'deny' : 'allow']++;
          if (rule !== undefined) counts.rule++;
        }
      }
    }
    for (const count of Object.values(counts)) {
      expect(count, JSON.stringify(counts)).toBeGreaterThan(100);
    }
  });
});
