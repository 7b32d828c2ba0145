import { RobotsFilterError } from '../errors.js';
import { type AddedColumn, type AddedValues, schemaElementOf } from './added-column.js';
import {
  type ByteSink,
  ChunkWriter,
  chunkOf,
  PageList,
  rowGroupOf,
  type WrittenChunk,
} from './chunk-writer.js';
import { codecOf, SNAPPY } from './codecs.js';
import { encodeDataPage, encodeDictionaryPage, writableCodec } from './encode.js';
import { COLUMN, type ColumnChunk, FILE, type RowGroup } from './footer.js';
import { countOf } from './page-values.js';
import type { ParquetFile } from './parquet-file.js';
import { NUM_CHILDREN } from './schema.js';
import { entriesWith } from './schema-entries.js';
import { selectRows } from './select-rows.js';
import { listOf, STRUCT, type ThriftStruct } from './thrift.js';
import { encodeThrift, i32, i64, list, struct } from './thrift-writer.js';

/**
 * Writes the columns of Parquet files, and added columns. If all rows are kept, the pages of a
 * column are copied unchanged.
 */
export class ParquetWriter {
  readonly #writer: ChunkWriter;
  readonly #added: readonly AddedColumn[];
  #first: ParquetFile | undefined;
  #rows = 0;

  constructor(sink: ByteSink, added: readonly AddedColumn[]) {
    this.#writer = new ChunkWriter(sink);
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
      this.#refuseConflict(file);
      this.#first = file;
      await this.#writer.begin();
    } else if (!schemaOf(file).equals(schemaOf(this.#first))) {
      throw new RobotsFilterError(
        'input',
        `${file.name}: its columns differ from those of ${this.#first.name}. Write them to two files`,
      );
    }
  }

  /**
   * Refuses a name that comes twice. Capitals make no difference, because they make none to SQL:
   * Spark cannot read a file with `Verdict` and `verdict`.
   */
  #refuseConflict(file: ParquetFile): void {
    const names = columnNames(file);
    for (const { name } of this.#added) {
      const other = names.find((known) => known.toLowerCase() === name.toLowerCase());
      if (other !== undefined) {
        throw new RobotsFilterError(
          'input',
          `${file.name}: has a column "${other}" already. Choose another name for the added one: --verdict-field NAME`,
        );
      }
      names.push(name);
    }
  }

  /**
   * Writes the rows of a group; a group of which no row is kept is left out, because several
   * readers refuse a group without rows.
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
    const start = this.#writer.at;
    const selection = rows === group.rows ? undefined : keep;
    const chunks: WrittenChunk[] = [];
    const { columns, fields } = group.read();
    for (const chunk of columns) {
      chunks.push(
        selection === undefined
          ? await this.#copy(file, chunk)
          : await this.#select(file, chunk, selection),
      );
    }
    for (const values of added) chunks.push(await this.#writer.added(values, selection));
    this.#writer.group(rowGroupOf(chunks, rows, start, fields));
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
      .set(FILE.rows, i64(this.#rows));
    const orders = listOf(fields, FILE.columnOrders)?.values;
    if (orders !== undefined) {
      const own = this.#added.map(() => new Map([[1, struct([])]]));
      footer.set(FILE.columnOrders, list(STRUCT, [...orders, ...own]));
    }
    const keyValues = listOf(fields, FILE.keyValues)?.values as ThriftStruct[] | undefined;
    if (keyValues !== undefined && this.#added.length > 0) {
      const entries = entriesWith(keyValues, this.#added, columnNames(this.#first));
      footer.set(FILE.keyValues, list(STRUCT, entries));
    }
    await this.#writer.end(footer);
  }

  /**
   * Copies the pages of a chunk. Its indexes and its Bloom filter are elsewhere, and are left out.
   */
  async #copy(file: ParquetFile, chunk: ColumnChunk): Promise<WrittenChunk> {
    const moved = this.#writer.at - chunk.start;
    for await (const piece of file.bytes(chunk)) await this.#writer.write(piece);
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
    const target = await writableCodec(typeof codec === 'string' ? SNAPPY : codec);
    const pages = new PageList(this.#writer.at);
    let entries = 0;
    let dictionary = 0;
    for await (const page of selectRows(file, chunk, keep)) {
      if (page.kind === 'dictionary') {
        dictionary = countOf(page.values);
        await this.#writer.page(pages, encodeDictionaryPage(page.values, target), true);
        continue;
      }
      const { maxDefinition, maxRepetition } = leaf;
      const content = { ...page, maxDefinition, maxRepetition, dictionary };
      await this.#writer.page(pages, encodeDataPage(content, target), false);
      entries += page.entries;
    }
    const fields = pages.metadata(new Map(metadata), entries, target.number);
    for (const id of metadata.keys()) if (id >= COLUMN.statistics) fields.delete(id);
    fields.delete(COLUMN.indexPage);
    return { fields: chunkOf(fields), bytes: pages.bytes, plainBytes: pages.plainBytes };
  }
}

/** The names of the columns, and of the groups around them, at the top of the schema. */
function columnNames({ footer }: ParquetFile): string[] {
  const roots = footer.leaves.map(({ path: [root = ''] }) => root);
  return roots.filter((root, index) => root !== roots[index - 1]);
}

function schemaOf({ footer }: ParquetFile): Buffer {
  const schema = footer.fields.get(FILE.schema);
  return encodeThrift(new Map(schema === undefined ? [] : [[FILE.schema, schema]]));
}
