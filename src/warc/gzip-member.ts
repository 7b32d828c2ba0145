import { crc32, inflateRawSync } from 'node:zlib';
import { startsWith } from '../files/magic.js';
import { errorCode } from '../files/system-error.js';

/** ID1, ID2 and CM of RFC 1952 section 2.3: gzip data in deflate, which is the only method. */
const MAGIC = Buffer.from([0x1f, 0x8b, 0x08]);

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

/** Maximum content of a member that is inflated at once, in bytes. */
export const LONGEST_SHORT_MEMBER = 16 * 1024 * 1024;

/**
 * The kind of the bytes at some place:
 *
 * - `whole`: a member, with its content and its length in bytes.
 * - `short`: the beginning of a member.
 * - `long`: a member with more content than is inflated at once.
 * - `broken`: a member whose deflate data is damaged, so that its content ends there.
 * - `damaged`: not a member, or one with wrong bytes nobody knows where: its checksum tells.
 */
export type Member =
  | { readonly kind: 'whole'; readonly content: Buffer; readonly length: number }
  | { readonly kind: 'short' | 'long' | 'broken' | 'damaged' };

/** Whether a member may begin at an offset. */
export function beginsMember(bytes: Buffer, at: number): boolean {
  return startsWith(bytes, MAGIC, at) && ((bytes[at + 3] ?? 0) & RESERVED_FLAGS) === 0;
}

/** The offset of the next place at which a member may begin; -1 if there is none. */
export function findMember(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(MAGIC, from);
  while (at >= 0 && !beginsMember(bytes, at)) at = bytes.indexOf(MAGIC, at + 1);
  return at;
}

/** The offset of the last place before `end` at which a member may begin; -1 if there is none. */
export function findLastMember(bytes: Buffer, end: number): number {
  let at = end <= 0 ? -1 : bytes.lastIndexOf(MAGIC, end - 1);
  while (at >= 0 && !beginsMember(bytes, at)) at = at === 0 ? -1 : bytes.lastIndexOf(MAGIC, at - 1);
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
function hasIntactHeader(bytes: Buffer, length: number): boolean {
  if (((bytes[3] ?? 0) & FLAG_HEADER_CRC) === 0) return true;
  const at = length - 2;
  return bytes.readUInt16LE(at) === (crc32(bytes.subarray(0, at)) & 0xffff);
}

/** Inflates the member at the start of the bytes. */
export function readMember(bytes: Buffer): Member {
  if (!beginsMember(bytes, 0)) {
    const isShort = bytes.length < 4 && startsWith(MAGIC, bytes.subarray(0, 3));
    return { kind: isShort ? 'short' : 'damaged' };
  }
  const header = memberHeaderLength(bytes);
  if (header < 0) return { kind: 'short' };
  if (!hasIntactHeader(bytes, header)) return { kind: 'damaged' };
  let content: Buffer;
  let length: number;
  try {
    const inflated = inflateRawSync(bytes.subarray(header), {
      info: true,
      maxOutputLength: LONGEST_SHORT_MEMBER,
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    content = inflated.buffer;
    length = header + inflated.engine.bytesWritten + TRAILER;
  } catch (error) {
    switch (errorCode(error)) {
      case 'Z_BUF_ERROR':
        return { kind: 'short' };
      case 'ERR_BUFFER_TOO_LARGE':
        return { kind: 'long' };
      default:
        return { kind: 'broken' };
    }
  }
  if (length > bytes.length) return { kind: 'short' };
  return isIntact(bytes, length - TRAILER, crc32(content), content.length)
    ? { kind: 'whole', content, length }
    : { kind: 'damaged' };
}

/** Whether a trailer has this checksum and length. */
export function isIntact(bytes: Buffer, at: number, checksum: number, length: number): boolean {
  return bytes.readUInt32LE(at) === checksum && bytes.readUInt32LE(at + 4) === length >>> 0;
}
