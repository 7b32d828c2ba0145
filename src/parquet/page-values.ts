import { type Cursor, decodeDelta, decodeLengths } from './delta.js';
import { decodeHybrid, PageFault } from './hybrid.js';
import type { Leaf, PhysicalType } from './schema.js';

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
export interface Booleans {
  readonly kind: 'booleans';
  readonly values: Uint8Array;
}

/** Places in the dictionary of the column chunk. */
export interface DictionaryIndices {
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
export function widthOf({ type, typeLength }: Leaf): number {
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
