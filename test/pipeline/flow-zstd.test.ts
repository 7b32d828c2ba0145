import { truncateSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { encodeZstd, prepareZstdEncoder } from '../../src/files/zstd/encoder.js';
import { type OpenInput, openInput } from '../../src/pipeline/input/open.js';
import { frameOf, rawBlock, rawFrame, repeatBlock, skippable } from '../files/zstd-frames.js';
import { fakeJudge } from '../workers/fake-judge.js';
import { closePools, fakeFlow, Sink, TemporaryFiles } from './flow-harness.js';

const files = new TemporaryFiles();

afterAll(async () => {
  await closePools();
  files.remove();
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
    const blocks = Array.from({ length: 2_000 }, () => line).flat();
    const { end, output, read } = await filteredAlike(
      frameOf([...blocks, rawBlock(Buffer.of(), true)]),
    );
    expect(end).toBe('done');
    expect(output.length).toBe(2_000 * 10_003);
    expect(read).toBe(2_000 * 10_000);
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
