import { gunzipSync } from 'node:zlib';

/** Smallest buffer into which members are decoded, in bytes. */
const SMALLEST_BUFFER = 64 * 1024;

/**
 * Decodes whole gzip data of any number of members. Zeros may follow, as in `GzipDecompressor`.
 *
 * @param most maximum number of bytes that may come out
 * @throws Error `ERR_BUFFER_TOO_LARGE` for more bytes, `Z_…` for damaged or truncated data
 */
export function gunzip(data: Uint8Array, most: number): Buffer {
  const { buffer, engine } = gunzipInfo(data, { maxOutputLength: most });
  const error = paddingError(data.subarray(engine.bytesWritten));
  if (error !== undefined) throw error;
  return buffer;
}

/**
 * Decodes many members in one native call, which is much faster than a call for each. `undefined`
 * if they are not whole, any is damaged, or they hold more than `most` bytes. At a zero between
 * members, zlib stops without an error too.
 */
export function gunzipMembers(members: Uint8Array, most: number): Buffer | undefined {
  try {
    const { buffer, engine } = gunzipInfo(members, {
      maxOutputLength: most,
      chunkSize: Math.max(SMALLEST_BUFFER, 2 * members.length),
    });
    return engine.bytesWritten === members.length ? buffer : undefined;
  } catch {
    return undefined;
  }
}

/** `info` makes zlib report how far it has read. */
function gunzipInfo(data: Uint8Array, options: { maxOutputLength: number; chunkSize?: number }) {
  return gunzipSync(data, { info: true, ...options }) as unknown as {
    readonly buffer: Buffer;
    readonly engine: { readonly bytesWritten: number };
  };
}

/** Bytes that are no gzip data follow the last member. It has the code that zlib has for it. */
export class TrailingBytesError extends Error {
  readonly code = 'Z_DATA_ERROR';

  constructor() {
    super('bytes that are no gzip data follow the gzip data');
  }
}

/** The error for bytes after the last member; none if all are zero. */
export function paddingError(bytes: Uint8Array): TrailingBytesError | undefined {
  return bytes.every((byte) => byte === 0) ? undefined : new TrailingBytesError();
}
