import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { PassThrough, Readable, Writable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../src/base/errors.js';
import { Arena, createMemory } from '../../src/kernel/kernel.js';
import { Run } from '../../src/pipeline/run.js';
import { Pool } from '../../src/workers/pool.js';
import { cases } from '../random/cases.js';
import {
  closePools,
  fakeFlow,
  fakeJointPool,
  fakePool,
  Sink,
  TemporaryFiles,
  throughFiles,
  throughPipe,
  throughStreams,
} from './flow-harness.js';

const files = new TemporaryFiles();
const NO_HEAD = new Uint8Array(0);

afterAll(async () => {
  await closePools();
  files.remove();
});

/** The reason of a rejected promise, which must be an error of this package. */
async function failureOf(run: Promise<unknown>): Promise<RobotsFilterError> {
  const error: unknown = await run.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(RobotsFilterError);
  return error as RobotsFilterError; // as just asserted
}

/** Endless lines. */
class Endless extends Readable {
  count = 0;

  override _read(): void {
    let chunk = '';
    for (let i = 0; i < 500; i++) chunk += `line ${this.count++}\n`;
    this.push(chunk);
  }
}

/** Asserts that a text is a prefix of the output of `Endless`, and ends with a whole line. */
function expectPrefix(text: string): void {
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  lines.forEach((line, index) => {
    if (line !== `ok line ${index}`) expect(line).toBe(`ok line ${index}`);
  });
}

describe('a closed output', () => {
  it('ends a run whose input is silent, by waking the thread that reads', async () => {
    const { flow } = fakeFlow();
    const from = await files.pipe();
    const to = await files.pipe();
    const run = flow.filter(
      { kind: 'pipe', name: 'input', descriptor: from.reader.fd, head: NO_HEAD },
      to.writer.fd,
    );
    await from.writer.write('first\n');
    const { buffer, bytesRead } = await to.reader.read();
    expect(buffer.toString('latin1', 0, bytesRead)).toBe('ok first\n');
    await to.reader.close();
    await from.writer.write('second\n');
    expect(await run).toBe('closed');
    await Promise.all([from.reader.close(), from.writer.close(), to.writer.close()]);
  });

  it('ends a run in the middle of a file', async () => {
    const { flow } = fakeFlow({ batchBytes: 4096 });
    const descriptor = openSync(files.file('line\n'.repeat(1_000_000)), 'r');
    const to = await files.pipe();
    const run = flow.filter({ kind: 'file', name: 'input', descriptor, offset: 0 }, to.writer.fd);
    await to.reader.read();
    await to.reader.close();
    expect(await run).toBe('closed');
    closeSync(descriptor);
    await to.writer.close();
    expect(flow.progress().bytes).toBeLessThan(5_000_000);
  });

  it('ends a run over a stream, and destroys the stream', async () => {
    const { flow } = fakeFlow({ batchBytes: 4096 });
    const stream = new Endless();
    const output = new PassThrough();
    const run = flow.filter({ kind: 'stream', name: 'input', stream }, output);
    output.once('data', () => output.destroy());
    expect(await run).toBe('closed');
    expect(stream.destroyed).toBe(true);
  });

  it('ends a run at once if it was closed before the start', async () => {
    const { flow } = fakeFlow();
    const output = new PassThrough();
    output.destroy();
    const stream = new Endless();
    expect(await flow.filter({ kind: 'stream', name: 'input', stream }, output)).toBe('closed');
  });
});

describe('cancelling', () => {
  const MANY_LINES = Array.from({ length: 500_000 }, (_, index) => `line ${index}\n`).join('');

  it.each([0, 3])(
    'ends a run over an endless stream after whole records in order (%i threads)',
    async (threads) => {
      const { flow } = fakeFlow({ batchBytes: 1024, threads, jitter: true });
      const sink = new Sink();
      const stream = new Endless();
      const run = flow.filter({ kind: 'stream', name: 'input', stream }, sink);
      while (sink.text.length < 100_000) await new Promise((resolve) => setTimeout(resolve, 5));
      flow.cancel();
      expect(await run).toBe('cancelled');
      expectPrefix(sink.text);
      expect(stream.destroyed).toBe(true);
      expect(await flow.filter({ kind: 'stream', name: 'next', stream: new Endless() }, sink)).toBe(
        'cancelled',
      );
    },
  );

  it.each([
    ['on the main thread', () => fakePool(0)],
    ['on 2 threads', () => fakePool(2)],
    ['on the main thread, as in a pool', () => fakeJointPool(1)],
    ['on 2 threads and the main one', () => fakeJointPool(3)],
  ])('ends a run over a file that workers write, %s', async (_, poolOf) => {
    const { flow } = fakeFlow({ batchBytes: 1024, pool: poolOf(), jitter: true });
    const descriptor = files.openInput(MANY_LINES);
    const path = files.path();
    const to = openSync(path, 'w');
    const run = flow.filter({ kind: 'file', name: 'input', descriptor, offset: 0 }, to);
    while (flow.progress().records < 1000) await new Promise((resolve) => setTimeout(resolve, 1));
    flow.cancel();
    expect(await run).toBe('cancelled');
    closeSync(descriptor);
    closeSync(to);
    const text = readFileSync(path, 'latin1');
    expectPrefix(text);
    expect(text.length).toBeGreaterThan(0);
    expect(text.length).toBeLessThan(500_000 * 8);
  });

  it.each([
    ['stream', 2],
    ['file', 2],
    ['file', 4],
  ])('ends a run whose input is silent, to a %s with %i threads', async (to, threads) => {
    const { flow } = fakeFlow({ threads });
    const { reader, writer } = await files.pipe();
    const descriptor = openSync(files.path(), 'w');
    const run = flow.filter(
      { kind: 'pipe', name: 'input', descriptor: reader.fd, head: NO_HEAD },
      to === 'file' ? descriptor : new Sink(),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    flow.cancel();
    expect(await run).toBe('cancelled');
    await Promise.all([reader.close(), writer.close()]);
    closeSync(descriptor);
  });

  it('ends a run over a silent stream', async () => {
    const stream = new PassThrough();
    const { flow } = fakeFlow();
    const run = flow.filter({ kind: 'stream', name: 'input', stream }, new Sink());
    flow.cancel();
    expect(await run).toBe('cancelled');
  });

  it.each([0, 2])('ends a run whose output nobody reads (%i threads)', async (threads) => {
    const to = await files.pipe();
    const stuck = new Writable({ highWaterMark: 1, write: () => {} });
    // Each waits a second for the output. So they wait at the same time.
    const runs = [to.writer.fd, stuck].map(async (output) => {
      const { flow } = fakeFlow({ batchBytes: 4096, slots: 3, threads });
      const stream = new Endless();
      const run = flow.filter({ kind: 'stream', name: 'input', stream }, output);
      await new Promise((resolve) => setTimeout(resolve, 50));
      flow.cancel();
      expect(await run).toBe('cancelled');
    });
    await Promise.all(runs);
    await Promise.all([to.reader.close(), to.writer.close()]);
  });

  it('ends a run at any place: forty times, further on each time', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join('');
    const ends = new Set<string>();
    for (let round = 0; round < cases(20); round++) {
      const settings = { batchBytes: 512, threads: 1 + (round % 4), slots: 4 };
      const { flow, close } = fakeFlow(settings);
      const { reader, writer } = await files.pipe();
      const sink = new Sink();
      const path = round % 2 === 0 ? undefined : files.path();
      const to = path === undefined ? undefined : openSync(path, 'w');
      const run = flow.filter(
        { kind: 'pipe', name: 'input', descriptor: reader.fd, head: NO_HEAD },
        to ?? sink,
      );
      // A pipe may be torn down while it is written to.
      const written = writer.write(lines).catch(() => {});
      while (flow.progress().records < round * 125) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      flow.cancel();
      ends.add(await run);
      expectPrefix(path === undefined ? sink.text : readFileSync(path, 'latin1'));
      if (to !== undefined) closeSync(to);
      await reader.close();
      await written;
      await writer.close();
      await close();
    }
    expect([...ends]).toEqual(['cancelled']);
  });
});

describe('a thread that fails', () => {
  for (const [line, what] of [
    ['THROW', 'throws'],
    ['EXIT', 'dies'],
  ] as const) {
    it(`because it ${what} ends the run with an error, from and to files and streams`, async () => {
      const pool = new Pool({ threads: 2, reader: true, kernel: fakePool(1).kernel ?? '' });
      const input = `${'good\n'.repeat(5000)}${line}\n${'good\n'.repeat(50_000)}`;
      const ways = [
        (flow: Run) => throughFiles(flow, files, input),
        (flow: Run) => throughStreams(flow, [input]),
      ];
      for (const way of ways) {
        const { flow } = fakeFlow({ pool, batchBytes: 1024 });
        const error = await failureOf(way(flow));
        expect(error.code).toBe('worker');
        expect(error.message).toContain(line === 'THROW' ? 'thrown on purpose' : 'code: 7');
        expect(error.cause).toBeInstanceOf(Error);
      }
      // Another thread takes the place of the failed thread.
      const { flow } = fakeFlow({ pool });
      expect(await throughFiles(flow, files, 'a\n')).toBe('ok a\n');
      await pool.close();
    });
  }
});

describe('an output that cannot be written', () => {
  it.skipIf(!existsSync('/dev/full'))('ends the run with an error that names it', async () => {
    const input = 'line\n'.repeat(100_000);
    const from = openSync(files.file(input), 'r');
    const to = openSync('/dev/full', 'w');
    const runs = [
      (flow: Run) =>
        flow.filter({ kind: 'file', name: 'in', descriptor: from, offset: 0 }, to, 'out'),
      (flow: Run) =>
        flow.filter({ kind: 'stream', name: 'in', stream: Readable.from([input]) }, to, 'out'),
    ];
    for (const run of runs) {
      const error = await failureOf(run(fakeFlow({ batchBytes: 4096 }).flow));
      expect(error.code).toBe('output');
      expect(error.message).toContain('out: no space left on the device');
    }
    closeSync(from);
    closeSync(to);
  });

  it('because its stream fails ends the run with the error of the stream', async () => {
    const { flow } = fakeFlow({ batchBytes: 4096 });
    let bytes = 0;
    const output = new Writable({
      write: (chunk, _encoding, callback) => {
        bytes += chunk.length;
        callback(bytes > 20_000 ? new Error('the disk is gone') : null);
      },
    });
    const stream = new Endless();
    const error = await failureOf(
      flow.filter({ kind: 'stream', name: 'in', stream }, output, 'out'),
    );
    expect(error.code).toBe('output');
    expect(error.message).toContain('the disk is gone');
    expect(stream.destroyed).toBe(true);
  });

  it('because its descriptor is closed ends the run with an error', async () => {
    const descriptor = openSync(files.file('a\n'), 'r');
    const { flow } = fakeFlow();
    const run = flow.filter({ kind: 'file', name: 'in', descriptor, offset: 0 }, 999_999, 'out');
    expect((await failureOf(run)).code).toBe('output');
    closeSync(descriptor);
    expect(await throughFiles(flow, files, 'a\n')).toBe('ok a\n');
  });
});

describe('an input that cannot be read', () => {
  it('because its stream fails ends the run after the whole lines before the failure', async () => {
    const { flow } = fakeFlow({ batchBytes: 64 });
    const failure = new RobotsFilterError('input', 'in: damaged');
    async function* damaged(): AsyncGenerator<string> {
      for (let i = 0; i < 100; i++) yield `line ${i}\n`;
      yield 'torn';
      throw failure;
    }
    const sink = new Sink();
    const stream = Readable.from(damaged());
    expect(await failureOf(flow.filter({ kind: 'stream', name: 'in', stream }, sink))).toBe(
      failure,
    );
    expect(sink.text.split('\n')).toHaveLength(101);
    expectPrefix(sink.text);
  });

  it('because its descriptor is a directory or closed ends the run with an error', async () => {
    const directory = openSync(files.directory, 'r');
    for (const descriptor of [directory, 999_999]) {
      const to = openSync(files.path(), 'w');
      const { flow } = fakeFlow();
      const error = await failureOf(
        flow.filter({ kind: 'file', name: 'in', descriptor, offset: 0 }, to),
      );
      expect(error.code).toBe('input');
      expect(error.message).toContain('in: reading failed at byte 0');
      closeSync(to);
    }
    closeSync(directory);
  });

  it('because it yields objects instead of bytes ends the run with an error', async () => {
    const { flow } = fakeFlow();
    const stream = Readable.from([{ url: 'https://example.com/' }]);
    const error = await failureOf(flow.filter({ kind: 'stream', name: 'in', stream }, new Sink()));
    expect(error.code).toBe('input');
  });
});

describe('a strict run', () => {
  it('ends before the first bad record and names its line, from and to files and streams', async () => {
    const input = `${'good\n'.repeat(1234)}!bad\n${'good\n'.repeat(1000)}!bad\n`;
    const ways: [number, (flow: Run) => Promise<unknown>][] = [
      [3, (flow) => throughFiles(flow, files, input)],
      [3, (flow) => throughPipe(flow, files, [input])],
      [3, (flow) => throughStreams(flow, [input])],
      [0, (flow) => throughFiles(flow, files, input)],
      [0, (flow) => throughStreams(flow, [input])],
    ];
    for (const [threads, way] of ways) {
      const { flow, bad } = fakeFlow({ strict: true, batchBytes: 256, threads, jitter: true });
      const error = await failureOf(way(flow));
      expect(error.code).toBe('input');
      expect(error.message).toContain('input, line 1235: not a JSON object');
      expect(bad).toEqual([]);
    }
    const { flow } = fakeFlow({ strict: true, batchBytes: 256, threads: 3 });
    const sink = new Sink();
    const stream = Readable.from([input]);
    await failureOf(flow.filter({ kind: 'stream', name: 'input', stream }, sink));
    expect(sink.text).toBe('ok good\n'.repeat(1234));
  });
});

describe('memory', () => {
  it('that is too small for the line limit is an error that says what to lower', () => {
    const arena = new Arena(createMemory(65_536));
    const query = {
      address: 1024,
      lineFactor: 1,
      lineOverhead: 100,
      workerBytes: 1024,
      maxLineBytes: 1 << 30,
      outcomes: 1,
    };
    const create = (): Run =>
      new Run({ pool: fakePool(1), arena, module: new WebAssembly.Module(EMPTY_MODULE), query });
    expect(create).toThrow(/--max-line-bytes/);
    expect(create).toThrow(RobotsFilterError);
  });

  it('is returned when a flow closes, and the next flow counts from zero', async () => {
    const arena = new Arena(createMemory(65_536));
    const { address } = arena.take(1024);
    const query = {
      address,
      lineFactor: 1,
      lineOverhead: 1200,
      workerBytes: 32_768,
      maxLineBytes: 100,
      outcomes: 1,
    };
    new DataView(arena.memory.buffer).setUint32(address + 20, 100, true);
    let bytes: number | undefined;
    for (let round = 0; round < 3; round++) {
      const flow = new Run({
        pool: fakePool(2),
        arena,
        module: new WebAssembly.Module(EMPTY_MODULE),
        query,
      });
      expect(await throughFiles(flow, files, 'a\nb\n')).toContain('ok a\n');
      expect(flow.tally().records).toBe(2);
      await flow.close();
      await flow.close();
      bytes ??= arena.memory.buffer.byteLength;
      expect(arena.memory.buffer.byteLength).toBe(bytes);
    }
  });
});

const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
