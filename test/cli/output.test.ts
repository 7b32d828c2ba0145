import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import { describe, expect } from 'vitest';
import { captureOf, membersOf, responseOf } from '../warc/warc-bytes.js';
import { lines, test, workplace } from './command-line.js';

const FILTER = ['--robots-dir', 'robots'];
const URLS = 'https://example.com/private/\nhttps://example.com/\n';
const VERDICTS = 'deny\thttps://example.com/private/\nallow\thttps://example.com/\n';

describe('--output', () => {
  test('writes the file, and nothing to standard output', async ({ place }) => {
    const { code, text } = await place.run([...FILTER, '-o', 'out.txt'], URLS);
    expect({ code, text }).toEqual({ code: 0, text: '' });
    expect(place.read('out.txt')).toBe(VERDICTS);
    expect(place.names()).toEqual(['out.txt', 'robots']);
  });

  test('with - writes to standard output', async ({ place }) => {
    expect((await place.run([...FILTER, '-o', '-'], URLS)).text).toBe(VERDICTS);
    expect(place.names()).toEqual(['robots']);
  });

  test.each(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])(
    'with %s writes to standard output, and replaces no file behind it',
    async (name) => {
      const place = workplace();
      place.write('urls.txt', URLS);
      const filter = `$rf --robots-dir robots -o ${name} urls.txt`;
      const { code } = await place.shellAlone(`(echo head; ${filter}; echo foot) > all`);
      expect([code, place.read('all')]).toEqual([0, `head\n${VERDICTS}foot\n`]);
      expect((await place.shell(`${filter} | cat`)).text).toBe(VERDICTS);
    },
  );

  test('replaces no file behind a descriptor, whatever the command and the name', async ({
    place,
  }) => {
    place.write('urls.txt', URLS);
    symlinkSync('/dev/stdout', join(place.path, 'out'));
    symlinkSync('/dev/fd', join(place.path, 'fd'));
    const compile = '$rf compile -q --robots-dir robots -o';
    const filter = '$rf --robots-dir robots urls.txt -o';
    for (const command of [
      ...['/dev/stdout', '/proc/self/fd/1', 'out', 'fd/1'].map((name) => `${compile} ${name}`),
      `${compile} /dev/fd/3 3>&1`,
      `${filter} /dev/fd/3 3>&1`,
    ]) {
      const { code, stderr } = await place.shellAlone(`(echo head; ${command}) > all`);
      expect({ code, all: place.read('all') }, command).toEqual({ code: 2, all: 'head\n' });
      expect(stderr).toContain(
        ': leads to a file that is already open, and would be replaced. Name the file itself.',
      );
    }
    const { stdout } = await place.shell(`${compile} /dev/stdout | cat`);
    expect(stdout.subarray(0, 7).toString()).toBe('RFTABLE');
    const { text } = await place.shell(`{ ${filter} /dev/fd/3 3>&1 > none; } | cat`);
    expect(text).toBe(VERDICTS);
  });

  test('refuses a socket, which no path opens', async ({ place }) => {
    const server = createServer().listen(join(place.path, 'socket'));
    await once(server, 'listening');
    const { code, stderr } = await place.run(['compile', ...FILTER, '-o', 'socket']);
    server.close();
    expect(code).toBe(2);
    expect(stderr).toContain('socket: is a socket, which cannot be opened. Name a file or a pipe.');
  });

  test('replaces a file and keeps its permissions and the link to it', async ({ place }) => {
    place.write(
      'real/out.txt',
      'old and longer than what comes after it, by some bytes at least\n',
    );
    chmodSync(join(place.path, 'real/out.txt'), 0o640);
    symlinkSync('real/out.txt', join(place.path, 'link'));
    await place.run([...FILTER, '-o', 'link'], URLS);
    expect(place.read('real/out.txt')).toBe(VERDICTS);
    expect(statSync(join(place.path, 'real/out.txt')).mode & 0o777).toBe(0o640);
    expect(lstatSync(join(place.path, 'link')).isSymbolicLink()).toBe(true);
    expect(place.names('real')).toEqual(['out.txt']);
  });

  describe.each([
    ['.gz', gunzipSync],
    ['.zst', decompress],
  ])('compresses a file whose name ends in %s', (ending, decode) => {
    const name = `out${ending}`;

    test('with all inputs in it, in their order', async ({ place }) => {
      place.write('a.txt', URLS.repeat(20_000));
      place.write('b.txt', URLS);
      const { code, stderr } = await place.run([...FILTER, '-o', name, 'a.txt', 'b.txt']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const compressed = readFileSync(join(place.path, name));
      expect(compressed.length).toBeLessThan(100_000);
      expect(Buffer.from(decode(compressed)).toString()).toBe(VERDICTS.repeat(20_001));
      expect(place.names()).toEqual(['a.txt', 'b.txt', name, 'robots']);
    });

    // 1 MiB is given to the compressor at a time, and 4 MiB are in a frame of zstd.
    test.each([0, 2 ** 20, 2 ** 20 + 1, 2 ** 22 - 1, 2 ** 22, 2 ** 22 + 1])(
      'when %i bytes are written',
      async (length) => {
        const place = workplace();
        const url = 'https://example.com/';
        const count = length === 0 ? 0 : 10_000;
        const verdict = 'allow\t';
        // The last URL has as many bytes as are missing.
        const missing = length - count * (verdict.length + url.length + 1);
        const all = Array.from({ length: count }, () => url);
        const each = Math.floor(missing / Math.max(count, 1));
        const urls = all.map((one, at) =>
          one.padEnd(one.length + each + (at === 0 ? missing - each * count : 0), 'a'),
        );
        const input = urls.map((one) => `${one}\n`).join('');
        const { code, stderr } = await place.run([...FILTER, '-o', name], input);
        const said = count === 0 ? 'robots-filter: warning: standard input has no records\n' : '';
        expect({ code, stderr }).toEqual({ code: 0, stderr: said });
        const output = Buffer.from(decode(readFileSync(join(place.path, name))));
        expect(output).toHaveLength(length);
        expect(output.toString() === urls.map((one) => `${verdict}${one}\n`).join('')).toBe(true);
        const again = await place.run([...FILTER, '--quiet', '--url-field', '2', name]);
        expect(again.code, again.stderr).toBe(0);
        expect(lines(again.text)).toHaveLength(count);
      },
    );

    test('and keeps the old file if the new one cannot be completed', async ({ place }) => {
      place.write(name, 'old');
      const failed = await place.run([...FILTER, '--strict', '-o', name], `${URLS}none\n`);
      expect(failed.code).toBe(2);
      expect(place.read(name)).toBe('old');
      expect(place.names()).toEqual([name, 'robots']);

      symlinkSync('/dev/full', join(place.path, `full${ending}`));
      for (const text of [URLS, URLS.repeat(50_000), URLS.repeat(200_000)]) {
        const full = await place.run([...FILTER, '-o', `full${ending}`], text);
        expect(full).toMatchObject({ code: 2, stderr: expect.stringContaining(`full${ending}: `) });
        expect(lines(full.stderr)).toHaveLength(1);
      }
    });

    test('which may be a pipe', async ({ place }) => {
      execFileSync('mkfifo', [join(place.path, name)]);
      place.write('urls.txt', URLS.repeat(100_000));
      const { stdout, stderr } = await place.shell(
        `cat ${name} & $rf --robots-dir robots urls.txt -o ${name}; wait`,
      );
      expect(stderr).toBe('');
      expect(Buffer.from(decode(stdout)).toString() === VERDICTS.repeat(100_000)).toBe(true);
    });
  });

  test('creates the target of a dangling link', async ({ place }) => {
    mkdirSync(join(place.path, 'real'));
    mkdirSync(join(place.path, 'links'));
    symlinkSync('links/second', join(place.path, 'first'));
    symlinkSync('../real/out.txt', join(place.path, 'links/second'));
    expect((await place.run([...FILTER, '-o', 'first'], URLS)).code).toBe(0);
    expect(place.read('real/out.txt')).toBe(VERDICTS);
    expect(lstatSync(join(place.path, 'first')).isSymbolicLink()).toBe(true);
    symlinkSync('none/out.txt', join(place.path, 'astray'));
    const { code, stderr } = await place.run([...FILTER, '-o', 'astray'], URLS);
    expect(code).toBe(2);
    expect(stderr).toContain('astray: the directory does not exist.');
    expect(place.names()).toEqual(['astray', 'first', 'links', 'real', 'robots']);
  });

  test('replaces no file that the verdicts depend on', async ({ place }) => {
    await place.run(['compile', ...FILTER, '-o', 'robots.table']);
    const table = place.read('robots.table');
    const own = await place.run('--table robots.table -o robots.table', URLS);
    expect(own.code).toBe(2);
    expect(own.stderr).toContain('-o robots.table would replace --table robots.table');
    expect(place.read('robots.table')).toBe(table);
    const file = `robots/${place.names('robots')[0]}`;
    const source = place.read(file);
    const inside = await place.run([...FILTER, '-o', file], URLS);
    expect(inside.code).toBe(2);
    expect(inside.stderr).toContain(`-o ${file} would replace a file in --robots-dir robots`);
    expect(place.read(file)).toBe(source);
  });

  test('may name the input', async ({ place }) => {
    place.write('urls.txt', URLS);
    const { code } = await place.run([...FILTER, 'urls.txt', '-o', 'urls.txt']);
    expect(code).toBe(0);
    expect(place.read('urls.txt')).toBe(VERDICTS);
  });

  test('keeps only the old file if the run fails', async ({ place }) => {
    place.write('out.txt', 'old\n');
    const { code } = await place.run([...FILTER, '--strict', '-o', 'out.txt'], `${URLS}bad\n`);
    expect(code).toBe(2);
    expect(place.read('out.txt')).toBe('old\n');
    expect(place.names()).toEqual(['out.txt', 'robots']);
  });

  test('writes to a pipe instead of replacing it', async ({ place }) => {
    execFileSync('mkfifo', [join(place.path, 'fifo')]);
    place.write('urls.txt', URLS);
    const { text } = await place.shell('cat fifo & $rf --robots-dir robots urls.txt -o fifo; wait');
    expect(text).toBe(VERDICTS);
    expect(lstatSync(join(place.path, 'fifo')).isFIFO()).toBe(true);
  });

  test('rejects a path that cannot be written to, with a remedy', async ({ place }) => {
    const missing = await place.run([...FILTER, '-o', 'none/out.txt'], URLS);
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('none/out.txt: the directory does not exist');
    const directory = await place.run([...FILTER, '-o', 'robots'], URLS);
    expect(directory.code).toBe(2);
    expect(directory.stderr).toContain('robots: is a directory');
  });
});

describe('a closed output ends the run quietly with 0', () => {
  const many = 'https://example.com/private/a/long/path/to/fill/the/pipe\n'.repeat(200_000);

  test.each([
    ['a file', '$rf --robots-dir robots urls.txt | head -1; echo $PIPESTATUS'],
    ['a pipe', '$rf --robots-dir robots < <(cat urls.txt) | head -1; echo $PIPESTATUS'],
    [
      'an endless pipe',
      '$rf --robots-dir robots < <(yes https://example.com/private/a/long/path/to/fill/the/pipe) | head -1; echo $PIPESTATUS',
    ],
  ])('from %s', async (_name, line) => {
    const place = workplace();
    place.write('urls.txt', many);
    const { text, stderr } = await place.shellAlone(line);
    expect(text).toBe('deny\thttps://example.com/private/a/long/path/to/fill/the/pipe\n0\n');
    expect(stderr).toBe('');
  });

  test('in the other commands too', async ({ place }) => {
    const { text, stderr } = await place.shell(
      '$rf compile --robots-dir robots -o t -q; $rf inspect t | head -1 | cut -c 1-5; echo $PIPESTATUS; $rf --help | true; echo $PIPESTATUS',
    );
    expect(text).toBe('table\n0\n0\n');
    expect(stderr).toBe('');
  });

  test('a full disk is an error', async ({ place }) => {
    place.write('urls.txt', URLS);
    const { code, stderr } = await place.shellAlone('$rf --robots-dir robots urls.txt > /dev/full');
    expect(code).toBe(2);
    expect(stderr).toContain('standard output: no space left on the device');
  });

  test('a full disk is an error of the output of captures, and not of its input', async ({
    place,
  }) => {
    const body = `user-agent: *\n${'#\n'.repeat(200_000)}`;
    const capture = captureOf('https://a.example/robots.txt', responseOf(200, body));
    place.write('a.warc.gz', membersOf([capture]));
    const { code, stderr } = await place.shell('$rf captures a.warc.gz > /dev/full');
    expect(code).toBe(2);
    expect(stderr).toBe(
      'robots-filter: standard output: no space left on the device. Make room, or write elsewhere\n',
    );
  });

  test.each(['--version', "check - '*' / < robots/example.com", 'compile --help'])(
    'a full disk is an error of %s too',
    async (command) => {
      const { code, stderr } = await workplace().shell(`$rf ${command} > /dev/full`);
      expect(code).toBe(2);
      expect(stderr).toBe(
        'robots-filter: standard output: no space left on the device. Make room, or write elsewhere\n',
      );
    },
  );

  test('a system error is not reported as an internal error', async ({ place }) => {
    place.write('urls.txt', URLS);
    const { code, stderr } = await place.shellAlone(
      'cat urls.txt | TMPDIR=/nonexistent $rf --fetch --robots-dir robots',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('/nonexistent: a pipe cannot be copied there: it does not exist');
    expect(stderr).not.toContain('program itself');
  });
});

test.each([
  ['--allowed', 'http://example.com/\n'],
  ['--denied', 'http://example.com/private/\n'],
  ['--quiet', 'allow\thttp://example.com/\ndeny\thttp://example.com/private/\n'],
])('blank lines are not records, and do not come out: %s', async (option, expected) => {
  const place = workplace();
  const input = '\n  \nhttp://example.com/\n\r\n\nhttp://example.com/private/\n \n\n';
  const { code, text } = await place.run(['--robots-dir', 'robots', option], input);
  expect({ code, text }).toEqual({ code: 0, text: expected });
});
