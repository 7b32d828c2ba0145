import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeHybrid, encodeHybrid, PageFault } from '../../src/parquet/page-values.js';
import { cases } from '../random/cases.js';

/** Values of a width, in runs of all lengths. */
const values = fc.integer({ min: 0, max: 32 }).chain((width) =>
  fc.record({
    width: fc.constant(width),
    values: fc
      .array(
        fc.tuple(fc.integer({ min: 0, max: 2 ** width - 1 }), fc.integer({ min: 1, max: 40 })),
        { maxLength: 60 },
      )
      .map((runs) => runs.flatMap(([value, length]) => new Array<number>(length).fill(value))),
  }),
);

describe('the hybrid of runs and packed bits', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(values, ({ width, values }) => {
        const bytes = encodeHybrid(values, width);
        const output = new Uint32Array(values.length);
        decodeHybrid(bytes, 0, bytes.length, width, output);
        expect([...output]).toEqual(values);
      }),
      { numRuns: cases(500) },
    );
  });

  it('packs bits as the format describes', () => {
    // The example of Encodings.md: 0 to 7 with three bits each.
    const bytes = Buffer.from([0x03, 0b10001000, 0b11000110, 0b11111010]);
    expect(encodeHybrid([0, 1, 2, 3, 4, 5, 6, 7], 3)).toEqual(bytes);
    const output = new Uint8Array(8);
    decodeHybrid(bytes, 0, bytes.length, 3, output);
    expect([...output]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(encodeHybrid(new Uint8Array(100).fill(1), 1)).toEqual(Buffer.from([0xc8, 1, 1]));
  });

  it('ends where the values are complete, however long a run claims to be', () => {
    const output = new Uint8Array(3);
    decodeHybrid(Buffer.from([0xfe, 0xff, 0xff, 0xff, 0x0f, 1]), 0, 6, 1, output);
    expect([...output]).toEqual([1, 1, 1]);
  });

  it('is refused where it is cut off, or its header is too long', () => {
    const output = new Uint32Array(9);
    const decode = (bytes: number[], width: number) => () =>
      decodeHybrid(Uint8Array.from(bytes), 0, bytes.length, width, output);
    expect(decode([], 1)).toThrow(PageFault);
    expect(decode([0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1], 1)).toThrow(PageFault);
    expect(decode([18, 1], 16)).toThrow(PageFault);
    expect(decode([5, 1, 2], 8)).toThrow(PageFault);
    expect(decode([0, 0, 0, 0], 8)).toThrow(PageFault);
    expect(decode([18, 2], 1)).toThrow(PageFault);
    expect(decode([18, 1], 8)).not.toThrow();
  });
});
