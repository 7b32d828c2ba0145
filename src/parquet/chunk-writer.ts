import { RobotsFilterError } from '../errors.js';
import {
  ADDED_TYPES,
  type AddedColumn,
  type AddedValues,
  schemaElementOf,
} from './added-column.js';
import { SNAPPY } from './codecs.js';
import type { EncodedPage } from './encode.js';
import { encodeDataPage, encodeDictionaryPage, selectValues } from './encode.js';
import { CHUNK, COLUMN, FILE, GROUP, MAX_FOOTER, MAX_ROW_GROUPS } from './footer.js';
import { type ByteArrays, countOf, ENCODING, type FixedValues } from './page-values.js';
import { NUM_CHILDREN } from './schema.js';
import { BINARY, I32, STRUCT, type ThriftStruct } from './thrift.js';
import { encodeThrift, i32, i64, list, text } from './thrift-writer.js';

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
    `the Parquet output would have ${what}, and could not be read again. Divide the input among several outputs`,
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
