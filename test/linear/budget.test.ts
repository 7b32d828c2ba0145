import { describe, expect, it } from 'vitest';
import { Robots } from '../../src/index.js';
import { meteredJudge } from './metered-kernel.js';

/** As match.ts grants them: octets that a rule is compared with. */
const BUDGET_OF_PATH = 2 ** 26;
const BUDGET_OF_OCTET = 64;
/** Steps for each of them, and for each octet of a line besides. */
const STEPS_OF_BUDGET = 2.2;
const STEPS_OF_OCTET = 16;

const DIGITS = 'bcdefghijklmnopr';

/** Three octets for each number, none of them `a` or `Q`. */
function window(number: number): string {
  return [number, number >> 4, number >> 8].map((half) => DIGITS[half & 15]).join('');
}

/**
 * Rules that every `a` of a path looks like, and none of which matches a path that has its `Q` in
 * front.
 */
function looseRules(count: number): string {
  const rules = Array.from({ length: count }, (_, number) => `allow:*a${window(number)}a*Q`);
  return `user-agent: *\n${rules.join('\n')}\n`;
}

/** A path that holds every window of so many rules, but of no rule the octets. */
function loosePath(count: number, octets: number): string {
  const windows = Array.from(
    { length: count },
    (_, number) => `${window(number)}a${window(number).slice(0, 2)}`,
  ).join('');
  return `/Q${windows}${'a'.repeat(octets)}`.slice(0, octets);
}

function metered(robots: string): (path: string) => { reason: string; steps: number } {
  const judge = meteredJudge(robots);
  return (path) => {
    const { output, steps } = judge(JSON.stringify({ url: `https://e.com${path}` }), {
      explain: true,
    });
    const { reason } = JSON.parse(output) as { reason: string };
    return { reason, steps };
  };
}

describe('wildcard rules times octets', () => {
  it('cost what they are: two steps at most for each octet of the path and rule', () => {
    for (const rules of [50, 200, 800]) {
      const judge = metered(looseRules(rules));
      for (const octets of [16_000, 64_000]) {
        const { reason, steps } = judge(loosePath(rules, octets));
        expect(reason).toBe('no-rule');
        expect(steps).toBeGreaterThan(rules * octets); // or the rules were not tried
        expect(steps).toBeLessThan(STEPS_OF_BUDGET * rules * octets + STEPS_OF_OCTET * octets);
      }
    }
  });

  it('cost twice that where they have two forms and the path a query', () => {
    for (const rules of [50, 200]) {
      const judge = metered(looseRules(rules).replaceAll('*Q', '*%2F*Q'));
      const octets = 32_000;
      const { reason, steps } = judge(loosePath(rules, octets).replace('Q', 'Q?'));
      expect(reason).toBe('no-rule');
      expect(steps).toBeGreaterThan(2 * rules * octets); // or one form was not tried
      expect(steps).toBeLessThan(STEPS_OF_BUDGET * 2 * rules * octets + STEPS_OF_OCTET * octets);
    }
  });

  it('have a budget for each URL, beyond which it is denied', () => {
    for (const [rules, octets] of [
      [4000, 40_000],
      [4000, 1_000_000],
      [100, 4_000_000],
    ] as const) {
      const { reason, steps } = metered(looseRules(rules))(
        loosePath(Math.min(rules, 1000), octets),
      );
      expect(reason).toBe('over-budget');
      const budget = BUDGET_OF_PATH + BUDGET_OF_OCTET * octets;
      expect(steps).toBeGreaterThan(budget / 2);
      expect(steps).toBeLessThan(STEPS_OF_BUDGET * budget + STEPS_OF_OCTET * octets);
    }
  });

  it('have a budget that real files do not come near', () => {
    // Twice the most wildcard rules for one path among 14,483 real files, and four times the
    // longest URL that servers take.
    expect(metered(looseRules(2000))(loosePath(2000, 32_000)).reason).toBe('no-rule');
    // Any length, up to the longest line.
    expect(metered(looseRules(60))(loosePath(60, 4_000_000)).reason).toBe('no-rule');
  });

  it('count over all groups that an agent obeys, and each agent has a budget of its own', () => {
    const groups = Array.from(
      { length: 4000 },
      (_, number) => `user-agent: a\nallow:*a${window(number)}a*Q\n`,
    );
    const robots = Robots.parse(`${groups.join('')}user-agent: b\ndisallow: /*a$\n`);
    const url = `https://e.com${loosePath(1000, 40_000)}`;
    expect(robots.verdict(url, 'a')).toEqual({ verdict: 'deny', reason: 'over-budget' });
    expect(robots.verdict(url, 'b')).toMatchObject({ verdict: 'deny', reason: 'rule' });
    expect(robots.verdict(url, 'c')).toEqual({ verdict: 'allow', reason: 'no-group' });
    expect(robots.verdict('https://e.com/aa', 'a')).toEqual({
      verdict: 'allow',
      reason: 'no-rule',
    });
    const google = Robots.parse(`${groups.join('')}user-agent: b\ndisallow: /*a$\n`, {
      profile: 'google',
    });
    expect(google.verdict(url, 'b>a')).toEqual({ verdict: 'deny', reason: 'over-budget' });
    expect(google.verdict(url, 'b')).toMatchObject({ verdict: 'deny', reason: 'rule' });
  });

  it('two forms of a rule cost no more, where each `?` sends the search for the second back', () => {
    const segments = 64_000;
    const robots = `user-agent: *\ndisallow: /${'*%2F'.repeat(segments)}*q\n`;
    const path = `/?${'%%32F?'.repeat(segments)}${'c'.repeat(4 * segments)}/`;
    const { reason, steps } = metered(robots)(path);
    expect(reason).toBe('over-budget');
    const budget = BUDGET_OF_PATH + BUDGET_OF_OCTET * path.length;
    expect(steps).toBeLessThan(STEPS_OF_BUDGET * budget + STEPS_OF_OCTET * path.length);
  });

  it('a rule that wins early spares the rest', () => {
    const robots = `${looseRules(4000)}disallow: *${'a'.repeat(100)}$\n`;
    const { reason, steps } = metered(robots)(loosePath(1000, 1_000_000));
    expect(reason).toBe('rule');
    expect(steps).toBeLessThan(STEPS_OF_OCTET * 1_000_000);
  });
});
