import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crawl, Frontier } from '../../examples/frontier.js';
import { Table, TableBuilder } from '../../src/library/index.js';
import { MAIN } from '../cli/command-line.js';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const URLS = ['https://a.example/x', 'https://a.example/y', 'https://b.example/', 'no URL', ''];
const VERDICTS = ['deny', 'allow', 'unknown', 'invalid', 'invalid'];

let place: string;

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'robots-filter-examples-'));
  const builder = new TableBuilder();
  builder.add('a.example', 'user-agent: *\ndisallow: /x\n');
  await Table.from(builder.build()).save(join(place, 'robots.table'));
  const program = join(place, 'robots-filter');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(program, 0o755);
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Whether a program is on this machine. */
const has = (program: string, word: string): boolean =>
  spawnSync(program, [word], { stdio: 'ignore' }).status === 0;

describe('the command as a co-process', () => {
  it('answers each line at once, while its input stays open', async () => {
    const args = [MAIN, '--quiet', '--table', join(place, 'robots.table'), '--agent', 'MyBot'];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (let round = 0; round < 200; round++) {
      const url = URLS[round % 3] ?? '';
      child.stdin.write(`${url}\n`);
      // The next line is written when the answer has come.
      expect((await lines.next()).value).toBe(`${VERDICTS[round % 3]}\t${url}`);
    }
    child.stdin.end();
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  const ask = (program: string, words: readonly string[]): string => {
    const PATH = [place, process.env.PATH].join(delimiter);
    const run = spawnSync(program, [...words, 'robots.table', 'MyBot', ...URLS], {
      cwd: place,
      env: { ...process.env, PATH },
      encoding: 'utf8',
    });
    return run.stdout + run.stderr;
  };
  const answers = URLS.map((url, index) => `${VERDICTS[index]} ${url}\n`).join('');

  it.runIf(has('python3', '--version'))('is asked by examples/ask.py', () => {
    expect(ask('python3', [join(EXAMPLES, 'ask.py')])).toBe(answers);
  });

  it.runIf(process.env.CI_GO !== undefined && has('go', 'version'))(
    'is asked by examples/ask.go',
    () => expect(ask('go', ['run', join(EXAMPLES, 'ask.go')])).toBe(answers),
  );
});

describe('examples/frontier.ts', () => {
  it('crawls what it may, asks for each robots.txt once, and obeys a changed one', async () => {
    const asked: string[] = [];
    let robots = 'user-agent: MyBot\ndisallow: /private\n';
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/robots.txt') response.end(robots);
      else response.end('<a href="/a"> <a href="/private/b"> <a href="/c#top"> <a href="/late/d">');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const site = `http://127.0.0.1:${port}`;
    const userAgent = 'MyBot/1.0 (+https://example.com/bot)';
    try {
      const frontier = new Frontier({
        cache: join(place, 'cache'),
        userAgent,
        command: [process.execPath, MAIN],
        fetchOptions: ['--allow-private', '--pause', '0', '--max-age', '0'],
      });
      frontier.add(`${site}/`);
      expect(await frontier.next()).toBe(`${site}/`);
      frontier.add(`${site}/late/`);
      robots += 'disallow: /late\n';
      await frontier.refresh();
      frontier.add(`${site}/start`);
      const fetched = await crawl(frontier, userAgent);
      expect(fetched).toEqual(['/start', '/a', '/c'].map((path) => site + path));
      expect(frontier.denied).toEqual(
        ['/late/', '/private/b', '/late/d'].map((path) => site + path),
      );
      expect(asked.filter((path) => path === '/robots.txt')).toHaveLength(2);
      expect(asked.filter((path) => /private|late/.test(path))).toEqual([]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
