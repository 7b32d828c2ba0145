import { expect, it } from 'vitest';
import type { QuerySettings } from '../../src/kernel/query-settings.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { kernelOver } from './harness.js';

const run = kernelOver({ 'example.com': 'User-agent: *\nDisallow: /no\n' });

/**
 * Bytes by role in a record: each may replace another byte of its row, and rarely a byte of another
 * row.
 */
const ALIKE = ['abcdefurlXYZ0123456789-_./', '"', ':', ',', '}', ' ', '\\', '{', '[', ']', '\t'];

/** A record whose members after the URL are some of these, or hold some of their bytes. */
function recordLike(random: Random, url: string, members: string): string {
  let text = '';
  const key = random.pick(['abc', 'uri', 'url']);
  for (const byte of members.replaceAll('abc', key)) {
    const row = ALIKE.find((bytes) => bytes.includes(byte)) ?? byte;
    const from = random.chance(0.01) ? random.pick(ALIKE) : row;
    text += random.chance(0.9) ? byte : random.pick([...from]);
  }
  return `{"url":"${url}"${text}`;
}

/**
 * The kernel reads blocks of 64 bytes, beyond the end of a line. A line must be read as if it were
 * alone, whatever the other lines, especially if a key has the same length as the key of the URL.
 */
it('a line gets the same verdict alone and among lines of its shape', () => {
  const random = new Random(20261121);
  const shapes = [
    ',"depth":3,"status":200,"found":1761197486}',
    ',"mime":"text/html","url":"http://example.com/yes"}',
    ',"abc":"http://example.com/no","n":1}',
    ', "a": true, "url": null }',
    `,"digest":"${'Z'.repeat(40)}","length":1234,"offset":"98765"}`,
    `,"text":"${'abc '.repeat(30)}","abc":"http://example.com/no","c":7}`,
    ',"n":1,"text":"abc\\"\\\\","url":"http://example.com/no"}',
    ',"name":"abc","\\u0075rl":"http://example.com/no","n":1}',
    '}',
  ];
  let denied = 0;
  let invalid = 0;
  let overridden = 0;
  for (let batch = 0; batch < cases(150); batch++) {
    const shape = random.pick(shapes);
    const lines = Array.from({ length: random.between(2, 60) }, () =>
      recordLike(
        random,
        random.pick(['http://example.com/no', 'http://example.com/yes']),
        random.chance(0.8) ? shape : random.pick(shapes),
      ),
    );
    const together = run(`${lines.join('\n')}\n`, { explain: true }).output.split('\n');
    lines.forEach((line, index) => {
      const alone = run(`${line}\n`, { explain: true }).output;
      // A record of a line that is not a JSON object states the number of its line in the batch.
      const numbered = alone.replace('"line":1,"input"', `"line":${index + 1},"input"`);
      expect(together[index]).toBe(numbered.slice(0, -1));
      const { verdict } = JSON.parse(
        alone.slice(alone.lastIndexOf('"verdict":') - 1).replace(/^./, '{'),
      ) as { verdict: string };
      if (verdict === 'deny') denied++;
      if (verdict === 'invalid') invalid++;
      if ((verdict === 'deny') !== line.startsWith('{"url":"http://example.com/no"')) overridden++;
    });
  }
  expect(denied).toBeGreaterThan(250);
  expect(invalid).toBeGreaterThan(250);
  expect(overridden).toBeGreaterThan(250);
});

/** A line whose URL begins as that of the line before takes over its authority. */
it('a URL gets the same verdict alone and after URLs of equal or similar authorities', () => {
  const random = new Random(20261126);
  const long = 'a'.repeat(40);
  const files = {
    'one.example': 'User-agent: *\nDisallow: /no\n',
    'https://one.example': 'User-agent: *\nDisallow: /yes\n',
    'http://one.example:8080': 'User-agent: *\nDisallow: /\n',
    'two.example': 'User-agent: OtherBot\nDisallow: /\n',
    [`${long}.x.example`]: 'User-agent: *\nDisallow: /no\n',
    [`${long}.y.example`]: 'User-agent: *\nDisallow: /yes\n',
  };
  const lookUp = kernelOver(files);
  const origins = [
    'http://one.example',
    'HTTP://One.example:80',
    'https://one.example',
    'http://one.example:8080',
    'http://one.example:80',
    'http://user@one.example',
    'ftp://one.example',
    'http://two.example',
    'http://one.exampl',
    'http://one.example.',
    `http://${long}.x.example`,
    `http://${long}.y.example`,
    `http://${long}.z.example`,
  ];
  const paths = ['/no', '/yes', '/n%6f', '/./no', '/\u00e9', '', '?no', '#no', '/no ', '/', '\\no'];
  const faults = [
    '',
    'http://',
    'x\ty',
    'http:/one.example/no',
    `http://one.example/${'n'.repeat(600)}`,
  ];
  /** How each format writes a URL: at random where it has a choice. */
  const formats: Record<
    string,
    { settings: Partial<QuerySettings>; line: (url: string) => string }
  > = {
    text: { settings: { format: 'text' }, line: (url) => url },
    csv: {
      settings: { format: 'csv', column: 0 },
      line: (url) => (random.chance(0.3) ? `"${url}",1` : `${url},1`),
    },
    ndjson: {
      settings: { format: 'ndjson' },
      line: (url) => `{"url":${escaped(url, random)},"n":1}`,
    },
  };
  for (const { settings: own, line } of Object.values(formats)) {
    const settings = { ...own, explain: true, maxLineBytes: 500 };
    const alone = new Map<string, string>();
    for (let batch = 0; batch < cases(40); batch++) {
      const lines: string[] = [];
      while (lines.length < 200) {
        const origin = random.pick(origins);
        for (let left = random.between(1, 5); left > 0; left--) {
          const url = random.chance(0.05) ? random.pick(faults) : origin + random.pick(paths);
          lines.push(url === '' ? '' : line(url));
        }
      }
      const expected = lines.map((each, index) => {
        const known = alone.get(each) ?? lookUp(`${each}\n`, settings).output;
        alone.set(each, known);
        // A record of an overlong line states the number of its line in the batch.
        return known.replace('"line":1,"input"', `"line":${index + 1},"input"`);
      });
      expect(lookUp(`${lines.join('\n')}\n`, settings).output).toBe(expected.join(''));
    }
    const all = [...alone.values()].join('');
    for (const verdict of ['allow', 'deny', 'unknown', 'invalid']) expect(all).toContain(verdict);
  }
});

/** A string of JSON in which any character of the URL may be an escape. */
function escaped(url: string, random: Random): string {
  if (random.chance(0.6)) return JSON.stringify(url);
  const units = [...url].map((unit) => {
    if (!random.chance(0.05)) return JSON.stringify(unit).slice(1, -1);
    return unit === '/' ? '\\/' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${units.join('')}"`;
}
