import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { decompress } from 'fzstd';
import { describe, expect, it } from 'vitest';
import { zstd } from '../../src/files/compression.js';
import { FRAME_CONTENT_BYTES, ZstdCompressor } from '../../src/files/zstd/encoder.js';
import { FrameScanner } from '../../src/files/zstd/frames.js';

const MIB = 1024 * 1024;
const MAGIC = Buffer.from(zstd.magic);
/** The bit of the descriptor of a frame header that says that a checksum follows. */
const CHECKSUM = 0x04;
const CHECKSUM_BYTES = 4;

/** Bytes of which a part repeats, and a part does not. */
function content(length: number): Buffer {
  const bytes = Buffer.alloc(length, 'https://example.com/some/page?query=1\n');
  for (let at = 0; at + 64 <= length; at += 4096) randomBytes(64).copy(bytes, at);
  return bytes;
}

function* pieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(source: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for await (const part of source) parts.push(part);
  return parts;
}

/** What a stream makes of bytes that are written in pieces. */
async function encoded(bytes: Buffer, size = bytes.length): Promise<Buffer> {
  const compressor = await ZstdCompressor.create();
  const parts: Buffer[] = [];
  await pipeline(Readable.from(pieces(bytes, Math.max(size, 1))), compressor, async (source) => {
    parts.push(...(await collect(source)));
  });
  return Buffer.concat(parts);
}

/** The headers of the frames of data. */
function headersOf(data: Buffer): Buffer[] {
  const units = [...new FrameScanner().scan(data)].map((unit) => Buffer.from(unit));
  return units.filter((unit) => unit.subarray(0, MAGIC.length).equals(MAGIC));
}

/** What the decoder of the program, the reference implementation's, makes of data. */
async function decoded(data: Buffer): Promise<Buffer> {
  const parts: Buffer[] = [];
  await pipeline(Readable.from([data]), await zstd.decompress(65_536), async (source) => {
    parts.push(...(await collect(source)));
  });
  return Buffer.concat(parts);
}

describe('zstd output without an encoder in Node', () => {
  it.each([
    [0, 1],
    [1, 1],
    [255, 1],
    [256, 1],
    [MIB - 1, 1],
    [MIB, 1],
    [FRAME_CONTENT_BYTES - 1, 1],
    [FRAME_CONTENT_BYTES, 1],
    [FRAME_CONTENT_BYTES + 1, 2],
    [2 * FRAME_CONTENT_BYTES, 2],
    [2 * FRAME_CONTENT_BYTES + 1, 3],
  ])('%i bytes become %i frames, which two decoders read', async (length, count) => {
    const bytes = content(length);
    const data = await encoded(bytes);
    const headers = headersOf(data);
    expect(headers).toHaveLength(count);
    for (const header of headers) {
      expect((header[MAGIC.length] ?? 0) & CHECKSUM).toBe(CHECKSUM);
    }
    expect((await decoded(data)).equals(bytes)).toBe(true);
    expect(Buffer.from(decompress(data)).equals(bytes)).toBe(true);
  });

  it('is the same however the bytes are written', async () => {
    const bytes = content(FRAME_CONTENT_BYTES + 100_000);
    const whole = await encoded(bytes);
    for (const size of [1000, 65_536, MIB, FRAME_CONTENT_BYTES - 1, FRAME_CONTENT_BYTES]) {
      expect((await encoded(bytes, size)).equals(whole), `${size}`).toBe(true);
    }
  });

  it('keeps bytes that cannot be compressed', async () => {
    const bytes = randomBytes(FRAME_CONTENT_BYTES + 1);
    const data = await encoded(bytes);
    expect(data.length - bytes.length).toBeLessThan(1000);
    expect((await decoded(data)).equals(bytes)).toBe(true);
  });

  it('has a checksum: another byte in it, or in raw content, is damage', async () => {
    const bytes = randomBytes(100);
    const frame = await encoded(bytes);
    const raw = frame.indexOf(bytes);
    expect(raw).toBeGreaterThan(0);
    const last = Array.from({ length: CHECKSUM_BYTES }, (_, index) => frame.length - 1 - index);
    for (const at of [raw, raw + 50, raw + 99, ...last]) {
      const damaged = Buffer.from(frame);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      await expect(decoded(damaged), `byte ${at}`).rejects.toSatisfy(zstd.isDamage);
    }
  });

  it('takes no more while nobody reads', async () => {
    const compressor = await ZstdCompressor.create();
    // Each frame is longer than what the readable side buffers.
    const piece = randomBytes(FRAME_CONTENT_BYTES);
    const parts: Buffer[] = [];
    let taken = 0;
    const source = Readable.from(
      (function* () {
        for (; taken < 10; taken++) yield piece;
      })(),
    );
    const written = pipeline(source, compressor, async (frames) => {
      await pause(100);
      expect(taken).toBeLessThan(5);
      expect(compressor.readableLength).toBeLessThan(2 * FRAME_CONTENT_BYTES);
      parts.push(...(await collect(frames)));
    });
    await written;
    expect(headersOf(Buffer.concat(parts))).toHaveLength(10);
  });

  it('makes two streams at the same time', async () => {
    const both = [content(FRAME_CONTENT_BYTES + 5), content(FRAME_CONTENT_BYTES + 5)];
    const made = await Promise.all(both.map((bytes) => encoded(bytes, 100_000)));
    for (const [index, data] of made.entries()) {
      expect((await decoded(data)).equals(both[index] ?? Buffer.of())).toBe(true);
    }
  });
});
