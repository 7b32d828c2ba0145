import { expect, it } from 'vitest';
import { Robots } from '../../src/library/index.js';
import { Workplace } from '../cli/command-line.js';
import { Random } from '../random/random.js';
import { drawnFile, TARGETS } from './uses.js';

/** The times at which the files of a host were found: the first of each month. */
const MONTHS = [1, 2, 3, 4, 5];
const dateOf = (month: number, day: number): string =>
  `2025-0${month}-${String(day).padStart(2, '0')}T00:00:00Z`;

it('--use asks what was said when the record was fetched, or ever', async () => {
  const place = new Workplace();
  const random = new Random(78);
  const hosts = Array.from({ length: 40 }, (_, host) => ({
    host: `h${host}.example`,
    files: MONTHS.map(() => drawnFile(random)),
  }));
  const records = hosts.flatMap(({ host, files }) =>
    files.map((robots, index) =>
      JSON.stringify({ host, robots, fetched: dateOf(MONTHS[index] as number, 1) }),
    ),
  );
  place.write('robots.ndjson', `${records.join('\n')}\n`);
  const compiled = await place.run(
    'compile --history --signals --robots-dir robots.ndjson -q -o history.table',
  );
  expect(compiled).toMatchObject({ code: 0, stderr: '' });
  const asked = Array.from({ length: 800 }, () => {
    const { host, files } = random.pick(hosts);
    const month = random.between(1, 5);
    return { url: `https://${host}${random.pick(TARGETS)}`, month, files };
  });
  place.write(
    'crawl.ndjson',
    asked.map(({ url, month }) => `${JSON.stringify({ url, at: dateOf(month, 9) })}\n`).join(''),
  );
  const run = async (...words: string[]) => {
    const source = ['--table', 'history.table', '-a', 'bot', '--use', 'train', '-q'];
    const { code, text, stderr } = await place.run([...source, ...words, 'crawl.ndjson']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const parsed = new Map(
    hosts.flatMap(({ files }) => files).map((text) => [text, Robots.parse(text)]),
  );
  const robotsOf = (text: string) => parsed.get(text) as Robots;
  const answerOf = (text: string, url: string) =>
    robotsOf(text).use(url, 'bot', 'train').answer ?? null;

  const timed = await run('--time-field', 'at');
  const expected = asked.map(({ url, month, files }) => answerOf(files[month - 1] as string, url));
  expect(timed.map(({ use }) => use)).toEqual(expected);

  const asOf = await run('--as-of', '2025-03-20');
  expect(asOf.map(({ use }) => use)).toEqual(
    asked.map(({ url, files }) => answerOf(files[2] as string, url)),
  );

  // Denied if any denies; else refused if any refuses; else as the newest says.
  const ever = await run('--in-force', 'ever', '--explain');
  const seen = new Set<unknown>();
  for (const [index, { use, use_version: version }] of ever.entries()) {
    const { url, files } = asked[index] as (typeof asked)[number];
    const isDenied = files.some((file) => robotsOf(file).verdict(url, 'bot').verdict === 'deny');
    // Where a file denies, the others still say something about the use.
    const answers = files.map((file) => answerOf(file, url));
    const refusing = answers.lastIndexOf('refused');
    const answer = isDenied ? null : refusing >= 0 ? 'refused' : answers.at(-1);
    expect(use, url).toBe(answer);
    if (answer === 'refused') expect(version).toBe(dateOf(MONTHS[refusing] as number, 1));
    seen.add(answer);
  }
  expect(seen).toEqual(new Set([null, 'granted', 'refused', 'unstated']));
});
