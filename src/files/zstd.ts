import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { Compression } from './compression.js';
import { ZstdDecompressor } from './zstd/decompressor.js';
import { SKIPPABLE_MAGICS, ZSTD_MAGIC, ZstdError } from './zstd/frame-scanner.js';

/** Node has it from 22.15 and 23.8. */
const createEncoder: (() => Transform) | undefined =
  'createZstdCompress' in zlib && typeof zlib.createZstdCompress === 'function'
    ? (zlib.createZstdCompress as () => Transform)
    : undefined;

/** Zstandard, of one frame or many (RFC 8878). No UTF-8 text begins with its magic bytes. */
export const zstd: Compression = {
  name: 'zstd',
  command: 'zstd -dc',
  ending: '.zst',
  magic: ZSTD_MAGIC,
  otherMagics: SKIPPABLE_MAGICS,
  decompress: () => new ZstdDecompressor(),
  compress: () => createEncoder?.(),
  compressCommand: 'zstd',
  isDamage: (error) => error instanceof ZstdError,
};
