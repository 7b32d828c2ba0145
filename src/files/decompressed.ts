import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Compression } from './compression.js';

/**
 * Undoes a compression. Fails as `chunks` and the stream of `decompress` do.
 *
 * @param chunks the compressed bytes; each chunk must stay unchanged
 * @param chunkBytes the size of the chunks that come out
 */
export async function* decompressed(
  compression: Compression,
  chunks: AsyncGenerator<Uint8Array>,
  chunkBytes: number,
): AsyncGenerator<Buffer, undefined> {
  const stream = compression.decompress(chunkBytes);
  // The iteration below throws the errors of both streams.
  const flow = pipeline(Readable.from(chunks, { objectMode: false }), stream).catch(() => {});
  try {
    yield* stream;
  } finally {
    stream.destroy();
    await flow;
    // Waits for a pending read, which must not meet a closed descriptor.
    await chunks.return(undefined);
  }
}
