import { describe, expect, it } from 'vitest';
import { Robots } from '../../src/library/index.js';

/**
 * Inputs on which a matcher that backtracks, or searches naively, would exceed the suite's timeout.
 * The tests assert that the verdicts are right nevertheless.
 */
describe('RFC 9309 section 5.1, hostile patterns: the matcher stays linear', () => {
  const deny = (pattern: string): Robots => Robots.parse(`User-agent: *\nDisallow: ${pattern}\n`);

  it('many wildcards over many repetitions', () => {
    const robots = deny(`/${'*a'.repeat(30)}*b`);
    const url = `https://example.com/${'a'.repeat(100_000)}`;
    expect(robots.verdict(url, 'x').verdict).toBe('allow');
    expect(robots.verdict(`${url}b`, 'x').verdict).toBe('deny');
  });

  it('a segment that almost matches everywhere, with each kind of mismatch', () => {
    for (const bytes of [17, 64, 1000, 40_000]) {
      const text = 'a'.repeat(400_000);
      const middle = `${'a'.repeat(bytes)}b${'a'.repeat(bytes)}`;
      expect(deny(`/*${middle}`).verdict(`https://example.com/${text}`, 'x').verdict).toBe('allow');
      expect(deny(`/*${middle}`).verdict(`https://example.com/${text}${middle}`, 'x').verdict).toBe(
        'deny',
      );
      // A periodic segment that never occurs whole.
      const periodic = 'ab'.repeat(bytes);
      expect(
        deny(`/*${periodic}`).verdict(
          `https://example.com/${`${'ab'.repeat(bytes - 1)}a`.repeat(3)}`,
          'x',
        ).verdict,
      ).toBe('allow');
      expect(
        deny(`/*${periodic}`).verdict(`https://example.com/x${'ab'.repeat(bytes + 3)}`, 'x')
          .verdict,
      ).toBe('deny');
    }
  });

  it('10,000 wildcard rules and a URL of 100 KB', () => {
    const rules = Array.from({ length: 10_000 }, (_, i) => `Disallow: /*a${i}*b${i}*c${i}$`);
    const robots = Robots.parse(`User-agent: *\n${rules.join('\n')}\n`);
    const url = `https://example.com/${'abc'.repeat(33_000)}`;
    expect(robots.verdict(url, 'x').verdict).toBe('allow');
    expect(robots.verdict(`${url}a4711b4711c4711`, 'x')).toMatchObject({
      verdict: 'deny',
      rule: { line: 4711 + 2 },
    });
    expect(robots.verdict(`${url}a4711b4711c4711x`, 'x').verdict).toBe('allow');
  });

  it('900 nested prefixes, each at an end of the path', () => {
    const rules = Array.from({ length: 900 }, (_, i) => `Disallow: /${'a'.repeat(i)}$`);
    const robots = Robots.parse(`User-agent: *\n${rules.join('\n')}\n`);
    expect(robots.verdict(`https://example.com/${'a'.repeat(899)}`, 'x').rule?.line).toBe(901);
    // At any length of the path: checking that a rule has not reached the end costs none of the
    // budget.
    for (const bytes of [900, 200_000]) {
      expect(robots.verdict(`https://example.com/${'a'.repeat(bytes)}`, 'x')).toEqual({
        verdict: 'allow',
        reason: 'no-rule',
      });
    }
  });

  it('a URL of a megabyte that must be encoded throughout, or is all dot segments', () => {
    const robots = deny('/%FF*end$');
    expect(robots.verdict(`https://example.com/${'%fF'.repeat(300_000)}end`, 'x').verdict).toBe(
      'deny',
    );
    expect(
      robots.verdict(`https://example.com/${'a/../'.repeat(200_000)}%ffend`, 'x').verdict,
    ).toBe('deny');
    expect(robots.verdict(`https://example.com/${'%'.repeat(1_000_000)}`, 'x').verdict).toBe(
      'allow',
    );
  });

  it('one rule of 500 KB', () => {
    const path = 'abc/'.repeat(125_000);
    expect(deny(`/${path}`).verdict(`https://example.com/${path}x`, 'x').verdict).toBe('deny');
    expect(deny(`/*${path}$`).verdict(`https://example.com/x/${path}`, 'x').verdict).toBe('deny');
    expect(deny(`/*${path}$`).verdict(`https://example.com/x/${path}x`, 'x').verdict).toBe('allow');
  });

  it('20,000 product tokens in one file', () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `User-agent: ${token(i)}`);
    const robots = Robots.parse(`${lines.join('\n')}\nDisallow: /\n`);
    expect(robots.verdict('https://example.com/', token(19_999)).verdict).toBe('deny');
    expect(robots.verdict('https://example.com/', 'someone-else').verdict).toBe('allow');
  });
});

/** The number written in letters. */
function token(number: number): string {
  return Array.from(String(number), (digit) => String.fromCharCode(97 + Number(digit))).join('');
}
