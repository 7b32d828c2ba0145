import { RobotsFilterError } from '../errors.js';
import {
  ADDED_TYPES,
  type AddedColumn,
  type AddedValues,
  schemaElementOf,
} from './added-column.js';
import { codecOf, SNAPPY } from './codecs.js';
import type { EncodedPage } from './encode.js';
import { encodeDataPage, encodeDictionaryPage, writableCodec } from './encode.js';
import { CHUNK, COLUMN, type ColumnChunk, FILE, GROUP, type RowGroup } from './footer.js';
import { countOf, ENCODING } from './page-values.js';
import type { ParquetFile } from './parquet-file.js';
import { NUM_CHILDREN } from './schema.js';
import { selectRows } from './select-rows.js';
import { BINARY, I32, listOf, STRUCT, type ThriftStruct, textOf } from './thrift.js';
import { encodeThrift, i32, i64, list, struct } from './thrift-writer.js';

/** A target for the bytes of a file, in order. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
}

/** Number of rows of a page of an added column. */
const PAGE_ROWS = 128 * 1024;

/**
 * Keys of metadata that list the columns, and would contradict a file with more columns: Arrow's
 * schema, the index and columns of pandas, the features of Hugging Face data sets.
 */
const COLUMN_LISTS = ['ARROW:schema', 'pandas', 'huggingface'];

/** The facts about a chunk whose pages have been written. */
interface WrittenChunk {
  readonly fields: ThriftStruct;
  readonly bytes: number;
  readonly plainBytes: number;
}

/**
 * Writes the columns of Parquet files, and added columns. If all rows are kept, the pages of a
 * column are copied unchanged.
 */
export class ParquetWriter {
  readonly #sink: ByteSink;
  readonly #added: readonly AddedColumn[];
  readonly #groups: ThriftStruct[] = [];
  #first: ParquetFile | undefined;
  #at = 0;
  #rows = 0;

  constructor(sink: ByteSink, added: readonly AddedColumn[]) {
    this.#sink = sink;
    this.#added = added;
  }

  /** Number of rows written so far. */
  get rows(): number {
    return this.#rows;
  }

  /**
   * Begins with the row groups of a file.
   *
   * @throws RobotsFilterError `input` if the columns differ from those of the files before, or if a
   *   column has the name of an added column
   */
  async begin(file: ParquetFile): Promise<void> {
    if (this.#first === undefined) {
      const names = file.footer.leaves.map(({ path }) => path[0]);
      const conflict = this.#added.find(
        ({ name }, index) =>
          names.includes(name) || this.#added.findIndex((other) => other.name === name) < index,
      );
      if (conflict !== undefined) {
        throw new RobotsFilterError(
          'input',
          `${file.name}: has a column "${conflict.name}" already. Choose another name for the added one: --verdict-field NAME`,
        );
      }
      this.#first = file;
      await this.#write(Buffer.from('PAR1'));
    } else if (!schemaOf(file).equals(schemaOf(this.#first))) {
      throw new RobotsFilterError(
        'input',
        `${file.name}: its columns differ from those of ${this.#first.name}. Write them to two files`,
      );
    }
  }

  /**
   * Writes the rows of a group.
   *
   * @param keep 1 for each row that is written, 0 for the others; `undefined` keeps all
   * @param added the values of the added columns, in their order, for all rows of the group
   * @throws RobotsFilterError `input` if a page that must be decoded is damaged
   */
  async group(
    file: ParquetFile,
    group: RowGroup,
    keep: Uint8Array | undefined,
    added: readonly AddedValues[],
  ): Promise<void> {
    let rows = group.rows;
    if (keep !== undefined) rows = keep.reduce((sum, kept) => sum + kept, 0);
    if (rows === 0) return;
    const start = this.#at;
    const selection = rows === group.rows ? undefined : keep;
    const chunks: WrittenChunk[] = [];
    for (const chunk of group.columns) {
      chunks.push(
        selection === undefined
          ? await this.#copy(file, chunk)
          : await this.#select(file, chunk, selection),
      );
    }
    for (const values of added) chunks.push(await this.#add(values, selection));
    const fields = new Map(group.fields)
      .set(
        GROUP.columns,
        list(
          STRUCT,
          chunks.map((chunk) => chunk.fields),
        ),
      )
      .set(GROUP.bytes, i64(sum(chunks, ({ plainBytes }) => plainBytes)))
      .set(GROUP.rows, i64(rows))
      .set(GROUP.offset, i64(start))
      .set(GROUP.compressedBytes, i64(sum(chunks, ({ bytes }) => bytes)));
    // An ordinal has 16 bits, and the ordinals of several files would repeat.
    fields.delete(GROUP.ordinal);
    this.#groups.push(fields);
    this.#rows += rows;
  }

  /** Writes the metadata. */
  async finish(): Promise<void> {
    if (this.#first === undefined) throw new Error('a Parquet file without columns');
    const { fields } = this.#first.footer;
    const [root, ...elements] = (listOf(fields, FILE.schema)?.values ?? []) as ThriftStruct[];
    const children = Number(root?.get(NUM_CHILDREN)?.value ?? 0) + this.#added.length;
    const schema = [
      new Map(root).set(NUM_CHILDREN, i32(children)),
      ...elements,
      ...this.#added.map(schemaElementOf),
    ];
    const footer = new Map(fields)
      .set(FILE.schema, list(STRUCT, schema))
      .set(FILE.rows, i64(this.#rows))
      .set(FILE.rowGroups, list(STRUCT, this.#groups));
    const orders = listOf(fields, FILE.columnOrders)?.values;
    if (orders !== undefined) {
      const own = this.#added.map(() => new Map([[1, struct([])]]));
      footer.set(FILE.columnOrders, list(STRUCT, [...orders, ...own]));
    }
    const keyValues = listOf(fields, FILE.keyValues)?.values as ThriftStruct[] | undefined;
    if (keyValues !== undefined && this.#added.length > 0) {
      const kept = keyValues.filter((pair) => !COLUMN_LISTS.includes(textOf(pair, 1) ?? ''));
      footer.set(FILE.keyValues, list(STRUCT, kept));
    }
    const bytes = encodeThrift(footer);
    const tail = Buffer.from('....PAR1');
    tail.writeUInt32LE(bytes.length);
    await this.#write(bytes);
    await this.#write(tail);
  }

  /**
   * Copies the pages of a chunk. Its indexes and its Bloom filter are elsewhere, and are left out.
   */
  async #copy(file: ParquetFile, chunk: ColumnChunk): Promise<WrittenChunk> {
    const moved = this.#at - chunk.start;
    for await (const piece of file.bytes(chunk)) await this.#write(piece);
    const metadata = new Map(chunk.metadata);
    for (const id of [COLUMN.dataPage, COLUMN.indexPage, COLUMN.dictionaryPage]) {
      const offset = Number(metadata.get(id)?.value ?? 0);
      if (offset >= chunk.start) metadata.set(id, i64(offset + moved));
      else metadata.delete(id);
    }
    metadata.delete(COLUMN.bloomFilter);
    metadata.delete(COLUMN.bloomFilterBytes);
    const plainBytes = Number(metadata.get(COLUMN.uncompressedBytes)?.value ?? 0);
    return { fields: chunkOf(metadata), bytes: chunk.bytes, plainBytes };
  }

  /** Writes the kept rows of a chunk, in new pages. */
  async #select(file: ParquetFile, chunk: ColumnChunk, keep: Uint8Array): Promise<WrittenChunk> {
    const { leaf, metadata } = chunk;
    const codec = codecOf(chunk.codec);
    const target = writableCodec(typeof codec === 'string' ? SNAPPY : codec);
    const pages = new PageList(this.#at);
    let entries = 0;
    let dictionary = 0;
    for await (const page of selectRows(file, chunk, keep)) {
      if (page.kind === 'dictionary') {
        dictionary = countOf(page.values);
        await this.#page(pages, encodeDictionaryPage(page.values, target), true);
        continue;
      }
      const { maxDefinition, maxRepetition } = leaf;
      const content = { ...page, maxDefinition, maxRepetition, dictionary };
      await this.#page(pages, encodeDataPage(content, target), false);
      entries += page.entries;
    }
    const fields = pages.metadata(new Map(metadata), entries, target.number);
    for (const id of metadata.keys()) if (id >= COLUMN.statistics) fields.delete(id);
    fields.delete(COLUMN.indexPage);
    return { fields: chunkOf(fields), bytes: pages.bytes, plainBytes: pages.plainBytes };
  }

  async #add(values: AddedValues, keep: Uint8Array | undefined): Promise<WrittenChunk> {
    const { type, name, nullable } = values.column;
    const codec = SNAPPY;
    const dictionary = values.dictionary();
    const pages = new PageList(this.#at);
    await this.#page(pages, encodeDictionaryPage(dictionary, codec), true);
    const places = values.places(keep);
    for (let from = 0; from < places.length; from += PAGE_ROWS) {
      const rows = places.subarray(from, from + PAGE_ROWS);
      const content = {
        entries: rows.length,
        maxDefinition: nullable ? 1 : 0,
        definitions: rows.map((place) => (place === 0 ? 0 : 1)),
        maxRepetition: 0,
        repetitions: undefined,
        values: {
          kind: 'indices' as const,
          indices: rows.filter((place) => place > 0).map((place) => place - 1),
        },
        dictionary: countOf(dictionary),
      };
      await this.#page(pages, encodeDataPage(content, codec), false);
    }
    const fields = new Map([
      [COLUMN.type, i32(ADDED_TYPES[type])],
      [COLUMN.path, list(BINARY, [Buffer.from(name)])],
    ]);
    const metadata = pages.metadata(fields, places.length, codec.number);
    return { fields: chunkOf(metadata), bytes: pages.bytes, plainBytes: pages.plainBytes };
  }

  async #page(pages: PageList, page: EncodedPage, isDictionary: boolean): Promise<void> {
    pages.note(this.#at, page, isDictionary);
    await this.#write(page.header);
    await this.#write(page.body);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    await this.#sink.write(bytes);
    this.#at += bytes.length;
  }
}

/** The places and lengths of the pages of a chunk that is being written. */
class PageList {
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
    const encodings = [ENCODING.plain, ENCODING.rle];
    fields
      .set(COLUMN.encodings, list(I32, [...encodings, ENCODING.rleDictionary]))
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

function chunkOf(metadata: ThriftStruct): ThriftStruct {
  // This field is the offset of a second copy of the metadata, which is not written.
  return new Map([
    [CHUNK.offset, i64(0)],
    [CHUNK.metadata, { type: STRUCT, value: metadata }],
  ]);
}

function schemaOf({ footer }: ParquetFile): Buffer {
  const schema = footer.fields.get(FILE.schema);
  return encodeThrift(new Map(schema === undefined ? [] : [[FILE.schema, schema]]));
}

function sum<Each>(all: readonly Each[], of: (each: Each) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}
