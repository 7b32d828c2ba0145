import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Compression } from './compression.js';

/**
 * Decompresses chunks. Fails with the errors of `chunks` and of the stream of `decompress`.
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
    // A pending read is awaited, because a read must not meet a closed descriptor.
    await chunks.return(undefined);
  }
}
