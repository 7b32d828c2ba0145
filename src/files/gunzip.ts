import { gunzipSync } from 'node:zlib';

/**
 * Decodes whole gzip data of any number of members. Zeros may follow, as in `GzipDecompressor`.
 *
 * @param most maximum number of bytes that may come out
 * @throws Error `ERR_BUFFER_TOO_LARGE` for more bytes, `Z_…` for damaged or truncated data
 */
export function gunzip(data: Uint8Array, most: number): Buffer {
  // `info` makes zlib report how far it has read.
  const { buffer, engine } = gunzipSync(data, {
    info: true,
    maxOutputLength: most,
  }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
  const error = paddingError(data.subarray(engine.bytesWritten));
  if (error !== undefined) throw error;
  return buffer;
}

/** Bytes that are no gzip data follow the last member. Has a code, as zlib's errors have. */
export class TrailingBytesError extends Error {
  readonly code = 'Z_TRAILING_BYTES';

  constructor() {
    super('bytes that are no gzip data follow the gzip data');
  }
}

/** zlib's error for a member that does not begin with the magic bytes. */
const NO_MEMBER = 'incorrect header check';

/** The error for an error of zlib in data that begins with the magic bytes of a member. */
export function memberError(error: Error): Error {
  return error.message === NO_MEMBER ? new TrailingBytesError() : error;
}

/** The error for bytes after the last member; none if all are zero. */
export function paddingError(bytes: Uint8Array): TrailingBytesError | undefined {
  return bytes.every((byte) => byte === 0) ? undefined : new TrailingBytesError();
}
