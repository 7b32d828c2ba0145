import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gunzip } from '../../src/files/gunzip.js';
import { gzip } from '../../src/files/gzip.js';
import { MAX_REPLAY_BYTES } from '../../src/files/gzip-replay.js';

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

/** Number of bytes that come out before an error, and the error. */
async function decodedBeforeError(
  data: Buffer,
  size: number,
): Promise<{ readonly bytes: number; readonly error: unknown }> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < data.length; at += size) chunks.push(data.subarray(at, at + size));
  let bytes = 0;
  try {
    await pipeline(Readable.from(chunks), gzip.decompress(65_536), async (source) => {
      for await (const part of source) bytes += part.length;
    });
  } catch (error) {
    return { bytes, error };
  }
  return { bytes, error: undefined };
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

  it.each(SIZES)(
    'comes out before bytes that follow at once, in chunks of %i bytes',
    async (size) => {
      const members: [Buffer, number][] = [
        [FIRST, 6],
        [Buffer.concat([SECOND, FIRST]), LONG.length + 6],
      ];
      for (const [member, length] of members) {
        for (const rest of ['junk\n', '\x1f\x8bjunk\n', '\x1f']) {
          const data = Buffer.concat([member, Buffer.from(rest, 'latin1')]);
          const { bytes, error } = await decodedBeforeError(data, size);
          expect(gzip.isDamage(error), `${rest}: ${error}`).toBe(true);
          expect(bytes, rest).toBe(length);
        }
      }
    },
  );

  it('comes out before damage within a member', async () => {
    const text = randomBytes(90_000).toString('hex');
    const data = gzipSync(text);
    data.fill(0xff, 60_000, 60_300);
    const { bytes, error } = await decodedBeforeError(data, data.length);
    expect(gzip.isDamage(error)).toBe(true);
    expect(bytes).toBeGreaterThan(90_000);
    const flipped = gzipSync(text);
    flipped.writeUInt32LE(1, flipped.length - 8);
    expect((await decodedBeforeError(flipped, 65_536)).bytes).toBe(text.length);
  });

  it.each([0, 1])(
    'comes out whole up to the limit of what is kept: %i bytes more',
    async (more) => {
      const random = randomBytes(MAX_REPLAY_BYTES - 4000);
      const member = gzipSync(random, { level: 0 });
      const junk = Buffer.alloc(MAX_REPLAY_BYTES + more - member.length, 'j');
      const data = Buffer.concat([member, junk]);
      expect([junk.length > 0, data.length]).toEqual([true, MAX_REPLAY_BYTES + more]);
      const { bytes } = await decodedBeforeError(data, 65_536);
      if (more === 0) expect(bytes).toBe(random.length);
      else expect(bytes).toBeGreaterThan(random.length - 65_536 - 1);
    },
  );

  it('comes out up to the last 64 KiB before an error, if there is much of it', async () => {
    const random = randomBytes(MAX_REPLAY_BYTES);
    const data = Buffer.concat([gzipSync(random, { level: 0 }), Buffer.from('junk\n')]);
    const { bytes, error } = await decodedBeforeError(data, 65_536);
    expect(String(error)).toContain('follow the gzip data');
    expect(bytes).toBeGreaterThan(random.length - 65_536 - 1);
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
