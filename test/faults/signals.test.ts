import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished } from 'vitest';
import { type Ended, lines, test, type Workplace, workplace } from '../cli/command-line.js';
import { ROOT } from '../docs/scratch.js';

const SIGNAL_AT_CALL = fileURLToPath(new URL('signal-at-call.cjs', import.meta.url));
const CODES = { SIGINT: 130, SIGTERM: 143, SIGKILL: undefined } as const;
const OLD = 'as it was\n';

type Signal = keyof typeof CODES;

/** For a run that is to start no threads. */
const ONE_CORE = { CORES: '1' };

/** One signal, and the same signal twice at the same moment: they take turns at the moments. */
const SIGNALS: readonly (readonly Signal[])[] = [['SIGINT'], ['SIGTERM', 'SIGTERM']];

/**
 * When a signal arrives: before the program's file system call of this number, or before so many of
 * this name, when a thread is about to write, or when one is about to read more of the input.
 */
type Moment = number | `rename${'' | 'Sync'} ${number}` | 'thread' | 'reading';

/** Calls that change nothing: a signal after one finds what a signal before it finds. */
const READS = ['realpath', 'readdirSync'];

/** The calls at which signals arrive: of many of one name in a row, the first and the last. */
function momentsOf(calls: readonly string[]): number[] {
  return [...calls.keys()].filter((call) => {
    const before = calls[call - 1] ?? '';
    return !READS.includes(before) && !(before === calls[call] && before === calls[call + 1]);
  });
}

interface Interrupted {
  readonly place: Workplace;
  readonly args: readonly string[];
  /** The file that is written; the arguments name it. */
  readonly output: string;
}

/**
 * The digest of a file, or of the shards in a directory, whose manifest tells the time; `undefined`
 * if there is none.
 */
function digest(place: Workplace, name: string): string | undefined {
  const path = join(place.path, name);
  if (!existsSync(path)) return undefined;
  const hash = createHash('sha256');
  const isDirectory = statSync(path).isDirectory();
  const shards = isDirectory && place.names(name).filter((each) => each !== 'manifest.json');
  for (const each of shards || ['']) hash.update(each).update(readFileSync(join(path, each)));
  return hash.digest('hex');
}

/** Runs a command to its end; returns its file system calls. */
async function callsOf(
  place: Workplace,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<string[]> {
  const calls = join(place.path, 'calls');
  const { code, stderr } = await place.runAlone(args, '', {
    ...environment,
    NODE_OPTIONS: `--require ${SIGNAL_AT_CALL}`,
    CALLS: calls,
  });
  expect(code, stderr).toBe(0);
  const made = lines(place.read('calls'));
  rmSync(calls);
  return made;
}

async function signalled(
  place: Workplace,
  args: readonly string[],
  moment: Moment,
  signals: readonly Signal[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const ended = await place.runAlone(args, '', {
    ...environment,
    NODE_OPTIONS: `--require ${SIGNAL_AT_CALL}`,
    SIGNAL_AT: String(moment),
    SIGNALS: signals.join(','),
  });
  const context = `${signals} at ${moment}: ${ended.stderr}`;
  const [signal = 'SIGINT'] = signals;
  // The process ends at the first signal before the program listens, and at the second at any
  // moment.
  if (ended.code === null) expect(ended.signal, context).toBe(signal);
  else expect([0, CODES[signal]], context).toContain(ended.code);
  expect(ended.stderr, context).not.toMatch(/\n {4}at |Error/);
  return ended;
}

/**
 * Interrupts a command at each of these moments, and asserts that nothing is left half done.
 * Returns how often the old output remained, and how often the new output was there.
 */
async function interrupt(
  { place, args, output }: Interrupted,
  moments: readonly Moment[],
): Promise<{ old: number; complete: number }> {
  const complete = digest(place, output);
  const names = place.names();
  const found = { old: 0, complete: 0 };
  for (const [turn, moment] of moments.entries()) {
    const signals = SIGNALS[turn % SIGNALS.length] ?? [];
    place.write(output, OLD);
    const { code, stderr } = await signalled(place, args, moment, signals);
    const context = `${signals} at ${moment}: ${stderr}`;
    const isComplete = digest(place, output) === complete;
    if (!isComplete) expect(place.read(output), context).toBe(OLD);
    if (code === 0) expect(isComplete, context).toBe(true);
    expect(place.names(), context).toEqual(names);
    found[isComplete ? 'complete' : 'old']++;
  }
  return found;
}

describe('a signal before each file system call', () => {
  test('leaves the output of the filter either old or complete', async ({ place }) => {
    place.write('urls.txt', 'https://example.com/private/\nhttps://example.com/\n');
    const args = ['--robots-dir', 'robots', '-o', 'out.txt', 'urls.txt'];
    const calls = await callsOf(place, args);
    expect(calls).toEqual(expect.arrayContaining(['open', 'writeSync', 'rename']));
    const moments = momentsOf(calls);
    const found = await interrupt({ place, args, output: 'out.txt' }, moments);
    expect(found.old).toBeGreaterThan(moments.length / 2);
  });

  test('leaves the output of threads either old or complete', async ({ place }) => {
    // More batches than three threads have in flight.
    place.write('urls.txt', `https://example.com/${'path/'.repeat(20)}\n`.repeat(150_000));
    const args = ['--robots-dir', 'robots', '--threads', '3', '-o', 'out.txt', 'urls.txt'];
    expect((await place.run(args)).code).toBe(0);
    const found = await interrupt({ place, args, output: 'out.txt' }, ['thread', 'thread']);
    expect(found.old).toBeGreaterThan(0);
  });

  test('leaves a compressed output either old or complete', async ({ place }) => {
    // More than one frame.
    place.write('urls.txt', 'https://example.com/private/\n'.repeat(200_000));
    const args = ['--robots-dir', 'robots', '-o', 'out.zst', 'urls.txt'];
    const calls = await callsOf(place, args);
    const some = [...calls.keys()].filter((call) => call % 3 === 0);
    const found = await interrupt({ place, args, output: 'out.zst' }, some);
    expect(found.old).toBeGreaterThan(some.length / 2);
  });

  test('leaves the table either old or complete', async ({ place }) => {
    const args = ['compile', '--robots-dir', 'robots', '-o', 'out.table'];
    const calls = await callsOf(place, args);
    expect(calls).toEqual(expect.arrayContaining(['open', 'write', 'sync', 'rename']));
    const moments = momentsOf(calls);
    const found = await interrupt({ place, args, output: 'out.table' }, moments);
    expect(found.old).toBeGreaterThan(moments.length / 2);
    expect(found.complete).toBeGreaterThan(0);
  });

  test('leaves neither incomplete files nor an old report in the directory of a fetch', async ({
    place,
  }) => {
    place.write('urls.txt', await robotsUrl());
    const store = join(place.path, 'store');
    const options = ['--allow-private', '--report', 'report', 'urls.txt'];
    const args = ['fetch', '--robots-dir', 'store', ...options];
    const calls = await callsOf(place, args);
    const complete = lines(place.read('report'));
    expect(complete).toHaveLength(1);
    expect(calls).toEqual(
      expect.arrayContaining(['openSync', 'writeSync', 'renameSync', 'rename']),
    );
    const moments = momentsOf(calls);
    let interrupted = 0;
    for (const [turn, moment] of moments.entries()) {
      rmSync(store, { recursive: true, force: true });
      place.write('report', OLD);
      const signals = SIGNALS[turn % SIGNALS.length] ?? [];
      const { code, stderr } = await signalled(place, args, moment, signals);
      const context = `${signals} at ${moment}, ${calls[moment]}: ${stderr}`;
      if (code !== 0) interrupted++;
      const files = existsSync(store) ? readdirSync(store, { recursive: true }).map(String) : [];
      expect(
        files.filter((name) => name.endsWith('.tmp')),
        context,
      ).toEqual([]);
      for (const name of files.filter((file) => file.endsWith('robots.json'))) {
        expect(existsSync(join(store, name, '..', 'robots.txt')), context).toBe(true);
      }
      expect(place.names().filter((name) => name.startsWith('.'))).toEqual([]);
      const report = place.read('report');
      if (report !== OLD) for (const line of lines(report)) JSON.parse(line);
    }
    expect(interrupted).toBeGreaterThan(moments.length / 2);
  });
});

describe('a signal while a table with histories is compiled', () => {
  const sources = '--robots-dir archive --robots-dir dated.ndjson --robots-dir days';

  test.each([
    ['to a file', [], 'out.table'],
    ['in shards', ['--shards', '3'], 'out.shards'],
  ] as const)('leaves the old table or the new one, whole: %s', async (_what, options, output) => {
    const place = workplace();
    cpSync(join(ROOT, 'fixtures/warc/archive'), join(place.path, 'archive'), { recursive: true });
    place.write('dated.ndjson', '{"host":"d.example","robots":"","fetched":"2024-01-15"}\n');
    place.write('days/2024-05-01/e.example', 'User-agent: *\nDisallow: /\n');
    const args = ['compile', '--history', ...sources.split(' '), ...options, '-o', output];
    const old = ['compile', '--history', '--robots-dir', 'days', ...options, '-o', 'old'];
    expect((await place.run(old)).code).toBe(0);
    // An output that is there takes other calls than a new one.
    cpSync(join(place.path, 'old'), join(place.path, output), { recursive: true });
    // Threads compile while it reads. They have ended by the other moments, and take long to start.
    const calls = await callsOf(place, args, ONE_CORE);
    const complete = digest(place, output);
    const names = place.names();
    // When the output is put in place, and before and after that.
    const last = calls.findLastIndex((call) => call.startsWith('rename'));
    const name = calls[last] === 'rename' ? 'rename' : 'renameSync';
    // Not by its number: the order of asynchronous calls differs.
    const placing = `${name} ${calls.filter((call) => call === name).length}` as const;
    const moments = [last >> 1, placing, ...(last + 1 < calls.length ? [last + 1] : [])];
    const found = { old: 0, complete: 0, killed: 0 };
    const runs: (readonly [Moment, readonly Signal[]])[] = [['reading', ['SIGINT']]];
    for (const moment of ['reading' as const, ...moments]) {
      runs.push([moment, ['SIGTERM', 'SIGTERM']], [moment, ['SIGKILL']]);
    }
    for (const [moment, signals] of runs) {
      rmSync(join(place.path, output), { recursive: true });
      cpSync(join(place.path, 'old'), join(place.path, output), { recursive: true });
      const environment = moment === 'reading' ? {} : ONE_CORE;
      const { code, signal, stderr } = await signalled(place, args, moment, signals, environment);
      const context = `${signals} at ${moment}, ${calls[Number(moment)]}: ${stderr}`;
      const left = place.names().filter((name) => !names.includes(name));
      if (signal === 'SIGKILL') {
        found.killed++;
        // Hidden files, which docs/cli.md names.
        for (const name of left) expect(name, context).toMatch(/^\.out\..*\.tmp(\.old)?$/);
      } else expect(left, context).toEqual([]);
      let now = digest(place, output);
      // Killed between the two renames of a directory.
      const [aside] = left.filter((name) => name.endsWith('.old'));
      if (now === undefined && aside !== undefined) now = digest(place, aside);
      const isComplete = now === complete;
      if (code === 0) expect(isComplete, context).toBe(true);
      if (!isComplete) expect(now, context).toBe(digest(place, 'old'));
      if (moment === 'reading') {
        expect(isComplete, context).toBe(false);
        expect({ code, signal }, context).not.toEqual({ code: 0, signal: null });
      }
      found[isComplete ? 'complete' : 'old']++;
      for (const name of left) rmSync(join(place.path, name), { recursive: true });
    }
    expect(found.old).toBeGreaterThan(runs.length / 2);
    expect(found.complete).toBeGreaterThan(0);
    expect(found.killed).toBeGreaterThan(2);
    // After all that, compiling works as before.
    expect((await place.run(args)).code).toBe(0);
    expect(digest(place, output)).toBe(complete);
  });
});

/** The URL of a page on a server of this test, which also serves a robots.txt. */
async function robotsUrl(): Promise<string> {
  const server = createServer((_request, response) => {
    response.end('User-agent: *\nDisallow: /private/\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  // A server that listens on a port has an address of this type.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`;
}
