import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, onTestFinished } from 'vitest';
import { Table } from '../../src/judge/table.js';
import { compileCache } from '../../src/pipeline/compile/compile-cache.js';
import { openInput } from '../../src/pipeline/input/open.js';
import { cacheParts } from '../../src/sources/cache.js';
import { ended, lines, test, Workplace, workplace } from '../cli/command-line.js';
import { closePools, fakeFlow, Sink, TemporaryFiles } from '../pipeline/flow-harness.js';

const files = new TemporaryFiles();

afterAll(async () => {
  await closePools();
  files.remove();
});

describe('an input file that is truncated while it is read', () => {
  const LINES = 100_000;
  const content = 'some line or other\n'.repeat(LINES);

  test('is an error, and the output has what was read before', async () => {
    const path = files.file(content);
    const descriptor = openSync(path, 'r');
    const { flow } = fakeFlow({ batchBytes: 4096, slots: 4 });
    const sink = new Sink();
    // Only a little of the output is consumed until the file is truncated.
    sink.cork();
    const run = flow.filter({ kind: 'file', name: 'in', descriptor, offset: 0 }, sink);
    run.catch(() => {}); // checked below
    while (flow.progress().bytes === 0) await pause(1);
    // Within the 10,001st line.
    truncateSync(path, 190_012);
    sink.uncork();
    await expect(run).rejects.toThrow(
      /^in: reading failed at byte \d+ \(the file had 1900000 bytes at first and was truncated/,
    );
    closeSync(descriptor);
    const out = sink.text.split('\n').slice(0, -1);
    expect(out.length).toBeGreaterThan(0);
    expect(out.length).toBeLessThan(LINES);
    // The unfinished line at the end is not judged either.
    expect(new Set(out)).toEqual(new Set(['ok some line or other']));
    expect(sink.text.endsWith('\n')).toBe(true);
  });

  test('is an error for a stream too', async () => {
    const records = `[${'{"url":"https://example.com/"},'.repeat(20_000)}{}]`;
    const path = files.file(records);
    const input = await openInput(path);
    expect(input.kind).toBe('stream');
    truncateSync(path, 200_000);
    const { flow } = fakeFlow();
    if (input.kind !== 'stream') return;
    await expect(flow.filter(input, new Sink())).rejects.toThrow('was truncated while it was read');
    await input.close();
  });

  test('may grow instead: the appended bytes may be read or not', async () => {
    const path = files.file(content);
    const descriptor = openSync(path, 'r');
    const { flow } = fakeFlow({ batchBytes: 4096 });
    const sink = new Sink();
    const run = flow.filter({ kind: 'file', name: 'in', descriptor, offset: 0 }, sink);
    appendFileSync(path, 'more\n');
    expect(await run).toBe('done');
    closeSync(descriptor);
    expect(sink.text.startsWith('ok some line or other\n'.repeat(LINES))).toBe(true);
  });

  test('may be replaced instead: the opened file is read', async () => {
    const path = files.file(content);
    const descriptor = openSync(path, 'r');
    const { flow } = fakeFlow({ batchBytes: 4096 });
    const sink = new Sink();
    const run = flow.filter({ kind: 'file', name: 'in', descriptor, offset: 0 }, sink);
    renameSync(files.file('another\n'), path);
    expect(await run).toBe('done');
    closeSync(descriptor);
    expect(sink.text === 'ok some line or other\n'.repeat(LINES)).toBe(true);
  });
});

describe('an input that ends too early or cannot be read', () => {
  test('is gzip truncated anywhere: exit 2, and the output is a prefix', async ({ place }) => {
    const records = Array.from({ length: 3000 }, (_, i) => `https://example.com/${i}\n`);
    const whole = gzipSync(records.join(''));
    const all = `allow\t${records.join('allow\t')}`;
    for (const part of [0.02, 0.6, 0.999]) {
      place.write('urls.gz', whole.subarray(0, Math.floor(whole.length * part)));
      for (const line of [
        '$rf --robots-dir robots urls.gz',
        ...(part === 0.6 ? ['cat urls.gz | $rf --robots-dir robots'] : []),
      ]) {
        const { code, text, stderr } = await place.shell(line);
        expect(code).toBe(2);
        expect(stderr).toContain('the gzip data is damaged or truncated');
        expect(all.startsWith(text)).toBe(true);
        expect(text === '' || text.endsWith('\n')).toBe(true);
      }
    }
  });

  test.skipIf(process.platform !== 'linux')(
    'is memory that the system refuses to read',
    async () => {
      const place = workplace();
      const { code, text, stderr } = await place.run('--robots-dir robots /proc/self/mem');
      expect({ code, text }).toEqual({ code: 2, text: '' });
      expect(stderr).toMatch(/^robots-filter: \/proc\/self\/mem: reading failed at byte 0/);
    },
  );

  test('is a pipe whose writer dies in a line: the input ends there, and the line is a record', async ({
    place,
  }) => {
    const line = `(printf 'https://example.com/a\\nhttps://exam'; kill -9 $BASHPID) | $rf --robots-dir robots`;
    const { code, text } = await place.shell(line);
    expect(code).toBe(0);
    expect(text).toBe('allow\thttps://example.com/a\nunknown\thttps://exam\n');
  });
});

/** Compiles a directory of a workplace to its file `t`. */
async function writeTable(place: Workplace, robots: string): Promise<void> {
  const { layout } = await compileCache([join(place.path, robots)], {
    profile: 'rfc9309',
    onWarning: () => {},
  });
  place.write('t', layout.table());
}

describe('a table whose file changes', () => {
  for (const [what, change] of [
    [
      'is overwritten',
      (path: string) => writeFileSync(path, Buffer.alloc(100_000, 0xa5), { flag: 'r+' }),
    ],
    ['is truncated', (path: string) => truncateSync(path, 0)],
    ['is replaced', (path: string) => renameSync(files.file('no table'), path)],
    ['is deleted', (path: string) => rmSync(path)],
  ] as const) {
    test(`has no effect after it was read into memory: it ${what}`, async ({ place }) => {
      await writeTable(place, 'robots');
      const fifo = join(place.path, 'fifo');
      execFileSync('mkfifo', [fifo]);
      const child = place.start(['--table', 't', 'fifo']);
      const end = ended(child);
      const pipe = await open(fifo, 'w');
      await pipe.write('https://example.com/private/\n');
      await once(child.stdout as NodeJS.ReadableStream, 'data');
      change(join(place.path, 't'));
      const more =
        'https://example.com/private/x\nhttps://www.example.org/a.gif\nhttps://example.com/\n';
      await pipe.write(more.repeat(10_000));
      await pipe.close();
      const { code, text } = await end;
      expect(code).toBe(0);
      const verdicts =
        'deny\thttps://example.com/private/x\ndeny\thttps://www.example.org/a.gif\nallow\thttps://example.com/\n';
      // The first verdict may have been written before or after the listener was added.
      expect(
        text.replace(/^deny\thttps:\/\/example.com\/private\/\n/, '') === verdicts.repeat(10_000),
      ).toBe(true);
    });
  }

  test('while it is read is refused, or is the old table or the new one', async ({ place }) => {
    const path = join(place.path, 't');
    const whole: Buffer[] = [];
    for (const rule of ['/old', '/new']) {
      for (let i = 0; i < 100; i++) {
        place.write(`r/h${i}.example`, `User-agent: *\nDisallow: ${rule}${i}\nDisallow: ${rule}\n`);
      }
      await writeTable(place, 'r');
      whole.push(readFileSync(path));
    }
    const [before, after] = whole;
    if (before === undefined || after === undefined) throw new Error('a table is missing');
    const ends = new Set<string>();
    // The file as a non-atomic writer leaves it, at every 97th byte.
    for (let next = 0; next < after.length + 97; next += 97) {
      const cut = Math.min(next, after.length);
      writeFileSync(path, Buffer.concat([after.subarray(0, cut), before.subarray(cut)]));
      const verdict = await Table.open(path).then(
        (table) => {
          const old = table.verdict('https://h1.example/old', '*').verdict;
          const now = table.verdict('https://h1.example/new', '*').verdict;
          return `${old} ${now}`;
        },
        (error) => String(error.code),
      );
      ends.add(verdict);
    }
    expect([...ends].sort()).toEqual(['allow deny', 'deny allow', 'table']);
  });
});

describe('a robots.txt that is written to while it is read', () => {
  const whole = `User-agent: *\n${'Disallow: /filling\n'.repeat(100)}Disallow: /private\n`;
  const changes: readonly [string, (path: string) => void, boolean][] = [
    ['is truncated', (path) => truncateSync(path, 500), true],
    ['grows', (path) => appendFileSync(path, 'Disallow: /more\n'), true],
    ['is written again', (path) => writeFileSync(path, whole, { flag: 'r+' }), true],
    ['is replaced', (path) => renameSync(files.file('User-agent: *\n'), path), false],
    ['is deleted', (path) => rmSync(path), false],
  ];

  for (const [what, change, isRefused] of changes) {
    for (const when of ['before', 'after'] as const) {
      test(`${what} ${when} the read: ${isRefused ? 'the file is skipped, with a warning' : 'the opened file counts'}`, async ({
        empty: place,
      }) => {
        place.write('robots/a.example', whole);
        place.write('robots/b.example', whole);
        const path = join(place.path, 'robots/a.example');
        utimesSync(path, 1e9, 1e9);
        const undo = onFirstRead(when, () => change(path));
        onTestFinished(undo);
        const warnings: string[] = [];
        const { layout } = await compileCache([join(place.path, 'robots')], {
          profile: 'rfc9309',
          onWarning: (warning) => warnings.push(`${warning.code} ${warning.path}`),
        });
        const table = layout.table();
        const { verdict } = Table.from(table).verdict('https://a.example/private', '*');
        expect(verdict).toBe(isRefused ? 'unknown' : 'deny');
        expect(warnings).toEqual(isRefused ? [`unreadable ${path}`] : []);
        expect(Table.from(table).verdict('https://b.example/private', '*').verdict).toBe('deny');
      });
    }
  }

  /**
   * Calls `happen` right before or after the next synchronous read of a file; returns a function
   * that undoes the change.
   */
  function onFirstRead(when: 'before' | 'after', happen: () => void): () => void {
    const { readSync } = fs;
    const undo = (): void => {
      fs.readSync = readSync;
      syncBuiltinESMExports();
    };
    fs.readSync = ((...call: Parameters<typeof readSync>) => {
      undo();
      if (when === 'before') happen();
      const bytes = readSync(...call);
      if (when === 'after') happen();
      return bytes;
    }) as typeof readSync;
    syncBuiltinESMExports();
    return undo;
  }
});

describe('a file of robots.txt records that is truncated while it is read', () => {
  test('is an error', async () => {
    const record = (i: number) =>
      `{"host":"h${i}.example","robots":"User-agent: *\\nDisallow: /"}\n`;
    const path = `${files.path()}.ndjson`;
    writeFileSync(path, Array.from({ length: 30_000 }, (_, i) => record(i)).join(''));
    let count = 0;
    const reading = (async () => {
      for await (const _part of cacheParts(path, false)) {
        if (++count === 1) truncateSync(path, 1_000_000);
      }
    })();
    await expect(reading).rejects.toThrow('was truncated while it was read');
    expect(count).toBeGreaterThan(0);
  });
});

describe('a directory of robots.txt files with', () => {
  test('names that are not UTF-8, everywhere: a warning for each; the other files count', async ({
    empty: place,
  }) => {
    const strange = Buffer.from([0x68, 0xff, 0x2e, 0xc3]);
    const under = (...parts: (string | Buffer)[]) =>
      Buffer.concat([
        Buffer.from(join(place.path, 'robots')),
        ...parts.flatMap((part) => [Buffer.from('/'), Buffer.from(part)]),
      ]);
    place.write('robots/good.example', 'User-agent: *\nDisallow: /\n');
    place.write('robots/https/fine.example/robots.txt', 'User-agent: *\nDisallow: /\n');
    writeFileSync(under(strange), 'User-agent: *\nDisallow: /\n');
    writeFileSync(under(Buffer.concat([strange, Buffer.from('.ndjson')])), '{}\n');
    mkdirSync(under('https', strange));
    writeFileSync(under('https', strange, 'robots.txt'), '');
    symlinkSync(under(strange), under('link.example'));
    mkdirSync(under(Buffer.from([0xfe])));
    const urls = 'https://good.example/\nhttps://fine.example/\nhttps://link.example/\n';
    const { code, text, stderr } = await place.run('--robots-dir robots', urls);
    expect(code).toBe(0);
    expect(lines(text).map((line) => line.split('\t')[0])).toEqual(['deny', 'deny', 'deny']);
    expect(stderr.match(/is not UTF-8/g)?.length ?? 0).toBeGreaterThan(0);
    expect(stderr).toContain('h\\xff.\\xc3');
    expect(stderr).not.toContain('\ufffd');
  });

  test('directories without read permission: a warning for each; the other files count', async ({
    skip,
  }) => {
    const place = new Workplace();
    place.write('robots/good.example', 'User-agent: *\nDisallow: /\n');
    place.write('robots/closed.example/robots.txt', '');
    place.write('robots/http/closed.example/robots.txt', '');
    place.write('robots/file.example', '');
    chmodSync(place.path, 0o755);
    for (const name of ['closed.example', 'http', 'file.example'])
      chmodSync(join(place.path, 'robots', name), 0);
    onTestFinished(() => {
      for (const name of ['closed.example', 'http', 'file.example'])
        chmodSync(join(place.path, 'robots', name), 0o700);
    });
    // root may read everything, so another user is needed.
    const somebody =
      process.getuid?.() === 0 ? 'setpriv --reuid=65534 --regid=65534 --clear-groups' : '';
    const isPossible =
      spawnSync('bash', ['-c', `${somebody} ${place.command} --version`]).status === 0;
    skip(!isPossible, 'nobody else can run the program here');
    const { code, text, stderr } = await place.shellAlone(
      `echo https://good.example/ | ${somebody} ${place.command} --robots-dir robots`,
    );
    expect({ code, text }).toEqual({ code: 0, text: 'deny\thttps://good.example/\n' });
    for (const name of ['closed.example', 'http', 'file.example']) {
      expect(stderr).toMatch(new RegExp(`robots/${name}\\b.*permission denied`));
    }
    const refused = await place.shellAlone(
      `chmod 0 robots; echo https://good.example/ | ${somebody} ${place.command} --robots-dir robots; code=$?; chmod 755 robots; exit $code`,
    );
    expect({ code: refused.code, text: refused.text }).toEqual({ code: 2, text: '' });
    expect(refused.stderr).toContain('permission denied');
  });

  test('two thousand files in one directory: all of them count', async ({ empty: place }) => {
    mkdirSync(join(place.path, 'robots'));
    for (let i = 0; i < 2_000; i++) {
      writeFileSync(
        join(place.path, 'robots', `h${i}.example`),
        `User-agent: *\nDisallow: /${i % 7}\n`,
      );
    }
    const urls = Array.from({ length: 2_000 }, (_, i) => `https://h${i}.example/${i % 14}\n`);
    const { code, text } = await place.run('--robots-dir robots', urls.join(''));
    expect(code).toBe(0);
    const expected = urls.map((url, i) => `${i % 14 < 7 ? 'deny' : 'allow'}\t${url}`);
    expect(text === expected.join('')).toBe(true);
  });
});
