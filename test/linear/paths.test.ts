import { describe, expect, it } from 'vitest';
import type { Profile } from '../../src/protocol/verdict.js';
import { expectLinear } from './growth.js';
import { meteredJudge } from './metered-kernel.js';

/** Steps for each byte of a path and of the rule that it is compared with. */
const STEPS = { least: 0.005, most: 16 };

const SIZES = [8_000, 128_000];

function judgeUnder(rules: string, profile?: Profile) {
  const judge = meteredJudge(`user-agent: *\n${rules}\n`, profile);
  return (path: string): { verdict: string; steps: number } => {
    const { output, steps } = judge(`https://e.com${path}`, { format: 'text' });
    return { verdict: output.slice(0, output.indexOf('\t')), steps };
  };
}

/** A path and a rule for it, both of about this many bytes. */
type Family = readonly [
  name: string,
  rule: (bytes: number) => string,
  path: (bytes: number) => string,
  verdict: 'allow' | 'deny',
];

const half = (text: string, bytes: number): string => text.repeat(bytes / text.length / 2);

const FAMILIES: readonly Family[] = [
  ['a rule', (n) => `/${'a'.repeat(n)}`, (n) => `/${'a'.repeat(n)}`, 'deny'],
  [
    'a rule that the path falls short of',
    (n) => `/${'a'.repeat(n)}b`,
    (n) => `/${'a'.repeat(n)}`,
    'allow',
  ],
  ['a rule of %', (n) => `/${'%'.repeat(n)}`, (n) => `/${'%'.repeat(n)}`, 'deny'],
  ['nested wildcards', (n) => `/${half('*a', n)}*b`, (n) => `/${'a'.repeat(n)}`, 'allow'],
  [
    'nested wildcards that match',
    (n) => `/${half('*a', n)}*b$`,
    (n) => `/${'a'.repeat(n)}b`,
    'deny',
  ],
  [
    'nested wildcards with $',
    (n) => `/${half('*ab', n)}*c$`,
    (n) => `/${half('ab', 2 * n)}`,
    'allow',
  ],
  ['nothing but asterisks', (n) => `/${'*'.repeat(n)}b`, (n) => `/${'a'.repeat(n)}`, 'allow'],
  [
    'a segment that almost is there',
    (n) => `/*${half('a', n)}b`,
    (n) => `/${'a'.repeat(n)}`,
    'allow',
  ],
  ['one that begins elsewhere', (n) => `/*b${half('a', n)}`, (n) => `/${'a'.repeat(n)}`, 'allow'],
  [
    'one with another byte amid',
    (n) => `/*${half('a', n / 2)}b${half('a', n / 2)}`,
    (n) => `/${'a'.repeat(n)}`,
    'allow',
  ],
  [
    'one that comes again and again but for a byte',
    (n) => `/*${half('ab', n)}`,
    (n) => `/${`${half('ab', n / 2)}a`.repeat(4)}`,
    'allow',
  ],
  ['one of Fibonacci', (n) => `/*${fibonacci(n / 2)}c`, (n) => `/${fibonacci(n)}`, 'allow'],
  [
    'many that are long',
    (n) => `/${`*${'a'.repeat(99)}b`.repeat(n / 200)}`,
    (n) => `/${`${'a'.repeat(99)}c`.repeat(n / 100)}`,
    'allow',
  ],
  [
    'two forms',
    (n) => `/${'*%2F'.repeat(n / 8)}*b`,
    (n) => `/${'%2F'.repeat(n / 6)}?${'/'.repeat(n / 2)}`,
    'allow',
  ],
  [
    'two forms, both of which go on in the query',
    (n) => `/${'*%2F'.repeat(n / 8)}*b`,
    (n) => `/?${'%%32F'.repeat(n / 10)}${'/'.repeat(n / 2)}`,
    'allow',
  ],
  [
    'two forms that almost are there',
    (n) => `/*${'%2F'.repeat(n / 6)}b`,
    (n) => `/?${'/'.repeat(n)}`,
    'allow',
  ],
];

/** The Fibonacci word: it has the most repetitions of all words. */
function fibonacci(bytes: number): string {
  let [last, word] = ['a', 'ab'];
  while (word.length < bytes) [last, word] = [word, word + last];
  return word.slice(0, bytes);
}

describe('a path is compared with a rule in time linear in both', () => {
  it.each(FAMILIES)('%s', (_name, ruleOf, pathOf, verdict) => {
    const measured = SIZES.map((bytes) => {
      const rule = ruleOf(bytes);
      const path = pathOf(bytes);
      const { verdict: found, steps } = judgeUnder(`disallow: ${rule}`)(path);
      expect(found).toBe(verdict);
      expect(rule.length).toBeGreaterThan(bytes / 3);
      return { bytes: rule.length + path.length, steps };
    });
    expectLinear(measured, STEPS);
  });
});

describe('many rules', () => {
  /** The google profile reads files of any length. */
  function judgeOf(count: number, ruleOf: (index: number) => string) {
    const rules = Array.from({ length: count }, (_, index) => `disallow: ${ruleOf(index)}`);
    const judge = judgeUnder(rules.join('\n'), 'google');
    // The last rule decides.
    expect(judge(ruleOf(count - 1).replace(/[$*]/, '')).verdict).toBe('deny');
    return judge;
  }

  it.each([
    ['that share prefixes', (index: number) => `/p${index.toString(36)}`],
    ['that share suffixes', (index: number) => `/${index.toString(36)}/s`],
    ['that end the path', (index: number) => `/${index.toString(36)}$`],
    ['with wildcards', (index: number) => `/${index.toString(36)}/*s`],
  ])('thirty thousand %s take a few steps more than a hundred', (_name, ruleOf) => {
    const few = judgeOf(100, ruleOf);
    const many = judgeOf(30_000, ruleOf);
    const match = ruleOf(99).replace(/[$*]/, '');
    for (const path of [match, `${match.slice(0, 2)}-${'a'.repeat(1000)}`, '/~']) {
      const { verdict, steps } = few(path);
      expect(verdict).toBe(path === match ? 'deny' : 'allow');
      const more = many(path);
      expect(more.verdict).toBe(verdict);
      expect(more.steps).toBeLessThan(steps + 40);
    }
  });

  it('that begin with a wildcard take about two steps each for a thousand bytes', () => {
    const path = `/${'a'.repeat(1000)}`;
    const measured = [2_000, 32_000].map((count) => {
      const { verdict, steps } = judgeOf(count, (index) => `/*${index}s`)(path);
      expect(verdict).toBe('allow');
      return { bytes: count, steps };
    });
    // A block of 32 rules is skipped in a step for each 16 bytes if no window of the rules occurs
    // in the path.
    expectLinear(measured, { least: 1, most: 4 });
  });
});
