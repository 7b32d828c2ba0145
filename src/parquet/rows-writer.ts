import { type AddedColumn, AddedValues } from './added-column.js';
import { type ByteSink, ChunkWriter, footerOf, rowGroupOf } from './chunk-writer.js';

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
