import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gunzip } from '../../src/files/gunzip.js';
import { gzip } from '../../src/files/gzip.js';

/** Decodes data that comes in chunks of `size` bytes. */
async function decoded(data: Buffer, size = data.length): Promise<string> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < data.length; at += size) chunks.push(data.subarray(at, at + size));
  const parts: Buffer[] = [];
  await pipeline(Readable.from(chunks), gzip.decompress(65_536), async (source) => {
    for await (const part of source) parts.push(part);
  });
  return Buffer.concat(parts).toString('latin1');
}

/** Longer than the buffers of all streams on the way. */
const LONG = 'x'.repeat(3_000_000);
const FIRST = gzipSync('first\n');
const SECOND = gzipSync(LONG);
const ZEROS = Buffer.alloc(70_000);
const SIZES = [1, 7, 64, 65_536, 1 << 20];

describe('gzip data', () => {
  it.each(SIZES)('is decoded in chunks of %i bytes: many members', async (size) => {
    const data = Buffer.concat([FIRST, SECOND, FIRST]);
    expect((await decoded(data, size)) === `first\n${LONG}first\n`).toBe(true);
  });

  it.each(SIZES)('may end with zeros, in chunks of %i bytes', async (size) => {
    for (const zeros of [1, FIRST.length, ZEROS.length]) {
      const data = Buffer.concat([FIRST, SECOND, ZEROS.subarray(0, zeros)]);
      expect((await decoded(data, size)) === `first\n${LONG}`).toBe(true);
    }
  });

  it.each(SIZES)('loses nothing after zeros silently, in chunks of %i bytes', async (size) => {
    for (const zeros of [1, FIRST.length, ZEROS.length]) {
      for (const after of [FIRST, Buffer.from([1])]) {
        const data = Buffer.concat([FIRST, ZEROS.subarray(0, zeros), after]);
        const error: unknown = await decoded(data, size).catch((reason: unknown) => reason);
        expect(gzip.isDamage(error), `${zeros} zeros: ${error}`).toBe(true);
      }
    }
  });

  it.each(SIZES)('is refused if it is cut off, in chunks of %i bytes', async (size) => {
    const data = Buffer.concat([FIRST, FIRST]);
    for (let end = FIRST.length + 1; end < data.length; end++) {
      const error: unknown = await decoded(data.subarray(0, end), size).catch((reason) => reason);
      expect(gzip.isDamage(error), `${end} of ${data.length} bytes`).toBe(true);
    }
  });

  it.each(SIZES)('comes out before an error, in chunks of %i bytes', async (size) => {
    const data = Buffer.concat([SECOND, FIRST, Buffer.from('\0more')]);
    const stream = Readable.from([data.subarray(0, size), data.subarray(size)]);
    let bytes = 0;
    const reading = pipeline(stream, gzip.decompress(65_536), async (source) => {
      for await (const part of source) {
        bytes += part.length;
        // An error must not overtake what a slow reader has yet to take.
        await new Promise(setImmediate);
      }
    });
    await expect(reading).rejects.toThrow('follow the gzip data');
    expect(bytes).toBe(LONG.length + 6);
  });
});

describe('gzip data that is there as a whole', () => {
  it('is decoded; zeros may follow, and anything after them is damage', () => {
    const members = Buffer.concat([FIRST, FIRST]);
    expect(gunzip(members, 100).toString()).toBe('first\nfirst\n');
    expect(gunzip(Buffer.concat([FIRST, ZEROS]), 100).toString()).toBe('first\n');
    for (const damaged of [
      Buffer.concat([FIRST, ZEROS, FIRST]),
      Buffer.concat([FIRST, Buffer.from([0, 1])]),
      members.subarray(0, -1),
    ]) {
      expect(() => gunzip(damaged, 100)).toThrow(expect.toSatisfy(gzip.isDamage));
    }
    expect(() => gunzip(members, 11)).toThrow(
      expect.objectContaining({ code: 'ERR_BUFFER_TOO_LARGE' }),
    );
  });
});
