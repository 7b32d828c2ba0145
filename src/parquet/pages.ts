/** Reads the pages of a column chunk, decompressed. */

import { crc32 } from 'node:zlib';
import { type Codec, codecOf, decompressPage } from './codecs.js';
import type { ColumnChunk, Leaf } from './footer.js';
import {
  countOf,
  decodeHybrid,
  decodePlain,
  decodeValues,
  ENCODING,
  PageFault,
  type PageValues,
  type PlainValues,
} from './page-values.js';
import { integerOf, ParquetDamage, structOf, ThriftReader, type ThriftStruct } from './thrift.js';

/** Numbers of PageType in parquet.thrift. */
export const PAGE = { data: 0, index: 1, dictionary: 2, dataV2: 3 } as const;

/** Field numbers of PageHeader, DataPageHeader and DataPageHeaderV2. */
export const HEADER = {
  type: 1,
  bytes: 2,
  compressedBytes: 3,
  checksum: 4,
  data: 5,
  dictionary: 7,
  dataV2: 8,
};

/**
 * Maximum length of a page, uncompressed, in bytes. Writers aim at 1 MiB; a value may be larger.
 */
export const MAX_PAGE = 256 * 1024 * 1024;
/** Maximum number of values of a page, including nulls: some 150 MB of memory. */
const MAX_PAGE_VALUES = 2 ** 24;
/** Maximum length of the header of a page, in bytes. It may hold two values as statistics. */
const MAX_HEADER = 16 * 1024 * 1024;
/** Number of bytes that are read first for a header. */
const HEADER_BYTES = 1024;

/** Reads bytes of a file by their position. */
interface PositionalReader {
  /** Reads bytes, which are valid until the next call. */
  read(offset: number, bytes: number): Promise<Uint8Array>;
}

/** A data page. */
export interface DataPage {
  readonly kind: 'data';
  /** Number of entries of the levels: values and nulls. */
  readonly entries: number;
  /** A level for each entry; `undefined` if the column is never null. */
  readonly definitions: Uint8Array | undefined;
  /** A level for each entry; `undefined` if the column is not repeated. */
  readonly repetitions: Uint8Array | undefined;
  /** The values that are not null. */
  readonly values: PageValues;
}

/** The dictionary of a chunk, which comes before the data. */
export interface DictionaryPage {
  readonly kind: 'dictionary';
  readonly values: PlainValues;
}

/**
 * Yields the pages of a column chunk, decoded, in order. Their levels are no greater than the
 * column's, and their indices lie in the dictionary. All pages together have as many entries as the
 * chunk declares.
 *
 * @throws ParquetDamage
 */
export async function* readPages(
  reader: PositionalReader,
  chunk: ColumnChunk,
): AsyncGenerator<DataPage | DictionaryPage> {
  const { leaf } = chunk;
  const codec = codecOf(chunk.codec);
  if (typeof codec === 'string') {
    throw new ParquetDamage(`column ${nameOf(leaf)} is compressed as ${codec}`, chunk.start);
  }
  await codec.prepare?.();
  const end = chunk.start + chunk.bytes;
  let at = chunk.start;
  let left = chunk.values;
  let dictionary: PlainValues | undefined;
  while (at < end && left > 0) {
    const { header, bytes: headerBytes } = await readHeader(reader, at, end);
    const type = integerOf(header, HEADER.type);
    const length = integerOf(header, HEADER.bytes) ?? -1;
    const compressed = integerOf(header, HEADER.compressedBytes) ?? -1;
    const fail = (message: string) =>
      new ParquetDamage(`a page of column ${nameOf(leaf)}: ${message}`, at);
    const start = at + headerBytes;
    if (compressed < 0 || start + compressed > end) throw fail('it ends beyond its column');
    if (length < 0) throw fail('its size is out of range');
    if (length > MAX_PAGE) throw fail(`it has ${length} bytes; 256 MiB are read`);
    if (type === PAGE.index) {
      at = start + compressed;
      continue;
    }
    const body = await reader.read(start, compressed);
    const checksum = integerOf(header, HEADER.checksum);
    if (checksum !== undefined && crc32(body) !== checksum >>> 0) {
      throw fail('its checksum is wrong; the file is damaged');
    }
    try {
      const known = dictionary && countOf(dictionary);
      const page = decodePage({ leaf, codec, header, body, length, dictionary: known });
      if (page.kind === 'dictionary') {
        dictionary = page.values;
      } else {
        left -= page.entries;
        if (left < 0) throw new PageFault('there are more values than the column declares');
      }
      yield page;
    } catch (error) {
      throw error instanceof PageFault ? fail(error.message) : error;
    }
    at = start + compressed;
  }
  if (left > 0) {
    throw new ParquetDamage(`column ${nameOf(leaf)} ends ${left} values too early`, at);
  }
}

/** The name of a column in messages and options. */
export function nameOf(leaf: Leaf): string {
  return leaf.path.join('.');
}

async function readHeader(
  reader: PositionalReader,
  at: number,
  end: number,
): Promise<{ readonly header: ThriftStruct; readonly bytes: number }> {
  for (let wanted = HEADER_BYTES; ; wanted *= 16) {
    const bytes = await reader.read(at, Math.min(wanted, end - at, MAX_HEADER));
    const thrift = new ThriftReader(bytes, 0, at);
    try {
      return { header: thrift.struct(), bytes: thrift.at };
    } catch (error) {
      if (!thrift.isTruncated || bytes.length < wanted) throw error;
    }
  }
}

function dictionaryOf(leaf: Leaf, header: ThriftStruct, page: Uint8Array): PlainValues {
  const fields = structOf(header, HEADER.dictionary);
  const count = fields && integerOf(fields, 1);
  const encoding = fields && integerOf(fields, 2);
  if (count === undefined || count < 0 || count > MAX_PAGE_VALUES) {
    throw new PageFault('the number of values in a dictionary is out of range');
  }
  if (encoding !== ENCODING.plain && encoding !== ENCODING.plainDictionary) {
    throw new PageFault(`a dictionary in the encoding ${encoding} is not supported`);
  }
  return decodePlain(leaf, page, 0, count);
}

/** A page as stored in the file. */
interface RawPage {
  readonly leaf: Leaf;
  readonly codec: Codec;
  readonly header: ThriftStruct;
  readonly body: Uint8Array;
  /** Length of the page, uncompressed, in bytes. */
  readonly length: number;
  /** Number of values in the dictionary; `undefined` if there was no dictionary so far. */
  readonly dictionary: number | undefined;
}

/**
 * Decodes a page.
 *
 * @throws PageFault
 */
export function decodePage(raw: RawPage): DataPage | DictionaryPage {
  const { leaf, codec, header, body, length, dictionary } = raw;
  const type = integerOf(header, HEADER.type);
  if (type === PAGE.dictionary) {
    if (dictionary !== undefined) throw new PageFault('a second dictionary');
    const page = decompressPage(codec, body, length);
    return { kind: 'dictionary', values: dictionaryOf(leaf, header, page) };
  }
  const fields = structOf(header, type === PAGE.dataV2 ? HEADER.dataV2 : HEADER.data);
  if (fields === undefined || (type !== PAGE.data && type !== PAGE.dataV2)) {
    throw new PageFault('its header is incomplete');
  }
  const entries = integerOf(fields, 1) ?? -1;
  if (entries < 0) throw new PageFault('the number of its values is out of range');
  if (entries > MAX_PAGE_VALUES) {
    throw new PageFault(`it has ${entries} values; ${MAX_PAGE_VALUES} are read`);
  }
  return type === PAGE.data ? dataPageV1(raw, fields, entries) : dataPageV2(raw, fields, entries);
}

/** DataPageHeader: 2 encoding, 3 of the definition levels, 4 of the repetition levels. */
function dataPageV1(raw: RawPage, fields: ThriftStruct, entries: number): DataPage {
  const { leaf, codec, body, length, dictionary } = raw;
  // The next read overwrites the body of an uncompressed page.
  const page = decompressPage(codec, body, length);
  let at = 0;
  const levels = (most: number, encoding: number): Uint8Array | undefined => {
    if (most === 0) return undefined;
    if (integerOf(fields, encoding) !== ENCODING.rle) {
      throw new PageFault('levels in the encoding BIT_PACKED are not supported');
    }
    if (at + 4 > page.length) throw new PageFault('its levels are truncated');
    const bytes = new DataView(page.buffer, page.byteOffset + at, 4).getUint32(0, true);
    const start = at + 4;
    at = start + bytes;
    if (at > page.length) throw new PageFault('its levels are truncated');
    return levelsOf(page, start, at, most, entries);
  };
  const repetitions = levels(leaf.maxRepetition, 4);
  const definitions = levels(leaf.maxDefinition, 3);
  const count = presentOf(definitions, leaf.maxDefinition, entries);
  const encoding = integerOf(fields, 2) ?? -1;
  const values = decodeValues(leaf, encoding, page, at, count, dictionary);
  return { kind: 'data', entries, definitions, repetitions, values };
}

/**
 * DataPageHeaderV2: 4 encoding, 5 bytes of the definition levels, 6 of the repetition levels, which
 * come first, 7 whether the values are compressed.
 */
function dataPageV2(raw: RawPage, fields: ThriftStruct, entries: number): DataPage {
  const { leaf, codec, body, length, dictionary } = raw;
  const definitionBytes = integerOf(fields, 5) ?? 0;
  const repetitionBytes = integerOf(fields, 6) ?? 0;
  const levelBytes = definitionBytes + repetitionBytes;
  if (
    definitionBytes < 0 ||
    repetitionBytes < 0 ||
    levelBytes > body.length ||
    levelBytes > length
  ) {
    throw new PageFault('its levels are truncated');
  }
  const repetitions =
    leaf.maxRepetition === 0
      ? undefined
      : levelsOf(body, 0, repetitionBytes, leaf.maxRepetition, entries);
  const definitions =
    leaf.maxDefinition === 0
      ? undefined
      : levelsOf(body, repetitionBytes, levelBytes, leaf.maxDefinition, entries);
  const stored = body.subarray(levelBytes);
  const isCompressed = fields.get(7)?.value !== false;
  const page = isCompressed ? decompressPage(codec, stored, length - levelBytes) : stored;
  const count = presentOf(definitions, leaf.maxDefinition, entries);
  const encoding = integerOf(fields, 4) ?? -1;
  const values = decodeValues(leaf, encoding, page, 0, count, dictionary);
  return { kind: 'data', entries, definitions, repetitions, values };
}

function levelsOf(
  page: Uint8Array,
  start: number,
  end: number,
  most: number,
  entries: number,
): Uint8Array {
  const levels = new Uint8Array(entries);
  decodeHybrid(page, start, end, 32 - Math.clz32(most), levels);
  for (let index = 0; index < entries; index++) {
    if ((levels[index] as number) > most) throw new PageFault('a level is out of range');
  }
  return levels;
}

/** The number of entries that are not null. */
function presentOf(definitions: Uint8Array | undefined, most: number, entries: number): number {
  if (definitions === undefined) return entries;
  let count = 0;
  for (let index = 0; index < entries; index++) if (definitions[index] === most) count++;
  return count;
}
