import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readFileSync, writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { RobotsFilterError } from '../../src/errors.js';
import { Filter } from '../../src/pipeline/filter.js';
import type { Tally } from '../../src/pipeline/tally.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { Table } from '../../src/table.js';
import { JointPool } from '../../src/workers/joint-pool.js';
import { Pool } from '../../src/workers/pool.js';
import { TemporaryFiles } from '../pipeline/flow-harness.js';
import { Random } from '../random.js';

const files = new TemporaryFiles();
/** The threads that there are: Node tells of each as it is made. */
const threads = new Set<Worker>();

function onWorker(worker: Worker): void {
  threads.add(worker);
  worker.once('exit', () => threads.delete(worker));
}

const COUNT = 100_000;
let lines: string;
let path: string;
let table: Table;
let pool: Pool;
let jointPool: JointPool;

beforeAll(() => {
  process.on('worker', onWorker);
  const builder = new TableBuilder({ profile: 'rfc9309' });
  const authority = parseAuthority('example.com');
  if (authority === undefined) throw new Error('it is an authority');
  const body = 'User-agent: *\nDisallow: /a*b*c\nDisallow: /private/\nDisallow: /*.gif$\n';
  builder.add(authority, Buffer.from(body), { source: 'example.com', status: undefined });
  table = Table.from(builder.build());
  const random = new Random(31);
  const paths = ['a', 'b', 'private/', '.gif', 'x'.repeat(30), '?q', '%41'];
  lines = '';
  for (let i = 0; i < COUNT; i++) {
    // Bad records need their line's number, and so wait for their turn.
    lines += random.chance(0.002)
      ? `no object ${i}\n`
      : `{"n":${i},"url":"https://example.com/${random.run(paths, 1, 6)}"}\n`;
  }
  path = files.path();
  writeFileSync(path, lines);
  pool = new Pool({ threads: 2 });
  jointPool = new JointPool({ threads: 3 });
});

afterAll(async () => {
  process.off('worker', onWorker);
  await pool.close();
  await jointPool.close();
  files.remove();
});

const WAYS = {
  'file to file': fileToFile,
  'file to file, the main thread judging, too': fileToFile,
  'file to stream': async (filter: Filter) => {
    const input = openSync(path, 'r');
    const { output, octets } = gather();
    const error = await failure(
      filter.run(
        { kind: 'file', name: 'in', format: 'ndjson', descriptor: input, offset: 0 },
        output,
      ),
    );
    closeSync(input);
    return { octets: octets(), error };
  },
  'pipe to stream': async (filter: Filter) => {
    const { output, octets } = gather();
    const error = await runFromPipe(filter, output);
    return { octets: octets(), error };
  },
  'pipe to file': async (filter: Filter) => {
    const to = files.path();
    const output = openSync(to, 'w');
    const error = await runFromPipe(filter, output);
    closeSync(output);
    return { octets: readFileSync(to), error };
  },
  'stream to stream': async (filter: Filter) => {
    const { output, octets } = gather();
    const stream = createReadStream(path);
    const error = await failure(
      filter.run({ kind: 'stream', name: 'in', format: 'ndjson', stream }, output),
    );
    return { octets: octets(), error };
  },
};

async function runFromPipe(filter: Filter, output: number | Writable): Promise<unknown> {
  const { reader, writer } = await files.pipe();
  // Without a thread that reads, the rest finds nobody.
  const written = writer
    .writeFile(lines)
    .catch(() => {})
    .finally(() => writer.close());
  const error = await failure(
    filter.run(
      {
        kind: 'pipe',
        name: 'in',
        format: 'ndjson',
        descriptor: reader.fd,
        head: Buffer.alloc(0),
      },
      output,
    ),
  );
  await reader.close();
  await written;
  return error;
}

type Way = keyof typeof WAYS;
const ALL_WAYS = Object.keys(WAYS) as Way[]; // the keys of a literal

async function fileToFile(filter: Filter): Promise<Outcome> {
  const to = files.path();
  const input = openSync(path, 'r');
  const output = openSync(to, 'w');
  const error = await failure(
    filter.run(
      { kind: 'file', name: 'in', format: 'ndjson', descriptor: input, offset: 0 },
      output,
    ),
  );
  closeSync(input);
  closeSync(output);
  return { octets: readFileSync(to), error };
}

function gather(): { output: Writable; octets: () => Buffer } {
  const chunks: Buffer[] = [];
  const output = new Writable({
    write: (chunk, _encoding, callback) => {
      chunks.push(chunk);
      callback();
    },
  });
  return { output, octets: () => Buffer.concat(chunks) };
}

async function failure(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => undefined,
    (error) => error,
  );
}

function newFilter(way: Way): Filter {
  return new Filter({
    table,
    pool: way === 'file to file, the main thread judging, too' ? jointPool : pool,
    settings: {
      agents: [parseAgent('*', 'rfc9309')],
      output: 'annotate',
      unknown: 'unknown',
      explain: false,
      strict: false,
      urlField: ['url'],
      verdictField: undefined,
      maxLineOctets: 1 << 20,
      countHosts: true,
    },
  });
}

const digest = (octets: Uint8Array): string => createHash('sha256').update(octets).digest('hex');

interface Outcome {
  readonly octets: Buffer;
  readonly error: unknown;
}

/** What comes of it when no thread is ended. */
interface Undisturbed {
  readonly octets: Buffer;
  readonly tally: Tally;
  readonly milliseconds: number;
}

async function undisturbed(way: Way): Promise<Undisturbed> {
  const filter = newFilter(way);
  const begin = performance.now();
  const { octets, error } = await WAYS[way](filter);
  const milliseconds = performance.now() - begin;
  expect(error).toBe(undefined);
  const tally = filter.tally();
  expect(tally.records).toBe(COUNT);
  expect(tally.bad).toBeGreaterThan(100);
  await filter.close();
  return { octets, tally, milliseconds };
}

/**
 * Runs a filter and has threads ended meanwhile. Asserts what always holds: either all is as if
 * none had been, or the run fails and what came out is what comes before. Says whether the former.
 */
async function recovers(
  way: Way,
  expected: Undisturbed,
  end: () => Promise<void>,
): Promise<boolean> {
  const filter = newFilter(way);
  const result = WAYS[way](filter);
  await end();
  const { octets, error } = await result;
  if (error === undefined) {
    expect(digest(octets)).toBe(digest(expected.octets));
    expect(filter.tally()).toEqual(expected.tally);
    expect(filter.hostsSeen()).toBe(1);
  } else {
    expect(error).toBeInstanceOf(RobotsFilterError);
    expect((error as RobotsFilterError).code).toBe('worker'); // as just asserted
    expect(octets.equals(expected.octets.subarray(0, octets.length))).toBe(true);
  }
  await filter.close();
  return error === undefined;
}

async function endAll(): Promise<void> {
  await Promise.all([...threads].map((thread) => thread.terminate()));
}

/**
 * Ends so many of the threads that are started from now on, each as it starts; until it is called
 * off.
 */
function endStarts(starts: number): () => void {
  let left = starts;
  const end = (worker: Worker): void => {
    if (left-- > 0) void worker.terminate();
  };
  process.on('worker', end);
  return () => process.off('worker', end);
}

describe.each(ALL_WAYS)('threads that are ended from without, %s', (way) => {
  let expected: Undisturbed;
  beforeAll(async () => {
    expected = await undisturbed(way);
  });

  it('at any moment, leave nothing out, twice or miscounted', async () => {
    const random = new Random(41);
    let recovered = 0;
    let ended = 0;
    for (let round = 0; round < 5; round++) {
      const whole = await recovers(way, expected, async () => {
        for (let deaths = random.between(1, 2); deaths > 0; deaths--) {
          await pause(random.number() * expected.milliseconds * 0.7);
          if (threads.size === 0) continue;
          await random.pick([...threads]).terminate();
          ended++;
        }
      });
      if (whole) recovered++;
    }
    expect(ended).toBeGreaterThan(4);
    // Without the thread that reads a pipe there is no going on.
    if (!way.startsWith('pipe')) expect(recovered).toBeGreaterThan(1);
  });

  it('all at once, leave nothing out, twice or miscounted', async () => {
    for (const part of [0, 0.2]) {
      await recovers(way, expected, async () => {
        await pause(part * expected.milliseconds);
        await endAll();
      });
    }
    // These hold nothing.
    await endAll();
    expect(threads.size).toBe(0);
    expect(await recovers(way, expected, async () => {})).toBe(true);
  });

  it('as they start, leave nobody waiting for them', async () => {
    // Two judge, beside the main thread or not; the third is the one that reads the pipe, or starts
    // in place of the first.
    for (const [starts, whole] of [
      [1, true],
      [2, true],
      [3, false],
      [Number.POSITIVE_INFINITY, false],
    ] as const) {
      await endAll();
      const callOff = endStarts(starts);
      expect(await recovers(way, expected, async () => {}), `${starts}`).toBe(whole);
      callOff();
    }
    let callOff = (): void => {};
    await recovers(way, expected, async () => {
      await pause(0.2 * expected.milliseconds);
      callOff = endStarts(Number.POSITIVE_INFINITY);
      await endAll();
    });
    callOff();
  });
});
