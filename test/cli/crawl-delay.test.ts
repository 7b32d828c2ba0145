import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Robots } from '../../src/judge/robots.js';
import { Workplace } from './command-line.js';

/*
 * --crawl-delay in every format, against what the library says of each robots.txt.
 */

const ROBOTS: Readonly<Record<string, string>> = {
  'plain.example': 'User-agent: *\nCrawl-delay: 2\nDisallow: /private\n',
  'groups.example':
    'User-agent: GPTBot\nCrawl-delay: 0.5\nCrawl-delay: 10\n\nUser-agent: *\nCrawl-delay: 3\n',
  'words.example': 'User-agent: *\nCrawl-delay: soon\nAllow: /\n',
  'silent.example': 'User-agent: GPTBot\nDisallow: /private\n',
};
const AGENTS = ['GPTBot', 'CCBot'];
const URLS = [...Object.keys(ROBOTS), 'unknown.example'].flatMap((host) =>
  ['/', '/private', '/x?y'].map((path) => `https://${host}${path}`),
);

/** What is expected of a URL for an agent: null where the verdict is not allow. */
function delayOf(url: string, agent: string): number | null {
  const { hostname } = new URL(url);
  const body = ROBOTS[hostname];
  if (body === undefined) return null;
  const robots = Robots.parse(body);
  return robots.verdict(url, agent).verdict === 'allow' ? (robots.crawlDelay(agent) ?? null) : null;
}
const EXPECTED = URLS.map((url) => AGENTS.map((agent) => delayOf(url, agent)));

const place = new Workplace(false);

beforeAll(async () => {
  for (const [host, body] of Object.entries(ROBOTS)) place.write(`robots/${host}`, body);
  place.write('urls.txt', URLS.map((url) => `${url}\n`).join(''));
  place.write('urls.ndjson', URLS.map((url) => `${JSON.stringify({ url })}\n`).join(''));
  for (const words of ['--records -o t', '--records --shards 3 -o d', '-o bare']) {
    const { code } = await place.run(`compile -q --robots-dir robots ${words}`);
    expect(code).toBe(0);
  }
});

afterAll(() => place.remove());

async function run(words: string): Promise<string[]> {
  const { code, text, stderr } = await place.run(`-q ${words}`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return text.trimEnd().split('\n');
}

const SOURCES = ['--robots-dir robots', '--table t', '--table d', '--table t --threads 2'];

describe('--crawl-delay', () => {
  test('is not vacuous here', () => {
    expect(new Set(EXPECTED.flat())).toEqual(new Set([2, 3, 10, null]));
  });

  test.each(SOURCES)('is a member of JSON: %s', async (source) => {
    const both = await run(`${source} --crawl-delay -a GPTBot,CCBot urls.ndjson`);
    const delays = both.map((line) => {
      const { crawl_delay: delay } = JSON.parse(line);
      return AGENTS.map((agent) => delay[agent]);
    });
    expect(delays).toEqual(EXPECTED);
    const one = await run(`${source} --crawl-delay -a CCBot urls.ndjson`);
    expect(one.map((line) => JSON.parse(line).crawl_delay)).toEqual(EXPECTED.map(([, cc]) => cc));
    // Without the member, the records are as without the option.
    expect(one.map((line) => line.replace(/,"crawl_delay":[^}]*/, ''))).toEqual(
      await run(`${source} -a CCBot urls.ndjson`),
    );
  });

  test.each([
    ['text', '\t'],
    ['csv', ','],
    ['tsv', '\t'],
  ])('is a column of %s for each agent, also beside --preferences', async (format, mark) => {
    for (const more of ['', ' --preferences', ' --explain']) {
      const words = `--table t -a GPTBot,CCBot --format ${format}${more} urls.ndjson`;
      const plain = await run(words);
      const lines = await run(`--crawl-delay ${words}`);
      const cells = EXPECTED.map((row) => row.map((delay) => `${mark}${delay ?? ''}`).join(''));
      const names = AGENTS.map((agent) => `${mark}verdict_crawl_delay_${agent}`).join('');
      const added = format === 'text' ? cells : [names, ...cells];
      // The last cells may be empty, and the last line has lost its white space.
      const trimmed = (rows: readonly string[]) => rows.map((row) => row.trimEnd());
      expect(trimmed(lines)).toEqual(trimmed(plain.map((line, at) => line + added[at])));
    }
  });

  test.each(['', '--preferences '])('is a DOUBLE in Parquet %s', async (more) => {
    await run(`--table d --crawl-delay ${more}-a GPTBot,CCBot -o out.parquet urls.txt`);
    const bytes = readFileSync(join(place.path, 'out.parquet'));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const rows = await parquetReadObjects({ file });
    expect(rows.map((row) => AGENTS.map((agent) => row[`crawl_delay_${agent}`]))).toEqual(EXPECTED);
    // As an input the file keeps its columns.
    await run('--table d --crawl-delay -a CCBot --verdict-field again -o more.parquet out.parquet');
    const again = readFileSync(join(place.path, 'more.parquet'));
    const more2 = await parquetReadObjects({
      file: again.buffer.slice(again.byteOffset, again.byteOffset + again.length),
    });
    expect(more2.map((row) => [row.crawl_delay_GPTBot, row.again_crawl_delay])).toEqual(EXPECTED);
  });

  test.each([
    [
      '--table bare --crawl-delay urls.txt',
      'bare keeps no crawl-delays. Compile it with --records',
    ],
    ['--table t --crawl-delay --allowed urls.txt', "'--crawl-delay' cannot be used with"],
    ['--table t --crawl-delay --stats-by host urls.txt', "'--crawl-delay' cannot be used with"],
    ['--table t --crawl-delay --format verdicts urls.txt', 'Leave --crawl-delay out'],
    [
      '--table t --crawl-delay --verdict-field crawl_delay urls.txt',
      'crawl_delay is the member that --crawl-delay adds',
    ],
    [
      '--table t --crawl-delay --time-field when urls.ndjson',
      '--crawl-delay reads the newest robots.txt alone',
    ],
  ])('%s is refused', async (words, message) => {
    const { code, text, stderr } = await place.run(words);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(message);
  });
});
