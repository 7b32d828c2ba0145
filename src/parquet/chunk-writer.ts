/** Encodes columns and writes their chunks. */

import { RobotsFilterError } from '../base/errors.js';
import { type Codec, SNAPPY } from './codecs.js';
import { CHUNK, COLUMN, FILE, GROUP, MAX_FOOTER, MAX_ROW_GROUPS, NUM_CHILDREN } from './footer.js';
import {
  type ByteArrays,
  countOf,
  ENCODING,
  encodeHybrid,
  type FixedValues,
  type PageValues,
  type PlainValues,
} from './page-values.js';
import { HEADER, MAX_PAGE, PAGE } from './pages.js';
import {
  BINARY,
  encodeThrift,
  I32,
  i32,
  i64,
  list,
  STRUCT,
  struct,
  type ThriftField,
  type ThriftStruct,
  text,
} from './thrift.js';

/** A target for the bytes of a file, in order. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
}

/** Number of rows of a page of an added column. */
const PAGE_ROWS = 128 * 1024;

/** Maximum length of a dictionary, in bytes. Beyond it, values are written one by one. */
const MAX_DICTIONARY = 64 * 1024 * 1024;
/** Number of bytes of values after which a page of an added column without a dictionary ends. */
const PAGE_BYTES = 1024 * 1024;

/** The facts about a chunk whose pages have been written. */
export interface WrittenChunk {
  readonly fields: ThriftStruct;
  readonly bytes: number;
  readonly plainBytes: number;
}

/** Writes the column chunks of a file one after another, and its metadata after them. */
export class ChunkWriter {
  readonly #sink: ByteSink;
  /** The metadata of the row groups, as bytes. */
  readonly #groups: Buffer[] = [];
  #groupBytes = 0;
  #at = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Bytes written so far. */
  get at(): number {
    return this.#at;
  }

  /** Writes the bytes that a file begins with. */
  async begin(): Promise<void> {
    await this.write(Buffer.from('PAR1'));
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#sink.write(bytes);
    this.#at += bytes.length;
  }

  /** Writes a page of the chunk whose pages these are. */
  async page(pages: PageList, page: EncodedPage, isDictionary: boolean): Promise<void> {
    pages.note(this.#at, page, isDictionary);
    await this.write(page.header);
    await this.write(page.body);
  }

  /**
   * Writes the chunk of an added column.
   *
   * @param keep 1 for each row to be written, 0 for the others; `undefined` keeps all
   */
  async added(values: AddedValues, keep: Uint8Array | undefined): Promise<WrittenChunk> {
    const { type, name, nullable } = values.column;
    const codec = SNAPPY;
    const dictionary = values.dictionary();
    const isIndexed = dictionary.bytes.length <= MAX_DICTIONARY;
    const pages = new PageList(this.#at);
    if (isIndexed) await this.page(pages, encodeDictionaryPage(dictionary, codec), true);
    const places = values.places(keep);
    for (let from = 0; from < places.length; ) {
      const end = isIndexed ? from + PAGE_ROWS : endOfPlainPage(dictionary, places, from);
      const rows = places.subarray(from, end);
      from = end;
      const indices = (nullable ? rows.filter((place) => place > 0) : rows).map(
        (place) => place - 1,
      );
      const content = {
        entries: rows.length,
        maxDefinition: nullable ? 1 : 0,
        definitions: nullable ? rows.map((place) => (place === 0 ? 0 : 1)) : undefined,
        maxRepetition: 0,
        repetitions: undefined,
        values: isIndexed
          ? { kind: 'indices' as const, indices }
          : selectValues(dictionary, indices),
        dictionary: countOf(dictionary),
      };
      await this.page(pages, encodeDataPage(content, codec), false);
    }
    const fields = new Map([
      [COLUMN.type, i32(ADDED_TYPES[type])],
      [COLUMN.path, list(BINARY, [Buffer.from(name)])],
    ]);
    const metadata = pages.metadata(fields, places.length, codec.number);
    return { fields: chunkOf(metadata), bytes: pages.bytes, plainBytes: pages.plainBytes };
  }

  /**
   * Adds the metadata of a row group.
   *
   * @throws RobotsFilterError `limit` if the file would have more of them than can be read again
   */
  group(fields: ThriftStruct): void {
    const bytes = Buffer.from(encodeThrift(fields));
    this.#groups.push(bytes);
    this.#groupBytes += bytes.length;
    if (this.#groups.length > MAX_ROW_GROUPS) {
      throw tooLong(`more than ${MAX_ROW_GROUPS} row groups`);
    }
    if (this.#groupBytes > MAX_FOOTER) throw tooLong(METADATA);
  }

  /**
   * Writes the metadata, with which the file ends.
   *
   * @param footer its fields, without the row groups
   * @throws RobotsFilterError `limit` if they are longer than can be read again
   */
  async end(footer: ThriftStruct): Promise<void> {
    const groups = list(STRUCT, this.#groups);
    const bytes = encodeThrift(new Map(footer).set(FILE.rowGroups, groups));
    if (bytes.length > MAX_FOOTER) throw tooLong(METADATA);
    const tail = Buffer.from('....PAR1');
    tail.writeUInt32LE(bytes.length);
    await this.write(bytes);
    await this.write(tail);
  }
}

/** The row after a page of values without a dictionary, which begins at a row. */
function endOfPlainPage(
  dictionary: ByteArrays | FixedValues,
  places: Uint32Array,
  start: number,
): number {
  let bytes = 0;
  let at = start;
  for (; at < places.length && at - start < PAGE_ROWS && bytes < PAGE_BYTES; at++) {
    const place = (places[at] as number) - 1;
    if (place < 0) continue;
    bytes +=
      dictionary.kind === 'fixed'
        ? dictionary.width
        : 4 + (dictionary.ends[place] as number) - (dictionary.starts[place] as number);
  }
  return at;
}

const METADATA = `more than ${MAX_FOOTER} bytes of metadata`;

function tooLong(what: string): RobotsFilterError {
  return new RobotsFilterError(
    'limit',
    `the Parquet output would have ${what}, and could not be read again. Divide the input among several outputs, as the filter does with -o DIR/`,
  );
}

/** The version of the format of files that begin here; they have no features of the second. */
const VERSION = 1;

/** The metadata of a file that begins here, and has these columns, without its row groups. */
export function footerOf(columns: readonly AddedColumn[], rows: number): ThriftStruct {
  const root: ThriftStruct = new Map([
    [4, text('schema')],
    [NUM_CHILDREN, i32(columns.length)],
  ]);
  return new Map([
    [FILE.version, i32(VERSION)],
    [FILE.schema, list(STRUCT, [root, ...columns.map(schemaElementOf)])],
    [FILE.rows, i64(rows)],
    [FILE.createdBy, text('robots-filter')],
  ]);
}

/** The places and lengths of the pages of a chunk that is being written. */
export class PageList {
  readonly #start: number;
  bytes = 0;
  plainBytes = 0;
  #dictionary: number | undefined;
  #data: number | undefined;

  constructor(start: number) {
    this.#start = start;
  }

  note(at: number, { header, body, plainBytes }: EncodedPage, isDictionary: boolean): void {
    if (isDictionary) this.#dictionary = at;
    else this.#data ??= at;
    this.bytes += header.length + body.length;
    this.plainBytes += plainBytes;
  }

  /** Sets the fields of ColumnMetaData that depend on the pages. */
  metadata(fields: ThriftStruct, entries: number, codec: number): ThriftStruct {
    const encodings: number[] = [ENCODING.plain, ENCODING.rle];
    if (this.#dictionary !== undefined) encodings.push(ENCODING.rleDictionary);
    fields
      .set(COLUMN.encodings, list(I32, encodings))
      .set(COLUMN.codec, i32(codec))
      .set(COLUMN.values, i64(entries))
      .set(COLUMN.uncompressedBytes, i64(this.plainBytes))
      .set(COLUMN.compressedBytes, i64(this.bytes))
      .set(COLUMN.dataPage, i64(this.#data ?? this.#start));
    if (this.#dictionary === undefined) fields.delete(COLUMN.dictionaryPage);
    else fields.set(COLUMN.dictionaryPage, i64(this.#dictionary));
    return fields;
  }
}

/** The ColumnChunk of a chunk with this metadata. */
export function chunkOf(metadata: ThriftStruct): ThriftStruct {
  // This field is the offset of a second copy of the metadata, which is not written.
  return new Map([
    [CHUNK.offset, i64(0)],
    [CHUNK.metadata, { type: STRUCT, value: metadata }],
  ]);
}

/**
 * The RowGroup of chunks that have been written.
 *
 * @param start where the first of them begins in the file
 * @param fields what else is known of the group
 */
export function rowGroupOf(
  chunks: readonly WrittenChunk[],
  rows: number,
  start: number,
  fields: ThriftStruct = new Map(),
): ThriftStruct {
  const columns = chunks.map((chunk) => chunk.fields);
  const group = new Map(fields)
    .set(GROUP.columns, list(STRUCT, columns))
    .set(GROUP.bytes, i64(sum(chunks, ({ plainBytes }) => plainBytes)))
    .set(GROUP.rows, i64(rows))
    .set(GROUP.offset, i64(start))
    .set(GROUP.compressedBytes, i64(sum(chunks, ({ bytes }) => bytes)));
  // An ordinal has 16 bits, and the ordinals of several files would repeat.
  group.delete(GROUP.ordinal);
  return group;
}

function sum<Each>(all: readonly Each[], of: (each: Each) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}

/** A page in its written form: its header, and its bytes after compression. */
interface EncodedPage {
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
interface WritableCodec {
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

/** A column that is added to a file: texts, 32-bit integers, or 64-bit floating-point numbers. */
export interface AddedColumn {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'number';
  readonly nullable: boolean;
}

/** Initial capacity of the rows of a column, which doubles. */
const CAPACITY = 1024;

/** The values of an added column in a row group, in a dictionary. */
export class AddedValues {
  readonly column: AddedColumn;
  readonly #places = new Map<string | number, number>();
  /** For each row, the place of its value in the dictionary plus one; 0 for null. */
  #rows = new Uint32Array(CAPACITY);
  #count = 0;
  /** The value that was added last, and its place: neighbours are often equal. */
  #last: string | number | undefined;
  #lastPlace = 0;

  constructor(column: AddedColumn) {
    this.column = column;
  }

  /** Adds a row; `undefined` becomes null. */
  add(value: string | number | undefined): void {
    if (value !== this.#last) {
      this.#last = value;
      this.#lastPlace = this.#placeOf(value);
    }
    if (this.#count === this.#rows.length) {
      const larger = new Uint32Array(2 * this.#count);
      larger.set(this.#rows);
      this.#rows = larger;
    }
    this.#rows[this.#count++] = this.#lastPlace;
  }

  /** The place of a value, which is added to the dictionary if it is new. */
  #placeOf(value: string | number | undefined): number {
    if (value === undefined) return 0;
    const known = this.#places.get(value);
    if (known !== undefined) return known;
    const place = this.#places.size + 1;
    this.#places.set(value, place);
    return place;
  }

  /** Adds the same value for this many rows. */
  addMany(value: string | undefined, rows: number): void {
    for (let row = 0; row < rows; row++) this.add(value);
  }

  /** The dictionary. */
  dictionary(): ByteArrays | FixedValues {
    const values = [...this.#places.keys()];
    const { type } = this.column;
    if (type !== 'text') {
      const width = type === 'integer' ? 4 : 8;
      const bytes = Buffer.alloc(width * values.length);
      values.forEach((value, index) => {
        if (type === 'integer') bytes.writeInt32LE(Number(value), width * index);
        else bytes.writeDoubleLE(Number(value), width * index);
      });
      return { kind: 'fixed', bytes, width };
    }
    const texts = values.map((value) => Buffer.from(String(value)));
    const starts = new Uint32Array(texts.length);
    const ends = new Uint32Array(texts.length);
    let at = 0;
    texts.forEach(({ length }, index) => {
      starts[index] = at;
      at += length;
      ends[index] = at;
    });
    return { kind: 'byte arrays', bytes: Buffer.concat(texts), starts, ends };
  }

  /** The places of the rows that `keep` selects; without `keep`, of all rows. */
  places(keep: Uint8Array | undefined): Uint32Array {
    const rows = this.#rows.subarray(0, this.#count);
    return keep === undefined ? rows : rows.filter((_, row) => keep[row] === 1);
  }
}

/** The physical types of added columns in parquet.thrift. */
export const ADDED_TYPES = { text: 6, integer: 1, number: 5 } as const;

/** The element of the schema for an added column. */
export function schemaElementOf({ name, type, nullable }: AddedColumn): ThriftStruct {
  const element: ThriftStruct = new Map([
    [1, i32(ADDED_TYPES[type])],
    [3, i32(nullable ? 1 : 0)],
    [4, text(name)],
  ]);
  // The converted type UTF8, and the logical type STRING.
  if (type === 'text') element.set(6, i32(0)).set(10, struct([[1, struct([])]]));
  return element;
}
