import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TableContents } from '../../src/compile/table-contents.js';
import { entryFile } from '../../src/files/package-file.js';
import { Table } from '../../src/judge/table.js';
import {
  type CompileCacheOptions,
  compileCache,
} from '../../src/pipeline/compile/compile-cache.js';
import { CompileThreads } from '../../src/pipeline/compile/threads.js';
import { cacheParts } from '../../src/sources/cache.js';
import type { CacheWarning } from '../../src/sources/entry.js';
import { hostileFile } from '../hostile/file.js';
import { Random } from '../random/random.js';

/** Enough for eight parts, so that threads can overtake one another. */
const RECORDS = 1200;
const FILES = 1000;
const BODIES = 80;

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-compile-'));
const records = join(directory, 'records.ndjson');
const packed = join(directory, 'packed.ndjson.gz');
const cut = join(directory, 'cut.ndjson.gz');
const files = join(directory, 'files');
afterAll(() => rmSync(directory, { recursive: true }));

function line(random: Random, bodies: readonly string[], number: number): string {
  const kind = random.number();
  if (kind < 0.01)
    return random.pick(['', '{', '[1]', '{"host":"a b","robots":""}', '{"host":"x.example"}']);
  // Some hosts occur again, near their first place or far from it.
  const host = `h${kind < 0.1 ? random.between(0, RECORDS) : number}.example`;
  const name = random.pick([host, `${host}:8080`, `${host}:0`, host, host, `${host}:443`]);
  const body = random.pick(bodies);
  if (kind < 0.15) return JSON.stringify({ host: name, status: random.pick([404, 500, 301]) });
  if (kind < 0.2) {
    return JSON.stringify({
      host: name,
      robots_base64: Buffer.from(body, 'latin1').toString('base64'),
    });
  }
  const key = kind < 0.3 ? { url: `https://${host}/robots.txt` } : { host: name };
  return JSON.stringify({ ...key, robots: body });
}

beforeAll(() => {
  const random = new Random(4);
  const bodies = Array.from({ length: BODIES }, () => {
    const robots = hostileFile(random, 'rfc9309', { urls: 1, chains: 1 }).robots;
    // Longer than necessary: parts are split by bytes.
    return `# ${'.'.repeat(random.between(0, 10_000))}\n${robots}`;
  });
  const lines = Array.from({ length: RECORDS }, (_, number) => line(random, bodies, number));
  const text = `${lines.join('\n')}\n`;
  writeFileSync(records, text);
  writeFileSync(packed, gzipSync(text));
  writeFileSync(cut, gzipSync(text).subarray(0, -100_000));

  for (let number = 0; number < FILES; number++) {
    const place = random.pick(['', '', '', 'https/', 'http/']);
    const path = join(
      files,
      `${place}f${number}.example${random.pick(['', '.txt', '/robots.txt'])}`,
    );
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, random.pick(bodies));
  }
  writeFileSync(join(files, 'f11.ndjson'), lines.slice(0, RECORDS / 2).join('\n'));
  writeFileSync(join(files, 'no host'), '');
  const state = { accessResult: 'successful', usableUntil: '2020-01-01T00:00:00Z' };
  mkdirSync(join(files, 'stale.example'));
  writeFileSync(join(files, 'stale.example', 'robots.txt'), 'user-agent: *\ndisallow: /stale\n');
  writeFileSync(join(files, 'stale.example', 'robots.json'), JSON.stringify(state));
  // A link that makes the directory's path bytes instead of text.
  mkdirSync(join(files, '.hidden'));
  writeFileSync(join(files, '.hidden', 'linked.example'), 'user-agent: *\ndisallow: /linked\n');
  symlinkSync('.hidden', join(files, 'ftp'));
});

async function compiled(paths: readonly string[], options: Partial<CompileCacheOptions>) {
  const warnings: CacheWarning[] = [];
  const outcome = await compileCache(paths, {
    profile: 'rfc9309',
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  const { layout, contentWarnings, ...rest } = outcome;
  const table = layout.table();
  const digest = createHash('sha256').update(table).digest('hex');
  return { ...rest, warnings, contentWarnings: [...contentWarnings], table, digest };
}

/**
 * Tables are compared by their digests: comparing byte by byte takes longer than everything else.
 */
function expectSame(
  { table: _table, ...some }: Awaited<ReturnType<typeof compiled>>,
  { table: _other, ...others }: Awaited<ReturnType<typeof compiled>>,
): void {
  expect(some).toEqual(others);
}

/** A module for threads that behaves as the usual module, except for one part of each thread. */
function failingEntry(name: string, part: number, failure: string): string {
  const path = join(directory, `${name}.mjs`);
  const usual = JSON.stringify(pathToFileURL(entryFile('compile') ?? '').href);
  writeFileSync(
    path,
    `import usual from ${usual};\nlet parts = 0;\nexport default (part) => {\n  if (++parts === ${part}) { ${failure} }\n  return usual(part);\n};\n`,
  );
  return path;
}

describe('threads that compile', () => {
  it.each([
    ['records', {}, 4],
    ['records', { profile: 'google' as const, productTokens: ['a-bot'] }, 3],
    ['packed', {}, 3],
    ['files', { stale: 'unknown' as const }, 3],
  ])(
    'make the same table, statistics and warnings from %s as one thread (%o)',
    async (name, options, threads) => {
      const path = { records, packed, files }[name] ?? '';
      const alone = await compiled([path], { ...options, threads: 1 });
      expectSame(await compiled([path], { ...options, threads }), alone);
      expect(alone.stats.files).toBeGreaterThan(FILES);
      expect(alone.stats.replaced).toBeGreaterThan(10);
      const toPort0 = alone.warnings.filter(({ message }) => message.includes('port 0'));
      expect(toPort0.length).toBeGreaterThan(50);
      expect(alone.stats.bodies).toBeGreaterThan(BODIES / 2);
      expect(alone.contentWarnings.length).toBeGreaterThan(2);
      expect(alone.warnings.length).toBeGreaterThan(20);
      if (name === 'files') expect(alone.stale).toBe(1);
    },
  );

  it('let a later cache override an authority', async () => {
    const alone = await compiled([files, records, files], { threads: 1 });
    expectSame(await compiled([files, records, files], { threads: 3 }), alone);
    expect(alone.stats.replaced).toBeGreaterThan(FILES);
    const table = Table.from(alone.table);
    expect(table.verdict('ftp://linked.example/linked', 'a').verdict).toBe('deny');
  });

  it('report every warning before the place where reading fails', async () => {
    const outcomes: unknown[] = [];
    for (const threads of [1, 3]) {
      const warnings: CacheWarning[] = [];
      const onWarning = (warning: CacheWarning) => warnings.push(warning);
      const failure = compileCache([cut], { profile: 'rfc9309', threads, onWarning });
      await expect(failure).rejects.toMatchObject({
        code: 'input',
        message: expect.stringContaining('the gzip data is damaged or truncated'),
      });
      expect(warnings.length).toBeGreaterThan(10);
      outcomes.push(warnings);
    }
    expect(outcomes[1]).toEqual(outcomes[0]);
  });

  it.each([
    ['throws', 'throw new Error("of its own accord")', 'of its own accord'],
    ['dies', 'process.exit(7)', 'exited with code: 7'],
  ])('end the run with an error if one %s', async (name, failure, reason) => {
    for (const [path, part] of [
      [records, 2],
      [files, 1],
    ] as const) {
      const run = compileCache([path], {
        profile: 'rfc9309',
        threads: 3,
        threadEntry: failingEntry(`${name}${part}`, part, failure),
        onWarning: () => {},
      });
      await expect(run).rejects.toMatchObject({
        code: 'worker',
        message: expect.stringContaining(reason),
      });
    }
  });

  it('keep no part waiting if they die at the start', async () => {
    const contents = new TableContents({});
    let ended = 0;
    const end = (worker: Worker): void => {
      void worker.terminate().then(() => ended++);
    };
    process.on('worker', end);
    const threads = new CompileThreads(
      contents,
      {
        cache: { maxBodyBytes: 500 * 1024 },
        compile: {},
        key: contents.key,
        claims: undefined,
        leaveOutStale: false,
        until: undefined,
      },
      1,
    );
    while (ended === 0) await pause(1);
    for await (const part of cacheParts(records, false)) {
      if (part.kind === 'archive') throw new Error('this is no archive');
      await expect(threads.compile(part, false)).rejects.toMatchObject({ code: 'worker' });
      expect(threads.waiting).toBe(0);
    }
    await threads.close();
    process.off('worker', end);
  });

  it('end when the run is aborted', async () => {
    const controller = new AbortController();
    let seen = 0;
    const run = compileCache([records], {
      profile: 'rfc9309',
      threads: 3,
      signal: controller.signal,
      onWarning: () => {
        if (++seen === 5) controller.abort();
      },
    });
    await expect(run).rejects.toMatchObject({ name: 'AbortError' });
    expect(seen).toBeLessThan(90);
  });

  it('leave the last core alone until many parts have come', async () => {
    const cores = availableParallelism();
    const many = Array.from({ length: 129 }, (_, number) => {
      const path = join(directory, `part${number}.ndjson`);
      const line = (host: number) => `{"host":"p${host}.example","robots":"# ${number % 9}"}\n`;
      writeFileSync(path, line(number) + line(number + 3));
      return path;
    });
    let started = 0;
    const count = (): void => void started++;
    process.on('worker', count);
    const threads = [
      [2, 0],
      [3, cores - 1],
      [128, cores - 1],
      [129, cores],
    ] as const;
    for (const [parts, expected] of threads) {
      const paths = many.slice(0, parts);
      started = 0;
      const several = await compiled(paths, { threads: cores });
      expect([parts, started]).toEqual([parts, cores === 1 ? 0 : expected]);
      expectSame(several, await compiled(paths, { threads: 1 }));
      expect(several.stats.replaced).toBe(Math.max(0, parts - 3));
    }
    process.off('worker', count);
  });

  it('are not started for a few hundred files', async () => {
    const few = join(directory, 'few');
    mkdirSync(few);
    for (let number = 0; number < 400; number++) writeFileSync(join(few, `f${number}.example`), '');
    const entry = failingEntry('never', 1, '');
    writeFileSync(entry, 'process.exit(7);');
    const { stats } = await compiled([few], { threads: 2, threadEntry: entry });
    expect(stats.files).toBe(400);
  });
});
