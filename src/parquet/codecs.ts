/** The compressions of pages. */

import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  gunzipSync,
  gzipSync,
  type ZlibOptions,
} from 'node:zlib';
import { snappyCompress, snappyUncompressor } from 'hysnappy';
import { decodeZstd, prepareZstd } from '../files/zstd/decode.js';
import { PageFault } from './page-values.js';

/** A compression of pages. */
export interface Codec {
  /** The number in parquet.thrift. */
  readonly number: number;
  readonly name: string;
  /** Loads the dependencies of `decompress`; await it before the first call. */
  readonly prepare?: () => Promise<void>;
  /** Decompresses; exactly `length` bytes must come out. */
  decompress(input: Uint8Array, length: number): Uint8Array;
  /** Loads the dependencies of `compress`; await it before the first call. */
  readonly prepareCompress?: () => Promise<void>;
  /** Compresses; absent if neither Node nor a package in use can. */
  readonly compress?: (input: Uint8Array) => Uint8Array;
}

/** Functions of node:zlib from Node 22.15 and 23.8 on; an import of them fails on Node 20. */
interface ZstdOfNode {
  readonly zstdDecompressSync?: (input: Uint8Array, options: ZlibOptions) => Buffer;
  readonly zstdCompressSync?: (input: Uint8Array) => Buffer;
}

const { zstdDecompressSync, zstdCompressSync } = process.getBuiltinModule(
  'node:zlib',
) as ZstdOfNode;

/** Loaded only where pages are written in zstd, and Node has no encoder. */
let zstdEncoder: typeof import('../files/zstd/encoder.js') | undefined;

const WRITE_ZSTD: Pick<Codec, 'prepareCompress' | 'compress'> = {
  async prepareCompress() {
    zstdEncoder ??= await import('../files/zstd/encoder.js');
    await zstdEncoder.prepareZstdEncoder();
  },
  compress(input) {
    if (zstdEncoder === undefined) throw new Error('the zstd encoder has not been loaded');
    return zstdEncoder.encodeZstd(input);
  },
};

const snappyUncompress = snappyUncompressor();

/** No compression. */
export const UNCOMPRESSED: Codec = {
  number: 0,
  name: 'uncompressed',
  decompress: (input) => input,
  compress: (input) => input,
};

/** The codec of pages that cannot be written in their own codec. */
export const SNAPPY: Codec & Required<Pick<Codec, 'compress'>> = {
  number: 1,
  name: 'snappy',
  decompress(input, length) {
    // The decompressor does not check the length in the data.
    if (snappyLength(input) !== length) throw new PageFault('the snappy data has another length');
    return snappyUncompress(input, length);
  },
  compress: snappyCompress,
};

const GZIP: Codec = {
  number: 2,
  name: 'gzip',
  decompress: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(length, 1) }),
  // Level 1: higher levels save little, and take much longer.
  compress: (input) => gzipSync(input, { level: 1 }),
};

const BROTLI: Codec = {
  number: 4,
  name: 'brotli',
  decompress: (input, length) =>
    brotliDecompressSync(input, { maxOutputLength: Math.max(length, 1) }),
  compress: (input) =>
    brotliCompressSync(input, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
};

const ZSTD: Codec = {
  number: 6,
  name: 'zstd',
  // Node's own decoder is faster.
  ...(zstdDecompressSync === undefined
    ? { prepare: prepareZstd, decompress: decodeZstd }
    : {
        decompress: (input, length) =>
          zstdDecompressSync(input, { maxOutputLength: Math.max(length, 1) }),
      }),
  ...(zstdCompressSync === undefined ? WRITE_ZSTD : { compress: zstdCompressSync }),
};

/** Length of the shortest match of LZ4, in bytes. */
const SHORTEST_MATCH = 4;

/** An LZ4 block without a frame. */
export const LZ4_RAW: Codec = { number: 7, name: 'lz4_raw', decompress: decompressLz4 };

const CODECS: readonly Codec[] = [UNCOMPRESSED, SNAPPY, GZIP, BROTLI, ZSTD, LZ4_RAW];

/** Codecs of parquet.thrift that are not supported. */
const OTHER_CODECS = new Map([
  [3, 'lzo'],
  [5, 'lz4 of Hadoop'],
]);

/** The codec of a number, or the name of a codec that is not supported. */
export function codecOf(number: number): Codec | string {
  return (
    CODECS.find((codec) => codec.number === number) ??
    OTHER_CODECS.get(number) ??
    `number ${number}`
  );
}

/**
 * Decompresses a page.
 *
 * @param length number of bytes that must come out
 * @throws PageFault if the data is damaged or of another length
 */
export function decompressPage(codec: Codec, input: Uint8Array, length: number): Uint8Array {
  let output: Uint8Array;
  try {
    output = codec.decompress(input, length);
  } catch (error) {
    if (error instanceof PageFault) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PageFault(`the ${codec.name} data is damaged (${reason})`);
  }
  if (output.length === length) return output;
  throw new PageFault(`the ${codec.name} data has ${output.length} bytes, not ${length}`);
}

/** The length at the start of snappy data: a varint of at most five bytes. */
function snappyLength(input: Uint8Array): number | undefined {
  let length = 0;
  for (let index = 0; index < 5; index++) {
    const byte = input[index];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return length;
  }
  return undefined;
}

/**
 * Decompresses an LZ4 block without a frame, which the Parquet format calls LZ4_RAW.
 *
 * @param length bytes that must come out
 * @throws PageFault if the block is damaged or of another length
 */
export function decompressLz4(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  let at = 0;
  let filled = 0;
  const extended = (nibble: number): number => {
    let size = nibble;
    if (nibble < 15) return size;
    for (;;) {
      const byte = input[at++];
      if (byte === undefined) throw new PageFault('the lz4 data is truncated');
      size += byte;
      if (byte < 255) return size;
    }
  };
  while (at < input.length) {
    const token = input[at++] as number;
    const literals = extended(token >> 4);
    if (at + literals > input.length || filled + literals > length) {
      throw new PageFault('the lz4 data is damaged');
    }
    output.set(input.subarray(at, at + literals), filled);
    at += literals;
    filled += literals;
    if (at === input.length) break;
    const distance = (input[at] as number) + 256 * (input[at + 1] ?? 0);
    at += 2;
    const match = extended(token & 15) + SHORTEST_MATCH;
    if (distance === 0 || distance > filled || filled + match > length) {
      throw new PageFault('the lz4 data is damaged');
    }
    copyMatch(output, filled, distance, match);
    filled += match;
  }
  if (filled !== length) throw new PageFault(`the lz4 data has ${filled} bytes, not ${length}`);
  return output;
}

/** Copies bytes. If source and target overlap, the bytes repeat. */
function copyMatch(output: Uint8Array, to: number, distance: number, length: number): void {
  if (distance >= length) {
    output.copyWithin(to, to - distance, to - distance + length);
    return;
  }
  for (let index = 0; index < length; index++) {
    output[to + index] = output[to + index - distance] as number;
  }
}
