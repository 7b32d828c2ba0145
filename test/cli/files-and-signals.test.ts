import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ended, type Workplace, workplace } from './command-line.js';

const FILTER = ['--robots-dir', 'robots'];
const URLS = 'https://example.com/private/\nhttps://example.com/\n';
const VERDICTS = 'deny\thttps://example.com/private/\nallow\thttps://example.com/\n';

describe('a signal while a named pipe is opened that nobody else opens', () => {
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

  test.each(ways.map((args) => [args.join(' '), args] as const))('ends: %s', async (_, args) => {
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
    // Mostly it waits by then; if not, it must not begin to.
    await pause(50);
    child.kill('SIGTERM');
    expect((await end).code).toBe(143);
    expect(place.names().filter((name) => name === 'out' || name.endsWith('.tmp'))).toEqual([]);
  });
});

/**
 * Waits until the program handles signals: SIGHUP comes last, and Node by itself does not catch it.
 */
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

describe('-o and an input that are one file', () => {
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

  test.each(ways)('%s: the output takes its place', async (_, args) => {
    const place = workplace();
    place.write('urls.txt', URLS);
    place.write('more.txt', URLS);
    const { code } = await place.run([...FILTER, 'more.txt', ...args(place)]);
    expect(code).toBe(0);
    expect(place.read('urls.txt')).toBe(VERDICTS + VERDICTS);
  });

  test('by another hard link: that keeps what it had', async () => {
    const place = workplace();
    place.write('urls.txt', URLS);
    linkSync(join(place.path, 'urls.txt'), join(place.path, 'hard'));
    expect((await place.run([...FILTER, 'urls.txt', '-o', 'hard'])).code).toBe(0);
    expect({ input: place.read('urls.txt'), output: place.read('hard') }).toEqual({
      input: URLS,
      output: VERDICTS,
    });
  });

  test('as standard input', async () => {
    const place = workplace();
    place.write('urls.txt', URLS);
    const { code } = await place.shell('$rf --robots-dir robots -o urls.txt < urls.txt');
    expect(code).toBe(0);
    expect(place.read('urls.txt')).toBe(VERDICTS);
  });
});

describe('closed standard streams', () => {
  test.each([
    ['the output', '$rf --robots-dir robots urls.txt >&-', 0, ''],
    [
      'the output, which is not used',
      '$rf --robots-dir robots urls.txt -o out >&-; cat out',
      0,
      VERDICTS,
    ],
    ['standard error', '$rf --robots-dir robots urls.txt 2>&-', 0, VERDICTS],
    ['standard error, with an error', '$rf --robots-dir robots none 2>&-', 2, ''],
    ['the input', '$rf --robots-dir robots <&-', 0, ''],
    ['the input, which is not used', '$rf --robots-dir robots urls.txt <&-', 0, VERDICTS],
    ['all', '$rf --robots-dir robots urls.txt -o out <&- >&- 2>&-; cat out', 0, VERDICTS],
  ])('%s', async (_, command, code, text) => {
    const place = workplace();
    place.write('urls.txt', URLS);
    expect(await place.shell(command)).toMatchObject({ code, text, stderr: '' });
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
    const { code, text, stderr } = await place.shell(command);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain('the name is not UTF-8');
    expect(stderr).toContain('Redirect a file (< FILE, > FILE), or rename it');
    expect(place.names().filter((name) => name.startsWith('new') || name === 'store')).toEqual([]);
  });

  test('can be redirected; and the character that stands for them is one of names', async () => {
    const place = workplace();
    writeFileSync(Buffer.from(`${place.path}/n\xff`, 'latin1'), URLS);
    place.write('n\ufffd.txt', URLS);
    const redirected = "$rf --robots-dir robots < $'n\\xff' > $'o\\xff'; cat $'o\\xff'";
    expect(await place.shell(redirected)).toMatchObject({ code: 0, text: VERDICTS });
    const named = await place.run([...FILTER, 'n\ufffd.txt']);
    expect(named).toMatchObject({ code: 0, text: VERDICTS });
  });
});

test('a killed run leaves its temporary file, which nobody reads, and the old output', async () => {
  const place = workplace();
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
  // It is no robots.txt, and the next run does as if it were not there.
  const again = await place.run([...FILTER, '-o', 'robots/new'], URLS);
  expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
  expect(place.read('robots/new')).toBe(VERDICTS);
});
