import type { Compression } from '../files/compression.js';
import { compressionOf } from '../files/compressions.js';
import { decompressed } from '../files/decompressed.js';
import { FileEnd } from '../files/file-end.js';
import { startsWith } from '../files/magic.js';
import { readOpened } from '../files/openings.js';
import { ARC_MAGIC, describeUnsupported, MAGIC_BYTES } from '../files/unsupported-formats.js';

/** Number of bytes that are read, or decompressed, at a time. */
const CHUNK = 1024 * 1024;

/**
 * Yields the bytes of the file. Each chunk overwrites the one before. The first chunk is long
 * enough to recognise a format, unless the file is shorter.
 */
export async function* readChunks(descriptor: number): AsyncGenerator<Buffer> {
  const end = new FileEnd(descriptor);
  const chunk = Buffer.allocUnsafeSlow(CHUNK);
  let filled = 0;
  let position = 0;
  for (;;) {
    const bytes = await readOpened(descriptor, chunk.subarray(filled), null);
    end.check(position, bytes);
    filled += bytes;
    position += bytes;
    // One read of a pipe may yield fewer bytes.
    if (bytes > 0 && filled < MAGIC_BYTES) continue;
    if (filled > 0) yield chunk.subarray(0, filled);
    if (bytes === 0) return;
    filled = 0;
  }
}

/** Yields a chunk, and the chunks after it. */
export async function* joined(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

/** Decompresses chunks. */
export function decompress(
  compression: Compression,
  first: Buffer,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer, undefined> {
  return decompressed(compression, copies(first, rest), CHUNK);
}

/** Copies chunks: streams read ahead, so the next chunk must not overwrite this one. */
async function* copies(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of joined(first, rest)) yield Buffer.from(chunk);
  } finally {
    await rest.return(undefined);
  }
}

/**
 * Describes an ARC file, plain or compressed, and says how to convert it; `undefined` for any other
 * file.
 *
 * @param chunks the bytes of the file, as `readChunks` yields them
 */
export async function describeArc(chunks: AsyncGenerator<Buffer>): Promise<string | undefined> {
  const { value: first } = await chunks.next();
  if (first === undefined) return undefined;
  const compression = compressionOf(first);
  const content =
    compression === undefined ? joined(first, chunks) : decompress(compression, first, chunks);
  try {
    for await (const start of content) {
      return startsWith(start, ARC_MAGIC)
        ? describeUnsupported(start, compression?.name)
        : undefined;
    }
  } catch {} // The data is damaged, which whoever reads it names.
  return undefined;
}
