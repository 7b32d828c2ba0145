import { PageFault } from './hybrid.js';

/** The offset in a page at which decoding continues. */
export interface Cursor {
  at: number;
}

/** Maximum number of values of a block, and of miniblocks in it; no writer makes more. */
const MAX_BLOCK = 2 ** 20;

/**
 * Decodes DELTA_BINARY_PACKED: 64-bit integers, which wrap around. The integers of an INT32 column
 * are their low halves.
 *
 * @param count number of values that the page has
 * @param cursor moved past the values
 * @throws PageFault
 */
export function decodeDelta(
  bytes: Uint8Array,
  cursor: Cursor,
  end: number,
  count: number,
): BigInt64Array {
  const blockSize = varint(bytes, cursor, end);
  const miniblocks = varint(bytes, cursor, end);
  const total = varint(bytes, cursor, end);
  const perMiniblock = blockSize / miniblocks;
  if (
    total !== count ||
    blockSize > MAX_BLOCK ||
    !Number.isInteger(perMiniblock) ||
    perMiniblock % 8 !== 0 ||
    perMiniblock === 0
  ) {
    throw new PageFault('the head of delta-encoded values is out of range');
  }
  const output = new BigInt64Array(count);
  let value = zigzag(bytes, cursor, end);
  let filled = 0;
  if (count > 0) output[filled++] = value;
  while (filled < count) {
    const least = zigzag(bytes, cursor, end);
    const widths = cursor.at;
    cursor.at += miniblocks;
    if (cursor.at > end) throw new PageFault('delta-encoded values are truncated');
    for (let miniblock = 0; miniblock < miniblocks && filled < count; miniblock++) {
      const width = bytes[widths + miniblock] as number;
      if (width > 64 || cursor.at + (perMiniblock * width) / 8 > end) {
        throw new PageFault('delta-encoded values are truncated');
      }
      const wanted = Math.min(perMiniblock, count - filled);
      let bit = 8 * cursor.at;
      for (let index = 0; index < wanted; index++) {
        value = BigInt.asIntN(64, value + least + bitsAt(bytes, bit, width));
        output[filled++] = value;
        bit += width;
      }
      cursor.at += (perMiniblock * width) / 8;
    }
  }
  return output;
}

/** Decodes the lengths of DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY. */
export function decodeLengths(
  bytes: Uint8Array,
  cursor: Cursor,
  end: number,
  count: number,
): Uint32Array {
  const lengths = new Uint32Array(count);
  decodeDelta(bytes, cursor, end, count).forEach((length, index) => {
    if (length < 0n || length > 0x7fffffffn) throw new PageFault('a length is out of range');
    lengths[index] = Number(length);
  });
  return lengths;
}

/** Reads `width` bits from a bit offset, the lowest bit first. */
function bitsAt(bytes: Uint8Array, bit: number, width: number): bigint {
  if (width === 0) return 0n;
  let at = Math.floor(bit / 8);
  const skipped = bit % 8;
  if (width <= 40) {
    let window = 0;
    for (let index = 0; index * 8 < width + skipped; index++) {
      window += (bytes[at++] as number) * 2 ** (8 * index);
    }
    return BigInt(Math.floor(window / 2 ** skipped) % 2 ** width);
  }
  let window = 0n;
  for (let index = 0; index * 8 < width + skipped; index++) {
    window |= BigInt(bytes[at++] as number) << BigInt(8 * index);
  }
  return BigInt.asUintN(width, window >> BigInt(skipped));
}

function varint(bytes: Uint8Array, cursor: Cursor, end: number): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    if (cursor.at >= end) break;
    const byte = bytes[cursor.at++] as number;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return value;
  }
  throw new PageFault('delta-encoded values are truncated');
}

function zigzag(bytes: Uint8Array, cursor: Cursor, end: number): bigint {
  let value = 0n;
  for (let shift = 0; shift < 70; shift += 7) {
    if (cursor.at >= end) break;
    const byte = bytes[cursor.at++] as number;
    value |= BigInt(byte & 0x7f) << BigInt(shift);
    if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
  }
  throw new PageFault('delta-encoded values are truncated');
}
