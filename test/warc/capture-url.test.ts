import { describe, expect, it } from 'vitest';
import { parseUrl } from '../../src/http/url.js';
import { canonicalUrl, captureUrl } from '../../src/warc/captures.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const PIECES = [
  ...['a', 'b', 'example', 'xn--', 'xn--bcher-kva', 'ab--cd', 'robots.txt', 'A', 'ü', '%61', '0x'],
  ...[
    '0',
    '1',
    '127',
    '-',
    '.',
    '.',
    '.',
    '..',
    ':80',
    ':8080',
    '@',
    '/',
    '#',
    '?',
    ' ',
    '\t',
    '_',
  ],
];

describe('the canonical form of the URL of a robots.txt', () => {
  it('is that of the URL parser, though most such URLs are not parsed', () => {
    const random = new Random(4);
    let same = 0;
    let other = 0;
    let invalid = 0;
    for (let run = 0; run < cases(15_000); run++) {
      const host = Array.from({ length: random.between(1, 5) }, () => random.pick(PIECES)).join('');
      const scheme = random.pick(['http://', 'https://', 'https://', 'HTTP://', 'http:/']);
      const text = `${scheme}${host}${random.pick(['/robots.txt', '/robots.txt', '/Robots.txt'])}`;
      const parsed = parseUrl(text);
      const expected = parsed && canonicalUrl(parsed);
      expect(captureUrl(text), text).toEqual(expected);
      if (expected === undefined) invalid++;
      else if (expected.isRobots && expected.href === text) same++;
      else other++;
    }
    expect(Math.min(same, other, invalid)).toBeGreaterThan(400);
  });
});
