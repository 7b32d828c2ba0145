/** Decodes the values of a page in every encoding that Parquet defines for them. */

import type { Leaf, PhysicalType } from './footer.js';

/** Byte strings, each from its start to its end in `bytes`. */
export interface ByteArrays {
  readonly kind: 'byte arrays';
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Values of one width, one after another, as in PLAIN encoding. */
export interface FixedValues {
  readonly kind: 'fixed';
  readonly bytes: Uint8Array;
  /** Number of bytes of a value. */
  readonly width: number;
}

/** Truth values, one byte each: 0 or 1. */
interface Booleans {
  readonly kind: 'booleans';
  readonly values: Uint8Array;
}

/** Places in the dictionary of the column chunk. */
interface DictionaryIndices {
  readonly kind: 'indices';
  readonly indices: Uint32Array;
}

/** Values without nulls. */
export type PlainValues = ByteArrays | FixedValues | Booleans;
export type PageValues = PlainValues | DictionaryIndices;

/** Encodings of parquet.thrift. */
export const ENCODING = {
  plain: 0,
  plainDictionary: 2,
  rle: 3,
  bitPacked: 4,
  delta: 5,
  deltaLength: 6,
  deltaByteArray: 7,
  rleDictionary: 8,
  byteStreamSplit: 9,
} as const;

const WIDTHS: Record<PhysicalType, number> = {
  BOOLEAN: 0,
  INT32: 4,
  INT64: 8,
  INT96: 12,
  FLOAT: 4,
  DOUBLE: 8,
  BYTE_ARRAY: 0,
  FIXED_LEN_BYTE_ARRAY: 0,
};

/** Maximum bytes of the prefix-compressed values of a page after expansion. */
const MAX_EXPANDED = 256 * 1024 * 1024;

/** Number of bytes of a value of this column; 0 if the values differ in length, or are bits. */
function widthOf({ type, typeLength }: Leaf): number {
  return typeLength || WIDTHS[type];
}

/** The number of values. */
export function countOf(values: PageValues): number {
  switch (values.kind) {
    case 'byte arrays':
      return values.starts.length;
    case 'fixed':
      return values.bytes.length / values.width;
    case 'booleans':
      return values.values.length;
    case 'indices':
      return values.indices.length;
  }
}

/**
 * Decodes the values of a page.
 *
 * @param start offset of the first byte of the values, which end with the page
 * @param count number of values, without nulls
 * @param dictionary number of values in the dictionary of the chunk; `undefined` if it has none
 * @throws PageFault
 */
export function decodeValues(
  leaf: Leaf,
  encoding: number,
  page: Uint8Array,
  start: number,
  count: number,
  dictionary: number | undefined,
): PageValues {
  const width = widthOf(leaf);
  const cursor = { at: start };
  switch (encoding) {
    case ENCODING.plain:
      return decodePlain(leaf, page, start, count);
    case ENCODING.plainDictionary:
    case ENCODING.rleDictionary:
      return decodeIndices(page, start, count, dictionary);
    case ENCODING.rle:
      if (leaf.type === 'BOOLEAN') return decodeBooleanRuns(page, start, count);
      break;
    case ENCODING.delta:
      if (leaf.type === 'INT32' || leaf.type === 'INT64') {
        return decodeIntegers(page, cursor, count, width);
      }
      break;
    case ENCODING.deltaLength:
      if (leaf.type === 'BYTE_ARRAY') return decodeDeltaLength(page, cursor, count);
      break;
    case ENCODING.deltaByteArray:
      if (leaf.type === 'BYTE_ARRAY') return decodePrefixed(page, cursor, count);
      if (leaf.type === 'FIXED_LEN_BYTE_ARRAY') {
        return fixedOf(decodePrefixed(page, cursor, count), width);
      }
      break;
    case ENCODING.byteStreamSplit:
      if (width > 0) return decodeSplit(page, start, count, width);
  }
  throw new PageFault(`${leaf.type} in the encoding ${encoding} is not supported`);
}

/** Decodes PLAIN values, which are also the values of a dictionary. */
export function decodePlain(
  leaf: Leaf,
  page: Uint8Array,
  start: number,
  count: number,
): PlainValues {
  if (leaf.type === 'BYTE_ARRAY') return decodePlainByteArrays(page, start, count);
  if (leaf.type === 'BOOLEAN') {
    if (start + Math.ceil(count / 8) > page.length) throw cutOff();
    const values = new Uint8Array(count);
    for (let index = 0; index < count; index++) {
      values[index] = ((page[start + (index >> 3)] as number) >> (index & 7)) & 1;
    }
    return { kind: 'booleans', values };
  }
  const width = widthOf(leaf);
  if (start + count * width > page.length) throw cutOff();
  return { kind: 'fixed', bytes: page.subarray(start, start + count * width), width };
}

function decodePlainByteArrays(page: Uint8Array, start: number, count: number): ByteArrays {
  // Each value is preceded by its length, in four bytes.
  if (start + 4 * count > page.length) throw cutOff();
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  const view = new DataView(page.buffer, page.byteOffset, page.length);
  let at = start;
  for (let index = 0; index < count; index++) {
    if (at + 4 > page.length) throw cutOff();
    const end = at + 4 + view.getUint32(at, true);
    if (end > page.length) throw cutOff();
    starts[index] = at + 4;
    ends[index] = end;
    at = end;
  }
  return { kind: 'byte arrays', bytes: page, starts, ends };
}

function decodeIndices(
  page: Uint8Array,
  start: number,
  count: number,
  dictionary: number | undefined,
): DictionaryIndices {
  const indices = new Uint32Array(count);
  if (count === 0) return { kind: 'indices', indices };
  if (dictionary === undefined) throw new PageFault('the dictionary is missing');
  const width = page[start];
  if (width === undefined) throw cutOff();
  if (width > 32) throw new PageFault('an index has more than 32 bits');
  decodeHybrid(page, start + 1, page.length, width, indices);
  let greatest = 0;
  for (let index = 0; index < count; index++) {
    if ((indices[index] as number) > greatest) greatest = indices[index] as number;
  }
  if (greatest >= dictionary) throw new PageFault('an index is beyond the dictionary');
  return { kind: 'indices', indices };
}

function decodeBooleanRuns(page: Uint8Array, start: number, count: number): Booleans {
  const values = new Uint8Array(count);
  // Four bytes with the length come before the runs.
  if (count > 0) decodeHybrid(page, start + 4, page.length, 1, values);
  return { kind: 'booleans', values };
}

function decodeIntegers(
  page: Uint8Array,
  cursor: Cursor,
  count: number,
  width: number,
): FixedValues {
  const bytes = new Uint8Array(count * width);
  if (count > 0) {
    const view = new DataView(bytes.buffer);
    decodeDelta(page, cursor, page.length, count).forEach((value, index) => {
      if (width === 8) view.setBigInt64(8 * index, value, true);
      else view.setInt32(4 * index, Number(BigInt.asIntN(32, value)), true);
    });
  }
  return { kind: 'fixed', bytes, width };
}

function decodeDeltaLength(page: Uint8Array, cursor: Cursor, count: number): ByteArrays {
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  if (count > 0) {
    const lengths = decodeLengths(page, cursor, page.length, count);
    for (let index = 0; index < count; index++) {
      starts[index] = cursor.at;
      cursor.at += lengths[index] as number;
      if (cursor.at > page.length) throw cutOff();
      ends[index] = cursor.at;
    }
  }
  return { kind: 'byte arrays', bytes: page, starts, ends };
}

/** Decodes DELTA_BYTE_ARRAY: each value shares a number of first bytes with the value before. */
function decodePrefixed(page: Uint8Array, cursor: Cursor, count: number): ByteArrays {
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  if (count === 0) return { kind: 'byte arrays', bytes: page, starts, ends };
  const prefixes = decodeLengths(page, cursor, page.length, count);
  const suffixes = decodeDeltaLength(page, cursor, count);
  let total = 0;
  for (let index = 0; index < count; index++) {
    const suffix = (suffixes.ends[index] as number) - (suffixes.starts[index] as number);
    total += (prefixes[index] as number) + suffix;
  }
  if (total > MAX_EXPANDED) throw new PageFault('its values have more than 256 MiB');
  const bytes = new Uint8Array(total);
  let before = 0;
  let at = 0;
  for (let index = 0; index < count; index++) {
    const prefix = prefixes[index] as number;
    if (prefix > at - before) throw new PageFault('a prefix is longer than the value before');
    starts[index] = at;
    bytes.copyWithin(at, before, before + prefix);
    const suffix = page.subarray(suffixes.starts[index], suffixes.ends[index]);
    bytes.set(suffix, at + prefix);
    before = at;
    at += prefix + suffix.length;
    ends[index] = at;
  }
  return { kind: 'byte arrays', bytes, starts, ends };
}

function fixedOf({ bytes, starts, ends }: ByteArrays, width: number): FixedValues {
  for (let index = 0; index < starts.length; index++) {
    if ((ends[index] as number) - (starts[index] as number) !== width) {
      throw new PageFault(`a value does not have ${width} bytes`);
    }
  }
  // Without values, `bytes` would be the bytes of the page.
  return { kind: 'fixed', bytes: bytes.subarray(0, width * starts.length), width };
}

/** Decodes BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes, and so on. */
function decodeSplit(page: Uint8Array, start: number, count: number, width: number): FixedValues {
  if (start + count * width > page.length) throw cutOff();
  const bytes = new Uint8Array(count * width);
  for (let byte = 0; byte < width; byte++) {
    const from = start + byte * count;
    for (let index = 0; index < count; index++) {
      bytes[index * width + byte] = page[from + index] as number;
    }
  }
  return { kind: 'fixed', bytes, width };
}

function cutOff(): PageFault {
  return new PageFault('its values are truncated');
}

/** The offset in a page at which decoding continues. */
interface Cursor {
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
function decodeDelta(bytes: Uint8Array, cursor: Cursor, end: number, count: number): BigInt64Array {
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
function decodeLengths(bytes: Uint8Array, cursor: Cursor, end: number, count: number): Uint32Array {
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

/** A fault in a page. The reader of pages adds the place. */
export class PageFault extends Error {}

/**
 * Decodes runs of the RLE and bit-packing hybrid ("RLE" in the Parquet format): `output.length`
 * values of `width` bits. Time is linear in the bytes and the values.
 *
 * @param end offset after the last byte that may be read
 * @throws PageFault if there are too few values, or a run is malformed
 */
export function decodeHybrid(
  bytes: Uint8Array,
  start: number,
  end: number,
  width: number,
  output: Uint8Array | Uint32Array,
): void {
  const wanted = output.length;
  const valueBytes = (width + 7) >> 3;
  const mask = width === 32 ? 0xffffffff : 2 ** width - 1;
  let at = start;
  let filled = 0;
  while (filled < wanted) {
    let header = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= end || shift > 28) throw new PageFault('a run of levels or indices is truncated');
      const byte = bytes[at++] as number;
      header += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    const isPacked = header % 2 === 1;
    const length = Math.floor(header / 2);
    if (length === 0) {
      if (at >= end) throw new PageFault('levels or indices are missing');
      continue;
    }
    if (!isPacked) {
      if (at + valueBytes > end) throw new PageFault('a run of levels or indices is truncated');
      let value = 0;
      for (let index = 0; index < valueBytes; index++) {
        value += (bytes[at++] as number) * 2 ** (8 * index);
      }
      if (value > mask) throw new PageFault('a level or index has more bits than its width');
      const until = Math.min(wanted, filled + length);
      output.fill(value, filled, until);
      filled = until;
      continue;
    }
    const count = Math.min(8 * length, wanted - filled);
    if (at + Math.ceil((count * width) / 8) > end) {
      throw new PageFault('a run of levels or indices is truncated');
    }
    unpack(bytes, at, width, mask, output.subarray(filled, filled + count));
    at += length * width;
    filled += count;
  }
}

function unpack(
  bytes: Uint8Array,
  start: number,
  width: number,
  mask: number,
  output: Uint8Array | Uint32Array,
): void {
  let at = start;
  // The window has at most 7 + 32 bits, which is too many for bit operators, so it is a double.
  let window = 0;
  let bits = 0;
  const size = mask + 1;
  for (let index = 0; index < output.length; index++) {
    while (bits < width) {
      window += (bytes[at++] as number) * 2 ** bits;
      bits += 8;
    }
    const value = window % size;
    output[index] = value;
    window = (window - value) / size;
    bits -= width;
  }
}

/** Encodes values of `width` bits: runs of eight or more as runs, the others bit-packed. */
export function encodeHybrid(values: ArrayLike<number>, width: number): Buffer {
  const out = new BitWriter(values.length, width);
  const { length } = values;
  let at = 0;
  while (at < length) {
    const run = runLength(values, at);
    if (run >= 8 || at + run === length) {
      out.run(values[at] as number, run);
      at += run;
      continue;
    }
    // Groups of eight up to the next long run. Only the last group of all may be short.
    const begin = at;
    while (at < length && runLength(values, at) < 8) at = Math.min(at + 8, length);
    out.packed(values, begin, at);
  }
  return out.bytes();
}

/** The number of equal values from `from` on. */
function runLength(values: ArrayLike<number>, from: number): number {
  const value = values[from];
  let at = from + 1;
  while (at < values.length && values[at] === value) at++;
  return at - from;
}

class BitWriter {
  readonly #buffer: Buffer;
  readonly #width: number;
  #at = 0;

  constructor(values: number, width: number) {
    // A run has at least eight values, or is the last, and takes at most nine bytes. A packed
    // stretch takes its bits, and five bytes of header for at least eight values.
    this.#buffer = Buffer.alloc(Math.ceil((values * (width + 9)) / 8) + width + 32);
    this.#width = width;
  }

  run(value: number, count: number): void {
    this.#varint(2 * count);
    for (let index = 0; index < (this.#width + 7) >> 3; index++) {
      this.#buffer[this.#at++] = Math.floor(value / 2 ** (8 * index)) % 256;
    }
  }

  packed(values: ArrayLike<number>, begin: number, end: number): void {
    const groups = Math.ceil((end - begin) / 8);
    this.#varint(2 * groups + 1);
    let window = 0;
    let bits = 0;
    for (let index = begin; index < begin + 8 * groups; index++) {
      window += (index < end ? (values[index] as number) : 0) * 2 ** bits;
      bits += this.#width;
      while (bits >= 8) {
        this.#buffer[this.#at++] = window % 256;
        window = Math.floor(window / 256);
        bits -= 8;
      }
    }
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128))
      this.#buffer[this.#at++] = (rest % 128) | 128;
    this.#buffer[this.#at++] = rest;
  }
}
