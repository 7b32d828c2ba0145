import { crc32, inflateRawSync } from 'node:zlib';
import {
  beginsMember,
  GZIP_MAGIC,
  hasIntactHeader,
  isIntact,
  memberHeaderLength,
  TRAILER,
} from '../files/gzip-framing.js';
import { startsWith } from '../files/magic.js';
import { errorCode } from '../files/system-error.js';

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
 *   Then `length` bytes gave `inflated` bytes of content in vain.
 */
export type Member =
  | { readonly kind: 'whole'; readonly content: Buffer; readonly length: number }
  | { readonly kind: 'short' | 'long' | 'broken' }
  | { readonly kind: 'damaged'; readonly length: number; readonly inflated: number };

/** Inflates the member at the start of the bytes. */
export function readMember(bytes: Buffer): Member {
  if (!beginsMember(bytes, 0)) {
    const isShort = bytes.length < 4 && startsWith(GZIP_MAGIC, bytes.subarray(0, 3));
    return isShort ? { kind: 'short' } : { kind: 'damaged', length: 0, inflated: 0 };
  }
  const header = memberHeaderLength(bytes);
  if (header < 0) return { kind: 'short' };
  if (!hasIntactHeader(bytes, header)) return { kind: 'damaged', length: 0, inflated: 0 };
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
    : { kind: 'damaged', length, inflated: content.length };
}
