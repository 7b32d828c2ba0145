import { describe, expect, it } from 'vitest';
import { OTHER_TYPE, parseDictionary, parseRecordValue } from '../../src/protocol/preferences.js';

describe('the values of records', () => {
  it.each([
    ['sitemap', 'https://a.example/s.xml', 'https://a.example/s.xml'],
    ['sitemap', '/s.xml', undefined],
    ['license', 'https://a.example/l', 'https://a.example/l'],
    ['crawl-delay', '2.5', 2.5],
    ['crawl-delay', 'ten', undefined],
    ['content-usage', 'train-ai=n, search=y', { path: null, 'train-ai': 'n', search: 'y' }],
    ['content-usage', '/a\ttrain-ai=n', { path: '/a', 'train-ai': 'n' }],
    ['content-usage', '/a', { path: '/a' }],
    ['content-usage', 'train-ai=N, x=?1, train-AI=n', undefined],
    ['content-usage', 'train-ai=maybe, x=?1', { path: null }],
    ['content-signal', 'Search=yes, ai-train = no', { search: 'yes', 'ai-train': 'no' }],
    ['content-signal', 'nothing', undefined],
    ['host', 'WWW.Example.com', 'www.example.com'],
    ['host', 'not a host', undefined],
    ['clean-param', 'ref&sid /forum/', { params: ['ref', 'sid'], path: '/forum/' }],
    ['clean-param', '', undefined],
    ['request-rate', '1/60s', { requests: 1, seconds: 60 }],
    ['request-rate', '10/5m 0600-0845', { requests: 10, seconds: 300, from: '06:00', to: '08:45' }],
    ['request-rate', 'fast', undefined],
    ['visit-time', '0400-0845', { from: '04:00', to: '08:45' }],
    ['visit-time', '0400-9999', undefined],
    ['noindex', '/n', '/n'],
    ['noindex', 'n', undefined],
  ] as const)('%s: %s', (kind, value, parsed) => {
    expect(parseRecordValue(kind, value)).toEqual(parsed);
  });
});

describe('a dictionary of RFC 9651', () => {
  it.each([
    ['', []],
    ['a=y', [['a', 'y']]],
    [
      '  a=y ,\tb=n',
      [
        ['a', 'y'],
        ['b', 'n'],
      ],
    ],
    [
      'a=y, b=x, a=n',
      [
        ['b', 'x'],
        ['a', 'n'],
      ],
    ],
    ['a', [['a', OTHER_TYPE]]],
    [
      'a;p=1;q="x", *k=t/1:',
      [
        ['a', OTHER_TYPE],
        ['*k', 't/1:'],
      ],
    ],
    [
      'a=(1 "x" y);z, b=-1.5, c=:YQ==:, d=?0, e=@12, f=%"x"',
      [
        ['a', OTHER_TYPE],
        ['b', OTHER_TYPE],
        ['c', OTHER_TYPE],
        ['d', OTHER_TYPE],
        ['e', OTHER_TYPE],
        ['f', OTHER_TYPE],
      ],
    ],
    ['a="\\"\\\\"', [['a', OTHER_TYPE]]],
    ['a=%"x%c3%a9%25"', [['a', OTHER_TYPE]]],
  ] as const)('%s', (text, members) => {
    expect([...(parseDictionary(text) ?? ['void'])]).toEqual(members);
  });

  it.each([
    'A=y',
    'a=y,',
    'a=y b=n',
    'a=',
    'a=(1"x")',
    'a=(1',
    'a="x',
    'a="\\n"',
    'a=1.',
    'a=1.1234',
    'a=1234567890123456',
    'a=?2',
    'a=:*:',
    'a=\u00fc',
    '=y',
    'a=y;',
    'a=y;=1',
    'a=-',
    '1=y',
    'a=%x',
    'a=%"%C3%A9"',
    'a=%"%c3"',
    'a=%"%4"',
    'a=y;p=%"%zz"',
  ])('%j is void', (text) => {
    expect(parseDictionary(text)).toBeUndefined();
  });
});
