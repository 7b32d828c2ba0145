import { describe, expect, it } from 'vitest';
import { readGroups } from '../../oracle/robots.js';
import { verdictOf } from '../../oracle/verdict.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { casesOf, disagreement, SUITES, titleOf } from '../conformance/conformance-cases.js';
import { every } from '../random/cases.js';

/** Of a thousand cases or more, which all are for the program, a fifth is enough. */
const MANY = 1200;

describe('the oracle agrees with the conformance cases', () => {
  it.each(SUITES.map((suite) => [titleOf(suite), suite] as const))('%s', (_title, suite) => {
    const cases = casesOf(suite).filter(({ scope }) => scope?.applies !== false);
    expect(cases).toHaveLength(suite.verdicts);
    const step = cases.length > MANY ? every(5) : 1;
    const asked = cases.filter((_, index) => index % step === 0);
    const disagreements = asked.map((testCase) => {
      const groups = readGroups(testCase.robots, suite.profile);
      const { agents, url } = testCase;
      return disagreement(testCase, verdictOf(groups, suite.profile, agents, url));
    });
    expect(disagreements.filter((line) => line !== undefined)).toEqual([]);
  });
});

/** The oracle's verdict, and the line that decides. */
function verdict(profile: Profile, lines: string, url: string, ...agents: string[]): string {
  const groups = readGroups(new TextEncoder().encode(lines), profile);
  const { verdict, line } = verdictOf(groups, profile, agents, url);
  return `${verdict} ${line}`;
}

describe('docs/verdicts.md beyond the conformance cases', () => {
  const NOTE_A = 'user-agent: *\ndisallow: /*u=%2Fa\n';

  it.each([
    ['http://h/x?u=%2Fa', 'deny 2'],
    ['http://h/x?u=/a', 'deny 2'],
    ['http://h/u=%2Fa', 'deny 2'],
    ['http://h/u=/a', 'allow 0'],
  ])('note A: disallow: /*u=%%2Fa and %s', (url, expected) => {
    expect(verdict('rfc9309', NOTE_A, url, 'bot')).toBe(expected);
  });

  it('notes A and B: a rule ranks by its own canonical form, whichever reading matches', () => {
    const lines = 'user-agent: *\ndisallow: /*%2Fa\nallow: /?b=/a\n';
    expect(verdict('rfc9309', lines, 'http://h/?b=/a', 'bot')).toBe('allow 3');
    expect(verdict('rfc9309', `${lines}disallow: /*b=%2Fa\n`, 'http://h/?b=/a', 'bot')).toBe(
      'deny 4',
    );
  });

  it.each([
    ['/itm/*/%', '/itm/x/%20y', 'deny 2'],
    ['/%', '/%25', 'deny 2'],
    ['/a%2', '/a%2f', 'deny 2'],
    ['/a%2$', '/a%2f', 'allow 0'],
    ['/*F', '/%2f', 'deny 2'],
    ['/*2F$', '/%2f', 'deny 2'],
    ['/%*0$', '/%20', 'deny 2'],
    ['/%2*%2', '/%20%21', 'deny 2'],
    ['/*6', '/%61', 'allow 0'],
    ['/%e3%83%8', '/%E3%83%84', 'deny 2'],
    // The canonical form of `%%32F` is `%2F`, in a query and in a pattern.
    ['/*%2Fa', '/?%%32Fa', 'deny 2'],
    ['/%%32F', '/%2F', 'deny 2'],
  ])(
    'canonical forms are compared byte by byte: disallow: %s and %s',
    (pattern, path, expected) => {
      const lines = `user-agent: *\ndisallow: ${pattern}\n`;
      expect(verdict('rfc9309', lines, `http://h${path}`, 'bot')).toBe(expected);
    },
  );

  it.each([
    ['/?%3A', '/?:'],
    ['/?%2F%3f%40%5B%5D', '/?/?@[]'],
    ['/%7E', '/~'],
  ])('note B: %s weighs what %s weighs', (one, other) => {
    for (const [first, second] of [
      [one, other],
      [other, one],
    ]) {
      const lines = `user-agent: *\ndisallow: ${first}\nallow: ${second}\n`;
      expect(verdict('rfc9309', lines, `http://h${one}`, 'bot')).toBe('allow 3');
    }
  });

  it('note B: /*%%3A and /*: weigh differently', () => {
    const lines = 'user-agent: *\ndisallow: /*%3A\nallow: /*:\n';
    expect(verdict('rfc9309', lines, 'http://h/?:', 'bot')).toBe('deny 2');
  });

  it.each([
    ['http://h/a/../b', 'deny 2'],
    ['http://h/a/%2e%2E/b', 'deny 2'],
    ['http://h/a/.%2e\\b', 'deny 2'],
    ['http://h//.gif/../b', 'allow 0'],
    ['http://h/b/..', 'allow 0'],
    ['http://h/b\t/', 'deny 2'],
    [' \x01http:\\\\u@v:p@h\\b\n', 'deny 2'],
    ['http:h/b', 'deny 2'],
    ['http://h?/b', 'allow 0'],
    ['HTTP://H:80/%62', 'deny 2'],
    ['ftp://h/b', 'deny 2'],
    ['ws://h/b', 'invalid 0'],
    ['http://h:99999/b', 'invalid 0'],
    ['http://', 'invalid 0'],
  ])('note C: disallow: /b and %j', (url, expected) => {
    expect(verdict('rfc9309', 'user-agent: *\ndisallow: /b\n', url, 'bot')).toBe(expected);
  });

  it('note C: an empty query keeps its question mark', () => {
    const lines = 'user-agent: *\ndisallow: /b$\ndisallow: /c?$\n';
    expect(verdict('rfc9309', lines, 'http://h/b?', 'bot')).toBe('allow 0');
    expect(verdict('rfc9309', lines, 'http://h/c?#x', 'bot')).toBe('deny 3');
  });

  it('2.2.1: in the draft only the first group of "*" counts', () => {
    const lines = 'user-agent: *\ndisallow: /a\nuser-agent: *\ndisallow: /b\n';
    expect(verdict('rfc9309', lines, 'http://h/b', 'bot')).toBe('deny 4');
    expect(verdict('draft-koster-rep-00', lines, 'http://h/b', 'bot')).toBe('allow 0');
    expect(verdict('draft-koster-rep-00', lines, 'http://h/b', '*')).toBe('allow 0');
  });

  it('2.2.1: the first token of a chain that has a group decides; google merges groups', () => {
    const lines = 'user-agent: a\ndisallow: /a\nuser-agent: b\ndisallow: /b\n';
    expect(verdict('rfc9309', lines, 'http://h/b', 'a', 'b')).toBe('allow 0');
    expect(verdict('rfc9309', lines, 'http://h/b', 'c', 'b')).toBe('deny 4');
    expect(verdict('google', lines, 'http://h/b', 'a', 'b')).toBe('deny 4');
  });

  it('2.2.1: a crawler whose name is not a product token is only in the group of "*"', () => {
    const lines = 'user-agent: a\ndisallow: /a\nuser-agent: *\ndisallow: /b\n';
    for (const agent of ['', 'a b', 'a/1', '*', '\u{212A}']) {
      expect(verdict('rfc9309', lines, 'http://h/a', agent)).toBe('allow 0');
      expect(verdict('rfc9309', lines, 'http://h/b', agent)).toBe('deny 4');
    }
  });
});
