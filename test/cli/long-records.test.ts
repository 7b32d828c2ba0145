import { describe, expect, test } from 'vitest';
import { cases } from '../random/cases.js';
import { lines, Workplace } from './command-line.js';

const ROUNDS = cases(3);

/**
 * Short records; after each hundred follows a long record whose canonical form is longer still.
 */
function recordsAround(long: string): { input: string; verdicts: string[] } {
  const records: string[] = [];
  const verdicts: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < 100; i++) {
      const denied = i % 2 === 1;
      records.push(`{"url":"http://g/${denied ? 'deny' : 'fine'}/${round}/${i}"}`);
      verdicts.push(denied ? 'deny' : 'allow');
    }
    records.push(long);
    verdicts.push('allow');
  }
  return { input: `${records.join('\n')}\n`, verdicts };
}

function workplaceWith(input: string): Workplace {
  const place = new Workplace();
  const robots = [
    { host: 'h', robots: 'User-agent: *\nDisallow: /*z$' },
    { host: 'g', robots: 'User-agent: *\nDisallow: /deny' },
  ];
  place.write('r.ndjson', robots.map((file) => JSON.stringify(file)).join('\n'));
  place.write('s.in', input);
  return place;
}

describe('records whose canonical form is several times as long', () => {
  const SHAPES: readonly (readonly [string, (bytes: number) => string])[] = [
    ['escapes and no path', (bytes) => `{"url":"HTTP:\\/\\/h?${'<'.repeat(bytes)}"}`],
    ['a line end in the URL', (bytes) => `{"url":"http://h?\\n${'<'.repeat(bytes)}"}`],
    ['dot segments', (bytes) => `{"url":"http:\\/\\/H/..\\/${'<'.repeat(bytes)}"}`],
  ];
  /** Bytes of the long records, and how they are read: 128 KiB, 1 MiB or 2 MiB at a time. */
  const WAYS = [
    [120_000, '$rf --robots-dir r.ndjson -q s.in'],
    [750_000, '$rf --robots-dir r.ndjson -q --threads 12 s.in'],
    [1_500_000, '$rf --robots-dir r.ndjson -q --threads 2 s.in'],
    [1_500_000, 'cat s.in | $rf --robots-dir r.ndjson -q --threads 2'],
  ] as const;
  test.each(SHAPES)('change no neighbouring record: %s', async (_name, shape) => {
    for (const [bytes, way] of WAYS) {
      const { input, verdicts } = recordsAround(shape(bytes));
      const place = workplaceWith(input);
      const { code, text, stderr } = await place.shell(`${way} | cat`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const found = lines(text).map((line) => line.slice(line.lastIndexOf(':') + 2, -2));
      expect(found, way).toEqual(verdicts);
      expect(text.replaceAll(/,"verdict":"\w+"\}/g, '}') === input).toBe(true);
    }
  });

  test('a record of exactly --max-line-bytes is judged, one byte more is invalid', async () => {
    for (const [bytes, invalid] of [
      [99_979, 0],
      [99_980, ROUNDS],
    ] as const) {
      const { input, verdicts } = recordsAround(`{"url":"HTTP:\\/\\/h?${'<'.repeat(bytes)}"}`);
      const place = workplaceWith(input);
      const args = ['--robots-dir', 'r.ndjson', '-q', '--max-line-bytes', '100000', 's.in'];
      const run = await place.run(args);
      expect(run.code).toBe(0);
      expect(lines(run.text)).toHaveLength(verdicts.length);
      expect(lines(run.text).filter((line) => line.includes('"invalid"'))).toHaveLength(invalid);
    }
  });
});
