import { createGzip } from 'node:zlib';
import type { Compression } from './compression.js';
import { GzipDecompressor } from './gzip-decompressor.js';
import { errorCode } from './system-error.js';

/** gzip data of one member or many (RFC 1952). No text begins with its magic bytes. */
export const gzip: Compression = {
  name: 'gzip',
  command: 'gzip -dc',
  ending: '.gz',
  // RFC 1952 section 2.3.1: ID1 and ID2.
  magic: [0x1f, 0x8b],
  decompress: (chunkBytes) => new GzipDecompressor(chunkBytes),
  compress: async () => createGzip(),
  isDamage: (error) => errorCode(error).startsWith('Z_'),
};
