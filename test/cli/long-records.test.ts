import { describe, expect, test } from 'vitest';
import { lines, Workplace } from './command-line.js';

/** 800 short records, and after each hundred a long one that needs more room than it is long. */
function recordsAround(long: string): { input: string; verdicts: string[] } {
  const records: string[] = [];
  const verdicts: string[] = [];
  for (let round = 0; round < 8; round++) {
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

describe('records of which the canonical form is several times as long', () => {
  const SHAPES: readonly (readonly [string, (octets: number) => string])[] = [
    ['escapes and no path', (octets) => `{"url":"HTTP:\\/\\/h?${'<'.repeat(octets)}"}`],
    ['a line end in the URL', (octets) => `{"url":"http://h?\\n${'<'.repeat(octets)}"}`],
    ['dot segments', (octets) => `{"url":"http:\\/\\/H/..\\/${'<'.repeat(octets)}"}`],
  ];
  /**
   * Octets of the long records, and how they are read: in batches of 1 MiB, or of 2 MiB from a
   * pipe.
   */
  const WAYS = [
    [120_000, '$rf --robots-dir r.ndjson -q s.in'],
    [750_000, '$rf --robots-dir r.ndjson -q --threads 12 s.in'],
    [1_500_000, 'cat s.in | $rf --robots-dir r.ndjson -q --threads 2'],
  ] as const;
  test.each(SHAPES)('change no record beside them: %s', async (_name, shape) => {
    for (const [octets, way] of WAYS) {
      const { input, verdicts } = recordsAround(shape(octets));
      const place = workplaceWith(input);
      const { code, text, stderr } = await place.shell(`${way} | cat`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const found = lines(text).map((line) => line.slice(line.lastIndexOf(':') + 2, -2));
      expect(found, way).toEqual(verdicts);
      expect(text.replaceAll(/,"verdict":"\w+"\}/g, '}') === input).toBe(true);
    }
  });

  test('and a record of as many bytes as a line may have is judged, one of a byte more is invalid', async () => {
    for (const [octets, invalid] of [
      [99_979, 0],
      [99_980, 8],
    ] as const) {
      const { input, verdicts } = recordsAround(`{"url":"HTTP:\\/\\/h?${'<'.repeat(octets)}"}`);
      const place = workplaceWith(input);
      const args = ['--robots-dir', 'r.ndjson', '-q', '--max-line-bytes', '100000', 's.in'];
      const run = await place.run(args);
      expect(run.code).toBe(0);
      expect(lines(run.text)).toHaveLength(verdicts.length);
      expect(lines(run.text).filter((line) => line.includes('"invalid"'))).toHaveLength(invalid);
    }
  });
});
