/** gzip data (RFC 1952) of whole members, which are decoded at once. */

import { crc32, gunzipSync } from 'node:zlib';
import { startsWith } from './magic.js';

/** ID1, ID2 and CM of RFC 1952 section 2.3: gzip data in deflate, which is the only method. */
export const GZIP_MAGIC = Buffer.from([0x1f, 0x8b, 0x08]);

/** Bits of FLG (section 2.3.1). */
const FLAG_HEADER_CRC = 2;
const FLAG_EXTRA = 4;
const FLAG_NAME = 8;
const FLAG_COMMENT = 16;
const RESERVED_FLAGS = 0xe0;

/** Length of the header before its optional fields, in bytes. */
const FIXED_HEADER = 10;

/** Length of CRC32 and ISIZE, which follow the compressed data. */
export const TRAILER = 8;

/** Whether a member may begin at an offset. */
export function beginsMember(bytes: Buffer, at: number): boolean {
  return startsWith(bytes, GZIP_MAGIC, at) && ((bytes[at + 3] ?? 0) & RESERVED_FLAGS) === 0;
}

/** The offset of the next place at which a member may begin; -1 if there is none. */
export function findMember(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(GZIP_MAGIC, from);
  while (at >= 0 && !beginsMember(bytes, at)) at = bytes.indexOf(GZIP_MAGIC, at + 1);
  return at;
}

/** The offset of the last place before `end` at which a member may begin; -1 if there is none. */
export function findLastMember(bytes: Buffer, end: number): number {
  let at = end <= 0 ? -1 : bytes.lastIndexOf(GZIP_MAGIC, end - 1);
  while (at >= 0 && !beginsMember(bytes, at))
    at = at === 0 ? -1 : bytes.lastIndexOf(GZIP_MAGIC, at - 1);
  return at;
}

/** Length of the header of the member at the start; -1 if the header is truncated. */
export function memberHeaderLength(bytes: Buffer): number {
  const flags = bytes[3] ?? 0;
  let at = FIXED_HEADER;
  if (at > bytes.length) return -1;
  if ((flags & FLAG_EXTRA) !== 0) {
    if (at + 2 > bytes.length) return -1;
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const flag of [FLAG_NAME, FLAG_COMMENT]) {
    if ((flags & flag) === 0) continue;
    const zero = bytes.indexOf(0, at);
    if (zero < 0) return -1;
    at = zero + 1;
  }
  if ((flags & FLAG_HEADER_CRC) !== 0) at += 2;
  return at > bytes.length ? -1 : at;
}

/** Whether a header of this many bytes has no CRC16, or a correct one (section 2.3.1). */
export function hasIntactHeader(bytes: Buffer, length: number): boolean {
  if (((bytes[3] ?? 0) & FLAG_HEADER_CRC) === 0) return true;
  const at = length - 2;
  return bytes.readUInt16LE(at) === (crc32(bytes.subarray(0, at)) & 0xffff);
}

/** Whether a trailer has this checksum and length. */
export function isIntact(bytes: Buffer, at: number, checksum: number, length: number): boolean {
  return bytes.readUInt32LE(at) === checksum && bytes.readUInt32LE(at + 4) === length >>> 0;
}

/** Smallest buffer into which members are decoded, in bytes. */
const SMALLEST_BUFFER = 64 * 1024;

/**
 * Decodes whole gzip data of any number of members. Zeros may follow as padding.
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
