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

/**
 * The error for bytes after the last member, in the style of zlib's errors; none if all are zero.
 */
export function paddingError(bytes: Uint8Array): Error | undefined {
  if (bytes.every((byte) => byte === 0)) return undefined;
  return Object.assign(new Error('bytes follow the zeros after a member'), {
    code: 'Z_DATA_ERROR',
  });
}
