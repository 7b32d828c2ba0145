import { describe, expect, it } from 'vitest';
import { Robots } from '../../src/library/index.js';
import { meteredJudge } from './metered-kernel.js';

/** The number of compared bytes that match.ts grants. */
const BUDGET_OF_PATH = 2 ** 26;
const BUDGET_OF_BYTE = 64;
/** Steps for each of these bytes, and additionally for each byte of a line. */
const STEPS_OF_BUDGET = 2.2;
const STEPS_OF_BYTE = 16;

const DIGITS = 'bcdefghijklmnopr';

/** Three bytes for each number, without `a` and `Q`. */
function window(number: number): string {
  return [number, number >> 4, number >> 8].map((half) => DIGITS[half & 15]).join('');
}

/** Rules that every `a` of a path resembles; none matches a path with its `Q` in front. */
function looseRules(count: number): string {
  const rules = Array.from({ length: count }, (_, number) => `allow:*a${window(number)}a*Q`);
  return `user-agent: *\n${rules.join('\n')}\n`;
}

/** A path with the window of each of this many rules, but not with the other bytes of any. */
function loosePath(count: number, bytes: number): string {
  const windows = Array.from(
    { length: count },
    (_, number) => `${window(number)}a${window(number).slice(0, 2)}`,
  ).join('');
  return `/Q${windows}${'a'.repeat(bytes)}`.slice(0, bytes);
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

describe('wildcard rules times bytes', () => {
  it('cost at most two steps for each byte of the path and rule', () => {
    for (const rules of [50, 200]) {
      const judge = metered(looseRules(rules));
      for (const bytes of [4_000, 16_000]) {
        const { reason, steps } = judge(loosePath(rules, bytes));
        expect(reason).toBe('no-rule');
        expect(steps).toBeGreaterThan(rules * bytes); // otherwise the rules were not tried
        expect(steps).toBeLessThan(STEPS_OF_BUDGET * rules * bytes + STEPS_OF_BYTE * bytes);
      }
    }
  });

  it('cost twice as much if the rules have two forms and the path a query', () => {
    for (const rules of [50, 200]) {
      const judge = metered(looseRules(rules).replaceAll('*Q', '*%2F*Q'));
      const bytes = 16_000;
      const { reason, steps } = judge(loosePath(rules, bytes).replace('Q', 'Q?'));
      expect(reason).toBe('no-rule');
      expect(steps).toBeGreaterThan(2 * rules * bytes); // otherwise one form was not tried
      expect(steps).toBeLessThan(STEPS_OF_BUDGET * 2 * rules * bytes + STEPS_OF_BYTE * bytes);
    }
  });

  it('have a budget for each URL; a URL over budget is denied', () => {
    for (const [rules, bytes] of [
      [4000, 40_000],
      [150, 1_500_000],
    ] as const) {
      const { reason, steps } = metered(looseRules(rules))(loosePath(Math.min(rules, 1000), bytes));
      expect(reason).toBe('over-budget');
      const budget = BUDGET_OF_PATH + BUDGET_OF_BYTE * bytes;
      expect(steps).toBeGreaterThan(budget / 2);
      expect(steps).toBeLessThan(STEPS_OF_BUDGET * budget + STEPS_OF_BYTE * bytes);
    }
  });

  it('have a budget that real files do not come near', () => {
    // Twice the most wildcard rules for one path among 14,483 real files, and four times the
    // longest URL that servers take.
    expect(metered(looseRules(2000))(loosePath(2000, 32_000)).reason).toBe('no-rule');
    // Any length, up to the longest line.
    expect(metered(looseRules(60))(loosePath(60, 2_000_000)).reason).toBe('no-rule');
  });

  it('are summed over all groups that an agent obeys, with a separate budget for each agent', () => {
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

  it('cost no more if each `?` sends the search for the second form back', () => {
    const segments = 64_000;
    const robots = `user-agent: *\ndisallow: /${'*%2F'.repeat(segments)}*q\n`;
    const path = `/?${'%%32F?'.repeat(segments)}${'c'.repeat(4 * segments)}/`;
    const { reason, steps } = metered(robots)(path);
    expect(reason).toBe('over-budget');
    const budget = BUDGET_OF_PATH + BUDGET_OF_BYTE * path.length;
    expect(steps).toBeLessThan(STEPS_OF_BUDGET * budget + STEPS_OF_BYTE * path.length);
  });

  it('cost nothing after a rule that wins early', () => {
    const robots = `${looseRules(4000)}disallow: *${'a'.repeat(100)}$\n`;
    const { reason, steps } = metered(robots)(loosePath(1000, 1_000_000));
    expect(reason).toBe('rule');
    expect(steps).toBeLessThan(STEPS_OF_BYTE * 1_000_000);
  });
});
