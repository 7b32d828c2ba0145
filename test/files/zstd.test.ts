import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { compressionOf, zstd } from '../../src/files/compression.js';
import { MAX_BLOCK_BYTES, ZstdError } from '../../src/files/zstd/frames.js';
import { openInput } from '../../src/pipeline/input/open.js';
import { every } from '../random/cases.js';
import {
  frameOf,
  REAL_CONTENT,
  REAL_FRAME,
  rawBlock,
  rawFrame,
  repeatBlock,
  skippable,
} from './zstd-frames.js';

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-zstd-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Decodes data that comes in chunks of `size` bytes. */
async function decoded(data: Buffer, size = data.length): Promise<string> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < data.length; at += size) chunks.push(data.subarray(at, at + size));
  const stream = await zstd.decompress(65_536);
  const parts: Buffer[] = [];
  await pipeline(Readable.from(chunks), stream, async (source) => {
    for await (const part of source) parts.push(part);
  });
  return Buffer.concat(parts).toString('latin1');
}

const EMPTY = rawFrame('');
const SIZES = [1, 2, 3, 7, 64, 1 << 20];

describe('zstd data', () => {
  it.each(SIZES)('is decoded in chunks of %i bytes: one frame, with its checksum', async (size) => {
    expect(await decoded(REAL_FRAME, size)).toBe(REAL_CONTENT);
  });

  it.each(SIZES)('is decoded in chunks of %i bytes: many frames', async (size) => {
    const data = Buffer.concat([
      skippable('seek table', 15),
      REAL_FRAME,
      skippable(''),
      EMPTY,
      rawFrame('raw\n'),
      frameOf([rawBlock(Buffer.from('a')), repeatBlock(0x62, 3), rawBlock(Buffer.from('c'), true)]),
      REAL_FRAME,
      skippable('end'),
    ]);
    expect(await decoded(data, size)).toBe(`${REAL_CONTENT}raw\nabbbc${REAL_CONTENT}`);
  });

  it('is recognised by the magic of frames and of skippable frames', () => {
    expect(compressionOf(REAL_FRAME)).toBe(zstd);
    for (let kind = 0; kind < 16; kind++) expect(compressionOf(skippable('x', kind))).toBe(zstd);
    expect(compressionOf(Buffer.from('P*M'))).toBeUndefined();
    expect(compressionOf(Buffer.from([0x60, 0x2a, 0x4d, 0x18]))).toBeUndefined();
  });

  it('may end only between frames', async () => {
    const data = Buffer.concat([skippable('abc'), REAL_FRAME]);
    const ends = [0, skippable('abc').length];
    for (let end = 1; end < data.length; end += end < 40 ? 1 : every(5)) {
      const result = decoded(data.subarray(0, end), 50);
      if (ends.includes(end)) expect(await result).toBe('');
      else await expect(result, `${end} bytes`).rejects.toThrow('the data ends within a frame');
    }
  });

  it('is an error wherever a bit of a frame with a checksum is changed', async () => {
    let refused = 0;
    for (let at = 0; at < REAL_FRAME.length; at += at < 20 ? 1 : every(5)) {
      const data = Buffer.from(REAL_FRAME);
      data[at] = (data[at] ?? 0) ^ 0x04;
      const outcome = await decoded(data).catch((error: unknown) => error);
      // Byte 5 is the window size, which may differ.
      if (at === 5) continue;
      if (outcome === REAL_CONTENT) throw new Error(`byte ${at} has no effect`);
      expect(outcome, `byte ${at}`).toSatisfy(zstd.isDamage);
      refused++;
    }
    expect(refused).toBeGreaterThan(REAL_FRAME.length / 6);
  });

  it.each([
    ['other bytes after a frame', Buffer.concat([EMPTY, Buffer.from('more')]), 'are no frame'],
    ['a reserved block', frameOf([Buffer.of(7, 0, 0)]), 'reserved type'],
    ['a block longer than 128 KiB', frameOf([repeatBlock(0, MAX_BLOCK_BYTES + 1, true)]), 'long'],
    ['a reserved bit', Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 8, 0, 1, 0, 0), 'reserved bit'],
    ['a dictionary', Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 1, 0, 9, 1, 0, 0), 'a dictionary is needed'],
    ['a window over 128 MiB', frameOf([rawBlock(Buffer.of(), true)], (17 << 3) | 1), 'a window of'],
  ])('is refused: %s', async (_name, data, reason) => {
    for (const size of SIZES) {
      const error = await decoded(data, size).catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(ZstdError);
      expect(String(error)).toContain(reason);
    }
  });

  it('may need a window of 128 MiB', async () => {
    expect(await decoded(frameOf([rawBlock(Buffer.from('a'), true)], 17 << 3))).toBe('a');
  });

  it('is decoded no faster than it is read, however well it is compressed', async () => {
    const blocks = Array.from({ length: 2000 }, () => repeatBlock(0x61, MAX_BLOCK_BYTES));
    const data = frameOf([...blocks, rawBlock(Buffer.of(), true)]);
    const stream = await zstd.decompress(65_536);
    stream.end(data);
    const iterator = stream[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toHaveLength(MAX_BLOCK_BYTES);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(stream.readableLength).toBeLessThanOrEqual(2 * MAX_BLOCK_BYTES);
    let bytes = MAX_BLOCK_BYTES;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      bytes += next.value.length;
    }
    expect(bytes).toBe(2000 * MAX_BLOCK_BYTES);
  });

  it('is an input, and an error in it names the input', async () => {
    const path = join(directory, 'urls.zst');
    writeFileSync(path, Buffer.concat([REAL_FRAME, REAL_FRAME]));
    const input = await openInput(path);
    expect(input).toMatchObject({ kind: 'stream', format: 'text' });
    if (input.kind !== 'stream') throw new Error(input.kind);
    const parts: Buffer[] = [];
    for await (const part of input.stream) parts.push(part);
    await input.close();
    expect(Buffer.concat(parts).toString()).toBe(REAL_CONTENT + REAL_CONTENT);

    writeFileSync(path, Buffer.concat([REAL_FRAME, REAL_FRAME.subarray(0, 100)]));
    const damaged = await openInput(path);
    const reading = async () => {
      if (damaged.kind !== 'stream') throw new Error(damaged.kind);
      for await (const _ of damaged.stream);
    };
    await expect(reading()).rejects.toThrow(
      `${path}: the zstd data is damaged or truncated (the data ends within a frame); ${REAL_CONTENT.length} decompressed bytes`,
    );
    await damaged.close();
  });
});
