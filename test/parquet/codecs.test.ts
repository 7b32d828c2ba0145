import { describe, expect, it } from 'vitest';
import { type Codec, codecOf, decompressPage } from '../../src/parquet/codecs.js';
import { PageFault } from '../../src/parquet/page-values.js';
import { columnValues, fixturePath, openParquet } from './parquet-fixtures.js';

const TEXT = Buffer.from('https://example.com/a?b=c '.repeat(3000));

describe('codecs', () => {
  it.each([0, 1, 2, 4, 6])('number %i gives back what it compressed', async (number) => {
    const codec = codecOf(number) as Codec;
    await Promise.all([codec.prepare?.(), codec.prepareCompress?.()]);
    if (codec.compress === undefined) throw new Error(`number ${number} is not written`);
    for (const text of [TEXT, Buffer.alloc(0), Buffer.from('a')]) {
      const packed = codec.compress(text);
      expect(text.compare(decompressPage(codec, packed, text.length))).toBe(0);
      expect(() => decompressPage(codec, packed, text.length + 1)).toThrow(PageFault);
      if (text.length === 0) continue;
      expect(() => decompressPage(codec, packed, text.length - 1)).toThrow(PageFault);
      expect(() => decompressPage(codec, packed.subarray(0, -1), text.length)).toThrow(PageFault);
    }
  });

  it('lz4: literals, overlapping matches and long lengths', () => {
    const lz4 = codecOf(7) as Codec;
    const unpack = (bytes: number[], length: number) =>
      Buffer.from(decompressPage(lz4, Uint8Array.from(bytes), length)).toString('latin1');
    expect(unpack([0x30, 97, 98, 99], 3)).toBe('abc');
    // Two literals, a match of 4 + 15 + 1 at a distance of 2, and a last literal.
    expect(unpack([0x2f, 97, 98, 2, 0, 1, 0x10, 33], 23)).toBe(`${'ab'.repeat(11)}!`);
    expect(unpack([0xf0, 2, ...new Array(17).fill(120)], 17)).toBe('x'.repeat(17));
    for (const damaged of [
      [0x30, 97, 98],
      [0x20, 97, 98, 3, 0],
      [0x20, 97, 98, 0, 0],
      [0x2f, 97, 98, 2, 0, 255],
      [0xf0],
      [],
    ]) {
      expect(() => unpack(damaged, 23), String(damaged)).toThrow(PageFault);
    }
  });

  it('zstd: what is not zstd is refused', async () => {
    const file = await openParquet(fixturePath('v1-zstd.parquet'));
    expect(await columnValues(file, 'url')).toHaveLength(13);
    const zstd = codecOf(6) as Codec;
    expect(() => decompressPage(zstd, Buffer.from('not zstd at all'), 10)).toThrow(PageFault);
  });

  it('names codecs that are not read', () => {
    expect(codecOf(3)).toBe('lzo');
    expect(codecOf(5)).toBe('lz4 of Hadoop');
    expect(codecOf(99)).toBe('number 99');
  });
});
