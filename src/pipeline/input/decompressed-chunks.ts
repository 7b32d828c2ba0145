import { pipeline } from 'node:stream';
import { RobotsFilterError } from '../../errors.js';
import type { Compression } from '../../files/compression.js';
import { compressionFault } from '../../files/compression-fault.js';
import { Chunks, streamSource } from './chunks.js';
import { HEAD_BYTES } from './head.js';
import type { RawInput } from './raw-input.js';

/** The decompressed chunks of an input, which fail with a `RobotsFilterError`. */
export function decompressed({ chunks, name }: RawInput, compression: Compression): Chunks {
  const stream = compression.decompress(HEAD_BYTES);
  // An error in `chunks` destroys `stream` with that error, so the reader of `stream` gets it.
  pipeline(chunks.stream(), stream, () => {});
  return new Chunks(streamSource(stream), (error, bytes) =>
    error instanceof RobotsFilterError ? error : damaged(name, compression, error, bytes),
  );
}

/** The error for compressed data that is damaged after `bytes` decompressed bytes. */
export function damaged(
  name: string,
  compression: Compression,
  cause: unknown,
  bytes: number,
): RobotsFilterError {
  const { what, remedy = 'Fetch or write the file again' } = compressionFault(compression, cause);
  return new RobotsFilterError(
    'input',
    `${name}: ${what}; ${bytes} decompressed bytes came out before. ${remedy}.`,
    { cause },
  );
}
