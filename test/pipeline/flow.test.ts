import { closeSync, openSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { encodeZstd, prepareZstdEncoder } from '../../src/files/zstd/encoder.js';
import { type OpenInput, openInput } from '../../src/pipeline/input/open.js';
import { frameOf, rawBlock, rawFrame, repeatBlock, skippable } from '../files/zstd-frames.js';
import { cases, every } from '../random/cases.js';
import { Random } from '../random/random.js';
import { fakeJudge } from '../workers/fake-judge.js';
import {
  closePools,
  fakeFlow,
  fakeJointPool,
  fakePool,
  Sink,
  TemporaryFiles,
  throughFiles,
  throughFileToStream,
  throughPipe,
  throughStreams,
} from './flow-harness.js';

const files = new TemporaryFiles();

afterAll(async () => {
  await closePools();
  files.remove();
});

/** Lines of all kinds, with lengths around a small batch. */
const SAMPLE = [
  'a',
  '',
  '!one',
  'x'.repeat(29),
  '+more',
  '\r',
  'with return\r',
  '!two\r',
  'y'.repeat(30),
  `!${'w'.repeat(80)}`,
  'v'.repeat(31),
  'u'.repeat(32),
  '',
  't'.repeat(40),
  'last',
].join('\n');
const SMALL_BATCH = 32;
const SMALL_LIMIT = 70;
/**
 * Numbers of threads, and the split places for each: they share the places, so that there is a
 * split at every byte.
 */
const THREADS = [
  { threads: 0, first: 0, step: every(2) },
  { threads: 1, first: 1, step: every(8) },
  { threads: 2, first: 3, step: every(4) },
  { threads: 3, first: 5, step: every(8) },
] as const;
const SMALL = { batchBytes: SMALL_BATCH, slots: 3, maxLineBytes: SMALL_LIMIT };

describe('an input that arrives in two parts, split at every byte', () => {
  const expected = fakeJudge(SAMPLE, SMALL_LIMIT);
  it('holds all kinds of records', () => {
    expect(expected.bad.map(({ reason }) => reason)).toEqual([
      'no-object',
      'no-object',
      'line-too-long',
    ]);
    expect(expected.output).toContain('....');
  });

  for (const { threads, first, step } of THREADS) {
    it(`gives the same output as a stream, with ${threads} threads`, async () => {
      for (let cut = first; cut <= SAMPLE.length; cut += step) {
        const { flow, bad, close } = fakeFlow({ threads, ...SMALL });
        const parts = [SAMPLE.slice(0, cut), SAMPLE.slice(cut)].filter((part) => part !== '');
        expect(await throughStreams(flow, parts), `cut at ${cut}`).toBe(expected.output);
        expect(bad.map(({ line, reason }) => ({ line, reason }))).toEqual(expected.bad);
        expect(flow.tally().records).toBe(expected.records);
        await close();
      }
    });

    it.skipIf(threads === 0)(
      `gives the same output as a pipe, with ${threads} threads`,
      async () => {
        let to: 'stream' | 'file' = 'file';
        for (let cut = first; cut <= SAMPLE.length; cut += step) {
          to = to === 'file' ? 'stream' : 'file';
          const { flow, bad, close } = fakeFlow({ threads, ...SMALL });
          const parts = [SAMPLE.slice(0, cut), SAMPLE.slice(cut)];
          const output = await throughPipe(flow, files, parts, to);
          expect(output, `cut at ${cut}, to a ${to}`).toBe(expected.output);
          expect(bad.map(({ line, reason }) => ({ line, reason }))).toEqual(expected.bad);
          await close();
        }
      },
    );

    it.each([
      [`${threads} threads`, 0, () => fakePool(threads)],
      [`${threads} threads and the main one`, step, () => fakeJointPool(threads + 1)],
    ])('is the same as a file in batches of every size, with %s', async (_, from, poolOf) => {
      const pool = poolOf();
      // The two kinds of pools share the sizes.
      for (let size = 1 + first + from; size <= SAMPLE.length + 1; size += 2 * step) {
        const { flow, bad, close } = fakeFlow({
          pool,
          batchBytes: size,
          maxLineBytes: SMALL_LIMIT,
        });
        const output = await throughFiles(flow, files, SAMPLE);
        expect(output, `batches of ${size}`).toBe(expected.output);
        expect(bad.map(({ line, reason }) => ({ line, reason }))).toEqual(expected.bad);
        await close();
      }
    });
  }

  it('gives the same output if it arrives byte by byte', async () => {
    const { flow } = fakeFlow({ batchBytes: SMALL_BATCH, slots: 2, maxLineBytes: SMALL_LIMIT });
    expect(await throughStreams(flow, [...SAMPLE])).toBe(expected.output);
    expect(await throughPipe(flow, files, [...SAMPLE])).toBe(expected.output);
    expect(await throughPipe(flow, files, [...SAMPLE], 'file')).toBe(expected.output);
  });
});

describe('random inputs', () => {
  it('give the same output whatever the batches, slots, threads, sources and sinks', async () => {
    const random = new Random(9309);
    let long = 0;
    let overlong = 0;
    let onMainThread = 0;
    let jointly = 0;
    for (let round = 0; round < cases(12); round++) {
      const batchBytes = random.pick([16, 64, 1024, 1500, 4096]);
      const maxLineBytes = random.pick([10, 1000, 2000, 5000]);
      const lines: string[] = [];
      for (let count = random.between(0, 60); count > 0; count--) {
        const length = random.chance(0.2) ? random.between(900, 8000) : random.between(0, 80);
        if (length > batchBytes) long++;
        if (length > maxLineBytes) overlong++;
        lines.push(random.pick(['', '!', '+', 'line ']) + 'q'.repeat(length));
      }
      const input = lines.join(random.pick(['\n', '\r\n'])) + random.pick(['', '\n']);
      const expected = fakeJudge(input, maxLineBytes);
      const settings = {
        threads: random.between(0, 4),
        batchBytes,
        slots: random.between(2, 6),
        maxLineBytes,
        jitter: random.chance(0.3),
      };
      const cuts = [random.between(0, input.length), random.between(0, input.length)].sort(
        (a, b) => a - b,
      );
      const parts = [input.slice(0, cuts[0]), input.slice(cuts[0], cuts[1]), input.slice(cuts[1])];
      const where = `round ${round}: ${JSON.stringify(settings)}`;
      if (settings.threads === 0) onMainThread++;
      const joint = settings.threads > 0 && random.chance(0.5);
      const pool = joint ? fakeJointPool(settings.threads) : fakePool(settings.threads);
      if (joint) jointly++;
      const { flow, bad, close } = fakeFlow({ ...settings, pool });
      expect(await throughFiles(flow, files, input), where).toBe(expected.output);
      if (settings.threads > 0) {
        const to = random.pick(['stream', 'file'] as const);
        expect(await throughPipe(flow, files, parts, to), where).toBe(expected.output);
      } else {
        expect(await throughFileToStream(flow, files, input), where).toBe(expected.output);
      }
      expect(await throughStreams(flow, parts), where).toBe(expected.output);
      expect(flow.tally().records).toBe(3 * expected.records);
      const listed = [...expected.bad, ...expected.bad, ...expected.bad].slice(0, 10);
      expect(bad.map(({ line, reason }) => ({ line, reason }))).toEqual(listed);
      await close();
    }
    expect(long).toBeGreaterThan(25);
    expect(overlong).toBeGreaterThan(25);
    expect(onMainThread).toBeGreaterThan(1);
    expect(jointly).toBeGreaterThan(2);
  });
});

describe('the limit of a line', () => {
  const BATCH = 4096;
  for (const maxLineBytes of [100, BATCH - 2, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH]) {
    it(`of ${maxLineBytes} bytes holds exactly, in batches of ${BATCH}`, async () => {
      const { flow } = fakeFlow({ batchBytes: BATCH, maxLineBytes, slots: 3 });
      for (const difference of [-2, -1, 0, 1, 2, 1000, 3 * BATCH]) {
        const line = 'k'.repeat(maxLineBytes + difference);
        for (const end of ['', '\n', '\r\n', '\nnext\n', '\r\nnext']) {
          const input = `first\n${line}${end}`;
          const { output } = fakeJudge(input, maxLineBytes);
          const where = `${line.length} bytes, then ${JSON.stringify(end)}`;
          expect(await throughFiles(flow, files, input), where).toBe(output);
          expect(await throughStreams(flow, [input]), where).toBe(output);
        }
      }
    });
  }

  it('allows consecutive lines much longer than a batch', async () => {
    const { flow } = fakeFlow({ batchBytes: 1024, maxLineBytes: 1 << 20, threads: 3, slots: 4 });
    const lines = Array.from({ length: 20 }, (_, index) => `${index}:`.repeat(20_000));
    const input = lines.join('\nshort\n');
    const { output } = fakeJudge(input, 1 << 20);
    expect(await throughFiles(flow, files, input)).toBe(output);
    for (const to of ['stream', 'file'] as const) {
      const parts = [input.slice(0, 5), input.slice(5)];
      expect(await throughPipe(flow, files, parts, to)).toBe(output);
    }
    expect(await throughStreams(flow, [input])).toBe(output);
  });

  it('allows lines about as long as a usual batch', async () => {
    const BATCH = 1 << 21;
    const LONGEST = 1.5 * BATCH;
    const lengths = [5, 0.6 * BATCH, 7, BATCH - 2, BATCH - 1, BATCH, 3, LONGEST, LONGEST + 1, 9];
    const lines = lengths.map((length, index) => String(index).padEnd(length, 'x'));
    const input = `${lines.join('\n')}\n`;
    const settings = { maxLineBytes: LONGEST, threads: 2 };
    const { output, bad } = fakeJudge(input, settings.maxLineBytes);
    expect(bad).toHaveLength(1);
    const pieces = Array.from({ length: Math.ceil(input.length / 50_000) }, (_, index) =>
      input.slice(50_000 * index, 50_000 * (index + 1)),
    );
    for (const through of [throughFiles, throughFileToStream]) {
      expect((await through(fakeFlow(settings).flow, files, input)) === output).toBe(true);
    }
    for (const to of ['file', 'stream'] as const) {
      expect((await throughPipe(fakeFlow(settings).flow, files, pieces, to)) === output).toBe(true);
    }
    expect((await throughStreams(fakeFlow(settings).flow, pieces)) === output).toBe(true);
  });

  it('skips an endless line without holding it in memory', async () => {
    const { flow, bad } = fakeFlow({ batchBytes: 1024, maxLineBytes: 5000, slots: 2 });
    function* endless(): Generator<Buffer> {
      yield Buffer.from('before\n');
      for (let i = 0; i < 1000; i++) yield Buffer.alloc(10_000, 'e');
      yield Buffer.from('\nafter\n');
    }
    const sink = new Sink();
    const stream = Readable.from(endless());
    expect(await flow.filter({ kind: 'stream', name: 'endless', stream }, sink)).toBe('done');
    expect(sink.text).toBe(`ok before\nbad long 2 ${'e'.repeat(1024)}\nok after\n`);
    expect(bad).toEqual([{ input: 'endless', line: 2, reason: 'line-too-long' }]);
  });
});

describe('every record once and in order,', () => {
  const LINES = 10_000;
  const input = Array.from({ length: LINES }, (_, index) => String(index)).join('\n');
  const output = `${input.replace(/^/gm, 'ok ')}\n`;

  for (const threads of [1, 2, 4]) {
    it(`among ${LINES} lines, with ${threads} threads of different speed`, async () => {
      const { flow } = fakeFlow({ threads, batchBytes: 4096, slots: threads + 2, jitter: true });
      expect((await throughFiles(flow, files, input)) === output).toBe(true);
      const joint = fakeFlow({ pool: fakeJointPool(threads), batchBytes: 4096, jitter: true });
      expect((await throughFiles(joint.flow, files, input)) === output).toBe(true);
      expect(joint.flow.tally().records).toBe(LINES);
      expect((await throughPipe(flow, files, ['', input])) === output).toBe(true);
      expect((await throughPipe(flow, files, ['', input], 'file')) === output).toBe(true);
      expect((await throughStreams(flow, [input])) === output).toBe(true);
      expect(flow.tally().records).toBe(4 * LINES);
      expect(flow.progress()).toEqual({ bytes: 4 * input.length, records: 4 * LINES });
    });
  }

  it('from a file to a stream, and from a pipe to a pipe', async () => {
    const { flow } = fakeFlow({ threads: 2, jitter: true });
    expect((await throughFileToStream(flow, files, input)) === output).toBe(true);

    const from = await files.pipe();
    const to = await files.pipe();
    const run = flow.filter(
      { kind: 'pipe', name: 'input', descriptor: from.reader.fd, head: new Uint8Array(0) },
      to.writer.fd,
    );
    const [text] = await Promise.all([
      to.reader.readFile('latin1'),
      from.writer.writeFile(input).then(() => from.writer.close()),
      run.then(() => to.writer.close()),
    ]);
    await Promise.all([from.reader.close(), to.reader.close()]);
    expect(text === output).toBe(true);
  });
});

describe('an input', () => {
  it('that is empty gives an empty output', async () => {
    const { flow } = fakeFlow();
    expect(await throughFiles(flow, files, '')).toBe('');
    expect(await throughPipe(flow, files, [''])).toBe('');
    expect(await throughStreams(flow, [])).toBe('');
  });

  it('that is a file is read from its offset', async () => {
    const { flow } = fakeFlow();
    const descriptor = openSync(files.file('\u00ef\u00bb\u00bffirst\n!second\n'), 'r');
    const path = files.path();
    const to = openSync(path, 'w');
    await flow.filter({ kind: 'file', name: 'input', descriptor, offset: 3 }, to);
    closeSync(descriptor);
    closeSync(to);
    expect(readFileSync(path, 'latin1')).toBe('ok first\nbad line 2 !second\n');
  });

  it('starts at line 1 again, and the first ten bad records of all inputs are reported', async () => {
    const { flow, bad } = fakeFlow({ batchBytes: 8 });
    for (let run = 0; run < 3; run++) await throughFiles(flow, files, 'a\n!b\n\n!c\n!d\n!e\n');
    const lines = [2, 4, 5, 6];
    expect(bad.map(({ line }) => line)).toEqual([...lines, ...lines, ...lines].slice(0, 10));
    expect(flow.tally().bad).toBe(12);
  });

  it.each(['pipe', 'stream'] as const)(
    'gets a verdict for each line without waiting for more input, as a %s',
    async (kind) => {
      const { flow } = fakeFlow();
      const { reader, writer } = await files.pipe();
      const stream = new PassThrough();
      const output = new PassThrough();
      const answers = output[Symbol.asyncIterator]();
      const run = flow.filter(
        kind === 'stream'
          ? { kind, name: 'input', stream }
          : { kind, name: 'input', descriptor: reader.fd, head: new Uint8Array(0) },
        output,
      );
      for (let i = 0; i < 200; i++) {
        if (kind === 'stream') stream.write(`line ${i}\n`);
        else await writer.write(`line ${i}\n`);
        const { value } = await answers.next();
        expect(String(value)).toBe(`ok line ${i}\n`);
      }
      stream.end();
      await writer.close();
      expect(await run).toBe('done');
      await reader.close();
    },
  );

  it('gets a verdict for each line without waiting for more input, if the workers read it', async () => {
    const { flow } = fakeFlow();
    const { reader, writer } = await files.pipe();
    const path = files.path();
    const to = openSync(path, 'w');
    const run = flow.filter(
      { kind: 'pipe', name: 'input', descriptor: reader.fd, head: new Uint8Array(0) },
      to,
    );
    let expected = '';
    for (let i = 0; i < 200; i++) {
      // Sometimes as many bytes as a full read takes, which suggests that more follows.
      const line = i % 20 === 0 ? 'f'.repeat((1 << 16) - 1) : `line ${i}`;
      await writer.write(`${line}\n`);
      expected += `ok ${line}\n`;
      while (statSync(path).size < expected.length) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await writer.close();
    expect(await run).toBe('done');
    await reader.close();
    closeSync(to);
    expect(readFileSync(path, 'latin1') === expected).toBe(true);
  });

  it('that is a stream is read only as far as the ring has room while nobody reads the output', async () => {
    const { flow } = fakeFlow({ batchBytes: 4096, slots: 4 });
    const chunk = Buffer.from(`${'b'.repeat(99)}\n`.repeat(10));
    let given = 0;
    const stream = new Readable({
      read() {
        if (given === 2000) this.push(null);
        else this.push(chunk);
        given++;
      },
    });
    const output = new PassThrough();
    const run = flow.filter({ kind: 'stream', name: 'input', stream }, output);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const read = given * chunk.length;
    expect(read).toBeGreaterThan(4096);
    expect(read).toBeLessThan(1 << 18);
    let bytes = 0;
    output.on('data', (data: Buffer) => {
      bytes += data.length;
    });
    expect(await run).toBe('done');
    expect(bytes).toBe(2000 * (chunk.length + 30));
  });
});

/** How a run of a file ended. */
interface Outcome {
  readonly end: string;
  readonly output: string;
  readonly consumed: number;
  readonly read: number;
}

/** Filters a file of text in zstd: on one thread the main thread decodes, otherwise a thread. */
async function filtered(
  path: string,
  threads: number,
  onOpen: (input: OpenInput) => void = () => {},
): Promise<Outcome> {
  const { flow, close } = fakeFlow({ threads, batchBytes: 4096, maxLineBytes: 20_000 });
  const sink = new Sink();
  try {
    const input = await openInput(path);
    if (input.kind !== 'stream') throw new Error(`a ${input.kind}`);
    onOpen(input);
    const end = await flow.filter(input, sink).catch((error: Error) => error.message);
    const consumed = input.consumed();
    await input.close();
    return { end, output: sink.text, consumed, read: flow.progress().bytes };
  } finally {
    await close();
  }
}

/** Writes data, and asserts that both ways filter it alike; returns how a thread filters it. */
async function filteredAlike(data: Uint8Array): Promise<Outcome> {
  const path = files.path();
  writeFileSync(path, data);
  const outcome = await filtered(path, 2);
  const { end, output } = await filtered(path, 0);
  expect({ end: outcome.end, output: outcome.output }).toEqual({ end, output });
  return outcome;
}

const LINES = Array.from({ length: 4000 }, (_, index) =>
  index % 500 === 7 ? `!${'x'.repeat(index * 10)}` : `line ${index}`,
).join('\n');

describe('a file in zstd that a thread decodes', () => {
  it('gives the lines of all frames, without a byte order mark', async () => {
    await prepareZstdEncoder();
    const middle = Math.round(LINES.length / 3);
    const data = Buffer.concat([
      skippable('first'),
      rawFrame('\ufeff'),
      encodeZstd(Buffer.from(LINES.slice(0, middle))),
      skippable('between', 7),
      rawFrame(''),
      encodeZstd(Buffer.from(LINES.slice(middle))),
    ]);
    const { end, output, consumed, read } = await filteredAlike(data);
    expect(end).toBe('done');
    expect(output).toBe(fakeJudge(LINES, 20_000).output);
    expect(consumed).toBe(data.length);
    expect(read).toBe(LINES.length);
  });

  it('ends at damage with the whole lines before it', async () => {
    await prepareZstdEncoder();
    const frames = [LINES, 'after\nthe first', '\nlast\n'].map((text) =>
      encodeZstd(Buffer.from(text)),
    );
    const data = Buffer.concat(frames);
    const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = frames;
    const ends = new Set<string>();
    const at = first.length + second.length;
    for (const length of [first.length + 1, at - 1, at + 3, data.length - 1]) {
      ends.add((await filteredAlike(data.subarray(0, length))).end);
    }
    for (const index of [first.length - 2, first.length, at + 7]) {
      const changed = Buffer.from(data);
      changed[index] = (changed[index] ?? 0) ^ 0x10;
      ends.add((await filteredAlike(changed)).end);
    }
    for (const end of ends) expect(end).toMatch(/ decompressed bytes came out before\. Fetch/);
    expect(ends.size).toBeGreaterThan(3);
    const wide = frameOf([rawBlock(Buffer.from('more\n'), true)], (17 << 3) | 1);
    const { end, output } = await filteredAlike(Buffer.concat([first, second, wide]));
    expect(end).toContain('not supported: a window of 150994944 bytes is needed');
    expect(output).toBe(fakeJudge(`${LINES}after`, 20_000).output);
  });

  it('is not held in memory, however well it is compressed', async () => {
    const line = [repeatBlock(0x61, 9_999), rawBlock(Buffer.from('\n'))];
    const blocks = Array.from({ length: 600 }, () => line).flat();
    const { end, output, read } = await filteredAlike(
      frameOf([...blocks, rawBlock(Buffer.of(), true)]),
    );
    expect(end).toBe('done');
    expect(output.length).toBe(600 * 10_003);
    expect(read).toBe(600 * 10_000);
  });

  it('may be cut short while it is read', async () => {
    const path = files.path();
    const data = Buffer.concat([rawFrame('a\nb'), rawFrame('c\n')]);
    writeFileSync(path, data);
    const { end, output } = await filtered(path, 2, () => truncateSync(path, 10));
    expect(end).toContain(`the file had ${data.length} bytes at first and was truncated`);
    expect(output).toBe('');
  });
});
