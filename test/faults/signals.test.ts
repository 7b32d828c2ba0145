import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ended, lines, Workplace } from '../cli/command-line.js';
import { Random } from '../random.js';

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;
const OLD = 'as it was\n';

/** A workplace with robots.txt files and URLs that take a while. */
function busyPlace(random: Random, hosts: number): Workplace {
  const place = new Workplace();
  for (let host = 0; host < hosts; host++) {
    const rules = Array.from(
      { length: 60 },
      () => `Disallow: /${random.run(['a', 'b*', 'c/'], 1, 9)}`,
    );
    place.write(`robots/h${host}.example`, `User-agent: *\n${rules.join('\n')}\n`);
  }
  const some = Array.from(
    { length: 5000 },
    () => `https://h${random.between(0, hosts)}.example/${random.run(['a', 'b', 'c/'], 1, 12)}\n`,
  );
  place.write('urls.txt', some.join('').repeat(40));
  return place;
}

function digest(place: Workplace, name: string): string {
  return createHash('sha256')
    .update(readFileSync(join(place.path, name)))
    .digest('hex');
}

interface Interrupted {
  readonly place: Workplace;
  readonly args: readonly string[];
  /** The file that is written; the arguments name it. */
  readonly output: string;
  /** What else may lie in the workplace afterwards. */
  readonly names: readonly string[];
  readonly rounds: number;
}

/**
 * Sends signals to a command at all moments, and asserts that it leaves nothing half done. Gives
 * the exit codes that came.
 */
async function interrupt(command: Interrupted, random: Random): Promise<Map<unknown, number>> {
  const { place, args, output, names } = command;
  const begin = performance.now();
  const whole = await place.run(args);
  expect(whole.code, whole.stderr).toBe(0);
  const duration = performance.now() - begin;
  const complete = digest(place, output);
  const codes = new Map<unknown, number>();
  for (let round = 0; round < command.rounds; round++) {
    place.write(output, OLD);
    const child = place.start(args);
    child.stdin?.end();
    const ending = ended(child);
    const signal = random.pick(['SIGINT', 'SIGTERM'] as const);
    const twice = random.chance(0.4);
    // Half of them anywhere, the others when the file is being written.
    const moment = round % 2 === 0 ? random.number() * duration : random.pick([0, 1, 10, 30]);
    if (round % 2 === 1) await temporaryFile(place, child);
    await pause(moment);
    child.kill(signal);
    if (twice) {
      await pause(random.pick([0, 0, 1, 5, 20]));
      child.kill(signal);
    }
    const { code, signal: endedBy, stderr } = await ending;
    const context = `${args[0]}, round ${round}, ${signal} after ${moment} ms: ${stderr}`;
    // A second signal ends the process by itself, of which shells say this code; so does the first
    // before the program listens.
    const end = code ?? (twice ? CODES[signal] : endedBy);
    codes.set(end, (codes.get(end) ?? 0) + 1);
    if (code === null) expect(endedBy, context).toBe(signal);
    else expect([0, CODES[signal]], context).toContain(code);
    const isNew = digest(place, output) === complete;
    if (!isNew) expect(place.read(output), context).toBe(OLD);
    if (code === 0) expect(isNew, context).toBe(true);
    expect(place.names(), context).toEqual([...names].sort());
    expect(stderr, context).not.toMatch(/\n {4}at |Error/);
  }
  return codes;
}

/** Waits until there is a temporary file, or the process has ended. */
async function temporaryFile(place: Workplace, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && !place.names().some((name) => name.endsWith('.tmp'))) {
    await pause(1);
  }
}

describe('signals at any moment', () => {
  test('leave the output of the filter as it was, or all there', async () => {
    const random = new Random(11);
    const place = busyPlace(random, 250);
    const codes = await interrupt(
      {
        place,
        args: ['--robots-dir', 'robots', '-o', 'out.txt', 'urls.txt'],
        output: 'out.txt',
        names: ['out.txt', 'robots', 'urls.txt'],
        rounds: 10,
      },
      random,
    );
    expect((codes.get(130) ?? 0) + (codes.get(143) ?? 0)).toBeGreaterThan(2);
  });

  test('leave the table as it was, or all there', async () => {
    const random = new Random(12);
    const place = busyPlace(random, 3000);
    const codes = await interrupt(
      {
        place,
        args: ['compile', '--robots-dir', 'robots', '-o', 'out.table'],
        output: 'out.table',
        names: ['out.table', 'robots', 'urls.txt'],
        rounds: 8,
      },
      random,
    );
    expect((codes.get(130) ?? 0) + (codes.get(143) ?? 0)).toBeGreaterThan(2);
  });

  test('leave nothing incomplete in the directory of a fetch, nor its old report', async () => {
    const random = new Random(13);
    const place = new Workplace();
    const { port, asked } = await serveEverybody();
    const urls = Array.from(
      { length: 150 },
      (_, i) => `http://127.9.${i >> 7}.${1 + (i & 127)}:${port}/\n`,
    );
    place.write('urls.txt', urls.join(''));
    const store = join(place.path, 'store');
    const args = [
      'fetch',
      '--robots-dir',
      'store',
      '--allow-private',
      '--report',
      'report',
      'urls.txt',
    ];
    const whole = await place.run(args);
    expect(whole.code, whole.stderr).toBe(0);
    expect(lines(place.read('report'))).toHaveLength(150);
    let interrupted = 0;
    for (let round = 0; round < 6; round++) {
      rmSync(store, { recursive: true, force: true });
      place.write('report', OLD);
      const child = place.start(args);
      child.stdin?.end();
      const end = ended(child);
      const wanted = asked() + random.between(1, 120);
      while (asked() < wanted) await pause(1);
      child.kill('SIGINT');
      const twice = random.chance(0.6);
      if (twice) {
        await pause(random.pick([0, 2, 10]));
        child.kill('SIGINT');
      }
      const { code, signal, stderr } = await end;
      const context = `round ${round}, ${twice}: ${stderr}`;
      if (code === null) expect(signal, context).toBe('SIGINT');
      else expect([0, 130], context).toContain(code);
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
      expect(stderr, context).not.toMatch(/\n {4}at |Error/);
    }
    expect(interrupted).toBeGreaterThan(2);
  });
});

/**
 * A server on all addresses of the loopback interface: its port, and how many requests it has had.
 */
async function serveEverybody(): Promise<{ port: number; asked: () => number }> {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    response.end('User-agent: *\nDisallow: /private/\n');
  });
  server.listen(0);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  // A server that listens on a port has an address of this type.
  return { port: (server.address() as AddressInfo).port, asked: () => requests };
}
