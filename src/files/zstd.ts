import type { Transform } from 'node:stream';
import type { Compression } from './compression.js';
import { ZstdDecompressor } from './zstd/decompressor.js';
import { SKIPPABLE_MAGICS, ZSTD_MAGIC, ZstdError } from './zstd/frame-scanner.js';

/** A function of node:zlib from Node 22.15 and 23.8 on. */
interface ZstdOfNode {
  readonly createZstdCompress?: (options: { params: Record<number, number> }) => Transform;
}

/** ZSTD_c_checksumFlag of the reference implementation: writes a checksum after each frame. */
const CHECKSUM_FLAG = 201;

/** Zstandard, of one frame or many (RFC 8878). No UTF-8 text begins with its magic bytes. */
export const zstd: Compression = {
  name: 'zstd',
  command: 'zstd -dc',
  ending: '.zst',
  magic: ZSTD_MAGIC,
  otherMagics: SKIPPABLE_MAGICS,
  decompress: () => new ZstdDecompressor(),
  async compress() {
    // Not imported: Node 20 lacks the name, and of a namespace each start would make a copy.
    const { createZstdCompress } = process.getBuiltinModule('node:zlib') as ZstdOfNode;
    // Node's own compresses on another thread, and needs half of the time.
    if (createZstdCompress !== undefined) {
      return createZstdCompress({ params: { [CHECKSUM_FLAG]: 1 } });
    }
    const { ZstdCompressor } = await import('./zstd/compressor.js');
    return ZstdCompressor.create();
  },
  isDamage: (error) => error instanceof ZstdError,
};
