import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gzip } from '../../src/files/compression.js';
import { KEPT_BYTES, KEPT_CONTENT_BYTES } from '../../src/files/decompressors.js';
import { gunzip } from '../../src/files/gzip.js';

/** Decodes data that comes in chunks of `size` bytes. */
async function decoded(data: Buffer, size = data.length): Promise<string> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < data.length; at += size) chunks.push(data.subarray(at, at + size));
  const parts: Buffer[] = [];
  await pipeline(Readable.from(chunks), await gzip.decompress(65_536), async (source) => {
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
    await pipeline(Readable.from(chunks), await gzip.decompress(65_536), async (source) => {
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
    const reading = pipeline(stream, await gzip.decompress(65_536), async (source) => {
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

  it.each([
    ['much data', KEPT_BYTES + 100_000, 0],
    ['much content', KEPT_CONTENT_BYTES + 100_000, 9],
  ])('of %s may lose 64 KiB before damage', async (_, length, level) => {
    const content = level === 0 ? randomBytes(length) : Buffer.alloc(length, 'x');
    const whole = gzipSync(content, { level });
    const checksum = Buffer.from(whole);
    checksum.writeUInt32LE(1, checksum.length - 8);
    for (const data of [checksum, Buffer.concat([whole, Buffer.from('junk\n')])]) {
      const { bytes, error } = await decodedBeforeError(data, 65_536);
      expect(gzip.isDamage(error), `${error}`).toBe(true);
      expect(bytes).toBeGreaterThanOrEqual(length - 65_536);
      expect(bytes).toBeLessThanOrEqual(length);
    }
  });

  it.each([0, 1, 65_536])('of little data comes out up to damage at %i bytes', async (at) => {
    const content = randomBytes(100_000);
    const data = gzipSync(content, { level: 0 });
    // The header of a stored block that does not exist.
    const block = 10 + 5;
    data.fill(0xff, at === 0 ? 10 : block + at);
    const { bytes, error } = await decodedBeforeError(data, 65_536);
    expect(gzip.isDamage(error), `${error}`).toBe(true);
    if (at === 0) expect(bytes).toBe(0);
    else expect(bytes).toBeGreaterThanOrEqual(at);
  });

  it('is decoded if each of many short members holds far more than it has', async () => {
    const content = `${'z'.repeat(4000)}\n`;
    const member = gzipSync(content);
    const data = Buffer.concat(Array.from({ length: 8000 }, () => member));
    expect(data.length).toBeGreaterThan(256 << 10);
    expect((await decoded(data)) === content.repeat(8000)).toBe(true);
  });

  it.each(SIZES)('of many short members comes out up to damage, in chunks of %i', async (size) => {
    // Enough for more than one window, where that does not take long.
    const count = size < 1000 ? 100 : 6_000;
    const lines = Array.from({ length: count }, (_, line) => `https://a.example/${line}\n`);
    const members = lines.map((line) => gzipSync(line));
    expect((await decoded(Buffer.concat(members), size)) === lines.join('')).toBe(true);
    const damaged = gzipSync('last\n');
    damaged.writeUInt32LE(1, damaged.length - 8);
    const data = Buffer.concat([...members, damaged, ...members.slice(0, 100)]);
    const { bytes, error } = await decodedBeforeError(data, size);
    expect(String(error)).toContain('incorrect data check');
    expect(bytes).toBe(lines.join('').length + 5);
  });
});

describe('the header of a gzip member (RFC 1952 section 2.3)', () => {
  const plain = gzipSync('text\n');

  /** A member with all optional fields of a header. */
  function withFields(name: Buffer, difference = 0): Buffer {
    const header = Buffer.concat([
      Buffer.of(0x1f, 0x8b, 8, 2 + 4 + 8 + 16),
      plain.subarray(4, 10),
      Buffer.of(3, 0, 0, 1, 2),
      name,
      Buffer.from('\0comment\0'),
    ]);
    const checksum = Buffer.alloc(2);
    checksum.writeUInt16LE((crc32(header) & 0xffff) ^ difference);
    return Buffer.concat([header, checksum, plain.subarray(10)]);
  }

  it.each(SIZES)('may have all fields, in chunks of %i bytes', async (size) => {
    const member = withFields(Buffer.from('name'));
    expect(gunzip(member, 100).toString()).toBe('text\n');
    const data = Buffer.concat([member, FIRST, member, member]);
    expect(await decoded(data, size)).toBe('text\nfirst\ntext\ntext\n');
  });

  it.each(SIZES)('may be damaged, in chunks of %i bytes', async (size) => {
    const method = Buffer.from(plain);
    method[2] = 7;
    const flags = Buffer.from(plain);
    flags[3] = 0x80;
    const cases: [Buffer, string][] = [
      [method, 'unknown compression method'],
      [flags, 'unknown header flags set'],
      [withFields(Buffer.from('name'), 1), 'header crc mismatch'],
      [plain.subarray(0, 9), 'unexpected end of file'],
      [plain.subarray(0, 10), 'unexpected end of file'],
    ];
    for (const [member, message] of cases) {
      const { bytes, error } = await decodedBeforeError(Buffer.concat([FIRST, member]), size);
      expect(gzip.isDamage(error)).toBe(true);
      expect(String(error)).toContain(message);
      expect(bytes).toBe(6);
    }
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
