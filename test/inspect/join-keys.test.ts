import { expect, test } from 'vitest';
import { joinKeys } from '../../src/inspect/join-keys.js';
import { parseAuthority } from '../../src/protocol/authority.js';

/**
 * Hosts, their SURT as `surt` 0.3.1 of PyPI writes it, and their domain as
 * `EffectiveTldFinder.getAssignedDomain(host, true, true)` of crawler-commons 1.6 gives it, which
 * Common Crawl's index is made with. `-` is none.
 */
const ELSEWHERE = `
example.com               com,example             example.com
www.example.com           com,example             example.com
www2.example.com          com,example             example.com
www-2.example.com         com,example,www-2       example.com
wwwexample.com            com,wwwexample          wwwexample.com
www.com                   com                     www.com
www.co.uk                 uk,co                   www.co.uk
news.example.co.uk        uk,co,example,news      example.co.uk
a.b.c.d.example.com.au    au,com,example,d,c,b,a  example.com.au
co.uk                     uk,co                   -
uk                        uk                      -
localhost                 localhost               -
city.kawasaki.jp          jp,kawasaki,city        city.kawasaki.jp
a.city.kawasaki.jp        jp,kawasaki,city,a      city.kawasaki.jp
example.kawasaki.jp       jp,kawasaki,example     -
a.example.kawasaki.jp     jp,kawasaki,example,a   a.example.kawasaki.jp
a.www.ck                  ck,www,a                www.ck
example.ck                ck,example              -
a.example.github.io       io,github,example,a     github.io
example.s3.amazonaws.com  com,amazonaws,s3,example  amazonaws.com
xn--mnchen-3ya.de         de,xn--mnchen-3ya       xn--mnchen-3ya.de
xn--p1ai                  xn--p1ai                -
example.xn--90a3ac        xn--90a3ac,example      example.xn--90a3ac
_dmarc.example.com        com,example,_dmarc      example.com
3com.com                  com,3com                3com.com
192.0.2.1                 1,2,0,192               -
`;

const elsewhere = ELSEWHERE.trim()
  .split('\n')
  .map((line) => line.split(/ +/) as [string, string, string]);

function keysOf(authority: string) {
  const parsed = parseAuthority(authority);
  if (parsed === undefined) throw new RangeError(authority);
  return joinKeys(parsed).map((key) => key ?? '-');
}

test.each(elsewhere)('%s has the SURT and the domain that it has elsewhere', (host, ...keys) => {
  expect(keysOf(host)).toEqual(keys);
});

test.each([
  ['https://www.example.com', 'com,example', 'example.com'],
  ['https://www.example.com:443', 'com,example', 'example.com'],
  ['http://example.com:443', 'com,example:443', 'example.com'],
  ['https://example.com:80', 'com,example:80', 'example.com'],
  ['example.com:80', 'com,example', 'example.com'],
  ['example.com:8080', 'com,example:8080', 'example.com'],
  ['192.0.2.1:8080', '1,2,0,192:8080', '-'],
  ['EXAMPLE.com.', 'com,example', 'example.com'],
  ['München.de', 'de,xn--mnchen-3ya', 'xn--mnchen-3ya.de'],
  // No list has this suffix, and the rule of the list for that is one label. Common Crawl has none.
  ['a.b.invalid', 'invalid,b,a', 'b.invalid'],
])('%s has %s and %s', (authority, ...keys) => {
  expect(keysOf(authority)).toEqual(keys);
});

test.each([
  '[2001:db8::1]',
  'b,a.example.com',
  'a).example.com',
  'a..example.com',
  '.example.com',
  '.',
  `${'a'.repeat(64)}.com`,
  `${'a.'.repeat(60)}${'a'.repeat(64)}.com`,
])('%s, which no index has, has neither', (host) => {
  expect(joinKeys({ scheme: 'https', host, port: 8080 })).toEqual([undefined, undefined]);
});

test('a label may have 63 characters, and a host 127 labels', () => {
  const long = 'a'.repeat(63);
  expect(keysOf(`${long}.com`)).toEqual([`com,${long}`, `${long}.com`]);
  const labels = `${'a.'.repeat(125)}com`;
  expect(keysOf(labels)).toEqual([labels.split('.').reverse().join(','), 'a.com']);
});
