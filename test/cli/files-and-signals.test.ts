import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { ended, test, type Workplace, workplace } from './command-line.js';

const FILTER = ['--robots-dir', 'robots'];
const URLS = 'https://example.com/private/\nhttps://example.com/\n';
const VERDICTS = 'deny\thttps://example.com/private/\nallow\thttps://example.com/\n';

describe('a signal while the program waits for the writer of a named pipe', () => {
  const ways: readonly (readonly string[])[] = [
    [...FILTER, 'fifo'],
    [...FILTER, 'urls.txt', 'fifo'],
    ['--table', 'fifo', 'urls.txt'],
    ['--robots-dir', 'fifo', 'urls.txt'],
    ['compile', '--robots-dir', 'fifo', '-o', 'out'],
    ['fetch', '--robots-dir', 'store', 'fifo'],
    ['--fetch', '--robots-dir', 'store', 'fifo'],
    [...FILTER, 'urls.txt', '-o', 'fifo'],
    ['compile', ...FILTER, '-o', 'fifo'],
    ['fetch', '--robots-dir', 'store', '--report', 'fifo', 'urls.txt'],
  ];

  test.each(ways.map((args) => [args.join(' '), args] as const))(
    'ends the program: %s',
    async (_, args) => {
      const place = workplace();
      place.write('urls.txt', URLS);
      execFileSync('mkfifo', [join(place.path, 'fifo')]);
      const child = place.start(args);
      onTestFinished(() => {
        child.kill('SIGKILL');
      });
      child.stdin?.end();
      const end = ended(child);
      await untilItListens(child.pid);
      // The program usually waits by now; otherwise it must not start to wait.
      await pause(50);
      child.kill('SIGTERM');
      expect((await end).code).toBe(143);
      expect(place.names().filter((name) => name === 'out' || name.endsWith('.tmp'))).toEqual([]);
    },
  );
});

describe('a signal while the writer of a named pipe says nothing', () => {
  const ways: readonly (readonly string[])[] = [
    ['--table', 'fifo', 'urls.txt'],
    ['--robots-dir', 'fifo', 'urls.txt'],
    ['compile', '--robots-dir', 'fifo', '-o', 'out'],
    ['serve', '--table', 'fifo'],
    ['records', 'fifo'],
    ['diff', 'fifo', 'fifo'],
    ['fetch', '--robots-dir', 'store', 'fifo'],
  ];

  test.each(ways.map((args) => [args.join(' '), args] as const))(
    'ends the program: %s',
    async (_, args) => {
      const place = workplace();
      place.write('urls.txt', URLS);
      const fifo = join(place.path, 'fifo');
      execFileSync('mkfifo', [fifo]);
      // Open for reading and writing: the pipe has a writer, and no end.
      const writer = openSync(fifo, 'r+');
      onTestFinished(() => closeSync(writer));
      const child = place.start(args);
      onTestFinished(() => {
        child.kill('SIGKILL');
      });
      const end = ended(child);
      await untilItListens(child.pid);
      await pause(50);
      child.kill('SIGTERM');
      expect(await end).toMatchObject({ code: 143, stdout: Buffer.alloc(0) });
    },
  );
});

describe('a named pipe in the place of a file that is read at any offset', () => {
  test.each([
    ['shards/part-00001.table', ['--table', 'shards', 'urls.txt'], 'is a pipe, not a file'],
    ['shards/part-00001.table', ['inspect', 'shards', 'example.com'], 'is a pipe, not a file'],
    [
      'shards/manifest.json',
      ['inspect', 'shards', 'example.com'],
      'is a pipe: give the directory that',
    ],
    ['a.parquet', ['--robots-dir', 'a.parquet', 'urls.txt'], 'a pipe, and Parquet is not read'],
  ])('is refused at once: %s, %j', async (name, args, message) => {
    const place = workplace();
    place.write('urls.txt', URLS);
    place.write('robots/b.example', 'User-agent: *\nDisallow: /\n');
    const compile = ['compile', ...FILTER, '--shards', '2', '-o', 'shards', '-q'];
    expect((await place.run(compile)).code).toBe(0);
    const path = join(place.path, name);
    rmSync(path, { force: true });
    execFileSync('mkfifo', [path]);
    const { code, stderr } = await place.run(args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(stderr).toContain(name);
  });
});

/** Waits until the program handles signals: SIGHUP comes last, and Node does not catch it. */
async function untilItListens(pid: number | undefined): Promise<void> {
  if (process.platform !== 'linux') return pause(1000);
  for (;;) {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const caught = status.split('\n').find((line) => line.startsWith('SigCgt:')) ?? '';
    const mask = BigInt(`0x${caught.slice('SigCgt:'.length).trim() || '0'}`);
    if (mask & 1n) return;
    await pause(2);
  }
}

describe('-o with a file that is also an input', () => {
  const ways: readonly (readonly [string, (place: Workplace) => readonly string[]])[] = [
    ['by its name', () => ['urls.txt', '-o', 'urls.txt']],
    [
      'by a symbolic link',
      (place) => {
        symlinkSync('urls.txt', join(place.path, 'link'));
        return ['urls.txt', '-o', 'link'];
      },
    ],
    [
      'by a symbolic link that is read',
      (place) => {
        symlinkSync('urls.txt', join(place.path, 'link'));
        return ['link', '-o', 'urls.txt'];
      },
    ],
  ];

  test.each(ways)('%s: the output replaces the file', async (_, args) => {
    const place = workplace();
    place.write('urls.txt', URLS);
    place.write('more.txt', URLS);
    const { code } = await place.run([...FILTER, 'more.txt', ...args(place)]);
    expect(code).toBe(0);
    expect(place.read('urls.txt')).toBe(VERDICTS + VERDICTS);
  });

  test('by another hard link: that link keeps the old content', async ({ place }) => {
    place.write('urls.txt', URLS);
    linkSync(join(place.path, 'urls.txt'), join(place.path, 'hard'));
    expect((await place.run([...FILTER, 'urls.txt', '-o', 'hard'])).code).toBe(0);
    expect({ input: place.read('urls.txt'), output: place.read('hard') }).toEqual({
      input: URLS,
      output: VERDICTS,
    });
  });

  test('as standard input: the output replaces the file', async ({ place }) => {
    place.write('urls.txt', URLS);
    const { code } = await place.shellAlone('$rf --robots-dir robots -o urls.txt < urls.txt');
    expect(code).toBe(0);
    expect(place.read('urls.txt')).toBe(VERDICTS);
  });
});

describe('closed standard streams', () => {
  test.each([
    ['the output', '$rf --robots-dir robots urls.txt >&-', 0, '', ''],
    [
      'the output, which is not used',
      '$rf --robots-dir robots urls.txt -o out >&-; cat out',
      0,
      VERDICTS,
      '',
    ],
    ['standard error', '$rf --robots-dir robots urls.txt 2>&-', 0, VERDICTS, ''],
    ['standard error, with an error', '$rf --robots-dir robots none 2>&-', 2, '', ''],
    [
      'the input',
      '$rf --robots-dir robots <&-',
      0,
      '',
      'robots-filter: warning: standard input has no records\n',
    ],
    ['the input, which is not used', '$rf --robots-dir robots urls.txt <&-', 0, VERDICTS, ''],
    ['all', '$rf --robots-dir robots urls.txt -o out <&- >&- 2>&-; cat out', 0, VERDICTS, ''],
  ])('%s', async (_, command, code, text, stderr) => {
    const place = workplace();
    place.write('urls.txt', URLS);
    expect(await place.shellAlone(command)).toMatchObject({ code, text, stderr });
  });
});

describe('names that are not UTF-8', () => {
  test.each([
    "$rf --robots-dir robots $'n\\xff'",
    "$rf --robots-dir $'n\\xff' urls.txt",
    "$rf --robots-dir robots urls.txt -o $'new\\xff'",
    "$rf --table $'n\\xff' urls.txt",
    "$rf compile --robots-dir robots -o $'new\\xff'",
    "$rf fetch --robots-dir $'new\\xff' urls.txt",
    "$rf fetch --robots-dir store --report $'new\\xff' urls.txt",
    "$rf check $'n\\xff' A /",
    "$rf inspect $'n\\xff'",
  ])('are refused as arguments: %s', async (command) => {
    const place = workplace();
    place.write('urls.txt', URLS);
    writeFileSync(Buffer.from(`${place.path}/n\xff`, 'latin1'), URLS);
    const { code, text, stderr } = await place.shellAlone(command);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain('the name is not UTF-8');
    expect(stderr).toContain('Redirect the file (< FILE, > FILE), or rename it');
    expect(place.names().filter((name) => name.startsWith('new') || name === 'store')).toEqual([]);
  });

  test('can be redirected; a U+FFFD in a name is accepted', async ({ place }) => {
    writeFileSync(Buffer.from(`${place.path}/n\xff`, 'latin1'), URLS);
    place.write('n\ufffd.txt', URLS);
    const redirected = "$rf --robots-dir robots < $'n\\xff' > $'o\\xff'; cat $'o\\xff'";
    expect(await place.shellAlone(redirected)).toMatchObject({ code: 0, text: VERDICTS });
    const named = await place.run([...FILTER, 'n\ufffd.txt']);
    expect(named).toMatchObject({ code: 0, text: VERDICTS });
  });
});

test('a killed run leaves the old output, and a temporary file that nothing reads', async ({
  place,
}) => {
  execFileSync('mkfifo', [join(place.path, 'fifo')]);
  place.write('robots/out', 'User-agent: *\nDisallow: /old\n');
  const child = place.start(['--robots-dir', 'robots', 'fifo', '-o', 'robots/new']);
  const end = ended(child);
  const leftovers = () =>
    readdirSync(join(place.path, 'robots')).filter((name) => name.endsWith('.tmp'));
  while (leftovers().length === 0) await pause(5);
  child.kill('SIGKILL');
  expect((await end).signal).toBe('SIGKILL');
  expect(leftovers()).toHaveLength(1);
  expect(leftovers()[0]).toMatch(/^\.new\./);
  expect(existsSync(join(place.path, 'robots/new'))).toBe(false);
  // The copy is not a robots.txt, and the next run ignores it.
  const again = await place.run([...FILTER, '-o', 'robots/new'], URLS);
  expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
  expect(place.read('robots/new')).toBe(VERDICTS);
});

test('a killed run of --fetch leaves its copy of a pipe; the next run ignores that copy', async ({
  place,
}) => {
  mkdirSync(join(place.path, 'tmp'));
  let child: ChildProcess | undefined;
  const server = createServer((_request, response) => {
    child?.kill('SIGKILL');
    response.end('User-agent: *\nDisallow: /private\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  // A server that listens on a port has an address of this type.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/private\n`;
  const args = ['--fetch', '-q', '--robots-dir', 'store', '--allow-private', '-'];
  const environment = { TMPDIR: join(place.path, 'tmp') };
  child = place.start(args, environment);
  child.stdin?.end(url);
  expect(await ended(child)).toMatchObject({ signal: 'SIGKILL', text: '' });
  const left = place.names('tmp');
  expect(left).toEqual([expect.stringMatching(/^robots-filter-/)]);
  const copy = join('tmp', left[0] ?? '', '0');
  expect(place.read(copy)).toBe(url);
  // No other user may read the copy.
  expect(statSync(join(place.path, copy)).mode & 0o777).toBe(0o600);

  child = undefined;
  expect(await place.runAlone(args, url, environment)).toMatchObject({
    code: 0,
    text: `deny\t${url}`,
  });
  expect(place.names('tmp')).toEqual(left);
});
