import { CR, LF, SPACE, TAB } from '../../ascii.js';
import { startsWith } from '../../files/magic.js';
import { isPartOfMagic } from '../../files/unsupported-formats.js';

/**
 * Maximum bytes that are read of an input before its format is settled: the size of a pipe's
 * buffer.
 */
export const HEAD_BYTES = 65_536;

const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/** The length of the UTF-8 byte order mark at the start of `head`, in bytes: 3 or 0. */
export function byteOrderMarkBytes(head: Uint8Array): number {
  return startsWith(head, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
}

/** Whether `head` is too short to tell text from a byte order mark or the magic of a format. */
export function needsMoreBytes(head: Uint8Array): boolean {
  const isPartOfMark = head.length < BYTE_ORDER_MARK.length && startsWith(BYTE_ORDER_MARK, head);
  return isPartOfMark || isPartOfMagic(head);
}

/** Offset of the first byte after a byte order mark and white space. */
export function startOfContent(head: Uint8Array): number {
  let at = byteOrderMarkBytes(head);
  while (isJsonSpace(head[at])) at++;
  return at;
}

/** Whether a byte is white space of JSON (RFC 8259 section 2). */
export function isJsonSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === LF || byte === CR;
}
