import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRobots } from '../../src/protocol/parse.js';
import { type Group, groupsByProductToken } from '../../src/protocol/robots-file.js';
import { PROFILES, type Profile } from '../../src/protocol/verdict.js';
import { cases } from '../random/cases.js';

/** For each product token the lines of its groups. */
function lines(groups: readonly Group[], profile: Profile): Record<string, number[]> {
  const byToken = groupsByProductToken(groups, profile);
  return Object.fromEntries(
    [...byToken].map(([token, named]) => [token, named.map(({ line }) => line)]),
  );
}

function parse(text: string, profile: Profile): readonly Group[] {
  return parseRobots(Buffer.from(text), { profile }).groups;
}

describe.each(PROFILES)('RFC 9309 2.2.1, the groups of a product token, in %s', (profile) => {
  test('all groups that name a token are its groups, in the order of the file', () => {
    const text =
      'user-agent: a\nuser-agent: b\ndisallow: /1\nuser-agent: c\ndisallow: /2\nuser-agent: A\ndisallow: /3\n';
    expect(lines(parse(text, profile), profile)).toEqual({ a: [1, 6], b: [1], c: [4] });
  });

  test('a group that names a token twice counts once, even with another token between', () => {
    const text =
      'user-agent: a\nuser-agent: *\nuser-agent: A\nuser-agent: *\ndisallow: /\nuser-agent: a\n';
    expect(lines(parse(text, profile), profile)).toEqual({ a: [1, 6], '*': [1] });
  });

  test('a group without rules counts: it hides the groups of *', () => {
    expect(lines(parse('user-agent: *\ndisallow: /\nuser-agent: a', profile), profile)).toEqual({
      '*': [1],
      a: [3],
    });
  });

  test('without groups there are no tokens', () => {
    expect(groupsByProductToken([], profile).size).toBe(0);
  });

  test('a token may be the name of a member that every object has', () => {
    const text = 'user-agent: __proto__\ndisallow: /\nuser-agent: constructor\ndisallow: /\n';
    const byToken = groupsByProductToken(parse(text, profile), profile);
    expect([...byToken.keys()]).toEqual(['__proto__', 'constructor']);
    expect(byToken.get('tostring')).toBeUndefined();
  });

  test('the result equals filtering the groups for each token', () => {
    const token = fc.constantFrom<string[]>('a', 'b', 'c', '*', '');
    let merged = 0;
    fc.assert(
      fc.property(fc.array(fc.array(token, { maxLength: 5 }), { maxLength: 12 }), (lists) => {
        const groups = lists.map((productTokens, line) => ({ productTokens, rules: [], line }));
        const byToken = groupsByProductToken(groups, profile);
        expect(new Set(byToken.keys())).toEqual(new Set(lists.flat()));
        for (const [name, named] of byToken) {
          const all = groups.filter(({ productTokens }) => productTokens.includes(name));
          const first = profile === 'draft-koster-rep-00' && name === '*';
          expect(named).toEqual(first ? all.slice(0, 1) : all);
          if (all.length > 1) merged++;
        }
      }),
      { seed: 9309, numRuns: cases(250) },
    );
    expect(merged).toBeGreaterThan(200);
  });

  // Quadratic work in groups or tokens would exceed the timeout.
  test('many groups of one token, and many tokens in one group, take linear time', {
    timeout: 15_000,
  }, () => {
    const many = 200_000;
    const one = Array.from({ length: many }, (_, line) => ({
      productTokens: ['a'],
      rules: [],
      line,
    }));
    expect(groupsByProductToken(one, profile).get('a')?.length).toBe(many);
    const productTokens = Array.from({ length: many }, (_, index) => `t${index % 1000}`);
    const byToken = groupsByProductToken([{ productTokens, rules: [], line: 1 }], profile);
    expect(byToken.size).toBe(1000);
    expect([...byToken.values()].every((groups) => groups.length === 1)).toBe(true);
  });
});

describe('several groups of *', () => {
  const text =
    'user-agent: *\ndisallow: /1\nuser-agent: a\nuser-agent: *\ndisallow: /2\nuser-agent: *\ndisallow: /3\n';

  test('RFC 9309 2.2.1: they are merged like any other groups', () => {
    for (const profile of ['rfc9309', 'google'] as const) {
      expect(lines(parse(text, profile), profile)).toEqual({ '*': [1, 3, 6], a: [3] });
    }
  });

  test('draft-koster-rep-00 2.2.1: only the first counts, for * only', () => {
    const groups = parse(text, 'draft-koster-rep-00');
    expect(lines(groups, 'draft-koster-rep-00')).toEqual({ '*': [1], a: [3] });
  });
});

test('google/robotstxt: the empty string is a product token', () => {
  const text = 'user-agent: 007\ndisallow: /1\nuser-agent:\ndisallow: /2\n';
  expect(lines(parse(text, 'google'), 'google')).toEqual({ '': [1, 3] });
  expect(lines(parse(text, 'rfc9309'), 'rfc9309')).toEqual({});
});
