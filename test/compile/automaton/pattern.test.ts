import { describe, expect, it } from 'vitest';
import { canonicalTarget, googlePattern } from '../../../oracle/url.js';
import { type CanonicalPattern, patternsOf } from '../../../src/kernel/automata.js';
import type { Profile } from '../../../src/protocol/verdict.js';

function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function text(canonical: Uint8Array): string {
  return String.fromCharCode(...canonical);
}

/** A pattern on one line: its bytes, prefix, segments (`first|second`), `$`. */
function show(pattern: CanonicalPattern | undefined): string {
  if (pattern === undefined) return 'never';
  const segments = pattern.segments.map(({ first, second }) =>
    second === undefined ? text(first) : `${text(first)}|${text(second)}`,
  );
  expect(pattern.twoForms).toBe(pattern.segments.some(({ second }) => second !== undefined));
  return [pattern.bytes, text(pattern.prefix), ...segments, ...(pattern.anchored ? ['$'] : [])]
    .join(' * ')
    .replace(' * $', ' $')
    .replace(' * ', ' ');
}

function parse(pattern: string, profile: Profile = 'rfc9309'): string {
  const patterns = patternsOf([{ allow: false, pattern: bytes(pattern) }], profile).flat();
  expect(patterns.length).toBeLessThan(2);
  return show(patterns[0]);
}

describe('RFC 9309 section 2.2.2: bytes in patterns are compared in one canonical form', () => {
  it.each([
    ['/foo/bar', '8 /foo/bar'],
    ['/foo/bar/%E3%83%84', '18 /foo/bar/%E3%83%84'],
    ['/foo/bar/\xe3\x83\x84', '18 /foo/bar/%E3%83%84'],
    ['/foo/bar/%62%61%7a', '12 /foo/bar/baz'],
    ['/%7ea', '3 /~a'],
    ['/%2f%3a', '7 /%2F%3A'],
    ['/a b"<>\\^`{|}', '33 /a%20b%22%3C%3E%5C%5E%60%7B%7C%7D'],
    ["/:@!&'()+,;=[]#", "15 /:@!&'()+,;=[]#"],
    ['/\x01\x7f\x80', '10 /%01%7F%80'],
    ['/%', '2 /%'],
    ['/%2', '3 /%2'],
    ['/%zz%2', '6 /%zz%2'],
    ['/a\0b', '6 /a%00b'],
  ])('%s is %s', (pattern, expected) => {
    expect(parse(pattern)).toBe(expected);
    expect(parse(pattern, 'draft-koster-rep-00')).toBe(expected);
  });

  it('each byte of a literal has the form that the naive canonicaliser gives it', () => {
    for (let byte = 0; byte < 256; byte++) {
      const character = String.fromCharCode(byte);
      if (character === '*') continue;
      for (const profile of ['rfc9309', 'google'] as const) {
        const path = `/a${character}b`;
        const expected =
          profile === 'google' ? googlePattern(path) : canonicalTarget({ path, query: undefined });
        expect(parse(path, profile), `${byte}`).toBe(`${expected.length} ${expected}`);
      }
    }
  });
});

describe('RFC 9309 section 2.2.3: special characters', () => {
  it.each([
    ['*', '1 '],
    ['**', '2 '],
    ['*$', '2 '],
    ['/', '1 /'],
    ['/*', '2 /'],
    ['/$', '2 / $'],
    ['/*$', '3 /'],
    ['/**$', '4 /'],
    ['/a*b', '4 /a * b'],
    ['/a**b', '5 /a * b'],
    ['/a*b*', '5 /a * b'],
    ['/a*b$', '5 /a * b $'],
    ['/a*b*$', '6 /a * b'],
    ['*.gif$', '6  * .gif $'],
    ['*a**b***c', '9  * a * b * c'],
    ['/*a*a*a*a*b', '11 / * a * a * a * a * b'],
  ])('%s is %s', (pattern, expected) => {
    expect(parse(pattern)).toBe(expected);
    expect(parse(pattern, 'google')).toBe(expected);
  });

  it.each([
    ['/a$b', '6 /a%24b'],
    ['/a$$', '6 /a%24 $'],
    ['/$*', '5 /%24'],
    ['/*$*a', '7 / * %24 * a'],
    ['/%24', '4 /%24'],
    ['/%2A*', '5 /%2A'],
    ['/a%2a$', '6 /a%2A $'],
  ])('only a final `$` is special, and an escape means its byte: %s is %s', (pattern, expected) => {
    expect(parse(pattern)).toBe(expected);
  });

  it.each(['', '$', '$*', 'a', '%2Fa', ' /a', '?a', '\\a'])('%j can match no path', (pattern) => {
    expect(parse(pattern)).toBe('never');
  });
});

describe('docs/verdicts.md, note A: general delimiters in a query', () => {
  it.each([
    // After the first raw `?` the six delimiters are raw.
    ['/a?u=%2F%3a%3F%40%5b%5D', '11 /a?u=/:?@[]'],
    ['/a?u=%26%23%3D', '14 /a?u=%26%23%3D'],
    // Before the `?` they are unchanged, unless a `*` may have matched the `?`.
    ['/%2Fa?%2F', '7 /%2Fa?/'],
    ['/%2Fa*b', '7 /%2Fa * b'],
    ['/*u=%2Fa', '8 / * u=%2Fa|u=/a'],
    ['/*%2F*b*%3A$', '12 / * %2F|/ * b * %3A|: $'],
    ['/*%2F?%2F*%2F', '9 / * %2F?/|/?/ * /'],
    ['/?*%2F', '4 /? * /'],
    ['/a*b?c*%40', '8 /a * b?c * @'],
    ['/*%26', '5 / * %26'],
    ['/*?%2F', '4 / * ?/'],
    // Decoded bytes are not decoded again, in either form.
    ['/*%%32F', '5 / * %2F'],
    ['/*%2%46%2f', '8 / * %2F%2F|%2F/'],
  ])('%s is %s', (pattern, expected) => {
    expect(parse(pattern)).toBe(expected);
  });
});

describe('docs/verdicts.md: the google profile', () => {
  it.each([
    ['/%7ea%2f', '8 /%7Ea%2F'],
    ['/\xe3\x83', '7 /%E3%83'],
    ['/a b"|{', '7 /a b"|{'],
    ['/a$b$', '5 /a$b $'],
    ['/a?%2F*%2f', '10 /a?%2F * %2F'],
    ['/*%2F', '5 / * %2F'],
    ['/%2', '3 /%2'],
    ['/%%32f', '6 /%%32f'],
  ])('point 7: %s is %s', (pattern, expected) => {
    expect(parse(pattern, 'google')).toBe(expected);
  });

  it.each([
    ['/index.htm', '2 / $'],
    ['/a/index.html', '4 /a/ $'],
    ['/a/index.html?x$', '4 /a/ $'],
    ['/a*/%2f/index.htmx*', '9 /a * /%2F/ $'],
    ['*/index.htm$', '3  * / $'],
    ['/a$/index.htm', '5 /a$/ $'],
    ['/index.html/', 'never'],
    ['/a/index.ht', 'never'],
    ['/a/Index.htm', 'never'],
    ['index.htm', 'never'],
    ['a/index.htm', 'never'],
  ])('point 10: an allow for %s also is %s', (pattern, expected) => {
    const rule = { allow: true, pattern: bytes(pattern) };
    const deny = { ...rule, allow: false };
    const [own = [], ofDeny = []] = patternsOf([rule, deny], 'google');
    expect(ofDeny.length).toBeLessThan(2);
    expect(own.slice(0, ofDeny.length).map(show)).toEqual(ofDeny.map(show));
    expect(own.slice(ofDeny.length).map(show)).toEqual(expected === 'never' ? [] : [expected]);
    expect(patternsOf([rule], 'rfc9309').flat().length).toBeLessThan(2);
  });
});
