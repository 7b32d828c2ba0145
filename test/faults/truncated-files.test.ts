import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished } from 'vitest';
import {
  type Ended,
  EXAMPLE_COM,
  ended,
  MAIN,
  test,
  type Workplace,
  workplace,
} from '../cli/command-line.js';
import { captureOf, responseOf, robotsOf } from '../warc/warc-bytes.js';

const TRUNCATE_AT_READ = fileURLToPath(new URL('truncate-at-read.cjs', import.meta.url));
const OLD = 'as it was\n';

const tail = (index: number) =>
  `${index % 3 === 0 ? 'private' : 'open'}/${String(index).padStart(7, '0')}${'/more'.repeat(8)}`;
const verdict = (index: number) => (index % 3 === 0 ? 'deny' : 'allow');

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join('');
}

/** More than four batches; two threads have three of them in flight. */
const URLS = 120_000;
const urls = lines(URLS, (index) => `https://example.com/${tail(index)}\n`);
const judgedUrls = lines(
  URLS,
  (index) => `${verdict(index)}\thttps://example.com/${tail(index)}\n`,
);

/** Small enough for the main thread only. */
const OBJECTS = 8_000;
const object = (index: number) => `{"url":"https://example.com/${tail(index)}"}`;
const objects = lines(OBJECTS, (index) => `${object(index)}\n`);
const array = `[${lines(OBJECTS, (index) => `${object(index)},\n`)}${object(OBJECTS)}]`;
const judgedObject = (index: number) =>
  `${object(index).slice(0, -1)},"verdict":"${verdict(index)}"}\n`;
const judgedObjects = lines(OBJECTS + 1, judgedObject);

/** One body for all: it is compiled only once. */
const body = 'Disallow: /private/\\n'.repeat(100);
const records = lines(
  1_500,
  (index) => `{"host":"h${index}.example","robots":"User-agent: *\\n${body}"}\n`,
);

const COMPILE_HISTORY = ['compile', '-q', '--history', '--robots-dir', 'FILE', '-o', 'out.txt'];
const dated = (host: string, path: string): Buffer =>
  captureOf(`https://${host}/robots.txt`, responseOf(200, robotsOf(path)));
/** More than is read at a time. */
const captures = Array.from({ length: 1500 }, (_, index) =>
  dated(`h${index}.example`, `/${'a'.repeat(1000)}`),
);

/**
 * A way to read a file. FILE in the arguments stands for its name; without FILE the file is
 * standard input.
 */
interface Way {
  readonly content: string | Buffer;
  readonly args: readonly string[];
  /** The minimum output of the whole file. */
  readonly output: string;
  /** Whether it is read or written by a process of its own, with a pipe for its output. */
  readonly isPiped?: boolean;
}

let runs = 0;

const FILTER = ['-q', '--robots-dir', 'robots'];
const FETCH = ['fetch', '-q', '--robots-dir', 'store', '--timeout', '1', '--retries', '0'];

const WAYS: Readonly<Record<string, Way>> = {
  'text, to a file': {
    content: urls,
    args: [...FILTER, 'FILE', '-o', 'out.txt'],
    output: '',
  },
  'text, to a pipe': {
    content: urls,
    args: [...FILTER, 'FILE'],
    output: judgedUrls,
    isPiped: true,
  },
  'text on standard input': { content: urls, args: FILTER, output: judgedUrls, isPiped: true },
  NDJSON: { content: objects, args: [...FILTER, 'FILE'], output: judgedObjects },
  JSON: { content: array, args: [...FILTER, 'FILE'], output: judgedObjects },
  'records with times': {
    content: objects.replaceAll('{', '{"t":1741608000,'),
    args: ['-q', '--robots-dir', 'dated', '--time-field', 't', 'FILE'],
    output: judgedObjects.replaceAll('{', '{"t":1741608000,'),
  },
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
  'a history of records': {
    content: records.replaceAll('{', '{"fetched":"2024-01-15",'),
    args: COMPILE_HISTORY,
    output: '',
  },
  'a WARC file': { content: Buffer.concat(captures), args: COMPILE_HISTORY, output: '' },
  'a WARC file of gzip members': {
    content: Buffer.concat(captures.map((each) => gzipSync(each, { level: 0 }))),
    args: COMPILE_HISTORY,
    output: '',
  },
  'URLs to fetch of': { content: urls, args: [...FETCH, 'FILE'], output: '' },
};

/** Names of files, where the name tells what is in them: by a part of the way's name. */
const NAMES = {
  'compressed cache': 'f.ndjson.gz',
  cache: 'f.ndjson',
  history: 'f.ndjson',
  'gzip members': 'f.warc.gz',
  WARC: 'f.warc',
};

/**
 * Runs the program. The file is truncated when a thread that has read `read` bytes of it is about
 * to read more.
 */
async function runTruncated(
  place: Workplace,
  { args, isPiped = false }: Way,
  name: string,
  moment: { readonly read: number | 'open'; readonly left: number; readonly appended?: string },
): Promise<Ended> {
  const named = args.map((argument) => (argument === 'FILE' ? name : argument));
  const environment = {
    TRUNCATED: join(place.path, name),
    READ: String(moment.read),
    LEFT: String(moment.left),
    APPENDED: moment.appended ?? '',
    RUN: String(++runs),
  };
  if (!isPiped) return place.run(named, '', { preload: TRUNCATE_AT_READ, environment });
  const input = openSync(join(place.path, name), 'r');
  const child = spawn(process.execPath, [MAIN, ...named], {
    cwd: place.path,
    stdio: [args.includes('FILE') ? 'ignore' : input, 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: `--require ${TRUNCATE_AT_READ}`, ...environment },
  });
  closeSync(input);
  return ended(child);
}

function expectRefused(place: Workplace, way: Way, name: string, size: number, end: Ended): void {
  const { code, text, stderr } = end;
  expect(way.output.startsWith(text), stderr).toBe(true);
  expect(text === '' || text.endsWith('\n')).toBe(true);
  expect(place.names().filter((other) => other.endsWith('.tmp'))).toEqual([]);
  expect({ code, out: place.read('out.txt') }).toEqual({ code: 2, out: OLD });
  const input = way.args.includes('FILE') ? name : 'standard input';
  expect(stderr.startsWith(`robots-filter: ${input}: `), stderr).toBe(true);
  expect(stderr).toContain(`the file had ${size} bytes at first and was truncated`);
}

describe('a file that is truncated while it is read', () => {
  test.each(Object.keys(WAYS))('is an error: %s', async (key) => {
    const way = WAYS[key] as Way;
    const place = workplace();
    const name = Object.entries(NAMES).find(([part]) => key.includes(part))?.[1] ?? 'f';
    const size = Buffer.byteLength(way.content);
    place.write('dated/2024-01-01/example.com', EXAMPLE_COM);
    // To a size within a line that is not yet read, and to zero.
    for (const [read, left] of [
      [0.1, 0.5],
      [0.6, 0],
    ] as const) {
      place.write(name, way.content);
      place.write('out.txt', OLD);
      const end = await runTruncated(place, way, name, {
        read: Math.floor(size * read),
        left: Math.floor(size * left) + (left === 0 ? 0 : 7),
      });
      expectRefused(place, way, name, size, end);
    }
  });

  test('is an error even if the file grows again, as after copytruncate of a log', async () => {
    const way = WAYS['text, to a pipe'] as Way;
    const place = workplace();
    const size = Buffer.byteLength(way.content);
    place.write('f', way.content);
    place.write('out.txt', OLD);
    const appended = urls.slice(0, 100_000);
    const end = await runTruncated(place, way, 'f', { read: size / 3, left: 0, appended });
    expectRefused(place, way, 'f', size, end);
  });
});

test('a WARC file that is truncated between its two readings is an error', async ({ place }) => {
  const page = 'https://pages.example/1';
  const moved = responseOf(302, '', { Location: page });
  const pages = captureOf(page, responseOf(200, robotsOf('/')));
  // The page comes before the redirect that leads to it.
  place.write('archive/b.warc', captureOf('https://a.example/robots.txt', moved));
  place.write('out.txt', OLD);
  const content = Buffer.concat([pages, dated('b.example', '/')]);
  const size = content.length;
  for (const history of [['--history'], []]) {
    place.write('archive/a.warc', content);
    const args = ['compile', ...history, '--robots-dir', 'archive', '-o', 'out.txt'];
    const moment = { read: size, left: 0 };
    const way = { content, args, output: '' };
    const { code, stderr } = await runTruncated(place, way, 'archive/a.warc', moment);
    expect({ code, out: place.read('out.txt') }, stderr).toEqual({ code: 2, out: OLD });
    expect(stderr).toContain(
      `archive/a.warc: reading failed: the file had ${size} bytes at first and was truncated`,
    );
  }
});

describe('a file that is truncated before or after it is read', () => {
  const way: Way = { content: objects, args: [...FILTER, 'FILE'], output: judgedObjects };

  test('before it is opened: the rest is the input', async ({ place }) => {
    place.write('f', way.content);
    const left = lines(100, (index) => `${object(index)}\n`).length;
    const { code, text, stderr } = await runTruncated(place, way, 'f', { read: 'open', left });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(text.split('\n')).toHaveLength(101);
    expect(way.output.startsWith(text)).toBe(true);
    expect(statSync(join(place.path, 'f')).size).toBe(left);
  });

  test('after its last byte was read: the whole file was the input', async ({ place }) => {
    place.write('f', way.content);
    const read = Buffer.byteLength(way.content);
    const { code, text, stderr } = await runTruncated(place, way, 'f', { read, left: 0 });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(`${text}${judgedObject(OBJECTS)}` === way.output).toBe(true);
    expect(statSync(join(place.path, 'f')).size).toBe(0);
  });
});

test('a file that is truncated between the two readings of --fetch is an error', async ({
  place,
}) => {
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
  expect(stderr).toContain(`f: was truncated from ${url.length * 1000} to 10`);
});

describe.skipIf(process.platform !== 'linux')('a file generated by the system', () => {
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
