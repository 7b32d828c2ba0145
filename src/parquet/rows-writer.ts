/** Writes Parquet files row by row: rows of any columns, or a text and columns beside it. */

import {
  ADDED_TYPES,
  type AddedColumn,
  AddedValues,
  type ByteSink,
  ChunkWriter,
  chunkOf,
  encodePlainPage,
  footerOf,
  PageList,
  rowGroupOf,
} from './chunk-writer.js';
import { SNAPPY } from './codecs.js';
import { COLUMN } from './footer.js';
import { BINARY, i32, list } from './thrift.js';

/** Rows after which a row group should end. The rows of a group are held until it is written. */
const GROUP_ROWS = 1 << 17;

/** Writes a Parquet file from its beginning, row by row. */
export class RowsWriter {
  readonly #writer: ChunkWriter;
  readonly #columns: readonly AddedColumn[];
  #values: readonly AddedValues[];
  #held = 0;
  #rows = 0;

  constructor(sink: ByteSink, columns: readonly AddedColumn[]) {
    this.#writer = new ChunkWriter(sink);
    this.#columns = columns;
    this.#values = columns.map((column) => new AddedValues(column));
  }

  /** Whether `writeGroup` should be called before more rows are added. */
  get isFull(): boolean {
    return this.#held >= GROUP_ROWS;
  }

  /** Adds a row: a value for each column; `undefined` is null. */
  add(row: readonly (string | number | undefined)[]): void {
    const values = this.#values;
    for (let index = 0; index < values.length; index++) values[index]?.add(row[index]);
    this.#held++;
  }

  /** Writes the rows since the last call, if there are any. */
  async writeGroup(): Promise<void> {
    if (this.#writer.at === 0) await this.#writer.begin();
    if (this.#held === 0) return;
    const start = this.#writer.at;
    const chunks = [];
    for (const values of this.#values) chunks.push(await this.#writer.added(values, undefined));
    this.#writer.group(rowGroupOf(chunks, this.#held, start));
    this.#rows += this.#held;
    this.#held = 0;
    this.#values = this.#columns.map((column) => new AddedValues(column));
  }

  /** Writes the last rows, and the metadata. */
  async finish(): Promise<void> {
    await this.writeGroup();
    await this.#writer.end(footerOf(this.#columns, this.#rows));
  }
}

/**
 * Writes a Parquet file from its beginning: a column of text, and further ones beside it. Only the
 * values of the further columns are held until their row group ends.
 */
export class TextRowsWriter {
  readonly #writer: ChunkWriter;
  readonly #columns: readonly AddedColumn[];
  /** The pages of the text in the current row group, their rows, and where they begin. */
  #pages: PageList | undefined;
  #pageRows = 0;
  #start = 0;
  #rows = 0;

  /** @param columns the column of text, which is never null, and the others */
  constructor(sink: ByteSink, columns: readonly AddedColumn[]) {
    this.#writer = new ChunkWriter(sink);
    this.#columns = columns;
  }

  /** Rows of the row groups so far. */
  get rows(): number {
    return this.#rows;
  }

  /** Begins the file. */
  async begin(): Promise<void> {
    await this.#writer.begin();
  }

  /**
   * Writes a page of the column of text.
   *
   * @param values PLAIN: each value after its length, 32 bits
   */
  async page(rows: number, values: Uint8Array): Promise<void> {
    if (this.#pages === undefined) {
      this.#start = this.#writer.at;
      this.#pages = new PageList(this.#start);
    }
    await this.#writer.page(this.#pages, encodePlainPage(rows, values, SNAPPY), false);
    this.#pageRows += rows;
  }

  /** Ends the row group of the pages so far with the values of the other columns. */
  async endGroup(others: readonly AddedValues[]): Promise<void> {
    const pages = this.#pages;
    if (pages === undefined) return;
    const fields = new Map([
      [COLUMN.type, i32(ADDED_TYPES.text)],
      [COLUMN.path, list(BINARY, [Buffer.from(this.#columns[0]?.name ?? '')])],
    ]);
    const metadata = pages.metadata(fields, this.#pageRows, SNAPPY.number);
    const chunks = [
      { fields: chunkOf(metadata), bytes: pages.bytes, plainBytes: pages.plainBytes },
    ];
    for (const values of others) chunks.push(await this.#writer.added(values, undefined));
    this.#writer.group(rowGroupOf(chunks, this.#pageRows, this.#start));
    this.#rows += this.#pageRows;
    this.#pages = undefined;
    this.#pageRows = 0;
  }

  /** Writes the metadata. */
  async finish(): Promise<void> {
    await this.#writer.end(footerOf(this.#columns, this.#rows));
  }
}
