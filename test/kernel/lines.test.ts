import { expect, it } from 'vitest';
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
