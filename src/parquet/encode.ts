import { RobotsFilterError } from '../errors.js';
import type { Codec } from './codecs.js';
import { SNAPPY } from './codecs.js';
import { encodeHybrid } from './hybrid.js';
import { countOf, ENCODING, type PageValues, type PlainValues } from './page-values.js';
import { HEADER, MAX_PAGE, PAGE } from './pages.js';
import type { ThriftField } from './thrift.js';
import { encodeThrift, i32, struct } from './thrift-writer.js';

/** A page in its written form: its header, and its bytes after compression. */
export interface EncodedPage {
  readonly header: Buffer;
  readonly body: Uint8Array;
  /** Bytes of header and page without compression. */
  readonly plainBytes: number;
}

/** The entries of a data page that will be written. */
export interface PageEntries {
  /** Number of entries of the levels: values and nulls. */
  readonly entries: number;
  readonly maxDefinition: number;
  readonly definitions: ArrayLike<number> | undefined;
  readonly maxRepetition: number;
  readonly repetitions: ArrayLike<number> | undefined;
  readonly values: PageValues;
  /** Number of values in the dictionary, if the values are indices. */
  readonly dictionary: number;
}

/** A codec that compresses. */
export interface WritableCodec {
  readonly number: number;
  compress(input: Uint8Array): Uint8Array;
}

/** The codec in which pages are written, for a column that was read in another codec. */
export async function writableCodec(codec: Codec): Promise<WritableCodec> {
  const { number, prepareCompress, compress } = codec;
  if (compress === undefined) return SNAPPY;
  await prepareCompress?.();
  return { number, compress };
}

/** Encodes a dictionary page with PLAIN values. */
export function encodeDictionaryPage(values: PlainValues, codec: WritableCodec): EncodedPage {
  const fields: [number, ThriftField][] = [
    [1, i32(countOf(values))],
    [2, i32(ENCODING.plain)],
  ];
  return encodePage(PAGE.dictionary, HEADER.dictionary, fields, plainBytes(values), codec);
}

/** Encodes a data page of version 1 without levels. The content is its values, PLAIN. */
export function encodePlainPage(
  entries: number,
  content: Uint8Array,
  codec: WritableCodec,
): EncodedPage {
  const fields = dataFields(entries, ENCODING.plain);
  return encodePage(PAGE.data, HEADER.data, fields, content, codec);
}

/** Encodes a data page of version 1: levels, then values, which are PLAIN or indices. */
export function encodeDataPage(page: PageEntries, codec: WritableCodec): EncodedPage {
  const { entries, values } = page;
  const parts: Uint8Array[] = [];
  for (const [levels, most] of [
    [page.repetitions, page.maxRepetition],
    [page.definitions, page.maxDefinition],
  ] as const) {
    if (most === 0) continue;
    const runs = encodeHybrid(levels ?? new Uint8Array(entries).fill(most), widthFor(most));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(runs.length);
    parts.push(length, runs);
  }
  if (values.kind === 'indices') {
    // The width is at least one bit, because not every reader accepts indices of width 0.
    const width = widthFor(Math.max(page.dictionary - 1, 1));
    parts.push(Buffer.of(width), encodeHybrid(values.indices, width));
  } else {
    parts.push(plainBytes(values));
  }
  const encoding = values.kind === 'indices' ? ENCODING.rleDictionary : ENCODING.plain;
  const fields = dataFields(entries, encoding);
  return encodePage(PAGE.data, HEADER.data, fields, Buffer.concat(parts), codec);
}

/** The fields of DataPageHeader. */
function dataFields(entries: number, encoding: number): [number, ThriftField][] {
  return [
    [1, i32(entries)],
    [2, i32(encoding)],
    [3, i32(ENCODING.rle)],
    [4, i32(ENCODING.rle)],
  ];
}

function encodePage(
  type: number,
  member: number,
  fields: [number, ThriftField][],
  content: Uint8Array,
  codec: WritableCodec,
): EncodedPage {
  if (content.length > MAX_PAGE) {
    throw new RobotsFilterError(
      'limit',
      `a page of the Parquet output would have ${content.length} bytes, and could not be read again: at most ${MAX_PAGE} are read. Write the input again with smaller pages, or with shorter values`,
    );
  }
  const body = codec.compress(content);
  const header = encodeThrift(
    new Map([
      [HEADER.type, i32(type)],
      [HEADER.bytes, i32(content.length)],
      [HEADER.compressedBytes, i32(body.length)],
      [member, struct(fields)],
    ]),
  );
  return { header, body, plainBytes: header.length + content.length };
}

/** The number of bits that hold numbers up to `most`. */
function widthFor(most: number): number {
  return 32 - Math.clz32(most);
}

/** The values in PLAIN encoding. */
function plainBytes(values: PlainValues): Uint8Array {
  switch (values.kind) {
    case 'fixed':
      return values.bytes;
    case 'booleans': {
      const packed = new Uint8Array(Math.ceil(values.values.length / 8));
      values.values.forEach((value, index) => {
        packed[index >> 3] = (packed[index >> 3] as number) | (value << (index & 7));
      });
      return packed;
    }
    case 'byte arrays': {
      const { bytes, starts, ends } = values;
      let total = 4 * starts.length;
      for (let index = 0; index < starts.length; index++) {
        total += (ends[index] as number) - (starts[index] as number);
      }
      const output = Buffer.allocUnsafe(total);
      let at = 0;
      for (let index = 0; index < starts.length; index++) {
        const start = starts[index] as number;
        const end = ends[index] as number;
        at = output.writeUInt32LE(end - start, at);
        output.set(bytes.subarray(start, end), at);
        at += end - start;
      }
      return output;
    }
  }
}

/** The values at these places, in their order. */
export function selectValues(values: PageValues, places: Uint32Array): PageValues {
  switch (values.kind) {
    case 'indices':
      return { kind: 'indices', indices: places.map((place) => values.indices[place] as number) };
    case 'booleans':
      return {
        kind: 'booleans',
        values: Uint8Array.from(places, (place) => values.values[place] as number),
      };
    case 'byte arrays': {
      const { bytes, starts, ends } = values;
      return {
        kind: 'byte arrays',
        bytes,
        starts: places.map((place) => starts[place] as number),
        ends: places.map((place) => ends[place] as number),
      };
    }
    case 'fixed': {
      const { bytes, width } = values;
      const selected = new Uint8Array(places.length * width);
      places.forEach((place, index) => {
        selected.set(bytes.subarray(place * width, (place + 1) * width), index * width);
      });
      return { kind: 'fixed', bytes: selected, width };
    }
  }
}
