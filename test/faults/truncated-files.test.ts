import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Ended, ended, MAIN, type Workplace, workplace } from '../cli/command-line.js';

/** More than the program reads of its own files before it reads its input, in octets. */
const OWN_FILES = 2_000_000;

const OLD = 'as it was\n';

const tail = (index: number) =>
  `${index % 3 === 0 ? 'private' : 'open'}/${String(index).padStart(7, '0')}${'/more'.repeat(8)}`;
const verdict = (index: number) => (index % 3 === 0 ? 'deny' : 'allow');

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join('');
}

/** Enough for several threads. */
const URLS = 500_000;
const urls = lines(URLS, (index) => `https://example.com/${tail(index)}\n`);
const judgedUrls = lines(
  URLS,
  (index) => `${verdict(index)}\thttps://example.com/${tail(index)}\n`,
);

/** Little enough for the main thread alone. */
const OBJECTS = 60_000;
const object = (index: number) => `{"url":"https://example.com/${tail(index)}"}`;
const objects = lines(OBJECTS, (index) => `${object(index)}\n`);
const array = `[${lines(OBJECTS, (index) => `${object(index)},\n`)}${object(OBJECTS)}]`;
const judgedObjects = lines(
  OBJECTS + 1,
  (index) => `${object(index).slice(0, -1)},"verdict":"${verdict(index)}"}\n`,
);

/** One body for all: it is compiled once. */
const body = 'Disallow: /private/\\n'.repeat(100);
const records = lines(
  3_000,
  (index) => `{"host":"h${index}.example","robots":"User-agent: *\\n${body}"}\n`,
);

/**
 * A way to read a file, whose name is FILE in the arguments; there it is standard input where they
 * do not name it.
 */
interface Way {
  readonly content: string | Buffer;
  readonly args: readonly string[];
  /** What comes out of the whole file, at least. */
  readonly output: string;
}

const FILTER = ['-q', '--robots-dir', 'robots'];
const FETCH = ['fetch', '-q', '--robots-dir', 'store', '--timeout', '1', '--retries', '0'];

const WAYS: Readonly<Record<string, Way>> = {
  'text, to a file': {
    content: urls,
    args: [...FILTER, 'FILE', '-o', 'out.txt'],
    output: '',
  },
  'text, to a pipe': { content: urls, args: [...FILTER, 'FILE'], output: judgedUrls },
  'text on standard input': { content: urls, args: FILTER, output: judgedUrls },
  NDJSON: { content: objects, args: [...FILTER, 'FILE'], output: judgedObjects },
  JSON: { content: array, args: [...FILTER, 'FILE'], output: judgedObjects },
  'gzip data': {
    content: gzipSync(objects, { level: 0 }),
    args: [...FILTER, 'FILE'],
    output: judgedObjects,
  },
  'a cache of records': {
    content: records,
    args: ['compile', '-q', '--robots-dir', 'FILE', '-o', 'out.txt'],
    output: '',
  },
  'a compressed cache of records': {
    content: gzipSync(records, { level: 0 }),
    args: ['compile', '-q', '--robots-dir', 'FILE', '-o', 'out.txt'],
    output: '',
  },
  'URLs to fetch of': { content: urls, args: [...FETCH, 'FILE'], output: '' },
};

/** Starts the program; waits until it has read so much of the file. */
async function startReading(
  place: Workplace,
  { args }: Way,
  name: string,
  octets: number,
): Promise<{ readonly end: Promise<Ended> }> {
  const named = args.map((argument) => (argument === 'FILE' ? name : argument));
  const input = openSync(join(place.path, name), 'r');
  const child = spawn(process.execPath, [MAIN, ...named], {
    cwd: place.path,
    stdio: [args.includes('FILE') ? 'ignore' : input, 'pipe', 'pipe'],
  });
  closeSync(input);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const end = ended(child);
  while (octetsRead(child) < OWN_FILES + octets) await turn();
  return { end };
}

/**
 * The octets that a process has read so far, and of all files together; Infinity when it has ended.
 */
function octetsRead({ pid }: ChildProcess): number {
  try {
    const io = readFileSync(`/proc/${pid}/io`, 'latin1');
    return Number(io.slice('rchar: '.length, io.indexOf('\n')));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Whether the file was found truncated; else all of it was read before. */
function assertEnd(place: Workplace, way: Way, name: string, size: number, end: Ended): boolean {
  const { code, text, stderr } = end;
  expect(way.output.startsWith(text), stderr).toBe(true);
  expect(text === '' || text.endsWith('\n')).toBe(true);
  expect(place.names().filter((other) => other.endsWith('.tmp'))).toEqual([]);
  if (code === 0) {
    return false;
  }
  expect({ code, out: place.read('out.txt') }).toEqual({ code: 2, out: OLD });
  const input = way.args.includes('FILE') ? name : 'standard input';
  expect(stderr.startsWith(`robots-filter: ${input}: `), stderr).toBe(true);
  expect(stderr).toContain(`the file had ${size} bytes at first and was truncated`);
  return true;
}

// Only Linux tells how far another process has read.
describe.skipIf(process.platform !== 'linux')('a file that is truncated while it is read', () => {
  test.each(Object.keys(WAYS))('is an error: %s', async (key) => {
    const way = WAYS[key] as Way;
    const place = workplace();
    const name = key.includes('compressed')
      ? 'f.ndjson.gz'
      : key.includes('cache')
        ? 'f.ndjson'
        : 'f';
    const size = Buffer.byteLength(way.content);
    let found = 0;
    // Within a line that is still to come, and to nothing.
    for (const [read, left] of [
      [0.1, 0.5],
      [0.6, 0],
    ] as const) {
      place.write(name, way.content);
      place.write('out.txt', OLD);
      const { end } = await startReading(place, way, name, Math.floor(size * read));
      truncateSync(join(place.path, name), Math.floor(size * left) + (left === 0 ? 0 : 7));
      if (assertEnd(place, way, name, size, await end)) found++;
    }
    // Where the reader was faster than this process, all was read.
    expect(found).toBeGreaterThan(0);
  });

  test('and is written to again, as copytruncate and a log do', async () => {
    const way = WAYS['text, to a pipe'] as Way;
    const place = workplace();
    const size = Buffer.byteLength(way.content);
    place.write('f', way.content);
    place.write('out.txt', OLD);
    const { end } = await startReading(place, way, 'f', size / 3);
    const file = join(place.path, 'f');
    truncateSync(file, 0);
    appendFileSync(file, urls.slice(0, size / 10));
    expect(assertEnd(place, way, 'f', size, await end)).toBe(true);
  });
});

test('a file that is truncated between the two readings of --fetch is an error', async () => {
  const place = workplace();
  const server = createServer((_request, response) => {
    truncateSync(join(place.path, 'f'), 10);
    response.end('User-agent: *\nDisallow: /private/\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/a\n`;
  place.write('f', url.repeat(1000));
  const args = ['--fetch', '-q', '--robots-dir', 'store', '--allow-private', 'f'];
  const { code, text, stderr } = await place.run(args);
  expect({ code, text }).toEqual({ code: 2, text: '' });
  expect(stderr).toContain(`f: had ${url.length * 1000} bytes at first and was truncated to 10`);
});

describe.skipIf(process.platform !== 'linux')('a file that the system makes up', () => {
  const page = '/sys/kernel/mm/transparent_hugepage/enabled';

  test.each([
    ['of the size of a page', page],
    ['of no size', '/proc/self/status'],
  ])('%s is read to its end', async (_size, file) => {
    const place = workplace();
    const content = readFileSync(file, 'utf8');
    expect(statSync(file).size).toBe(file === page ? 4096 : 0);
    const { code, text } = await place.run([...FILTER, file]);
    expect(code).toBe(0);
    expect(text.split('\n').length).toBe(content.split('\n').length);
  });
});
