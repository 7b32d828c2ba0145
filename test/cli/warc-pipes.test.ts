import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DICTIONARY, framesWith } from '../files/zstd-dictionary.js';
import { rawFrame, skippable } from '../files/zstd-frames.js';
import { captureOf, membersOf, recordOf, responseOf, robotsOf } from '../warc/warc-bytes.js';
import { ended, Workplace } from './command-line.js';

/*
 * Robots.txt captures from pipes against the same bytes as a file.
 */

const place = new Workplace(false);
const URLS = ['a', 'b', 'c', 'd'].flatMap((host) =>
  ['/1', '/2'].map((path) => `https://${host}.example${path}`),
);

beforeAll(async () => {
  const other = 'https://a.example/page';
  const bytes = [
    // The target of the redirect comes before it, so the archive is read a second time.
    captureOf(other, responseOf(200, robotsOf('/2'))),
    captureOf('https://a.example/robots.txt', responseOf(301, '', { Location: other })),
    captureOf('https://b.example/robots.txt', responseOf(200, robotsOf('/1'))),
    captureOf('https://c.example/robots.txt', responseOf(404)),
  ];
  place.write('r.warc', Buffer.concat(bytes));
  place.write('r.warc.gz', membersOf(bytes));
  place.write('r.warc.zst', Buffer.concat(bytes.map((each) => rawFrame(each))));
  const frames = [skippable(DICTIONARY, 13), ...(await framesWith(DICTIONARY, bytes))];
  place.write('d.warc.zst', Buffer.concat(frames));
  place.write('urls.txt', URLS.map((url) => `${url}\n`).join(''));
  const records = ['a', 'd'].map((host) =>
    JSON.stringify({ host: `${host}.example`, robots: robotsOf('/1') }),
  );
  place.write('records.ndjson', records.map((line) => `${line}\n`).join(''));
  const { stdout } = await place.run('captures r.warc.gz');
  place.write('r.captures.ndjson', stdout);
  const { stdout: more } = await place.run('captures --targets targets.txt r.warc.gz', '');
  expect(more).toHaveLength(0);
});

afterAll(() => place.remove());

/** Verdicts and explanations, without the name of the source. */
async function judged(source: string): Promise<string> {
  const { code, text, stderr } = await place.shell(source);
  expect({ source, code, stderr }).toEqual({ source, code: 0, stderr: '' });
  return text.replaceAll(/\t[^\t]*:(?=\d+\n)/g, '\t:');
}

describe('robots.txt captures', () => {
  test.each(['r.warc', 'r.warc.gz', 'r.warc.zst', 'd.warc.zst'])(
    'decide from a pipe as from a file: %s',
    async (file) => {
      const words = '-q --explain urls.txt';
      const expected = await judged(`$rf --robots-dir ${file} ${words}`);
      expect(new Set(expected.split('\n').map((line) => line.split('\t')[0]))).toEqual(
        new Set(['allow', 'deny', 'unknown', '']),
      );
      expect(await judged(`cat ${file} | $rf --robots-dir - ${words}`)).toBe(expected);
      expect(await judged(`cat ${file} | $rf --robots-dir /dev/stdin ${words}`)).toBe(expected);
      expect(await judged(`$rf --robots-dir <(cat ${file}) ${words}`)).toBe(expected);
      expect(await judged(`$rf --robots-dir - ${words} < ${file}`)).toBe(expected);
    },
  );

  test('are compiled from a pipe to the same table, also in shards', async () => {
    for (const [words, out] of [
      ['', 't'],
      ['--shards 2', 's'],
    ] as const) {
      await place.shell(`$rf compile -q ${words} --robots-dir r.warc.gz -o ${out}1`);
      const { code, stderr } = await place.shell(
        `cat r.warc.gz | $rf compile -q ${words} --robots-dir - -o ${out}2`,
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const ask = (table: string) => judged(`$rf --table ${table} -q --explain urls.txt`);
      expect(await ask(`${out}2`)).toBe(await ask(`${out}1`));
    }
  });

  test('may stand among other sources, of which each is told by its first bytes', async () => {
    const words = '-q --explain urls.txt';
    const expected = await judged(`$rf --robots-dir r.warc --robots-dir records.ndjson ${words}`);
    const piped = `$rf --robots-dir <(cat r.warc) --robots-dir <(gzip -c records.ndjson) ${words}`;
    expect(await judged(piped)).toBe(expected);
    expect(
      await judged(`cat records.ndjson | $rf --robots-dir r.warc --robots-dir - ${words}`),
    ).toBe(expected);
  });

  test('are printed from a pipe, and the lines are read from one', async () => {
    const expected = (await place.run('captures r.warc.gz')).text;
    for (const command of ['cat r.warc.gz | $rf captures -', '$rf captures <(cat r.warc.gz)']) {
      const { code, text, stderr } = await place.shell(command);
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
      expect(text.replaceAll(/"source":"[^"]*"/g, '')).toBe(
        expected.replaceAll(/"source":"[^"]*"/g, ''),
      );
    }
    const words = '--as-of 2025-03-10 -q --explain urls.txt';
    const lines = await judged(`$rf --robots-dir r.captures.ndjson ${words}`);
    expect(await judged(`$rf captures r.warc.gz | $rf --robots-dir - ${words}`)).toBe(lines);
    expect(await judged(`$rf --robots-dir <(gzip -c r.captures.ndjson) ${words}`)).toBe(lines);
    expect(lines).toContain('deny\thttps://b.example/1\t');
  });

  test('are known up to where a pipe stops, and what is lost is named', async () => {
    const cut = 'head -c -20 r.warc.gz';
    for (const command of [
      `${cut} | $rf --robots-dir - urls.txt`,
      `${cut} | $rf captures -`,
      'head -c -20 r.warc | $rf captures -',
    ]) {
      const { code, stderr } = await place.shell(command);
      expect({ command, code }).toEqual({ command, code: 0 });
      expect(stderr).toMatch(/warning: standard input:\d+: Damaged: .*cut short; skipped/);
    }
  });

  test('leave no copy behind, and end with a signal', async () => {
    const environment = { TMPDIR: place.path };
    const before = place.names();
    const done = place.start(['--robots-dir', '-', 'urls.txt'], environment);
    done.stdin?.end(membersOf([captureOf('https://a.example/robots.txt', responseOf(404))]));
    expect((await ended(done)).text).toContain('allow\thttps://a.example/1\n');
    expect(place.names()).toEqual(before);
    const silent = place.start(['--robots-dir', '-', 'urls.txt'], environment);
    const end = ended(silent);
    silent.stdin?.write(gzipSync(recordOf({ type: 'warcinfo' })));
    while (place.names().length === before.length) await new Promise((go) => setTimeout(go, 20));
    silent.kill('SIGTERM');
    const { code } = await end;
    expect(code).toBe(143);
    expect(place.names()).toEqual(before);
  });

  test.each([
    ['URLs on standard input', 'cat r.warc | $rf --robots-dir -', 'Name a file of URLs'],
    ['itself twice', 'cat r.warc | $rf --robots-dir - --robots-dir - urls.txt', 'Name it once'],
    ['itself twice', 'cat r.warc | $rf captures - -', 'Name it once'],
    ['`serve`', '$rf serve --robots-dir -', 'serve reads its questions from standard input'],
    ['records for captures', 'cat records.ndjson | $rf captures -', 'not a WARC file'],
    ['nothing for captures', 'true | $rf captures -', 'not a WARC file'],
    ['nothing at all', 'true | $rf --robots-dir - urls.txt', '--allow-empty'],
    ['an ARC file', 'echo filedesc://x | $rf --robots-dir - urls.txt', 'is an ARC file'],
  ])('are refused with %s', async (_what, command, message) => {
    const { code, stderr } = await place.shell(command);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe('records of a pipe of WARC', () => {
  test('are copied as those of a file', async () => {
    const words = '-q --robots-dir records.ndjson --unknown allow --allowed';
    await place.shell(`$rf ${words} -o f.warc.gz r.warc.gz`);
    await place.shell(`cat r.warc.gz | $rf ${words} -o p.warc.gz`);
    const { code } = await place.shell(
      `cmp f.warc.gz p.warc.gz && $rf ${words} --format warc <(cat r.warc.gz) | cmp - f.warc.gz`,
    );
    expect(code).toBe(0);
    expect(place.read('f.warc.gz').length).toBeGreaterThan(100);
    const { stderr } = await place.shell(`cat r.warc.gz | $rf ${words.slice(3)} -o p.warc.gz`);
    expect(stderr).toContain('copying standard input to ');
  });
});
